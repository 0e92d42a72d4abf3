"""What a command line of svm-train requests besides the parameters of the training; see params.py on its form."""

from typing import NamedTuple


class Request(NamedTuple):
    """Files, validation, messages and memory of one run of svm-train; None means "not given".  Times are in seconds."""

    given: tuple[str, ...] = ()  # names of the options on the command line, in their order
    auto: bool = False  # -s auto: the solver is chosen once the data are read
    folds: int | None = None  # -v
    find_C: bool = False  # -C
    grid: tuple[float, ...] | None = None  # values of C, ascending
    metrics: bool = False  # measures in addition to LIBLINEAR's line of -v
    score: str | None = None  # measure by which -C and --grid choose, None: accuracy or mean squared error
    balanced: bool = False  # class weights n / (classes * rows of the class)
    weights: str | None = None  # file with one cost factor for each row
    initial_model: str | None = None
    add: str | None = None  # rows to add to an adaptable model
    remove: str | None = None  # rows to remove from it
    every_rows: int | None = None  # rows of a stream between two written models
    every_seconds: float | None = None
    memory: float | None = None  # bytes that the process may use; None: rows are kept in memory
    scratch: str = ""  # folder of rows on disk; empty: beside the data
    no_cache: bool = False  # remove rows on disk at the end of the run
    spark: str | None = None  # the master's URL
    solver_log: str | None = None
    plot: str | None = None
    plain_model: bool = False  # no lines after the weights
    quiet: bool = False
    strict: bool = False

"""The command line of svm-train, read as LIBLINEAR reads it.

LIBLINEAR examines only the character after the dash and takes the next argument as its value, whatever it is
(`-s2 -q d` means: -s with the value `-q`).  Scripts rely on this.  svmtool's long options are written
`--name value` or `--name=value`, anywhere before the data file.

Checks that LIBLINEAR makes only after it has read the data are in `params.check_after_reading`.
"""

from __future__ import annotations

from svmtool import registry
from svmtool.cli.arguments import scan
from svmtool.cli.arguments.scan import Command
from svmtool.errors import SvmtoolError, UsageError
from svmtool.options.train import LONG
from svmtool.params import Request, Settings

_CHOOSES_KERNEL = "tgdr"

LIBLINEAR_SEARCHES = (0, 2, 11)  # its solvers that -C works with

# Options that apply when a trained model is changed; all others concern training from scratch
_ADAPTING = frozenset(
    {"-s", "-c", "-B", "-w", "-q", "--threads", "--weights", "--initial-model", "--add", "--remove", "--method"}
    | {"--every-rows", "--every-seconds"}
)


def is_kernel_line(argv: list[str]) -> bool:
    """Whether the arguments are LIBSVM's: one is -t, -g, -d or -r, or -s names a solver that always uses a kernel."""
    i, solver = 0, ""
    while i + 1 < len(argv) and argv[i].startswith("-") and argv[i] != "-":
        if scan.is_long(argv[i]):
            i += 1 if "=" in argv[i] or LONG[argv[i]].kind is None else 2
            continue
        if argv[i][1] in _CHOOSES_KERNEL:
            return True
        if argv[i][1] == "s":
            solver = argv[i + 1].strip()
        i += 1 if argv[i][1] in scan.VALUELESS else 2
    linear = {row.number for row in registry.SOLVERS if row.number >= 30}
    rows = [row for row in registry.KERNEL_SOLVERS if row.number not in linear]
    return any(solver == row.name or (solver == str(row.number) and row.number >= 30) for row in rows)


def parse(argv: list[str], libsvm: bool = False) -> Command:
    """Parse the arguments (without the program's name); libsvm: always as LIBSVM's.

    Raises UsageError where LIBLINEAR prints its usage, and SvmtoolError for other errors.
    """
    if libsvm or is_kernel_line(argv):
        from svmtool.cli.arguments import kernel

        return kernel.parse(argv)
    found = scan.Scan(argv)
    found.run()
    settings, request = found.parts()
    if found.action in scan.TEXTS:
        return Command(found.action, settings, request)
    files = argv[found.i :]
    adapts = request.add is not None or request.remove is not None
    if not files and found.action == "train" and not adapts:
        raise scan.no_files(argv)
    settings, search_note = _choose_for_search(settings, request)
    notes = (*found.notes, *search_note)
    if not request.auto:
        if "-B" not in request.given:
            settings = settings.with_default_bias()
        _check_solver(settings, request)
    if not adapts:
        scan.check(request, settings.problem.method == "paper")
        _check_combinations(settings, request)
    if found.action == "explain":
        if request.auto and not files:
            raise SvmtoolError("ERROR: --explain -s auto needs the data file, from which the solver is chosen")
        return Command("explain", settings, request, files[0] if files else "", notes=notes)
    if adapts:
        return _adapting(settings, request, files, notes)
    return scan.training(settings, request, files, notes)


def _choose_for_search(settings: Settings, request: Request) -> tuple[Settings, tuple[str, ...]]:
    """Settings for -C, and notes: the default solver is -s 2.  UsageError for a solver that does not support -C."""
    if not request.find_C or request.auto:
        return settings, ()
    if "-s" not in request.given:
        return settings.replace(solver=2), ("Solver not specified. Using -s 2",)
    ours = [row.number for row in registry.supporting("-C" if request.guarantee is None else "--guarantee")]
    if settings.problem.solver not in {*LIBLINEAR_SEARCHES, *ours}:
        more = ", ".join(f"-s {number}" for number in ours if number not in LIBLINEAR_SEARCHES)
        row = next((row for row in registry.supporting("--grid") if row.number == settings.problem.solver), None)
        grid = "" if row is None else f"; --grid compares values of C with -s {row.number}"
        sentence = "Warm-start parameter search only available for -s 0, -s 2 and -s 11"  # LIBLINEAR's
        raise UsageError(f"{sentence}; here also for {more}{grid}")
    return settings, ()


def _check_solver(settings: Settings, request: Request) -> None:
    """Raise for options that the chosen solver does not support.

    As in LIBLINEAR an unknown solver number and -R are checked only after reading the data, and its solver numbers
    accept -p and -n without effect.
    """
    if not any(r.number == settings.problem.solver for r in registry.SOLVERS):
        return
    row = settings.row
    for option in request.given:
        if option in registry.supported_options(row) or (option == "-R" and row.number < 30):
            continue
        if option == "--probability" and not settings.run.probability:  # has no effect
            continue
        if option == "--initial-model" and (request.add or request.remove):  # the model to change
            continue
        if option == "-C" and request.guarantee is not None:  # more numbers have that search
            continue
        if option == "-B" and (settings.problem.bias < 0 or row.number < 30):  # no effect, or checked later
            continue
        if option in ("-p", "-n") and row.number < 30:
            continue
        able = registry.supporting(option)
        if option == "-B":
            raise SvmtoolError(f"ERROR: solver {row.number} ({row.name}) does not support -B: {row.bias}")
        advice = f"use -s {registry.in_words(able)}" if able else "no solver supports it"
        same = [other for other in able if option == "--spark" and registry.same_problem(other, row)]
        if same:
            advice = f"-s {registry.in_words(same)} solves the same problem and supports it"
        raise scan.unsupported(row, option, registry.find, advice)


def _check_combinations(settings: Settings, request: Request) -> None:
    """Raise for combinations that depend on the solver or on values; the table of options has the others."""
    s, mu = request, settings.run.options.mu
    row = settings.row if (s.plain_model or isinstance(mu, str)) and not s.auto else None
    if row is not None and isinstance(mu, str) and "--loss-power" not in row.supported:  # the rules are ALM's
        raise SvmtoolError(f"ERROR: --mu {mu}: -s {row.number} ({row.name}) needs a number > 0")
    if s.plain_model and settings.run.probability:
        raise SvmtoolError("ERROR: --plain-model cannot be combined with -b 1: its sigmoids come after the weights")
    if s.plain_model and row is not None and (row.kind == "ordinal" or "--add" in row.supported):
        raise SvmtoolError(f"ERROR: --plain-model: models of -s {row.number} ({row.name}) need lines after the weights")
    if s.single and (s.memory is not None or s.spark is not None):
        raise SvmtoolError("ERROR: --values float32 cannot be combined with --memory or --spark")
    if s.single and s.keep_dual_in is not None:  # scripts/recheck.py does not know it
        raise SvmtoolError("ERROR: --values float32 cannot be combined with --keep-dual")


def _adapting(settings: Settings, request: Request, files: list[str], notes: tuple[str, ...]) -> Command:
    """The Command that changes the model of -i and writes it to files[0], or in place; SvmtoolError for bad options."""
    s = request
    if s.auto:
        raise SvmtoolError("ERROR: -s auto cannot be combined with --add or --remove: give the -s of the model")
    for option in s.given:
        if option == "--passes" and s.add not in (None, "-"):  # for a solver that supports it
            continue
        if option not in _ADAPTING and (option != "--probability" or settings.run.probability):
            raise SvmtoolError(f"ERROR: {option} cannot be combined with --add or --remove")
    if (s.every_rows is not None or s.every_seconds is not None) and s.add != "-":
        raise SvmtoolError("ERROR: --every-rows and --every-seconds need --add -")
    if s.weights is not None and (s.add == "-" or (s.add is not None and s.remove is not None)):
        raise SvmtoolError("ERROR: --weights needs either --add FILE or --remove FILE, not both")
    if s.remove is not None and s.initial_model is None:
        raise SvmtoolError("ERROR: --remove needs -i MODEL: the model that holds the rows")
    if s.initial_model is None and s.add != "-" and not files:
        raise SvmtoolError("ERROR: --add needs -i MODEL, or the name of a new model after the options")
    if len(files) > 1:
        raise SvmtoolError(f"ERROR: {files[1]}: with --add and --remove only one file, the model, follows the options")
    if files == ["-"] or s.initial_model == "-" or s.remove == "-":
        raise SvmtoolError("ERROR: with --add and --remove only the added rows can be read from standard input (-)")
    model = files[0] if files else s.initial_model or scan.default_model("-")
    return Command("adapt", settings, request, s.add or "", model, notes)

"""Usage and --help of the commands, and --explain, rendered from the registry and the table of options."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable

from svmtool import registry
from svmtool.options import Option
from svmtool.options.commands import TABLES
from svmtool.options.train import KERNEL, LINEAR, LONG
from svmtool.params import KERNEL_NAMES, PRECOMPUTED, Settings
from svmtool.registry import liblinear
from svmtool.registry import libsvm as libsvm_rows
from svmtool.registry.row import Solver

Rows = list[tuple[str, str]]
ARGUMENTS = "[options] training_set_file [model_file]"
MAX_USED = (
    "--probability", "--weights", "--gap", "--max-seconds", "--memory", "--threads", "--strict", "--explain",
    "--help-all",
)  # fmt: skip
KERNEL_FLAGS = ("-t", "-d", "-g", "-r", "-m")
SHORTER = {
    "support vector classification": "SVC", "support vector regression": "SVR", "support vector machine": "SVM",
}  # fmt: skip

ABOUT_KERNELS = (
    "With -t, -g, -d or -r the options are LIBSVM's and a kernel is used: -s 0 to 4 are LIBSVM's problems, -m is the "
    "cache size, -b 1 stores probabilities, -v draws LIBSVM's folds, and the model file is LIBSVM's. The default "
    "kernel is RBF. -s 60 and -s 73 always use a kernel; without these options it is the linear kernel. -s 50 "
    "to -s 52, -s 80 and -s 81 use none without these options."
)
FORMULAS = ("x.z", "(GAMMA x.z + COEF0)^DEGREE", "exp(-GAMMA |x-z|^2)", "tanh(GAMMA x.z + COEF0)", "given in the data")

# For each command that has one page of help: its files, and what it does.
PAGES = {
    "svm-predict": (
        "test_file model_file output_file",
        "Predicts the rows of a LIBSVM text file with a model of svm-train, LIBLINEAR or LIBSVM, and prints the "
        "accuracy (or the errors of a regression).",
        "test_file may be - (standard input) or a pipe, and compressed by gzip, bzip2, xz or zstd; output_file may be "
        "- (standard output).",
    ),
    "svm-scale": (
        "data_filename",
        "Scales the features of a LIBSVM text file. Each feature is mapped linearly from its own range, where an "
        "absent value is 0, to lower..upper; constant features are left out. Scale training and test data in the same "
        "way: save the ranges of the first with -s FILE and use them for the second with -r FILE.",
        "data_filename may be - (standard input) or a pipe, and compressed. The scaled data go to standard output.",
    ),
}

NAME_WIDTH = 13  # of the facts of --explain
WIDEST, NARROWEST = 100, 40


def solver_rows(rows: Iterable[registry.Solver]) -> Rows:
    """(`-s 40, mfn`, its problem and default tolerance) for each solver."""
    return [(f"-s {r.number}, {r.name}", r.help + (f" (default {r.default})" if r.default else "")) for r in rows]


def option_rows() -> Rows:
    """(flag with its value, meaning) for LIBLINEAR's options."""
    return [(option.usage, option.help + _only(option.name)) for option in LINEAR]


def plain_rows(options: Iterable[Option]) -> Rows:
    """(flag with its value, meaning) for options that every row supports."""
    return [(option.usage, option.help) for option in options]


def kernel_option_rows() -> Rows:
    """`plain_rows` of LIBSVM's options."""
    return plain_rows(KERNEL)


def long_option_rows(libsvm: bool = False) -> Rows:
    """(flag with its value, meaning) for svmtool's long options; libsvm: those that libsvm-train has."""
    found = [option for name, option in LONG.items() if not libsvm or _with_kernels(name)]
    return [(o.usage, o.help + (_only(o.flag, libsvm) if o.setting else "")) for o in found]


def _with_kernels(name: str) -> bool:
    """Whether a long option is about the command, or supported with a kernel."""
    return not LONG[name].setting or registry.anywhere(name, registry.rows_of(kernel=True))


def _only(option: str, libsvm: bool = False) -> str:
    """` (-s 2 or 40 only)`, ` (not -s 43)` or ` (with kernels only)` for an option that not every solver supports."""
    able = registry.supporting(option, kernel=True)
    rows, known = able, registry.KERNEL_SOLVERS
    if not libsvm:
        rows, known = registry.supporting(option), registry.SOLVERS
        if not rows:
            return f" (with kernels, -s {registry.in_words(able)} only{_method_of(option, able)})"
    others, method = [row for row in known if row not in rows], _method_of(option, rows)
    if len(others) < len(rows):
        without = f"not -s {registry.in_words(others)}" if others else ""
        text = without + (method if without else method.removeprefix("; "))
        return f" ({text})" if text else ""
    return f" (-s {registry.in_words(rows)} only{method})"


def _method_of(option: str, rows: Iterable[Solver]) -> str:
    """`; from 30 with --method fast` where the numbers of papers among `rows` support an option with one method."""
    both = [registry.methods_with(option, row) for row in rows if row.number >= 30]
    one = {tuple(methods) for methods in both}
    return f"; from 30 with --method {both[0][0]}" if len(one) == 1 and len(both[0]) == 1 else ""


def usage(libsvm: bool = False) -> str:
    """The text printed for a line without arguments; libsvm: of libsvm-train.  The first line is the original's."""
    lines = [f"Usage: {'svm-train' if libsvm else 'train'} {ARGUMENTS}"]
    linear = (("solvers", solver_rows(registry.default_rows())), ("options", option_rows()))
    kernel = (("solvers", solver_rows(registry.default_rows(kernel=True))), ("options", kernel_option_rows()))
    given = " with a kernel (-t, -g, -d or -r is given)"
    parts = kernel if libsvm else (*linear, *((f"{title}{given}", rows) for title, rows in kernel))
    for title, rows in parts:
        lines.append(f"{title}:")
        lines += [f"  {left:<20} {right}" for left, right in rows]
    lines.append(f"{program(libsvm)} --help lists the long options; -q : quiet mode (no outputs)")
    return "\n".join(lines) + "\n"


def help_text(libsvm: bool = False) -> str:
    """The text of --help: what most users need, at most 60 lines of 100 columns; libsvm: of libsvm-train."""
    lines = [
        f"Usage: {program(libsvm)} {ARGUMENTS}",
        "",
        "Trains a support vector machine on a LIBSVM text file (may be compressed; - is",
        "standard input) and certifies the gap between its objective and the minimum.",
        "The model is DATA.model in the current directory unless it is named.",
    ]
    options = [option for name, option in LONG.items() if name in MAX_USED]
    linear = (
        ("Linear solvers (-s)", [(f"{r.number} {r.name}", _shorter(r.help)) for r in liblinear.ROWS]),
        ("Options, before the data file", plain_rows(LINEAR)),
    )
    solvers = [(f"{r.number} {r.name}", r.help) for r in libsvm_rows.ROWS]
    kernel = (
        ("Solvers with a kernel (-s with -t, -g, -d or -r)", solvers),
        ("Options with a kernel", plain_rows(option for option in KERNEL if option.flag in KERNEL_FLAGS)),
    )
    if libsvm:
        options = [option for option in options if _with_kernels(option.flag) and not option.letter]
        kernel = (("Solvers (-s)", solvers), ("Options, before the data file", kernel_option_rows()))
    more = ("More options", plain_rows(option._replace(letter="") for option in options))
    for title, rows in (*(() if libsvm else linear), *kernel, more):
        lines += ["", f"{title}:", *(f"  {left:<17} {text}" for left, text in rows)]
        if rows is linear[0][1]:
            lines.append(f"  {'30 to 81, auto':<17} solvers from five papers (--help-all); auto: chosen by the data")
    if libsvm:
        lines += ["", "svm-train --help lists the linear solvers, which are LIBLINEAR's."]
    return "\n".join(lines) + "\n"


def program(libsvm: bool) -> str:
    """The name of the command that reads LIBSVM's line alone, or of the one that reads both."""
    return "libsvm-train" if libsvm else "svm-train"


def _shorter(text: str) -> str:
    """A solver's problem with its long names abbreviated."""
    for name, short in SHORTER.items():
        text = text.replace(name, short)
    return text


def whole_help(libsvm: bool = False) -> str:
    """The text of --help-all, formatted by click; libsvm: of libsvm-train."""
    kinds = (
        "one with a kernel, as LIBSVM does"
        if libsvm
        else ("a linear one, whose model LIBLINEAR's predict reads, or one with a kernel, as LIBSVM does")
    )
    about = (
        "Trains a support vector machine from a LIBSVM text file (- for standard input; plain or compressed by gzip, "
        f"bzip2, xz or zstd): {kinds}. The model file defaults to the data file's base name + .model in the current "
        "directory."
    )
    linear = (
        ("Solvers", solver_rows(registry.default_rows())),
        ("Options of LIBLINEAR, before the data file", option_rows()),
    )
    kernel = (
        ("Solvers with a kernel", solver_rows(registry.default_rows(kernel=True))),
        ("Options of LIBSVM, with a kernel", kernel_option_rows()),
    )
    more = ("Long options of svmtool, before the data file", long_option_rows(libsvm))
    return _page(
        program(libsvm), ARGUMENTS, (about, *(() if libsvm else (ABOUT_KERNELS,))),
        (*(() if libsvm else linear), *kernel, more),
        "Exit status: 0 done, 1 error, 2 not converged (with --strict), 130 interrupted (model written).",
    )  # fmt: skip


def command_help(command: str) -> str:
    """The text of --help of svm-predict or svm-scale."""
    files, *about = PAGES[command]
    rows = plain_rows(TABLES[command])
    return _page(command, f"[options] {files}", about, (("Options, before the files", rows),))


def command_usage(command: str, shown: str = "") -> str:
    """The text that svm-predict or svm-scale prints for a line without arguments; shown: the name in it."""
    letters = [option for option in TABLES[command] if not option.flag.startswith("--")]
    lines = [f"Usage: {shown or command} [options] {PAGES[command][0]}", "options:"]
    return "\n".join([*lines, *(f"{option.usage} : {option.help}" for option in letters)]) + "\n"


def _page(
    program: str, arguments: str, about: Iterable[str], sections: Iterable[tuple[str, Rows]], end: str = ""
) -> str:
    """A page of help in click's format."""
    import click

    page = click.HelpFormatter(max_width=WIDEST)
    page.write_usage(program, arguments)
    for text in about:
        page.write_paragraph()
        page.write_text(text)
    for title, rows in sections:
        with page.section(title):
            page.write_dl(rows)
    if end:
        page.write_paragraph()
        page.write_text(end)
    return page.getvalue()


def explain(settings: Settings) -> str:
    """The text of --explain: problem, stopping rule, options and paper of the chosen solver."""
    row, kernel, stop = settings.row, settings.problem.kernel, settings.stopping
    options = sorted(registry.supported_options(row))
    if kernel is None:
        about = [("loss", row.loss), ("regulariser", row.regulariser)]
        classes, kind = "one problem for each class against the rest, whose cost is C without a factor", "solver_type"
    else:
        number = kernel.kernel_type
        known = 0 <= number <= PRECOMPUTED
        about = [("kernel", f"-t {number}, {KERNEL_NAMES[number]}: {FORMULAS[number]}" if known else "unknown")]
        classes, kind = "one problem for each pair of classes, then a vote", "svm_type"
        if row.number < 30:
            options = [*(option.flag for option in KERNEL), *(name for name in options if name in LONG)]
    of_kind = {"classification": f"three or more: {classes}", "all classes": "one problem for all of them"}
    how_many = [("classes", of_kind[row.kind])] if row.kind in of_kind else []
    stops = row.stopping + (f"; here -e {stop.eps:g}" if stop.eps is not None else "")
    if stop.gap is not None and not row.printed:
        stops = f"certified relative duality gap (P - D)/|P| <= {stop.gap:g} (--gap)"
    return facts(
        (
            ("solver", f"-s {row.number}, {row.name}: {row.help}"),
            ("kind of labels", row.kind),
            ("problem", row.objective),
            *about,
            ("costs", _costs(row, settings.problem.C)),
            *how_many,
            ("bias", row.bias),
            ("stops when", stops),
            ("model file", f"{kind} {row.word}"),
            ("options", " ".join(options)),
            ("paper", row.paper),
            *(_as_printed(row) if row.printed else ()),
            ("module", row.module),
        )
    )


def _as_printed(row: Solver) -> Rows:
    """Facts about a paper's algorithm from its file."""
    about = registry.about(row)
    return [
        ("algorithm", about.algorithm),
        *(("not as printed", text) for text in about.differs),
        ("an iteration", about.iteration),
        ("--method fast", about.fast),
    ]


def _costs(row: Solver, C: float) -> str:
    """What an error of row i costs, C_i."""
    able = registry.supported_options(row)
    if "-c" not in able:
        return "none: every row must satisfy its constraint"
    if not row.costs:
        return "none: -n takes their place; a row counts as often as its number in --weights"
    of_class = "" if "-w" in registry.without_effect(row) else " * (product of the -w factors of the row's class)"
    return f"C_i = C{of_class} * (its number in --weights); C = {C:g}"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """One line for each (name, text); several on a terminal where it is too narrow."""
    width, lines = _columns(), [f"{name:<{NAME_WIDTH - 1}} {text}" for name, text in rows]
    if width is not None:
        wrapper = textwrap.TextWrapper(
            width, subsequent_indent=" " * NAME_WIDTH, break_long_words=False, break_on_hyphens=False
        )
        lines = map(wrapper.fill, lines)
    return "".join(line + "\n" for line in lines)


def _columns() -> int | None:
    """Columns to fill, if stdout is a terminal."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (AttributeError, OSError, ValueError):  # stdout is closed, a file or a pipe
        return None
    return max(NARROWEST, min(WIDEST, columns)) if columns else None

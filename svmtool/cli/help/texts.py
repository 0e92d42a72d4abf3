"""Usage, --help and --explain of svm-train, rendered from the registry and the table of options."""

from __future__ import annotations

from svmtool import registry
from svmtool.cli.arguments.long_options import LONG_OPTIONS
from svmtool.cli.help import kernel_texts, layout
from svmtool.params import Settings
from svmtool.registry import liblinear, libsvm

USAGE_LINE = "Usage: train [options] training_set_file [model_file]"
MOST_USED = (
    "--probability", "--weights", "--gap", "--max-seconds", "--memory", "--threads", "--strict", "--explain",
    "--help-all",
)  # fmt: skip
KERNEL_FLAGS = ("-t", "-d", "-g", "-r", "-m")
SHORTER = {
    "support vector classification": "SVC", "support vector regression": "SVR", "support vector machine": "SVM",
}  # fmt: skip

# LIBLINEAR's options that some solver supports: flag, value, meaning.
LIBLINEAR_OPTIONS = (
    ("-s", "SOLVER", "number or name of the solver, or auto: chosen from data and options (default 1)"),
    ("-c", "C", "cost of a violated margin (default 1); with -C the first value tried"),
    ("-p", "P", "half the width of the tube in which errors cost nothing (default 0.1)"),
    ("-n", "NU", "approximate share of rows on the wrong side of the plane (default 0.5)"),
    ("-e", "EPS", "tolerance of the solver's stopping rule"),
    ("-B", "BIAS", "append a feature of this value to every row if >= 0 (default -1: none)"),
    ("-R", "", "do not regularise the bias; needs -B 1"),
    ("-wLABEL", "FACTOR", "multiply C for the rows of a class, e.g. -w1 5 -w-1 0.5"),
    ("-v", "N", "cross-validation with N folds; no model is written"),
    ("-C", "", "search for the best C by cross-validation; no model is written"),
    ("-q", "", "quiet: no output of the solver"),
)


def solver_rows() -> list[tuple[str, str]]:
    """(`-s 40, mfn`, its problem and default tolerance) for each linear solver."""
    rows = []
    for row in registry.SOLVERS:
        default = f" (default {row.default})" if row.default else ""
        rows.append((f"-s {row.number}, {row.name}", row.help + default))
    return rows


def option_rows() -> list[tuple[str, str]]:
    """(flag with its value, meaning) for LIBLINEAR's options."""
    return [(f"{flag} {value}".strip(), text + _only(flag)) for flag, value, text in LIBLINEAR_OPTIONS]


def long_option_rows() -> list[tuple[str, str]]:
    """(flag with its value, meaning) for svmtool's long options."""
    rows = []
    for name, option in LONG_OPTIONS.items():
        letter = f"-{option.letter}, " if option.letter else ""
        about_run = option.setting != ""
        rows.append((f"{letter}{name} {option.metavar}".strip(), option.help + (_only(name) if about_run else "")))
    return rows


def _only(option: str) -> str:
    """` (-s 2 or 40 only)`, ` (not -s 43)` or ` (with kernels only)` for an option that not every solver supports."""
    rows = registry.supporting(option[:2] if option.startswith("-w") else option)
    if not rows:
        rows = [row for row in registry.KERNEL_SOLVERS if option in registry.supported_options(row)]
        return f" (with kernels, -s {registry.in_words(rows)} only)"
    others = [row for row in registry.SOLVERS if row not in rows]
    if len(others) < len(rows):
        return f" (not -s {registry.in_words(others)})" if others else ""
    return f" (-s {registry.in_words(rows)} only)"


def usage() -> str:
    """The text printed for an invalid command line.  The first line is LIBLINEAR's."""
    lines = [USAGE_LINE]
    parts = (
        ("solvers", solver_rows()),
        ("options", option_rows()),
        ("with a kernel (-t, -g, -d or -r is given)", kernel_texts.solver_rows()),
        ("options with a kernel", kernel_texts.option_rows()),
    )
    for title, rows in parts:
        lines.append(f"{title}:")
        lines += [f"  {left:<20} {right}" for left, right in rows]
    lines.append("svm-train --help lists the long options; -q : quiet mode (no outputs)")
    return "\n".join(lines) + "\n"


def help_text() -> str:
    """The text of --help: what most users need, at most 60 lines of 100 columns."""
    lines = [
        "Usage: svm-train [options] training_set_file [model_file]",
        "",
        "Trains a support vector machine on a LIBSVM text file (may be compressed; - is",
        "standard input) and certifies the gap between its objective and the minimum.",
        "The model is DATA.model in the current directory unless it is named.",
    ]
    flags = {name: option for name, option in LONG_OPTIONS.items() if name in MOST_USED}
    parts = (
        ("Linear solvers (-s)", [(f"{r.number} {r.name}", _shorter(r.help)) for r in liblinear.ROWS]),
        ("Options, before the data file", [(f"{o} {v}".strip(), text) for o, v, text in LIBLINEAR_OPTIONS]),
        ("Solvers with a kernel (-s with -t, -g, -d or -r)", [(f"{r.number} {r.name}", r.help) for r in libsvm.ROWS]),
        ("Options with a kernel", [(f"{o} {v}", text) for o, v, text in kernel_texts.OPTIONS if o in KERNEL_FLAGS]),
        ("More options", [(f"{name} {option.metavar}".strip(), option.help) for name, option in flags.items()]),
    )
    for title, rows in parts:
        lines += ["", f"{title}:", *(f"  {left:<17} {text}" for left, text in rows)]
        if rows is parts[0][1]:
            lines.append(f"  {'30 to 81, auto':<17} solvers of five papers (--help-all); a choice by data and options")
    return "\n".join(lines) + "\n"


def _shorter(text: str) -> str:
    """A solver's problem with its long names abbreviated."""
    for name, short in SHORTER.items():
        text = text.replace(name, short)
    return text


def whole_help() -> str:
    """The text of --help-all, formatted by click."""
    import click

    page = click.HelpFormatter(max_width=100)
    page.write_usage("svm-train", "[options] training_set_file [model_file]")
    page.write_paragraph()
    page.write_text(
        "Trains a support vector machine from a LIBSVM text file (- for standard input; plain or compressed by gzip, "
        "bzip2, xz or zstd): a "
        "linear one, whose model LIBLINEAR's predict reads, or one with a kernel, as LIBSVM does. The model "
        "file defaults to the data file's base name + .model in the current directory."
    )
    page.write_paragraph()
    page.write_text(kernel_texts.ABOUT)
    for title, rows in (
        ("Solvers", solver_rows()),
        ("Options of LIBLINEAR, before the data file", option_rows()),
        ("Solvers with a kernel", kernel_texts.solver_rows()),
        ("Options of LIBSVM, with a kernel", kernel_texts.option_rows()),
        ("Long options of svmtool, before the data file", long_option_rows()),
    ):
        with page.section(title):
            page.write_dl(rows)
    page.write_paragraph()
    page.write_text("Exit status: 0 done, 1 error, 2 not converged (with --strict), 130 interrupted (model written).")
    return page.getvalue()


def methods(found: list[str]) -> str:
    """The lines of --explain on a data file: the methods with which training would begin."""
    return layout.facts(("method", text) for text in found)


def explain(settings: Settings) -> str:
    """The text of --explain: problem, stopping rule, options and paper of the chosen solver."""
    if settings.problem.kernel is not None:
        return kernel_texts.explain(settings)
    row = settings.row
    stops, C = kernel_texts.stopping_text(settings), settings.problem.C
    cost = f"C_i = C * (product of the -w factors of the row's class) * (its number in --weights); C = {C:g}"
    if "-c" not in registry.supported_options(row):
        cost = kernel_texts.NO_COSTS
    facts = (
        ("solver", f"-s {row.number}, {row.name}: {row.help}"),
        ("task", row.task),
        ("problem", row.objective),
        ("loss", row.loss),
        ("regulariser", row.regulariser),
        ("costs", cost),
        ("classes", "three or more: one problem for each class against the rest, whose cost is C without a factor"),
        ("bias", row.bias),
        ("stops when", stops),
        ("model file", f"solver_type {row.word}"),
        ("options", " ".join(sorted(registry.supported_options(row)))),
        ("paper", row.paper),
        ("module", row.module),
    )
    return layout.facts(facts)

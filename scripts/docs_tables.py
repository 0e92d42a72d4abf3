"""Keep the tables of the pages in docs/ equal to the registry and the options.

python scripts/docs_tables.py     rewrites the tables between their markers; the tests check that they are current
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT)]

from sklearn_tests import DIFFERENCES  # noqa: E402
from svmtool import registry  # noqa: E402
from svmtool.cli import help_texts as texts  # noqa: E402
from svmtool.options.commands import TABLES as OPTIONS  # noqa: E402


def cell_of(text: str) -> str:
    """A cell with its bars as entities: within code GitHub and mkdocs escape a plain bar differently."""
    if "|" not in text:
        return text
    if text.startswith("`") and text.endswith("`") and text.count("`") == 2:
        text = f"<code>{html.escape(text[1:-1], quote=False)}</code>"
    return text.replace("|", "&#124;")


def table(head: tuple[str, ...], rows) -> str:
    """A Markdown table; columns whose cells all begin with a number are aligned right."""
    rows = list(rows)
    right = [all(re.match(r"-?[\d.]+( %|e|$)|-$|inf$", row[k]) for row in rows) for k in range(len(head))]
    lines = [head, tuple("---:" if k else "---" for k in right), *rows]
    return "\n".join("| " + " | ".join(cell_of(text) for text in line) + " |" for line in lines)


def solvers(kernel: bool = False) -> str:
    """One line for each solver: its problem."""
    rows = registry.default_rows(kernel)
    lines = [(f"`{row.number}`", f"`{row.name}`", row.help, f"`{row.objective}`") for row in rows]
    return table(("`-s`", "name", "what", "problem"), lines)


def stopping(word: str, kernel: bool = False) -> str:
    """When each solver stops, and the word that its model files carry."""
    rows = [(f"`{row.number}`", row.stopping, f"`{row.word}`") for row in registry.default_rows(kernel)]
    return table(("`-s`", "stops when", f"`{word}` in the model file"), rows)


def printed(rows) -> str:
    """What each number of a paper runs, and what --method fast does; then what differs from print, each text once."""
    lines, numbers = [], {}
    for row in rows:
        about = registry.about(row)
        lines.append((f"`{row.number}`", about.algorithm, about.iteration, about.fast))
        for text in about.differs:
            numbers.setdefault(text, []).append(f"`{row.number}`")
    head = ("`-s`", "algorithm", "an iteration costs", "`--method fast`")
    differs = "\n".join(f"- {', '.join(found)}: {text.replace('|', '&#124;')}" for text, found in numbers.items())
    return f"{table(head, lines)}\n\nNot as printed:\n\n{differs}"


def engine(rows) -> str:
    """When the papers' numbers stop with --method fast."""
    return table(("`-s`", "with `--method fast` it stops when"), [(f"`{r.number}`", r.stopping) for r in rows])


def papers(rows) -> str:
    """The paper of each solver; solvers of one paper share a line."""
    numbers: dict[str, list[str]] = {}
    for row in rows:
        numbers.setdefault(row.paper, []).append(f"`{row.number}`")
    return table(("`-s`", "paper, and what is used of it"), [(", ".join(n), paper) for paper, n in numbers.items()])


def options(title: str, rows) -> str:
    """The options of a command."""
    return table((f"option of {title}", "meaning"), [(f"`{flag}`", meaning) for flag, meaning in rows])


def sklearn_differences() -> str:
    """The tests of scikit-learn's own that may fail with our classes in place, and why."""
    reasons: dict[str, list[str]] = {}
    for name, reason in DIFFERENCES.items():
        reasons.setdefault(reason, []).append(f"`{name}`")
    rows = [(reason, ", ".join(names)) for reason, names in reasons.items()]
    return table(("what differs", "tests of scikit-learn 1.9 that may fail for it"), rows)


TABLES = {
    "sklearn differences": sklearn_differences,
    "solvers": solvers,
    "stopping rules": lambda: stopping("solver_type"),
    "papers": lambda: papers(registry.default_rows()),
    "printed": lambda: printed(registry.PRINTED),
    "kernel printed": lambda: printed(registry.KERNEL_PRINTED),
    "fast": lambda: engine(row for row in registry.SOLVERS if "--method" in row.supported),
    "kernel fast": lambda: engine(row for row in registry.KERNEL_SOLVERS if "--method" in row.supported),
    "kernel solvers": lambda: solvers(kernel=True),
    "kernel stopping rules": lambda: stopping("svm_type", kernel=True),
    "kernel papers": lambda: papers(registry.default_rows(kernel=True)),
    "options": lambda: options("svm-train", [*texts.option_rows(), *texts.long_option_rows()]),
    "kernel options": lambda: options("svm-train with a kernel", texts.kernel_option_rows()),
    "predict options": lambda: options("svm-predict", texts.plain_rows(OPTIONS["svm-predict"])),
    "scale options": lambda: options("svm-scale", texts.plain_rows(OPTIONS["svm-scale"])),
}


def pages() -> dict[Path, str]:
    """The pages with new tables, each between `<!-- name -->` and `<!-- end name -->`."""
    found = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
    for name, make in TABLES.items():
        [page] = [path for path, text in found.items() if f"<!-- {name} -->\n" in text]
        before, _, rest = found[page].partition(f"<!-- {name} -->\n")
        after = rest[rest.index(f"<!-- end {name} -->") :]
        found[page] = f"{before}<!-- {name} -->\n{make()}\n{after}"
    return found


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")

"""Keep the tables of the pages in docs/ equal to the registry, the options and recorded measurements.

python scripts/docs_tables.py               rewrites the tables between their markers
python scripts/docs_tables.py --bench F     also those of a JSON file of scripts/bench.py (several: F,G)
python scripts/docs_tables.py --all-sets F  also those of the file that the part all-sets of the bench keeps
python scripts/docs_tables.py --python F    the same of the part python
python scripts/docs_tables.py --check       exit status 1 if a page is not current
"""

from __future__ import annotations

import html
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT)]

from bench_parts import distribution, python_distribution  # noqa: E402
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


def solvers() -> str:
    """One line for each linear solver: its problem."""
    rows = [(f"`{row.number}`", f"`{row.name}`", row.help, f"`{row.objective}`") for row in registry.default_rows()]
    return table(("`-s`", "name", "what", "problem"), rows)


def kernel_solvers() -> str:
    """One line for each solver with kernels: its problem."""
    rows = registry.default_rows(kernel=True)
    lines = [(f"`{row.number}`", f"`{row.name}`", row.help, f"`{row.objective}`") for row in rows]
    return table(("`-s`", "name", "what", "problem"), lines)


def stopping() -> str:
    """When each linear solver stops, and the word that its model files carry."""
    rows = [(f"`{row.number}`", row.stopping, f"`{row.word}`") for row in registry.default_rows()]
    return table(("`-s`", "stops when", "`solver_type` in the model file"), rows)


def kernel_stopping() -> str:
    """When each solver with kernels stops, and the word that its model files carry."""
    rows = [(f"`{row.number}`", row.stopping, f"`{row.word}`") for row in registry.default_rows(kernel=True)]
    return table(("`-s`", "stops when", "`svm_type` in the model file"), rows)


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


def figures(paths: list[str]) -> str:
    """The bars that scripts/bench.py measured, from its JSON files, with dates and the machine (of the last)."""
    sections: list[dict] = []
    dates = set()
    for path in paths:
        with open(path, encoding="utf-8") as f:
            found = json.load(f)
        m = found["machine"]
        dates.add(m["date"])
        sections += found["sections"]
    rows = []
    for section in sections:
        for bar in section["bars"]:
            if bar["value"] is not None:
                required = f"{'at least' if bar['relation'] == '>=' else 'at most'} {bar['limit']:g}"
                rows.append((bar["text"], f"{bar['value']:.3g}", required, "yes" if bar["holds"] else "**no**"))
    where = f"Measured on {' and '.join(sorted(dates))}: {m['processor']}, {m['cores']} cores, Python {m['python']}; "
    where += "medians, side by side."
    tables = [table(("what", "measured", "required", "holds"), rows), *tool_figures(sections)]
    return where + "\n\n" + "\n\n".join(tables)


# part of the benchmark -> title of its table
SIDE_BY_SIDE = {
    "kernel": "training with a kernel, s",
    "kernel-predict": "prediction with a kernel, s",
    "kernel-ls": "kernel least squares and C-SVC: training, s, and accuracy on other rows",
    "lssvm": "least squares: training alone, s, and accuracy on other rows",
    "lssvm-dims": "training alone, s, by number of features",
    "spark": "training on Spark, rows cached: s, and relative distance from the optimum",
    "fosvm": "novelty: training alone, s, share rejected (--boundary rho), area under the ROC curve",
}
FOSVM_TOOLS = {"80": "-s 80", "81": "-s 81", "2": "LIBSVM -s 2"}


def tool_figures(sections: list[dict]) -> list[str]:
    """The tables that compare tools, and those of working sets of p pairs, if they were measured."""
    found = []
    for section in sections:
        name = section["name"]
        rows = [(row["job"], tools) for row in section["rows"] if (tools := tools_of(row))]
        if name in SIDE_BY_SIDE and rows:
            tools = list(dict.fromkeys(tool for _, some in rows for tool in some))
            cells = [(job, *(cell(some.get(tool)) for tool in tools)) for job, some in rows]
            found.append(table((SIDE_BY_SIDE[name], *tools), cells))
        if name == "spark-costs":
            found.append(spark_costs(section["rows"]))
        if name == "kernel-pairs":
            cells = []
            for row in section["rows"]:
                runs = [row[form] for form in ("ours", "paper")]
                shown = (
                    f"{r['seconds']:.3g} s, {r['rounds']}{'' if r['converged'] else ', **not reached**'}" for r in runs
                )
                cells.append((row["case"], str(row["pairs"] or "default"), *shown))
            found.append(table(("solver alone: seconds, rounds", "p", "our form", "the paper's"), cells))
    return found


def spark_costs(rows: list[dict]) -> str:
    """The parts of Spark's time, here and on more nodes."""
    cells = []
    for row in rows:
        where = f"{row['nodes']} nodes, computed" if row["nodes"] > 1 else "here, measured"
        parts = row["seconds"].values()
        cells.append((row["job"], where, str(row["passes"]), *(f"{s:.3g}" for s in (sum(parts), *parts))))
    return table(("Spark, ours: s", "where", "passes", "in all", *rows[0]["seconds"]), cells)


def tools_of(row: dict) -> dict[str, dict]:
    """The results of each tool in a row of the benchmark: seconds, and what `cell` adds."""
    if "d" in row:
        return {tool: {"seconds": seconds} for tool, seconds in row["seconds"].items()}
    if "runs" in row and "best" in row:
        return {tool: row["best"][key] for key, tool in FOSVM_TOOLS.items() if row["best"].get(key)}
    return row.get("tools", {})


def cell(run: dict | None) -> str:
    """The text for one tool in a row; marks runs ended by the budget."""
    if run is None or "failed" in run:
        return "-" if run is None else "failed"
    words = [f"{'over ' if run.get('over') else ''}{run['seconds']:.3g}"]
    if "accuracy" in run:
        words.append(f"{100 * run['accuracy']:.2f} %")
    if "reached" in run:
        words.append(f"{run['reached']:.1e}")
    if "rejected" in run:
        words += [f"{run['rejected']:.3f}", f"{run['test']:.4f}"]
    return ", ".join(words) + ("" if run.get("converged", True) else ", **not reached**")


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
    "stopping rules": stopping,
    "papers": lambda: papers(registry.default_rows()),
    "printed": lambda: printed(registry.PRINTED),
    "kernel printed": lambda: printed(registry.KERNEL_PRINTED),
    "fast": lambda: engine(row for row in registry.SOLVERS if "--method" in row.supported),
    "kernel fast": lambda: engine(row for row in registry.KERNEL_SOLVERS if "--method" in row.supported),
    "kernel solvers": kernel_solvers,
    "kernel stopping rules": kernel_stopping,
    "kernel papers": lambda: papers(registry.default_rows(kernel=True)),
    "options": lambda: options("svm-train", [*texts.option_rows(), *texts.long_option_rows()]),
    "kernel options": lambda: options("svm-train with a kernel", texts.kernel_option_rows()),
    "predict options": lambda: options("svm-predict", texts.plain_rows(OPTIONS["svm-predict"])),
    "scale options": lambda: options("svm-scale", texts.plain_rows(OPTIONS["svm-scale"])),
}


# tables of measurements, which an option fills from files of results
MEASURED = {
    "bench": lambda files: figures(files.split(",")),
    "all sets": lambda file: distribution.latest(Path(file)).text(),
    "python": lambda file: python_distribution.latest(Path(file)).text(),
}


def replaced(text: str, name: str, fresh: str) -> str:
    """Text of a page with a new table between `<!-- name -->` and `<!-- end name -->`, where it has them."""
    return re.sub(
        rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)",
        lambda found: f"{found[1]}{fresh}\n{found[2]}", text, flags=re.DOTALL,
    )  # fmt: skip


def main() -> int:
    pages = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
    tables = {name: make() for name, make in TABLES.items()}
    for name, make in MEASURED.items():
        option = "--" + name.replace(" ", "-")
        if option in sys.argv[1:]:
            tables[name] = make(sys.argv[sys.argv.index(option) + 1])
    for name in (*TABLES, *MEASURED):
        if sum(text.count(f"<!-- {name} -->\n") for text in pages.values()) != 1:
            raise SystemExit(f"docs: the markers of the table `{name}` are missing or doubled")
    stale = []
    for path, text in pages.items():
        fresh = text
        for name, made in tables.items():
            fresh = replaced(fresh, name, made)
        if fresh != text:
            stale.append(path)
            if "--check" not in sys.argv[1:]:
                path.write_text(fresh, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        names = ", ".join(f"docs/{path.name}" for path in stale)
        print(f"not current: {names}: run python scripts/docs_tables.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

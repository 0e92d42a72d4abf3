"""Writes the README's tables from the registry and the options.

python scripts/readme_tables.py            rewrites README.md between its markers
python scripts/readme_tables.py --bench F  the same, and the table of speed from a JSON file of scripts/bench.py
python scripts/readme_tables.py --all-sets F  the same, and the distributions from the file that its part all-sets keeps
python scripts/readme_tables.py --check    exit status 1 where README.md is not current
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
README = os.path.join(ROOT, "README.md")
sys.path[:0] = [os.path.join(ROOT, "scripts"), ROOT]

from bench_parts import python_spread, spread  # noqa: E402
from svmtool import registry  # noqa: E402
from svmtool.cli.help import kernel_texts, texts  # noqa: E402


def table(head: tuple[str, ...], rows) -> str:
    """A Markdown table; bars inside cells are escaped."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def solvers() -> str:
    """One line for each solver of the registry."""
    rows = []
    for row in registry.SOLVERS:
        rows.append((f"`{row.number}`", f"`{row.name}`", row.help, f"`{row.objective}`", row.stopping, f"`{row.word}`"))
    return table(("`-s`", "name", "what", "problem", "stops when", "word in the model file"), rows)


def option_table() -> str:
    """The options of svm-train: LIBLINEAR's first, then ours."""
    rows = [*texts.option_rows(), *texts.long_option_rows()]
    return table(("option of svm-train", "meaning"), [(f"`{flag}`", meaning) for flag, meaning in rows])


def kernel_solvers() -> str:
    """One line for each solver with kernels."""
    rows = []
    for row in registry.KERNEL_SOLVERS:
        cells = (row.help, f"`{row.objective}`", row.stopping, f"`{row.word}`")
        rows.append((f"`{row.number}`", f"`{row.name}`", *cells))
    return table(("`-s`", "name", "what", "problem", "stops when", "svm_type in the model file"), rows)


def kernel_options() -> str:
    """LIBSVM's options."""
    rows = [(f"`{flag}`", meaning) for flag, meaning in kernel_texts.option_rows()]
    return table(("option of svm-train with a kernel", "meaning"), rows)


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
                asked = f"{'at least' if bar['relation'] == '>=' else 'at most'} {bar['limit']:g}"
                rows.append((bar["text"], f"{bar['value']:.3g}", asked, "yes" if bar["holds"] else "**no**"))
    where = f"Measured on {' and '.join(sorted(dates))}: {m['processor']}, {m['cores']} cores, Python {m['python']}; "
    where += "medians, side by side."
    tables = [table(("what", "measured", "asked", "holds"), rows), *tool_figures(sections)]
    return where + "\n\n" + "\n\n".join(tables)


# part of the benchmark -> title of its table
SIDE_BY_SIDE = {
    "kernel": "training with a kernel, s",
    "kernel-predict": "prediction with a kernel, s",
    "kernel-ls": "kernel least squares and C-SVC: training, s, and accuracy on other rows",
    "lssvm": "least squares: training alone, s, and accuracy on other rows",
    "lssvm-dims": "training alone, s, by number of features",
    "spark": "training on Spark, rows cached: s, and relative distance from the optimum",
    "fosvm": "novelty: training alone, s, share rejected, area under the ROC curve",
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
                    f"{r['seconds']:.3g} s, {r['rounds']}{'' if r['converged'] else ', **not there**'}" for r in runs
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
    return ", ".join(words) + ("" if run.get("converged", True) else ", **not there**")


TABLES = {
    "solvers": solvers, "options": option_table, "kernel solvers": kernel_solvers, "kernel options": kernel_options,
}  # fmt: skip


# and those that an option fills from files of results
MEASURED = {
    "bench": lambda files: figures(files.split(",")),
    "all sets": lambda file: spread.latest(Path(file)).text(),
    "python": lambda file: python_spread.latest(Path(file)).text(),
}


def replaced(text: str, name: str, fresh: str) -> str:
    """README text with a new table between `<!-- name -->` and `<!-- end name -->`."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise SystemExit(f"README.md: the markers of the table `{name}` are missing or doubled")
    return pattern.sub(lambda found: f"{found[1]}{fresh}\n{found[2]}", text)


def rendered(text: str) -> str:
    """README text with new tables that need no measurements."""
    for name, make in TABLES.items():
        text = replaced(text, name, make())
    return text


def main() -> int:
    with open(README, encoding="utf-8") as f:
        text = f.read()
    fresh = rendered(text)
    for name, make in MEASURED.items():
        option = "--" + name.replace(" ", "-")
        if option in sys.argv[1:]:
            fresh = replaced(fresh, name, make(sys.argv[sys.argv.index(option) + 1]))
    if "--check" in sys.argv[1:]:
        if fresh != text:
            print("README.md is not current: run python scripts/readme_tables.py", file=sys.stderr)
        return int(fresh != text)
    with open(README, "w", encoding="utf-8") as f:
        f.write(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Whether the first line of a table of text is taken as names: it is judged by the lines below."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from svmtool.conversion.convert import Choices, convert
from svmtool.errors import SvmtoolError
from svmtool.formats import names as names_file

RNG = np.random.default_rng(11)
BELOW = {
    "number": lambda n: [f"{v:g}" for v in RNG.normal(0, 50, n).round(1)],
    "gaps": lambda n: ["NA" if v < 0.3 else f"{v:.2f}" for v in RNG.random(n)],
    "class": lambda n: [("red", "blue")[v] for v in RNG.integers(0, 2, n)],
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def work(lines, delimiter: str = ",", mark: str = "", **choices) -> tuple[int, list[str], list[str]]:
        """Rows and names of a table, and the lines about its first one."""
        out, said = io.StringIO(), []
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(lines)
        (tmp_path / "d.csv").write_text(mark + out.getvalue(), encoding="utf-8")
        choices |= {"one_hot": True, "missing": "zero", "delimiter": delimiter, "no_label": True}
        convert("d.csv", "d", Choices(**choices), said.append)
        found = names_file.read("d.names")
        names = [*dict.fromkeys(name.partition("=")[0] for name in found.features)]
        rows = (tmp_path / "d").read_text().count("\n")
        return rows, names, [line for line in said if "first line" in line]

    return work


@pytest.mark.parametrize("delimiter, mark, trial", [(",", "", 0), ("\t", "\ufeff", 1), (";", "", 2), (",", "", 3)])
def test_names_above_numbers_are_names(trial, delimiter, mark, run):
    """Whatever the other names are: numbers, quoted, empty; and with them no line is said."""
    kinds = RNG.choice(list(BELOW), RNG.integers(0, 4))
    columns = [BELOW["number"](5), *(BELOW[kind](5) for kind in kinds)]
    others = RNG.choice(["2019", "1", "x", "", "7.5", 'q"t'], len(kinds), replace=False)
    names = ["a, b" if trial % 3 == 0 else "age", *others]
    order = RNG.permutation(len(columns))
    lines = [[names[k] for k in order], *zip(*(columns[k] for k in order), strict=True)]
    shown = [names[k] or f"column {at + 1}" for at, k in enumerate(order)]
    assert run(lines, delimiter, mark) == (5, shown, [])


@pytest.mark.parametrize("trial", range(4))
def test_rows_are_rows(trial, run):
    """A first row of numbers, two of them equal, or with a text that is also below: no line is said."""
    columns = [BELOW[kind](6) for kind in RNG.choice(["number", "class"], RNG.integers(1, 4))]
    columns.append(["4", *BELOW["number"](5)])
    columns.append(["4", *BELOW["number"](5)])
    for column in columns:
        column[1] = column[0]
    lines = [*zip(*columns, strict=True)]
    assert run(lines) == (6, [f"column {k + 1}" for k in range(len(columns))], [])


@pytest.mark.parametrize(
    "text, rows, about",
    [
        ("2019,2020,2021\n1,2,3\n", 2, "row"),
        ("5\n1\n2\n", 3, "row"),
        ("1,2\n", 1, "row"),
        ("red,town\nblue,Bonn\n", 1, "names"),
        ("word\nred\nblue\n", 2, "names"),
        ("2019,kind\n1,red\n2,blue\n3,red\n", 3, "names"),  # a text unlike those below, which recur
        ("2019,name\n1,ann\n2,bea\n3,cid\n", 4, "row"),
        ("a,red\n1,red\n2,blue\n", 2, "names"),  # one speaks for names, one against
        ("3,y\n1,y\n2,n\n", 3, "row"),
        ("p,x,x\nq,y,z\n", 2, "row"),
        ("2020,2021,label\n3,2,yes\n5,9,no\n", 2, None),
        ("2020,,label\n3,2,1\n5,9,0\n", 2, None),
    ],
)
def test_where_it_stays_open_one_line_says_what_was_taken(text, rows, about, run):
    lines = [line.split(",") for line in text.splitlines()]
    found = run(lines)
    other = {"row": "--header takes it as names", "names": "--no-header takes it as a row"}
    if about is None:
        assert (found[0], found[2]) == (rows, [])
    else:
        taken = "names" if about == "names" else "a row"
        assert (found[0], found[2]) == (rows, [f"d.csv: the first line is taken as {taken}: {other[about]}"])
    for header in (True, False):  # said by the user: nothing is judged
        if header and (len(lines) == 1 or len(set(lines[0])) < len(lines[0])):
            continue
        chosen = run(lines, header=header)
        assert (chosen[0], chosen[2]) == (len(lines) - header, [])


def test_the_rows_below_are_those_of_the_whole_start(run):
    """Columns of numbers until late are judged by the first rows alone; all are read."""
    lines = [["a", "2019"], *([str(k), "1"] for k in range(300)), ["x", "2"]]
    rows, names, said = run(lines)
    assert (rows, names, said) == (301, ["a", "2019"], [])


def test_names_alone_are_no_rows(run):
    with pytest.raises(SvmtoolError, match="holds no rows: the first line is taken as names: --no-header takes it"):
        run([["a", "b"]])
    with pytest.raises(SvmtoolError, match="two columns have the name '1'"):
        run([["1", "1", "x"], ["2", "3", "4"]], header=True)

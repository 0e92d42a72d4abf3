"""Whether the first line of a table of text is taken as names: it is judged by the lines below."""

from __future__ import annotations

import csv
import io

import pytest

from svmtool.conversion.convert import Choices, convert
from svmtool.errors import SvmtoolError
from svmtool.formats import names as names_file


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def work(lines, **choices) -> tuple[int, list[str], list[str]]:
        """Rows and names of a table, and the lines about its first one."""
        out, said = io.StringIO(), []
        csv.writer(out, lineterminator="\n").writerows(lines)
        (tmp_path / "d.csv").write_text(out.getvalue(), encoding="utf-8")
        convert("d.csv", "d", Choices(one_hot=True, missing="zero", no_label=True, **choices), said.append)
        found = names_file.read("d.names")
        names = [*dict.fromkeys(name.partition("=")[0] for name in found.features)]
        rows = (tmp_path / "d").read_text().count("\n")
        return rows, names, [line for line in said if "first line" in line]

    return work


@pytest.mark.parametrize(
    "text, rows, about",
    [
        ("age,2019,x\n31.5,red,NA\n-2,blue,0.25\n", 2, None),
        ("2019,2020,2021\n1,2,3\n", 2, "row"),
        ("5\n1\n2\n", 3, "row"),
        ("red,town\nblue,Bonn\n", 1, "names"),
        ("2019,kind\n1,red\n2,blue\n3,red\n", 3, "names"),  # a text unlike those below, which recur
        ("2019,name\n1,ann\n2,bea\n3,cid\n", 4, "row"),
        ("a,red\n1,red\n2,blue\n", 2, "names"),  # one speaks for names, one against
        ("p,x,x\nq,y,z\n", 2, "row"),
        ("2020,,label\n3,2,1\n5,9,0\n", 2, None),
    ],
)
def test_where_it_stays_open_one_line_says_what_was_taken(text, rows, about, run):
    lines = [line.split(",") for line in text.splitlines()]
    found = run(lines)
    said = {"row": "a row: --header takes it as names", "names": "names: --no-header takes it as a row"}
    wanted = [f"d.csv: the first line is taken as {said[about]}"] if about else []
    assert (found[0], found[2]) == (rows, wanted)
    chosen = run(lines, header=False)  # said by the user: nothing is judged
    assert (chosen[0], chosen[2]) == (len(lines), [])


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

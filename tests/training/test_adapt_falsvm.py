"""--add and --remove of -s 72 against Algorithm 2 and Eqs. 4-10 written out, row by row, in the paper's letters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from adapt_suite import PaperForm, Row, draw, streamed, text_of_rows, weights_in
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from svmtool.cli.train import main

WIDE = 9  # features of the paper's form, the bias feature behind them
ROUNDOFF_GAP = 1e-12  # of products that rounding could turn
RTOL = 1e-8  # of weights


def run(*argv, **files: list[Row]) -> int:
    for name, rows in files.items():
        Path(name).write_text(text_of_rows(rows))
    return main(["-q", "-s", "72", *map(str, argv)])


def agree(paper: PaperForm, label: int) -> None:
    """label: that of +1."""
    found = weights_in("m")
    w, full = found[label] if label in found else -found[-label], np.zeros(WIDE + 1)
    full[: len(w) - 1], full[-1] = w[:-1], w[-1]
    np.testing.assert_allclose(full, paper.w, rtol=RTOL, atol=RTOL * max(1.0, float(np.abs(paper.w).max())))


@given(data=st.data())
@settings(max_examples=7, deadline=None)
def test_any_sequence_is_the_papers(tmp_path_factory, data):
    """Behind a first row: rows that are taken once, often or never, equal ones, features that come, class weights."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    C, passes = data.draw(st.sampled_from([0.01, 1.0, 30.0])), data.draw(st.integers(1, 3))
    factor = data.draw(st.sampled_from([{}, {1: 2.0, -1: 0.5}]))
    paper, [first] = PaperForm(WIDE + 1, 1.0), draw(rng, 1, 5)

    def parts(row: Row) -> tuple[np.ndarray, float]:
        """x and y in the scale of the row's cost, so that nu = 1/2."""
        x, root = np.zeros(WIDE + 1), np.sqrt(C * factor.get(row.label, 1.0))
        x[: len(row.x)], x[-1] = row.x, 1.0
        return root * x, root if row.label == first.label else -root

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("sequence"))
        asked = ["-c", C, *(x for label, f in factor.items() for x in (f"-w{label}", f))]
        asked += ["--method", data.draw(st.sampled_from(["paper", "fast"]))]
        assert run(*asked, "--passes", passes, "d", "m", d=[first]) == 0
        paper.add(*parts(first))
        entries = [[first, 1]]  # row, how often it was taken
        for _ in range(data.draw(st.integers(1, 3))):
            new = draw(rng, data.draw(st.integers(1, 20)), data.draw(st.integers(1, WIDE)))
            new += [entries[i][0] for i in rng.integers(0, len(entries), 3)]
            entries += (added := [[row, 0] for row in new])
            for entry in passes * added:
                x, y = parts(entry[0])
                product = y * float(paper.w @ x)
                assume(abs(product) > ROUNDOFF_GAP)
                if product < 0:
                    paper.add(x, y)
                    entry[1] += 1
            assert run("--add", "new", "--passes", passes, "-i", "m", new=new) == 0
            agree(paper, first.label)
            gone = rng.permutation(len(entries) - 1)[: data.draw(st.integers(1, len(entries) - 1))]
            out = [entries[1 + i][0] for i in gone]
            for row in out:  # the newest that is identical
                at = max(i for i, (other, _) in enumerate(entries) if other.text == row.text)
                for _ in range(entries.pop(at)[1]):
                    paper.remove(*parts(row))
            assert run("--remove", "out", "-i", "m", out=out) == 0
            agree(paper, first.label)


@pytest.fixture
def ready(svm_train):
    """Files d, new and m, the model of d; returns svm_train -s 72."""
    rng = np.random.default_rng(3)
    Path("new").write_text(text_of_rows(draw(rng, 30, 4)))
    assert svm_train("-s", 72, "d", "m", data=text_of_rows(draw(rng, 200, 4)))[0] == 0
    return lambda *argv: svm_train("-s", 72, *argv)


def test_removing_rows_not_in_the_model_changes_nothing(ready):
    """And those in it, also if identical rows were there before, leave no trace."""
    first = weights_in("m")[1]
    _, out, _ = ready("--add", "new", "-i", "m")
    taken, in_model = int(out.split()[1]), 0
    assert out.startswith("Added ") and "Rows seen = 230" in out and 0 < taken < 30
    for line in Path("new").read_text().splitlines(keepends=True):
        before = weights_in("m")[1]
        Path("one").write_text(line)
        status, out, _ = ready("--remove", "one", "-i", "m")
        assert status == 0 and out.startswith("Removed 1 rows, ")
        in_model += int(out.split()[3])
        assert (np.linalg.norm(weights_in("m")[1] - before) > 1e-6) == (int(out.split()[3]) == 1)
    assert in_model == taken
    np.testing.assert_allclose(weights_in("m")[1], first, rtol=1e-9, atol=1e-12)
    status, _, err = ready("--remove", "one", "-i", "m")
    assert status == 1 and "one: line 1: the model does not contain this row" in err


def test_a_stream_is_a_file_in_pieces(ready, svm_train):
    """However the rows are cut into pieces: each is examined by the model of those before it."""
    for name in ("m", "m.state.npz", "m.state.rows"):
        Path(name.replace("m", "m2", 1)).write_bytes(Path(name).read_bytes())
    assert ready("--add", "new", "-i", "m")[0] == 0
    for part in np.array_split(Path("new").read_text().splitlines(keepends=True), 7):
        assert streamed(svm_train, "".join(part.tolist()), "-s", 72, "--add", "-", "-i", "m2")[0] == 0
    np.testing.assert_allclose(weights_in("m2")[1], weights_in("m")[1], rtol=1e-10)
    assert Path("m2.state.rows").stat().st_size == Path("m.state.rows").stat().st_size


def test_invalid_memory_options_are_refused(ready, svm_train):
    Path("third").write_text("1 1:1\n5 1:1\n")
    Path("three").write_text("1 1:1\n2 1:-1\n3 2:1\n")
    for argv, sentence in (
        ("-s 72 --add third -i m", "third: line 2: label 5 is a third label, after "),
        ("-s 71 --add new -i m", "the model was trained by -s 72, not -s 71"),
    ):
        status, _, err = svm_train("-q", *argv.split())
        assert status == 1 and sentence in err
    assert svm_train("-q", "-s", 72, "three", "m3") == (0, "", "")
    assert not Path("m3.state.npz").exists()
    status, _, err = svm_train("-q", "-s", 72, "--add", "new", "-i", "m3")
    assert status == 1 and "and -s 72 with two labels" in err


@pytest.mark.parametrize(
    ("data", "options"),
    [("", ["-B", -1]), ("1\n-1\n1\n", ["-c", 1e-12]), ("2 1:1\n2 1:3\n", ["-w1", 0]),
     ("1 1:1e-30 2:5\n-1 1:1e30\n", ["-c", 1e10]), ("2 1:1\n2 1:3\n", ["-c", 1e10])],
    ids=str,
)  # fmt: skip
def test_odd_data_end_honestly(data, options, svm_train):
    Path("new").write_text("1\n-1 1:1\n")
    assert svm_train("-q", "-s", 72, *options, "d", "m", data=data)[0] == 0
    for change in ("--add", "--remove"):
        status, _, err = svm_train("-q", "-s", 72, change, "new", "-i", "m")
        unknown = "is a third label" if change == "--add" else "does not contain this row"
        if "too few digits" in err:  # of 1 - a in Eq. 8, at a large cost
            assert status == 1 and options[1] == 1e10 and change == "--remove"
            status, _, err = svm_train("-q", "-s", 72, change, "new", "-i", "m", "--method", "fast")
        assert status == 0 or (data[:1] == "2" and unknown in err), err
        assert all(np.all(np.isfinite(w)) for w in weights_in("m").values())

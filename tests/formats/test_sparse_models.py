"""Models without zeros, MODEL.npz, and the memory of trainings of many classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import svmtool
from svmtool.cli.predict import command as predict
from svmtool.compiled import threads
from svmtool.errors import ModelError
from svmtool.formats.models import linear, read, text
from svmtool.models import weights
from svmtool.models.linear import LinearModel


def some_weights(seed, rows=997, columns=5):
    """Weights of which columns have very different shares of zeros; one is -0."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 10.0 ** -rng.uniform(0, 3, columns))
    W[5, -1] = -0.0
    return W


def bits(W):
    return np.ascontiguousarray(W).view(np.int64)


@pytest.mark.parametrize("word, labels, bias", [("L2R_LR", (3, 1, 2), 1.0), ("L2R_L2LOSS_SVR", None, -1.0)])
def test_files_hold_the_model_to_the_bit(tmp_path, word, labels, bias):
    columns = 1 if labels is None else 3
    W = some_weights(1, 41 + (bias >= 0), columns) if columns > 1 else some_weights(1, 41, 2)[:, 1:]
    model = LinearModel(word, labels, 41, bias, W, notes=("# a", "# b"))
    linear.write(str(tmp_path / "m.npz"), model)
    found = read(str(tmp_path / "m.npz"))
    assert np.array_equal(bits(found.W), bits(W)) and found.notes == model.notes
    assert (found.word, found.labels, found.n_features, found.bias) == (word, labels, 41, bias)
    assert np.array_equal(sparse.load_npz(tmp_path / "m.npz").toarray(), W)
    linear.write(str(tmp_path / "m"), model)
    linear.write(str(tmp_path / "n"), found)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


@pytest.mark.parametrize("seed", range(2))
def test_predictions_are_those_of_all_weights(tmp_path, seed, monkeypatch):
    monkeypatch.setattr("svmtool.models.weights.PACKED_FROM", 1)  # models stay without zeros
    rng = np.random.default_rng(seed)
    labels = (1, 2, 3, 4, 5) if seed else (1, -1)
    W = some_weights(seed, 30, len(labels) if len(labels) > 2 else 1)
    model = LinearModel("L2R_L2LOSS_SVC", labels, 29, 0.5, W)
    names = [str(tmp_path / name) for name in ("m", "m.npz")]
    for name in names:
        linear.write(name, model)
    rows = np.round(rng.normal(size=(50, 40)) * (rng.random((50, 40)) < 0.5), 2)
    lines = ["1 " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v) for x in rows]
    lines[7] += " 50: 0x1p3"  # only the slow parser reads it
    lines[9] = "1 3: 0x1p-1 4:2 60:1"
    (tmp_path / "t").write_text("\n".join(lines) + "\n")
    for name in names:
        argv = ["-q", "--scores", name + ".s", str(tmp_path / "t"), name, name + ".o"]
        assert predict.main(argv) == 0
    for ending in (".s", ".o"):
        assert (tmp_path / f"m{ending}").read_bytes() == (tmp_path / f"m.npz{ending}").read_bytes()
    found = read(names[1])
    assert not isinstance(found.W, np.ndarray)
    X = sparse.csr_matrix(rows)
    for some in (X, rows):
        assert np.allclose(svmtool.decision_values(found, some), svmtool.decision_values(model, rows))
    found.W.labels[0] = len(labels)
    with pytest.raises(ValueError, match="were they changed"):
        svmtool.predict(found, rows)


@pytest.mark.parametrize("size", [1, 50, 1 << 20])
@pytest.mark.parametrize("empty", [False, True])
def test_weights_of_problems_are_those_by_feature(monkeypatch, size, empty):
    """Sorted in groups of columns of any size, at all features and at some of more."""
    monkeypatch.setattr(weights, "PIECE_VALUES", size)
    W = 0.0 * some_weights(3) if empty else some_weights(3)
    W[:, 1] = 0.0
    columns = weights.Columns([weights.Column(w.view(np.int64) != 0, w[w.view(np.int64) != 0]) for w in W.T], len(W))
    places = np.flatnonzero(np.arange(1500) % 3)[: len(W)]
    wide = np.zeros((1500, W.shape[1]))
    wide[places] = W
    for found, wanted in ((columns, W), (columns.spread(places, len(wide)), wide)):
        assert np.array_equal(bits(np.concatenate([piece[:] for piece in found.pieces()])), bits(wanted))
        assert np.array_equal(bits(found.by_feature()[:]), bits(wanted)) and found.finite
        assert np.array_equal(found.counts, np.count_nonzero(bits(wanted), axis=1))


def changed(path, name, value):
    with np.load(path) as arrays:
        kept = dict(arrays)
    if value is None:
        del kept[name]
    else:
        kept[name] = value(kept[name]) if callable(value) else value
    np.savez(path, **kept)


@pytest.mark.parametrize(
    "name, value, reason",
    [
        ("indices", lambda a: -a, "is damaged at feature"),
        ("indices", lambda a: a.astype(np.int64) + 2**32, "integers of 32 bits"),
        ("indptr", lambda a: a[::-1], "span"),
        ("indptr", lambda a: np.append(0, np.append(np.full(len(a) - 2, a[-1] + 9), a[-1])), "is damaged at feature"),
        ("data", lambda a: a[:-1], "sizes"),
        ("data", lambda a: np.where(np.arange(len(a)) == 3, np.nan, a), "is damaged at feature"),
        ("data", None, "no array 'data'"),
        ("header", np.frombuffer(b"solver_type L2R_LR\nw", np.uint8), "lacks"),
        ("notes", None, "no array 'notes'"),
    ],
)
def test_nothing_in_a_file_is_trusted(tmp_path, capsys, name, value, reason):
    path = str(tmp_path / "m.npz")
    linear.write(path, LinearModel("L2R_LR", (1, 2, 3), 40, -1.0, some_weights(2, 40, 3)))
    changed(path, name, value)
    with pytest.raises(ModelError, match=reason):
        read(path)
    (tmp_path / "t").write_text("1 1:1\n")
    assert predict.main([str(tmp_path / "t"), path, str(tmp_path / "o")]) == 1
    out = capsys.readouterr()
    assert f"can't open model file {path}" in out.err and "Traceback" not in out.err


@pytest.mark.parametrize("count", [1, 5])
def test_numbers_are_read_on_any_number_of_threads(tmp_path, monkeypatch, count):
    monkeypatch.setattr(text, "PART_BYTES", 40)
    monkeypatch.setattr(text, "WINDOW_BYTES", 1 << 10)
    W = np.random.default_rng(3).normal(size=(400, 3))
    model = LinearModel("L2R_LR", (1, 2, 3), 400, -1.0, W, notes=("# 1 2 3",))
    linear.write(str(tmp_path / "m"), model)
    with threads.limited(count):
        assert np.array_equal(bits(read(str(tmp_path / "m")).W), bits(W))
        content = (tmp_path / "m").read_text()
        (tmp_path / "h").write_text(content.replace(f"{W[3, 0]:.17g} ", f"{float(W[3, 0]).hex()}   \n\t", 1))
        assert np.array_equal(read(str(tmp_path / "h")).W, W)
        (tmp_path / "x").write_text(content.replace(f"{W[300, 0]:.17g} ", "x1 ", 1))
        with pytest.raises(ModelError, match="number 901 is 'x1'"):
            read(str(tmp_path / "x"))
        (tmp_path / "i").write_text(content.replace(f"{W[300, 0]:.17g} ", "inf ", 1))
        with pytest.raises(ModelError, match="line 307: number 901"):
            read(str(tmp_path / "i"))

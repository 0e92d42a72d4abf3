"""npz files of other hands: every sound one is read, and nothing in one that is not is believed."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from sampling import pairs_in_turn
from scipy import sparse

from svmtool.conversion import npz
from svmtool.data.sparse_checks import ARRAYS
from svmtool.errors import SvmtoolError

RNG = np.random.default_rng(3)
X = RNG.integers(-1, 3, (12, 6)).astype(float)
Y = np.arange(12.0)
FORMS = [*ARRAYS, "dense", "columns"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def arrays_of(form: str, kind: str = "matrix") -> dict:
    sparse.save_npz("m.npz", getattr(sparse, f"{form}_{kind}")(X))
    with np.load("m.npz") as archive:
        return {**archive, "y": Y}


def refusal(path: str = "d.npz", without_labels: bool = False) -> str:
    with pytest.raises(SvmtoolError) as caught:
        npz.read(path, without_labels)
    text = str(caught.value)
    assert text.count(path) == 1 and "\n" not in text and len(text) < 300
    return text


@pytest.mark.parametrize(("form", "dtype"), pairs_in_turn(FORMS, ["f8", ">f4", "i2", "u1", "f16"]))
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_every_format_and_type(form, kind, dtype):
    if form in ARRAYS:
        arrays = arrays_of(form, kind)
        wanted = arrays["data"].astype(dtype)
        arrays["data"] = wanted
    else:
        arrays = {"X": (np.asfortranarray if form == "columns" else np.asarray)(X.astype(dtype)), "y": Y[:, None]}
    (np.savez if kind == "array" else np.savez_compressed)("d.npz", **arrays)
    rows = npz.read("d.npz", False)
    found = sparse.csr_matrix((rows.values, rows.indices, rows.indptr), X.shape).toarray()
    np.testing.assert_array_equal(found, np.where(X < 0, 255.0, X) if dtype == "u1" else X)
    np.testing.assert_array_equal(rows.labels, Y)
    assert rows.indices.dtype == np.int32 and rows.indptr.dtype == np.int64 and np.all(rows.values != 0)


@pytest.mark.parametrize(
    "name, value, reason",
    [
        ("data", np.ones(1, complex), "complex"), ("data", np.array([None]), "Python objects"),
        ("indices", np.ones(1), "type f"), ("y", Y * 1j, "complex"), ("y", Y.astype("S9"), "type S"),
        ("shape", np.array([12]), "shape"), ("shape", np.array([2**62, 6]), "indptr"),
        ("format", np.array("lil"), "lil"), ("format", np.array([b"csr"]), "format"), ("indptr", np.array(3), "indptr"),
    ],
)  # fmt: skip
def test_arrays_of_other_kinds(name, value, reason):
    np.savez("d.npz", **{**arrays_of("csr"), name: value})
    assert reason in refusal()


def npy(header: str, content: bytes = b"") -> bytes:
    return b"\x93NUMPY\1\0" + (len(header) + 1).to_bytes(2, "little") + header.encode() + b"\n" + content


@pytest.mark.parametrize(
    "member",
    [
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 9), }", bytes(80)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }", bytes(80)),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1, 2), }", b"cos\nsystem\n(S'true'\ntR."),
        npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (10,), }", bytes(80)),
        npy("[" * 3000),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (5, 2), }", bytes(79)),
        b"", b"\x93NUMPY", b"\x93NUMPY\1\0\xff\xff", b"text", npy("")[:9],
    ],
)  # fmt: skip
def test_members_that_are_no_arrays(member):
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile("d.npz", "w", compression) as archive:
            archive.writestr("X.npy", member)
        refusal(without_labels=True)


def test_a_bomb_is_refused_by_its_size(monkeypatch):
    """Before any of it is unpacked."""
    monkeypatch.setattr(npz, "memory", lambda: 1_000_000)
    np.savez_compressed("d.npz", X=np.zeros((1000, 1000)), y=np.zeros(1000))
    assert "exceed the machine's memory (8 of 1 MB)" in refusal()


def test_no_files():
    assert refusal("absent.npz") == "can't open input file absent.npz"
    assert refusal(".") == "can't open input file .: Is a directory"

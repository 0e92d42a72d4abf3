"""Reading, measures and scaling, on our module and, where it is installed, on the originals'."""

from __future__ import annotations

import io
import lzma
import math

import dropins
import numpy as np
import pytest
from scipy import sparse

MADE = dropins.made()


@pytest.fixture(params=dropins.BOTH)
def lib(request):
    return dropins.common(request.param)


def written(tmp_path, text: str) -> str:
    path = tmp_path / "rows"
    path.write_text(text)
    return str(path)


def test_read_lists(lib, tmp_path):
    path = written(tmp_path, "+1 1:0.5 3:2\n-1.5 2:0 4:1e2\n3\n")
    assert lib.svm_read_problem(path) == ([1.0, -1.5, 3.0], [{1: 0.5, 3: 2.0}, {2: 0.0, 4: 100.0}, {}])
    assert lib.svm_read_problem(written(tmp_path, "")) == ([], [])


def test_read_an_open_file(lib, tmp_path):
    assert lib.svm_read_problem(io.StringIO("1 1:2\n-1 2:1")) == ([1.0, -1.0], [{1: 2.0}, {2: 1.0}])
    with open(written(tmp_path, "1 1:2\n")) as file:
        assert lib.svm_read_problem(file) == ([1.0], [{1: 2.0}])


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_evaluations(lib, kind):
    truth, found = [1.0, 2.0, 3.0, 3.0], [1.0, 2.0, 4.0, 2.5]
    accuracy, error, correlation = lib.evaluations(kind(truth), kind(found))
    assert (accuracy, error) == pytest.approx((50.0, 1.25 / 4))
    assert correlation == pytest.approx(np.corrcoef(truth, found)[0, 1] ** 2)
    assert lib.evaluations(kind(truth), kind(found), False) == pytest.approx((accuracy, error, correlation))
    assert math.isnan(lib.evaluations(kind([1, 1]), kind([1, 2]))[2])
    with pytest.raises(ValueError, match=r"len\(ty\) must be equal to len\(pv\)"):
        lib.evaluations(kind([1, 2]), kind([1]))


@pytest.mark.parametrize("lower, upper", [(-1, 1), (0, 1), (-1, 2)])
def test_scaling(lib, lower, upper):
    X = MADE.X.copy()
    X[:, 2] = 3.0
    X[:, 4] = 0.0
    csr = sparse.csr_matrix(X)
    param = lib.csr_find_scale_param(csr, lower, upper)
    scaled = lib.csr_scale(csr, param)
    assert isinstance(scaled, sparse.csr_matrix) and csr.toarray().tolist() == X.tolist()
    wanted = lower + (upper - lower) * (X - X.min(axis=0)) / np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1.0)
    wanted[:, [2, 4]] = 0.0  # constant columns say nothing
    assert scaled.toarray() == pytest.approx(wanted, abs=1e-12)
    assert scaled.toarray() == pytest.approx(X * param["coef"] + param["offset"], abs=1e-12)
    assert scaled.nnz == np.count_nonzero(scaled.toarray())


class TestOurs:
    """What only ours does."""

    lib = dropins.common(dropins.OURS)

    def test_other_numbers_of_columns(self, capsys):
        param = self.lib.csr_find_scale_param(sparse.csr_matrix([[1.0, 0.0], [3.0, 2.0]]))
        assert self.lib.csr_scale(sparse.csr_matrix([[2.0, 1.0, 7.0]]), param).toarray().tolist() == [[0, 0, 0]]
        assert self.lib.csr_scale(sparse.csr_matrix([[3.0]]), param).toarray().tolist() == [[1, -1]]
        assert "do not match" in capsys.readouterr().err

    def test_a_warning_where_zeros_are_lost(self, capsys):
        x = sparse.csr_matrix([[0.0, 1.0], [2.0, 0.0], [3.0, 4.0]])
        self.lib.csr_scale(x, self.lib.csr_find_scale_param(x, 0, 1))
        assert capsys.readouterr().err == ""
        self.lib.csr_scale(x, self.lib.csr_find_scale_param(x))
        assert "raises the number of nonzeros from 4 to 6" in capsys.readouterr().err

    def test_compressed_files_and_named_lines(self, tmp_path):
        (tmp_path / "rows.xz").write_bytes(lzma.compress(b"1 1:2\n"))
        assert self.lib.svm_read_problem(tmp_path / "rows.xz") == ([1.0], [{1: 2.0}])
        assert self.lib.svm_read_problem(io.BytesIO(b"1 1:2\n")) == ([1.0], [{1: 2.0}])
        with pytest.raises(ValueError, match="Wrong input format at line 2: .*indices must ascend"):
            self.lib.svm_read_problem(io.StringIO("1 1:1\n1 2:1 1:1\n"))

"""What LIBSVM's Python users do, on our module and, where it is installed, on theirs."""

from __future__ import annotations

import dropins
import numpy as np
import pytest
from scipy import sparse
from test_liblinearutil import FORMS

import svmtool

DATA = dropins.made()
MANY = dropins.made(classes=3, seed=5)
X, Y = DATA.X, DATA.y
EXACT = "-e 1e-7 -q"


@pytest.fixture(params=dropins.BOTH)
def lib(request):
    return dropins.kernel(request.param)


@pytest.fixture
def pair():
    """Ours and the original."""
    return dropins.kernel(dropins.OURS), dropins.kernel(dropins.ORIGINAL)


def rbf(A, B, gamma):
    return np.exp(-gamma * np.sum((A[:, None, :] - B[None, :, :]) ** 2, axis=2))


def numbered(K):
    """Rows of a precomputed kernel."""
    return np.column_stack((np.arange(1, len(K) + 1), K))


def test_train_and_predict_a_file(lib, data, capfd):
    y, x = lib.svm_read_problem(str(data / "digits"))
    m = lib.svm_train(y[:300], x[:300], "-c 4 -g 0.001 -q")
    labels, (accuracy, error, _), values = lib.svm_predict(y[300:500], x[300:500], m)
    hits = sum(a == b for a, b in zip(labels, y[300:500], strict=True))
    assert accuracy == pytest.approx(hits / 2) and accuracy > 90
    assert dropins.printed(capfd) == f"Accuracy = {accuracy:g}% ({hits}/200) (classification)\n"
    assert error == pytest.approx(np.mean((np.array(labels) - y[300:500]) ** 2))
    assert {len(v) for v in values} == {45} and m.get_nr_class() == 10 and sorted(m.get_labels()) == list(range(10))


def test_model_methods(lib):
    m = lib.svm_train(Y.tolist(), X.tolist(), "-t 0 -c 0.5 -q")
    n = m.get_nr_sv()
    rows, coefs, places = m.get_SV(), m.get_sv_coef(), m.get_sv_indices()
    assert len(rows) == len(coefs) == len(places) == n == m.l and m.get_svm_type() == 0
    assert m.get_labels() == [1, -1] and m.get_nr_class() == 2 and not m.is_probability_model()
    assert rows == [dropins.dicts(X)[k - 1] for k in places]
    assert sum(c for (c,) in coefs) == pytest.approx(0, abs=1e-9)
    assert all(0 < c * Y[k - 1] <= 0.5 for (c,), k in zip(coefs, places, strict=True))
    assert [m.nSV[k] for k in (0, 1)] == [np.sum(Y[np.array(places) - 1] == label) for label in (1, -1)]
    w = sum(c * X[k - 1] for (c,), k in zip(coefs, places, strict=True))
    values = np.ravel(lib.svm_predict(Y.tolist(), X.tolist(), m, "-q")[2])
    assert values == pytest.approx(X @ w - m.rho[0])
    assert m.get_svr_probability() == 0


def test_parameter(lib):
    param = lib.svm_parameter()
    assert (param.svm_type, param.kernel_type, param.degree) == (0, 2, 3)
    assert (param.gamma, param.coef0, param.cache_size) == (0, 0, 100)
    assert (param.eps, param.C, param.nu, param.p, param.shrinking, param.probability) == (0.001, 1, 0.5, 0.1, 1, 0)
    param = lib.svm_parameter("-s 3 -t 1 -d 2 -g 0.5 -r 1 -c 2 -w1 3 -v 4 -q")
    assert (param.svm_type, param.kernel_type, param.degree, param.gamma, param.coef0, param.C) == (3, 1, 2, 0.5, 1, 2)
    assert (param.weight_label[0], param.weight[0], param.nr_fold) == (1, 3, 4) and param.cross_validation
    for line in ("svm_type: 3", "kernel_type: 1", "C: 2.0", "nr_fold: 4"):
        assert line in str(param)
    assert lib.svm_parameter("-c 1 -c 2").C == 2
    prob = lib.svm_problem(Y, X)
    param = lib.svm_parameter("-q")
    param.kernel_type = int(lib.kernel_names.LINEAR)
    m = lib.svm_train(prob, param)
    assert m.get_sv_indices() == lib.svm_train(prob, "-t 0 -q").get_sv_indices()


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_input(lib, form):
    y, x = FORMS[form]()
    m = lib.svm_train(y, x, "-g 0.3 " + EXACT)
    wanted = lib.svm_train(Y, X, "-g 0.3 " + EXACT)
    assert m.get_sv_indices() == wanted.get_sv_indices()
    assert np.array(m.get_sv_coef()) == pytest.approx(np.array(wanted.get_sv_coef()), abs=1e-4)
    assert m.get_SV()[0] == pytest.approx(wanted.get_SV()[0], rel=1e-6)
    a, b = lib.svm_predict(y, x, m, "-q"), lib.svm_predict(Y, X, wanted, "-q")
    assert a[0] == b[0] and np.ravel(a[2]) == pytest.approx(np.ravel(b[2]), abs=1e-4)


PROBLEMS = [
    "-s 0 -c 2", "-s 0 -c 2 -w1 3", "-s 1 -n 0.4", "-s 2 -n 0.3", "-s 3 -p 0.2", "-s 4 -n 0.3 -c 2",
]  # fmt: skip
KERNELS = ["-t 0", "-t 1 -d 2 -g 0.5 -r 1", "-t 2"]


@pytest.mark.reference
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_values_are_the_originals(pair, problem, kernel):
    regression = problem[3] in "34"
    # LIBSVM's svm_predict writes beyond its buffer for nu-SVC with more than two classes.
    for d in (DATA,) if problem[3] == "1" else (DATA, MANY):
        y = d.t if regression else d.y
        ours, theirs = (lib.svm_train(y, d.X, f"{problem} {kernel} {EXACT}") for lib in pair)
        assert ours.get_labels() == theirs.get_labels() and ours.get_svm_type() == theirs.get_svm_type()
        found, wanted = (lib.svm_predict(y, d.X, m) for lib, m in zip(pair, (ours, theirs), strict=True))
        values, numbers = np.array(found[2]), np.array(wanted[2])
        assert values == pytest.approx(numbers, rel=1e-3, abs=1e-3)
        if regression:
            assert found[0] == pytest.approx(wanted[0], abs=1e-3) and found[1] == pytest.approx(wanted[1], rel=1e-2)
            continue
        near = np.min(np.abs(numbers), axis=1) < 1e-3  # undecided within the tolerance
        assert np.array_equal(np.array(found[0])[~near], np.array(wanted[0])[~near])
        if not near.any():
            assert found[1] == pytest.approx(wanted[1], nan_ok=True)


@pytest.mark.parametrize("made", [lambda K: [dict(enumerate(row)) for row in K.tolist()], sparse.csr_matrix])
def test_precomputed_kernel(lib, made):
    K = numbered(rbf(X, X, 0.3))
    rows = made(K)
    wanted = lib.svm_train(Y, X, "-t 2 -g 0.3 " + EXACT)
    for m in (
        lib.svm_train(Y, rows, "-t 4 " + EXACT),
        lib.svm_train(lib.svm_problem(Y, rows, isKernel=True), "-t 4 " + EXACT),
    ):
        assert m.get_sv_indices() == wanted.get_sv_indices()
        assert np.array(m.get_sv_coef()) == pytest.approx(np.array(wanted.get_sv_coef()), abs=1e-4)
        assert [row[0] for row in m.get_SV()] == m.get_sv_indices()
        assert m.get_SV()[0][1] == pytest.approx(K[m.get_sv_indices()[0] - 1, 1])
        a, b = lib.svm_predict(Y, rows, m, "-q"), lib.svm_predict(Y, X, wanted, "-q")
        assert a[0] == b[0] and np.ravel(a[2]) == pytest.approx(np.ravel(b[2]), abs=1e-4)


def test_probabilities(lib, capfd):
    m = lib.svm_train(MANY.y, MANY.X, "-b 1 -q")
    assert m.is_probability_model() and m.get_svr_probability() == 0
    dropins.printed(capfd)
    labels, _, found = lib.svm_predict(MANY.y, MANY.X, m, "-b 1")
    assert np.sum(found, axis=1) == pytest.approx(np.ones(len(MANY.y)))
    assert labels == [m.get_labels()[k] for k in np.argmax(found, axis=1)]
    assert dropins.printed(capfd).startswith("Accuracy = ")
    lib.svm_predict(MANY.y, MANY.X, m)
    notice = "Model supports probability estimates, but disabled in predicton.\n"
    assert dropins.printed(capfd).startswith(notice + "Accuracy = ")
    with pytest.raises(ValueError, match="Model does not support probabiliy estimates"):
        lib.svm_predict(Y, X, lib.svm_train(Y, X, "-q"), "-b 1")


def test_probabilities_of_a_regression(lib, capfd):
    m = lib.svm_train(DATA.t, X, "-s 3 -b 1 -q")
    sigma = m.get_svr_probability()
    assert sigma > 0 and m.is_probability_model()
    labels, _, values = lib.svm_predict(DATA.t, X, m, "-b 1")
    lines = dropins.printed(capfd).splitlines()
    assert lines[:2] == [
        "Prob. model for test data: target value = predicted value + z,",
        f"z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={sigma:g}",
    ]
    assert values == [[]] * len(X) and labels == [v for (v,) in lib.svm_predict(DATA.t, X, m, "-q")[2]]
    lib.svm_predict(DATA.t, X, m, "-b 1 -q")
    assert dropins.printed(capfd) == ""


def test_save_and_load(lib, tmp_path, capfd):
    m = lib.svm_train(MANY.y, MANY.X, "-b 1 -q")
    path = str(tmp_path / "model")
    assert lib.svm_save_model(path, m) is None
    again = lib.svm_load_model(path)
    assert again.get_labels() == m.get_labels() and again.is_probability_model()
    assert again.get_sv_coef() == m.get_sv_coef() and again.get_sv_indices() == [0] * m.get_nr_sv()
    a, b = (lib.svm_predict(MANY.y, MANY.X, some, "-b 1 -q")[2] for some in (m, again))
    assert np.array(a) == pytest.approx(np.array(b), abs=1e-6)
    dropins.printed(capfd)
    assert lib.svm_load_model(str(tmp_path / "none")) is None
    assert dropins.printed(capfd) == f"can't open model file {tmp_path / 'none'}\n"


def test_low_level(lib):
    prob, param = lib.svm_problem(Y, X), lib.svm_parameter("-t 0 -q")  # LIBSVM's model points into prob's memory
    m = lib.toPyModel(lib.libsvm.svm_train(prob, param))
    nodes, largest = lib.gen_svm_nodearray({3: 1.5, 1: -2, 2: 0})
    assert largest == 3 and [str(node) for node in nodes] == ["1:-2", "3:1.5", "-1:0"]
    label = lib.libsvm.svm_predict(m, nodes)
    assert [label] == lib.svm_predict([], [{1: -2, 3: 1.5}], m, "-q")[0]
    nodes = lib.gen_svm_nodearray([1, 0, 2], isKernel=True)[0]
    assert [str(node) for node in nodes] == ["0:1", "1:0", "2:2", "-1:0"]
    node = lib.svm_node()
    assert (node.index, node.value) == (-1, 0)


@pytest.mark.parametrize(
    "options, sentence",
    [("-s1", "Wrong options"), ("-z 3", "Wrong options"), ("data", "Wrong options"), ("-c -1", "C <= 0"),
     ("-e 0", "eps <= 0"), ("-v 1", "n-fold cross validation: n must >= 2"), ("-g -1", "gamma < 0"), ("-c x", "x"),
     ("-s 1 -n 2", "nu <= 0 or nu > 1"), ("-h 3", "shrinking != 0 and shrinking != 1"), ("-m 0", "cache_size <= 0"),
     ("-s 9", "9"), ("-t 9", ""), ("-s 1 -n 0.99", "specified nu is infeasible")],
)  # fmt: skip
def test_wrong_options(lib, options, sentence):
    y = np.where(np.arange(len(Y)) < 5, 1, -1)
    with pytest.raises(ValueError, match=sentence or "kernel"):
        lib.svm_train(y, X, options)


def test_wrong_arguments(lib):
    with pytest.raises(TypeError, match="Wrong types for the arguments"):
        lib.svm_train(1, 2)
    with pytest.raises(ValueError, match=r"len\(y\) != len\(x\)"):
        lib.svm_train(Y[:-1].tolist(), X.tolist(), "-q")
    with pytest.raises(ValueError, match="first column must be 0:sample_serial_number|serial_number out of range"):
        lib.svm_train(Y, X, "-t 4 -q")
    with pytest.raises(ValueError, match=r"len\(ty\) must be equal to len\(pv\)"):
        lib.svm_predict([1.0], X, lib.svm_train(Y, X, "-q"))


class TestOurs:
    """Features that LIBSVM's module does not have."""

    lib = dropins.kernel(dropins.OURS)

    @pytest.mark.parametrize("options", ["-c", "--help", "-C", "-B 1", "--memory 2G", "-d 2.5"])
    def test_more_wrong_options(self, options):
        with pytest.raises(ValueError, match="^Wrong options: .+"):
            self.lib.svm_train(Y, X, options)

    def test_rbf_is_the_default_and_options_of_ours_are_taken(self):
        m = self.lib.svm_train(Y, X, "-q")
        assert (m.param.kernel_type, m.param.gamma) == (self.lib.RBF, 1 / X.shape[1])
        m = self.lib.svm_train(Y, X, "-s 60 --method fast -t 2 --gap 1e-8 -q")
        assert m.certificate.gap <= 1e-8

    def test_index_zero_belongs_to_precomputed_kernels(self):
        with pytest.raises(ValueError, match="indices start at 1, and at 0 with a precomputed kernel"):
            self.lib.svm_train([1, -1], [{0: 1.0, 1: 1.0}, {1: 1.0}], "-q")

    def test_the_command_prints_and_writes_the_same(self, svm_train, tmp_path, capsys):
        svmtool.write_svmlight(X, Y, tmp_path / "d")
        for options in ("-t 2", "-s 1 -t 0", "-t 2 -b 1"):
            _, out, _ = svm_train(*options.split(), "d", "command")
            m = self.lib.svm_train(*self.lib.svm_read_problem(str(tmp_path / "d")), options)
            assert capsys.readouterr().out == out
            self.lib.svm_save_model(tmp_path / "module", m)
            assert (tmp_path / "module").read_bytes() == (tmp_path / "command").read_bytes()

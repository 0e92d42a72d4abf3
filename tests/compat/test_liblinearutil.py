"""What LIBLINEAR's Python users do, on our module and, where it is installed, on theirs."""

from __future__ import annotations

import math
import pickle

import dropins
import numpy as np
import pytest
from scipy import sparse

import svmtool

EXACT = "-e 1e-9 -q"  # tight enough that all solvers agree to the tolerances here
DATA = dropins.made()
MANY = dropins.made(classes=3, seed=5)
X, Y = DATA.X, DATA.y


@pytest.fixture(params=dropins.BOTH)
def lib(request):
    return dropins.linear(request.param)


@pytest.fixture
def pair():
    """Ours and the original."""
    return dropins.linear(dropins.OURS), dropins.linear(dropins.ORIGINAL)


def scores(w, b):
    return X @ np.array(w) + b


def test_train_and_predict_a_file(lib, data, capfd):
    y, x = lib.svm_read_problem(str(data / "breast_cancer"))
    scale = {k: max(abs(row.get(k, 0.0)) for row in x) for k in range(1, 31)}
    x = [{k: v / scale[k] for k, v in row.items()} for row in x]
    m = lib.train(y[:300], x[:300], "-c 4 -q")
    labels, (accuracy, error, correlation), values = lib.predict(y[300:], x[300:], m)
    hits = sum(a == b for a, b in zip(labels, y[300:], strict=True))
    assert accuracy == pytest.approx(hits) and hits >= 90 and error == pytest.approx(4 * (100 - hits) / 100)
    assert dropins.printed(capfd) == f"Accuracy = {accuracy:g}% ({hits}/100) (classification)\n"
    assert 0.0 < correlation <= 1.0 and all(len(v) == 1 for v in values)
    first = m.get_labels()[0]
    assert labels == [first if v > 0 else -first for (v,) in values]


def test_problem_and_parameter(lib):
    prob = lib.problem([1, -1, 1], [{1: 1, 3: 1}, {1: -1, 3: -1}, {2: 0.5}], 1)
    assert (prob.l, prob.n, prob.bias) == (3, 4, 1) and list(prob.y[:3]) == [1, -1, 1]
    param = lib.parameter("-s 0 -c 4 -B 1 -w-1 2 -q")
    assert (param.solver_type, param.C, param.bias, param.nr_weight, param.eps) == (0, 4, 1, 1, 0.01)
    assert (param.weight_label[0], param.weight[0]) == (-1, 2)
    m = lib.train(prob, param)
    w, b = m.get_decfun()
    assert len(w) == 3 and b == m.get_decfun_bias() != 0
    assert [m.get_decfun_coef(k) for k in (1, 2, 3)] == w and m.get_decfun_coef(9) == 0
    assert lib.train(prob, "-q").get_decfun_bias() == 0  # the bias of the options counts
    assert callable(m.get_decfun_rho) and callable(prob.set_bias)
    param.C = 0.25
    assert np.linalg.norm(lib.train(prob, param).get_decfun()[0]) < np.linalg.norm(w)


def test_default_parameters(lib):
    param = lib.parameter()
    assert (param.solver_type, param.C, param.eps, param.p, param.nu, param.bias) == (1, 1, 0.1, 0.1, 0.5, -1)
    assert not param.flag_cross_validation and not param.flag_find_parameters and param.regularize_bias
    assert [lib.parameter(f"-s {s}").eps for s in (0, 2, 6, 11, 13, 21)] == [0.01, 0.01, 0.01, 0.0001, 0.1, 0.01]
    assert lib.parameter("-c 1 -c 2").C == 2
    for line in ("solver_type: 1", "eps: 0.1", "C: 1.0", "nr_weight: 0", "nr_fold: 0"):
        assert line in str(param)
    param.parse_options("-v 4 -c 2")
    assert param.flag_cross_validation and (param.nr_fold, param.C) == (4, 2)
    param.set_to_default_values()
    assert (param.C, bool(param.flag_cross_validation)) == (1, False)


FORMS = {
    "tuples": lambda: (tuple(Y), tuple(map(tuple, X))), "dicts": lambda: (Y.tolist(), dropins.dicts(X)),
    "rows as arrays": lambda: (Y.tolist(), list(X)), "float32": lambda: (Y.astype("f4"), X.astype("f4")),
    "column order": lambda: (Y.astype(int), np.asfortranarray(X)), "csr": lambda: (Y, sparse.csr_matrix(X)),
    "csc": lambda: (Y, sparse.csc_matrix(X)),
    "short rows": lambda: (Y.tolist(), [np.trim_zeros(row, "b").tolist() for row in X]),
}  # fmt: skip


def plain(x):
    """The numbers of a matrix; other rows as they are."""
    return [vars(x)[name].tolist() for name in ("data", "indices", "indptr")] if sparse.issparse(x) else x


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_input(lib, form):
    y, x = FORMS[form]()
    before = pickle.dumps((y, plain(x)))
    m = lib.train(y, x, "-s 2 " + EXACT)
    assert pickle.dumps((y, plain(x))) == before
    w, b = lib.train(Y, X, "-s 2 " + EXACT).get_decfun()
    assert m.get_decfun()[0] == pytest.approx(w, rel=1e-5, abs=1e-6) and b == 0
    labels, _, values = lib.predict(y, x, m, "-q")
    assert np.ravel(values) == pytest.approx(scores(*m.get_decfun()), abs=1e-6)
    assert labels == lib.predict([], x, m, "-q")[0]


@pytest.mark.reference
@pytest.mark.parametrize("bias", ["", "-B 0.5"])
@pytest.mark.parametrize("solver", [0, 1, 2, 4, 5, 6, 7])
def test_weights_are_the_originals(pair, solver, bias):
    options = f"-s {solver} -c 0.5 -w1 2 {bias} -e 1e-7 -q"
    for d in (DATA, MANY):
        ours, theirs = (lib.train(d.y.tolist(), dropins.dicts(d.X), options) for lib in pair)
        assert (ours.get_labels(), ours.get_nr_feature()) == (theirs.get_labels(), theirs.get_nr_feature())
        for k in range(ours.get_nr_class()):
            (w, b), (v, c) = ours.get_decfun(k), theirs.get_decfun(k)
            assert w == pytest.approx(v, rel=1e-3, abs=1e-4) and b == pytest.approx(c, rel=1e-3, abs=1e-4)
        a, b = (lib.predict(d.y.tolist(), d.X.tolist(), m, "-q") for lib, m in zip(pair, (ours, theirs), strict=True))
        assert a[0] == b[0] and a[1] == pytest.approx(b[1])
        assert np.array(a[2]) == pytest.approx(np.array(b[2]), rel=1e-3, abs=1e-3)


def test_regression(lib, capfd):
    m = lib.train(DATA.t, X, "-s 11 -B 1 -q")
    assert m.is_regression_model() and not m.is_oneclass_model() and m.get_nr_class() == 2
    w, b = m.get_decfun(1)
    labels, measures, values = lib.predict(DATA.t, X, m)
    assert labels == [value for (value,) in values] == pytest.approx(scores(w, b))
    text = f"Mean squared error = {measures[1]:g} (regression)\nSquared correlation coefficient = {measures[2]:g}"
    assert dropins.printed(capfd) == f"{text} (regression)\n"


def test_save_and_load(lib, tmp_path, capfd):
    m = lib.train(Y, X, "-s 0 -B 1 -q")
    path = str(tmp_path / "model")
    assert lib.save_model(path, m) is None
    again = lib.load_model(path)
    assert again.get_decfun() == m.get_decfun() and again.get_labels() == m.get_labels()
    assert lib.load_model(str(tmp_path / "none")) is None
    assert dropins.printed(capfd) == f"can't open model file {tmp_path / 'none'}\n"


def test_cross_validation(lib, capfd):
    accuracy = lib.train(Y, X, "-v 5 -q")
    assert isinstance(accuracy, float) and 50 < accuracy <= 100
    assert dropins.printed(capfd) == f"Cross Validation Accuracy = {accuracy:g}%\n"
    error = lib.train(DATA.t, X, "-s 11 -v 5 -q")
    lines = dropins.printed(capfd).splitlines()
    assert lines[0] == f"Cross Validation Mean squared error = {error:g}"
    assert lines[1].startswith("Cross Validation Squared correlation coefficient = ") and len(lines) == 2


def test_search_for_C(lib, capfd):
    C, p, rate = lib.train(Y, X, "-C -q")
    assert p == -1 and math.log2(C).is_integer() and 0.5 < rate <= 1
    assert dropins.printed(capfd) == f"Best C = {C:g}  CV accuracy = {100 * rate:g}%\n\n"
    C, p, error = lib.train(DATA.t[:30], X[:30], "-C -c 1e5 -s 11 -q")
    assert dropins.printed(capfd) == f"Best C = {C:g} Best p = {p:g}  CV MSE = {error:g}\n\n"


def test_low_level(lib):
    prob, param = lib.problem(Y, X), lib.parameter("-s 2 -q")
    m = lib.toPyModel(lib.liblinear.train(prob, param))
    nodes, largest = lib.gen_feature_nodearray({3: 1.5, 1: -2, 2: 0})
    assert largest == 3 and [str(node) for node in nodes] == ["1:-2", "3:1.5", "-1:0", "-1:0"]
    w, _ = m.get_decfun()
    assert lib.liblinear.predict(m, nodes) == (1 if 1.5 * w[2] - 2 * w[0] > 0 else -1)
    assert [str(n) for n in lib.gen_feature_nodearray([1, 0, 2], 2)[0]] == ["1:1", "-1:0", "-1:0"]
    row = (np.array([0, 2]), np.array([1.0, 2.0]))
    assert [str(n) for n in lib.gen_feature_nodearray(row)[0][:2]] == ["1:1", "3:2"]


@pytest.mark.parametrize(
    "options, sentence",
    [("-s1", "Wrong options"), ("-z 3", "Wrong options"), ("data", "Wrong options"), ("-c -1", "C <= 0"),
     ("-e 0", "eps <= 0"), ("-v 1", "n-fold cross validation: n must >= 2"), ("-R", "must specify -B 1 along with -R"),
     ("-C -s 3", "Warm-start parameter search only available for -s 0, -s 2 and -s 11"), ("-c x", "x"), ("-s 99", "99"),
     ("-s 21 -B 1", "prob->bias >=0, but this is ignored in ONECLASS_SVM"), ("-wx 2", "x")],
)  # fmt: skip
def test_wrong_options(lib, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        lib.train(Y, X, options)


def test_wrong_arguments(lib):
    with pytest.raises(TypeError, match="Wrong types for the arguments"):
        lib.train(1, 2)
    with pytest.raises(ValueError, match=r"len\(y\) != len\(x\)"):
        lib.train(Y[:-1].tolist(), X.tolist(), "-q")
    with pytest.raises(TypeError):
        lib.train(Y.tolist(), ["a"] * len(Y), "-q")
    m = lib.train(Y, X, "-q")
    with pytest.raises(ValueError, match=r"len\(ty\) must be equal to len\(pv\)"):
        lib.predict([1.0], X, m)
    with pytest.raises(ValueError, match="Wrong options"):
        lib.predict(Y, X, m, "-x 1")
    with pytest.raises(TypeError):
        lib.predict(None, X, m)


class TestOurs:
    """What only ours does."""

    lib = dropins.linear(dropins.OURS)

    @pytest.mark.parametrize("options", ["-c", "-b", "-s a", "-t 2", "-g 1", "--help-all", "--spark x", "--gap", "-w1"])
    def test_more_wrong_options(self, options):
        with pytest.raises(ValueError, match=r"^(Wrong options: |Error: unknown solver).+"):
            self.lib.train(Y, X, options)

    def test_bad_values(self):
        bad = X.copy()
        bad[3, 1] = math.nan
        for x in (bad, sparse.csr_matrix(bad), bad.tolist()):
            with pytest.raises(ValueError, match="Input X contains NaN"):
                self.lib.train(Y, x, "-q")
        with pytest.raises(ValueError, match="Input y contains infinity"):
            self.lib.train(np.full(len(Y), math.inf), X, "-q")
        for y, x, kind, sentence in (
            ([1, -1], [{0: 1.0}, {1: 1.0}], ValueError, "indices start at 1"),
            ([], [], ValueError, "there are no rows"), (["a", "b"], [[1], [2]], TypeError, "not a number"),
        ):  # fmt: skip
            with pytest.raises(kind, match=sentence):
                self.lib.train(y, x, "-q")

    def test_our_solvers_and_options(self):
        m = self.lib.train(Y, X, "-s 40 --gap 1e-9 -q")
        assert m.certificate.gap <= 1e-9
        w, _ = self.lib.train(Y, X, ["-s", "2", "-e", 1e-9, "-q"]).get_decfun()
        assert m.get_decfun()[0] == pytest.approx(w, rel=1e-4, abs=1e-6)
        sigmoids = self.lib.train(Y, X, "-s 2 -b 1 -q")
        assert sigmoids.is_probability_model()
        assert np.sum(self.lib.predict(Y, X, sigmoids, "-b 1 -q")[2], axis=1) == pytest.approx(np.ones(len(Y)))

    def test_the_command_prints_and_writes_the_same(self, svm_train, tmp_path, capsys):
        svmtool.write_svmlight(X, Y, tmp_path / "d")
        for options in ("-s 2", "-s 0 -B 1", "-s 3 -c 0.1"):
            _, out, _ = svm_train(*options.split(), "d", "command")
            m = self.lib.train(*self.lib.svm_read_problem(str(tmp_path / "d")), options)
            assert capsys.readouterr().out == out
            self.lib.save_model(tmp_path / "module", m)
            assert (tmp_path / "module").read_bytes() == (tmp_path / "command").read_bytes()

    def test_print_func(self, capsys):
        param, texts = self.lib.parameter("-s 2"), []
        param.print_func = texts.append
        self.lib.train(self.lib.problem(Y, X), param)
        assert b"iter  1 f" in b"".join(texts) and capsys.readouterr().out == ""


def test_what_libmultilabel_does():
    """One problem's copies with labels of their own, trained from several threads; weights through a pointer."""
    from concurrent.futures import ThreadPoolExecutor
    from ctypes import c_double

    lib = dropins.linear(dropins.OURS)
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.6))
    Y = np.where(X.toarray() @ rng.normal(size=(5, 8)) + 0.3 * rng.normal(size=(60, 8)) > 0.0, 1.0, -1.0)
    Y[:, 7] = -1.0
    shared, param = lib.problem(np.ones(60), X), lib.parameter("-s 1 -q -m 1")
    param.w_recalc = True

    def weights(k):
        own = shared.copy()
        own.y = (c_double * own.l)(*Y[:, k])
        model = lib.train(own, param)
        w = np.ctypeslib.as_array(model.w, (own.n, 1))
        assert w.shape == (5, 1) and list(model.w) == model.w[: len(model.w)] == w[:, 0].tolist()
        return (w if model.get_labels()[0] == 1 else -w).copy()

    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(weights, range(8)))
    for k, w in enumerate(together):
        model = lib.train(Y[:, k].tolist(), X, "-s 1 -q")
        sign = 1.0 if model.get_labels()[0] == 1 else -1.0
        np.testing.assert_array_equal(w[:, 0], sign * model.stored.W[:, 0])
    assert np.asarray(shared.y).tolist() == [1.0] * 60
    with pytest.raises(ValueError, match="len"):
        shared.y = [1.0]

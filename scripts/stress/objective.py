"""P of a model file from its text and the data's alone, by plain formulas: nothing is shared with what trains,
certifies or writes.

Numbers are numpy's longdouble, or with EXACT decimal numbers of 80 digits, in which no rounding hides a difference.
The bound of the round-off is that of a double evaluation: a decision value may be wrong by EPS times its terms and
their size, a convex loss by its increase over that.  Checks allow this error, which is large for data of a huge dynamic
range.
"""

from __future__ import annotations

import decimal
import itertools
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from stress.models import Model, parse
from stress.rows import Rows
from stress.rows import parse as parse_rows
from svmtool.registry import Solver

CONTEXT = decimal.Context(prec=80, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
LARGE = 10**5  # exp of more needs exponents that Decimal lacks
TINY = Decimal("1e-25")  # below, 1 + e has few digits of its own
MAX_DIFFERENCES = 50_000_000  # numbers; takes a fraction of a second


class Numbers(NamedTuple):
    """A kind of numbers.  of: arrays of them from doubles; own: relative rounding of their sums."""

    of: Callable
    own: Any
    log1p: Callable
    tanh: Callable


def _tanh(u: Decimal) -> Decimal:
    e = (2 * max(min(u, Decimal(200)), Decimal(-200))).exp()
    return u - u**3 / 3 if abs(u) < TINY else (e - 1) / (e + 1)


LONG = Numbers(lambda x: np.asarray(x, np.longdouble)[()], np.finfo(np.longdouble).eps, np.log1p, np.tanh)
EXACT = Numbers(
    np.vectorize(lambda x: Decimal(float(x)), otypes=[object]), Decimal(0),
    np.frompyfunc(lambda e: (1 + e).ln() if e > TINY else e - e * e / 2, 1, 1), np.frompyfunc(_tanh, 1, 1),
)  # fmt: skip


class Value(NamedTuple):
    """P at the weights, a bound of its round-off, and P at w = 0.

    scale: errors are relative to it if P may be 0: for one-class problems -D with all rows in one direction, for
    regressions the cost of all targets.
    """

    value: Any
    rounding: Any
    zero: Any = 0.0
    scale: Any = 0.0


class Problem(NamedTuple):
    """The problem of a command; bias < 0: none; free: not regularised; weights: --weights, one for each row.

    word: LIBSVM's, with a kernel; factors: labels and factors of their costs.
    """

    kind: str
    loss: str
    l1: bool
    word: str = ""
    kernel: int | None = None
    C: float = 1.0
    bias: float = -1.0
    free: bool = False
    p: float = 0.1
    nu: float = 0.5
    power: float = 2.0
    factors: tuple[tuple[int, float], ...] = ()
    weights: tuple[float, ...] | None = None


def problem_of(row: Solver, **fields: Any) -> Problem:
    """The problem of a row of the registry with its default bias, and other fields."""
    given = {"word": row.word, "free": row.free_bias} if row.kernel else {"bias": row.bias_default}
    given |= {"bias": 1.0, "free": True} if row.free_bias and not row.kernel else {}
    return Problem(row.kind, row.loss, row.regulariser == "|w|_1", **{**given, **fields})


# Of the slack xi = target - y x.w, which is -y x.w for the logistic loss; p: the power.
LOSSES: dict[str, Callable] = {
    "hinge": lambda xi, p, a: np.maximum(xi, 0),
    "tube": lambda xi, p, a: np.maximum(xi, 0),
    "squared hinge": lambda xi, p, a: np.maximum(xi, 0) ** 2,
    "Lp hinge": lambda xi, p, a: np.where(xi > 0, np.maximum(xi, a.of(1e-300)) ** a.of(p), 0),
    "modified Huber": lambda xi, p, a: np.where(xi < 2, np.maximum(xi, 0 * xi) ** 2 / 2, 2 * (xi - 1)),
    "logistic": lambda xi, p, a: np.maximum(xi, 0) + a.log1p(np.exp(np.maximum(-abs(xi), a.of(-LARGE)))),
    "least squares": lambda xi, p, a: xi**2,
}


def values(problem: Problem, rows: Rows, model: Model, numbers: Numbers = LONG) -> list[Value]:
    """P of each problem of the model, in the order of its columns or pairs."""
    with np.errstate(all="ignore"):
        return list((_of_kernel if model.kernel else _of_weights)(_Sum(problem, numbers), rows, model))


def exact(problem: Problem, data: str, text: str) -> tuple[Decimal, Decimal]:
    """P of the model with this text on the rows of the text `data`, summed over its problems, and its rounding."""
    with decimal.localcontext(CONTEXT):
        found = values(problem, parse_rows(data), parse(text), EXACT)
        return sum((v.value for v in found), Decimal(0)), sum((v.rounding for v in found), Decimal(0))


class _Sum:
    """Sums the values of decision values: f (n), known within `off` (n), and a regulariser known within `apart`."""

    def __init__(self, problem: Problem, numbers: Numbers):
        self.p, self.a, self.eps, self.half = problem, numbers, numbers.of(2.0**-52), numbers.of(0.5)

    def losses(self, xi, off, cost) -> tuple[Any, Any]:
        """sum C_i l(xi_i) and a bound of its error."""
        loss = LOSSES[self.p.loss]
        each, low, high = (loss(x, self.p.power, self.a) for x in (xi, xi - off, xi + off))
        total = (cost * each).sum()
        return total, (cost * np.maximum(abs(low - each), abs(high - each))).sum() + self.eps * (len(xi) + 8) * total

    def value(self, xi, off, cost, at_zero, size, apart) -> Value:
        total, rounding = self.losses(xi, off + self.eps, cost)
        zero, _ = self.losses(at_zero, 0 * at_zero, cost)
        return Value(size + total, apart + rounding + self.eps * zero, zero)

    def signs(self, f, off, y, cost, size, apart, b=0) -> Value:
        """Classes y = +-1, of f - b."""
        target = 0 if self.p.loss == "logistic" else 1
        off = off + self.eps * (2 + abs(b) + abs(f))
        xi = target - y * (f - b)
        if self.p.word == "nu_svc":
            lead = size[1]  # sum |coefficients|, which is nu n over the margin by which the file divides
            if not lead:  # w = 0, and no margin
                return Value(0 * lead, 0 * lead)
            q = self.a.of(self.p.nu) * len(f) / lead
            total, rounding = self.losses(xi, off, 0 * f + 1)
            return Value(size[0] - lead + total / q, apart + rounding / q + self.eps * (len(f) + 8) * lead, 0 * lead,
                         lead * lead * size[2])  # fmt: skip
        return self.value(xi, off, cost, 0 * f + target, size[1] if self.p.l1 else size[0], apart)

    def targets(self, f, off, t, cost, size, apart, b=0) -> Value:
        off = off + 2 * self.eps * (abs(t) + self.a.of(self.p.p) + abs(b) + abs(f))
        if self.p.word == "nu_svr":  # its tube is not in the model: the best is used
            total, zero = (self.a.of(self.p.C) * self._tube(abs(x)) for x in (t - f + b, t))
            rounding = (cost * off).sum() + self.eps * (len(f) + 8) * total
            return Value(size[0] + total, apart + rounding, zero)
        at_zero = np.concatenate((t - self.a.of(self.p.p), -t - self.a.of(self.p.p)))
        xi = at_zero - np.concatenate((f - b, b - f))
        found = self.value(xi, np.tile(off, 2), np.tile(cost, 2), at_zero, size[0], apart)
        return found._replace(scale=(cost * (abs(t) + self.a.of(self.p.p))).sum() if self.p.word else 0)

    def _tube(self, miss) -> Any:
        """min over e >= 0 of  nu n e + sum max(0, miss - e): e is one of the misses or 0."""
        k = self.a.of(self.p.nu) * len(miss)
        return min(k * e + np.maximum(miss - e, 0).sum() for e in [0 * k, *miss])

    def outliers(self, f, off, cost, size, apart, rho) -> Value:
        """One class; hard: 1/2 |w|^2 - rho, which all rows reach, or after samples nearly all."""
        half, eps = size[0], self.eps
        if self.p.kind == "hard one-class":
            return Value(half - rho, apart + max(off, default=0) + eps * (len(f) + 8) * (half + abs(rho)))
        k = self.a.of(self.p.nu) * cost.sum()
        if not np.isfinite(float(rho)):  # the limit, for nu = 0 or 1
            each, lead, rho = (-f if rho > 0 else 0 * f), 0 * k, 0 * k
        else:
            each, lead = np.maximum(rho - f, 0), k * rho
        total = (cost * each).sum()
        rounding = (cost * (off + eps * (abs(rho) + abs(f)))).sum() + eps * (len(f) + 8) * (abs(total) + abs(lead))
        return Value(half + total - lead, apart + rounding + eps * 8 * half, 0 * half, k * k * size[2])

    def factors(self, labels):
        """Factors of the costs of these labels."""
        found = np.ones(len(labels))
        for label, factor in self.p.factors:
            found[labels == label] *= factor
        return self.a.of(found)


def _of_weights(s: _Sum, rows: Rows, model: Model):
    p, a, labels, W = s.p, s.a, model.numbers("label"), s.a.of(model.W)
    weights = np.ones(rows.n) if p.weights is None else np.array(p.weights)
    if p.weights is not None:
        rows, weights = rows.take(np.flatnonzero(weights > 0)), weights[weights > 0]
    cost, y = a.of(p.C) * a.of(weights), rows.labels
    inner = W[:-1] if p.bias >= 0 or p.kind == "ordinal" else W
    inner = np.concatenate((inner, a.of(np.zeros((max(0, rows.d - len(inner)), W.shape[1])))))
    each = a.of(rows.values)[:, None] * inner[rows.indices]
    z, sizes = a.of(np.zeros((rows.n, W.shape[1]))), a.of(np.zeros((rows.n, W.shape[1])))
    np.add.at(z, rows.row, each)
    np.add.at(sizes, rows.row, abs(each))
    if p.bias >= 0 and p.kind != "ordinal":
        last = a.of(p.bias) * W[-1]
        z, sizes = z + last, sizes + abs(last)
    off = s.eps * a.of(np.diff(rows.indptr) + 8.0)[:, None] * sizes
    kept = W[:-1] if p.free else W
    squares, norms = s.half * (kept * kept).sum(axis=0), abs(kept).sum(axis=0)
    apart = s.eps * (len(W) + 8)
    if p.kind in ("all classes", "ordinal") and len(np.unique(y)) < 2:  # no loss
        yield Value(s.half * (W * W).sum(), 0 * W.sum())
    elif p.kind == "classification":  # of two classes the first label is +1; else the costs of the rest have no factor
        for k in range(W.shape[1]):
            signs, factor = np.where(y == labels[k], 1.0, -1.0), s.factors(y)
            factor = factor if len(labels) == 2 else np.where(signs > 0, factor, a.of(1.0))
            size = (squares[k], norms[k], 0)
            yield s.signs(z[:, k], off[:, k], a.of(signs), cost * factor, size, apart * size[p.l1])
    elif p.kind == "regression":
        yield s.targets(z[:, 0], off[:, 0], a.of(y), cost, (squares[0],), apart * squares[0])
    elif p.kind == "all classes":
        at, own = np.arange(rows.n), np.argmax(y[:, None] == labels, axis=1)
        f = z + 1
        f[at, own] = z[at, own]
        xi, half = f.max(axis=1) - z[at, own], squares.sum()
        yield s.value(xi, 2 * off.max(axis=1), cost * s.factors(y), 0 * xi + 1, half, apart * half)
    elif p.kind == "ordinal":  # the columns are (s - 1) w and -(b_1 + .. + b_{s-1}), or w and -b for two ranks
        ranks, steps = np.unique(y), W if W.shape[1] == 1 else np.diff(W, axis=1)
        f, reach = (z, off) if W.shape[1] == 1 else ((z[:, 1:2] - z[:, :1]), off[:, :2].sum(axis=1)[:, None])
        f = f + steps[-1][None, :]
        rough = 0 if W.shape[1] == 1 else 2 * s.eps * (abs(W[-1, 1:]) + abs(W[-1, :-1]))
        signs = np.where(np.searchsorted(ranks, y)[:, None] > np.arange(len(ranks) - 1), 1.0, -1.0)
        half = s.half * ((steps[:-1, 0] ** 2).sum() + (steps[-1] ** 2).sum())
        costs = np.repeat(cost * s.factors(y), f.shape[1])
        wide = (reach + rough + 0 * f).ravel()
        yield s.signs(f.ravel(), wide, a.of(signs.ravel()), costs, (half, half, 0), apart * half)
    else:
        rho = a.of(float(model.header["rho"][0])) if np.isfinite(model.numbers("rho")[0]) else model.numbers("rho")[0]
        yield s.outliers(z[:, 0], off[:, 0], a.of(weights), (squares[0], 0, 0), apart * squares[0], rho)


def _kernel(s: _Sum, model: Model, X, Z) -> tuple[Any, Any]:
    """K of rows and support vectors (arrays), and bounds of its errors."""
    a, kind, eps = s.a, model.header["kernel_type"][0], s.eps
    number = {key: a.of(float(model.header[key][0])) for key in ("gamma", "coef0") if key in model.header}
    products, sizes = X @ Z.T, abs(X) @ abs(Z).T
    terms = max(1, X.shape[1]) + 4
    if kind == "linear":
        return products, max(eps * eps, terms * a.own) * sizes  # sums in twice the precision
    if kind == "rbf":
        if len(X) * Z.size <= MAX_DIFFERENCES:
            apart = np.array([((Z - x) ** 2).sum(axis=1) for x in X]).reshape(len(X), len(Z))
            off = terms * eps * apart
        else:
            squares = (X * X).sum(axis=1)[:, None] + (Z * Z).sum(axis=1)
            apart, off = np.maximum(squares - 2 * products, 0), terms * max(eps * eps, 4 * a.own) * squares
        power = np.minimum(number["gamma"] * apart, a.of(LARGE))
        K = np.exp(-power)
        high = np.exp(-np.maximum(power - number["gamma"] * off, 0 * power))
        return K, high - K + eps * (1 + power) * K
    inner, off = number["gamma"] * products + number["coef0"], number["gamma"] * sizes + abs(number["coef0"])
    off, degree = eps * terms * off, int(model.header.get("degree", ("1",))[0])
    g = a.tanh if kind == "sigmoid" else lambda u: u**degree if degree else 0 * u + 1
    K = g(inner)
    return K, np.maximum(abs(g(inner + off) - K), abs(g(inner - off) - K)) + eps * (degree + 2) * abs(K)


def _of_kernel(s: _Sum, rows: Rows, model: Model):
    p, a, rhos, labels = s.p, s.a, s.a.of(model.numbers("rho")), model.numbers("label")
    columns = max(1, int(model.header["nr_class"][0]) - 1)
    words = [line.split() for line in model.body]
    coef = a.of(np.array([[float(t) for t in line[:columns]] for line in words]).reshape(len(words), columns))
    support = parse_rows("\n".join(" ".join(["0", *line[columns:]]) for line in words))
    if model.header["kernel_type"][0] == "precomputed":  # its vectors are named by serial number, at index 0
        X, at = _dense(a, rows._replace(indices=rows.indices + 1)), support.values.astype(int)
        K, own = X[:, at], X[at - 1][:, at]
        off, own_off = s.eps * abs(K), s.eps * abs(own)
    else:
        used = np.unique(np.concatenate((rows.indices, support.indices)))
        X, Z = (_dense(a, some.only_columns(used), len(used)) for some in (rows, support))
        (K, off), (own, own_off) = _kernel(s, model, X, Z), _kernel(s, model, Z, Z)
    typical = np.median(abs(own.diagonal()).astype(float)) if len(own) else 0.0

    def pair(c, chosen, kept):
        """f and its bound on the rows kept, and the sizes (square / 2, sum |c|, scale) and the error of the square."""
        size, rest = abs(c), s.eps * (len(c) + 8)
        f = (K[np.ix_(kept, chosen)] * c).sum(axis=1)
        fine = model.header["kernel_type"][0] == "linear" and p.word != "nu_svc"  # exact coefficients, wide sums
        rough = abs(f) if fine else (abs(K[np.ix_(kept, chosen)]) * size).sum(axis=1)
        whole, wide = own[np.ix_(chosen, chosen)], own_off[np.ix_(chosen, chosen)]
        g = (whole * c).sum(axis=1)
        grown = abs(g) if fine else (abs(whole) * size).sum(axis=1)
        apart = (size * ((wide * size).sum(axis=1) + rest * grown)).sum()
        sizes = (s.half * (c * g).sum(), size.sum(), s.half * a.of(typical))
        return f, (off[np.ix_(kept, chosen)] * size).sum(axis=1) + rest * rough, sizes, apart

    everything = np.arange(rows.n)
    if p.kind != "classification":
        f, wide, size, apart = pair(coef[:, 0], np.arange(len(coef)), everything)
        cost = 0 * f + a.of(p.C)
        if p.kind == "regression":
            yield s.targets(f, wide, a.of(rows.labels), cost, size, apart, rhos[0])
        else:
            yield s.outliers(f, wide, 0 * f + 1, size, apart, rhos[0])
        return
    ends = np.cumsum([0, *map(int, model.header["nr_sv"])])
    for k, (i, j) in enumerate(itertools.combinations(range(len(labels)), 2)):
        chosen = np.concatenate((np.arange(ends[i], ends[i + 1]), np.arange(ends[j], ends[j + 1])))
        c = np.where(chosen < ends[i + 1], coef[chosen, j - 1], coef[chosen, i])
        kept = np.flatnonzero((rows.labels == labels[i]) | (rows.labels == labels[j]))
        f, wide, size, apart = pair(c, chosen, kept)
        size = size if p.free else (size[0] + s.half * rhos[k] ** 2, *size[1:])
        signs = np.where(rows.labels[kept] == labels[i], 1.0, -1.0)
        yield s.signs(f, wide, a.of(signs), a.of(p.C) * s.factors(rows.labels[kept]), size, apart, rhos[k])


def _dense(a: Numbers, rows: Rows, columns: int | None = None):
    X = np.zeros((rows.n, rows.d if columns is None else columns))
    X[rows.row, rows.indices] = rows.values
    return a.of(X)

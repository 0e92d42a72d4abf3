"""P of a model file from its text and the data's alone, in 80 digits: no rounding hides a difference, and nothing is
shared with what trains, certifies or writes.

`P(case, data, text)` sums the objective values of all problems of a model by their plain formulas, and what an error of
each decision value of ROUNDING times its size and rho's changes: no sum in double precision is closer.
"""

from __future__ import annotations

import decimal
import itertools
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from stress import models
from svmtool.registry import Solver

DIGITS = 80
ROUNDING = Decimal(2) ** -49  # eight units in the last place
LARGE = 10**5  # exp of more needs exponents that Decimal lacks
TINY = Decimal("1e-30")  # below, 1 + e has no digits of its own
SMALL = Decimal("1e-15")  # of tanh: the next term of its series is below 1e-59 of it
ZERO, ONE, HALF = Decimal(0), Decimal(1), Decimal("0.5")

Row = dict[int, Decimal]


class Case(NamedTuple):
    """A row of the registry and the parameters of its problem."""

    row: Solver
    C: float = 1.0
    p: float = 0.1
    nu: float = 0.5
    power: float = 2.0
    free: bool = True  # where the row has a free bias: -B makes it a feature


class Value(NamedTuple):
    """P, and its change by rounding of decision values."""

    value: Decimal
    rounding: Decimal


def exact(token: str | float) -> Decimal:
    """A number as a double, exactly."""
    return Decimal(float(token))


def pairs_of(words: list[str]) -> Row:
    """The values that are not 0."""
    return {int(j): exact(value) for j, value in (word.split(":") for word in words) if float(value) != 0.0}


def dot(x: Row, z: Row) -> Decimal:
    return sum((value * z[j] for j, value in x.items() if j in z), ZERO)


def P(case: Case, data: str, text: str) -> Value:
    """The sums over the problems of the model with this text, on the rows of the text `data`."""
    with decimal.localcontext() as context:
        context.prec, context.Emax, context.Emin = DIGITS, decimal.MAX_EMAX, decimal.MIN_EMIN
        model = models.parse(text)
        rows = [(exact(label), pairs_of(pairs)) for label, *pairs in map(str.split, data.splitlines())]
        found = list((_of_kernel if model.kernel else _of_weights)(case, rows, model))
        return Value(sum((v.value for v in found), ZERO), sum((v.rounding for v in found), ZERO))


def loss(case: Case, xi: Decimal) -> Decimal:
    above = max(xi, ZERO)
    match case.row.loss:
        case "hinge" | "tube":
            return above
        case "squared hinge":
            return above * above
        case "Lp hinge":
            return above ** exact(case.power) if above else ZERO
        case "modified Huber":
            return 2 * (xi - 1) if xi > 2 else HALF * above * above
        case "logistic":
            e = max(min(xi, Decimal(LARGE)), Decimal(-LARGE)).exp()
            return xi if xi > LARGE else (ONE + e).ln() if e > TINY else e - e * e / 2
        case "least squares":
            return xi * xi
    raise ValueError(case.row.loss)


def losses(case: Case, each: list[tuple[Decimal, Decimal]], size: Decimal, off: Decimal = ZERO) -> Value:
    """size, known within `off`, plus C times the sum of l(xi); each: xi, and the size of the numbers that it sums."""
    C, rise = exact(case.C), off + ROUNDING * abs(size)
    for xi, reach in each:
        rise += C * max(abs(loss(case, xi + d) - loss(case, xi)) for d in (reach * ROUNDING, -reach * ROUNDING))
    return Value(size + C * sum((loss(case, xi) for xi, _ in each), ZERO), rise)


def _tube(case: Case, rows: list[tuple[Decimal, Decimal, Decimal]]) -> list[tuple[Decimal, Decimal]]:
    """The slacks of a regression, two for each target, value and size of the value's terms."""
    return [(s * (t - f) - exact(case.p), size + abs(t)) for t, f, size in rows for s in (1, -1)]


def _of_weights(case: Case, rows, model: models.Model) -> Iterator[Value]:
    """P of each problem of a linear model."""
    words = [line.split() for line in model.body]
    W = [{j: exact(line[k]) for j, line in enumerate(words, 1)} for k in range(len(words[0]))]
    last, kind, bias = len(words), case.row.kind, exact(model.header["bias"][0])
    if bias >= 0:
        rows = [(t, {**x, last: bias}) for t, x in rows]
    labels = [exact(label) for label in model.header.get("label", ())]
    z = [[dot(x, w) for w in W] for _, x in rows]
    reach = [[sum((abs(x[j] * v) for j, v in w.items() if j in x), ZERO) for w in W] for _, x in rows]
    free = last if case.row.free_bias and case.free and bias >= 0 else 0
    kept = [[v for j, v in w.items() if j != free] for w in W]
    sizes = [sum(map(abs, w)) if case.row.regulariser == "|w|_1" else HALF * sum(v * v for v in w) for w in kept]
    if kind == "classification":
        target = ZERO if case.row.loss == "logistic" else ONE
        for k, size in enumerate(sizes):
            signs = [1 if t == labels[k] else -1 for t, _ in rows]
            each = [(target - y * f[k], r[k]) for y, f, r in zip(signs, z, reach, strict=True)]
            yield losses(case, each, size)
    elif kind == "regression":
        some = [(t, f[0], r[0]) for (t, _), f, r in zip(rows, z, reach, strict=True)]
        yield losses(case, _tube(case, some), sizes[0])
    elif kind == "all classes":
        some = [(f, labels.index(t), max(r)) for (t, _), f, r in zip(rows, z, reach, strict=True)]
        lost = [(max(f[m] - f[own] + (m != own) for m in range(len(f))), r) for f, own, r in some]
        yield losses(case, lost, sum(sizes))
    elif kind == "ordinal":  # the columns are (s - 1) w, the weights of the bias -(b_1 + .. + b_{s-1})
        ranks = sorted({t for t, _ in rows})  # of two the higher is the first label, with one column
        steps = [W[0]] if len(ranks) == 2 else [{j: v[j] - u[j] for j in u} for u, v in itertools.pairwise(W)]
        w = {j: v for j, v in (steps or W)[0].items() if j != last}
        b = [-step[last] for step in steps]
        each = [
            (ONE - (1 if ranks.index(t) > s else -1) * (dot(x, w) - b[s]), max(r))
            for (t, x), r in zip(rows, reach, strict=True) for s in range(len(b))
        ]  # fmt: skip
        yield losses(case, each, HALF * sum(v * v for v in [*w.values(), *b]))
    else:
        f = [f[0] for f in z]
        yield _outliers(case, f, [r[0] for r in reach], 2 * sizes[0], ZERO, exact(model.header["rho"][0]))


def _outliers(case: Case, f: list[Decimal], sizes: list[Decimal], square: Decimal, off: Decimal, rho: Decimal) -> Value:
    """P of one class from w.x_i, their sizes, and |w|^2, known within `off`; hard: without losses."""
    if case.row.kind == "hard one-class":
        return Value(HALF * square - rho, off + ROUNDING * abs(rho))
    k = exact(case.nu) * len(f)
    above = sum((max(rho - value, ZERO) for value in f), ZERO)
    rounding = ROUNDING * sum((size + abs(rho) for size in sizes), k * abs(rho))
    return Value(HALF * square + above - k * rho, rounding + off)


Kernel = Callable[[Row, Row], tuple[Decimal, Decimal]]


def _kernel(header: dict) -> Kernel:
    """K(x, z), and the size that its round-off in double precision is relative to."""
    number = {key: exact(header[key][0]) for key in ("gamma", "coef0") if key in header}

    def linear(x: Row, z: Row) -> tuple[Decimal, Decimal]:
        return dot(x, z), sum((abs(value * z[j]) for j, value in x.items() if j in z), ZERO)

    def rbf(x: Row, z: Row) -> tuple[Decimal, Decimal]:
        power = number["gamma"] * sum(((x.get(j, ZERO) - z.get(j, ZERO)) ** 2 for j in {**x, **z}), ZERO)
        value = (-power).exp() if power < LARGE else ZERO
        return value, value * (1 + power)

    def of_product(g: Callable[[Decimal], Decimal]) -> Kernel:
        def value(x: Row, z: Row) -> tuple[Decimal, Decimal]:
            product, size = (number["gamma"] * v for v in linear(x, z))
            u, off = product + number["coef0"], ROUNDING * (size + abs(number["coef0"]))
            return g(u), abs(g(u)) + max(abs(g(u + off) - g(u)), abs(g(u - off) - g(u))) / ROUNDING

        return value

    def tanh(u: Decimal) -> Decimal:
        if abs(u) < SMALL:
            return u - u**3 / 3
        e = (2 * max(min(u, Decimal(200)), Decimal(-200))).exp()
        return (e - 1) / (e + 1)

    def given(x: Row, z: Row) -> tuple[Decimal, Decimal]:
        value = x.get(int(z[0]), ZERO)
        return value, abs(value)

    return {
        "linear": linear, "rbf": rbf, "sigmoid": of_product(tanh), "precomputed": given,
        "polynomial": of_product(lambda u: u ** int(header["degree"][0])),
    }[header["kernel_type"][0]]  # fmt: skip


def _of_kernel(case: Case, rows, model: models.Model) -> Iterator[Value]:
    """P of each problem of a kernel model: of each pair of classes, or one."""
    K, rhos = _kernel(model.header), [exact(r) for r in model.header["rho"]]
    linear = model.header["kernel_type"][0] == "linear"
    columns = max(1, int(model.header["nr_class"][0]) - 1)
    support = [([exact(c) for c in words[:columns]], pairs_of(words[columns:])) for words in map(str.split, model.body)]
    if case.row.kind != "classification":
        yield _of_problem(case, K, linear, [(c[0], z) for c, z in support], rhos[0], rows)
        return
    labels = [exact(label) for label in model.header["label"]]
    ends = list(itertools.accumulate(map(int, model.header["nr_sv"]), initial=0))
    for k, (i, j) in enumerate(itertools.combinations(range(len(labels)), 2)):
        some = [(c[j - 1], z) for c, z in support[ends[i] : ends[i + 1]]]
        some += [(c[i], z) for c, z in support[ends[j] : ends[j + 1]]]
        pair = [(1 if t == labels[i] else -1, x) for t, x in rows if t in (labels[i], labels[j])]
        yield _of_problem(case, K, linear, some, rhos[k], pair)


def _of_problem(case: Case, K: Kernel, linear: bool, support, rho: Decimal, rows) -> Value:
    """P of one problem; rows: signs or targets, and rows; linear: whether the kernel is.

    The weights of a linear kernel are sums in twice the precision, of coefficients that are exact unless divided.
    """
    support, twice = [(c, z) for c, z in support if c], linear and case.row.word != "nu_svc"

    def value(x: Row) -> tuple[Decimal, Decimal]:
        """w.x, and the size that its round-off is relative to."""
        terms = [(c, *K(x, z)) for c, z in support]
        total, size = sum((c * v for c, v, _ in terms), ZERO), sum((abs(c) * s for c, _, s in terms), ZERO)
        return total, abs(total) + ROUNDING * size if twice else size

    known = [value(x) for _, x in rows]
    values, sizes = [v for v, _ in known], [size for _, size in known]
    if any(0 in x for _, x in rows):  # a precomputed kernel names support vectors by serial number, at index 0
        serial = {x[0]: found for (_, x), found in zip(rows, known, strict=True)}
        own = [(c, *serial[z[0]]) for c, z in support]
    else:
        rows_at = {tuple(sorted(x.items())): found for (_, x), found in zip(rows, known, strict=True)}
        own = [(c, *(rows_at.get(tuple(sorted(z.items()))) or value(z))) for c, z in support]
    square, off = sum((c * v for c, v, _ in own), ZERO), ROUNDING * sum((abs(c) * size for c, _, size in own), ZERO)
    if case.row.kind in ("one-class", "hard one-class"):
        return _outliers(case, values, sizes, square, off, rho)
    f = [(t, value - rho, size + abs(rho)) for (t, _), value, size in zip(rows, values, sizes, strict=True)]
    if case.row.word == "nu_svr":  # its tube is not in the model: the best
        miss, C, k = [abs(t - value) for t, value, _ in f], exact(case.C), exact(case.nu) * len(f)
        tube = min(k * e + sum((max(m - e, ZERO) for m in miss), ZERO) for e in [ZERO, *miss])
        return Value(HALF * square + C * tube, off + C * ROUNDING * sum(size + abs(t) for t, _, size in f))
    if case.row.kind == "regression":
        return losses(case, _tube(case, f), HALF * square, off)
    each = [(ONE - y * value, size + 1) for y, value, size in f]
    if case.row.word == "nu_svc":  # all is divided by the margin, with which the coefficients sum to nu n
        lead = sum((abs(c) for c, _ in support), ZERO)
        if not lead:  # w = 0, and no margin
            return Value(ZERO, ZERO)
        q = exact(case.nu) * len(f) / lead
        found = losses(case._replace(C=1.0), each, ZERO)
        return Value(HALF * square - lead + found.value / q, found.rounding / q + off + ROUNDING * lead)
    if case.row.regulariser == "|w|_1":  # w are the coefficients
        return losses(case, each, sum((abs(c) for c, _ in support), ZERO))
    return losses(case, each, HALF * square + (ZERO if case.row.free_bias else HALF * rho * rho), off)

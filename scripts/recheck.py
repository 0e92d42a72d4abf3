"""A second witness of the certificate: P and D of a model, from its file, the data and the dual point alone.

    svm-train -s 3 --keep-dual POINT DATA MODEL
    python scripts/recheck.py MODEL DATA POINT [-s N] [-c C] [-p P] [-B B] [-R] [-w1 2 ..] [-W WEIGHTS]

It imports numpy and nothing of svmtool, and knows -s 0, 1, 2, 3, 5, 6, 7, 11, 12 and 13.  -s, -c, -p, -B, -R and
-wi are read from the model's notes where they are not given; a file of weights must be given by -W.

Sums are of numpy's longdouble, whose unit round-off u is eps / 2.  A sum of k products is off by at most k u times the
sum of their sizes, at first order; slacks, losses, v, P and D carry that bound along, twice as large as it is for what
first order leaves out.  The costs C_i that svm-train used are doubles and may be off by 2^-52.  A point is first made
feasible: scaled where it leaves a bound by rounding.  With -R the sum of a y is 0 up to that rounding, which counts at
twice the model's bias.

Exit status 1: P is not the P of the model's line, D is below its D or above P, or a gap is larger, by more than this
rounding and the digits printed allow.
"""

import argparse
import re
import sys

import numpy as np

LD = np.longdouble
U, COST_OFF = np.finfo(LD).eps / 2, LD(2) ** -52
L1, TUBE = (5, 6), (11, 12, 13)
LOSS_OF = {0: "log", 6: "log", 7: "log", 3: "hinge", 13: "hinge", **dict.fromkeys((1, 2, 5, 11, 12), "square")}
VALUE_AND_CONJUGATE = {  # of a slack, and of b = a_i / C_i
    "hinge": (lambda xi: np.maximum(xi, 0), lambda b: 0 * b),
    "square": (lambda xi: np.maximum(xi, 0) ** 2, lambda b: b**2 / 4),
    "log": (lambda xi: np.logaddexp(LD(0), xi), lambda b: times_log(b, np.log(np.maximum(b, LD(1e-300))))),
}


def times_log(b, log):
    """b log b + (1 - b) log (1 - b)"""
    return b * log + (1 - b) * np.log1p(-np.minimum(b, 1 - U))


def read_rows(path, d, bias):
    """Labels, and row, feature and value of each number; the bias is feature d."""
    labels, found = [], []
    with open(path) as file:
        for words in filter(None, (line.partition("#")[0].split() for line in file)):
            pairs = [word.split(":") for word in words[1:] if not word.startswith("qid:")]
            found += [(len(labels), int(j) - 1, float(v)) for j, v in pairs if int(j) <= d]
            found += [(len(labels), d, bias)] if bias >= 0 else []
            labels.append(float(words[0]))
    row, feature, value = np.array(found).reshape(-1, 3).T
    return np.array(labels, LD), row.astype(int), feature.astype(int), value.astype(LD)


def summed(place, terms, n):
    """Sums of terms by place, n of them, and bounds of their rounding."""
    total, size = np.zeros((2, n), LD)
    np.add.at(total, place, terms)
    np.add.at(size, place, np.abs(terms))
    return total, 2 * (np.bincount(place, minlength=n) + 3) * U * size


def check(o, t, rows, d, w, a, y, C):
    """P, D and their rounding, for weights w, point a, signs y (None: a regression) and costs C."""
    row, feature, value = rows
    (value_at, conjugate_at), (z, z_off) = VALUE_AND_CONJUGATE[o.loss], summed(row, value * w[feature], len(t))
    target, a = LD(o.loss != "log"), np.where(C > 0, a if y is None else y * np.maximum(a, 0), 0)
    xi = abs(t - z) - LD(o.p) if y is None else target - y * z
    inner = w[:d] if o.R else w
    regular = abs(inner).sum() if o.s in L1 else (inner**2).sum() / 2
    loss, wide = (C @ value_at(slack) for slack in (xi, xi + z_off + 3 * U * abs(xi)))
    P = regular + loss
    P_off = wide - loss + (2 * (len(t) + len(w)) * U + COST_OFF) * P

    if o.R:  # a free bias: the sum of a is 0
        up, down = a[a > 0].sum(), -a[a < 0].sum()
        a = np.where(a > 0, a * min(1, down / up if up else 0), a * min(1, up / down if down else 0))
    v, v_off = summed(feature, value * a[row], len(w))
    v[d:], v_off[d:] = (0, 0) if o.R else (v[d:], v_off[d:])
    b = np.divide(abs(a), C, out=np.zeros(len(t), LD), where=C > 0)
    most = max(1, (abs(v) + v_off).max(initial=0) * (o.s in L1), b.max(initial=0) * (o.loss != "square"))
    a, b, v, v_off = a / most, b / most, v / most, v_off / most
    linear = t * a - LD(o.p) * abs(a) if y is None else target * abs(a)
    square, square_off = (0, 0) if o.s in L1 else (v @ v / 2, abs(v) @ v_off + v_off @ v_off)
    conjugate = C * conjugate_at(b)
    moved = (
        abs(conjugate) - np.log(U) * abs(a)
    ).sum()  # by errors of b: -log u is the largest slope of the logistic l*
    size = (abs(t * a) + abs(linear)).sum() + square + moved
    D_off = 2 * (len(t) + len(w) + 4) * U * (size + (abs(w[-1]) * abs(a).sum() if o.R else 0)) + square_off
    return P, linear.sum() - square - conjugate.sum(), P_off, D_off + COST_OFF * moved


def options():
    """The options, with those that the model's notes have; weights of labels; the model's header, notes and weights."""
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[3].strip().removeprefix("python "), allow_abbrev=False)
    for name in ("model", "data", "point", "-W", "-s", "-c", "-p", "-B"):
        parser.add_argument(name, type=float if name in ("-s", "-c", "-p", "-B") else str)
    parser.add_argument("-R", action="store_true")
    o, rest = parser.parse_known_args()
    if len(rest) % 2:
        parser.error(f"{rest[-1]} needs a value, or is one too many")
    with open(o.model) as file:
        head, _, body = file.read().partition("\nw\n")
    head, notes = dict(line.split(maxsplit=1) for line in head.splitlines()), " ".join(re.findall("^#.*", body, re.M))
    for name, default in (("s", -1), ("c", 1.0), ("p", 0.1), ("B", float(head["bias"]))):
        found = re.search(rf" -{name} (\S+)", notes)
        if getattr(o, name) is None:
            setattr(o, name, float(found[1]) if found else default)
    o.R, o.loss = o.R or " -R" in notes, LOSS_OF.get(o.s)
    if o.loss is None:
        sys.exit(f"recheck.py: give -s: one of {', '.join(map(str, sorted(LOSS_OF)))}")
    W = np.array([line.split() for line in re.findall(r"^[^#\n].*", body, re.M)], float)
    factors = {}
    for label, factor in re.findall(r" -w(-?\d+) (\S+)", " " + " ".join(rest) if rest else notes):
        factors[float(label)] = factors.get(float(label), 1.0) * float(factor)
    return o, factors, head, notes, W.astype(LD)


def main():
    """Recompute, print and compare; returns the exit status."""
    o, factors, head, notes, W = options()
    t, *rows = read_rows(o.data, d := int(head["nr_feature"]), o.B)
    points, weights = np.loadtxt(o.point, ndmin=2), np.loadtxt(o.W, ndmin=1) if o.W else np.ones(len(t))
    if points.shape != (len(t), W.shape[1]) or weights.shape != t.shape:
        sys.exit(f"recheck.py: {len(t)} rows, but {points.shape} numbers of the point and {len(weights)} weights")
    labels, found = [float(label) for label in head.get("label", "").split()], []
    for k, w in enumerate(W.T):
        y = None if o.s in TUBE else np.where(t == labels[k], 1, -1)
        weighed = labels if len(labels) == 2 else labels[k : k + 1]  # one against the rest: -wi of that one alone
        C = o.c * np.array([factors.get(float(i), 1.0) if i in weighed else 1.0 for i in t]) * weights
        found.append(check(o, t, rows, d, w, points[:, k].astype(LD), y, np.maximum(C, 0).astype(LD)))
    P, D, P_off, D_off = (sum(column) for column in zip(*found, strict=True))
    gap = max((p - b) / p if p > 0 else 0 for p, b, _, _ in found)
    print(f"recomputed: gap = {gap:.6g} (primal {P:.12g} +- {P_off:.2g}, dual {D:.12g} +- {D_off:.2g})")
    wrong = ["D is above P"] if any(b - p > p_off + b_off for p, b, p_off, b_off in found) else []
    line = re.search(r"Certified relative gap = (\S+) \(primal (\S+), dual (\S+), [^)]*\)", notes)
    print(f"the model:  {line[0] if line else 'no line to compare with'}")
    if line:
        its_gap, its_P, its_D = map(float, line.groups())
        off = max((p_off + b_off) / p if p > 0 else 0 for p, _, p_off, b_off in found)
        wrong += ["P is another"] if not abs(P - its_P) <= 5e-9 * abs(its_P) + P_off else []
        wrong += ["D is smaller"] if not D + D_off + COST_OFF * abs(D) >= its_D else []
        wrong += ["the gap is larger"] if not gap <= its_gap * 1.005 + off else []
    print("recheck.py: " + ("; ".join(wrong) or "they agree"))
    return int(bool(wrong))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as e:  # status 1 is for numbers that do not agree
        print(f"recheck.py: {e}", file=sys.stderr)
        sys.exit(2)

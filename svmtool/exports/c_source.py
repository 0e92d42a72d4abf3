"""A model as one file of C99 that needs nothing but the C library (with kernels: -lm)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from svmtool.errors import ModelError, visible
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import NAMES, PRECOMPUTED
from svmtool.models.linear import NO_CLASSES, LinearModel

MAX_SOURCE_NUMBERS = 10_000_000  # some 250 MB of source, which compilers need gigabytes for
A_LINE = 8  # numbers

HEAD = """\
/* {about}
 *
 * double {p}_predict(const double *x)
 *     The label (or value) of a row; x[0] is feature 1, x has {P}_FEATURES numbers.
 * double {p}_predict_sparse(int n, const int *index, const double *value)
 *     The same for n pairs of index (from 1 on, ascending) and value; features that the model lacks may occur.
 * void {p}_decision_values(const double *x, double *f)
 * void {p}_decision_values_sparse(int n, const int *index, const double *value, double *f)
 *     The {P}_VALUES decision values, in the order of the model file.
 */
"""
LINEAR_CODE = """
static void decide(int n, const int *index, const double *value, double *f)
{{
    int i, c;
    for (c = 0; c < {P}_VALUES; c++)
        f[c] = 0.0;
    for (i = 0; i < n; i++) {{
        const int at = index ? index[i] : i + 1;
        if (at < 1 || at > {P}_FEATURES)
            continue;
        for (c = 0; c < {P}_VALUES; c++)
            f[c] += weights[(long)(at - 1) * {P}_VALUES + c] * value[i];
    }}
    for (c = 0; c < {P}_VALUES; c++)
        f[c] += offsets[c];
}}
"""
PRODUCT = """
static double product(int s, int n, const int *index, const double *value)
{
    int i = 0, k = starts[s];
    double sum = 0.0;
    while (i < n && k < starts[s + 1]) {
        const int at = index ? index[i] : i + 1;
        if (at == indices[k])
            sum += value[i++] * values[k++];
        else if (at < indices[k])
            i++;
        else
            k++;
    }
    return sum;
}
"""
DISTANCE = """
static double square_distance(int s, int n, const int *index, const double *value)
{
    int i = 0, k = starts[s];
    double sum = 0.0;
    while (i < n || k < starts[s + 1]) {
        const int at = i < n ? (index ? index[i] : i + 1) : 0;
        double d;
        if (i < n && k < starts[s + 1] && at == indices[k])
            d = value[i++] - values[k++];
        else if (i < n && (k == starts[s + 1] || at < indices[k]))
            d = value[i++];
        else
            d = values[k++];
        sum += d * d;
    }
    return sum;
}
"""
POWER = """
static double power(double base, int exponent)
{
    double result = 1.0;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2)
            result *= base;
        base *= base;
    }
    return result;
}
"""
KERNEL_CODE = {
    "linear": "product(s, n, index, value)",
    "polynomial": "power({gamma} * product(s, n, index, value) + {coef0}, {degree})",
    "rbf": "exp(-{gamma} * square_distance(s, n, index, value))",
    "sigmoid": "tanh({gamma} * product(s, n, index, value) + {coef0})",
}
# the value of the pair (i, j), i < j, of classes has index i (2 K - i - 1) / 2 + j - i - 1
PAIRS = """
static void decide(int n, const int *index, const double *value, double *f)
{{
    int s, c = 0, m, first = 0;
    for (m = 0; m < {P}_VALUES; m++)
        f[m] = -rho[m];
    for (s = 0; s < SUPPORT_VECTORS; s++) {{
        const double k = {kernel};
        while (s >= first + class_sizes[c])
            first += class_sizes[c++];
        for (m = 0; m < {P}_CLASSES; m++) {{
            const int i = m < c ? m : c, j = m < c ? c : m;
            if (m != c)
                f[(long)i * (2 * {P}_CLASSES - i - 1) / 2 + j - i - 1] +=
                    coefficients[(long)(m < c ? m : m - 1) * SUPPORT_VECTORS + s] * k;
        }}
    }}
}}
"""
ONE_VALUE = """
static void decide(int n, const int *index, const double *value, double *f)
{{
    int s;
    f[0] = -rho[0];
    for (s = 0; s < SUPPORT_VECTORS; s++)
        f[0] += coefficients[s] * {kernel};
}}
"""
CHOICES = {
    "value": "    return f[0];\n",
    "sign": "    return labels[f[0] > 0.0 ? 0 : 1];\n",
    "largest": """\
    int c, best = 0;
    for (c = 1; c < {P}_CLASSES; c++)
        if (f[c] > f[best])
            best = c;
    return labels[best];
""",
    "votes": """\
    int i, j, best = 0, votes[{P}_CLASSES] = {{0}};
    for (i = 0; i < {P}_CLASSES; i++)
        for (j = i + 1; j < {P}_CLASSES; j++)
            votes[*f++ > 0.0 ? i : j]++;
    for (i = 1; i < {P}_CLASSES; i++)
        if (votes[i] > votes[best])
            best = i;
    return labels[best];
""",
}
TAIL = """
static double chosen(const double *f)
{{
{choice}}}

void {p}_decision_values(const double *x, double *f)
{{
    decide({P}_FEATURES, 0, x, f);
}}

void {p}_decision_values_sparse(int n, const int *index, const double *value, double *f)
{{
    decide(n, index, value, f);
}}

double {p}_predict(const double *x)
{{
    double f[{P}_VALUES];
    decide({P}_FEATURES, 0, x, f);
    return chosen(f);
}}

double {p}_predict_sparse(int n, const int *index, const double *value)
{{
    double f[{P}_VALUES];
    decide(n, index, value, f);
    return chosen(f);
}}
"""


def c_source(model: LinearModel | KernelModel, about: str, prefix: str = "svm") -> Iterator[str]:
    """The source in pieces.  about: a comment's text; prefix: of all names that the linker sees.

    Raises ModelError for a precomputed kernel, and for models too large for a compiler.
    """
    refuse_unusable(model)
    linear = isinstance(model, LinearModel)
    size = model.W.size if isinstance(model, LinearModel) else model.coef.size + model.values.size
    if size > MAX_SOURCE_NUMBERS:
        raise ModelError(
            f"the model has {size} numbers, more than compilers take ({MAX_SOURCE_NUMBERS}): use --json or --onnx"
        )
    marks = {"p": prefix, "P": prefix.upper()}
    yield HEAD.format(about="\n * ".join(map(_comment, about.split("\n"))), **marks)
    yield from _linear(model, marks) if isinstance(model, LinearModel) else _kernel(model, marks)
    by_value = model.kind == "regression"
    by_sign = model.kind == "one-class" or (linear and model.nr_class == 2)
    way = "value" if by_value else "sign" if by_sign else "largest" if linear else "votes"
    yield TAIL.format(choice=CHOICES[way].format(**marks), **marks)


def _comment(line: str) -> str:
    """A line inside a C comment: ASCII, without marks of comments, trigraphs and a backslash at its end."""
    text = visible(line).encode("ascii", "backslashreplace").decode().rstrip()
    text += " ." if text.endswith("\\") else ""
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", text)


def refuse_unusable(model: LinearModel | KernelModel) -> None:
    """ModelError for models that predict nothing by themselves."""
    if model.nr_class == 0:
        raise ModelError(NO_CLASSES)
    if isinstance(model, LinearModel):
        if not np.all(np.isfinite(model.W)) or not np.isfinite(model.rho or 0.0):
            raise ModelError("the model holds numbers that are not finite")
        return
    if model.kernel.kind == PRECOMPUTED:
        raise ModelError("a model of a precomputed kernel needs its training rows and cannot be exported")
    if model.indices.size and model.indices.min() < 0:
        raise ModelError("the support vectors have a feature of index 0, and exported models count from 1")


def offsets_of(model: LinearModel) -> np.ndarray:
    """What the bias and rho of a linear model add to its decision values, f8[columns]; ModelError beyond the range."""
    with np.errstate(over="ignore"):
        offsets = model.W[model.n_features] * model.bias if model.bias >= 0 else np.zeros(model.columns)
    if model.kind == "one-class":
        offsets = offsets - (model.rho or 0.0)
    if not np.all(np.isfinite(offsets)):
        raise ModelError("the bias times its weight is beyond the range of double precision")
    return offsets


def _sizes(features: int, values: int, model: LinearModel | KernelModel, marks: dict[str, str]) -> str:
    P = marks["P"]
    numbers = {"FEATURES": features, "VALUES": max(1, values), "CLASSES": model.nr_class}
    return "\n" + "".join(f"#define {P}_{name} {number}\n" for name, number in numbers.items())


def _labels(model: LinearModel | KernelModel) -> Iterator[str]:
    if model.kind != "regression":
        yield from _array("double", "labels", (1, -1) if model.labels is None else model.labels)


def _linear(model: LinearModel, marks: dict[str, str]) -> Iterator[str]:
    yield _sizes(model.n_features, model.columns, model, marks)
    yield from _labels(model)
    yield from _array("double", "weights", model.W[: model.n_features].ravel())
    yield from _array("double", "offsets", offsets_of(model))
    yield LINEAR_CODE.format(**marks)


def _kernel(model: KernelModel, marks: dict[str, str]) -> Iterator[str]:
    kernel, name = model.kernel, NAMES[model.kernel.kind]
    features = int(model.indices.max()) + 1 if model.indices.size else 0
    if name != "linear":
        yield "\n#include <math.h>\n"
    yield _sizes(features, model.columns, model, marks)
    yield f"#define SUPPORT_VECTORS {model.total_sv}\n"
    yield from _labels(model)
    yield from _array("double", "rho", model.rho)
    if model.nr_sv is not None:
        yield from _array("int", "class_sizes", model.nr_sv)
    yield from _array("double", "coefficients", model.coef.ravel())
    yield from _array("int", "starts", model.indptr)
    yield from _array("int", "indices", model.indices.astype(np.int64) + 1)
    yield from _array("double", "values", model.values)
    if name == "polynomial":
        yield POWER
    yield DISTANCE if name == "rbf" else PRODUCT
    call = KERNEL_CODE[name].format(
        gamma=_text(kernel.gamma), coef0=_text(kernel.coef0), degree=kernel.degree
    )  # fmt: skip
    several = model.nr_sv is not None
    yield (PAIRS if several else ONE_VALUE).format(kernel=call, **marks)


def _array(kind: str, name: str, numbers: Iterable) -> Iterator[str]:
    """A constant array; an empty one gets a zero, since C has no empty arrays."""
    yield f"\nstatic const {kind} {name}[] = {{\n"
    texts = [repr(float(x)) for x in numbers] if kind == "double" else [str(int(x)) for x in numbers]
    texts = texts or ["0"]
    for at in range(0, len(texts), A_LINE):
        yield "    " + ", ".join(texts[at : at + A_LINE]) + ",\n"
    yield "};\n"


def _text(x: float) -> str:
    """A constant that a C compiler reads to the bit; negative ones in parentheses."""
    text = repr(float(x))
    return f"({text})" if text.startswith("-") else text

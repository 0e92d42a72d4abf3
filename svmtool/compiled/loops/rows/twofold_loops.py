"""Products with sparse rows in twice the precision: each sum is a number and the sum of its rounding errors."""

from numpy import float64, uint64

from svmtool.compiled import _library, loop

if _library is None:
    from svmtool.compiled.loops.kernel.kernel_loops import product_error, sum_error


@loop("void(u8[], u4|u8[], f8|f4[], f8[], f8[], f8[], f8[], f8, u8, u8)")
def csr_twofold_margins(indptr, indices, values, w, y, z, rest, bias, lo, hi):
    """z_i + rest_i = y_i x_i.w, with the bias feature, whose weight is the last, where bias >= 0."""
    for i in range(lo, hi):
        total = error = 0.0
        if bias >= 0.0:
            v = w[uint64(len(w)) - uint64(1)]
            total = bias * v
            error = product_error(bias, v, total)
        for k in range(indptr[i], indptr[i + uint64(1)]):
            v, x = w[indices[k]], float64(values[k])
            term = x * v
            new = total + term
            error += sum_error(total, term, new) + product_error(x, v, term)
            total = new
        z[i], rest[i] = y[i] * total, y[i] * error


@loop("void(u8[], u4|u8[], f8|f4[], f8[], f8[], f8[], u8, u8)")
def csr_twofold_sums(indptr, indices, values, u, g, rest, lo, hi):
    """g + rest += sum_i u_i x_i."""
    for i in range(lo, hi):
        if u[i] != 0.0:
            for k in range(indptr[i], indptr[i + uint64(1)]):
                j, x = indices[k], float64(values[k])
                term = u[i] * x
                new = g[j] + term
                rest[j] += sum_error(g[j], term, new) + product_error(u[i], x, term)
                g[j] = new

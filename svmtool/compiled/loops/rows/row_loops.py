"""Passes over sparse rows (CSR).  Each handles rows lo .. hi-1, so that blocks can run in parallel."""

import numpy as np

from svmtool.compiled import helper, loop

ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
ZERO = np.uint64(0)


@helper
def index_at(indices, k, start):
    """The index of value k of a row that begins at start; without indices it has every feature."""
    return np.uint64(indices[k]) if len(indices) else k - start


@helper(fast=True)
def row_dot(indices, values, w, start, stop):
    """x.w of one row x, the values from start to stop; without indices those of the first features."""
    total = 0.0
    if len(indices) == 0:
        for k in range(stop - start):
            total += values[start + k] * w[k]
    else:
        for k in range(start, stop):
            total += values[k] * w[indices[k]]
    return total


@helper(fast=True)
def product_of_row(indices, values, w, start, stop, bias):
    """x.w of one row x, with the bias feature, whose weight is the last, where bias >= 0."""
    total = row_dot(indices, values, w, start, stop)
    if bias >= 0.0:
        total += bias * w[np.uint64(len(w)) - ONE]
    return total


@helper(fast=True)
def add_row(indices, values, w, at, t, start, stop):
    """w += t x for one row x, see `row_dot`; w begins at `at`."""
    if len(indices) == 0:
        for k in range(stop - start):
            w[at + k] += t * values[start + k]
    else:
        for k in range(start, stop):
            w[at + indices[k]] += t * values[k]


@helper(fast=True)
def add_multiple(indices, values, w, t, start, stop, bias):
    """w += t x for one row x, see `row_dot`; bias as of `product_of_row`."""
    add_row(indices, values, w, ZERO, t, start, stop)
    if bias >= 0.0:
        w[np.uint64(len(w)) - ONE] += t * bias


@helper(fast=True)
def dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@loop("void(u8[], u4|u8[], f8|f4|i1|u1[], f8[], f8[], f8[], f8, u8, u8)", fast=True)
def csr_margins(indptr, indices, values, w, y, z, shift, lo, hi):
    """z_i = y_i (x_i.w + shift)."""
    for i in range(lo, hi):
        z[i] = y[i] * (row_dot(indices, values, w, indptr[i], indptr[i + ONE]) + shift)


@loop("void(u8[], u4|u8[], f8|f4|i1|u1[], f8[], u8[], f8[], u8, u8, u8)", fast=True)
def csr_class_sums(indptr, indices, values, u, number, sums, d, lo, hi):
    """Row number_i of sums (d columns) += u_i x_i; rows with u_i = 0 are skipped.  No numbers: all rows have 0."""
    for i in range(lo, hi):
        c = u[i]
        if c != 0.0:
            at = np.uint64(number[i]) * d if len(number) else ZERO
            add_row(indices, values, sums, at, c, indptr[i], indptr[i + ONE])


@loop("f8(u8[], u4|u8[], f8|f4[], f8[], f8[], f8[], f8, u8, u8)", fast=True)
def csr_curvature_product(indptr, indices, values, c, v, g, shift, lo, hi):
    """g += sum_i c_i (x_i.v + shift) x_i in one pass; returns sum_i c_i (x_i.v + shift), for the bias."""
    total = 0.0
    for i in range(lo, hi):
        if c[i] != 0.0:
            t = c[i] * (row_dot(indices, values, v, indptr[i], indptr[i + ONE]) + shift)
            total += t
            for k in range(indptr[i], indptr[i + ONE]):
                g[indices[k]] += t * values[k]
    return total


@loop("void(u8[], u4|u8[], f8|f4[], f8[], f8[], u8, u8, u8)", fast=True)
def csr_gram(indptr, indices, values, c, gram, d, lo, hi):
    """Upper triangle of gram (d x d, row-major) += sum_i c_i x_i x_i'; c_i < 0 removes a row."""
    for i in range(lo, hi):
        if c[i] == 0.0:
            continue
        k = indptr[i]
        stop = indptr[i + ONE]
        while k + FOUR <= stop:  # four rows of gram at a time: each index and value is loaded once for all
            t0 = c[i] * values[k]
            t1 = c[i] * values[k + ONE]
            t2 = c[i] * values[k + TWO]
            t3 = c[i] * values[k + THREE]
            row0 = np.uint64(indices[k]) * d
            row1 = np.uint64(indices[k + ONE]) * d
            row2 = np.uint64(indices[k + TWO]) * d
            row3 = np.uint64(indices[k + THREE]) * d
            if np.uint64(indices[stop - ONE] - indices[k]) + ONE == stop - k:  # consecutive indices: vectorises
                shift = np.uint64(indices[k]) - k
                for m in range(k, stop):
                    gram[row0 + shift + m] += t0 * values[m]
                for m in range(k + ONE, stop):
                    gram[row1 + shift + m] += t1 * values[m]
                for m in range(k + TWO, stop):
                    gram[row2 + shift + m] += t2 * values[m]
                for m in range(k + THREE, stop):
                    gram[row3 + shift + m] += t3 * values[m]
            else:
                for m in range(k, k + THREE):
                    gram[row0 + indices[m]] += t0 * values[m]
                for m in range(k + ONE, k + THREE):
                    gram[row1 + indices[m]] += t1 * values[m]
                gram[row2 + indices[k + TWO]] += t2 * values[k + TWO]
                for m in range(k + THREE, stop):
                    j = np.uint64(indices[m])
                    v = values[m]
                    gram[row0 + j] += t0 * v
                    gram[row1 + j] += t1 * v
                    gram[row2 + j] += t2 * v
                    gram[row3 + j] += t3 * v
            k += FOUR
        while k < stop:
            t0 = c[i] * values[k]
            row0 = np.uint64(indices[k]) * d
            for m in range(k, stop):
                gram[row0 + indices[m]] += t0 * values[m]
            k += ONE


@loop("void(u8[], u4|u8[], f8|f4[], f8[], f8[], u8, u8)", fast=True)
def csr_diagonal(indptr, indices, values, c, diagonal, lo, hi):
    """diagonal_j += sum_i c_i x_ij^2."""
    for i in range(lo, hi):
        if c[i] != 0.0:
            for k in range(indptr[i], indptr[i + ONE]):
                diagonal[indices[k]] += c[i] * values[k] * values[k]


@loop("void(u8[], f8|f4[], f8[], u8, u8)", fast=True)
def csr_square_norms(indptr, values, norms, lo, hi):
    """norms_i = |x_i|^2."""
    for i in range(lo, hi):
        total = 0.0
        for k in range(indptr[i], indptr[i + ONE]):
            total += np.float64(values[k]) * values[k]
        norms[i] = total


@loop("void(u8[], u4|u8[], f8|f4[], f8[], f8[], u8, u8, u8)", fast=True)
def csr_quadratic(indptr, indices, values, matrix, forms, d, lo, hi):
    """forms_i = x_i'M x_i for a symmetric M (d x d)."""
    for i in range(lo, hi):
        total = 0.0
        for k in range(indptr[i], indptr[i + ONE]):
            row = np.uint64(indices[k]) * d
            part = 0.5 * values[k] * matrix[row + indices[k]]
            for m in range(k + ONE, indptr[i + ONE]):
                part += values[m] * matrix[row + indices[m]]
            total += 2.0 * values[k] * part
        forms[i] = total


@loop("void(u8[], u4|u8[], f8|f4[], u8[], u8[], u4[], f8|f4[])")
def csr_take(indptr, indices, values, chosen, taken_indptr, taken_indices, taken_values):
    """Copy the rows `chosen`; taken_indptr[1:] is written, the other two must be large enough."""
    at = np.uint64(0)
    taken_indptr[0] = at
    for r in range(len(chosen)):
        for k in range(indptr[chosen[r]], indptr[chosen[r] + ONE]):
            taken_indices[at] = indices[k]
            taken_values[at] = values[k]
            at += ONE
        taken_indptr[r + 1] = at


@loop("void(u8[], u4|u8[], f8|f4[], u4[], u8[], u4[], f8|f4[], u8)")
def csr_columns(indptr, indices, values, place, kept_indptr, kept_indices, kept_values, m):
    """Copy features j with place[j] < m, as feature place[j]; the last two arrays must be large enough."""
    at = np.uint64(0)
    kept_indptr[0] = at
    for i in range(len(indptr) - ONE):
        for k in range(indptr[i], indptr[i + ONE]):
            j = place[indices[k]]
            if j < m:
                kept_indices[at] = j
                kept_values[at] = values[k]
                at += ONE
        kept_indptr[i + 1] = at


@loop("void(u8[], u4|u8[], f8|f4[], f8|f4[], u8, u8, u8)")
def csr_to_dense(indptr, indices, values, dense, d, lo, hi):
    """Write rows lo .. hi-1 to dense (rows x d, initially 0)."""
    for i in range(lo, hi):
        for k in range(indptr[i], indptr[i + ONE]):
            dense[(i - lo) * d + indices[k]] = values[k]


@loop("void(u8[], u4[], f8|f4[], u8[], u4[], f8|f4[], f8[], f8[], u8, u8, u8, u8)", fast=True)
def csr_products(
    indptr, indices, values, other_indptr, other_indices, other_values, scratch, P, width, triangle, lo, hi
):  # fmt: skip
    """P[a, b] = x_a.z_b for a in lo .. hi-1 and b < width, with `triangle` only b <= a; scratch: d zeros, restored."""
    for a in range(lo, hi):
        for k in range(indptr[a], indptr[a + ONE]):
            scratch[indices[k]] = values[k]
        for b in range(a + ONE if triangle else width):
            P[a * width + b] = row_dot(other_indices, other_values, scratch, other_indptr[b], other_indptr[b + ONE])
        for k in range(indptr[a], indptr[a + ONE]):
            scratch[indices[k]] = 0.0

"""Prints the support vectors of a kernel model."""

from svmtool.compiled import loop
from svmtool.compiled.loops.text.number_loops import put_number
from svmtool.compiled.loops.text.scale_loops import BLANK, DONE, FULL, NEWLINE, SPACE, UNSETTLED, put_index


@loop("i8(u1[], f8[], i8[], i4[], f8[], i8[], i8, i8)")
def support_text(out, coef, indptr, indices, values, state, columns, digits):
    """Print each support vector's coefficients as %.17g and its pairs as `%d:%.{digits}g`, each followed by a blank.

    coef is (columns, support vectors).  state: row, next coefficient or pair in it, position in out (0 for an empty
    out).  Returns DONE, FULL, or UNSETTLED at a number for slower code.
    """
    s, item, p = state[0], state[1], state[2]
    n = len(indptr) - 1
    answer = DONE
    while s < n:
        pairs = indptr[s + 1] - indptr[s]
        while item < columns + pairs:
            if p + SPACE > len(out):
                answer = FULL
                break
            if item < columns:
                q = put_number(out, p, coef[item * n + s], 17)
            else:
                k = indptr[s] + item - columns
                q = put_number(out, put_index(out, p, indices[k] + 1), values[k], digits)
            if q < 0:
                answer = UNSETTLED
                break
            out[q] = BLANK
            p = q + 1
            item += 1
        if answer == DONE and p + SPACE > len(out):
            answer = FULL
        if answer != DONE:
            break
        out[p] = NEWLINE
        p += 1
        s += 1
        item = 0
    state[0], state[1], state[2] = s, item, p
    return answer

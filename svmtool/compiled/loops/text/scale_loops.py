"""Loops of svm-scale: the range of each feature, and the scaled text.

The scaled value of an absent feature is the same in all rows, so that its text is made once, and a run of absent
features is one copy.
"""

from __future__ import annotations

from svmtool.compiled import _library, helper, loop
from svmtool.compiled.loops.text.number_loops import DONE, FEATURE_SPACE, FULL, UNDECIDED, put_index, put_number

if _library is None:
    from svmtool.compiled.loops.text.power_table import load8, store8
    from svmtool.compiled.loops.text.text_loops import BLANK, NEWLINE


@helper
def index_at(names, j):
    """The index in the file of place j; without names it is j."""
    return (names[j] if len(names) else j) + 1


@helper
def scaled_value(x, low, high, lower, upper):
    """x scaled from low..high to lower..upper, with the order of operations of LIBSVM's svm-scale."""
    if x == low:
        return lower
    if x == high:
        return upper
    return lower + (upper - lower) * (x - low) / (high - low)


@loop("void(i4[], f8[], f8[], f8[], i8[])")
def extend_ranges(indices, values, low, high, seen):
    """Extend low and high by the values of a block, and count the rows with each feature.

    Of equal extremes (0 and -0) the last is kept.
    """
    for k in range(len(indices)):
        j = indices[k]
        x = values[k]
        if not low[j] < x:
            low[j] = x
        if not high[j] > x:
            high[j] = x
        seen[j] += 1


@loop("i8(u1[], f8[], i8[], i4[], f8[], i4[], f8[], f8[], u1[], i8[], i8[], i8, f8, f8)")
def scaled_rows(out, labels, indptr, indices, values, names, low, high, absent, at, state, stop, lower, upper):
    """Print the rows state[0]..stop, whose indices are places of features.

    state: row; pair; progress in the text of the absent features in this row (-1: label not printed yet); position in
    out; number of printed features that are in the file; how many of these would also be printed if absent.
    Returns DONE, FULL, or UNDECIDED at a label or value.
    """
    row, pair, done, p, written, spared = state[0], state[1], state[2], state[3], state[4], state[5]
    end = len(out) - FEATURE_SPACE
    answer = DONE
    while row < stop:
        if done < 0:
            if p > end:
                answer = FULL
                break
            q = put_number(out, p, labels[row], 17)
            if q < 0:
                answer = UNDECIDED
                break
            out[q] = BLANK
            p = q + 1
            done = 0
        last = indptr[row + 1]
        while True:
            to = at[indices[pair]] if pair < last else at[len(low)]
            n = min(to - done, end - p)
            for i in range(0, n, 8):
                store8(out, p + i, load8(absent, done + i))
            if n > 0:
                p += n
                done += n
            if done < to or p > end:
                answer = FULL
                break
            if pair == last:
                break
            j = indices[pair]
            if low[j] != high[j]:
                x = scaled_value(values[pair], low[j], high[j], lower, upper)
                if x != 0.0:
                    q = put_number(out, put_index(out, p, index_at(names, j)), x, 6)
                    if q < 0:
                        answer = UNDECIDED
                        break
                    out[q] = BLANK
                    p = q + 1
                    written += 1
                if at[j + 1] > at[j]:
                    spared += 1
            done = at[j + 1]
            pair += 1
        if answer != DONE:
            break
        out[p] = NEWLINE
        p += 1
        row += 1
        done = -1
    state[0], state[1], state[2], state[3], state[4], state[5] = row, pair, done, p, written, spared
    return answer

"""Steps of PDHG for a hinge loss with an L1 norm; see objectives/l1/pdhg.py."""

import numpy as np

from svmtool.compiled import loop
from svmtool.compiled.loops.loss.l1_loops import threshold
from svmtool.compiled.loops.rows.row_loops import ONE, row_dot

# A round ends when a move is at most SUFFICIENT_MOVE times the first one, or below NECESSARY_MOVE times it and growing
SUFFICIENT_MOVE, NECESSARY_MOVE = 0.2, 0.8


@loop(
    "u8(u8[], u4[], f8|f4[], u8[], u4|u8[], f8|f4[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], f8[], "
    "f8[], f8[], f8[], f8[], f8[], f8[], u8, u8)"
)
def pdhg_steps(
    starts, row_numbers, column_values, indptr, indices, values, y, target, cost, fixed, centre, tau, sigma, w0, a0,
    w, a, near_w, near_a, next_w, signed, state, done, max_steps,
):  # fmt: skip
    """Steps `done` + 1 to `max_steps` of a round from w0, a0, or until it ends; returns the number of steps done.

    The matrix is given by columns and by rows; `centre` (f8[d]) is subtracted from each row.  tau, sigma: step sizes.
    w, a: current iterates; near_w, near_a: results of the last proximal steps; next_w: w extrapolated, signed: scratch.
    state: shift at the start of the round, of w, and of near_w; step size and penalty of the shift; sum of a_i y_i over
    the fixed rows, whose sums over columns are `fixed`; lengths of the first and last move; whether the round has
    ended.
    """
    d = np.uint64(len(w0))
    n = np.uint64(len(a0))
    shift = state[1]
    k = done
    state[8] = 0.0
    while k < max_steps and state[8] == 0.0:
        balance = state[5]
        for i in range(n):
            signed[i] = y[i] * a[i]
            balance += signed[i]
        keep = (k + 1.0) / (k + 2.0)
        moved = centred = 0.0
        for j in range(d):
            column_sum = row_dot(row_numbers, column_values, signed, starts[j], starts[j + ONE])
            slope = fixed[j] - centre[j] * balance + column_sum
            old = w[j]
            near = threshold(old + tau[j] * slope, tau[j])
            move = near - old
            near_w[j] = near
            next_w[j] = near + move
            centred += centre[j] * next_w[j]
            moved += move * move / tau[j]
            w[j] = keep * (old + 2.0 * move) + (1.0 - keep) * w0[j]
        step = state[3]
        near = threshold(shift + step * balance, step * state[4])
        move = near - shift
        state[2] = near
        if step > 0.0:
            moved += move * move / step
        next_shift = near + move - centred
        shift = keep * (shift + 2.0 * move) + (1.0 - keep) * state[0]
        for i in range(n):
            slack = target[i] - y[i] * (next_shift + row_dot(indices, values, next_w, indptr[i], indptr[i + ONE]))
            old = a[i]
            near = min(max(old + sigma[i] * slack, 0.0), cost[i])
            move = near - old
            near_a[i] = near
            moved += move * move / sigma[i]
            a[i] = keep * (old + 2.0 * move) + (1.0 - keep) * a0[i]
        length = np.sqrt(moved)
        if k == 0:
            state[6] = length
        elif length <= SUFFICIENT_MOVE * state[6] or (length <= NECESSARY_MOVE * state[6] and length > state[7]):
            state[8] = 1.0
        state[7] = length
        k += ONE
    state[1] = shift
    return k

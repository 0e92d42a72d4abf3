"""glibc's rand(), and the shuffles that LIBLINEAR and LIBSVM draw from it.

The generator is additive feedback, r_i = r_{i-3} + r_{i-31} mod 2^32, output r_i >> 1
(glibc manual, random_r TYPE_3).  State: 31 words in a ring, then the position of r_{i-31}.
"""

from svmtool.compiled import helper, loop


@helper
def rand_step(state):
    """The next number of rand(), 0 <= r < 2^31."""
    at = state[31]
    back = at + 28  # r_{i-3} in a ring of 31
    if back >= 31:
        back -= 31
    word = (state[at] + state[back]) & 0xFFFFFFFF
    state[at] = word
    at += 1
    state[31] = 0 if at == 31 else at
    return word >> 1


@loop("void(i8[], i8)")
def rand_seed(state, seed):
    """srand(seed): fill the ring with a Lehmer sequence, then discard 310 numbers."""
    seed &= 0xFFFFFFFF
    if seed == 0:
        seed = 1
    if seed > 0x7FFFFFFF:  # the C code holds it in a signed int
        seed -= 0x100000000
    word = seed
    state[0] = word & 0xFFFFFFFF
    for i in range(1, 31):
        word = 16807 * word % 2147483647  # not below 0, as C makes its remainder
        state[i] = word
    # r_31, r_32, r_33 repeat r_0, r_1, r_2: the ring starts three steps on
    state[31] = 3
    for _ in range(310):
        rand_step(state)


@loop("void(i8[], i8[], i8, i8)")
def rand_shuffle(state, order, start, stop):
    """Shuffle order[start:stop] as both tools do: exchange each entry with a random later one."""
    for i in range(start, stop):
        j = i + rand_step(state) % (stop - i)
        keep = order[i]
        order[i] = order[j]
        order[j] = keep

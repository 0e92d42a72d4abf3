"""Compile-time tables of number loops: powers of ten, and machine instructions that numba lacks.

Not imported if loops are compiled ahead of time: the table is then a constant in the machine code.

POWERS has, for q = FIRST_POWER .. LAST_POWER, the 128 leading bits of 5^q as two words (high, low), with the topmost
bit set: 5^q is about (high 2^64 + low) 2^s.  They are exact for 0 <= q <= 55, truncated for larger q and rounded up for
negative q, as the proof of Eisel and Lemire's method requires (D. Lemire, Number parsing at a gigabyte per second,
Software: Practice and Experience 51 (2021), doi 10.1002/spe.2984, section 5).

All words are int64, because numba converts mixed uint64 and int64 to floats.  The operations below are the unsigned
ones; leading_zeros and trailing_zeros are 64 for 0.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.cpython.unsafe.numbers import leading_zeros, trailing_zeros, viewer  # noqa: F401  imported from here
from numba.extending import intrinsic

from svmtool.compiled import helper

FIRST_POWER, LAST_POWER = -342, 344


def leading_bits(q: int) -> int:
    """The 128 leading bits of 5^q (q < 0: of its value rounded up)."""
    power = 5 ** abs(q)
    size = power.bit_length()
    return (power << 128) >> size if q >= 0 else ((1 << (size + 127)) // power) + 1


POWER_WORDS = [word for q in range(FIRST_POWER, LAST_POWER + 1) for word in divmod(leading_bits(q), 1 << 64)]
POWERS = np.array(POWER_WORDS, np.uint64).view(np.int64)
TENS = np.array([10.0**k for k in range(23)])  # exact in double precision
INT_TENS = np.array([10**k for k in range(19)], dtype=np.int64)


@intrinsic
def load8(typingctx, text, position):
    """Eight bytes from text[position] on as one little-endian word; which must lie inside the array."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(address, ir.IntType(64).as_pointer()), align=1)

    return types.int64(text, types.int64), generate


@intrinsic
def store8(typingctx, text, position, word):
    """Write one little-endian word to text[position : position + 8]."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(array.data, [arguments[1]])
        builder.store(arguments[2], builder.bitcast(address, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(text, types.int64, types.int64), generate


@intrinsic
def high_product(typingctx, a, b):
    """Upper word of the 128-bit product of two words taken as unsigned."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.int64(types.int64, types.int64), generate


@helper
def shift_right(word, n):
    """Logical shift by 0 <= n < 64."""
    return np.int64(np.uint64(word) >> np.uint64(n))


@helper
def below(a, b):
    """a < b, both taken as unsigned."""
    return np.uint64(a) < np.uint64(b)


@helper
def float_of_bits(word):
    """The double with these bits."""
    return viewer(word, types.float64)


@helper
def bits_of_float(x):
    """The bits of a double."""
    return viewer(x, types.int64)

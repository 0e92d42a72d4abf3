"""Compile-time tables of number loops: powers of ten, and machine instructions that numba lacks.

Not imported if loops are compiled ahead of time: the table is then a constant in the machine code.

POWERS has, for q = FIRST_POWER .. LAST_POWER, the 128 leading bits of 5^q as two words (high, low), with the topmost
bit set: 5^q is about (high 2^64 + low) 2^s.  They are exact for 0 <= q <= 55, truncated for larger q and rounded up for
negative q, as the proof of Eisel and Lemire's method requires (D. Lemire, Number parsing at a gigabyte per second,
Software: Practice and Experience 51 (2021), doi 10.1002/spe.2984, section 5).

All words are int64, because numba converts mixed uint64 and int64 to floats.  The operations below are the unsigned
ones.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

FIRST_POWER, LAST_POWER = -342, 344


def leading_bits(q: int) -> int:
    """The 128 leading bits of 5^q (q < 0: of its value rounded up)."""
    if q >= 0:
        power = 5**q
        excess = power.bit_length() - 128
        return power >> excess if excess >= 0 else power << -excess
    power = 5**-q
    return ((1 << (power.bit_length() + 127)) // power) + 1


def build_table() -> np.ndarray:
    """int64 array: high and low word of each power."""
    words = []
    for q in range(FIRST_POWER, LAST_POWER + 1):
        bits = leading_bits(q)
        assert bits.bit_length() == 128
        words += [bits >> 64, bits & (2**64 - 1)]
    return np.array(words, dtype=np.uint64).view(np.int64)


POWERS = build_table()
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


@intrinsic
def shift_right(typingctx, word, n):
    """Logical shift by 0 <= n < 64."""
    return types.int64(types.int64, types.int64), lambda c, builder, s, a: builder.lshr(a[0], a[1])


@intrinsic
def below(typingctx, a, b):
    """a < b, both taken as unsigned."""
    return types.boolean(types.int64, types.int64), lambda c, builder, s, a: builder.icmp_unsigned("<", a[0], a[1])


@intrinsic
def trailing_zeros(typingctx, word):
    """Number of zero bits below the lowest one bit; 64 for 0."""
    return types.int64(types.int64), lambda c, builder, s, a: builder.cttz(a[0], cgutils.false_bit)


@intrinsic
def leading_zeros(typingctx, word):
    """Number of zero bits above the highest one bit; 64 for 0."""
    return types.int64(types.int64), lambda c, builder, s, a: builder.ctlz(a[0], cgutils.false_bit)


@intrinsic
def float_of_bits(typingctx, word):
    """The double with these bits."""
    return types.float64(types.int64), lambda c, builder, s, a: builder.bitcast(a[0], ir.DoubleType())


@intrinsic
def bits_of_float(typingctx, x):
    """The bits of a double."""
    return types.int64(types.float64), lambda c, builder, s, a: builder.bitcast(a[0], ir.IntType(64))


@intrinsic
def single_of_bits(typingctx, word):
    """The single-precision number with these bits."""
    return types.float32(types.int32), lambda c, builder, s, a: builder.bitcast(a[0], ir.FloatType())

"""Sums over LANES rows side by side: machine operations that numba lacks, for loops to call.

They are written with a vector of accumulators, for LLVM leaves loops over so few numbers in memory: three times slower.
Where compiled loops are at hand only the constant is left.
"""

from __future__ import annotations

from svmtool.compiled import _library

LANES = 16  # rows at a time: four vectors of the processor, enough to hide the latency of their additions

if _library is None:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    WORD = ir.IntType(64)
    VECTOR = ir.VectorType(ir.DoubleType(), LANES)
    FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    ANY = ir.Constant(VECTOR, ir.Undefined)
    JOINED = {"flags": ("contract",)}  # a product and its addition may be one operation

    class Writer:
        """What both operations write: one call of them in LLVM's language."""

        def __init__(self, context, builder, signature, arguments):
            self.builder = builder
            self.arguments = [
                context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
                for kind, value in zip(signature.args, arguments, strict=True)
            ]

        def at(self, array, place):
            return self.builder.gep(array, [place])

        def lanes(self, array, place):
            """Address of the LANES numbers from array[place] on."""
            return self.builder.bitcast(self.at(array, place), VECTOR.as_pointer())

        def load(self, array, place):
            return self.builder.load(self.lanes(array, place), align=8)

        def store(self, vector, array, place):
            self.builder.store(vector, self.lanes(array, place), align=8)

        def spread(self, number):
            """A vector of LANES times the same number."""
            one = self.builder.insert_element(ANY, number, ir.Constant(WORD, 0))
            return self.builder.shuffle_vector(one, ANY, FIRST)

        def plus(self, total, number, vector):
            """total + number vector."""
            return self.builder.fadd(total, self.builder.fmul(self.spread(number), vector, **JOINED), **JOINED)

        def times_lanes(self, place):
            return self.builder.mul(place, ir.Constant(WORD, LANES))

        def sum(self, initial, start, stop, term):
            """initial plus term(total, k) for start <= k < stop, in this order."""
            total = cgutils.alloca_once_value(self.builder, initial)
            with cgutils.for_range_slice(self.builder, start, stop, ir.Constant(WORD, 1)) as (k, _):
                self.builder.store(term(self.builder.load(total), k), total)
            return self.builder.load(total)

    @intrinsic
    def lane_products(typingctx, places, values, start, stop, table, factor, shift, constant, out, at):
        """out[at + a] = shift[a] + constant + factor s_a, s_a = sum over start <= k < stop of v_k table[p_k LANES + a].

        For the LANES lanes a; v_k = values[k], p_k = places[k] (u4).
        """

        def generate(context, builder, signature, arguments):
            write = Writer(context, builder, signature, arguments)
            places, values, start, stop, table, factor, shift, constant, out, at = write.arguments

            def term(total, k):
                place = builder.zext(builder.load(write.at(places, k)), WORD)
                return write.plus(total, builder.load(write.at(values, k)), write.load(table, write.times_lanes(place)))

            product = write.sum(ir.Constant(VECTOR, [0.0] * LANES), start, stop, term)
            moved = builder.fadd(write.load(shift, ir.Constant(WORD, 0)), write.spread(constant))
            write.store(write.plus(moved, factor, product), out, at)
            return context.get_dummy_value()

        word, real = types.int64, types.float64
        return types.void(places, values, word, word, table, real, shift, real, out, word), generate

    @intrinsic
    def add_lanes(typingctx, factors, first, table, n, out, at):
        """out[at + a] += sum over k < n of factors[first + k] table[k LANES + a], for the LANES lanes a."""

        def generate(context, builder, signature, arguments):
            write = Writer(context, builder, signature, arguments)
            factors, first, table, n, out, at = write.arguments

            def term(total, k):
                factor = builder.load(write.at(factors, builder.add(first, k)))
                return write.plus(total, factor, write.load(table, write.times_lanes(k)))

            write.store(write.sum(write.load(out, at), ir.Constant(WORD, 0), n, term), out, at)
            return context.get_dummy_value()

        return types.void(factors, types.int64, table, types.int64, out, types.int64), generate

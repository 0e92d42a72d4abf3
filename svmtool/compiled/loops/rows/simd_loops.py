"""SIMD sums over LANES rows at a time, as LLVM intrinsics that numba lacks.

They keep accumulators in vector registers; LLVM would keep them in memory in such short loops, which is three times
slower.  With loops compiled ahead of time only the constants are used.
"""

from __future__ import annotations

from svmtool.compiled import _library

LANES = 16  # rows at a time: four vectors, enough to hide the latency of additions
SINGLE_LANES = 64  # in single precision: eight vectors

if _library is None:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    WORD = ir.IntType(64)
    JOINED = {"flags": ("contract",)}  # fused multiply-add is allowed

    class Writer:
        """LLVM code common to all operations, for one call."""

        def __init__(self, context, builder, signature, arguments, number=ir.DoubleType(), lanes=LANES):  # noqa: B008
            self.builder, self.count, self.align = builder, lanes, 8 if number == ir.DoubleType() else 4
            self.vector = ir.VectorType(number, lanes)
            self.zero = ir.Constant(self.vector, [0.0] * lanes)
            self.arguments = [
                context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
                for kind, value in zip(signature.args, arguments, strict=True)
            ]

        def at(self, array, place):
            return self.builder.gep(array, [place])

        def lanes(self, array, place):
            """Address of the lanes that start at array[place]."""
            return self.builder.bitcast(self.at(array, place), self.vector.as_pointer())

        def load(self, array, place):
            return self.builder.load(self.lanes(array, place), align=self.align)

        def store(self, vector, array, place):
            self.builder.store(vector, self.lanes(array, place), align=self.align)

        def broadcast(self, number):
            """A vector with this number in all lanes."""
            anything = ir.Constant(self.vector, ir.Undefined)
            one = self.builder.insert_element(anything, number, ir.Constant(WORD, 0))
            first = ir.Constant(ir.VectorType(ir.IntType(32), self.count), [0] * self.count)
            return self.builder.shuffle_vector(one, anything, first)

        def plus(self, total, number, vector):
            """total + number vector."""
            return self.builder.fadd(total, self.builder.fmul(self.broadcast(number), vector, **JOINED), **JOINED)

        def times_lanes(self, place):
            return self.builder.mul(place, ir.Constant(WORD, self.count))

        def products(self, places, values, start, stop, table):
            """Sum over start <= k < stop of values[k] table[places[k] lanes + a], places unsigned and of 32 bits."""

            def term(total, k):
                place = self.builder.zext(self.builder.load(self.at(places, k)), WORD)
                factor = self.builder.load(self.at(values, k))
                return self.plus(total, factor, self.load(table, self.times_lanes(place)))

            return self.sum(self.zero, start, stop, term)

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
            product = write.products(places, values, start, stop, table)
            moved = builder.fadd(write.load(shift, ir.Constant(WORD, 0)), write.broadcast(constant))
            write.store(write.plus(moved, factor, product), out, at)
            return context.get_dummy_value()

        word, real = types.int64, types.float64
        return types.void(places, values, word, word, table, real, shift, real, out, word), generate

    @intrinsic
    def lane_differences(typingctx, row, n, table, factor, shift, out, at):
        """out[at + a] = shift[a] + factor times the sum over p < n of (row[p] - table[p LANES + a])^2, by lane."""

        def generate(context, builder, signature, arguments):
            write = Writer(context, builder, signature, arguments)
            row, n, table, factor, shift, out, at = write.arguments

            def term(total, p):
                value = write.broadcast(builder.load(write.at(row, p)))
                difference = builder.fsub(value, write.load(table, write.times_lanes(p)))
                return builder.fadd(total, builder.fmul(difference, difference, **JOINED), **JOINED)

            total = write.sum(write.zero, ir.Constant(WORD, 0), n, term)
            write.store(write.plus(write.load(shift, ir.Constant(WORD, 0)), factor, total), out, at)
            return context.get_dummy_value()

        word, real = types.int64, types.float64
        return types.void(row, word, table, real, shift, out, word), generate

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

    @intrinsic
    def single_lane_products(typingctx, places, values, n, table, out):
        """out[a] = sum over k < n of values[k] table[places[k] SINGLE_LANES + a], all of them f4, by lane."""

        def generate(context, builder, signature, arguments):
            write = Writer(context, builder, signature, arguments, ir.FloatType(), SINGLE_LANES)
            places, values, n, table, out = write.arguments
            none = ir.Constant(WORD, 0)
            write.store(write.products(places, values, none, n, table), out, none)
            return context.get_dummy_value()

        return types.void(places, values, types.int64, table, out), generate

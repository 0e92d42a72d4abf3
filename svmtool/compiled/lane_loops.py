"""The product of one sparse row with LANES rows at a time: machine operations that numba lacks, for loops to call.

Where compiled loops are at hand only the constants are left.
"""

from __future__ import annotations

from svmtool.compiled import _library

LANES = 16  # rows at a time in double precision: four vectors of the processor, to hide the latency of their additions
SINGLE_LANES = 64  # rows at a time in single precision: eight vectors

if _library is None:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    WORD = ir.IntType(64)

    def lane_product(number, lanes):
        """The intrinsic for numbers of an LLVM type.

        products[a] = sum over start <= k < stop of values[k] table[places[k] lanes + a], for all lanes a.

        Written with a vector of accumulators, for LLVM leaves loops over so few numbers in memory: three times slower.
        """
        vector = ir.VectorType(number, lanes)
        first = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        any_vector = ir.Constant(vector, ir.Undefined)

        def generate(context, builder, signature, arguments):
            def data(n):
                return context.make_array(signature.args[n])(context, builder, arguments[n]).data

            def wide(pointer):
                return builder.bitcast(pointer, vector.as_pointer())

            total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * lanes))
            with cgutils.for_range_slice(builder, arguments[2], arguments[3], ir.Constant(WORD, 1)) as (k, _):
                value = builder.insert_element(any_vector, builder.load(builder.gep(data(1), [k])), WORD(0))
                place = builder.zext(builder.load(builder.gep(data(0), [k])), WORD)
                row = builder.gep(data(4), [builder.mul(place, ir.Constant(WORD, lanes))])
                factor = builder.shuffle_vector(value, any_vector, first)
                product = builder.fmul(factor, builder.load(wide(row), align=4), flags=("contract",))
                builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
            builder.store(builder.load(total), wide(data(5)), align=4)
            return context.get_dummy_value()

        def typing(typingctx, places, values, start, stop, table, products):
            return types.void(places, values, types.int64, types.int64, table, products), generate

        return intrinsic(typing)

    lane_products = lane_product(ir.DoubleType(), LANES)
    single_lane_products = lane_product(ir.FloatType(), SINGLE_LANES)

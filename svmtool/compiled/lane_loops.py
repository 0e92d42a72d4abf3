"""The product of one sparse row with LANES rows at a time: a machine operation that numba lacks, for loops to call.

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

    @intrinsic
    def lane_products(typingctx, places, values, start, stop, table, products):
        """products[a] = sum over start <= k < stop of values[k] table[places[k] LANES + a], for the LANES lanes a.

        Written with a vector of accumulators, for LLVM leaves loops over so few numbers in memory: three times slower.
        """

        def generate(context, builder, signature, arguments):
            def data(n):
                return context.make_array(signature.args[n])(context, builder, arguments[n]).data

            def lanes(pointer):
                return builder.bitcast(pointer, VECTOR.as_pointer())

            total = cgutils.alloca_once_value(builder, ir.Constant(VECTOR, [0.0] * LANES))
            with cgutils.for_range_slice(builder, arguments[2], arguments[3], ir.Constant(WORD, 1)) as (k, _):
                value = builder.insert_element(ANY, builder.load(builder.gep(data(1), [k])), ir.Constant(WORD, 0))
                place = builder.zext(builder.load(builder.gep(data(0), [k])), WORD)
                row = builder.gep(data(4), [builder.mul(place, ir.Constant(WORD, LANES))])
                factor = builder.shuffle_vector(value, ANY, FIRST)
                product = builder.fmul(factor, builder.load(lanes(row), align=8), flags=("contract",))
                builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
            builder.store(builder.load(total), lanes(data(5)), align=8)
            return context.get_dummy_value()

        return types.void(places, values, types.int64, types.int64, table, products), generate

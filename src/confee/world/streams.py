"""numpy's generator PCG64 for many streams at once, to the bit: one column a stream, [5, L] uint64.

Rows: the state (high and low half), the increment (the same), and the half of a draw that is left
over from a 32-bit one, if any: numpy keeps it for the next. PCG64 is O'Neill's PCG XSL-RR 128/64
(2014): state = state * M + increment; the draw is (high ^ low) rotated by the state's top 6 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from confee.core.jit import inlined, leaf

HIGH, LOW, STEP_HIGH, STEP_LOW, LEFT = range(5)
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
NOTHING = np.uint64(1 << 32)
"""In the row LEFT, where halves are below this."""


def new_streams(generators: Sequence[np.random.Generator]) -> np.ndarray:
    """The streams that `generators` would go on with; these stay where they are."""
    streams = np.zeros((5, len(generators)), dtype=np.uint64)
    for i, one in enumerate(generators):
        said = one.bit_generator.state
        for row, value in ((HIGH, said["state"]["state"]), (STEP_HIGH, said["state"]["inc"])):
            streams[row, i], streams[row + 1, i] = value >> 64, value & (2**64 - 1)
        streams[LEFT, i] = said["uinteger"] if said["has_uint32"] else NOTHING
    return streams


def _stepped(_, high, low, step_high, step_low):
    """(high, low) of the next state: there is no 128-bit integer in numba, but in LLVM there is."""
    word = types.uint64

    def generate(context, builder, signature, arguments):
        wide, half = ir.IntType(128), ir.IntType(64)
        parts = [builder.zext(one, wide) for one in arguments]
        places = ir.Constant(wide, 64)
        state, step = (builder.or_(builder.shl(parts[i], places), parts[i + 1]) for i in (0, 2))
        state = builder.add(builder.mul(state, ir.Constant(wide, MULTIPLIER)), step)
        halves = builder.trunc(builder.lshr(state, places), half), builder.trunc(state, half)
        return context.make_tuple(builder, signature.return_type, halves)

    return types.UniTuple(word, 2)(word, word, word, word), generate


stepped: Any = intrinsic(_stepped)


@inlined
def next_word(streams, i):
    """64 random bits of stream i."""
    high, low = stepped(
        streams[HIGH, i], streams[LOW, i], streams[STEP_HIGH, i], streams[STEP_LOW, i]
    )
    streams[HIGH, i], streams[LOW, i] = high, low
    bits, by = high ^ low, high >> np.uint64(58)
    return (bits >> by) | (bits << ((np.uint64(64) - by) & np.uint64(63)))


@inlined
def uniform(streams, i):
    """What `random()` of stream i is, in [0, 1)."""
    return float(next_word(streams, i) >> np.uint64(11)) * 2.0**-53


@leaf
def next_half(streams, i):
    """32 random bits of stream i: the lower half of a word, then its upper half."""
    left = streams[LEFT, i]
    if left != NOTHING:
        streams[LEFT, i] = NOTHING
        return left
    word = next_word(streams, i)
    streams[LEFT, i] = word >> np.uint64(32)
    return word & np.uint64(0xFFFFFFFF)


@leaf
def integer(streams, i, low, high):
    """What `integers(low, high)` of stream i is, high - low in 1..2^32 - 1 (Lemire 2019)."""
    count = np.uint64(high - low)
    if count == np.uint64(1):
        return low
    product = next_half(streams, i) * count
    rest = product & np.uint64(0xFFFFFFFF)
    if rest < count:
        least = (np.uint64(1 << 32) - count) % count
        while rest < least:
            product = next_half(streams, i) * count
            rest = product & np.uint64(0xFFFFFFFF)
    return low + np.int64(product >> np.uint64(32))

"""numpy's generator PCG64 for many streams at once, equal to the bit.

Streams are the columns of an array [5, L] of uint64. Its rows are the high and low half of the
state, those of the increment, and the unused half of a 64-bit draw, which numpy keeps for the next
32-bit one. PCG64 is PCG XSL-RR 128/64 (O'Neill 2014): the next state is state * M + increment, and
a draw is (high ^ low) rotated by the top 6 bits of the state.
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
NONE_LEFT = np.uint64(1 << 32)
"""In the row LEFT: no half is left over. Halves are below it."""


def new_streams(generators: Sequence[np.random.Generator]) -> np.ndarray:
    """Return streams that continue `generators`, whose own states do not move."""
    streams = np.zeros((5, len(generators)), dtype=np.uint64)
    for i, generator in enumerate(generators):
        state = generator.bit_generator.state
        for row, value in ((HIGH, state["state"]["state"]), (STEP_HIGH, state["state"]["inc"])):
            streams[row, i], streams[row + 1, i] = value >> 64, value & (2**64 - 1)
        streams[LEFT, i] = state["uinteger"] if state["has_uint32"] else NONE_LEFT
    return streams


def _stepped(_, high, low, step_high, step_low):
    """Return (high, low) of the next state. numba has no 128-bit integer, but LLVM has."""
    word = types.uint64

    def generate(context, builder, signature, arguments):
        wide, half = ir.IntType(128), ir.IntType(64)
        parts = [builder.zext(half_word, wide) for half_word in arguments]
        bits = ir.Constant(wide, 64)
        state, step = (builder.or_(builder.shl(parts[i], bits), parts[i + 1]) for i in (0, 2))
        state = builder.add(builder.mul(state, ir.Constant(wide, MULTIPLIER)), step)
        halves = builder.trunc(builder.lshr(state, bits), half), builder.trunc(state, half)
        return context.make_tuple(builder, signature.return_type, halves)

    return types.UniTuple(word, 2)(word, word, word, word), generate


stepped: Any = intrinsic(_stepped)


@inlined
def next_word(streams, i):
    """Return 64 random bits of stream i."""
    high, low = stepped(
        streams[HIGH, i], streams[LOW, i], streams[STEP_HIGH, i], streams[STEP_LOW, i]
    )
    streams[HIGH, i], streams[LOW, i] = high, low
    bits, by = high ^ low, high >> np.uint64(58)
    return (bits >> by) | (bits << ((np.uint64(64) - by) & np.uint64(63)))


@inlined
def uniform(streams, i):
    """Return what `random()` of stream i would, in [0, 1)."""
    return float(next_word(streams, i) >> np.uint64(11)) * 2.0**-53


@leaf
def next_half(streams, i):
    """Return 32 random bits of stream i: the lower half of a word, then its upper half."""
    left = streams[LEFT, i]
    if left != NONE_LEFT:
        streams[LEFT, i] = NONE_LEFT
        return left
    word = next_word(streams, i)
    streams[LEFT, i] = word >> np.uint64(32)
    return word & np.uint64(0xFFFFFFFF)


@leaf
def integer(streams, i, low, high):
    """Return what `integers(low, high)` of stream i would (Lemire 2019).

    high - low must be in 1..2^32 - 1.
    """
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

"""What policies that test at many scales share: dyadic windows of queries, and random scales.

Windows. Sums since the start of an episode are marked at ages (queries in the episode) that are
multiples of 2^j, for each level j, and each level keeps its last 8 marks. So at an age that is a
multiple of 2^j the sums over the last 8 * 2^j queries are known, and while the episode is no longer
than that, the sums over all of it. An interval of queries ending now is therefore tested late by at
most an eighth of its length, about two levels are due a query, and memory is O(log B) marks.

Scales. Where looks of scale 2^-i, i = 1, 2, .., begin independently with chance c 2^-i each, only
the finest of those that begin in a round matters, and the chance that any begins is at most c.
"""

from __future__ import annotations

import math

import numpy as np

from confee.core.jit import leaf, njit

MARKS = 8
"""Marks that a level keeps."""


@njit
def new_marks(B, count):
    """Marks of `count` sums for episodes of up to B queries, [levels, MARKS, count].

    The windows of the last level hold all of an episode.
    """
    levels = 1
    while MARKS << (levels - 1) < B:
        levels += 1
    return np.zeros((levels, MARKS, count))


@leaf
def due(level, age):
    """Whether windows of this level end at this age."""
    return age & ((1 << level) - 1) == 0


@leaf
def since(level, age):
    """The age at which the level's window begins: 0 while the episode is no longer than it."""
    return max(0, age - (MARKS << level))


@leaf
def slot(level, age):
    """Where the level keeps the mark of this age, and until it is overwritten that of `since`."""
    return (age >> level) & (MARKS - 1)


@leaf
def mark(marks, level, age, sums):
    """The level keeps the sums at this age, in place of those 8 marks ago."""
    place = slot(level, age)
    for k in range(sums.shape[0]):
        marks[level, place, k] = sums[k]


@leaf
def finest(value, chance, scales):
    """The finest scale i in 1..scales that begins, 0 if none does.

    Scale i begins with probability chance / 2^i, independently of the others; `value` is uniform in
    [0, 1), or, where something has already happened with a bound on the sum of these, below it.
    """
    reached, none_finer = 0.0, 1.0
    for i in range(scales, 0, -1):
        begins = chance * math.ldexp(1.0, -i)
        reached += none_finer * begins
        if value < reached:
            return i
        none_finer *= 1.0 - begins
    return 0

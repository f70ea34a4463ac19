"""The look and name of each policy and adversary, the same in every figure and table.

Policies and adversaries declare them (`Policy.look`, `Policy.name`, `Adversary.name`); a label
without a declared look gets one by its hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from confee.evidence import tuned
from confee.policies import POLICIES
from confee.policies.base import Policy
from confee.policies.look import DOT, DOTS, LONG, Look
from confee.world.adversaries import ADVERSARIES

LAST = 100
"""The place in lists of a policy or adversary that declares none."""

PLAIN_OPTIONS = re.compile("(plan|idle|detector_data)=")
"""Options whose values say what they are: UCB1 (front), not UCB1 (plan=front)."""

OTHERS = [
    Look(color, marker, linestyle)
    for linestyle in (DOTS, LONG, DOT)
    for marker in (">", "8", "H", "$\\times$", "$+$")
    for color in ("#117733", "#AA4499", "#661100", "#4477AA", "#BBAA00", "#44AA99", "#AA3377")
]
"""For labels without a look of their own: chosen by their hash."""

PALETTE = ["#D55E00", "#009E73", "#0072B2", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933"]
"""For things that are not policies (orders, adversaries): Okabe and Ito's, no yellow."""

MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]


EXPLAINED = {"hard": "lower bound's instance", "hard(adaptive)": "lower bound's, adaptive"}
"""Kinds whose names say little by themselves."""


def display(label: str) -> str:
    """Return the name a reader sees: `ucb1(plan=front)` is UCB1 (front)."""
    id, bracket, options = PLAIN_OPTIONS.sub("", label).partition("(")
    policy = _policy(id)
    name = tuned.NAME if id == tuned.TUNED else (policy and policy.name) or id.replace("_", " ")
    return plain(f"{name} ({options}" if bracket else name)


def plain(text: str) -> str:
    """Return text in which mathtext finds no formula."""
    return text.replace("$", r"\$")


def stroke(look: Look) -> dict[str, Any]:
    """Return the colour, style and width of a policy's line, as matplotlib takes them."""
    return {"color": look.color, "linestyle": look.linestyle, "linewidth": look.linewidth}


def look(label: str) -> Look:
    """Return the look of a label."""
    return looks([label])[label]


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Return the look of each label: as declared, else by hash, all different."""
    chosen: dict[str, Look] = {}
    for label in sorted(set(labels)):
        if own := _declared(label):
            chosen[label] = own
            continue
        first = int.from_bytes(hashlib.sha256(label.encode()).digest()[:4]) % len(OTHERS)
        probes = (OTHERS[(first + step) % len(OTHERS)] for step in range(len(OTHERS)))
        taken = {(look.color, look.marker) for look in chosen.values()}
        free = (look for look in probes if (look.color, look.marker) not in taken)
        chosen[label] = next(free, OTHERS[first])
    return chosen


def ordered(labels: Iterable[str]) -> list[str]:
    """Return labels by the place that their policies declare (the paper's first), then by name."""

    def place(label: str) -> tuple[int, str]:
        own = _declared(label)
        return (own.place if own else LAST, label)

    return sorted(set(labels), key=place)


def _policy(id: str) -> Policy | None:
    """Return the policy of an id; None if unknown, as in a table from elsewhere."""
    return POLICIES.get(id)


def _declared(label: str) -> Look | None:
    """Return the look that a policy declares for this label."""
    id, bracket, _ = label.partition("(")
    policy = _policy(id)
    if policy is None:
        return None
    return policy.variants.get(label) if bracket else policy.look


def kind_name(kind: str) -> str:
    """Return the name of a kind of adversary: `packed(hyque)` is packed for HyQue."""
    id, bracket, option = kind.partition("(")
    if id not in ADVERSARIES:
        return plain(kind.replace("_", " "))
    spec = ADVERSARIES[id]
    name = spec.name or id.replace("_", " ")
    return plain(spec.variants.get(kind, name + bracket + option))


def explained(kind: str) -> str:
    """Return what a figure calls a kind of adversary, without the name of its module."""
    return EXPLAINED.get(kind) or kind_name(kind)


def kinds_ordered(kinds: Iterable[str]) -> list[str]:
    """Return kinds of adversaries by the place that they declare, then by name."""

    def place(kind: str) -> tuple[int, str]:
        id = kind.partition("(")[0]
        return (ADVERSARIES[id].place if id in ADVERSARIES else LAST, kind)

    return sorted(set(kinds), key=place)

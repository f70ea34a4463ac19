"""What each policy is drawn with and called, everywhere.

Colours are Okabe and Ito's and, past those, Tol's: safe for colour-blind readers; markers and line
styles differ as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple


class Look(NamedTuple):
    """How a label is drawn: the same in every picture."""

    color: str
    marker: Any
    linestyle: Any
    linewidth: float = 1.1


SOLID = "-"
LONG: Any = (0, (9, 1.5))
DOT: Any = (0, (7, 1.2, 1.2, 1.2))
DOTS: Any = (0, (7, 1.2, 1.2, 1.2, 1.2, 1.2))

LOOKS = {
    "hyque": Look("#0072B2", "o", SOLID, 1.8),
    "hyque_calibrated": Look("#332288", "s", DOT, 1.4),
    "baque": Look("#56B4E9", "v", SOLID),
    "odque": Look("#CC79A7", "^", SOLID),
    "rexp3b": Look("#D55E00", "D", SOLID, 1.8),
    "rexp3b(pool=set)": Look("#E69F00", "d", DOT),
    "ucb1": Look("#882255", "P", LONG),
    "sw_ucb": Look("#00A878", "X", SOLID),
    "rexp3": Look("#1C1AD0", ">", DOTS),
    "exp3": Look("#C65D3E", "H", LONG),
    "exp3_s": Look("#241B4D", (6, 1, 0), DOT),
    "d_ucb": Look("#43D883", (3, 1, 0), DOT),
    "bob_sw_ucb": Look("#295981", "$B$", DOTS),
    "cbm_ucb": Look("#25D8D0", "8", LONG),
    "master": Look("#A50C2A", (4, 1, 0), SOLID),
    "glr_ucb": Look("#3268D5", "$G$", DOT),
    "cusum_ucb": Look("#C423A5", "$C$", DOTS),
    "m_ucb": Look("#AB350C", "$M$", LONG),
    "random_restart": Look("#24D7A9", "$R$", DOTS),
    "ucb1_leader": Look("#BF31FE", "$u$", DOT),
    "sw_ucb_leader": Look("#35A756", "$L$", DOT),
    "random_restart_unaware": Look("#47B3C6", "$U$", DOTS),
    "greedy_spend": Look("#CDBB55", "<", LONG),
    "ucb1_restarted": Look("#7684E7", (5, 1, 0), LONG),
    "sw_ucb_overtold": Look("#8A13AC", "$O$", DOT),
    "uniform": Look("#777777", "h", SOLID),
    "oracle": Look("#000000", "*", DOTS),
    "informed": Look("#4A2A0A", "p", DOTS),
    "informed_even": Look("#BF9334", "$E$", DOTS),
}

OTHERS = [
    Look(color, marker, linestyle)
    for linestyle in (DOTS, LONG, DOT)
    for marker in (">", "8", "H", "$\\times$", "$+$")
    for color in ("#117733", "#AA4499", "#661100", "#4477AA", "#BBAA00", "#44AA99", "#AA3377")
]
"""For labels that have no entry above: chosen by their hash."""

NAMES = {
    "hyque": "HyQue",
    "hyque_calibrated": "HyQue, calibrated",
    "hyque_tuned": "HyQue, tuned",
    "baque": "BaQue",
    "odque": "OdQue",
    "rexp3b": "Rexp3B",
    "rexp3": "Rexp3",
    "ucb1": "UCB1",
    "sw_ucb": "SW-UCB",
    "ucb1_restarted": "UCB1, restarted",
    "ucb1_leader": "UCB1, leader",
    "sw_ucb_leader": "SW-UCB, leader",
    "d_ucb": "D-UCB",
    "exp3": "Exp3",
    "exp3_s": "Exp3.S",
    "glr_ucb": "GLR-UCB",
    "cusum_ucb": "CUSUM-UCB",
    "m_ucb": "M-UCB",
    "cbm_ucb": "CBM-UCB",
    "master": "MASTER",
    "random_restart": "random restart",
    "random_restart_unaware": "random restart, unaware",
    "bob_sw_ucb": "BOB-SW-UCB",
    "hyque_blind": "HyQue, blind",
    "hyque_discarding": "HyQue, discarding",
    "sw_ucb_copied": "SW-UCB, copied",
    "sw_ucb_misled": "SW-UCB, misled",
    "sw_ucb_overtold": "SW-UCB, overtold",
    "greedy_spend": "greedy spend",
    "oful": "OFUL",
    "oful_restarted": "OFUL, restarted",
    "hyque_oful": "HyQue over OFUL",
    "sw_linucb": "SW-LinUCB",
    "d_linucb": "D-LinUCB",
    "glm_ucb": "GLM-UCB",
    "glm_ucb_restarted": "GLM-UCB, restarted",
    "hyque_glm_ucb": "HyQue over GLM-UCB",
    "falcon": "FALCON",
    "falcon_restarted": "FALCON, restarted",
    "hyque_falcon": "HyQue over FALCON",
    "q_ucb": "Q-UCB",
    "q_ucb_restarted": "Q-UCB, restarted",
    "hyque_q_ucb": "HyQue over Q-UCB",
    "uniform_contextual": "uniform, contextual",
    "uniform_episodic": "uniform, episodic",
}

PALETTE = ["#D55E00", "#009E73", "#0072B2", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933"]
"""For things that are not policies (orders, adversaries): Okabe and Ito's, no yellow."""

MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]

KINDS = {
    "switching": "equal changes",
    "switching_centred": "centred",
    "switching_random": "at random times",
    "packed(hyque)": "packed for HyQue",
    "packed(rexp3b)": "packed for Rexp3B",
    "single_jump": "single jump",
    "fall": "best arm falls",
    "rise": "worst arm rises",
    "blink": "blinks",
    "drift": "drift",
    "sinusoid": "sinusoid",
    "random_walk": "random walk",
    "trace": "trace",
    "hard": "hard",
    "hard(adaptive)": "hard, adaptive",
    "stationary": "stationary",
}
"""Kinds of adversaries, in the order in which they are shown."""


def display(label: str) -> str:
    """The name a reader sees: `rexp3b(pool=set)` is Rexp3B (pool=set), `ucb1(plan=front)` UCB1
    (front)."""
    policy, bracket, options = label.replace("plan=", "").partition("(")
    name = NAMES.get(policy, policy.replace("_", " "))
    return plain(f"{name} ({options}" if bracket else name)


def plain(text: str) -> str:
    """Text that mathtext leaves alone."""
    return text.replace("$", r"\$")


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Label -> look. Known labels are fixed; others go by their hash, unlike each other."""
    found: dict[str, Look] = {}
    for label in sorted(set(labels)):
        if label in LOOKS:
            found[label] = LOOKS[label]
            continue
        first = int.from_bytes(hashlib.sha256(label.encode()).digest()[:4]) % len(OTHERS)
        probes = (OTHERS[(first + step) % len(OTHERS)] for step in range(len(OTHERS)))
        taken = {(look.color, look.marker) for look in found.values()}
        free = (look for look in probes if (look.color, look.marker) not in taken)
        found[label] = next(free, OTHERS[first])
    return found


def ordered(labels: Iterable[str]) -> list[str]:
    """Labels in the order of the palette (the paper's policies first), then the others by name."""
    known = list(LOOKS)
    return sorted(
        set(labels), key=lambda name: (known.index(name) if name in known else len(known), name)
    )


def kind_name(kind: str) -> str:
    """The name of a kind of adversary: `packed(hyque)` is packed for HyQue."""
    return KINDS.get(kind, plain(kind.replace("_", " ")))

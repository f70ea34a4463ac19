"""Runs that claims ask for, played here."""

from __future__ import annotations

import pandas as pd

from confee.simulation.cells import cell, family
from confee.simulation.play import play_all

EMPTY = pd.DataFrame(
    columns=[
        "policy",
        "label",
        "K",
        "T",
        "B",
        "V",
        "adversary",
        "seed",
        "axis",
        "part",
        "variable",
        "regret",
    ]
)


def played(asks):
    """The runs of some asks, as in asked.parquet; a cell that is asked for twice is played once."""
    rows, known = [], {}
    for ask in asks:
        key = (str(ask.policy), ask.size, str(ask.against), ask.seeds)
        if key not in known:
            one = cell(ask.policy, ask.size)
            known[key] = play_all(one, family(ask.against, ask.size), range(ask.seeds))
        rows += [{**row, "ask": ask.tag} for row in known[key]]
    return pd.DataFrame(rows)

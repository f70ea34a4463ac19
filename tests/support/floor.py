"""Made-up rows of the study of ages, and the claim on HyQue's floor judged on them."""

from __future__ import annotations

import json

import pandas as pd

from confee.claims import hyque_floor
from confee.core.canonical import canonical
from confee.evidence import Evidence

EMPTY = pd.DataFrame()


def stale_rows(power, error=0.002, window=-1 / 3, outdated=0.0):
    """Stale shares of the study of ages that fall as B^power, beside the two controls' shares."""
    rows = []
    for path, V in hyque_floor.PATHS.items():
        for order in hyque_floor.ORDERS:
            T, B = hyque_floor.horizon(order)
            ratio = B / hyque_floor.horizon(hyque_floor.ORDERS[0])[1]
            stale = 0.01 * V**0.5 * ratio**power
            rows.append(
                {
                    "kind": "stale",
                    "policy": "hyque",
                    "T": T,
                    "B": B,
                    "drawn": 100,
                    "changes": json.dumps(canonical(list(path))),
                    "stale": stale,
                    "stale_se": error * stale,
                    "outdated": 0.2 * ratio**outdated,
                    "windowed": 0.02 * ratio**window,
                }
            )
    return pd.DataFrame(rows)


def judged(rows, toy=False):
    (found,) = hyque_floor.judge(
        Evidence(EMPTY, EMPTY, EMPTY, EMPTY, toy=toy, studies={"ages": rows})
    )
    return found

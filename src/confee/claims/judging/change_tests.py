"""What the claims on HyQue's change tests share: cells, scales, and where a restart is possible.

A run records the number of its restarts and not their times; `restarts` > 0 says that a test fired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from confee.claims.judging.shares import LEVEL, limits
from confee.core.size import Size
from confee.paper import proofs
from confee.simulation.needs import Ask

if TYPE_CHECKING:
    import pandas as pd

    from confee.simulation.needs import Conf

JUDGED = "hyque"
"""The label a verdict is about: scale 1. Other labels are judged as steps."""

CALIBRATED = "hyque_calibrated"

CELLS = ((2, 10**5, 10**4), (5, 10**5, 10**4), (2, 10**6, 63_096))
"""(K, T, B): B = T^0.8."""

TOY_CELLS = ((2, 2000, 440),)

VARIATION = 1.0

CHEAP = 10**4
"""Budgets up to which all scales are played, and the calibrated policy (300 runs a cell more)."""

SCALES = (1e-3, 5e-4, 2.5e-4, 1.2e-4)
"""Scales between which restarts set in at these horizons."""

COSTLY_SCALES = (2.5e-4,)
"""Those that larger budgets are played at too."""

WHERE = ["K", "T", "B"]


def asks(
    tag: str, toy: bool, scales: tuple[float, ...], against: Mapping[str, Conf], runs: int
) -> Iterator[Ask]:
    """HyQue at scale 1, at `scales` and calibrated: `runs` of each opponent in each cell."""
    for K, T, B in TOY_CELLS if toy else CELLS:
        confs: list[dict[str, Any]] = [{"name": "hyque"}]
        affordable = scales if B <= CHEAP else [s for s in scales if s in COSTLY_SCALES]
        confs += [{"name": "hyque", "scale": scale} for scale in affordable]
        if B <= CHEAP:
            confs.append({"name": CALIBRATED})
        for conf in confs:
            yield Ask(tag, conf, Size(K, T, B, VARIATION), against, runs)


def labels(runs: pd.DataFrame) -> list[str]:
    """Return the labels of `runs`: judged, calibrated, then the rest by falling scale."""
    scale = runs.groupby("label")["policy.scale"].max()
    rest = sorted(set(scale.index) - {JUDGED, CALIBRATED}, key=lambda name: -scale[name])
    return [name for name in (JUDGED, CALIBRATED) if name in scale.index] + rest


def possible(runs: pd.DataFrame) -> pd.Series:
    """Whether a test could fire in each run: 3 scale rho^(B) < 1, as if one block had all queries.

    Test (ii) needs that, test (i) needs three times as much; both are far from sufficient.
    """
    bounds = {
        (K, T, B): proofs.change_threshold(proofs.MEAN_TEST, T, B, K)
        for K, T, B in set(runs[WHERE].itertuples(index=False, name=None))
    }
    at = [bounds[key] for key in runs[WHERE].itertuples(index=False, name=None)]
    return runs["policy.scale"] * at < 1


def first_horizon(K: int, beta: float, factor: int = proofs.MEAN_TEST) -> int:
    """The first T at which a test can fire at scale 1 with B = T^beta (see proofs.first_horizons).

    By default of test (ii), as if one block had all queries; with `factor` SPAN_TEST, of test (i).
    """
    horizons = proofs.first_horizons(K, round(beta, 2))
    return horizons["span" if factor == proofs.SPAN_TEST else "mean, whole budget"]


def restarting(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Runs, those that restart, and exact limits of their share, in each group.

    Columns: `by`, runs, restarting, share; low, high (for all groups at once), low_alone.
    """
    table = runs.assign(any=runs["restarts"] > 0).groupby(by)["any"].agg(["size", "sum"])
    counts = [(int(k), int(n)) for n, k in table.itertuples(index=False)]
    joint = [limits(k, n, LEVEL / len(counts)) for k, n in counts]
    return table.index.to_frame(index=False).assign(
        runs=[n for _, n in counts],
        restarting=[k for k, _ in counts],
        share=[k / n for k, n in counts],
        low=[low for low, _ in joint],
        high=[high for _, high in joint],
        low_alone=[limits(k, n)[0] for k, n in counts],
    )


def pooled(runs: pd.DataFrame) -> dict[str, Any]:
    """The same of all runs together."""
    table = restarting(runs.assign(all=0), ["all"])
    return table.drop(columns=["all", "low_alone"]).to_dict("records")[0]


def name(runs: pd.DataFrame) -> str:
    """`calibrated scale 0.00133 to 0.00141`: what a label's runs were played with."""
    low, high = runs["policy.scale"].min(), runs["policy.scale"].max()
    calibrated = "calibrated " if (runs["policy"] == CALIBRATED).all() else ""
    return f"{calibrated}scale {low:.3g}" + (f" to {high:.3g}" if high > low * 1.001 else "")

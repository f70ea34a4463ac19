"""Sweeps of a claim's own: cells that it asks for along an axis, and the exponents along them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confee.claims.judging.verdict import FAILS, HOLDS, UNDECIDED, Check, Joint, combine
from confee.evidence.slopes import slopes
from confee.evidence.worst import CELL, SETTING, worst_cases
from confee.simulation.needs import Ask, Conf, octave

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence


@dataclass(frozen=True)
class Line:
    """Points of an axis around K, T, B, V, each at `phases` horizons spread over an octave of B.

    The axis `T=B` is the horizon with feedback in every round. An axis is one of slopes.AXES.
    `beta`: all along B = T^beta, whatever T says.
    """

    axis: str
    points: tuple[float, ...]
    K: int = 4
    T: float = 0
    B: float = 0
    V: float = 4
    phases: int = 4
    beta: float | None = None

    def places(self) -> Iterator[tuple[float, int, dict[str, Any]]]:
        """(point, phase, sizes) of each cell."""
        for point in self.points:
            values = {"K": self.K, "T": self.T, "B": self.B, "V": self.V}
            values |= {name: point for name in self.axis.split("=")}
            for phase in range(self.phases):
                factor = octave(phase, self.phases)
                T, B = (round(values[name] * factor) for name in "TB")
                if self.beta is not None:
                    T = round(B ** (1 / self.beta))
                yield point, phase, {"K": int(values["K"]), "T": T, "B": B, "V": float(values["V"])}

    def asks(
        self,
        tag: str,
        policies: Mapping[str, int],
        against: Callable[..., Mapping[str, Conf]],
        largest_K: float = float("inf"),
    ) -> Iterator[Ask]:
        """Cells of `policies` (id -> seeds) on the line, against `against(**sizes)`."""
        for _, _, sizes in self.places():
            for name, seeds in policies.items():
                if sizes["K"] <= largest_K:
                    yield Ask(tag, {"name": name}, **sizes, against=against(**sizes), seeds=seeds)


def exponents(runs: pd.DataFrame, lines: Sequence[Line]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(worst, slopes) of the runs that were asked for on `lines`; where lines cross, a run may be
    there twice and counts once.

    All seeds met all adversaries; they are cut in two halves, of which each measures the adversary
    that was worst in the other one (see worst_cases).
    """
    import pandas as pd

    own = [c for c in runs if c == "adversary" or c.startswith("adversary.")]
    worst = worst_cases(runs.drop_duplicates([*CELL, *own, "seed"]), choose=0)
    played: dict[tuple, set[tuple]] = {(row.label, row.policy): set() for row in worst.itertuples()}
    for row in worst.itertuples():
        played[row.label, row.policy].add((row.K, row.T, row.B, row.V))
    points = []
    for (label, policy), cells in played.items():
        for line in lines:
            for point, phase, sizes in line.places():
                if tuple(sizes[name] for name in SETTING) in cells:
                    points.append({"label": label, "policy": policy, "axis": line.axis,
                                   "point": float(point), "phase": phase, **sizes})  # fmt: skip
    columns = ["label", "policy", "axis", "point", "phase", *SETTING]
    return worst, slopes(worst, pd.DataFrame(points, columns=columns))


def asked_slopes(evidence: Evidence, tag: str, lines: Sequence[Line]) -> pd.DataFrame:
    """Exponents of all that was asked for with `tag`; empty if nothing was."""
    runs = evidence.asked_for(tag)
    if runs.empty:
        import pandas as pd

        return pd.DataFrame(columns=["policy", "axis", "part"])
    return exponents(runs, lines)[1]


def all_of(rows: Mapping[str, Sequence[Check]], level: float) -> tuple[str, str, Joint]:
    """(verdict, row that decided, its joint verdict) of several rows of checks.

    `holds` if every row does; `fails` if one does at a level divided by the number of rows.
    """
    joints = {name: combine(checks) for name, checks in rows.items()}
    failing = [name for name, j in joints.items()
               if j.verdict == FAILS and len(joints) * j.p_value <= level]  # fmt: skip
    if failing:
        name = min(failing, key=lambda one: joints[one].p_value)
        return FAILS, name, joints[name]
    open_ones = [name for name, j in joints.items() if j.verdict != HOLDS]
    name = (open_ones or [max(joints, key=lambda one: joints[one].p_value)])[0]
    return (UNDECIDED if open_ones else HOLDS), name, joints[name]

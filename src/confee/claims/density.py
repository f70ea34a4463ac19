"""In a phase that a restart ends, the share of query rounds lies in [B/2T, B/T)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging import blocks
from confee.claims.judging.finding import (
    COUNTED,
    FAILS,
    HOLDS,
    UNDECIDED,
    Control,
    Correction,
    Finding,
    Step,
    apply_control,
    at_horizon,
)
from confee.paper import proofs, theory
from confee.simulation.needs import Draws, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "density"

LOWER = Correction(
    place="Lemma 4.6, lower end",
    printed=r"$\frac12\frac BT \le \frac{\text{queries}}{\text{rounds}}$",
    mended=r"$\frac1b \le \frac{\text{queries}}{\text{rounds}}$, $b = \lceil 2T/B\rceil$, where a "
    "restart ends the phase",
    severity="rounding",
    reason="1/b is B/2T where B divides 2T, as the proof assumes; elsewhere rounding makes it "
    "smaller",
    effect="none: the budget needs the upper end alone",
    shown="docs/proofs/density.md",
)
UPPER = Correction(
    place="Lemma 4.6, upper end",
    printed=r"$\frac{\text{queries}}{\text{rounds}} < \frac BT$ in any phase",
    mended=r"the same where the restart cuts a block with $2^{n+1} > b$",
    severity="condition",
    reason="a block with 2^(n+1) <= b can be cut right after 2^n consecutive queries; with the "
    "printed thresholds no test fires in so short a block at any horizon that can be simulated",
    effect="none by itself: Lemma 4.7 needs the bound only where a test fires",
    shown="docs/proofs/density.md",
)

LOOP = Correction(
    place="Algorithm 1, line 1",
    printed=r"$\tau = 0, b-1, 2b-1, \dots, 2^n b - 1$",
    mended=r"$\tau = 0, b, 2b, \dots, (2^n - 1) b$",
    severity="typo",
    reason="for b >= 2 no jb - 1 is a multiple of b, so no instance would start after the first",
    effect="none",
)

CASE_B = Correction(
    place="Appendix B.1.2, case B",
    printed=r"the total number of rounds is at most $\frac TB$ times the number of query rounds",
    mended=r"... is at least $\frac TB$ times ..., under the condition of the upper end",
    severity="typo",
    reason="the display after it says that the density is below B/T",
    effect="none",
)

PHASES = 1000
"""Phases without a violation that `holds` asks for: at 95 %, under 0.3 % of phases violate."""

CONTROL = {"draws": 500, "work": 100_000, "quota": 2}


def needs(toy: bool) -> Needs:
    """The blocks of the claims on streaks, b = 3 below B = T, doubled quotas at 2B | 2T."""
    T = 10**4 if toy else 10**6
    below = {"T": T, "B": T - 1, "exponent": 0.999999, "draws": blocks.TOY_DRAWS, "work": 100_000}
    even = {"T": T, "B": T // 10, "exponent": 0.833333, **CONTROL}
    single = even | {"quota": 1, "draws": 2000}
    extra = tuple(Draws(blocks.STUDY, p, 0.1) for p in (below, even, single))
    paper = blocks.needs(toy).studies
    return Needs(studies=(*paper, *extra))


@dataclass(frozen=True)
class Density:
    """Phases drawn, and how many leave [B/2T, B/T) on each side."""

    verdict: str
    phases: int
    below: int
    above: int

    @property
    def text(self) -> str:
        if not self.phases:
            return "no phase"
        below, above = (f"{100 * n / self.phases:.3g}%" for n in (self.below, self.above))
        return f"{below} of phases below B/2T, {above} not below B/T ({self.phases} drawn)"


NOTHING = Density(UNDECIDED, 0, 0, 0)
"""Where nothing was drawn."""


def check(rows: pd.DataFrame, cut: str = "cut") -> Density:
    """Count the phases outside [B/2T, B/T): `fails` if there are any, `holds` if none of 1000.

    `cut` says where a phase ends in its last block n >= 1: right after any query (`cut`, where one
    violation is enough), or at the end of the block (`end`).
    """
    rows = rows[rows["order"] > 0]
    if cut == "end":
        rows = rows[rows["complete"] == 1]
    phases, below, above = (int(rows[c].sum()) for c in ("drawn", f"{cut}_below", f"{cut}_above"))
    outcome = FAILS if below + above else HOLDS if phases >= PHASES else UNDECIDED
    return Density(outcome, phases, below, above)


def even(rows: pd.DataFrame) -> pd.DataFrame:
    """The appendix's assumption, T a multiple of 2B; B | 2T is all that it is used for."""
    return rows[2 * rows["T"] % rows["B"] == 0]


def long_enough(rows: pd.DataFrame) -> pd.DataFrame:
    """Blocks with b < 2^{n+1}: shorter ones can reach 2/b right after 2^n queries in a row."""
    return rows[rows["b"] < 2.0 ** (rows["order"] + 1)]


def judge(evidence: Evidence) -> list[Finding]:
    """By counting, at every cut of every drawn block, with exact whole numbers."""
    rows = blocks.drawn(evidence)
    if rows.empty:
        return []
    printed, assumed = check(rows), check(even(rows))
    steps, corrections = _steps(rows), corrections_of(rows)
    lowest, highest = _extreme(rows, "cut_least"), _extreme(rows, "cut_most")
    verdict = CLAIM.finding(
        as_printed=printed.verdict,
        measured=f"any T: {printed.text}; B | 2T: {assumed.text}; density over B/T from "
        f"{lowest['cut_least']:.3f} to {highest['cut_most']:.3f}",
        horizon=at_horizon(rows["T"].max(), evidence.toy),
        controls=(_control(evidence),),
        corrections=(*(corrections if printed.verdict == FAILS else ()), LOOP, CASE_B),
        basis=COUNTED,
        numbers={
            "draws": int(rows["drawn"].sum()),
            "share_below": printed.below / max(printed.phases, 1),
            "share_above": printed.above / max(printed.phases, 1),
            "lowest": _place(lowest, "cut_least"),
            "highest": _place(highest, "cut_most"),
            "complete_over_half_B_over_T": _complete(rows),
        },
        decide=_decide(printed, lowest, highest),
        why=f"any T, cut after a query: {printed.text}; a single phase refutes the statement",
        number_of="phases outside",
        steps=steps,
        evidence=(f"studies/{blocks.STUDY}",),
    )
    return [apply_control(verdict)]


def corrections_of(rows: pd.DataFrame) -> tuple[Correction, ...]:
    """Return the corrections of both ends, each with its outcome in the drawn phases."""
    phases = rows[rows["order"] > 0]
    sparse = int((phases["cut_least"] * phases["B"] / phases["T"] * phases["b"] < 1 - 1e-9).sum())
    dense = check(long_enough(rows))
    return (
        LOWER.now(FAILS if sparse else HOLDS),
        UPPER.now(FAILS if dense.above else HOLDS if dense.phases >= PHASES else UNDECIDED),
    )


def _control(evidence: Evidence) -> Control:
    """Doubled quotas where B divides 2T: twice the queries in the same rounds."""
    rows = evidence.study(blocks.STUDY)
    doubled = check(even(rows[rows["quota"] == 2]))
    return Control(
        what="HyQue with twice the queries per instance, B | 2T",
        value=(doubled.below + doubled.above) / doubled.phases if doubled.phases else None,
        as_expected=doubled.verdict == FAILS if doubled.phases else None,
        note="share of phases outside",
    )


def _steps(rows: pd.DataFrame) -> tuple[Step, ...]:
    """The readings: any T or B | 2T; cut after a query or complete; the tiny blocks apart."""
    readings = {
        "any T, cut after a query": check(rows),
        "any T, complete blocks": check(rows, "end"),
        "B | 2T, cut after a query": check(even(rows)),
        "B | 2T, cut after a query, blocks with b < 2^(n+1)": check(even(long_enough(rows))),
        "B | 2T, complete blocks": check(even(rows), "end"),
    }
    steps = [
        Step(
            step=name, outcome=phases.verdict, number=phases.below + phases.above, note=phases.text
        )
        for name, phases in readings.items()
    ]
    whole = rows[rows["complete"] == 1]
    off = int(whole["end_off"].sum())
    exact = Step(
        "complete blocks have density 1/b",
        FAILS if off else HOLDS,
        off,
        f"{off} of {int(whole['drawn'].sum())} do not",
    )
    return (*steps, exact)


def _complete(rows: pd.DataFrame) -> dict:
    """1/b over B/2T, which complete blocks have whatever is drawn, for each (T, B)."""
    return {
        f"T={T:.0e}, B={B:.7g}": 2 * T / B / theory.slot_length(T, B)
        for T, B in sorted(set(rows[["T", "B"]].itertuples(index=False, name=None)))
    }


def _extreme(rows: pd.DataFrame, column: str) -> pd.Series:
    rows = rows[rows["order"] > 0]
    return rows.loc[rows[column].idxmin() if column == "cut_least" else rows[column].idxmax()]


def _place(row: pd.Series, column: str) -> dict:
    """Return where an extreme lies, and the largest density that arithmetic allows there."""
    T, B, n, b = (int(row[name]) for name in ("T", "B", "order", "b"))
    most = proofs.densest_phase(n, b) * T / B
    return {
        "T": T,
        "B": B,
        "order": n,
        "b": b,
        "over_B_over_T": float(row[column]),
        "largest_possible": most,
    }


def _decide(printed: Density, lowest: pd.Series, highest: pd.Series) -> str:
    if printed.verdict == HOLDS:
        return ""
    if printed.verdict == UNDECIDED:
        return f"{PHASES} phases without a violation"
    return (
        f"lowest at T={lowest['T']:.0e}, B={lowest['B']}, block {lowest['order']}; highest at "
        f"T={highest['T']:.0e}, B={highest['B']}, block {highest['order']}"
    )


CLAIM = Claim(
    id=ID,
    statement=(
        "in any phase that a restart ends, the share of query rounds is at least B/2T and below B/T"
    ),
    place="Lemma 4.6; its proof assumes that T is a multiple of 2B",
    prediction="the share is in this range wherever the last block is cut right after a query",
    judge=judge,
    needs=needs,
    speaks_of=("baque", "hyque"),
    order=11,
    group="HyQue's queries",
    statements=("Lemma 4.6",),
)

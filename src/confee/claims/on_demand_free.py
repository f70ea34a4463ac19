"""On-demand queries cost nothing: at most B/2 of them, and no more regret than without."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging.finding import (
    COUNTED,
    FAILS,
    HOLDS,
    MEASURED,
    UNDECIDED,
    Control,
    Correction,
    Finding,
    Step,
    apply_control,
    at_horizon,
    fewest_seeds,
)
from confee.claims.judging.ratios import LEVEL, at_most, paired, together
from confee.core.size import Size
from confee.evidence.columns import SIZE
from confee.simulation.needs import Ask, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "on-demand-free"

MARGIN = 1.1
"""Regret over BaQue's that still counts as no more."""

RUNS = 60
"""Runs needed for `holds`: if none passes B/2, at most 6 % do (95 % CI)."""

HALF = Correction(
    place="Section 4.1.3, end; Appendix B.2.5",
    printed=r"the number of converted rounds is at most $B/2$",
    mended=r"... is at most $B - \lfloor T/b \rfloor$ with $b = \lceil 2T/B \rceil$, without "
    "restarts",
    severity="rounding",
    reason="B - T/b is B/2 where B divides 2T, as the proof assumes; elsewhere rounding b up makes "
    "it larger, most where B is just under T",
    effect="none: the regret bound needs only the order of B",
    shown="docs/proofs/conversions.md",
)
COSTLY = Correction(
    place="Appendix B.2.5",
    printed="on-demand queries do not inflate the regret bound",
    mended="no change; the regret exceeds BaQue's at the horizons simulated",
    severity="horizon",
    reason="a larger regret at some horizons says nothing about the order of a bound",
    effect="none on the proof",
    outcome=UNDECIDED,
)
BUFFER = Correction(
    place="Appendix B.2.5",
    printed=r"$B' < \frac{tB}{T} - \min\{\sqrt B, T-t\}$",
    mended=r"$B' < \frac{tB}{T} - \min\{T/\sqrt B, 2^n, T-t\}$, as in Algorithm 2",
    severity="typo",
    reason="Algorithm 2 and the text beside it have the other buffer",
    effect="none",
)

COUNT_CONTROL = "odque"
"""All its queries are on demand, so it must pass B/2."""

REGRET_CONTROL = "hyque_blind"
"""The same schedule with uniform arms must cost more than BaQue."""

DISCARDING = "hyque_discarding"
"""HyQue that pays for conversions and discards their feedback; shows what they cost alone."""

SIZES = {
    "B just under T": (60_000, 59_999),  # b = ceil(2T/B) jumps from 2 to 3
    "B = T": (60_000, 60_000),
    "B = T/2": (80_000, 40_000),
    "B = T/4": (160_000, 40_000),
    "B = T^0.8": (563_000, 39_945),
}
TOY_SIZES = {"B just under T": (3_000, 2_999), "B = T/4": (4_000, 1_000)}


def needs(toy: bool) -> Needs:
    """HyQue and BaQue on the same paths, from many weak changes to few strong ones."""
    sizes, seeds = SIZES, 16
    variations: tuple[float, ...] = (1.0, 4.0, 16.0)
    strengths: list = [1, 2, 4, "ceiling"]
    if toy:
        sizes, variations, seeds, strengths = TOY_SIZES, (2.0,), 8, [2, "ceiling"]
    against = {"switching": {"name": "switching", "strength": strengths}}
    asks = []
    for T, B in sizes.values():
        for V in variations:
            policies = ["hyque", "baque"]
            if 2 * B >= T:
                policies += [DISCARDING]
                policies += [COUNT_CONTROL, REGRET_CONTROL] if variations[0] == V else []
            asks += [Ask(ID, {"name": p}, Size(4, T, B, V), against, seeds) for p in policies]
    return Needs(asks=tuple(asks))


def judge(evidence: Evidence) -> list[Finding]:
    """Two checks, of the count of conversions and of the regret; the claim needs both."""
    runs = evidence.asked_for(ID)
    if runs.empty or not (runs["label"] == "hyque").any():
        return []
    count, counted = count_check(runs, "hyque")
    regret, compared = regret_check(runs, "hyque")
    unseen, discarded = regret_check(runs, DISCARDING)
    text = f"at most {counted['largest']:.3g} B conversions, claimed 0.5 B"
    steps = [
        _step(
            "conversions at most B/2",
            count,
            counted["largest"],
            f"{counted['past']} of {counted['runs']} runs above; largest at {counted['where']}",
        )
    ]
    if len(compared):
        worst = compared.loc[compared["high"].idxmax()]
        measured = f"{worst['ratio']:.3f} [{worst['low']:.3f}, {worst['high']:.3f}]"
        text += f"; regret over BaQue's, at its largest upper limit, {measured}"
        note = f"largest upper limit at {_where(worst)}; mean {compared['ratio'].mean():.3f}"
        steps.append(_step(f"regret at most {MARGIN:g} x BaQue's", regret, worst["ratio"], note))
    if len(discarded):
        largest = float(discarded["ratio"].max())
        text += f" (with their feedback discarded: {largest:.3f})"
        note = (
            "for comparison, not part of the verdict: a conversion plays the index, an idle "
            "round the frequencies"
        )
        steps.append(
            _step("the same with feedback of conversions discarded", unseen, largest, note)
        )
    outcome = together([count, regret])
    mended = HALF.now(FAILS if counted["past_mended"] else HOLDS)
    verdict = CLAIM.finding(
        as_printed=outcome,
        measured=text,
        horizon=at_horizon(runs["T"].max(), evidence.toy),
        controls=(_control(runs),),
        corrections=(
            *((mended,) if count == FAILS else ()),
            *((COSTLY,) if regret == FAILS else ()),
            BUFFER,
        ),
        basis=COUNTED if count == FAILS else MEASURED,
        numbers={
            "conversions": counted,
            "regret": _by_size(compared),
            "discarding": _by_size(discarded),
        },
        seeds=fewest_seeds(runs),
        decide=_decide(count, counted, regret, compared),
        why=f"count {count} ({counted['largest']:.3g} B against 0.5 B), regret {regret} (limits of "
        f"{len(compared)} cells together at {1 - LEVEL:.0%}, against {MARGIN:g})",
        number_of="largest share of B, largest ratio",
        steps=tuple(steps),
        evidence=("asked",),
    )
    return [apply_control(verdict)]


def count_check(runs: pd.DataFrame, label: str) -> tuple[str, dict]:
    """`fails` if a run converts more than B/2 rounds, `holds` if RUNS and more do not."""
    own = runs[runs["label"] == label].reset_index(drop=True)
    share = own["conversions"] / own["B"]
    largest = own.loc[share.idxmax()]
    past = int((share > 0.5).sum())
    own_b = -(-2 * own["T"] // own["B"])
    past_mended = int((own["conversions"] > own["B"] - own["T"] // own_b).sum())
    by_size = share.groupby([own["T"], own["B"]]).max()
    numbers = {
        "runs": len(own),
        "past": past,
        "past_mended": past_mended,
        "largest": float(share.max()),
        "where": _where(largest),
        "largest_by_size": {f"T={T:.6g}, B={B:.6g}": float(s) for (T, B), s in by_size.items()},
    }
    if past:
        return FAILS, numbers
    return (HOLDS if len(own) >= RUNS else UNDECIDED), numbers


def regret_check(runs: pd.DataFrame, label: str) -> tuple[str, pd.DataFrame]:
    """Regret over BaQue's, paired by path: one ratio a (cell, adversary), limits for all together.

    Columns: K, T, B, V, gap, ratio, low, high, seeds.
    """
    import pandas as pd

    on = [*SIZE, "seed"] + [c for c in runs if c == "adversary" or c.startswith("adversary.")]
    own, base = (runs.loc[runs["label"] == name, [*on, "regret"]] for name in (label, "baque"))
    pairs = own.merge(base, on=on, suffixes=("", "_baque"))
    groups = list(pairs.groupby([*SIZE, "adversary.gap"], sort=True))
    rows = [
        dict(zip((*SIZE, "gap"), key, strict=True))
        | paired(g["regret"].to_numpy(), g["regret_baque"].to_numpy(), len(groups))
        for key, g in groups
    ]
    columns = [*SIZE, "gap", "ratio", "low", "high", "seeds"]
    ratios = pd.DataFrame(rows, columns=columns)
    return at_most(ratios, MARGIN), ratios


def _control(runs: pd.DataFrame) -> Control:
    """Each check has a policy that must fail it."""
    played = set(runs["label"])
    control = Control(
        f"{COUNT_CONTROL}, by its count; {REGRET_CONTROL}, by its regret over BaQue's"
    )
    if not {COUNT_CONTROL, REGRET_CONTROL, "baque"} <= played:
        return control
    count, counted = count_check(runs, COUNT_CONTROL)
    regret, ratios = regret_check(runs, REGRET_CONTROL)
    note = (
        f"{COUNT_CONTROL} converts up to {counted['largest']:.3g} B: {count}; "
        f"{REGRET_CONTROL}: {regret}"
    )
    failed = count == FAILS and regret == FAILS
    value = float(ratios["ratio"].max())
    return dataclasses.replace(control, value=value, as_expected=failed, note=note)


def _decide(count: str, counted: dict, regret: str, compared: pd.DataFrame) -> str:
    notes = []
    if count == FAILS:
        notes.append(f"conversions: {counted['largest']:.3g} B at {counted['where']}")
    elif count == UNDECIDED:
        notes.append(f"conversions: {RUNS} runs at least")
    if regret != HOLDS and len(compared):
        word = "worst" if regret == FAILS else "more seeds"
        notes.append(f"regret: {word} at {_where(compared.loc[compared['high'].idxmax()])}")
    elif not len(compared):
        notes.append("regret: no runs of baque on the same paths")
    return "; ".join(notes)


def _by_size(ratios: pd.DataFrame) -> dict:
    """Smallest and largest ratio per (T, B)."""
    table = ratios.groupby(["T", "B"])["ratio"].agg(["min", "max"])
    return {
        f"T={T:.6g}, B={B:.6g}": {"smallest": float(row["min"]), "largest": float(row["max"])}
        for (T, B), row in table.iterrows()
    }


def _where(row: pd.Series) -> str:
    gap = row["gap"] if "gap" in row else row["adversary.gap"]
    return ", ".join(f"{name}={row[name]:.6g}" for name in SIZE) + f", gap {gap:.3g}"


def _step(step: str, outcome: str, number: float, note: str) -> Step:
    return Step(step=step, outcome=outcome, number=float(number), note=note)


CLAIM = Claim(
    id=ID,
    statement="HyQue converts at most B/2 idle rounds to queries, which does not raise its regret",
    place="Section 4.1.3, end, and Appendix B.2.5, on-demand allocation",
    prediction=(
        f"at most B/2 conversions in every run; in every cell, regret at most {MARGIN:g} times "
        "that of BaQue on the same paths"
    ),
    judge=judge,
    needs=needs,
    speaks_of=("hyque",),
    order=16,
    group="HyQue's queries",
    statements=("on demand",),
)

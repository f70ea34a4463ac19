"""What the claims on long runs share: drawn blocks, limits of the implied C, and the rule.

The lemma says P(a run over T B^{-alpha} rounds in a block) <= exp(-C x), x = B^{1-alpha/2}/sqrt(T).
So the data imply C = -ln P / x, one for each block order; the worst order of (T, B) counts. A
universal C has to stay as T grows along B = T^beta. By simultaneous limits, a beta

- `fails` if P at the worst order is higher at the largest T than at the smallest, where the bound
  falls (then C falls at least like 1/x), or if C at the largest T is practically 0: under a
  hundredth of the proof's least, 1/2;
- `holds` if C is not shown to fall, and at the largest T is at least the proof's least, or more
  than what it would be after a fall like x^{-1/2}, halfway between a constant and 1/x.

The claim fails with one beta and holds with all of them. P's upper limit is the smaller of the
binomial one and a union bound, which is exact arithmetic: 10^6 draws would not see exp(-30).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from confee import proofs
from confee.claims.judging.finding import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Control,
    Finding,
    Step,
    apply_control,
    at_horizon,
)
from confee.simulation.needs import Needs, Study

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

STUDY = "schedules"
LEVEL = 0.05
"""Two-sided level of the limits of all blocks together (Bonferroni)."""

FLOOR = proofs.PROOF_CONSTANTS[0] / 100
"""A constant C below this is practically 0."""

GROWS = 1.05
"""How much x has to grow for the bound to fall (at alpha = 3/4, B = T^0.8 it does not)."""

BLOCK = ["exponent", "T", "B", "order"]
BOUNDS = {"idle": proofs.idle_run_bound, "query": proofs.query_run_bound}

HORIZONS, TOY_HORIZONS = (10**5, 10**6, 10**7, 10**8), (2000, 20_000)
PROOF_HORIZONS = (10**4, 10**6)
EXPONENTS = (0.8, 0.9, 1.0)
DRAWS, WORK, TOY_DRAWS, TOY_WORK = 30_000, 1_500_000, 400, 20_000
PROOF_WORK, CONTROL_DRAWS = 1_000_000, 5000


def cells(horizons: Sequence[int]) -> list[dict]:
    """T, B = floor(T^beta) and the label beta, which is what the study takes."""
    return [
        {"T": T, "B": math.floor(T**beta + 1e-6), "exponent": beta}
        for T in horizons
        for beta in EXPONENTS
    ]


def needs(toy: bool) -> Needs:
    """Blocks of every order: the paper's start rates, the proof's, order n alone (control)."""
    draws, work = (TOY_DRAWS, TOY_WORK) if toy else (DRAWS, WORK)
    seconds = 0.03 if toy else 2.5
    drawn = {"draws": draws, "work": work}
    proof = drawn | {"work": min(work, PROOF_WORK), "rates": "proof"}
    alone = {"draws": TOY_DRAWS if toy else CONTROL_DRAWS, "work": WORK, "rates": "alone"}
    studies = []
    for cell in cells(TOY_HORIZONS if toy else HORIZONS):
        studies.append(Study(STUDY, cell | drawn, seconds))
        studies.append(Study(STUDY, cell | alone, 0.05))
    for cell in cells(TOY_HORIZONS if toy else PROOF_HORIZONS):
        studies.append(Study(STUDY, cell | proof, seconds))
    return Needs(studies=tuple(studies))


def drawn(evidence: Evidence, rates: str = "paper") -> pd.DataFrame:
    """The study's rows with these start rates and single quotas."""
    rows = evidence.study(STUDY)
    return rows[(rows["rates"] == rates) & (rows["quota"] == 1)] if len(rows) else rows


def limits(rows: pd.DataFrame, kind: str, alpha: float = 0.5) -> pd.DataFrame:
    """P and the implied C with simultaneous limits, for each block in which such a run fits.

    kind: `idle` or `query`. Rows of one block, from several studies, count together. Columns:
    BLOCK, rates, drawn, x, p, p_low, p_high, C, C_low, C_high.
    """
    from scipy.stats import beta

    over = f"{kind}_over_{alpha}"
    fixed = ["rates", "b", "rounds"]
    table = rows.groupby([*BLOCK, *fixed], as_index=False)[["drawn", over]].sum()
    bounds = [_bound(row, kind, alpha) for row in table.itertuples()]
    table = table.assign(bound=bounds)
    table = table[table["bound"] > 0].reset_index(drop=True)
    level = LEVEL / 2 / max(len(table), 1)
    hits, draws = table[over].to_numpy(), table["drawn"].to_numpy()
    low = np.where(hits > 0, beta.ppf(level, np.maximum(hits, 1), draws - hits + 1), 0.0)
    missed = np.maximum(draws - hits, 1)
    high = np.where(hits < draws, beta.isf(level, hits + 1, missed), 1.0)
    sizes = table[["T", "B"]].itertuples(index=False, name=None)
    x = np.array([proofs.run_exponent(T, B, alpha) for T, B in sizes])
    high = np.minimum(high, table["bound"])
    with np.errstate(divide="ignore"):
        implied = {"C": np.abs(np.log(hits / draws)) / x, "C_low": np.abs(np.log(high)) / x,
                   "C_high": np.abs(np.log(low)) / x}  # fmt: skip
    return table.assign(x=x, p=hits / draws, p_low=low, p_high=high, **implied)


def _bound(row, kind: str, alpha: float) -> float:
    """The union bound of P for one block; 0 where no such run fits."""
    length = proofs.run_length(row.T, row.B, alpha)
    rates: dict[str, Callable[[int], float]] = {
        "paper": partial(proofs.start_rate, row.order),
        "proof": partial(proofs.proof_rate, proofs.proof_order(row.T, row.B)),
        "alone": lambda m: 0.0,
    }
    return BOUNDS[kind](row.order, row.b, row.rounds, length, rates[row.rates])


@dataclass(frozen=True)
class Trend:
    """The worst orders along B = T^exponent: what is known at the smallest and the largest T."""

    exponent: float
    verdict: str
    why: str
    worst: pd.DataFrame


@dataclass(frozen=True)
class Outcome:
    verdict: str
    why: str
    trends: tuple[Trend, ...]
    table: pd.DataFrame

    @property
    def end(self) -> pd.Series:
        """The worst block at the largest T: of the beta that gave the verdict, the least C."""
        ends = [t.worst.iloc[-1] for t in self.trends if t.verdict == self.verdict]
        ends = ends or [worst_orders(self.table).iloc[-1]]
        return min(ends, key=lambda end: (end["C_high"], end["C_low"]))


def check(rows: pd.DataFrame, kind: str, alpha: float = 0.5) -> Outcome:
    """The rule of the module on drawn blocks: the same for the paper, its twin and the control."""
    table = limits(rows, kind, alpha)
    trends = []
    for exponent, part in table.groupby("exponent"):
        if part["T"].nunique() > 1:
            trends.append(_trend(float(exponent), part))
    found = [t.verdict for t in trends]
    if FAILS in found:
        outcome = FAILS
    else:
        outcome = HOLDS if found and set(found) == {HOLDS} else UNDECIDED
    why = "; ".join(t.why for t in trends if t.verdict == outcome)
    return Outcome(outcome, why or "fewer than two horizons along B = T^beta", tuple(trends), table)


def worst_orders(part: pd.DataFrame) -> pd.DataFrame:
    """A row a horizon: the order of the largest P, and limits of the least C over all orders."""
    ordered = part.sort_values(["p", "C_high"], ascending=[True, False])
    top = ordered.groupby("T").tail(1).set_index("T")
    ends = part.groupby("T").agg(
        C_low=("C_low", "min"), C_high=("C_high", "min"),
        p_low=("p_low", "max"), p_high=("p_high", "max"),
    )  # fmt: skip
    kept = top[["B", "order", "x", "p", "C", "drawn"]].join(ends)
    return kept.sort_index().reset_index()


def _trend(exponent: float, part: pd.DataFrame) -> Trend:
    worst = worst_orders(part)
    first, last = worst.iloc[0], worst.iloc[-1]
    name = f"B = T^{exponent:g}, T from {first['T']:.0e} to {last['T']:.0e}"
    text = f"{name}: P {_limits(first, 'p')} to {_limits(last, 'p')}"
    implied = f"C {_limits(first, 'C')} to {_limits(last, 'C')}"
    if last["p_low"] > first["p_high"] and last["x"] > GROWS * first["x"]:
        return Trend(exponent, FAILS, f"{text}: P rises where the bound falls", worst)
    if last["C_high"] < FLOOR:
        return Trend(exponent, FAILS, f"{name}: {implied}, practically 0 (< {FLOOR:g})", worst)
    fallen = first["C_high"] * math.sqrt(first["x"] / last["x"])
    asked = max(min(fallen, proofs.PROOF_CONSTANTS[0]), FLOOR)
    if last["C_high"] >= first["C_low"] and last["C_low"] >= asked:
        return Trend(exponent, HOLDS, f"{name}: {implied}, at least {asked:.3g} is kept", worst)
    return Trend(exponent, UNDECIDED, f"{name}: {implied}, neither kept nor lost", worst)


def _limits(row: pd.Series, what: str) -> str:
    return f"[{row[f'{what}_low']:.3g}, {row[f'{what}_high']:.3g}]"


def safe_orders(table: pd.DataFrame) -> dict:
    """Per (T, B): how many orders below the last C is shown to be the proof's least, 1/2.

    3: three orders below the last block, and further down, the bound holds with C = 1/2. 0: in all.
    """
    depths = {}
    for (T, B), part in table.groupby(["T", "B"]):
        off = part[part["C_low"] < proofs.PROOF_CONSTANTS[0]]["order"]
        top, least = int(part["order"].max()), int(off.min()) if len(off) else None
        depths[f"T={T:.0e}, B={B:.3g}"] = 0 if least is None else top - least + 1
    return depths


def judge(
    id: str,
    kind: str,
    evidence: Evidence,
    statement: str,
    place: str,
    exponents: Sequence[float],
    rates: str = "paper",
) -> list[Finding]:
    """The verdict on runs of one kind along B = T^beta for these beta."""
    rows, proof, alone = (_along(drawn(evidence, r), exponents) for r in (rates, "proof", "alone"))
    if rows.empty:
        return []
    found = check(rows, kind)
    if found.table.empty:  # no block is long enough for such a run
        return []
    end = found.end
    verdict = Finding(
        id=id,
        statement=statement,
        place=place,
        as_printed=found.verdict,
        prediction="C = -ln P sqrt(T) / B^(3/4) of the worst block stays above a constant as T "
        f"grows (the proof's own: {proofs.PROOF_CONSTANTS[0]:g} to "
        f"{proofs.PROOF_CONSTANTS[1]:.2f})",
        measured=f"at T = {end['T']:.0e}, B = {end['B']:.3g}, block order {end['order']:.0f}: "
        f"{end['p']:.1%} of {end['drawn']:.0f} blocks drawn have such a run, C in "
        f"{_limits(end, 'C')}",
        horizon=at_horizon(rows["T"].max(), evidence.toy),
        controls=(_control(alone, kind),),
        numbers=_numbers(found, rows),
        interval=(float(end["C_low"]), float(end["C_high"])),
        interval_of="the implied C in the worst block at the largest T",
        decide=_decide(found),
        why=found.why,
        number_of="the implied C, lower limit",
        steps=_steps(rows, proof, kind, found),
        evidence=(f"studies/{STUDY}",),
    )
    return [apply_control(verdict)]


def _control(rows: pd.DataFrame, kind: str) -> Control:
    """Blocks in which only the order-n instance starts: queries first, then idle to the end."""
    found = check(rows, kind) if len(rows) else None
    return Control(
        what="blocks in which only the longest instance starts",
        value=None if found is None else float(found.table["p"].max()),
        as_expected=None if found is None else found.verdict == FAILS,
        note="largest share of blocks with such a run",
    )


def _numbers(found: Outcome, rows: pd.DataFrame) -> dict:
    columns = ["T", "B", "order", "x", "drawn", "p", "p_low", "p_high", "C_low", "C_high"]
    return {
        "draws": int(rows["drawn"].sum()),
        "blocks": len(found.table),
        "worst_order": {
            f"B=T^{t.exponent:g}": t.worst[columns].to_dict("records") for t in found.trends
        },
        "orders_to_go_down_for_C_of_one_half": safe_orders(found.table),
    }


def _decide(found: Outcome) -> str:
    if found.verdict == FAILS:
        return f"worst at B = {found.end['B']:.3g}, block order {found.end['order']:.0f}"
    return "" if found.verdict == HOLDS else "more horizons along B = T^beta, or more draws"


def _along(rows: pd.DataFrame, exponents: Sequence[float]) -> pd.DataFrame:
    return rows[rows["exponent"].isin(exponents)] if len(rows) else rows


def _steps(rows: pd.DataFrame, proof: pd.DataFrame, kind: str, found: Outcome) -> tuple[Step, ...]:
    """Per beta; the same with the proof's start rates; for idle runs per alpha of the remark."""
    steps = [_step(f"B = T^{t.exponent:g}", t) for t in found.trends]
    if len(proof):
        steps += [
            _step(f"the proof's start rates 2^((m-M)/2) in every block, B = T^{t.exponent:g}", t)
            for t in check(proof, kind).trends
        ]
    for alpha in (0.25, 0.75) if kind == "idle" else ():
        name = f"alpha = {alpha:g}, runs over T B^-{alpha:g}"
        other = check(rows, kind, alpha)
        steps += [_step(f"{name}, B = T^{t.exponent:g}", t) for t in other.trends]
    return tuple(steps)


def _step(name: str, trend: Trend) -> Step:
    """A trend as a step; its number is the C shown at the largest T."""
    number = float(trend.worst.iloc[-1]["C_low"])
    return Step(step=name, outcome=trend.verdict, number=number, note=trend.why)

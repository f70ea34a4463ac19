"""No policy has less regret than the lower bound, at the worst gap of the proof's instance.

At the printed gap no policy can tell the arms apart, so uniform play has the least regret there and
the comparison says nothing about policies. Here the gap varies, up to where policies that know the
batches do better than uniform play, and regret at each policy's worst gap is compared with the best
constant that is proved, (1 - 1/K)^2 / (3 * 2^(4/3)), about three times the printed constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging.finding import (
    FAILS,
    HOLDS,
    Control,
    Finding,
    Step,
    apply_control,
    at_horizon,
)
from confee.claims.judging.hard_instance import CONTROL, limits, outcome, over, runs_on_hard
from confee.core.size import Size
from confee.evidence.columns import SIZE
from confee.paper import proofs, theory
from confee.policies import POLICIES
from confee.simulation.needs import Ask, Needs

if TYPE_CHECKING:
    import pandas as pd

    from confee.evidence import Evidence

ID = "lower-bound/measured"
GAPS = [1, 2, 4, 5.6, 8, 11, 16, 32, 64]
"""c of the instances: gaps in units of the proof's epsilon, finer where `informed` is worst."""

SCALE = 10.0
"""Factor of the control: some policy must have less regret than this many times the bound."""

CELLS = ((4, 10**6, 4.0), (2, 10**6, 4.0), (4, 10**7, 4.0), (16, 10**7, 16.0))
"""(K, T, V) at B = T^0.8. All policies play the first size; `informed` plays all of them."""

TOY_CELL = (4, 10**5, 1.0)
BEST, POSITIVE = "informed", "uniform"
"""The policy with the least regret known, and play that uses no query."""

PLAYED = (
    BEST,
    POSITIVE,
    CONTROL,
    "hyque",
    "baque",
    "rexp3b",
    "sw_ucb",
    "ucb1",
    "ucb1_restarted",
    "glr_ucb",
    "random_restart",
    "greedy_spend",
)
BOTH = ["policy", "label", *SIZE]


def needs(toy: bool) -> Needs:
    """Ask for every policy at each gap of the first size, and for `informed` at all sizes."""
    first, *more = (TOY_CELL,) if toy else CELLS
    policies = PLAYED[:3] if toy else PLAYED
    seeds = 6 if toy else 12
    asks = [_ask(policy, *first, seeds) for policy in policies]
    asks += [_ask(BEST, *cell, seeds) for cell in more]
    return Needs(asks=tuple(asks))


def _ask(policy: str, K: int, T: int, V: float, seeds: int) -> Ask:
    against = {"hard": {"name": "hard", "c": GAPS}}
    return Ask(ID, {"name": policy}, Size(K, T, round(T**0.8), V), against, seeds)


def judge(evidence: Evidence) -> list[Finding]:
    """Return `fails` if a policy is below the bound at its gap or the worst, else `consistent`.

    The oracle must come out below, some policy must be below the bound times 10, and uniform play
    must be above it. Policies of the experiment that play the instance on the grid, with few seeds,
    can only make it fail: they are compared with what is provable at the gap they meet.
    """
    regret = limits(_runs(evidence), [*BOTH, "c"])
    at_gap, worst = _at_their_gap(regret), _at_worst(regret)
    grid = _at_their_gap(limits(_on_the_grid(evidence), [*BOTH, "c"]))
    real = worst[worst["policy"] != CONTROL]
    if real.empty:
        return []
    result, decide = min(outcome(at_gap), outcome(worst), key=_gravity)
    if (below := outcome(grid))[0] == FAILS:
        result, decide = below
    least = real.loc[real["ratio"].idxmin()]
    finding = CLAIM.finding(
        as_printed=result,
        measured=f"least regret {least['ratio']:.3g} [{least['low']:.3g}, {least['high']:.3g}] "
        f"times the bound ({least['label']}, {_where(least)}, worst at c = {least['c']:g}, where "
        f"uniform play has {_uniform_there(regret, least):.3g} times its regret)",
        horizon=at_horizon(real["T"].max(), evidence.toy),
        controls=_controls(worst),
        numbers={
            "constants": {f"K={K}": constants(K) for K in (2, 3, 5, 10, 100)},
            "at_scale": at_scale(),
            "slack": {f"{row['label']}, {_where(row)}": _slack(row) for _, row in real.iterrows()},
            "experiment": grid.groupby("label")["ratio"].min().to_dict(),
            "least_ratio_at_its_gap": float(at_gap.loc[at_gap["policy"] != CONTROL, "ratio"].min()),
        },
        seeds=int(real["seeds"].min()),
        interval=(float(least["low"]), float(least["high"])),
        interval_of="least regret over the bound, limits for all gaps at once",
        decide=decide,
        why=f"simultaneous limits for {len(at_gap)} gaps and {len(worst)} worst cases, compared "
        f"with "
        "a ratio of 1",
        number_of="regret at the worst c over the bound",
        steps=tuple(_step(row) for _, row in worst.iterrows()),
        evidence=("regret", "asked"),
    )
    return [apply_control(finding)]


def _uniform_there(regret: pd.DataFrame, least: pd.Series) -> float:
    """Uniform play's regret over that of the best policy, at the gap where that is worst."""
    rows = regret[regret["c"] == least["c"]]
    for name in SIZE:
        rows = rows[rows[name] == least[name]]
    mean = rows.set_index("label")["regret"]
    return float(mean.get(POSITIVE, float("nan")) / mean[least["label"]])


# ------------------------------------------------------------------ constants


def constants(K: int) -> dict[str, float]:
    """Constants of T (K V / B)^{1/3} for small gaps: as printed, improved, and unconditional.

    All but the last grant the step that adds up the B_j, and so would not count as proved.
    """
    return {
        "printed": theory.LOWER_BOUND_CONSTANT,
        "exact KL, alpha 5/4, beta 15": proofs.provable_constant(5 / (4 * K), 15)[1],
        "best alpha and beta": proofs.provable_constant(*proofs.counting_shares(K))[1],
        "mean over the good arm": proofs.provable_constant(1 / K, 1)[1],
        "unconditional": proofs.unconditional_constant(K)[1],
    }


def _improvement(K: int) -> float:
    return constants(K)["unconditional"] / theory.LOWER_BOUND_CONSTANT


def _granted(K: int) -> float:
    return constants(K)["mean over the good arm"] / theory.LOWER_BOUND_CONSTANT


def best_bound(K: float, T: float, B: float, V: float) -> float:
    """The unconditional bound at its best gap in this setting."""
    gap = proofs.best_gap(lambda gap: proofs.unconditional_regret(K, T, B, V, gap))
    return proofs.unconditional_regret(K, T, B, V, gap)


def best_granted(K: float, T: float, B: float, V: float) -> float:
    """The same by the mean over the good arm, granted that the B_j add up to B."""

    def bound(gap: float) -> float:
        return proofs.provable_regret(K, T, B, V, gap, 1 / K, 1)

    return bound(proofs.best_gap(bound))


def at_scale() -> dict[str, dict[str, float]]:
    """The best constants where the critical gap is not small, found numerically."""
    out = {}
    for K in (2, 10):
        for scale in (0.01, 0.1, 0.3):
            setting = (K, 1, K / scale**3, 1.0)
            bounds = {"granted": best_granted(*setting), "unconditional": best_bound(*setting)}
            name = f"K={K}, (K V / B)^(1/3)={scale:g}"
            out[name] = {name: bound / scale for name, bound in bounds.items()}
    return out


# ------------------------------------------------------------------ measured


def _on_the_grid(evidence: Evidence) -> pd.DataFrame:
    """Return the runs of the experiment's policies, without the policies that know the path."""
    runs = runs_on_hard(evidence.regret, evidence.choose)
    informed = {p.id for p in POLICIES.values() if "path" in p.known}
    return runs[~runs["policy"].isin(informed)]


def _runs(evidence: Evidence) -> pd.DataFrame:
    """Return the claim's own runs. The grid's thousand cells of few seeds stay out: simultaneous
    limits over all of them would be too wide to say anything."""
    import pandas as pd

    runs = runs_on_hard(evidence.asked_for(ID))
    return runs if len(runs) else pd.DataFrame(columns=[*BOTH, "c", "regret"])


def _at_their_gap(regret: pd.DataFrame) -> pd.DataFrame:
    """Return regret over the bound at the same gap, for the rows where that bound is positive."""
    bounds = []
    for row in regret.itertuples(index=False):
        gap = row.c * theory.hard_gap(row.K, row.B, row.V)
        provable = proofs.unconditional_regret(row.K, row.T, row.B, row.V, gap) if gap < 0.5 else 0
        bounds.append(max(provable, 0.0))
    table = regret.assign(bound=bounds)
    table = table[table["bound"] > 0]
    return over(table.drop(columns="bound"), table["bound"].tolist())


def _at_worst(regret: pd.DataFrame) -> pd.DataFrame:
    """Return regret at the worst gap over the best bound, where several gaps were played.

    Its limits are the largest limits over the gaps, which hold for all gaps at once.
    """
    several = regret[regret.groupby(BOTH)["c"].transform("nunique") > 1]
    grouped = several.groupby(BOTH, sort=True)
    table = several.loc[grouped["regret"].idxmax()].reset_index(drop=True)
    table[["low", "high"]] = grouped[["low", "high"]].max().to_numpy()
    table["edge"] = table["c"].to_numpy() == grouped["c"].max().to_numpy()
    settings = table[SIZE].itertuples(index=False, name=None)
    return over(table, [best_bound(*setting) for setting in settings])


def _gravity(result: tuple[str, str]) -> int:
    return ("fails", "undecided", "consistent").index(result[0])


def _controls(worst: pd.DataFrame) -> tuple[Control, ...]:
    """The oracle and a bound ten times too large must fail; uniform play must hold."""
    scaled = worst.assign(**{name: worst[name] / SCALE for name in ("ratio", "low", "high")})
    result, who = outcome(scaled)
    oracle, uniform = (worst[worst["policy"] == name] for name in (CONTROL, POSITIVE))
    return (
        Control(
            what=f"the bound times {SCALE:g}, least regret of a policy over it",
            value=float(scaled.loc[scaled["policy"] != CONTROL, "ratio"].min()),
            as_expected=result == FAILS,
            note=who,
        ),
        Control(
            what=f"{CONTROL}: plays the best arm, largest regret over the bound",
            value=float(oracle["ratio"].max()) if len(oracle) else None,
            as_expected=bool((oracle["high"] < 1).all()) if len(oracle) else None,
        ),
        Control(
            what=f"{POSITIVE} play, least regret over the bound",
            expected=HOLDS,
            value=float(uniform["ratio"].min()) if len(uniform) else None,
            as_expected=bool((uniform["low"] >= 1).all()) if len(uniform) else None,
        ),
    )


def _where(row: pd.Series) -> str:
    return f"K={row['K']}, T={row['T']:.3g}, B={row['B']:.3g}, V={row['V']:g}"


def _slack(row: pd.Series) -> dict:
    """How far a policy's worst gap is above each bound."""
    setting = tuple(row[name] for name in SIZE)
    regret = row["ratio"] * best_bound(*setting)
    return {
        "over_printed": regret / theory.lower_bound(*setting),
        "over_best": row["ratio"],
        "over_best_granted": regret / best_granted(*setting),
        "worst_c": row["c"],
        "at_the_last_gap": bool(row["edge"]),
    }


def _step(row: pd.Series) -> Step:
    """One policy in one setting."""
    below = row["high"] < 1
    return Step(
        step=f"{row['label']}, {_where(row)}",
        outcome="below" if below else "above" if row["low"] >= 1 else "unclear",
        number=float(row["ratio"]),
        note=f"worst at c = {row['c']:g}" + (", the last one that fits" if row["edge"] else ""),
    )


CLAIM = Claim(
    id=ID,
    statement=(
        "at its worst gap on the proof's instance, every policy has at least the regret of "
        "the lower bound with the best proved constant"
    ),
    place="Theorem 5.1",
    prediction=(
        "regret at the worst gap is at least (1 - 1/K)^2 / (3 * 2^(4/3)) T (K V / B)^(1/3),"
        f" {_improvement(2):.3g} times the printed bound at K = 2 and {_improvement(10):.3g} times "
        "at K = 10"
    ),
    judge=judge,
    needs=needs,
    order=18,
    group="Lower bound",
    statements=("Theorem 5.1",),
)

"""A rate that a policy declares is judged as HyQue's is."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from confee import Rate, claims
from confee.claims import policy_rate
from confee.claims.judging.rates import IDEAL, USUAL
from confee.core.errors import ConfeeError
from confee.evidence import Evidence, worst_cases
from confee.policies import POLICIES
from confee.policies.base import PAPER

BUDGETS, VARIATIONS = [3.2e4 * 2**i for i in range(6)], [1, 2, 4, 8, 16, 32]
PROVED = Rate(K=1 / 3, V=1 / 3, B=-1 / 3)


def policy(rate, id="mine"):
    return dataclasses.replace(POLICIES["ucb1"], id=id, rate=rate)


def law(B=-1 / 3, V=1 / 3, factor=0.5):
    return lambda b, v: (
        factor * (v / 4) ** V * (b / 3.2e4) ** B if v else 2e-3 * (b / 3.2e4) ** -0.5
    )


@pytest.fixture
def judged(monkeypatch):
    """The verdict on `mine`, whose regret follows a law, beside controls that come out."""

    def judge(rate, mine):
        monkeypatch.setitem(POLICIES, "mine", policy(rate))
        mine_too = {**claims.CLAIMS, "policy-rate/mine": policy_rate.claim("mine")}
        monkeypatch.setattr(claims, "CLAIMS", mine_too)
        laws = {
            "mine": mine,
            IDEAL: law(factor=0.3),
            USUAL.negative["V"]: law(V=0.6, factor=0.2),
            USUAL.negative["B"]: law(B=0.0),
            "uniform": lambda b, v: 0.95,
        }
        rng = np.random.default_rng(1)
        rows, points = [], []
        cells = [("B_at_V4", "B", B, B, 4) for B in BUDGETS]
        cells += [("V_at_5e5", "V", V, 5.12e5, V) for V in VARIATIONS]
        cells += [("B_at_V4", "B", B, B, 0) for B in (BUDGETS[0], BUDGETS[-1])]
        cells += [("V_at_5e5", "V", 0, 5.12e5, 0)]
        for label, regret in laws.items():
            for axis, variable, point, B, V in cells:
                T = int(10 * B)
                points.append((label, label, axis, variable, point, 0, 4, T, int(B), V))
                for seed in range(12):
                    noise = 1 + 0.02 * rng.standard_normal()
                    rows.append(
                        (
                            label,
                            label,
                            "single_jump",
                            0.1,
                            4,
                            T,
                            int(B),
                            V,
                            seed,
                            regret(B, V) * T * noise,
                        )
                    )
        columns = ["label", "policy", "adversary", "adversary.gap", *"KTBV", "seed", "regret"]
        runs = pd.DataFrame(rows, columns=columns).drop_duplicates(["label", *"KTBV", "seed"])
        columns = ["label", "policy", "axis", "variable", "point", "phase", *"KTBV"]
        places = pd.DataFrame(points, columns=columns)
        worst = worst_cases(runs.astype({"V": float}), 4)
        worst[["edge", "ceiling", "at_limit"]] = False
        evidence = Evidence(runs, worst, pd.DataFrame(), places.astype({"V": float}), choose=4)
        (found,) = claims.judge(evidence, ["policy-rate/mine"])
        return found

    return judge


def test_a_rate_that_is_kept_is_consistent_and_one_that_is_not_fails(judged):
    kept = judged(PROVED, law())
    assert (kept.id, kept.as_printed) == ("policy-rate/mine", "consistent")
    assert all(one.as_expected for one in kept.controls)
    missed = judged(PROVED, law(B=-0.2))
    assert (missed.as_printed, missed.severity) == ("fails", "horizon")


def test_a_weaker_theorem_is_kept_by_the_same_runs_and_a_bolder_one_is_not(judged):
    """The control that must hold keeps its own rate, whatever is claimed of the other policy."""
    mine = law(B=-0.25)
    assert judged(Rate(K=1 / 3, V=1 / 3, B=-1 / 4), mine).as_printed == "consistent"
    bold = judged(Rate(K=1 / 3, V=1 / 3, B=-1 / 2), law())
    assert bold.as_printed == "fails"
    assert all(one.as_expected for one in bold.controls)


def test_a_factor_is_forgiven_as_declared(judged):
    mine = law(B=-0.28)
    assert judged(PROVED, mine).as_printed == "fails"
    wide = dataclasses.replace(PROVED, log=lambda size: math.log(size.B) ** 0.7)
    assert judged(wide, mine).as_printed == "consistent"


def test_a_theorem_that_holds_nowhere_here_is_not_judged(judged):
    nowhere = dataclasses.replace(PROVED, in_range=lambda size: size.B > 1e9)
    assert judged(nowhere, law(B=-0.2)).as_printed == "undecided"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"B": "x"}, "rate.B=x: must be a number"),
        ({"V": math.nan}, "rate.V=nan: must be a number"),
        ({"positive": {"X": "a"}}, "rate.positive.X: no such key"),
    ],
)
def test_a_bad_rate_is_said_in_one_line(values, said):
    with pytest.raises(ConfeeError) as error:
        Rate(**{"K": 1 / 3, "V": 1 / 3, "B": -1 / 3, **values})
    assert str(error.value).startswith(said)


def test_no_policy_of_the_paper_is_judged_twice():
    judged = {claim.id.removeprefix(policy_rate.PREFIX) for claim in policy_rate.CLAIMS}
    assert "lookout" in judged
    assert not any(POLICIES[policy].role == PAPER for policy in judged)

"""Option `quota` of HyQue and BaQue: which active rounds count in a block that T cuts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.core.size import Size
from confee.paper import theory
from confee.policies import POLICIES
from confee.policies.blocks import arrange, draw_instances, limit_quotas
from confee.simulation.cells import cell
from confee.world.path import Path
from support import plays, reference

WITH_QUOTA = {
    "baque",
    "hyque",
    "hyque_blind",
    "hyque_calibrated",
    "hyque_discarding",
    "hyque_falcon",
    "hyque_glm_ucb",
    "hyque_oful",
    "hyque_q_ucb",
}


def run(policy, K, T, B, seed, **options):
    """One run on a stationary path; at scale 1 no change test can fire at these horizons."""
    path = Path.steps(np.ones(1), np.linspace(0.3, 0.7, K)[None], T)
    row = plays.play(policy, path, B, 0, seed, **options)
    assert row["restarts"] == 0
    return row


@st.composite
def sizes(draw):
    """(K, T, B): any, or cut at a share of the last block, with a budget near 2T/b."""
    K = draw(st.integers(2, 4))
    if draw(st.booleans()):
        T = draw(st.integers(K, 3000))
        return K, T, draw(st.integers(K, T))
    b, n = draw(st.integers(2, 30)), draw(st.integers(1, 7))
    share = draw(st.sampled_from([0.01, 0.02, 0.04, 0.08, 0.5]))
    T = max(K, b * (2**n - 1) + max(1, round(share * b * 2**n)))
    return K, T, min(T, max(K, -(-2 * T // b) - draw(st.integers(0, 3))))


@settings(max_examples=400, derandomize=True, deadline=None)
@given(sizes=sizes(), seed=st.integers(0, 2**32), policy=st.sampled_from(["hyque", "baque"]))
def test_without_restarts_the_default_never_asks_for_more_than_B(sizes, seed, policy):
    K, T, B = sizes
    row = run(policy, K, T, B, seed)
    assert row["denied"] == 0
    assert row["queries"] <= B
    # The baseline makes a query for each whole slot up to T, so this is left for conversions.
    assert row["conversions"] <= B - T // theory.slot_length(T, B)


def test_under_block_some_runs_ask_for_more_than_B():
    """T 1 % into a block of 4 slots of 100 rounds."""
    T, B = 304, 7
    denied = {
        quota: [run("hyque", 2, T, B, seed, quota=quota)["denied"] for seed in range(200)]
        for quota in ("horizon", "block")
    }
    assert max(denied["horizon"]) == 0
    assert max(denied["block"]) > 0


@pytest.mark.parametrize("policy", ["hyque", "baque"])
@pytest.mark.parametrize(("b", "n"), [(2, 4), (7, 6), (20, 3)])
def test_both_readings_are_one_where_the_last_block_is_complete(policy, b, n):
    T = b * (2 ** (n + 1) - 1)
    B = 2 * T // b
    for seed in range(10):
        one, other = (run(policy, 3, T, B, seed, quota=quota) for quota in ("horizon", "block"))
        assert one == other


def test_readings_differ_where_it_is_cut():
    rows = [run("baque", 2, 300, 75, 3, quota=quota) for quota in ("horizon", "block")]
    assert rows[0] != rows[1]


@settings(max_examples=100, derandomize=True, deadline=None)
@given(n=st.integers(0, 8), b=st.integers(2, 9), share=st.floats(0, 1.2), seed=st.integers(0, 99))
def test_quotas_of_a_cut_block_are_those_of_brute_force(n, b, share, seed):
    rounds = max(1, round(share * b * 2**n))
    orders, starts = draw_instances(n, np.random.default_rng(seed))
    pieces, quotas, _ = arrange(orders, starts)
    whole = quotas.tolist()
    limit_quotas(pieces, quotas, b, rounds)
    slots = [[] for _ in orders]
    for first, end, i in pieces.tolist():
        slots[i] += range(first, end)
    assert quotas.tolist() == [
        reference.baseline_quota(rounds, b, 1, mine, "horizon") for mine in slots
    ]
    assert whole == [reference.baseline_quota(rounds, b, 1, mine, "block") for mine in slots]
    assert quotas.sum() <= -(-rounds // b)


def test_an_instance_cut_in_its_first_slot_queries_once():
    pieces = np.array([[0, 4, 0], [4, 8, 1]])
    for rounds, quotas in ((1, [1, 0]), (4, [1, 0]), (19, [3, 0]), (21, [4, 1]), (40, [4, 4])):
        found = np.array([4, 4])
        limit_quotas(pieces, found, 5, rounds)
        assert found.tolist() == quotas


def test_policies_with_a_baseline_have_the_option():
    found = {
        id
        for id, policy in POLICIES.items()
        if "quota" in {field.name for field in dataclasses.fields(policy.options)}
    }
    assert found == WITH_QUOTA
    for id in found:
        assert POLICIES[id].options().quota == "horizon"
    usual, other = (
        cell({"name": "hyque", "quota": q}, Size(K=2, T=100, B=50, V=1)).label
        for q in ("horizon", "block")
    )
    assert (usual, other) == ("hyque", "hyque(quota=block)")

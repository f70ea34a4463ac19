"""Canonical values: equal keys give equal digests and streams, in every process, for good."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.core.canonical import canonical, digest, dumps, stream
from confee.core.errors import ConfeeError
from confee.paper import theory

KEY = {"policy": "hyque", "options": {"scale": 1, "buffer": "body"}, "T": 10000, "V": 0.1}
few = settings(max_examples=60, derandomize=True, deadline=None)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "same",
    [1e4, 10000, np.float64(1e4), np.int64(10000), np.float32(1e4)],
    ids=lambda v: f"{type(v).__name__}-{v}",
)
def test_one_number_one_key(same):
    assert dumps(same) == "10000"
    assert digest({"T": same}) == digest({"T": 10000})
    assert stream("path", same).random() == stream("path", 10000).random()


def test_order_of_keys_and_kind_of_sequence_do_not_matter():
    other = {"V": 0.1, "T": 1e4, "options": {"buffer": "body", "scale": 1.0}, "policy": "hyque"}
    assert dumps(KEY) == dumps(other)
    assert dumps((1, [2.0])) == dumps([1, (2,)])
    # ... but the order of a sequence does, and a number is not a word or a flag.
    assert len({dumps([1, 2]), dumps([2, 1]), dumps(["1", 2]), dumps([True, 2])}) == 4


def test_known_text_digest_and_numbers():
    """Pinned: a change here would rename every result and change every number."""
    text = '{"T":10000,"V":0.1,"options":{"buffer":"body","scale":1},"policy":"hyque"}'
    assert dumps(KEY) == text
    assert digest(KEY) == "a718c3d110f0e412"
    drawn = stream("path", KEY, 3).integers(0, 10**9, 4).tolist()
    assert drawn == [7704548, 779187199, 435183831, 958977232]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), np.float64("nan")])
def test_refuses_what_is_not_finite(bad):
    for value in (bad, [1, bad], {"T": {"deep": bad}}):
        with pytest.raises(ConfeeError, match="must be a finite number"):
            digest(value)
        with pytest.raises(ConfeeError, match="must be a finite number"):
            stream(value)


@pytest.mark.parametrize("bad", [{1, 2}, object(), 1j])
def test_refuses_what_has_no_canonical_form(bad):
    with pytest.raises(ConfeeError, match="must be a number, a word, a list or a mapping"):
        canonical(bad)


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_the_same_in_another_process(seed):
    code = (
        "from confee.core.canonical import digest, stream\n"
        f"key = {KEY!r}\n"
        "print(digest(key), stream('path', key, 3).random())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == [digest(KEY), str(stream("path", KEY, 3).random())]


@settings(max_examples=30, derandomize=True, deadline=None)
@given(value=values)
def test_canonical_is_a_fixed_point(value):
    once = canonical(value)
    assert canonical(once) == once
    assert dumps(once) == dumps(value)


@few
@given(one=values, other=values)
def test_streams_are_equal_when_keys_are(one, other):
    same = dumps([one]) == dumps([other])
    assert (stream(one).random() == stream(other).random()) == same
    assert (digest([one]) == digest([other])) == same


def test_streams_of_nearby_keys_are_unrelated():
    """A thousand seeds: first numbers uniform, within 4 standard errors, and all different."""
    first = np.array([stream("path", "switching", 2, seed).random() for seed in range(1000)])
    assert len(set(first)) == 1000
    assert abs(first.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 1000)
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 4 / np.sqrt(1000)
    # Parts do not run into each other.
    assert stream("ab", "c").random() != stream("a", "bc").random()
    assert stream(["a"], "b").random() != stream("a", ["b"]).random()


def test_windows_of_tiny_variation_are_the_whole_budget():
    assert theory.window(2, 400, 5e-324) == 400
    assert theory.window(2, 400, 0) == 400
    assert theory.window(2, 400, 1e300) == 2
    assert theory.restart_period(2, 400, 5e-324) == 400
    assert theory.restart_period(2, 400, 0) == 400
    assert theory.restart_period(2, 400, 1e300) == 2

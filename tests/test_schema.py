"""Options with ranges: every error names the key, the value and the range, in one line."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.policies import POLICIES
from confee.simulation.cells import cell
from confee.world.adversaries import ADVERSARIES

few = settings(max_examples=60, derandomize=True, deadline=None)


@dataclass(frozen=True)
class Options:
    arms: int = schema.whole(low=2, high=100)
    size: float = schema.real(0.5, above=0, high=1)
    scale: float = schema.real(1.0, low=0)
    free: float = schema.real(0.0)
    pool: str = schema.choice("multiset", "multiset", "set")
    jitter: bool = schema.flag(False)
    file: str = schema.text("none", "a file's name")


def build(**values):
    return schema.build(Options, {"arms": 3, **values}, "policy")


def test_defaults_and_values():
    assert build() == Options(3, 0.5, 1, 0, "multiset", False, "none")
    one = build(arms=1e1, size=0.25, scale=2.0, free=-3, pool="set", jitter=True, file="a")
    assert one == Options(10, 0.25, 2, -3, "set", True, "a")
    assert isinstance(one.arms, int)
    assert isinstance(one.scale, int)  # canonical: whole numbers are ints, however written


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"arms": 1}, "policy.arms=1: must be a whole number in [2, 100]"),
        ({"arms": 101}, "policy.arms=101: must be a whole number in [2, 100]"),
        ({"arms": 2.5}, "policy.arms=2.5: must be a whole number in [2, 100]"),
        ({"arms": "3"}, "policy.arms=3: must be a whole number in [2, 100]"),
        ({"arms": True}, "policy.arms=True: must be a whole number in [2, 100]"),
        ({"arms": None}, "policy.arms=None: must be a whole number in [2, 100]"),
        ({"arms": [3]}, "policy.arms=[3]: must be a whole number in [2, 100]"),
        ({"size": 0}, "policy.size=0: must be a number in (0, 1]"),
        ({"size": 1.01}, "policy.size=1.01: must be a number in (0, 1]"),
        ({"scale": -1}, "policy.scale=-1: must be a number in [0, inf)"),
        ({"scale": float("inf")}, "policy.scale=inf: must be a number in [0, inf)"),
        ({"scale": float("nan")}, "policy.scale=nan: must be a number in [0, inf)"),
        ({"free": "x"}, "policy.free=x: must be a number"),
        ({"pool": "sets"}, "policy.pool=sets: must be one of multiset, set"),
        ({"pool": ["set"]}, "policy.pool=['set']: must be one of multiset, set"),
        ({"jitter": 1}, "policy.jitter=1: must be true or false"),
        ({"file": ""}, "policy.file='': must be a file's name"),
        ({"file": 3}, "policy.file=3: must be a file's name"),
        (
            {"sizes": 3},
            "policy.sizes=3: no such key; known: arms, size, scale, free, pool, jitter, file",
        ),
    ],
)
def test_errors_name_key_value_and_range(values, said):
    with pytest.raises(ConfeeError) as error:
        build(**values)
    assert str(error.value) == said


def test_missing_key():
    with pytest.raises(ConfeeError) as error:
        schema.build(Options, {}, "policy")
    assert str(error.value) == "policy.arms: missing; must be a whole number in [2, 100]"
    with pytest.raises(ConfeeError, match=r"^arms: missing"):
        schema.build(Options, {})


def test_whole_numbers_beyond_all_floats():
    with pytest.raises(ConfeeError, match=r"policy\.arms=1000+\.\.\.: must be a whole number"):
        build(arms=10**400)
    with pytest.raises(ConfeeError, match=r"policy\.size=a whole number of thousands of digits: "):
        build(size=10**5000)


def test_what_steers_a_terminal_is_written_out():
    error = ConfeeError("x=\x1b[31m\u202e\x00\n\udcff é数: must be")
    assert str(error) == "x=\\x1b[31m\\u202e\\x00 \\udcff é数: must be"


def test_long_values_are_cut():
    with pytest.raises(ConfeeError) as error:
        build(pool="x" * 1000)
    assert len(str(error.value)) < 120


@few
@given(value=st.floats() | st.integers())
def test_a_number_is_in_range_or_refused(value):
    fits = 0 < value <= 1
    try:
        assert build(size=value).size == value
        assert fits
    except ConfeeError:
        assert not fits


@pytest.mark.parametrize("spec", [*POLICIES.values(), *ADVERSARIES.values()], ids=lambda s: s.id)
def test_options_of_the_project(spec):
    """Defaults are in their own ranges, and an unknown key is named."""
    defaults = spec.options()
    values = {name: getattr(defaults, name) for name in spec.options.__dataclass_fields__}
    assert schema.build(spec.options, values) == defaults
    with pytest.raises(ConfeeError, match=r"^where\.typo=1: no such key; known: "):
        schema.build(spec.options, {"typo": 1}, "where")


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"K": 1}, r"K=1: must be a whole number in \[2, "),
        ({"T": 0}, r"T=0: must be a whole number in \[1, "),
        ({"T": 10.5}, r"T=10\.5: must be a whole number"),
        ({"B": 101}, r"B=101: must be a whole number in \[K, T\] = \[3, 100\]"),
        ({"B": 2}, r"B=2: must be a whole number in \[K, T\] = \[3, 100\]"),
        ({"V": -1}, r"V=-1: must be a number in \[0, 1e\+15\]"),
        ({"V": float("nan")}, r"V=nan: must be a number in \[0, 1e\+15\]"),
        ({"T": float("inf")}, r"T=inf: must be a whole number"),
    ],
)
def test_sizes_of_a_cell(sizes, said):
    with pytest.raises(ConfeeError, match="^" + said):
        cell({"name": "hyque"}, Size(**{"K": 3, "T": 100, "B": 50, "V": 1} | sizes))


def test_a_cell_is_canonical():
    one = cell({"name": "rexp3b", "pool": "set"}, Size(K=2.0, T=1e4, B=1e3, V=2))
    other = cell({"name": "rexp3b", "pool": "set"}, Size(K=2, T=10000, B=1000, V=2.0))
    assert one == other
    assert one.key == other.key
    assert one.label == "rexp3b(pool=set)"
    with pytest.raises(ConfeeError, match=r"policy\.name=nobody: unknown; known: adswitch, "):
        cell({"name": "nobody"}, Size(K=2, T=10, B=5, V=1))
    with pytest.raises(ConfeeError, match=r"policy\.pool=all: must be one of multiset, set"):
        cell({"name": "rexp3b", "pool": "all"}, Size(K=2, T=10, B=5, V=1))

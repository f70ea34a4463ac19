"""The ray that decided a verdict on a rate, found in the claim's own numbers.

A claim on a rate has in `numbers`, at some depth, what each ray says: a mapping from the ray's name
to the fields of `confee.claims.judging.exponents.Check`. The ray that decided is the one whose
excess is the claim's interval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from confee.rendering import numbers as written
from confee.rendering.looks import display

FIELDS = {"verdict", "points", "horizon"}
"""The keys by which a ray is recognised among other numbers."""


class Deciding(NamedTuple):
    """A ray: its policy (empty if the claim is about one), its name, its numbers."""

    policy: str
    ray: str
    numbers: Mapping[str, Any]

    @property
    def excess(self) -> tuple[float, float] | None:
        """The 95 % limits of the excess over the claimed exponent; None without a fit."""
        return _limits(self.numbers)

    @property
    def name(self) -> str:
        """What the ray is called in a sentence."""
        return re.sub(r"e\+0*", "e", self.ray).replace("relative to sw_ucb ", "over SW-UCB's ")

    @property
    def sentence(self) -> str:
        """Which ray decided, with the exponent, its 95 % CI and the claimed one."""
        owner = f"{display(self.policy)}, " if self.policy else ""
        where = f"{owner}{self.name}"
        n = self.numbers
        if self.excess is None:
            return f"{where}; no fit."
        if "growth" in n:
            return (
                f"{where}; saturated, regret over the rate grows {n['growth']:.2f}-fold per "
                f"30x in B."
            )
        value, low, high = (written.signed(n[key]) for key in ("exponent", "low", "high"))
        claimed = written.signed(n["rate"] + n.get("allowance", 0.0))
        end = "" if n.get("straight", True) else " at the far end"
        return (
            f"{where}; exponent {value}{end}, 95 % CI [{low}, {high}], claimed at most {claimed}."
        )

    @property
    def forms(self) -> list[str]:
        """The exponent, its 95 % CI and the claimed one, in ever fewer words."""
        ray = self.name
        where = f"{self.policy and display(self.policy) + ', '}{ray}"
        if self.excess is None:
            return [f"{where}: no fit", f"{ray}: no fit"]
        n = self.numbers
        if "growth" in n:
            text = f"saturated, R / rate \N{MULTIPLICATION SIGN} {n['growth']:.2g} per 30x"
            return [f"{where}: {text}", f"{ray}: {text}", f"{ray}: saturated"]
        value = written.exponent(n["exponent"], n["low"], n["high"])
        claimed = f"claimed {written.signed(n['rate'] + n.get('allowance', 0.0))}"
        end = "" if n.get("straight", True) else " at the end"
        return [
            f"{where}: {value}{end}, {claimed}",
            f"{where}: {value}{end}",
            f"{where}: {value}",
            f"{ray}: {value}",
        ]


def deciding(
    numbers: Mapping[str, Any], interval: Sequence[float] | None, interval_of: str
) -> Deciding | None:
    """Return the ray that decided a claim; None if the claim is not about a rate.

    Parameters
    ----------
    numbers, interval, interval_of
        As in a Finding. Without a fit the interval is empty or not finite, and `interval_of` names
        the ray.
    """
    rays = list(_rays(numbers))
    if interval is not None and all(map(math.isfinite, interval)):
        rays = [ray for ray in rays if ray.excess is not None and _same(ray.excess, interval)]
    else:
        rays = [ray for ray in rays if ray.excess is None]
    named = (ray for ray in rays if ray.ray in interval_of and ray.policy in interval_of)
    return next(named, None)


def _rays(numbers: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[Deciding]:
    for name, value in numbers.items():
        if not isinstance(value, Mapping):
            continue
        if value.keys() >= FIELDS:
            yield Deciding(path[-1] if path else "", name, value)
        else:
            yield from _rays(value, (*path, name))


def _limits(numbers: Mapping[str, Any]) -> tuple[float, float] | None:
    low, high = (numbers.get(name) for name in ("excess_low", "excess_high"))
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return float(low), float(high)


def _same(first: Sequence[float], second: Sequence[float]) -> bool:
    """Return whether two intervals agree up to the digits that claims.json keeps."""
    return all(
        math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-9) for a, b in zip(first, second, strict=True)
    )

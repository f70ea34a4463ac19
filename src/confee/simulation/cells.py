"""A cell (policy, K, T, B, V) and the adversaries it meets, with every number resolved."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confee import schema, theory
from confee.canonical import canonical
from confee.errors import ConfeeError
from confee.policies import Policy, policy
from confee.world.adversaries import Adversary, adversary

CEILING = "ceiling"


@dataclass(frozen=True)
class Sizes:
    """K arms, horizon T, budget B, variation V."""

    K: int = schema.whole(low=2, high=100_000)
    T: int = schema.whole(low=1, high=10**15)
    B: int = schema.whole(low=1)
    V: float = schema.real(low=0)


@dataclass(frozen=True)
class Cell:
    """One policy with its options, at one (K, T, B, V)."""

    policy: str
    options: Any
    K: int
    T: int
    B: int
    V: float

    @property
    def spec(self) -> Policy:
        return policy(self.policy)

    @property
    def label(self) -> str:
        return self.spec.label(self.options)

    @property
    def key(self) -> dict[str, Any]:
        """Canonical parameters."""
        sizes = {name: getattr(self, name) for name in "KTBV"}
        options = dataclasses.asdict(self.options)
        return canonical({"policy": self.policy, "options": options, **sizes})


def cell(conf: Mapping[str, Any], where: str = "policy", **sizes: Any) -> Cell:
    """The cell of `conf`, {"name": id, **options}, at sizes K, T, B, V.

    Raises ConfeeError naming what is unknown, missing or out of range: K <= B <= T, V >= 0.
    """
    values = dict(conf)
    spec = policy(values.pop("name", None))
    options = schema.build(spec.options, values, where)
    checked = schema.build(Sizes, sizes)
    if not checked.K <= checked.B <= checked.T:
        raise ConfeeError(
            f"B={checked.B}: must be a whole number in [K, T] = [{checked.K}, {checked.T}]"
        )
    return Cell(spec.id, options, checked.K, checked.T, checked.B, checked.V)


@dataclass(frozen=True)
class Opponent:
    """An adversary with the numbers that its paths at one (K, T, B, V) depend on."""

    adversary: str
    resolved: tuple[tuple[str, Any], ...]

    @property
    def spec(self) -> Adversary:
        return adversary(self.adversary)

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.resolved)

    @property
    def key(self) -> list[Any]:
        return canonical([self.adversary, self.parameters])


def opponent(conf: Mapping[str, Any], where: str = "adversary", **sizes: Any) -> Opponent:
    """The opponent of `conf`, {"name": id, **parameters}. Raises ConfeeError as `cell` does."""
    values = dict(conf)
    spec = adversary(values.pop("name", None))
    options = schema.build(spec.options, values, where)
    resolved = canonical(spec.resolve(options, **sizes))
    return Opponent(spec.id, tuple(sorted(resolved.items())))


def family(entries: Mapping[str, Mapping[str, Any]], K, T, B, V) -> list[Opponent]:
    """The opponents of an experiment at one (K, T, B, V).

    A parameter may be a list: each value is an opponent. `strength` is a list of gaps in units of
    the critical gap (K V / B)^{1/3}, or `ceiling`; what lies above the ceiling is left out, and so
    is what V cannot pay for.
    """
    found: dict[str, Opponent] = {}
    for label, entry in entries.items():
        where = f"family.{label}"
        for conf in _expanded(dict(entry), where, K, B, V):
            try:
                one = opponent(conf, where, K=K, T=T, B=B, V=V)
            except ConfeeError:
                if "strength" in entry or "c" in entry:
                    continue  # out of this cell's range, not a mistake in conf
                raise
            found.setdefault(str(one.key), one)
    return list(found.values())


def _expanded(entry: dict[str, Any], where: str, K, B, V) -> list[dict[str, Any]]:
    spec = adversary(entry.get("name"))  # type: ignore[arg-type]
    strengths = entry.pop("strength", None)
    if strengths is not None:
        if spec.strength is None:
            raise ConfeeError(f"{where}.strength: {spec.id} has none")
        critical = theory.critical_gap(K, B, V)
        gaps = []
        for value in strengths if isinstance(strengths, list) else [strengths]:
            if value != CEILING and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise ConfeeError(
                    f"{where}.strength={schema.show(value)}: must be a number over 0 or {CEILING}"
                )
            gap = spec.ceiling if value == CEILING else value * critical
            if 0 < gap <= spec.ceiling:
                gaps.append(gap)
        entry[spec.strength] = gaps
    confs = [{}]
    for key, value in entry.items():
        values = value if isinstance(value, list) else [value]
        confs = [conf | {key: one} for conf in confs for one in values]
    return confs

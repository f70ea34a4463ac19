"""A cell (policy, K, T, B, V) and the adversaries it meets, with every number resolved."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from confee.core import plugins, schema
from confee.core.canonical import canonical
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.paper import theory
from confee.policies import POLICIES, Policy, policy
from confee.world.adversaries import ADVERSARIES, Adversary, adversary
from confee.world.settings import SETTINGS

CEILING = "ceiling"
MOST = 10_000
"""Opponents that an entry of the family may stand for."""


@dataclass(frozen=True)
class SizeRanges:
    """The range of each part of a `Size`."""

    K: int = schema.whole(low=2, high=100_000)
    T: int = schema.whole(low=1, high=10**15)
    B: int = schema.whole(low=1)
    V: float = schema.real(low=0, high=10**15)


@dataclass(frozen=True)
class Cell:
    """One policy with its options, at one size."""

    policy: str
    options: Any
    size: Size

    @property
    def spec(self) -> Policy:
        return policy(self.policy)

    @property
    def label(self) -> str:
        return self.spec.label(self.options)

    @cached_property
    def key(self) -> dict[str, Any]:
        """Canonical parameters."""
        options = dataclasses.asdict(self.options)
        return canonical({"policy": self.policy, "options": options, **self.size._asdict()})


def _name(values: dict[str, Any], where: str, known: Mapping[str, Any]) -> str:
    """Takes the name out of `values`. Raises ConfeeError if it is not a known one."""
    name = values.pop("name", None)
    if not isinstance(name, str) or name not in known:
        raise ConfeeError(
            f"{where}.name={schema.show(name)}: unknown; known: {', '.join(sorted(known))}"
            f"{plugins.hint()}"
        )
    return name


def cell(conf: Mapping[str, Any], size: Size, where: str = "policy") -> Cell:
    """Return the cell of `conf`, {"name": id, **options}, at a size that is checked here.

    Raises ConfeeError naming what is unknown, missing or out of range: K <= B <= T, V >= 0.
    """
    values = dict(schema.mapping(conf, where))
    spec = policy(_name(values, where, POLICIES))
    options: Any = schema.build(spec.options, values, where)
    size = Size(**dataclasses.asdict(schema.build(SizeRanges, size._asdict())))
    if not size.K <= size.B <= size.T:
        raise ConfeeError(f"B={size.B}: must be a whole number in [K, T] = [{size.K}, {size.T}]")
    return Cell(spec.id, options, size)


def label_of(conf: Mapping[str, Any], where: str = "policy") -> str:
    """The label of a policy's conf: its id, with the options that differ from their defaults."""
    values = dict(schema.mapping(conf, where))
    spec = policy(_name(values, where, POLICIES))
    return spec.label(schema.build(spec.options, values, where))


@dataclass(frozen=True)
class Opponent:
    """An adversary with the numbers that its paths at one size are drawn by.

    `resolved` holds all of them; `parameters` those that paths depend on, so not where a file lies.
    """

    adversary: str
    resolved: tuple[tuple[str, Any], ...]

    @property
    def spec(self) -> Adversary:
        return adversary(self.adversary)

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: value for name, value in self.resolved if name != self.spec.location}

    @cached_property
    def key(self) -> list[Any]:
        return canonical([self.adversary, self.parameters])


def opponent(conf: Mapping[str, Any], size: Size, where: str = "adversary") -> Opponent:
    """Return the opponent of `conf`, {"name": id, **parameters}. Raises ConfeeError as `cell`."""
    return _resolved(*_options(conf, where), size)


def _options(conf: Mapping[str, Any], where: str) -> tuple[Adversary, Any]:
    values = dict(schema.mapping(conf, where))
    spec = adversary(_name(values, where, ADVERSARIES))
    return spec, schema.build(spec.options, values, where)


def _resolved(spec: Adversary, options: Any, size: Size) -> Opponent:
    resolved = canonical(spec.resolve(options, size))
    return Opponent(spec.id, tuple(sorted(resolved.items())))


def family(
    entries: Mapping[str, Mapping[str, Any]], size: Size, setting: str | None = None, who: str = ""
) -> list[Opponent]:
    """Return the opponents of an experiment at one size.

    With a `setting`, those that a policy of it (`who`) meets: of its own setting if there are any,
    else of another one that it can play (see `Setting.plays`).

    A parameter may be a list: each value is an opponent. `strength` is a list of gaps in units of
    the critical gap (K V / B)^{1/3}, where V = 0 of sqrt(K / B), or `ceiling`; what lies above the
    ceiling is left out, and so is what V cannot pay for. Raises ConfeeError on a mistake in an
    entry, or if nothing is left.
    """
    opponents: dict[str, Opponent] = {}
    met = _met(entries, setting, who) if setting else None
    for label, entry in entries.items():
        where = f"family.{label}"
        if met and _setting(entry) not in (met, None):
            continue
        for conf in _expanded(dict(entry), where, size):
            spec, options = _options(conf, where)
            try:
                resolved = _resolved(spec, options, size)
            except ConfeeError as error:
                if "strength" in entry or "c" in entry:
                    continue  # The strength is out of range at this size: no mistake in conf.
                raise ConfeeError(f"{where}: at {size}: {error}") from None
            opponents.setdefault(str(resolved.key), resolved)
    if not opponents:
        raise ConfeeError(
            f"family: no adversary is possible at {size}; must have one that V can pay for"
        )
    return list(opponents.values())


def _met(entries: Mapping[str, Mapping[str, Any]], setting: str, who: str) -> str:
    """The setting whose adversaries a policy of `setting` meets. Raises ConfeeError if none is."""
    offered = {_setting(entry) for entry in entries.values()}
    playable = SETTINGS[setting].plays
    for candidate in playable:
        if candidate in offered or None in offered:  # An unknown adversary is refused later.
            return candidate
    raise ConfeeError(
        f"family: has adversaries of {', '.join(sorted(filter(None, offered)))}; must have some of "
        f"{' or '.join(playable)}, as policies.{who} plays that setting"
    )


def _setting(entry: Mapping[str, Any]) -> str | None:
    """The setting of an entry's adversary; None if there is no such adversary."""
    spec = ADVERSARIES.get(str(entry.get("name")))
    return spec.setting if spec else None


@dataclass(frozen=True)
class _Relative:
    strength: float = schema.real(above=0)


_STRENGTH = dataclasses.fields(_Relative)[0]


def _expanded(entry: dict[str, Any], where: str, size: Size) -> list[dict[str, Any]]:
    """Return one conf for each combination of an entry's lists, with strengths as gaps."""
    spec = adversary(_name(dict(entry), where, ADVERSARIES))
    strengths = entry.pop("strength", None)
    if strengths is not None:
        if spec.strength is None:
            raise ConfeeError(
                f"{where}.strength={schema.show(strengths)}: must not be given: {spec.id} has none"
            )
        field = next(f for f in dataclasses.fields(spec.options) if f.name == spec.strength)
        for value in _listed(entry.get(spec.strength, [])):
            schema.check(field, value, f"{where}.{spec.strength}")
        K, _, B, V = size
        critical = theory.critical_gap(K, B, V) if V > 0 else theory.still_gap(K, B)
        gaps = []
        for value in _listed(strengths):
            value = schema.check(_STRENGTH, value, f"{where}.strength", CEILING)
            gap = spec.ceiling if value == CEILING else value * critical
            if 0 < gap <= spec.ceiling:
                gaps.append(gap)
        entry[spec.strength] = gaps
    several = math.prod(len(value) for value in entry.values() if isinstance(value, list))
    if several > MOST:
        raise ConfeeError(f"{where}: its lists make {several} opponents; must be at most {MOST}")
    confs: list[dict[str, Any]] = [{}]
    for key, value in entry.items():
        confs = [conf | {key: item} for conf in confs for item in _listed(value)]
    return confs


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]

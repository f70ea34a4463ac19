"""What a policy is: an id, what it is told, its options, and a kernel that plays a path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from confee.core.errors import ConfeeError
from confee.policies.rate import Rate

TOLD = {"T", "B", "V", "S", "path"}
"""What a policy may be told."""


@dataclass(frozen=True)
class NoOptions:
    """A policy without options."""


@dataclass(frozen=True)
class Policy:
    """A policy of the comparison.

    `kernel(world, ledger, K, T, B, *arguments(K, T, B, V, options), rng)` plays one path, by calls
    of `query` and `idle` (see `confee.world.game`). `told` names what it knows beside K: T, B, V,
    S, or the path itself. A policy not told V gets V = None in `arguments`; one told S, the number
    of stationary pieces (see `Path.pieces`), has it as a further argument: `arguments(..., S)`.
    `setting`: the game it plays, one of `confee.world.settings`; in others than `arms` what is
    known of the world (features, sizes) stands in K's place. `algorithm`: the base algorithm that
    it plays, if it was made over one. `lanes(lanes, ledger, K, T, B, *arguments)` plays many paths
    at once (see `confee.world.lanes`) if the options are `in_step`, and with the same results.
    `rate`: what its theorem claims, which the claim `policy-rate/<id>` judges.
    """

    id: str
    summary: str
    kernel: Callable[..., Any]
    told: tuple[str, ...] = ("T", "B")
    options: type = NoOptions
    arguments: Callable[..., tuple] = lambda K, T, B, V, options: ()
    calibrated: bool = False
    control: bool = False
    setting: str = "arms"
    algorithm: Any = None
    lanes: Callable[..., Any] | None = None
    rate: Rate | None = None

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.told) - TOLD):
            known = ", ".join(sorted(TOLD))
            raise ConfeeError(f"policy={self.id}: told {', '.join(unknown)}; must be among {known}")
        if self.rate is not None and not isinstance(self.rate, Rate):
            raise ConfeeError(f"policy={self.id}: rate={self.rate!r}: must be Rate(K=, V=, B=)")
        for name in ("kernel", "arguments"):
            if not callable(getattr(self, name)):
                raise ConfeeError(f"policy={self.id}: {name} must be a function")

    def kernel_arguments(self, known: Any, T: int, B: int, V: float, S: int, options: Any) -> tuple:
        """What the kernel gets before rng. Raises ConfeeError if `arguments` gives no tuple."""
        more = (S,) if "S" in self.told else ()
        try:
            found = self.arguments(known, T, B, V if "V" in self.told else None, options, *more)
        except TypeError as error:
            raise ConfeeError(f"policy={self.id}: arguments: {error}") from None
        if not isinstance(found, tuple):
            raise ConfeeError(f"policy={self.id}: arguments must return a tuple")
        return found

    def label(self, options: Any) -> str:
        """The id, with the options that differ from their defaults: `rexp3b(pool=set)`."""
        changed = [
            f"{f.name}={getattr(options, f.name)}"
            for f in fields(self.options)
            if getattr(options, f.name) != f.default
        ]
        return f"{self.id}({', '.join(changed)})" if changed else self.id

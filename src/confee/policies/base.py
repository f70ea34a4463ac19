"""A policy: its id, what it is given, its options, and the kernel that plays a path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from confee.core.errors import ConfeeError
from confee.policies.growth import Growth
from confee.policies.look import Look
from confee.policies.rate import Rate

GIVEN = {"T", "B", "V", "S", "path"}
"""What a policy may be given beside K."""

PAPER, RIVAL, CONTROL, ORACLE, UNIFORM = "paper", "rival", "control", "oracle", "uniform"
ROLES = {
    PAPER: "a policy of the paper",
    RIVAL: "a policy of the literature, or of your own",
    CONTROL: "made to fail or to hold: a control of claims",
    ORACLE: "knows the path",
    UNIFORM: "plays all decisions alike and never queries",
}
"""Role -> what a policy of this role is."""


class Known(NamedTuple):
    """What a policy is given before round 1.

    Parameters
    ----------
    K
        The number of arms; in other settings what is known of the game, see `Setting`.
    T, B
        The horizon and the query budget.
    V
        The variation budget; None if the policy is not given it.
    S
        The least number of intervals in each of which one arm stays best, 1 on a stationary path;
        None if the policy is not given it.
    """

    K: Any
    T: int
    B: int
    V: Any = None
    S: Any = None


@dataclass(frozen=True)
class NoOptions:
    """A policy without options."""


@dataclass(frozen=True)
class Policy:
    """A policy. A module of this package that defines `POLICY` adds one.

    Parameters
    ----------
    id, name, summary
        The id is the module's name; `name` is what figures say (the id if empty); `summary` is one
        line for `confee list`.
    kernel
        `kernel(world, ledger, K, T, B, *arguments(known, options), rng)` plays one path by calls of
        `query` and `idle`, see `confee.world.game`. In settings other than `arms`, what is known of
        the game takes the place of K.
    known
        What it is given beside K: some of T, B, V, S, or the path itself.
    options
        A dataclass of `confee.core.schema` fields: their defaults, ranges and descriptions.
    arguments
        From `Known` and the options to a tuple, the kernel's own arguments. More than five numbers
        go into one NamedTuple, as in `confee.policies.hyque`; numba reads its fields at no cost.
        Arrays stay outside: in a NamedTuple they cost a query 4 to 8 %.
    calibrated
        Whether the scale of its change tests is measured on stationary paths first.
    setting
        The kind of game it plays, one of `confee.world.settings`.
    algorithm
        Its base algorithm, if it was made over one.
    lanes
        `lanes(lanes, ledger, K, T, B, *arguments)` plays many paths at once with the same results,
        see `confee.world.lanes`; used if `in_step` of the options does not forbid it.
    rate
        The rate of its theorem, which the claim `policy-rate/<id>` judges.
    role
        One of ROLES.
    look, variants
        How it is drawn; `variants` maps a label to its look if it differs from the policy's.
    growth
        What is fixed beforehand about its regret curve. If not given, it follows from `rate`.
    """

    id: str
    summary: str
    kernel: Callable[..., Any]
    name: str = ""
    known: tuple[str, ...] = ("T", "B")
    options: type = NoOptions
    arguments: Callable[[Known, Any], tuple] = lambda known, options: ()
    calibrated: bool = False
    setting: str = "arms"
    algorithm: Any = None
    lanes: Callable[..., Any] | None = None
    rate: Rate | None = None
    role: str = RIVAL
    look: Look | None = None
    variants: Mapping[str, Look] = field(default_factory=dict)
    growth: Growth | None = None

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.known) - GIVEN):
            allowed = ", ".join(sorted(GIVEN))
            raise ConfeeError(
                f"policy={self.id}: known {', '.join(unknown)}; must be among {allowed}"
            )
        if self.rate is not None and not isinstance(self.rate, Rate):
            raise ConfeeError(f"policy={self.id}: rate={self.rate!r}: must be Rate(K=, V=, B=)")
        if self.role not in ROLES:
            allowed = ", ".join(ROLES)
            raise ConfeeError(f"policy={self.id}: role={self.role}: must be one of {allowed}")
        for name in ("kernel", "arguments"):
            if not callable(getattr(self, name)):
                raise ConfeeError(f"policy={self.id}: {name} must be a function")

    @property
    def looks_at_nothing(self) -> bool:
        """Whether it learns from no query, so that a round costs it next to nothing."""
        return self.role in (ORACLE, UNIFORM)

    def kernel_arguments(self, game: Any, T: int, B: int, V: float, S: int, options: Any) -> tuple:
        """Return the kernel's own arguments.

        Raises
        ------
        ConfeeError
            If `arguments` fails on what the policy is given, or does not return a tuple.
        """
        given = {name: value for name, value in (("V", V), ("S", S)) if name in self.known}
        known = Known(game, T, B, **given)
        try:
            own = self.arguments(known, options)
        except TypeError as error:
            raise ConfeeError(f"policy={self.id}: arguments: {error}") from None
        if not isinstance(own, tuple):
            raise ConfeeError(f"policy={self.id}: arguments must return a tuple")
        return own

    def label(self, options: Any) -> str:
        """The id with the options that differ from their defaults, as in `rexp3b(pool=set)`."""
        changed = [
            f"{f.name}={getattr(options, f.name)}"
            for f in fields(self.options)
            if getattr(options, f.name) != f.default
        ]
        return f"{self.id}({', '.join(changed)})" if changed else self.id

"""A policy from a class with `act()` and `observe(arm, reward)`, as most libraries have them.

The class is asked for an arm in B rounds that are T/B apart and is given the reward. The arm is
played until the class is asked again. So the class needs to know nothing of budgets: it plays a
game of B rounds. It runs as Python, about 60 times slower per query than a compiled policy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.policies.base import NoOptions, Policy
from confee.policies.rate import Rate
from confee.world.game import idle, new_data, query


def from_class(
    id: str,
    make: Callable[..., Any],
    *,
    summary: str = "a class with act and observe, asked every T/B rounds",
    known: tuple[str, ...] = ("T", "B"),
    options: type = NoOptions,
    rate: Rate | None = None,
) -> Policy:
    """Return the policy that plays `make(known, options, rng)`.

    Parameters
    ----------
    id, summary, known, options, rate
        As for `Policy`.
    make
        From a `Known` (K, T, B, and V and S if the policy is given them), the options and a numpy
        Generator, from which all of its randomness must come, to an object with two functions:
        `act()` returns an arm in 0..K-1; `observe(arm, reward)` is given the arm and 0.0 or 1.0.

    Examples
    --------
    >>> class First:
    ...     def act(self):
    ...         return 0
    ...
    ...     def observe(self, arm, reward):
    ...         pass
    >>> POLICY = from_class("first", lambda known, options, rng: First())
    """

    def new_agent(*arguments):
        try:
            agent = make(*arguments)
        except TypeError as error:
            raise ConfeeError(f"policy={id}: make(known, options, rng): {error}") from None
        for name in ("act", "observe"):
            if not callable(getattr(agent, name, None)):
                raise ConfeeError(f"policy={id}: what make returns has no function {name}")
        return agent

    def play(world, ledger, K, T, B, known, chosen, rng):
        agent, data = new_agent(known, chosen, rng), new_data(K)
        t, carry = 1, 0  # `carry` keeps the remainder of T / B, so that queries are evenly spaced.
        for _ in range(B):
            arm = agent.act()
            if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < K:
                raise ConfeeError(
                    f"policy={id}: act must return an arm as a whole number in [0, {K - 1}]; it "
                    f"gave {schema.show(arm)}"
                )
            agent.observe(int(arm), query(world, ledger, data, t, int(arm), rng))
            after, carry = t + T // B, carry + T % B
            if carry >= B:
                after, carry = after + 1, carry - B
            weights = np.zeros(K)
            weights[arm] = 1.0
            idle(world, ledger, data, t + 1, after, weights, rng)
            t = after

    return Policy(
        id=id,
        summary=summary,
        kernel=play,
        known=known,
        options=options,
        arguments=lambda known, chosen: (known, chosen),
        rate=rate,
    )

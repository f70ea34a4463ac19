"""What a policy declares about its regret, with `hyque_tuned` as a policy among others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.evidence import tuned
from confee.policies import POLICIES
from confee.policies.base import UNIFORM
from confee.policies.growth import Growth

if TYPE_CHECKING:
    import pandas as pd

    from confee.policies.rate import Rate


def growth(policy: str) -> Growth:
    """Return the growth of a policy's regret: as the policy declares, or as its rate implies."""
    id = tuned.OF if policy == tuned.TUNED else policy
    spec = POLICIES.get(id)
    if spec is None:
        return Growth()
    if spec.growth is None and spec.rate is not None:
        return Growth(claimed=spec.rate.law, in_range=spec.rate.in_range)
    return spec.growth or Growth()


def rate_declared(policy: str) -> Rate | None:
    """The rate that a policy declares; None if it declares none, or is not known here."""
    return POLICIES[policy].rate if policy in POLICIES else None


def is_uniform(policy: pd.Series) -> pd.Series:
    """Whether each row's policy is uniform play: saturated by definition, so that only the
    theorem's range leaves a cell out."""
    ids = {id for id in policy.unique() if id in POLICIES and POLICIES[id].role == UNIFORM}
    return policy.isin(ids)

"""The test of `glr_ucb.changed`: the same answer at two thirds of its cost."""

from __future__ import annotations

from confee.core.jit import inlined, leaf
from confee.policies import glr_ucb


@leaf
def changed(sums, arm, n, splits, beta):
    """Whether the ratio at some split of the grid is at least beta.

    It can be only where a bound on it is, which is looked at first, at all splits and without a
    branch, so that the processor looks at several of them at once.

    Parameters
    ----------
    sums
        sums[arm, m]: rewards of the arm's first m plays, 0 or 1 each.
    n
        Its plays.
    splits
        As `glr_ucb.split_grid` makes them.
    """
    total = sums[arm, n]
    if total == 0 or total == n:
        return False
    mean = total / n
    bar = (1.0 - 1e-9) * beta * mean * (1.0 - mean) / n
    own, reached = sums[arm], False
    for i in range(tried(splits, n)):
        s = float(splits[i])
        reach = bar * s * (n - s)
        early = own[splits[i]] - s * mean
        late = total - own[n - splits[i]] - s * mean
        reached |= (early * early >= reach) | (late * late >= reach)
    return reached and glr_ucb.changed(sums, arm, n, splits, beta)


@inlined
def tried(splits, n):
    """How many splits s of the grid have 2 s <= n."""
    low, high = 0, splits.shape[0]
    while low < high:
        middle = (low + high) // 2
        if 2 * splits[middle] <= n:
            low = middle + 1
        else:
            high = middle
    return low

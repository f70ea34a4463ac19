"""A real series as mean rewards: what a non-stationary world that nobody designed looks like.

The series are columns of a CSV file; K of them, drawn at random, are the arms. From values x to
means in [1/2 - A/2, 1/2 + A/2], A = `amplitude`:

1. `means` says what is looked at, over the last w = `window` rows (so the first rows drop out):
   growth: x_t / x_{t-w} - 1. rises: the share of rows with x above that of the row before.
   levels: the mean of x over the window.
2. mu = 1/2 + A ((y - min y)/(max y - min y) - 1/2), with the extremes over all rows and the K arms.

A stretch of rows starts at a row drawn uniformly, and goes on, turning at each end of the series
(mirrored in time), until V is spent: rows take equal times, means are linear in between, and the
last row is cut. So small V is a part of the series in slow motion, large V many passes over it, and
A is what it says in either case. All of V is spent, unless the stretch has T rows before, or 10^5.

The file: a header row; the first column time (numbers or ISO dates, increasing), each other column
a series; every cell a number. `file: shipped` is monthly employment in 15 industries of the United
States, 2006 to 2015 (source and licence: us_employment.txt): with the defaults an arm is an
industry and its mean the growth of its employment over a year. Numbers depend on the file's
content, by its digest, and not on where it lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from confee.core import schema
from confee.core.errors import ConfeeError
from confee.world.adversaries import series
from confee.world.adversaries.base import Adversary, below_ceiling
from confee.world.adversaries.lines import through

CEILING = 1.0
MOST = 10**5
SHIPPED = Path(__file__).with_name("us_employment.csv")


@dataclass(frozen=True)
class Options:
    """file: a path, from the folder confee is called in; or `shipped`. means, window: see above.
    amplitude: from the lowest mean to the highest; the best arm's largest lead."""

    file: str = schema.text(
        "shipped",
        "the path of a CSV file, or shipped",
        about="or a path. shipped: employment in 15 industries, monthly, United States 2006-2015",
    )
    means: str = schema.choice(
        "growth",
        "growth",
        "rises",
        "levels",
        about="over the window: growth, rises (their share) or levels (their mean)",
    )
    window: int = schema.whole(12, low=1, high=10**6, about="rows")
    amplitude: float = schema.real(
        1.0,
        low=1e-9,
        high=CEILING,
        about="from the lowest mean to the highest; V then fixes how far the series is played",
    )

    def __post_init__(self) -> None:
        """A file that will not do is a mistake in conf, whatever the cell."""
        y = looked_at(self.series().values, self.means, self.window, self.file)
        if not np.ptp(y, axis=0).any():
            raise ConfeeError(f"{series.KEY}={self.file}: each of its series is constant")

    def series(self) -> series.Series:
        return series.read(place(self.file))


def place(file: str) -> Path:
    """Where the file is; absolute, as a job need not run where it was planned."""
    return SHIPPED if file == "shipped" else Path(file).expanduser().absolute()


def resolve(options, size):
    """The file by its digest; where it lies is for `draw` alone."""
    K = size.K
    amplitude = below_ceiling("adversary.amplitude", options.amplitude, CEILING)
    data = options.series()
    y = looked_at(data.values, options.means, options.window, options.file)
    constant, count = int((np.ptp(y, axis=0) == 0).sum()), y.shape[1]
    if not constant < K <= count:
        raise ConfeeError(
            f"K={K}: must be in [{max(2, constant + 1)}, {count}] for {series.KEY}={options.file}: "
            f"it has {count} series, {constant} of them constant"
        )
    said = {"means": options.means, "window": options.window, "amplitude": amplitude}
    file = "shipped" if options.file == "shipped" else str(place(options.file))
    return said | {"digest": data.digest, "file": file}


def looked_at(values: np.ndarray, means: str, window: int, file: str) -> np.ndarray:
    """y of step 1, [rows, series]. Raises ConfeeError if the values of `file` do not allow it."""
    named = f"{series.KEY}={file}"
    left = len(values) - window + (means == "levels")
    if left < 2:
        raise ConfeeError(
            f"adversary.window={window}: leaves {max(left, 0)} of the {len(values)} rows of "
            f"{named}; must leave 2"
        )
    if means == "growth":
        if values.min() <= 0:
            raise ConfeeError(
                f"adversary.means=growth: {named} has values that are not > 0; "
                "must be rises or levels for those"
            )
        with np.errstate(over="ignore"):
            y = values[window:] / values[:-window] - 1
        if not np.isfinite(np.ptp(y)):
            raise ConfeeError(f"adversary.means=growth: {named} has values too far apart")
        return y
    x = (np.diff(values, axis=0) > 0).astype(float) if means == "rises" else values
    # Each window summed anew: a constant series stays constant to the last digit.
    return sliding_window_view(x, window, axis=0).mean(axis=-1)


def stretch(costs: np.ndarray, first: int, V: float, most: int) -> tuple[np.ndarray, float]:
    """(rows, rest) from row `first` on until V is spent, with at most `most` steps.

    Step i, between rows i and i + 1, costs costs[i]; `rest` is the share of the last step.
    """
    n, a_pass = len(costs), costs.sum()
    steps = int(min(most, (V / a_pass + 2) * n))
    turn = (first + np.arange(steps + 1)) % (2 * n)
    rows = np.minimum(turn, 2 * n - turn)
    upto = np.cumsum(costs[np.minimum(rows[:-1], rows[1:])])
    last = int(np.searchsorted(upto, V))
    if last >= steps:
        return rows, 1.0
    before = upto[last - 1] if last else 0.0
    cost = upto[last] - before
    return rows[: last + 2], (V - before) / cost if cost else 1.0


def draw(resolved, K, T, V, rng):
    """K series drawn without replacement, and a stretch of rows that spends V."""
    data = series.planned(place(resolved["file"]), resolved["digest"])
    y = looked_at(data.values, resolved["means"], resolved["window"], resolved["file"])
    y = y[:, rng.permutation(y.shape[1])[:K]]
    mu = 0.5 + resolved["amplitude"] * ((y - y.min()) / np.ptp(y) - 0.5)
    first = int(rng.integers(0, len(mu) - 1))
    if V == 0 or T == 1:
        return through(np.zeros(1), mu[[first]], T)
    rows, rest = stretch(np.abs(np.diff(mu, axis=0)).max(axis=1), first, V, min(T - 1, MOST))
    means = mu[rows]
    means[-1] = means[-2] + rest * (means[-1] - means[-2])
    times = np.arange(len(rows), dtype=float)
    times[-1] = len(rows) - 2 + rest
    return through(times, means, T)


ADVERSARY = Adversary(
    id="trace",
    name="trace",
    summary="a real series, scaled to spend V",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="amplitude",
    ceiling=CEILING,
    location="file",
    steady=False,
    place=11,
)

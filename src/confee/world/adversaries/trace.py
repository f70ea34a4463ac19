"""A real series as mean rewards: a non-stationary world that nobody designed.

The series are columns of a CSV file; K of them, drawn at random, are the arms. Values x become
means in [1/2 - A/2, 1/2 + A/2], where A = `amplitude`, in two steps:

1. `means` chooses y from the last w = `window` rows (so the first rows drop out):
   growth: x_t / x_{t-w} - 1. rises: the share of rows whose x is above that of the row before.
   levels: the mean of x over the window.
2. mu = 1/2 + A ((y - min y)/(max y - min y) - 1/2), with extremes over all rows and the K arms.

The path is a stretch of rows. It starts at a row drawn uniformly and goes on, turning at each end
of the series (mirrored in time), until V is spent. Rows take equal times, means are linear in
between, and the last row is cut. So with small V the path is a part of the series in slow motion,
and with large V it passes over the series many times; the amplitude is A in either case. All of V
is spent unless the stretch reaches T rows, or 10^5.

The file has a header row. Its first column is time (numbers or ISO dates, increasing), each other
column a series, and every cell a number. `file: shipped` is the monthly employment in 15 industries
of the United States, 2006 to 2015 (source and licence: us_employment.txt). With the defaults an arm
is an industry, and its mean is the growth of its employment over a year. Results depend on the
content of the file, by its digest, and not on its path.
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
    """`file`: `shipped`, or a path relative to the working directory. `means`, `window`: see above.
    `amplitude`: from the lowest mean to the highest, the largest lead of the best arm."""

    file: str = schema.text(
        "shipped",
        "the path of a CSV file, or shipped",
        about="path of a CSV file; `shipped` is monthly employment in 15 US industries, 2006-2015",
    )
    means: str = schema.choice(
        "growth",
        "growth",
        "rises",
        "levels",
        about="what an arm's mean is: growth over the window, share of rises, or mean level",
    )
    window: int = schema.whole(
        12, low=1, high=10**6, about="rows of the series over which `means` are taken"
    )
    amplitude: float = schema.real(
        1.0,
        low=1e-9,
        high=CEILING,
        about="highest minus lowest mean; V fixes how far the series is played",
    )

    def __post_init__(self) -> None:
        """Raise ConfeeError for an invalid file, whatever the cell."""
        y = transformed(self.series().values, self.means, self.window, self.file)
        if not np.ptp(y, axis=0).any():
            raise ConfeeError(f"{series.KEY}={self.file}: each of its series is constant")

    def series(self) -> series.Series:
        return series.read(place(self.file))


def place(file: str) -> Path:
    """Return the absolute path of a file, as a job may run in another folder than the plan."""
    return SHIPPED if file == "shipped" else Path(file).expanduser().absolute()


def resolve(options, size):
    """Return the digest of the file, and its path for `draw` alone."""
    K = size.K
    amplitude = below_ceiling("adversary.amplitude", options.amplitude, CEILING)
    data = options.series()
    y = transformed(data.values, options.means, options.window, options.file)
    constant, count = int((np.ptp(y, axis=0) == 0).sum()), y.shape[1]
    if not constant < K <= count:
        raise ConfeeError(
            f"K={K}: must be in [{max(2, constant + 1)}, {count}] for {series.KEY}={options.file}: "
            f"it has {count} series, {constant} of them constant"
        )
    resolved = {"means": options.means, "window": options.window, "amplitude": amplitude}
    file = "shipped" if options.file == "shipped" else str(place(options.file))
    return resolved | {"digest": data.digest, "file": file}


def transformed(values: np.ndarray, means: str, window: int, file: str) -> np.ndarray:
    """Return y of step 1, [rows, series]; raise ConfeeError if the values do not allow it."""
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
    # Windows are summed one by one, so a constant series stays constant to the last digit.
    return sliding_window_view(x, window, axis=0).mean(axis=-1)


def stretch(costs: np.ndarray, first: int, V: float, most: int) -> tuple[np.ndarray, float]:
    """Return the rows from `first` on until V is spent, and the share of the last step.

    There are at most `most` steps. The step between rows i and i + 1 costs costs[i].
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
    """Draw K series without replacement, then the first row."""
    data = series.planned(place(resolved["file"]), resolved["digest"])
    y = transformed(data.values, resolved["means"], resolved["window"], resolved["file"])
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
    summary="means follow a real time series, scaled to spend V",
    options=Options,
    resolve=resolve,
    draw=draw,
    strength="amplitude",
    ceiling=CEILING,
    location="file",
    steady=False,
    place=11,
)

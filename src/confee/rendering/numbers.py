"""Intervals, numbers as text, and logarithmic axes with labels that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Span = tuple[float, float]


def t_quantile(degrees: float) -> float:
    """Return half a 95 % interval in standard errors; NaN without degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975)) if degrees >= 1 else math.nan


def half_width(errors: pd.Series, seeds: pd.Series) -> float:
    """Return half the 95 % interval of a mean over phases: their standard errors and seeds."""
    error = math.sqrt((errors**2).sum(skipna=False)) / len(errors)
    return t_quantile(seeds.sum() - len(seeds)) * error


def widened(low: float, high: float, share: float = 0.06, least: float = 1.05) -> Span:
    """Return the ends of a logarithmic axis: a share of its length beyond, a ratio at least."""
    margin = max((high / low) ** share, least)
    return low / margin, high * margin


def signed(value: float, digits: int = 2) -> str:
    """Format -0.333 as −0.33, with a minus sign and no negative zero."""
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "\N{MINUS SIGN}")


def decimal(value: float, _position: object = None) -> str:
    """Format a tick of a linear axis of exponents: −0.3, 0."""
    text = signed(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def exponent(value: float, low: float, high: float) -> str:
    """Format an exponent and its interval: −0.29 [−0.31, −0.27]."""
    return f"{signed(value)} [{signed(low)}, {signed(high)}]"


def two(value: float) -> str:
    """Format two digits, never as a power of ten: 0.085, 0.85, 8.5, 85, 850."""
    return f"{value:g}" if value == 0 else signed(float(f"{value:.1e}"), _digits(value))


def factor(value: float, low: float = math.nan, high: float = math.nan) -> str:
    """Format a ratio and its interval, if any: 1.34 [1.27, 1.41], 2.1 [2.0, 2.2], 33 [30, 36]."""
    digits = 2 if 0.1 <= value < 2 else _digits(value)
    text = signed(value, digits)
    if math.isnan(low):
        return text
    return f"{text} [{signed(low, digits)}, {signed(high, digits)}]"


def _digits(value: float) -> int:
    """Return the decimals that show two significant digits."""
    power = math.floor(math.log10(abs(float(f"{value:.1e}"))) + 1e-9) if value else 0
    return max(1 - power, 0)


def listed(texts: Iterable[str], last: str = "and") -> str:
    """Join texts as in: one, two and three."""
    *first, end = list(texts) or [""]
    return f"{', '.join(first)} {last} {end}" if first else end


def plus_minus(value: float, half: float) -> str:
    """Format a number and half its interval: −0.29 ± 0.02; without it if NaN."""
    return signed(value) if math.isnan(half) else f"{signed(value)} \N{PLUS-MINUS SIGN} {half:.2f}"


def budget(beta: float) -> str:
    """Format B = T^beta as a formula."""
    return "$B = T$" if beta == 1 else f"$B = T^{{{beta:g}}}$"


def number(value: float, _position: object = None) -> str:
    """Format a tick: a short number in full, a long one as a power of ten."""
    if value <= 0:
        return f"{value:g}"
    power = math.floor(math.log10(value) + 1e-9)
    if -3 <= power < 4:
        return f"{value:g}"
    mantissa = round(value / 10.0**power, 6)
    if mantissa == 1:
        return f"$10^{{{power}}}$"
    return f"${mantissa:g}{{\\times}}10^{{{power}}}$"


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Return about `most` round numbers in [low, high] at most, and at least two."""
    from matplotlib.ticker import MaxNLocator

    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    best: list[float] = []
    choices: list[tuple[float, ...]] = [(1,), (1, 3), (1, 2, 5), (1, 2, 3, 5, 7)]
    for choice in choices:
        if len(best) >= 3 and choice == choices[-1]:
            break  # These places are uneven: they serve less than a decade.
        places = [m * 10.0**e for e in decades for m in choice]
        places = [place for place in places if low * 0.999 <= place <= high * 1.001]
        if len(places) <= most and len(places) > len(best):
            best = places
    if len(best) >= 2:
        return best
    thin = [10.0**e for e in decades if low <= 10.0**e <= high]
    if len(thin) > most:
        return thin[:: math.ceil(len(thin) / most)]
    places = [float(p) for p in MaxNLocator(max(most - 1, 2)).tick_values(low, high)]
    return [place for place in places if low <= place <= high]


def log_axis(
    ax: Axes, which: str, low: float, high: float, most: int, ticks: list[float] | None = None
) -> None:
    """Make the x or y axis of `ax` logarithmic over [low, high] with labels that do not overlap."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

    line = ax.xaxis if which == "x" else ax.yaxis
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    (ax.set_xlim if which == "x" else ax.set_ylim)(low, high)
    line.set_major_locator(FixedLocator(ticks or log_ticks(low, high, most)))
    line.set_major_formatter(FuncFormatter(number))
    minor = LogLocator(subs=tuple(range(2, 10))) if high / low > 4 else FixedLocator([])
    line.set_minor_locator(minor if ticks is None else FixedLocator([]))
    line.set_minor_formatter(NullFormatter())

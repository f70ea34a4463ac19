"""How a policy is drawn, and its place in legends and tables."""

from __future__ import annotations

from typing import Any, NamedTuple

SOLID = "-"
LONG: Any = (0, (9, 1.5))
DOT: Any = (0, (7, 1.2, 1.2, 1.2))
DOTS: Any = (0, (7, 1.2, 1.2, 1.2, 1.2, 1.2))
"""Line styles: solid, long dashes, dash-dot, dash-dot-dot."""


class Look(NamedTuple):
    """Colour, marker and line of a policy, the same in every figure.

    Parameters
    ----------
    color
        A hexadecimal colour such as `#0072B2`. The palettes of Okabe and Ito, and of Tol, are safe
        for colour-blind readers.
    marker, linestyle, linewidth
        As matplotlib takes them.
    place
        Legends and tables list policies by this number, and by name where it is equal.
    """

    color: str
    marker: Any
    linestyle: Any
    linewidth: float = 1.1
    place: int = 100

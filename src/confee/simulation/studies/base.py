"""What a study is: an id, and a function that draws its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Study:
    """Draws that claims need and that are no cell: adding one is adding a file with a `STUDY`.

    Parameters
    ----------
    id
        The module's name.
    run
        `run(**parameters)` returns rows of numbers and words, the parameters among them. All its
        randomness comes from streams named `("study", ...)`.
    smallest
        Parameters that compile the kernels in no time.
    """

    id: str
    run: Callable[..., Rows]
    smallest: Mapping[str, Any]

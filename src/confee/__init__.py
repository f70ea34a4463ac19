"""confee: a test bench for constrained-feedback non-stationary bandits."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from confee import bytecode
from confee.errors import ConfeeError

if TYPE_CHECKING:
    from confee.api import load, simulate
    from confee.comparing import compare
    from confee.external import fit
    from confee.frames import worst_case
    from confee.policies.rate import Rate

__version__ = "0.1.0"
__all__ = [
    "ConfeeError", "Rate", "__version__", "compare", "fit", "load", "simulate", "worst_case",
]  # fmt: skip

bytecode.by_hash(Path(__file__).parent)

_PLACES = {
    "Rate": "policies.rate",
    "compare": "comparing",
    "fit": "external",
    "load": "api",
    "simulate": "api",
    "worst_case": "frames",
}


def __getattr__(name: str):
    """What is imported on first use: importing confee stays cheap."""
    if name in _PLACES:
        return getattr(importlib.import_module(f"confee.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'confee' has no attribute {name!r}")

"""confee: a test bench for constrained-feedback non-stationary bandits."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from confee.core import bytecode
from confee.core.errors import ConfeeError

if TYPE_CHECKING:
    from confee.claims.fitting import fit
    from confee.evidence.frames import worst_case
    from confee.policies.rate import Rate
    from confee.workflow.api import load, simulate
    from confee.workflow.comparing import compare

__version__ = "0.1.0"
__all__ = ["ConfeeError", "Rate", "__version__", "compare", "fit", "load", "simulate", "worst_case"]

bytecode.by_hash(Path(__file__).parent)

_PLACES = {
    "Rate": "policies.rate",
    "compare": "workflow.comparing",
    "fit": "claims.fitting",
    "load": "workflow.api",
    "simulate": "workflow.api",
    "worst_case": "evidence.frames",
}


def __getattr__(name: str):
    """Import on first use, so that importing confee stays cheap."""
    if name == "plot":
        return importlib.import_module("confee.rendering.plot")
    if name in _PLACES:
        return getattr(importlib.import_module(f"confee.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'confee' has no attribute {name!r}")

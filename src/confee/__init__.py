"""confee: a test bench for constrained-feedback non-stationary bandits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from confee import bytecode
from confee.errors import ConfeeError

if TYPE_CHECKING:
    from confee.api import load, simulate
    from confee.frames import worst_case

__version__ = "0.1.0"
__all__ = ["ConfeeError", "__version__", "load", "simulate", "worst_case"]

bytecode.by_hash(Path(__file__).parent)


def __getattr__(name: str):
    """`simulate`, `load` and `worst_case` on first use: importing confee stays cheap."""
    if name in ("load", "simulate"):
        from confee import api

        return getattr(api, name)
    if name == "worst_case":
        from confee.frames import worst_case

        return worst_case
    raise AttributeError(f"module 'confee' has no attribute {name!r}")

"""Claims of the paper: one module each, from evidence to verdicts.

A claim module has `IDS`, `judge(evidence) -> list[Verdict]` (empty where the experiment does not
play its policy) and, if the axes of an experiment do not suffice, `extra_cells()`.
"""

from __future__ import annotations

from collections.abc import Collection
from types import ModuleType
from typing import TYPE_CHECKING

from confee.claims import hyque_budget, hyque_rate, lower_bound, rexp3b_budget, rexp3b_rate
from confee.claims.verdict import Verdict, correct

if TYPE_CHECKING:
    from confee.evidence import Evidence

_MODULES = (hyque_rate, rexp3b_rate, hyque_budget, rexp3b_budget, lower_bound)

CLAIMS: dict[str, ModuleType] = {id: module for module in _MODULES for id in module.IDS}
"""Claim id -> module, in the order of the ledger."""

PRIMARY = (*hyque_rate.IDS, *rexp3b_rate.IDS)
"""Verdicts that rest on an interval and are corrected for being several (Holm)."""


def judge(evidence: Evidence, ids: Collection[str] | None = None) -> list[Verdict]:
    """Verdicts of the claims named (all by default), in the ledger's order, Holm-corrected.

    Raises ValueError on an unknown id. Claims on policies the experiment does not play are left
    out.
    """
    wanted = set(CLAIMS if ids is None else ids)
    if unknown := sorted(wanted - set(CLAIMS)):
        raise ValueError(f"claims: unknown {', '.join(unknown)}; known are {', '.join(CLAIMS)}")
    modules = dict.fromkeys(module for id, module in CLAIMS.items() if id in wanted)
    verdicts = [v for module in modules for v in module.judge(evidence) if v.id in wanted]
    return correct(verdicts, PRIMARY)


def extra_cells(ids: Collection[str] | None = None) -> list[dict]:
    """Cells the claims named need besides an experiment's axes: policy, K, T, B, V, axis."""
    wanted = set(CLAIMS if ids is None else ids)
    modules = dict.fromkeys(module for id, module in CLAIMS.items() if id in wanted)
    return [cell for m in modules if hasattr(m, "extra_cells") for cell in m.extra_cells()]

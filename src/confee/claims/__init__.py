"""Claims of the paper: one module each, from evidence to verdicts.

A claim module has

- `IDS`: its ids, in the order of LEDGER; one's own are shown after those;
- `judge(evidence) -> list[Finding]`: empty where the evidence holds nothing of what it is about;
- `needs(id, toy) -> Needs` (optional): the cells and studies that settle it, small ones if `toy`;
- `ABOUT` (optional): policies it speaks of, or those of each id. Unless it is named, it is left
  out of experiments that play none of them. Without ABOUT it belongs to every experiment;
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection
from types import ModuleType
from typing import TYPE_CHECKING

from confee.claims.judging.finding import Finding, correct, graded
from confee.core import plugins
from confee.core.errors import ConfeeError
from confee.simulation.needs import Needs, union

if TYPE_CHECKING:
    from confee.evidence import Evidence

LEDGER = (
    "hyque-rate/printed",
    "hyque-rate/theory",
    "hyque-rate/calibrated",
    "hyque-rate/tuned",
    "hyque-floor",
    "hyque-budget",
    "hyque-budget/restarts",
    "idle-runs",
    "idle-runs/two-thirds",
    "query-runs",
    "density",
    "decomposition",
    "query-regret",
    "error-regret",
    "drift-regret",
    "on-demand-free",
    "lower-bound/algebra",
    "lower-bound/measured",
    "counting-lemma",
    "rexp3b-rate",
    "rexp3b-budget",
    "rexp3b-finite",
    "ucb-near-stationary",
    "detection/horizon",
    "detection/false-alarms",
    "detection/power",
    "naive-allocation",
    "full-feedback",
    "table-rows",
    "extension/linear",
    "extension/logistic",
    "extension/contextual",
    "extension/episodic",
    "alg-assumption/oful",
    "alg-assumption/glm_ucb",
    "alg-assumption/falcon",
    "alg-assumption/q_ucb",
)
"""All claims, in the order in which they are shown."""


def _found() -> dict[str, ModuleType]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    own = plugins.modules(__name__, names)
    by_id: dict[str, ModuleType] = {}
    for module in (*modules, *own):
        for id in getattr(module, "IDS", ()):
            if id in by_id:
                raise ConfeeError(f"{module.__file__}: IDS: another claim is called {id}")
            by_id[id] = module
    return {id: by_id[id] for id in sorted(by_id, key=_place)}


def _place(id: str) -> tuple[int, str]:
    """Orders claims as in the ledger, and what is not in it after that."""
    return (LEDGER.index(id), "") if id in LEDGER else (len(LEDGER), id)


CLAIMS: dict[str, ModuleType] = _found()
"""Claim id -> module, in the order of the ledger, then those that policies declare and one's own. A
module with `IDS` is found by being there."""

PRIMARY = (
    "hyque-rate/printed",
    "hyque-rate/theory",
    "hyque-rate/calibrated",
    "hyque-rate/tuned",
    "rexp3b-rate",
)
"""Verdicts that rest on an interval and are corrected for being several (Holm)."""


def judge(evidence: Evidence, ids: Collection[str] | None = None) -> list[Finding]:
    """Verdicts of the claims named (all by default), in the ledger's order, Holm-corrected.

    Raises ValueError on an unknown id. Claims on policies the experiment does not play are left
    out.
    """
    wanted = set(CLAIMS if ids is None else ids)
    if unknown := sorted(wanted - set(CLAIMS)):
        raise ValueError(f"claims: unknown {', '.join(unknown)}; known are {', '.join(CLAIMS)}")
    modules = dict.fromkeys(module for id, module in CLAIMS.items() if id in wanted)
    found = [v for module in modules for v in module.judge(evidence)]
    # A policy's options are in its label, and so in the id of the finding: policy-rate/mine(x=2).
    verdicts = [v for v in found if v.id.partition("(")[0] in wanted]
    verdicts.sort(key=lambda v: _place(v.id))
    return [graded(finding) for finding in correct(verdicts, PRIMARY)]


def needs(ids: Collection[str], toy: bool) -> Needs:
    """What the claims named need, together."""
    modules = [(id, module) for id, module in CLAIMS.items() if id in ids]
    return union(m.needs(id, toy) for id, m in modules if hasattr(m, "needs"))


def about(id: str) -> tuple[str, ...]:
    """The policies a claim speaks of; empty if it speaks of none in particular."""
    said = getattr(CLAIMS[id], "ABOUT", ())
    return said[id] if isinstance(said, dict) else said

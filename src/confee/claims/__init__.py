"""Claims of the paper: one module each, from evidence to verdicts.

A module declares a `CLAIM`, or several `CLAIMS` that share their code. It is found if it lies here
or in `claims/` of the folder that `CONFEE_EXTRA` names.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from confee.claims.base import Claim
from confee.claims.judging.finding import Finding, correct, graded
from confee.core import plugins
from confee.core.errors import ConfeeError
from confee.core.schema import show
from confee.simulation.needs import Needs, union

if TYPE_CHECKING:
    from confee.evidence import Evidence


ID = re.compile(r"[\w-]+(/[\w-]+)*", re.ASCII)
"""Ids of claims, which the command line and YAML must read as words."""


def _declared(module: ModuleType) -> Iterator[Claim]:
    """The claims of a module. Raises ConfeeError if what it declares is no claim."""
    several = getattr(module, "CLAIMS", ())
    if not isinstance(several, tuple | list) or not all(isinstance(x, Claim) for x in several):
        raise ConfeeError(f"{module.__file__}: CLAIMS={show(several)}: must be a tuple of Claim")
    for claim in (*several, *_single(module)):
        if not isinstance(claim, Claim):
            raise ConfeeError(f"{module.__file__}: CLAIM={show(claim)}: must be of type Claim")
        if not isinstance(claim.id, str) or not ID.fullmatch(claim.id):
            raise ConfeeError(
                f"{module.__file__}: id={show(claim.id)}: must be words of letters, digits, - and "
                "_, with a / between two"
            )
        yield claim


def _single(module: ModuleType) -> tuple[Claim, ...]:
    return (module.CLAIM,) if hasattr(module, "CLAIM") else ()


def _declares(name: str) -> bool:
    """Whether a module of this package declares a claim. Only such modules need be imported."""
    file = Path(__path__[0], f"{name}.py")
    return (
        file.exists()
        and re.search(r"^CLAIMS? = ", file.read_text(encoding="utf-8"), re.M) is not None
    )


def _registered() -> tuple[dict[str, Claim], dict[str, str]]:
    """(id -> claim in the order in which they are shown, id -> name of its module)."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    shipped = [importlib.import_module(f"{__name__}.{name}") for name in names if _declares(name)]
    claims: dict[str, Claim] = {}
    modules: dict[str, str] = {}
    for module in (*shipped, *plugins.modules(__name__, names)):
        for claim in _declared(module):
            if claim.id in claims:
                raise ConfeeError(
                    f"{module.__file__}: id={claim.id}: is another claim's; must be new"
                )
            claims[claim.id], modules[claim.id] = claim, module.__name__
    return dict(sorted(claims.items(), key=lambda item: (item[1].order, item[0]))), modules


CLAIMS, MODULES = _registered()
"""Claim id -> claim, in the order in which they are shown; claim id -> name of its module."""


def judge(evidence: Evidence, ids: Collection[str] | None = None) -> list[Finding]:
    """Judge the claims named (all by default).

    Returns
    -------
    The findings in the order of the claims, after Holm's correction of the primary ones. A claim on
    policies that the experiment does not play has none.

    Raises
    ------
    ValueError
        If an id is unknown.
    """
    wanted = set(CLAIMS if ids is None else ids)
    if unknown := sorted(wanted - set(CLAIMS)):
        raise ValueError(f"claims: unknown {', '.join(unknown)}; known are {', '.join(CLAIMS)}")
    findings = [
        finding
        for id, claim in CLAIMS.items()
        if id in wanted
        for finding in sorted(claim.judge(evidence), key=lambda finding: finding.id)
    ]
    primary = [id for id, claim in CLAIMS.items() if claim.primary]
    return [graded(finding) for finding in correct(findings, primary)]


def needs(ids: Collection[str], toy: bool) -> Needs:
    """Return what the claims named need, together."""
    return union(claim.needs(toy) for id, claim in CLAIMS.items() if id in ids)

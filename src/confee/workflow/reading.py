"""Read the tables and findings of finished experiments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confee.config.names import CLAIMS_ALONE
from confee.core.errors import ConfeeError
from confee.simulation import files
from confee.workflow import stages

if TYPE_CHECKING:
    import pandas as pd

    from confee.claims.judging.finding import Finding


def folder(results: Path, experiment: str) -> Path:
    """Return the folder of an experiment, or that of its claims alone if only that exists."""
    place, alone = results / experiment, results / (experiment + CLAIMS_ALONE)
    return alone if alone.is_dir() and not place.is_dir() else place


OTHER_VERSION = "made by another version of confee"


def table(file: Path, missing: str, remake: str, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Return a CSV table of results.

    Only empty cells are missing values: pandas would also take names such as `NA` for them.

    Raises
    ------
    ConfeeError
        If the file is missing or damaged, or lacks one of `columns`.
    """
    import pandas as pd

    try:
        frame = pd.read_csv(file, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise ConfeeError(f"{file}: missing; {missing}") from None
    except (OSError, ValueError):
        raise ConfeeError(f"{file}: damaged; {remake}") from None
    if absent := [name for name in columns if name not in frame]:
        reason = f"has no column {', '.join(absent)}, so it was {OTHER_VERSION}"
        raise ConfeeError(f"{file}: {reason}; {remake}")
    return frame


def findings(file: Path, missing: str, remake: str) -> tuple[list[Finding], dict[str, Any]]:
    """Return the findings in a claims.json, and its whole content.

    Raises ConfeeError if the file is missing, damaged, or of another version of confee.
    """
    from confee.claims import ledger

    content = files.read_json(file, missing, remake)
    try:
        return ledger.from_dict(content), content
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
        raise ConfeeError(f"{file}: {_misfit(file, content)}; {remake}") from None


def _misfit(file: Path, content: Any) -> str:
    """Return why a claims.json that can be read as JSON does not fit this version of confee."""
    from confee.claims import schema

    version = content.get("version") if isinstance(content, dict) else None
    if type(version) is int and version != schema.VERSION:
        return f"{OTHER_VERSION} (format {version}; this version reads {schema.VERSION})"
    return OTHER_VERSION if stages.is_as_made(file) else f"damaged, or {OTHER_VERSION}"

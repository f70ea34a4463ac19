"""Read the tables and findings of finished experiments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from confee.config.names import CLAIMS_ALONE
from confee.core.errors import ConfeeError
from confee.simulation import files

if TYPE_CHECKING:
    import pandas as pd

    from confee.claims.judging.finding import Finding


def folder(results: Path, experiment: str) -> Path:
    """Return the folder of an experiment, or that of its claims alone if only that exists."""
    place, alone = results / experiment, results / (experiment + CLAIMS_ALONE)
    return alone if alone.is_dir() and not place.is_dir() else place


def table(file: Path, missing: str, remake: str) -> pd.DataFrame:
    """Return a CSV table of results. Raises ConfeeError if the file is missing or damaged.

    Only empty cells are missing values: pandas would also take names such as `NA` for them.
    """
    import pandas as pd

    try:
        return pd.read_csv(file, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise ConfeeError(f"{file}: missing; {missing}") from None
    except (OSError, ValueError):
        raise ConfeeError(f"{file}: damaged; {remake}") from None


def findings(file: Path, missing: str, remake: str) -> tuple[list[Finding], dict[str, Any]]:
    """Return the findings in a claims.json, and its whole content.

    Raises ConfeeError if the file is missing, damaged, or of another version of confee.
    """
    from confee.claims import ledger

    content = files.read_json(file, missing, remake)
    try:
        return ledger.from_dict(content), content
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        reason = str(error) if str(error).startswith("version=") else "damaged"
        raise ConfeeError(f"{file}: {reason}; {remake}") from None

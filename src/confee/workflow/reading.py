"""Read an experiment's results: tables and findings."""

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
    """The folder of an experiment; if it does not exist, that of its claims alone."""
    place, alone = results / experiment, results / (experiment + CLAIMS_ALONE)
    return alone if alone.is_dir() and not place.is_dir() else place


def table(file: Path, missing: str, remake: str) -> pd.DataFrame:
    """A table of results (CSV). Raises ConfeeError if it is missing or damaged.

    Only empty fields are missing values: a policy may have a name that pandas takes for one.
    """
    import pandas as pd

    try:
        return pd.read_csv(file, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise ConfeeError(f"{file}: missing; {missing}") from None
    except (OSError, ValueError):
        raise ConfeeError(f"{file}: damaged; {remake}") from None


def findings(file: Path, missing: str, remake: str) -> tuple[list[Finding], dict[str, Any]]:
    """The findings in a claims.json, and its whole content.

    Raises ConfeeError if it is missing, damaged or of another version of confee.
    """
    from confee.claims import ledger

    content = files.read_json(file, missing, remake)
    try:
        return ledger.from_dict(content), content
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        reason = str(error) if str(error).startswith("version=") else "damaged"
        raise ConfeeError(f"{file}: {reason}; {remake}") from None

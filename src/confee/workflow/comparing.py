"""Compare the results of two workflows: verdicts, exponents, and worst-case regret of cells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.config import names, reproduce
from confee.core import schema
from confee.core.errors import ConfeeError
from confee.evidence.columns import CELL
from confee.workflow import reading

if TYPE_CHECKING:
    import pandas as pd

SAME = 1e-9
"""Relative difference up to which regrets are equal: sums may be added in another order."""


@dataclass(frozen=True)
class Comparison:
    """What differs between results `a` and `b`; a frame without rows means no difference.

    Parameters
    ----------
    verdicts
        Columns claim, a, b: outcome and severity where they differ or one did not judge the claim.
    exponents
        Columns label, ray, a, b, difference, low, high, for rays fitted in both; low and high are
        95 % confidence limits of the difference.
    cells
        Columns label, K, T, B, V, a, b: worst-case regret where it differs or one has no such cell.
    """

    verdicts: pd.DataFrame
    exponents: pd.DataFrame
    cells: pd.DataFrame

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not len(self.verdicts) and not len(self.exponents) and not len(self.cells)


def compare(a: str | Path, b: str | Path, results: str | Path = "results") -> Comparison:
    """Compare two folders of results, or experiments in the folder `results`.

    Raises ConfeeError if one has no results.
    """
    places = [_folder(name, Path(results)) for name in (a, b)]
    verdicts, exponents, cells = (
        [read(place) for place in places] for read in (_verdicts, _exponents, _cells)
    )
    return Comparison(
        _changed_verdicts(*verdicts), _changed_exponents(*exponents), _changed_cells(*cells)
    )


def _folder(name: str | Path, results: Path) -> Path:
    place = Path(name)
    if not place.is_dir():
        if Path(name).name != str(name):
            raise ConfeeError(
                f"{schema.show(name)}: no such folder; must be an experiment or its folder in "
                "results/"
            )
        place = reading.folder(results, names.folder_name(str(name), "experiment"))
    if not (place / "claims.json").is_file():
        shown = schema.show(place if place.is_dir() else name)
        raise ConfeeError(
            f"{shown}: has no results to compare (claims.json); must be an experiment or its "
            f"folder in results/; {reproduce.remake(place.name)}"
        )
    return place


def _verdicts(place: Path) -> pd.Series:
    import pandas as pd

    findings = reading.findings(place / "claims.json", *_remake(place))[0]
    return pd.Series({f.id: f"{f.as_printed}, {f.severity}" for f in findings}, dtype=object)


def _exponents(place: Path) -> pd.DataFrame:
    columns = ["axis", "part", "exponent", "se"]
    table = reading.table(place / "slopes.csv", *_remake(place), columns)
    if "label" not in table:  # results from before the column was called what it holds
        table = table.rename(columns={"policy": "label"})
    rays = table[(table["part"] == "ray") & table["exponent"].notna()]
    return rays.rename(columns={"axis": "ray"}).set_index(["label", "ray"])[["exponent", "se"]]


def _cells(place: Path) -> pd.Series:
    table = reading.table(place / "worst.csv", *_remake(place), [*CELL, "regret"])
    return table.set_index(CELL)["regret"]


def _remake(place: Path) -> tuple[str, str]:
    """Return how to make the results in a folder if they are missing, and if they are damaged."""
    command = reproduce.remake(place.name)
    return command, command


def _changed_verdicts(a: pd.Series, b: pd.Series) -> pd.DataFrame:
    import pandas as pd

    both = pd.DataFrame({"a": a, "b": b}).fillna("not judged")
    return both[both["a"] != both["b"]].rename_axis("claim").reset_index()


def _changed_exponents(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    both = a.reset_index().merge(b.reset_index(), on=["label", "ray"], suffixes=("_a", "_b"))
    difference = both["exponent_b"] - both["exponent_a"]
    half = 1.96 * np.hypot(both["se_a"], both["se_b"])
    both = both.rename(columns={"exponent_a": "a", "exponent_b": "b"}).assign(
        difference=difference, low=difference - half, high=difference + half
    )
    return both[difference.abs() > SAME].drop(columns=["se_a", "se_b"]).reset_index(drop=True)


def _changed_cells(a: pd.Series, b: pd.Series) -> pd.DataFrame:
    import pandas as pd

    both = pd.DataFrame({"a": a, "b": b}).astype(float)
    alike = np.isclose(both["a"], both["b"], rtol=SAME, atol=0.0, equal_nan=True)
    return both[~alike].reset_index()


def lines(comparison: Comparison, most: int = 20) -> list[str]:
    """Return a line for each difference, for at most `most` cells, and a line that counts them."""
    if comparison.same:
        return ["no difference"]
    text = [f"{v.claim}: {v.a} -> {v.b}" for v in comparison.verdicts.itertuples()]
    text += [
        f"{e.label}, {e.ray}: exponent {e.a:+.3f} -> {e.b:+.3f}, by {e.difference:+.3f} "
        f"[{e.low:+.3f}, {e.high:+.3f}]"
        for e in comparison.exponents.itertuples()
    ]
    cells = comparison.cells
    alone = {"first": int(cells["b"].isna().sum()), "second": int(cells["a"].isna().sum())}
    rows: list[Any] = list(cells.dropna(subset=["a", "b"]).itertuples())
    text += [
        f"{c.label} at K={c.K:g}, T={c.T:g}, B={c.B:g}, V={c.V:g}: regret {c.a:.6g} -> {c.b:.6g}"
        for c in rows[:most]
    ]
    if len(rows) > most:
        text.append(f"... and {len(rows) - most} more cells")
    text += [
        f"{count} cells are only in the {which} results" for which, count in alone.items() if count
    ]
    counts = [len(comparison.verdicts), len(comparison.exponents), len(cells)]
    return [*text, "differ: {} verdicts, {} exponents, {} cells".format(*counts)]

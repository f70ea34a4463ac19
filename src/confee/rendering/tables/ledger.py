"""Every claim in words: as printed, severity, prediction, measurement, horizon, controls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from confee.claims.ledger import control_verdict
from confee.rendering.catalogue import VERDICTS, Table
from confee.rendering.figures import scoreboard
from confee.rendering.verdicts import ALL, weight

if TYPE_CHECKING:
    import pandas as pd

WIDTHS = {
    "Claim": 0.15,
    "As printed": 0.095,
    "Severity": 0.095,
    "Predicted": 0.16,
    "Measured": 0.21,
    "Horizon": 0.085,
    "Controls": 0.145,
}
"""Of the columns, in text widths."""


POWER = re.compile(r"\b([A-Z]|eps)\^(?:\(([^()]+)\)|([+-]?\d+(?:\.\d+)?(?:/\d+)?))")

SIGNS = {"<=": r"$\le$", ">=": r"$\ge$", "+-": r"$\pm$"}


def make(claims: pd.DataFrame) -> pd.DataFrame:
    """Return text, a row per claim in the order of the ledger.

    `claims`: id, as_printed, gloss, severity, mended, ours, controls, prediction, measured,
    horizon.
    """
    import pandas as pd

    rows = [
        {
            "Claim": row.id + " (our own question)" * row.ours,
            "As printed": row.gloss or row.as_printed,
            "Severity": ALL[weight(row)].word + f"; corrected: {row.mended}" * bool(row.mended),
            "Predicted": formulas(row.prediction),
            "Measured": formulas(row.measured),
            "Horizon": row.horizon,
            "Controls": "; ".join(f"{formulas(c.what)}: {control_verdict(c)}" for c in row.controls)
            or "none",
        }
        for row in claims.itertuples()
    ]
    table = pd.DataFrame(rows, columns=list(WIDTHS))
    table.attrs["widths"] = list(WIDTHS.values())
    return table


finding = scoreboard.finding


def formulas(text: str) -> str:
    """Return text with powers and signs as formulas: K^(1/3) is $K^{1/3}$, <= is $\\le$."""
    for sign, formula in SIGNS.items():
        text = text.replace(sign, formula)
    return POWER.sub(lambda match: f"${_base(match[1])}^{{{match[2] or match[3]}}}$", text)


def _base(letter: str) -> str:
    return r"\varepsilon" if letter == "eps" else letter


TABLE = Table(
    "ledger",
    "All claims, in words",
    section=VERDICTS,
    place=2,
    needs=("claims",),
    axes=("claims",),
    make=make,
    finding=finding,
    reading="As printed: of the exact statement. Controls are known to hold or to fail.",
)

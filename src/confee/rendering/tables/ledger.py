"""Every claim in words: verdict, prediction, what was measured, at which horizon, its control."""

from __future__ import annotations

import re

import pandas as pd

from confee.rendering.deciding import deciding
from confee.rendering.figures import scoreboard
from confee.rendering.verdicts import CONTROLS, MARKS, POSITIVE

WIDTHS = {
    "Claim": 0.165, "Verdict": 0.092, "Predicted": 0.195, "Measured": 0.25, "Horizon": 0.095,
    "Control": 0.145,
}  # fmt: skip
"""Of the columns, in text widths."""

READING = (
    "A verdict is that of the horizon beside it; a control is something known to be wrong, sent "
    "through the same check. The ledger says more: rules, parts, evidence."
)

POWER = re.compile(r"\b([A-Z]|eps)\^(?:\(([^()]+)\)|([+-]?\d+(?:\.\d+)?(?:/\d+)?))")

SIGNS = {"<=": r"$\le$", ">=": r"$\ge$", "+-": r"$\pm$"}


def make(claims: pd.DataFrame) -> pd.DataFrame:
    """Text, a row a claim in the order of the ledger.

    `claims`: id, verdict, prediction, measured, horizon, numbers, interval, interval_of, control,
    failed.
    """
    rows = [
        {
            "Claim": row.id,
            "Verdict": MARKS[row.verdict].word,
            "Predicted": formulas(row.prediction),
            "Measured": formulas(row.measured),
            "Horizon": row.horizon,
            "Control": _controls(row),
        }
        for row in claims.itertuples()
    ]
    table = pd.DataFrame(rows, columns=list(WIDTHS))
    table.attrs["widths"] = list(WIDTHS.values())
    return table


def _controls(row) -> str:
    """What must fail and what must hold, each with its outcome."""
    text = f"{formulas(row.control.get('what', 'none'))}: {CONTROLS[row.failed]}"
    ray = deciding(row.numbers, row.interval, row.interval_of)
    own = ray.numbers.get("controls", {}).get("positive") if ray else None
    return f"{text}; {own['what']}: {POSITIVE[ray.control]}" if ray and own else text


finding = scoreboard.finding


def formulas(text: str) -> str:
    """Powers and signs as formulas: K^(1/3) is $K^{1/3}$, <= is $\\le$."""
    for sign, formula in SIGNS.items():
        text = text.replace(sign, formula)
    return POWER.sub(lambda found: f"${_base(found[1])}^{{{found[2] or found[3]}}}$", text)


def _base(letter: str) -> str:
    return r"\varepsilon" if letter == "eps" else letter

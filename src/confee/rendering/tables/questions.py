"""Does the placing of changes matter, do restarts help, does the query plan: paired ratios."""

from __future__ import annotations

import pandas as pd

from confee.rendering import looks, numbers

ASKED = ("hyque", "rexp3b", "sw_ucb", "ucb1")
"""Labels of which it is shown how the placing of changes hurts them; all are in questions.csv."""

QUESTIONS = {
    "pattern": "changes placed otherwise",
    "restarts": "restarts",
    "blind": "idle rounds",
    "width": "confidence width",
    "plan": "query plan",
}
WORLDS = {"moving": "changing", "zero": "stationary"}

READING = (
    "Ratios of regret on the same seeds, geometric means over adversaries, $K$ and $V_T$, with 95% "
    "intervals one at a time. Changes placed otherwise: the policy's regret there over its own "
    "under changes at equal distances, at the same gap. Restarts: one policy over another, with "
    "restarts a run (the larger of the budgets). Idle rounds: a leader plays the arm that a "
    "query would play, the others by frequency. Query plan: against the even pace."
)


def make(questions: pd.DataFrame) -> pd.DataFrame:
    """Text, a row for each question and pair, a column for each budget.

    `questions`: columns of confee.evidence.ranking.
    """
    shown = (questions["question"] != "pattern") | questions["label"].isin(ASKED)
    table = questions[shown]
    budgets = sorted(table["budget"].unique())
    rows = []
    for question, title in QUESTIONS.items():
        mine = table[table["question"] == question]
        for (label, versus, world), some in mine.groupby(["label", "versus", "V"], sort=True):
            pattern = question == "pattern"
            row = {
                "Question": title,
                "Regret of": looks.display(label)
                + (f", {looks.kind_name(versus)}" if pattern else ""),
                "Over that of": "equal changes" if pattern else looks.display(versus),
                "World": WORLDS[world],
            }
            for budget in budgets:
                at = some[some["budget"] == budget]
                row[numbers.budget(budget)] = _ratio(at.iloc[0]) if len(at) else ""
            row["Restarts"] = _restarts(some) if question == "restarts" else ""
            rows.append(row)
    return pd.DataFrame(rows)


def _ratio(row: pd.Series) -> str:
    if pd.isna(row["ratio"]):
        return "no pairs"
    if pd.isna(row["low"]):
        return f"{row['ratio']:.2f}"
    return f"{row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def _restarts(some: pd.DataFrame) -> str:
    return f"{some['restarts'].max():.3g} against {some['restarts_versus'].max():.3g}"

"""Does the placing of changes matter, do restarts help, does the query plan: paired ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confee.rendering import looks, numbers
from confee.rendering.catalogue import WHO, Table

if TYPE_CHECKING:
    import pandas as pd

ASKED = ("hyque", "rexp3b", "sw_ucb")
"""Labels of which it is shown how the placing of changes hurts them; all are in questions.csv."""

AGAINST = ("ucb1", "glr_ucb", "hyque", "baque")
"""Labels over whose regret that of policies with restarts is shown."""

QUESTIONS = {
    "pattern": "changes placed otherwise",
    "restarts": "restarts",
    "blind": "idle rounds",
    "width": "confidence width",
    "plan": "query plan",
}
WORLDS = {"moving": "", "zero": ", stationary"}


def _shown(questions: pd.DataFrame) -> pd.DataFrame:
    placed, restarts = (questions["question"] == name for name in ("pattern", "restarts"))
    asked, against = questions["label"].isin(ASKED), questions["versus"].isin(AGAINST)
    return questions[(~placed | asked) & (~restarts | against)]


def make(questions: pd.DataFrame) -> pd.DataFrame:
    """Return text, a row for each question and pair, a column for each budget.

    `questions`: columns of confee.evidence.ranking.
    """
    import pandas as pd

    table = _shown(questions)
    budgets = sorted(table["budget"].unique())
    rows = []
    for question, title in QUESTIONS.items():
        mine = table[table["question"] == question]
        for (world, label, versus), group in mine.groupby(["V", "label", "versus"], sort=True):
            pattern = question == "pattern"
            row = {
                "Question": title + WORLDS[world],
                "Regret of": looks.display(label)
                + (f", {looks.kind_name(versus)}" if pattern else ""),
                "Over that of": "equal changes" if pattern else looks.display(versus),
            }
            for budget in budgets:
                at = group[group["budget"] == budget]
                row[numbers.budget(budget)] = _ratio(at.iloc[0]) if len(at) else ""
            row["Restarts"] = _restarts(group) if question == "restarts" else ""
            rows.append(row)
    sheet = pd.DataFrame(rows)
    names = (0.12, 0.22, 0.11)
    sheet.attrs["widths"] = [*names, *[0.39 / max(len(budgets), 1)] * len(budgets), 0.09]
    return sheet


def finding(questions: pd.DataFrame) -> str:
    """Return how the placing of changes matters, and what restarts do to the regret of UCB1."""
    table = _shown(questions).dropna(subset="ratio")
    placed = table[table["question"] == "pattern"]
    spans = [f"{_span(mine)} for {looks.display(label)}" for label, mine in placed.groupby("label")]
    moving = table[(table["question"] == "restarts") & (table["V"] == "moving")]
    over = moving[moving["versus"] == "ucb1"]
    sentences = []
    if spans:
        text = numbers.listed(spans)
        sentences.append(
            f"Placing the changes unevenly, at the same gap, multiplies regret by {text}."
        )
    if len(over):
        ends = over.loc[over["ratio"].idxmin()], over.loc[over["ratio"].idxmax()]
        text = " to ".join(
            f"{numbers.factor(r['ratio'])} ({looks.display(r['label'])})" for r in ends
        )
        sentences.append(
            f"Where means change, policies that restart incur {text} times the regret of UCB1."
        )
    return " ".join(sentences) or "No two policies or placings of changes were compared."


def _span(mine: pd.DataFrame) -> str:
    """Return the least and the greatest ratio."""
    return " to ".join(map(numbers.factor, (mine["ratio"].min(), mine["ratio"].max())))


def _ratio(row: pd.Series) -> str:
    import pandas as pd

    if pd.isna(row["ratio"]):
        return "no pairs"
    if pd.isna(row["low"]):
        return f"{row['ratio']:.2f}"
    return f"{row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def _restarts(rows: pd.DataFrame) -> str:
    return " : ".join(numbers.two(rows[name].max()) for name in ("restarts", "restarts_versus"))


TABLE = Table(
    "questions",
    "Patterns, restarts, query plans",
    section=WHO,
    place=2,
    needs=("questions",),
    axes=("shootout",),
    make=make,
    finding=finding,
    reading=(
        "Geometric means of ratios on equal seeds, with 95 % CIs. Restarts: per run of both "
        "policies."
    ),
)

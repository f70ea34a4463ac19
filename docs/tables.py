"""Write the generated tables of the pages in docs/, and the README's picture.

`python docs/tables.py` reads finished experiments. It replaces what stands between
`<!-- table: NAME -->` and `<!-- end -->`. Tables and pictures whose experiment has no results here
stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from confee.claims import hyque_floor, ledger
from confee.claims.judging.finding import Finding
from confee.evidence.settling import MOVING, SETTLED, settling
from confee.evidence.slopes import STEP
from confee.rendering import erratum, numbers, verdicts
from confee.rendering.figures import decades, horizon
from confee.rendering.tables import constants, prior_free, prior_free_parts, which_policy

DOCS = Path(__file__).parent
BLOCK = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.S)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def limits(value: float, low: float, high: float) -> str:
    """`-0.16 [-0.18, -0.14]`, with plain minus signs."""
    return numbers.exponent(value, low, high).replace("\N{MINUS SIGN}", "-")


def size(value: float) -> str:
    """`3.2e4`."""
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:.1e}")


def frames(experiment: Path, *names: str) -> list[pd.DataFrame]:
    """CSV files of an experiment."""
    return [pd.read_csv(experiment / f"{name}.csv") for name in names]


def claims(experiment: Path) -> dict[str, dict]:
    """Claim id -> its verdict."""
    data = json.loads((experiment / "claims.json").read_text(encoding="utf-8"))
    return {claim["id"]: claim for claim in data["claims"]}


# ------------------------------------------------------------------ horizon


def horizon_steps(results: Path) -> str:
    """Exponents over whole steps up to the largest budget, and from where they are constant."""
    slopes, points = frames(results / "horizon", "slopes", "points")
    slopes = slopes[slopes["label"] != "uniform"]
    shown, _ = decades.steps(slopes, points)
    found = settling(slopes).set_index(["label", "axis"])
    last = shown["stop"].max()
    stops = [last / STEP**2, last / STEP, last]
    variation = points[points["V"] > 0].groupby("axis")["V"].first()
    rows = []
    for (ray, label), mine in shown.groupby(["axis", "label"], sort=False):
        cells = []
        for stop in stops:
            here = mine[abs(mine["stop"] / stop - 1) < 0.01]
            cells += [limits(r.exponent, r.low, r.high) for r in here.itertuples()] or [""]
        row = [f"{variation[ray]:g}", f"`{label}`", *cells]
        rows.append([*row, outcome(found.loc[(label, ray)]) if (label, ray) in found.index else ""])
    ends = [f"B = {size(stop / STEP)} to {size(stop)}" for stop in stops]
    return table(["V", "policy", *ends, "outcome"], rows)


def outcome(row: pd.Series) -> str:
    """What the rule says of one policy on one ray."""
    if row["outcome"] == SETTLED:
        value = limits(row["exponent"], row["low"], row["high"])
        return f"constant from {size(row['start'])} on, at {value}"
    drift = limits(row["drift"], row["drift_low"], row["drift_high"])
    word = "still changing" if row["outcome"] == MOVING else "undecided"
    wide = row["drift_widened"]
    return f"{word}: {drift} per step" + (f", widened {wide:.1f} times" if wide > 1.05 else "")


# ------------------------------------------------------------------ stale shares


def floor_shares(results: Path) -> str:
    """Stale shares of HyQue's schedule."""
    numbers_of = claims(results / "paper")["hyque-floor"]["numbers"]
    rows = []
    for V in hyque_floor.VARIATIONS:
        found = numbers_of[f"B at V={V}, T/B={hyque_floor.RATIO}"]
        shares = {float(B): share for B, share in found["stale"].items()}
        rows.append(
            [
                str(V),
                f"{shares[min(shares)]:.1%}",
                f"{shares[max(shares)]:.1%}",
                limits(found["exponent"], found["low"], found["high"]),
            ]
        )
    ends = [f"stale share at B = {size(B)}" for B in (min(shares), max(shares))]
    return table(["V", *ends, "its exponent in B"], rows)


# ------------------------------------------------------------------ findings


def found(results: Path, *experiments: str) -> list[Finding]:
    """The findings of those experiments that have results, each claim once."""
    made: dict[str, Finding] = {}
    for experiment in experiments:
        file = results / experiment / "claims.json"
        if file.exists():
            for one in ledger.from_dict(json.loads(file.read_text(encoding="utf-8"))):
                made.setdefault(one.id, one)
    return list(made.values())


def corrections(results: Path) -> str:
    """The erratum."""
    return erratum.text(found(results, "paper", "extensions")) + "\n"


def ledger_rows(results: Path) -> str:
    """Claims of `paper` with their places, those of one verdict in a row, the gravest first."""
    order = [word for word in verdicts.ALL if word not in (verdicts.CLOSED, verdicts.NONE_KNOWN)]
    order.insert(order.index("gap") + 1, verdicts.CLOSED)
    order.insert(order.index("none"), verdicts.NONE_KNOWN)
    rows: dict[tuple[str, str, str], list[str]] = {}
    findings = found(results, "paper")
    for finding in sorted(findings, key=lambda finding: order.index(verdicts.weight(finding))):
        place = "ours" if finding.ours else re.split(r"[;,] | \(", finding.place)[0]
        severity = verdicts.ALL[verdicts.weight(finding)].word
        outcome = verdicts.short(finding.as_printed, finding.basis)
        row = rows.setdefault((f"**{severity}**", outcome, finding.mended), [])
        row.append(f"`{finding.id}` ({erratum.typeset(place)})")
    head = ["severity", "as printed", "corrected", "claims"]
    return table(head, [[*verdict, ", ".join(names)] for verdict, names in rows.items()])


def constants_rows(results: Path) -> str:
    """Constants from both sides."""
    return sheet(constants.make(frames(results / "paper", "worst")[0]))


# ------------------------------------------------------------------ policies


def judged(results: Path) -> pd.DataFrame:
    """The claims of `priorfree`, as its tables need them."""
    rows = claims(results / "priorfree").values()
    return pd.DataFrame(
        [{name: row[name] for name in ("id", "as_printed", "numbers")} for row in rows]
    )


def sheet(made: pd.DataFrame) -> str:
    """A table of the report, in Markdown."""
    return table(list(made.columns), made.to_numpy().tolist())


def parts(results: Path) -> str:
    """What each part of a policy is worth, in the worst case."""
    made = prior_free_parts.make(judged(results))
    return sheet(made.drop(columns="Largest on one adversary"))


def rising(results: Path) -> str:
    """Regret over the rate against rising arms, with looks, forced plays or neither."""
    parts = claims(results / "priorfree")["prior-free/lookout"]["numbers"]["rises"]
    budgets = sorted({part["B"] for part in parts})
    rows = []
    for label in dict.fromkeys(part["label"] for part in parts):
        mine = {part["B"]: part for part in parts if part["label"] == label}
        shown = [f"{mine[B]['ratio']:.2f} ({mine[B]['se']:.2f})" for B in budgets]
        rows.append([f"`{label}`", *shown])
    return table(["policy", *(f"B = {size(B)}" for B in budgets)], rows)


def winners(results: Path) -> str:
    """Which policy has the least regret, at each budget."""
    return sheet(which_policy.make(frames(results / "shootout", "ranking")[0].astype({"V": str})))


# ------------------------------------------------------------------ pages

TABLES: dict[str, tuple[str, Callable[[Path], str]]] = {
    "horizon-steps": ("horizon", horizon_steps),
    "floor-shares": ("paper", floor_shares),
    "erratum": ("paper", corrections),
    "ledger": ("paper", ledger_rows),
    "constants": ("paper", constants_rows),
    "prior-free": ("priorfree", lambda results: sheet(prior_free.make(judged(results)))),
    "parts": ("priorfree", parts),
    "rises": ("priorfree", rising),
    "winners": ("shootout", winners),
}
"""Name of a block -> its experiment, and what makes it."""

PAGES = ("horizon.md", "what-it-found.md", "which-policy.md", "erratum.md")


def fill(text: str, results: Path) -> str:
    """A page with the tables for which there are results."""

    def made(block: re.Match) -> str:
        experiment, make = TABLES[block[2]]
        if not (results / experiment).is_dir():
            return block[0]
        return f"{block[1]}\n{make(results)}\n{block[3]}"

    return BLOCK.sub(made, text)


REFERENCE = DOCS.parent / "figures" / "reference"


class Picture(NamedTuple):
    """A figure of regret over the rate, for a page: the rays and labels of an experiment."""

    experiment: str
    rays: tuple[str, ...]
    labels: tuple[str, ...]

    def save(self, results: Path, to: Path) -> None:
        """Draw it from finished results."""
        worst, points = frames(results / self.experiment, "worst", "points")
        shown = points["axis"].isin(self.rays) & points["label"].isin(self.labels)
        horizon.draw(worst, points[shown]).savefig(to, dpi=240)


PICTURES = {
    "horizon": Picture(
        "paper",
        ("B_at_V16", "B_far_V16"),
        ("hyque", "sw_ucb", "glr_ucb", "random_restart", "rexp3b"),
    ),
    "priorfree": Picture(
        "priorfree",
        ("B_at_V1", "B_at_V4", "B_at_V16", "B_at_V64"),
        ("lookout", "glr_ucb_leader", "hyque", "hyque_leader", "sw_ucb", "random_restart"),
    ),
}
"""Name of a file in figures/reference -> what it shows: README's picture, and which-policy.md's."""


if __name__ == "__main__":
    for name, picture in PICTURES.items():
        if (Path("results") / picture.experiment / "worst.csv").exists():
            picture.save(Path("results"), REFERENCE / f"{name}.png")
    for name in PAGES:
        page = DOCS / name
        page.write_text(fill(page.read_text(encoding="utf-8"), Path("results")), encoding="utf-8")

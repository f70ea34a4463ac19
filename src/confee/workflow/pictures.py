"""Results meet rendering: what each figure and table of an experiment is drawn from."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.claims.judging.finding import Finding
from confee.config import reproduce
from confee.core.canonical import digest
from confee.paper import theory
from confee.rendering import TABLES, arguments, caption, figure, recipe, table
from confee.simulation import files
from confee.workflow import results

if TYPE_CHECKING:
    import pandas as pd

# The paper's block figure: (order, first slot) of its six instances, n = 3, b = 2.
BLOCK = ((3, 0), (0, 1), (1, 2), (2, 4), (0, 5), (0, 6))
BLOCK_ORDER, BLOCK_SLOT = 3, 2

# The pace figure: small enough to note every query, large enough for a dozen blocks.
PACE: dict[str, Any] = {"K": 2, "T": 100_000, "B": 10_000, "V": 2}

# The figure of the change tests: horizons at which thresholds are drawn.
HORIZONS = tuple(round(10 ** (4 + step / 8)) for step in range(8 * 14 + 1))


class Data:
    """The frames of an experiment, each read or made when a figure asks for it."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self.plan = plan
        self.choose: int = plan["choose"]

    @cached_property
    def regret(self) -> pd.DataFrame:
        return results.runs(self.plan)

    @cached_property
    def points(self) -> pd.DataFrame:
        """Of the policies that the experiment itself names, with the `setting` of each.

        What claims add is in no picture, but for the controls on rays: an exponent is shown beside
        them.
        """
        from confee.claims.judging.rates import USUAL
        from confee.policies import POLICIES

        points = results.points(self.plan)
        controls = {USUAL.partner, *USUAL.positive.values(), *USUAL.negative.values()}
        beside = points["label"].isin(controls) & (points["variable"] != "")
        points = points[points["label"].isin(self.plan["shown"]) | beside].reset_index(drop=True)
        return points.assign(setting=[POLICIES[policy].setting for policy in points["policy"]])

    @cached_property
    def worst(self) -> pd.DataFrame:
        return results.frame(self.plan, "worst.csv")

    @cached_property
    def slopes(self) -> pd.DataFrame:
        return results.frame(self.plan, "slopes.csv")

    @cached_property
    def part_worst(self) -> pd.DataFrame:
        """Worst cases of each part of the regret (column `part`), of HyQue and the controls."""
        import pandas as pd

        from confee.claims.part_regret import PARTS
        from confee.evidence import Evidence
        from confee.evidence.parts import part_worst
        from confee.rendering.figures.ray_parts import LABELS_SHOWN

        found = Evidence(
            self.regret, pd.DataFrame(), pd.DataFrame(), self.points, choose=self.choose
        )
        frames = [
            part_worst(found, part, LABELS_SHOWN)[0].assign(part=part) for part in PARTS.values()
        ]
        return pd.concat(frames, ignore_index=True)

    # Rankings.

    @cached_property
    def ranking(self) -> pd.DataFrame:
        table = results.frame(self.plan, "ranking.csv")
        return table.assign(V=table["V"].astype(str))

    @cached_property
    def questions(self) -> pd.DataFrame:
        return results.frame(self.plan, "questions.csv")

    @cached_property
    def heat(self) -> pd.DataFrame:
        return results.frame(self.plan, "heat.csv")

    # The floor figure.

    @cached_property
    def ages(self) -> pd.DataFrame:
        ages = results.runs(self.plan, "studies/ages.parquet")
        return ages[ages["policy"] == "hyque"]

    @cached_property
    def floor_runs(self) -> pd.DataFrame:
        """The runs beside those schedules."""
        asked = results.runs(self.plan, "asked.parquet")
        return asked[asked["ask"] == "hyque-floor"]

    # The figures of long runs.

    @cached_property
    def schedules(self) -> pd.DataFrame:
        return results.runs(self.plan, "studies/schedules.parquet")

    # The extension section: worst cases and points of the settings that its claims play.

    @cached_property
    def _settings(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        from confee.claims.extension import drawn_from

        return drawn_from(results.runs(self.plan, "asked.parquet"), self.plan["toy"])

    @property
    def setting_worst(self) -> pd.DataFrame:
        return self._settings[0]

    @property
    def setting_points(self) -> pd.DataFrame:
        return self._settings[1]

    # Findings.

    @cached_property
    def claims(self) -> pd.DataFrame:
        """claims.json as a frame: one row for each claim, its fields and what follows from them."""
        import pandas as pd

        from confee.claims.ledger import DERIVED

        names = [*(field.name for field in dataclasses.fields(Finding)), *DERIVED]
        found = results.findings(results.folder(self.plan).name)
        return pd.DataFrame([[getattr(v, name) for name in names] for v in found], columns=names)

    # The block figure.

    n, b = BLOCK_ORDER, BLOCK_SLOT

    @cached_property
    def pieces(self) -> pd.DataFrame:
        """Active and masked rounds of the paper's block, arranged by the scheduler itself."""
        import pandas as pd

        from confee.policies.blocks import arrange

        orders = np.array([m for m, _ in BLOCK], dtype=np.int64)
        starts = np.array([s for _, s in BLOCK], dtype=np.int64)
        pieces, quotas, _ = arrange(orders, starts)
        rows = []
        # An instance queries in its first `quota` active rounds; the block is complete, so both
        # readings of the option `quota` give these numbers.
        left = quotas * 1
        for first, end, instance in pieces.tolist():
            start, stop = first * self.b, end * self.b
            queried = min(int(left[instance]), stop - start)
            left[instance] -= queried
            for kind, a, z in (("query", start, start + queried), ("idle", start + queried, stop)):
                if z > a:
                    rows.append((int(orders[instance]), int(instance), a, z, kind))
        for instance, (m, s) in enumerate(BLOCK):
            at = s * self.b
            for _, _, a, z, _ in sorted(r for r in rows if r[1] == instance and r[4] != "inactive"):
                if a > at:
                    rows.append((m, instance, at, a, "inactive"))
                at = z
            if at < (s + 2**m) * self.b:
                rows.append((m, instance, at, (s + 2**m) * self.b, "inactive"))
        columns = ["order", "instance", "start", "stop", "kind"]
        return pd.DataFrame(rows, columns=columns).sort_values(columns[:3], ignore_index=True)

    # The figure of the change tests.

    @cached_property
    def thresholds(self) -> pd.DataFrame:
        """exponent (B = T^exponent), K, T, test, threshold at scale 1."""
        import pandas as pd

        from confee.claims.detection_horizon import ARMS, BUDGETS, thresholds
        from confee.paper import proofs

        rows = [
            (exponent, K, T, test, value)
            for exponent in BUDGETS.values()
            for K in ARMS
            for T in HORIZONS
            for test, value in thresholds(K, T, proofs.power_budget(T, exponent)).items()
        ]
        return pd.DataFrame(rows, columns=["exponent", "K", "T", "test", "threshold"])

    @cached_property
    def first(self) -> pd.DataFrame:
        """exponent, K, test, T: the first horizon at which that threshold is under 1."""
        import pandas as pd

        from confee.claims.detection_horizon import ARMS, BUDGETS
        from confee.paper import proofs

        rows = []
        for exponent in BUDGETS.values():
            for K in ARMS:
                found = proofs.first_horizons(K, exponent)
                rows.append((exponent, K, "mean", found["mean, whole budget"]))
                rows.append((exponent, K, "span", found["span"]))
        return pd.DataFrame(rows, columns=["exponent", "K", "test", "T"])

    # The pace figure.

    T, B = PACE["T"], PACE["B"]

    @cached_property
    def blocks(self) -> list[int]:
        """First rounds of HyQue's blocks."""
        b = theory.slot_length(self.T, self.B)
        last, _ = theory.last_block(self.T, self.B)
        return [b * (2**n - 1) + 1 for n in range(last + 1)]

    @cached_property
    def trace(self) -> pd.DataFrame:
        """B'(t) of one HyQue run, at each of its queries."""
        import pandas as pd

        from confee.simulation.cells import cell, opponent
        from confee.simulation.trace import query_rounds

        one = cell({"name": "hyque"}, **PACE)
        against = opponent({"name": "switching", "gap": 0.25}, **PACE)
        rounds = query_rounds(one, against, seed=0)
        return pd.DataFrame({"t": rounds, "queries": np.arange(1, len(rounds) + 1)})


OF_THE_CODE = {"pieces", "n", "b", "trace", "blocks", "T", "B"}
"""What pictures need that no result holds: they show the code alone."""


def alone(name: str) -> bool:
    """Whether a figure or table is drawn without any results."""
    return set(recipe(name).needs) <= OF_THE_CODE


def rests_on_verdicts(name: str) -> bool:
    """Whether it shows verdicts."""
    return "claims" in recipe(name).needs


def draw(plan: Mapping[str, Any], name: str, targets: Sequence[str]) -> list[Path]:
    """Makes a figure or table of an experiment in each of `targets` (by suffix; .txt: its caption).

    Raises ConfeeError on an unknown name.
    """
    data = Data(plan)
    made = [Path(target) for target in targets]
    suffix = "csv" if name in TABLES else "pdf"
    experiment = results.folder(plan).name
    about = {
        "data": fingerprint(arguments(name, data)),
        "command": reproduce.snakemake(plan["overrides"], f"figures/{experiment}/{name}.{suffix}"),
    }
    said = caption(name, data)
    for file in made:
        if file.suffix == ".txt":
            files.write_text(file, said + "\n")
    shown = [file for file in made if file.suffix != ".txt"]
    if name in TABLES:
        from confee.rendering.tables.write import save as save_table

        sheet = table(name, data)
        for file in shown:
            save_table(sheet, file, about, said, f"tab:{name}")
        return made
    from confee.rendering.files import save

    picture = figure(name, data)
    for file in shown:
        save(picture, file, about)
    return made


def bind(plan: Mapping[str, Any], target: str) -> list[Path]:
    """Writes the LaTeX file that includes all figures and tables of an experiment."""
    from confee.rendering.album import album

    file = Path(target)
    captions = {name: file.with_name(f"{name}.txt") for name in plan["pictures"]}
    said = {name: one.read_text(encoding="utf-8").strip() for name, one in captions.items()}
    about = {
        "data": digest(said),
        "command": reproduce.snakemake(plan["overrides"], file.as_posix()),
    }
    files.write_text(file, album(said, about))
    return [file]


def fingerprint(shown: Mapping[str, Any]) -> str:
    """A hash of all that is drawn: of frames the columns and every value."""
    import pandas as pd

    said: dict[str, Any] = {}
    for name, value in shown.items():
        if isinstance(value, pd.DataFrame):
            rows = pd.util.hash_pandas_object(value.astype({c: str for c in _mixed(value)}), False)
            rows_hash = hashlib.sha256(rows.to_numpy().tobytes()).hexdigest()
            value = [list(map(str, value.columns)), rows_hash]
        said[name] = value
    return digest(said)


def _mixed(frame: pd.DataFrame) -> list[str]:
    """Columns of lists and mappings, which have no hash of their own."""
    return [c for c in frame if any(isinstance(v, dict | list | tuple) for v in frame[c])]

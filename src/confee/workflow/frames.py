"""The frames of an experiment's results, as its figures and tables need them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from confee.claims.judging.finding import Finding
from confee.workflow import results

if TYPE_CHECKING:
    import pandas as pd


class Frames:
    """The frames of an experiment, each read or computed when it is first asked for."""

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
        from confee.rendering.figures.ray_parts import worst_of_parts

        return worst_of_parts(self.regret, self.points, self.choose)

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

    @cached_property
    def ages(self) -> pd.DataFrame:
        ages = results.runs(self.plan, "studies/ages.parquet")
        return ages[ages["policy"] == "hyque"]

    @cached_property
    def floor_runs(self) -> pd.DataFrame:
        """The runs beside those schedules."""
        asked = results.runs(self.plan, "asked.parquet")
        return asked[asked["ask"] == "hyque-floor"]

    @cached_property
    def schedules(self) -> pd.DataFrame:
        return results.runs(self.plan, "studies/schedules.parquet")

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

    @cached_property
    def claims(self) -> pd.DataFrame:
        """The claims of claims.json, one row each, with what follows from their fields."""
        import pandas as pd

        from confee.claims.schema import DERIVED

        names = [*(field.name for field in dataclasses.fields(Finding)), *DERIVED]
        findings = results.findings(results.folder(self.plan).name)
        rows = [[getattr(finding, name) for name in names] for finding in findings]
        return pd.DataFrame(rows, columns=names)

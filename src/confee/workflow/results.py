"""An experiment's results, made from its plan: tables of runs, evidence, findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confee.config import names, reproduce
from confee.core.errors import ConfeeError
from confee.simulation import files
from confee.simulation.needs import RANKED
from confee.workflow import reading
from confee.workflow.jobs import AGAIN, REMAKE, RESULTS, read_scale, read_unit
from confee.workflow.stages import file_hash

if TYPE_CHECKING:
    import pandas as pd

    from confee.claims.judging.finding import Finding
    from confee.evidence import Evidence

IDENTITY = ["policy", "label", "K", "T", "B", "V", "adversary", "seed"]


def read_plan(file: Path) -> dict[str, Any]:
    """The plan in a file that `Workflow` wrote. Raises ConfeeError if it is missing or damaged."""
    command = reproduce.remake(file.parent.name)
    return files.read_sealed(file, command, command)


def folder(plan: Mapping[str, Any]) -> Path:
    """The folder of a plan's results. Raises ConfeeError if its name could lead elsewhere."""
    return RESULTS / names.folder_name(plan["about"]["config"]["name"], "name")


def runs(plan: Mapping[str, Any], name: str = "regret.parquet") -> pd.DataFrame:
    """The runs of a plan's grid as a frame; with `name`, those that claims asked for, or a study's.

    Raises ConfeeError if they belong to another plan.
    """
    file = folder(plan) / name
    table, about = files.read_table(file, REMAKE, AGAIN)
    if {name: about[name] for name in about if name != "scales"} != plan["about"]:
        same = about.get("config") == plan["about"]["config"]
        other = reading.OTHER_VERSION if same else "made from another configuration"
        raise ConfeeError(f"{file}: {other}; {REMAKE}")
    return table.to_pandas()


def points(plan: Mapping[str, Any]) -> pd.DataFrame:
    """Which cell is which point of which axis (points.csv)."""
    import pandas as pd

    columns = ["label", "policy", "axis", "variable", "point", "phase", "K", "T", "B", "V"]
    return pd.DataFrame(plan["points"], columns=columns)


def frame(plan: Mapping[str, Any], name: str) -> pd.DataFrame:
    """worst.csv or slopes.csv. Raises ConfeeError if it is missing or damaged."""
    return reading.table(folder(plan) / name, AGAIN, REMAKE)


# --------------------------------------------------------------------------- making them


def collect(plan: Mapping[str, Any]) -> list[Path]:
    """Write the runs of all units into one sorted table, those that claims asked for into another,
    the rows of each study into one each; and the configuration and the points."""
    import pyarrow as pa
    import yaml

    scales = [read_scale(RESULTS / name) for name in plan["calibrations"]]
    calibrated = {"scales": scales} if scales else {}
    config = {**plan["about"]["config"], "version": plan["about"]["version"], **calibrated}
    to = folder(plan)
    tables = {"regret.parquet": _sorted_runs([read_unit(name) for name in plan["units"]])}
    asked = [
        rows.append_column("ask", pa.array([tag] * rows.num_rows, pa.string()))
        for tag, rows in ((tag, read_unit(name)) for tag, name in plan["asked"])
    ]
    tables["asked.parquet"] = _sorted_runs(asked, ["ask"])
    for name in study_names(plan):
        rows = [read_unit(file) for study, file in plan["studies"] if study == name]
        whole = pa.concat_tables(rows, promote_options="permissive").combine_chunks()
        tables[f"studies/{name}.parquet"] = whole
    files.write_text(to / "config.yaml", yaml.safe_dump(config, sort_keys=True))
    files.write_text(to / "points.csv", points(plan).to_csv(index=False))
    for name, table in tables.items():
        files.write_arrow(to / name, table, plan["about"] | calibrated)
    return [to / name for name in ("config.yaml", "points.csv", *tables)]


def study_names(plan: Mapping[str, Any]) -> list[str]:
    """The studies of a plan."""
    return sorted({name for name, _ in plan["studies"]})


def _sorted_runs(tables: list[Any], first: Sequence[str] = ()) -> Any:
    """The runs of several units as one table, whose columns and rows are sorted."""
    import pyarrow as pa

    tables = [table for table in tables if table.num_rows]  # a turn that was not needed has none
    if not tables:
        return pa.table({name: pa.array([]) for name in [*first, *IDENTITY, "regret"]})
    table = pa.concat_tables(_of_one_type(tables), promote_options="default")
    parameters = sorted(c for c in table.column_names if c.startswith(("adversary.", "policy.")))
    quantities = [c for c in table.column_names if c not in {*first, *IDENTITY, *parameters}]
    order = IDENTITY[:-1] + [c for c in parameters if c.startswith("adversary.")] + ["seed"]
    table = table.select([*first, *IDENTITY, *quantities, *parameters])
    by = [(name, "ascending") for name in [*first, *order, "regret"]]
    return table.sort_by(by).combine_chunks()


def _of_one_type(tables: list[Any]) -> list[Any]:
    """The tables, with a column as text in all of them if its types differ.

    Two policies may give options of one name different types: `test` is a word in one, a number in
    another.
    """
    import pyarrow as pa

    types: dict[str, set[Any]] = {}
    for field in (field for table in tables for field in table.schema):
        types.setdefault(field.name, set()).add(field.type)
    mixed = {name for name, kinds in types.items() if len(kinds - {pa.null()}) > 1}
    if not mixed:
        return tables

    def cast(table: Any) -> Any:
        fields = [f.with_type(pa.string()) if f.name in mixed else f for f in table.schema]
        return table.cast(pa.schema(fields))

    return [cast(table) for table in tables]


def gather(plan: Mapping[str, Any]) -> Evidence:
    """The evidence of an experiment, computed from its runs."""
    from confee import evidence

    studies = {name: runs(plan, f"studies/{name}.parquet") for name in study_names(plan)}
    return evidence.gather(
        runs(plan),
        points(plan),
        plan["choose"],
        plan["toy"],
        asked=runs(plan, "asked.parquet"),
        studies=studies,
    )


def measure(plan: Mapping[str, Any]) -> list[Path]:
    """Write worst.csv and slopes.csv, and the tables of `rankings` where policies are ranked."""
    evidence = gather(plan)
    frames = {"worst": evidence.worst, "slopes": evidence.slopes}
    if ranked(plan["points"]):
        frames |= rankings(evidence)
    for name, table in frames.items():
        files.write_text(folder(plan) / f"{name}.csv", table.to_csv(index=False))
    return [folder(plan) / f"{name}.csv" for name in frames]


RANKINGS = ("ranking", "questions", "heat")


def ranked(points: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a plan has maps on which policies are ranked."""
    return any(point["axis"] in RANKED for point in points)


def rankings(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """The tables RANKINGS, see confee.evidence.ranking."""
    from confee.evidence import ranking
    from confee.policies import POLICIES

    known = {policy.id: policy.known for policy in POLICIES.values()}
    runs = ranking.played(evidence.regret, evidence.points, evidence.choose)
    tables = (ranking.ranking(runs, known), ranking.questions(runs), ranking.heat(runs, known))
    return dict(zip(RANKINGS, tables, strict=True))


def judge(plan: Mapping[str, Any]) -> list[Path]:
    """Write claims.json and claims.md."""
    from confee import claims
    from confee.claims import ledger

    findings = claims.judge(gather(plan), plan["claims"])
    used = sorted({name for v in findings for name in v.evidence})
    hashes = {name: _evidence_file(plan, name) for name in used}
    title = f"Claims: {folder(plan).name}"
    outputs = [folder(plan) / "claims.md", folder(plan) / "claims.json"]
    code = plan["about"]["code"]
    about = {
        "experiment": folder(plan).name,
        "toy": plan["toy"],
        "code": code,
        "overrides": plan["overrides"],
    }
    files.write_text(outputs[0], ledger.to_markdown(findings, title, plan["overrides"]))
    files.write_text(outputs[1], ledger.to_json(findings, about, hashes))
    return outputs


def _evidence_file(plan: Mapping[str, Any], name: str) -> dict[str, str]:
    """A frame's file and the SHA-256 of its bytes."""
    suffix = ".csv" if name in ("worst", "slopes", "points") else ".parquet"
    file = folder(plan) / f"{name}{suffix}"
    return {"file": file.as_posix(), "sha256": file_hash(file)}


# --------------------------------------------------------------------------- looking at them


def findings(experiment: str) -> list[Finding]:
    """The findings of an experiment. Raises ConfeeError as `claims_file` does."""
    return claims_file(experiment)[0]


def judged_in(experiment: str, ids: Sequence[str]) -> str:
    """The folder in which these claims of an experiment were judged: its own, or that of claims
    alone if its own is missing or lacks one of them."""
    alone = experiment + names.CLAIMS_ALONE
    if not (RESULTS / alone / "claims.json").exists():
        return experiment
    if not (RESULTS / experiment / "claims.json").exists():
        return alone
    own, named = ({v.id for v in findings(name)} for name in (experiment, alone))
    return alone if not own.issuperset(ids) and named.issuperset(ids) else experiment


def claims_file(experiment: str) -> tuple[list[Finding], dict[str, Any]]:
    """The findings of an experiment, and the whole content of their file.

    Raises ConfeeError if it is missing, damaged or of another version of confee.
    """
    file = RESULTS / experiment / "claims.json"
    command = reproduce.remake(experiment)
    return reading.findings(file, command, command)

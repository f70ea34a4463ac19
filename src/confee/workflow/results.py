"""An experiment's results, made from its plan: one table of runs, evidence, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confee import jit
from confee.errors import ConfeeError
from confee.simulation import files
from confee.workflow.jobs import AGAIN, REMAKE, RESULTS, read_scale, read_unit

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from confee.evidence import Evidence

IDENTITY = ["policy", "label", "K", "T", "B", "V", "adversary", "seed"]


def run_it(experiment: str) -> str:
    """How to make the results of an experiment."""
    return f'run: snakemake --cores 2 --config overrides="experiment={experiment}"'


def read_plan(file: Path) -> dict[str, Any]:
    """A plan that `Run` wrote. Raises ConfeeError if there is none."""
    said = files.read_json(file, run_it(file.parent.name), REMAKE)
    if not isinstance(said, dict) or "about" not in said:
        raise ConfeeError(f"{file}: damaged; {REMAKE}")
    return said


def folder(plan: Mapping[str, Any]) -> Path:
    return RESULTS / plan["about"]["config"]["name"]


def runs(plan: Mapping[str, Any]) -> pd.DataFrame:
    """All runs of a plan as a frame. Raises ConfeeError if they belong to another plan."""
    file = folder(plan) / "regret.parquet"
    table, about = files.read_table(file, REMAKE, AGAIN)
    if {name: about[name] for name in about if name != "scales"} != plan["about"]:
        raise ConfeeError(f"{file}: made from another configuration; {REMAKE}")
    return table.to_pandas()


def points(plan: Mapping[str, Any]) -> pd.DataFrame:
    """Which cell lies where on which axis (points.csv)."""
    import pandas as pd

    return pd.DataFrame(plan["points"])


def frame(plan: Mapping[str, Any], name: str) -> pd.DataFrame:
    """worst.csv or slopes.csv. Raises ConfeeError, naming it, if it is missing or damaged."""
    import pandas as pd

    file = folder(plan) / name
    try:
        return pd.read_csv(file)
    except FileNotFoundError:
        raise ConfeeError(f"{file}: missing; {AGAIN}") from None
    except (OSError, ValueError):
        raise ConfeeError(f"{file}: damaged; {REMAKE}") from None


# --------------------------------------------------------------------------- making them


def collect(plan: Mapping[str, Any]) -> list[Path]:
    """Puts the runs of all units into one sorted table, beside the configuration and the points."""
    import pyarrow as pa
    import yaml

    tables = [read_unit(name) for name in plan["units"]]
    table = pa.concat_tables(tables, promote_options="default")
    parameters = sorted(c for c in table.column_names if c.startswith(("adversary.", "policy.")))
    quantities = [c for c in table.column_names if c not in {*IDENTITY, *parameters}]
    order = IDENTITY[:-1] + [c for c in parameters if c.startswith("adversary.")] + ["seed"]
    table = table.select([*IDENTITY, *quantities, *parameters])
    table = table.sort_by([(name, "ascending") for name in order]).combine_chunks()
    scales = [read_scale(RESULTS / name) for name in plan["calibrations"]]
    found = {"scales": scales} if scales else {}
    config = {**plan["about"]["config"], "version": plan["about"]["version"], **found}
    to = folder(plan)
    made = [to / "config.yaml", to / "points.csv", to / "regret.parquet"]
    files.write_text(made[0], yaml.safe_dump(config, sort_keys=True))
    files.write_text(made[1], points(plan).to_csv(index=False))
    files.write_arrow(made[2], table, plan["about"] | found)
    return made


def gather(plan: Mapping[str, Any]) -> Evidence:
    """The evidence of an experiment, computed anew from its runs."""
    from confee import evidence
    from confee.world.adversaries import ADVERSARIES

    ceilings = {a.id: a.ceiling for a in ADVERSARIES.values()}
    return evidence.gather(runs(plan), points(plan), plan["choose"], plan["toy"], ceilings)


def measure(plan: Mapping[str, Any]) -> list[Path]:
    """Writes worst.csv and slopes.csv."""
    found = gather(plan)
    made = [folder(plan) / "worst.csv", folder(plan) / "slopes.csv"]
    files.write_text(made[0], found.worst.to_csv(index=False))
    files.write_text(made[1], found.slopes.to_csv(index=False))
    return made


def judge(plan: Mapping[str, Any]) -> list[Path]:
    """Writes claims.json and claims.md."""
    from confee import claims
    from confee.claims import ledger

    verdicts = claims.judge(gather(plan), plan["claims"])
    title = f"Claims: {folder(plan).name}"
    made = [folder(plan) / "claims.md", folder(plan) / "claims.json"]
    files.write_text(made[0], ledger.to_markdown(verdicts, title))
    files.write_text(made[1], ledger.to_json(verdicts))
    return made


# --------------------------------------------------------------------------- looking at them


def ledger_table(experiment: str) -> Table:
    """The short table of an experiment's verdicts. Raises ConfeeError if there are none."""
    from confee.claims import ledger
    from confee.claims.verdict import Verdict

    file = RESULTS / experiment / "claims.json"
    said = files.read_json(file, run_it(experiment), REMAKE)
    try:
        return ledger.table([Verdict(**verdict) for verdict in said["claims"]])
    except (KeyError, TypeError):
        raise ConfeeError(f"{file}: damaged; {REMAKE}") from None


def clean() -> list[Path]:
    """Removes what the last plan of no experiment needs; returns what went."""
    needed: set[Path] = set()
    for file in sorted(RESULTS.glob("*/plan.json")):
        plan = read_plan(file)
        needed |= {RESULTS / name for name in [*plan["units"], *plan["calibrations"]]}
    made = [*RESULTS.glob("cells/*/*.parquet"), *RESULTS.glob("calibration/*.json")]
    made += [*RESULTS.glob("jobs/*"), *RESULTS.glob("logs/*/*.log"), *RESULTS.glob("**/.part-*")]
    gone = [file for file in made if file not in needed]
    for file in gone:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise ConfeeError(f"{file}: cannot be removed: {error.strerror}") from None
    return gone + jit.prune()

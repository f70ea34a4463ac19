"""confee as a library: `simulate` one cell, `load` an experiment's runs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.config import composition, conf_files, experiments, names, reproduce
from confee.core import jit, plugins, schema
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.simulation.calibrate import calibrated
from confee.simulation.cells import Cell, Opponent, cell, opponent
from confee.simulation.files import read_table
from confee.simulation.play import Accounting, Row, play_all
from confee.workflow import reading

if TYPE_CHECKING:
    import pandas as pd


KEYS = {"policy", "adversary", "K", "T", "B", "V", "seeds", "first_seed", "idle", "proxy", "output"}


@dataclasses.dataclass(frozen=True)
class Request:
    """A cell, one opponent and the seeds to play."""

    cell: Cell
    against: Opponent
    runs: experiments.Runs
    accounting: Accounting
    output: str | None


def request(values: Mapping[str, Any]) -> Request:
    """The request of a composed conf/cell.yaml. Raises ConfeeError."""
    names.check_keys(values, KEYS)
    for name in ("K", "T", "B", "V"):
        if isinstance(values[name], str) and values[name] == "???":
            raise ConfeeError(f"{name}: missing; give {name}=...")
    one = cell(values["policy"], Size(*(values[name] for name in Size._fields)))
    against = opponent(values["adversary"], one.size)
    runs = schema.build(experiments.Runs, {n: values[n] for n in ("seeds", "first_seed")})
    accounting = schema.build(Accounting, {n: values[n] for n in ("idle", "proxy")})
    output = values["output"]
    if output is not None and not str(output).endswith(".parquet"):
        raise ConfeeError(f"output={schema.show(output)}: must end in .parquet")
    return Request(one, against, runs, accounting, output)


def run(asked: Request, tick: Callable[[], None] = lambda: None) -> list[Row]:
    """Plays a request: one row a seed."""
    jit.prepare()
    seeds = range(asked.runs.first_seed, asked.runs.first_seed + asked.runs.seeds)
    options = calibrated(asked.cell)
    return play_all(asked.cell, [asked.against], seeds, options, asked.accounting, tick)


def simulate(
    policy: str,
    adversary: str,
    *,
    K: int,
    T: int,
    B: int,
    V: float,
    seeds: int = 16,
    first_seed: int = 0,
    idle: str = "expected",
    proxy: str = "means",
    options: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Plays one cell against one adversary: a tidy frame, one row a seed.

    `options` are the policy's, `parameters` the adversary's; `confee list <name>` names them. The
    rows are those the workflow computes for that cell and those seeds. Raises ConfeeError.
    """
    import pandas as pd

    for group, name in (("policy", policy), ("adversary", adversary)):
        if not isinstance(name, str) or not conf_files.has(group, name):
            listed = ", ".join(conf_files.names(group)) + plugins.hint()
            raise ConfeeError(f"{group}={schema.show(name)}: unknown; known: {listed}")
    overrides: Sequence[str] = [f"policy={policy}", f"adversary={adversary}"]
    values = composition.compose("cell", overrides)
    values["policy"] |= schema.mapping({} if options is None else options, "options")
    values["adversary"] |= parameters
    values |= {"K": K, "T": T, "B": B, "V": V}
    values |= {"seeds": seeds, "first_seed": first_seed, "idle": idle, "proxy": proxy}
    return pd.DataFrame(run(request(_plain(values))))


def _plain(value: Any) -> Any:
    """A value as YAML would give it: numpy's scalars and arrays, and paths, in Python's types."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, np.longdouble):  # of which numpy makes no number of Python's
        return float(value)
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


KINDS = ("regret", "worst", "slopes", "points", "claims")


def load(experiment: str, what: str = "regret", *, results: str | Path = "results") -> pd.DataFrame:
    """What the workflow left of a finished experiment, as a frame.

    `what`: all runs (regret), the worst case of each cell (worst), fitted exponents (slopes), which
    cell lies where (points), or the findings (claims); columns as in docs/design.md. Of `regret`
    `frame.attrs["confee"]` holds the resolved configuration. Raises ConfeeError.
    """
    names.folder_name(experiment, "experiment")
    if what not in KINDS:
        raise ConfeeError(f"what={schema.show(what)}: must be one of {', '.join(KINDS)}")
    if not isinstance(results, str | os.PathLike):
        raise ConfeeError(f"results={schema.show(results)}: must be a folder")
    remake = reproduce.remake(experiment)
    missing = f"looked for in {Path.cwd()}; {remake}"
    place = reading.folder(Path(results), experiment)
    if what == "claims":
        import pandas as pd

        said = reading.findings(place / "claims.json", missing, remake)[1]
        return pd.DataFrame(said["claims"])
    if what != "regret":
        return reading.table(place / f"{what}.csv", missing, remake)
    table, about = read_table(place / "regret.parquet", remake, missing=missing)
    frame = table.to_pandas()
    frame.attrs["confee"] = about
    return frame

"""The Python interface: `simulate` a cell, `load` the results of an experiment."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from confee.config import composition, conf_files, experiments, names, reproduce
from confee.core import jit, schema
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
    """A cell, its opponent, and the seeds to play."""

    cell: Cell
    against: Opponent
    runs: experiments.Runs
    accounting: Accounting
    output: str | None


def request(values: Mapping[str, Any]) -> Request:
    """Return the request of composed values. Raises ConfeeError for a wrong key or value."""
    for name in values.keys() - KEYS:
        for group in ("policy", "adversary"):  # an option that lacks its prefix
            if isinstance(values[group], Mapping) and name in values[group]:
                shown = schema.show(values[name])
                raise ConfeeError(f"{name}={shown}: no such key; did you mean {group}.{name}?")
    names.check_keys(values, KEYS)
    for name in ("K", "T", "B", "V"):
        if isinstance(values[name], str) and values[name] == "???":
            raise ConfeeError(f"{name}: missing; give {name}=...")
    played = cell(values["policy"], Size(*(values[name] for name in Size._fields)))
    against = opponent(values["adversary"], played.size)
    runs = schema.build(experiments.Runs, {n: values[n] for n in ("seeds", "first_seed")})
    accounting = schema.build(Accounting, {n: values[n] for n in ("idle", "proxy")})
    output = values["output"]
    if output is not None and not str(output).endswith(".parquet"):
        raise ConfeeError(f"output={schema.show(output)}: must end in .parquet")
    return Request(played, against, runs, accounting, output)


def run(request: Request, tick: Callable[[], None] = lambda: None) -> list[Row]:
    """Play a request and return one row per seed; `tick` is called after each."""
    jit.prepare()
    runs, played = request.runs, request.cell
    seeds = range(runs.first_seed, runs.first_seed + runs.seeds)
    return play_all(played, [request.against], seeds, calibrated(played), request.accounting, tick)


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
    """Play one cell against one adversary.

    Parameters
    ----------
    policy, adversary
        Their ids; `confee list` names them.
    K, T, B, V
        Arms, horizon, budget of queries (K <= B <= T), and variation budget.
    seeds, first_seed
        The number of seeds, and the first of them.
    idle
        `expected` accounts idle rounds by their expectation, `sampled` draws their plays.
    proxy
        `means` or `literal`: whether the decomposition of regret is over means or over rewards.
    options, **parameters
        Options of the policy and of the adversary; `confee list <name>` describes them.

    Returns
    -------
    pandas.DataFrame
        One row per seed, as in regret.parquet: the workflow computes the same rows.

    Raises
    ------
    ConfeeError
        For an unknown name or a value out of range.
    """
    import pandas as pd

    for group, name in (("policy", policy), ("adversary", adversary)):
        if not isinstance(name, str) or not conf_files.has(group, name):
            ending = conf_files.unknown(group, name)
            raise ConfeeError(f"{group}={schema.show(name)}: {ending}")
    overrides: Sequence[str] = [f"policy={policy}", f"adversary={adversary}"]
    values = composition.compose("cell", overrides)
    values["policy"] |= schema.mapping({} if options is None else options, "options")
    values["adversary"] |= parameters
    values |= {"K": K, "T": T, "B": B, "V": V}
    values |= {"seeds": seeds, "first_seed": first_seed, "idle": idle, "proxy": proxy}
    return pd.DataFrame(run(request(_plain(values))))


def _plain(value: Any) -> Any:
    """Return a value as YAML would: scalars and arrays of numpy, and paths, as Python's types."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, np.longdouble):  # numpy's tolist() leaves it as it is
        return float(value)
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


KINDS = ("regret", "worst", "slopes", "points", "claims")


def load(experiment: str, what: str = "regret", *, results: str | Path = "results") -> pd.DataFrame:
    """Load a table of a finished experiment.

    Parameters
    ----------
    experiment
        Its name.
    what
        `regret` has all runs, `worst` the worst case of each cell, `slopes` fitted exponents,
        `points` the cells of each axis, `claims` the findings. docs/glossary.md has the columns.
    results
        The folder that holds the results of experiments.

    Returns
    -------
    pandas.DataFrame
        For `regret`, `frame.attrs["confee"]` is the resolved configuration.

    Raises
    ------
    ConfeeError
        If the table is missing or damaged.
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

        ledger = reading.findings(place / "claims.json", missing, remake)[1]
        return pd.DataFrame(ledger["claims"])
    if what != "regret":
        return reading.table(place / f"{what}.csv", missing, remake)
    table, about = read_table(place / "regret.parquet", remake, missing=missing)
    frame = table.to_pandas()
    frame.attrs["confee"] = about
    return frame

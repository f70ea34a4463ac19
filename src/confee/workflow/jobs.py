"""What a job does: play units, draw studies, or find a scale. Light: each job imports this."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from confee.core import jit, schema, sources
from confee.core.canonical import canonical, digest
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.policies import POLICIES
from confee.simulation import files, turns
from confee.simulation.calibrate import calibrate, calibrated
from confee.simulation.cells import Cell, Opponent, cell, opponent
from confee.simulation.needs import Draws
from confee.simulation.play import FEWEST, play_all
from confee.simulation.studies import STUDIES
from confee.simulation.units import ESTIMATE, Unit, unit
from confee.workflow import costs
from confee.workflow.handoff import RESULTS
from confee.workflow.runlock import NO_LOCKS
from confee.world.adversaries import usual

REMAKE = "delete it and run snakemake again"
AGAIN = "run snakemake again"


# --------------------------------------------------------------------------- calibration


def calibration_key(cell: Cell) -> dict[str, Any]:
    """What a scale depends on: not V."""
    code = sources.code_hash(["confee.simulation.calibrate"], ["confee.workflow.jobs"])
    key = {name: cell.key[name] for name in ("policy", "options", "K", "T", "B")}
    return canonical(key | {"code": code})


def calibration_file(cell: Cell) -> Path:
    return RESULTS / "calibration" / f"{digest(calibration_key(cell))}.json"


def find_scale(cell: Cell) -> None:
    """Measure the scale of a calibrated policy at the cell's (K, T, B), and keep it in its file."""
    scale = calibrate(*cell.size[:3], cell.options)
    sources.check()
    kept = {**calibration_key(cell), "scale": scale}
    files.write_text(calibration_file(cell), files.sealed(kept))


def found_scale(cell: Cell) -> float:
    """The scale that `find_scale` kept. Raises ConfeeError if it is missing, damaged or of another
    cell."""
    file = calibration_file(cell)
    kept = read_scale(file)
    if {name: kept[name] for name in kept if name != "scale"} != calibration_key(cell):
        raise ConfeeError(f"{file}: holds the scale of another cell; {REMAKE}")
    return float(kept["scale"])


def read_scale(file: Path) -> dict[str, Any]:
    """The content of a calibration file. Raises ConfeeError if it is missing or damaged."""
    return files.read_sealed(file, AGAIN, REMAKE)


def has_scale(cell: Cell) -> bool:
    """Whether a cell's scale is known."""
    try:
        found_scale(cell)
    except ConfeeError:
        return False
    return True


# --------------------------------------------------------------------------- units


def read_unit(name: str) -> Any:
    """The arrow table of a unit. Raises ConfeeError if it is damaged or belongs to another name."""
    table, about = files.read_table(RESULTS / name, REMAKE, missing=AGAIN)
    if digest(about) != Path(name).stem:
        raise ConfeeError(
            f"{RESULTS / name}: its name belongs to the runs of another cell; {REMAKE}"
        )
    return table


def play_unit(unit: Unit, after: Sequence[str], tick: Callable[[], None]) -> int:
    """Play a unit and write its file, without rows if earlier turns were enough.

    Parameters
    ----------
    after : files of the cell's earlier passes and turns

    Returns
    -------
    How many runs it has.
    """
    opponents: Sequence[Opponent] = unit.opponents
    if unit.pass_ == ESTIMATE:
        earlier = [row for name in after for row in turns.decisive(read_unit(name)).to_pylist()]
        how = unit.seeds
        opponents = turns.still_to_meet(
            opponents, earlier, turn=unit.turn, choose=how.choose, worst=how.worst, error=how.error
        )
    scale = found_scale(unit.cell) if unit.cell.spec.calibrated else None
    options = calibrated(unit.cell, scale)
    seeds = range(unit.first, unit.first + unit.count)
    with _keeping_kernels():
        rows = play_all(unit.cell, opponents, seeds, options, unit.accounting, tick)
    sources.check()
    files.write_table(RESULTS / unit.file, rows, unit.key)
    return len(rows)


def draw_study(study: Draws) -> None:
    """Draw the rows of a study and write its file."""
    with _keeping_kernels():
        rows = STUDIES[study.name].run(**study.parameters)
    sources.check()
    files.write_table(RESULTS / study.file, rows, study.key)


# --------------------------------------------------------------------------- jobs


def job_file(name: str) -> Path:
    return RESULTS / "jobs" / f"{name}.json"


def do_job(name: str | Path, tick: Callable[[], None] = lambda: None) -> None:
    """Make what a job file asks for and results/ lacks (units, studies, a scale), and keep a record
    of what it took."""
    job = files.read_sealed(name, AGAIN, REMAKE)
    if job.get("kind") not in ("play", "study", "calibrate"):
        raise ConfeeError(f"{name}: not a job file; {REMAKE}")
    jit.prepare()
    study = job["kind"] == "study"
    ids = [spec["name"] if study else spec["cell"]["policy"] for spec in job["units"]]
    known = {name for name in (*POLICIES, *STUDIES) if name in ids}  # others are refused below
    compile_lacking(sorted(known))  # lacking only where this node's CPU is of another kind
    parts: list[costs.Part] = []
    outputs: list[str] = []
    for spec in job["units"]:
        work = _work(job["kind"], spec)
        if isinstance(work, Cell):
            output = calibration_file(work).relative_to(RESULTS)
        else:
            output = work.file
            if files.is_whole(RESULTS / output):
                continue
        with costs.timed(costs.Part.of(work)) as part:
            if isinstance(work, Cell):
                find_scale(work)
            elif isinstance(work, Draws):
                draw_study(work)
            else:
                part.runs = play_unit(work, spec["after"], tick)
        parts.append(part)
        outputs.append(output.as_posix())
    costs.keep(Path(name).stem, parts, about=describe(job), outputs=outputs)


def _work(kind: str, spec: Mapping[str, Any]) -> Unit | Draws | Cell:
    """A unit or a study of a job file, or the cell whose scale it asks for."""
    if kind == "study":
        return Draws(_known(spec["name"]), spec["parameters"], spec["seconds"])
    played = unit(spec)
    return played.cell if kind == "calibrate" else played


def describe(job: Mapping[str, Any]) -> str:
    """What a job does, in words."""
    if job["kind"] == "study":
        return "study of " + ", ".join(sorted({spec["name"] for spec in job["units"]}))
    cells = [spec["cell"] for spec in job["units"]]
    players = Counter(cell["policy"] for cell in cells)
    who = ", ".join(name for name, _ in players.most_common(3)) + ", ..." * (len(players) > 3)
    at = f"T up to {max(cell['T'] for cell in cells):.3g}"
    if job["kind"] == "calibrate":
        return f"scale of {who}, {at}"
    return f"{who}: {len(cells)} units, {at}"


def _known(study: str) -> str:
    """The name of a study. Raises ConfeeError if it is unknown, so no other module is imported."""
    if study not in STUDIES:
        raise ConfeeError(f"study={schema.show(study)}: unknown; known: {', '.join(STUDIES)}")
    return study


def stamp(name: str) -> str:
    """The file that shows Snakemake that the kernels of a policy or a study are compiled.

    It is not in the cache, which checkouts share: Snakemake removes outputs before it makes them.
    """
    return job_file(f"{name}-{_kernels(name).name}").with_suffix(".compiled").as_posix()


def compiled(name: str) -> Path:
    """The mark in the cache itself, which is lost together with it."""
    return _kernels(name) / "compiled"


def _kernels(name: str) -> Path:
    """The cache folder of a policy or a study."""
    return jit.folder(f"confee.policies.{name}" if name in POLICIES else Draws(name, {}).module)


def compile_kernels(stamps: Sequence[str]) -> None:
    """Compile the kernels that stamps stand for, and write the stamps."""
    names = {file: Path(file).stem.rpartition("-kernels-")[0] for file in stamps}
    for file, name in names.items():
        if name not in (*POLICIES, *STUDIES):
            raise ConfeeError(
                f"{schema.show(file)}: must begin with the name of a policy or a study"
            )
    compile_lacking(names.values())
    for file in stamps:
        files.write_text(file, "")
    jit.prune()


def compile_lacking(names: Iterable[str]) -> None:
    """Compile the kernels that the cache lacks for this kind of CPU, by playing a toy cell of each
    policy and a toy study. One process compiles at a time, whatever its checkout."""
    lacking = [name for name in names if not compiled(name).exists()]
    if not lacking:
        return
    with (jit.HERE / "lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            # Without locks two processes may compile the same. That does no harm.
            if error.errno not in NO_LOCKS:
                raise ConfeeError(f"{jit.HERE / 'lock'}: {error.strerror}") from None
        for name in lacking:
            if not compiled(name).exists():
                before = time.process_time()
                with _keeping_kernels():
                    _compile(name)
                    compiled(name).touch()
                costs.keep(f"{costs.KERNELS}.{name}", cpu=time.process_time() - before)


@contextlib.contextmanager
def _keeping_kernels() -> Iterator[None]:
    """Raise ConfeeError, naming the cache's folder, if numba cannot write there."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise
        raise ConfeeError(
            f"{jit.ROOT}: cannot be written: {error.strerror}; compiled code is kept there, or in "
            "the folder that CONFEE_CACHE names"
        ) from None


def _compile(name: str) -> None:
    size = Size(K=2, T=64, B=16, V=1)
    if name in POLICIES:
        toy = cell({"name": name}, size)
        against = opponent({"name": usual(toy.spec.setting)}, size)
        for runs in (1, FEWEST):  # without and with lanes
            play_all(toy, [against], range(runs), calibrated(toy))
    else:
        study = STUDIES[name]
        study.run(**study.smallest)

"""What a job does: plays the units of its file, or finds a scale. Each job imports this: light."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import importlib
import pkgutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from confee.core import jit, schema, sources
from confee.core.canonical import canonical, digest
from confee.core.errors import ConfeeError
from confee.policies import POLICIES
from confee.simulation import files, studies, turns
from confee.simulation.calibrate import calibrate, calibrated
from confee.simulation.cells import Cell, Opponent, cell, opponent
from confee.simulation.needs import Study
from confee.simulation.plan import ESTIMATE, Unit, unit
from confee.simulation.play import FEWEST, play_all
from confee.workflow import costs
from confee.workflow.handoff import RESULTS
from confee.workflow.runlock import NO_LOCKS
from confee.world.adversaries import usual

STUDIES = sorted(module.name for module in pkgutil.iter_modules(studies.__path__))
REMAKE = "delete it and run snakemake again"
AGAIN = "run snakemake again"


# --------------------------------------------------------------------------- calibration


def calibration_key(one: Cell) -> dict[str, Any]:
    """What a found scale depends on: not V."""
    code = sources.code_hash(["confee.simulation.calibrate"], ["confee.workflow.jobs"])
    key = {name: one.key[name] for name in ("policy", "options", "K", "T", "B")}
    return canonical(key | {"code": code})


def calibration_file(one: Cell) -> Path:
    return RESULTS / "calibration" / f"{digest(calibration_key(one))}.json"


def find_scale(one: Cell) -> None:
    """Measures the scale of a calibrated policy at the cell's (K, T, B), and keeps it."""
    scale = calibrate(one.K, one.T, one.B, one.options)
    sources.check()
    kept = {**calibration_key(one), "scale": scale}
    files.write_text(calibration_file(one), files.sealed(kept))


def found_scale(one: Cell) -> float:
    """The scale that `find_scale` kept. Raises ConfeeError if it is missing, damaged or of another
    cell."""
    file = calibration_file(one)
    kept = read_scale(file)
    if {name: kept[name] for name in kept if name != "scale"} != calibration_key(one):
        raise ConfeeError(f"{file}: belongs to another cell; {REMAKE}")
    return float(kept["scale"])


def read_scale(file: Path) -> dict[str, Any]:
    """What a calibration file says. Raises ConfeeError, naming it, if it is missing or damaged."""
    return files.read_sealed(file, AGAIN, REMAKE)


def has_scale(one: Cell) -> bool:
    """Whether `found_scale` finds one."""
    try:
        found_scale(one)
    except ConfeeError:
        return False
    return True


# --------------------------------------------------------------------------- units


def read_unit(name: str) -> Any:
    """The arrow table of a unit. Raises ConfeeError if it is damaged or not what its name says."""
    table, about = files.read_table(RESULTS / name, REMAKE, missing=AGAIN)
    if digest(about) != Path(name).stem:
        raise ConfeeError(f"{RESULTS / name}: holds another cell than its name says; {REMAKE}")
    return table


def play_unit(one: Unit, after: Sequence[str], tick: Callable[[], None]) -> int:
    """Plays a unit and writes its file, without rows if the turns before it were enough; returns
    how many runs it has.

    `after`: the files of the cell's earlier stages and turns.
    """
    opponents: Sequence[Opponent] = one.opponents
    if one.stage == ESTIMATE:
        earlier = [row for name in after for row in turns.decisive(read_unit(name)).to_pylist()]
        how = one.seeds
        opponents = turns.still_to_meet(
            opponents, earlier, turn=one.turn, choose=how.choose, worst=how.worst, error=how.error
        )
    scale = found_scale(one.cell) if one.cell.spec.calibrated else None
    options = calibrated(one.cell, scale)
    seeds = range(one.first, one.first + one.count)
    with _keeping_kernels():
        rows = play_all(one.cell, opponents, seeds, options, one.accounting, tick)
    sources.check()
    files.write_table(RESULTS / one.file, rows, one.key)
    return len(rows)


def draw_study(one: Study) -> None:
    """Makes the rows of a study and writes its file."""
    with _keeping_kernels():
        rows = importlib.import_module(one.module).run(**one.parameters)
    sources.check()
    files.write_table(RESULTS / one.file, rows, one.key)


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
            elif isinstance(work, Study):
                draw_study(work)
            else:
                part.runs = play_unit(work, spec["after"], tick)
        parts.append(part)
        outputs.append(output.as_posix())
    costs.keep(Path(name).stem, parts, about=describe(job), outputs=outputs)


def _work(kind: str, spec: Mapping[str, Any]) -> Unit | Study | Cell:
    """A unit or a study of a job file, or the cell whose scale it asks for."""
    if kind == "study":
        return Study(_known(spec["name"]), spec["parameters"], spec["seconds"])
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
    """Its name. Raises ConfeeError if there is no such study: none but these are imported."""
    if study not in STUDIES:
        raise ConfeeError(f"study={schema.show(study)}: unknown; known: {', '.join(STUDIES)}")
    return study


def stamp(name: str) -> str:
    """Shows that the kernels of a policy or a study are compiled. It lies beside the jobs, not in
    the cache: checkouts share that, and Snakemake removes outputs before it makes them."""
    return job_file(f"{name}-{_kernels(name).name}").with_suffix(".compiled").as_posix()


def compiled(name: str) -> Path:
    """The mark in the cache itself: the two are lost together."""
    return _kernels(name) / "compiled"


def _kernels(name: str) -> Path:
    """The cache folder of a policy or a study."""
    return jit.folder(f"confee.policies.{name}" if name in POLICIES else Study(name, {}).module)


def compile_kernels(stamps: Sequence[str]) -> None:
    """Compiles what the stamps stand for, and writes them."""
    names = {file: Path(file).stem.rpartition("-kernels-")[0] for file in stamps}
    for file, name in names.items():
        if name not in (*POLICIES, *STUDIES):
            known = ", ".join((*POLICIES, *STUDIES))
            raise ConfeeError(f"{schema.show(file)}: must begin with a name that is known: {known}")
    compile_lacking(names.values())
    for file in stamps:
        files.write_text(file, "")
    jit.prune()


def compile_lacking(names: Iterable[str]) -> None:
    """Plays a toy cell of each policy and a toy study whose kernels are not in the cache, for CPUs
    as this one: they are then. One process at a time, whatever checkout it is of."""
    lacking = [name for name in names if not compiled(name).exists()]
    if not lacking:
        return
    with (jit.HERE / "lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            # On a disk without locks two processes may compile the same: each file is whole.
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
    """Names the cache's folder where numba can't keep in it what is compiled inside."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise
        raise ConfeeError(
            f"{jit.ROOT}: cannot be written: {error.strerror}; kernels are kept there, or in the "
            "folder that CONFEE_CACHE names"
        ) from None


def _compile(name: str) -> None:
    sizes: dict[str, Any] = {"K": 2, "T": 64, "B": 16, "V": 1}
    if name in POLICIES:
        one = cell({"name": name}, **sizes)
        against = opponent({"name": usual(one.spec.setting)}, **sizes)
        for runs in (1, FEWEST):  # by itself, and as lanes
            play_all(one, [against], range(runs), calibrated(one))
    else:
        study = importlib.import_module(Study(name, {}).module)
        study.run(**study.SMALLEST)

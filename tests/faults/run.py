"""What a run of `tiny` comes to when it is killed, starved, damaged or doubled: a table.

    python tests/faults/run.py                       # the whole matrix
    python tests/faults/run.py one_job --tries 20    # some of it
    python tests/faults/run.py --list

A run without faults comes first: what it leaves is what each other has to leave, byte for byte,
when the same command is given again. A try is `alike` if it does so by itself. It is `one line` if
it ends with exit code 1 and a clear line, and finishes alike once that was heeded. Else it is bad,
its folder is kept, and the exit code is 1. Controls are faults that must be found: one that is not
is bad.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import cases
from cases import ALIKE, BAD, LINE, Setting, Skipped, Try
from folder import EXCEPTED, TINY, Folder
from rich import box
from rich.console import Console
from rich.table import Table


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--list", action="store_true", help="name the faults")
    parser.add_argument("--tries", type=int, default=18, help="kills of each kind (default 18)")
    parser.add_argument("--seed", type=int, default=0, help="of what is random (default 0)")
    parser.add_argument(
        "--place", type=Path, help="work here, keep it, and use its undisturbed run"
    )
    chosen = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    if chosen.list:
        for name, fault in cases.FAULTS.items():
            print(f"{name:20} {title(fault)}")
        return 0
    if unknown := set(chosen.names) - cases.FAULTS.keys():
        sys.exit(f"faults: {', '.join(sorted(unknown))}: unknown; --list names them")
    if chosen.tries < 1:
        sys.exit(f"faults: --tries={chosen.tries}: must be a whole number in [1, inf)")
    place = (chosen.place or Path(tempfile.mkdtemp(prefix="confee-faults-"))).resolve()
    done, seconds = undisturbed(place)
    reference = done.hashes()
    table = Table("fault", "tries", "alike", "one line", "bad", box=box.MARKDOWN)
    bad = 0
    for name in chosen.names or cases.FAULTS:
        fault = cases.FAULTS[name]
        for left in place.glob(f"{name}-*"):
            shutil.rmtree(left)
        # Chance of its own for each: a fault by itself is what it is among others.
        rng = random.Random(f"{chosen.seed} {name}")
        setting = Setting(place, done, reference, seconds, rng, chosen.tries, name)
        found = tried(name, setting)
        if isinstance(found, str):
            table.add_row(title(fault), "-", "-", "-", found)
            continue
        counts = Counter(one.outcome for one in found)
        table.add_row(title(fault), str(len(found)), *(str(counts[o]) for o in (ALIKE, LINE, BAD)))
        bad += counts[BAD]
    wide = Console(width=120)
    wide.print(table)
    for name, why in EXCEPTED.items():
        wide.print(f"not compared: {name}: {why}", highlight=False)
    if bad:
        wide.print(f"bad: {bad}; what they left is in {place}")
    elif not chosen.place:
        shutil.rmtree(place)
    return 1 if bad else 0


def undisturbed(place: Path) -> tuple[Folder, float]:
    """A run without faults, once kernels are compiled; the seconds that it took."""
    took = place / "seconds"
    if not took.exists():
        Folder(place / "warm").run("--until", "kernels")
    done = Folder(place / "done")
    said = done.run()
    if said.code:
        sys.exit(f"faults: the run without faults fails: {said.text}")
    if not took.exists():
        took.write_text(f"{said.seconds}")
    say(f"{TINY}: {float(took.read_text()):.0f} s, {len(done.hashes())} files compared")
    return done, float(took.read_text())


def tried(name: str, setting: Setting) -> list[Try] | str:
    """All tries of a fault, each told as it ends; or why there are none."""
    found = []
    since = time.monotonic()
    try:
        for one in cases.FAULTS[name](setting):
            found.append(one)
            say(f"{name}: {one.outcome}: {one.note}")
    except Skipped as why:
        return f"skipped: {why}"
    say(f"{name}: {len(found)} tries in {time.monotonic() - since:.0f} s")
    return found


def title(fault) -> str:
    return fault.__doc__.splitlines()[0]


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

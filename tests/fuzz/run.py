"""Bad input by the thousand: each case runs, or is refused in one clear line, and leaves no trace.

    python tests/fuzz/run.py --cases 5000 --seed 1
    python tests/fuzz/run.py --seed 1 --only 1234       one case, with all that it said
    python tests/fuzz/run.py --processes 40             also so many through real processes

Case i of a seed is drawn from random.Random(f"{seed}:{i}"), whatever the others are. Exit code 1 if
any fails.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

if not __package__:  # as a script
    sys.path[0] = str(Path(__file__).parents[1])
from fuzz import bench, cases
from fuzz.bench import Bench, Outcome
from fuzz.cases import Case

LONGEST = 400
"""Characters of a refusal, without the names of a list of what is known."""
ALLOWED = re.compile(
    r"must|known|missing|no such|unknown|given|not |cannot|damaged|no |leaves|needs|nothing|"
    r"invalid|required|unrecognized|expected|choose|too|detected|expecting|holds|belongs"
)
"""Words of which one says what is allowed."""
JARGON = re.compile(
    r"Traceback|\b[A-Z]\w+(Error|Exception)\b|\[Errno|<class|object at 0x|NoneType|\bdict_|"
    r"\bnp\.|unhashable type|unsupported operand|subscriptable|list index|attribute '|positional"
)


def drawn(seed: int, index: int, there: Bench) -> Case:
    """The case of that number."""
    rng = random.Random(f"{seed}:{index}")
    kinds = ways(there)
    (draw,) = rng.choices([d for _, d in kinds], [w for w, _ in kinds])
    return draw(rng)


def ways(there: Bench) -> list[tuple[float, Callable[[random.Random], Case]]]:
    """(weight, draw) of each kind."""
    of = cases
    plan, (job, *_) = there.plan, there.jobs
    ledger = f"results/{bench.FOLDER}/claims.json"
    last = f"results/{bench.FOLDER}/plan.json"
    tables = tuple(
        f"results/{bench.FOLDER}/{name}"
        for name in ("regret.parquet", "asked.parquet", "points.csv")
    )
    confs = tuple(
        f"extra/conf/{group}/own{group}.yaml" for group in ("experiment", "policy", "adversary")
    )
    return [
        (4, of.overrides("run", of.EXPERIMENT, of.keys_of_experiments)),
        (2, of.overrides("run, as text", of.EXPERIMENT, of.keys_of_experiments)),
        (1, of.overrides("config", of.EXPERIMENT, of.keys_of_experiments)),
        (4, of.overrides("simulate", of.CELL, of.keys_of_cells)),
        (25, of.values("experiment's values", lambda: there.experiment, of.keys_of_experiments)),
        (20, of.values("cell's values", lambda: there.cell, of.keys_of_cells)),
        (12, of.command_line),
        (2, of.call),
        (4, of.file("bytes", ("series.csv",))),
        (2, of.file("bytes", confs)),
        (8, of.file("bytes", tables + tuple(there.units))),
        (4, of.file("bytes", (job, plan, ledger, last))),
        (5, of.json_file("job", job, there)),
        (5, of.json_file("plan", plan, there)),
        (2, of.json_file("plan", last, there)),
        (5, of.json_file("ledger", ledger, there)),
    ]


# --------------------------------------------------------------------------- asked of a case


def complaint(case: Case, said: Outcome) -> str:
    """What is wrong with the outcome of a case; empty if nothing."""
    if said.canary:
        return "the case was evaluated: there is a canary"
    if said.error.startswith("Hang"):
        return f"over {bench.SECONDS:g} CPU s: {said.error}"
    if said.error:
        return f"escaped: {said.error}"
    if said.code == 0:
        return f"runs, with noise on stderr: {said.err[:200]!r}" if said.err.strip() else ""
    if said.code == 2 and case.kind == "words" and "--fail-on" in " ".join(case.parts):
        return ""
    if said.code != 1:
        return f"exit code {said.code}"
    if said.out:
        return f"fails, with output: {said.out[:200]!r}"
    if said.wrote:
        return f"fails, and wrote {', '.join(said.wrote[:5])}"
    return unclear(case, said.err)


def unclear(case: Case, said: str) -> str:
    """What is wrong with a refusal: no single line, no clear one."""
    lines = said.splitlines()
    if len(lines) != 1 or not said.endswith("\n"):
        return f"fails with {len(lines)} lines: {said[:300]!r}"
    line = lines[0]
    if not line.startswith("confee: ") or not line.removeprefix("confee: ").strip():
        return f"not a line of confee: {line[:200]!r}"
    if not line.isprintable():
        return f"control characters: {line[:200]!r}"
    if len(re.sub(r"(known: |among ).*", "", line)) > LONGEST:
        return f"{len(line)} characters: {line[:300]!r}"
    own = [word for word in case.touched if JARGON.search(word)]
    if (jargon := JARGON.search(line)) and not any(word in line for word in own):
        return f"jargon ({jargon[0]}): {line[:300]!r}"
    if not ALLOWED.search(line):
        return f"does not say what is allowed: {line[:300]!r}"
    if not named(case, line):
        return f"names neither key nor value ({', '.join(case.touched)[:80]}): {line[:300]!r}"
    return ""


def named(case: Case, line: str) -> bool:
    """Whether a line names a key or a value that the case touched."""
    shown = {" ".join(word.split())[:40] or repr(word) for word in case.touched}
    blank = case.touched if case.kind == "load" else case.parts if case.kind == "words" else ()
    if not all(map(str.strip, blank)):
        return True  # a blank has no name
    shown |= {word.encode("unicode_escape").decode() for word in shown}
    # What a blank cuts off, and an element of a list, are named where a key or a value stands.
    pieces = {one for word in case.touched for one in re.split(r"[\s,\[\]=]+", word) if one}
    if case.kind.endswith("as text") and line.endswith("not an override; must be key=value"):
        return True  # its quotes and blanks cut it into what no case has asked for
    if any(re.search(rf"(^confee: |=){re.escape(one)}(?!\w)", line) for one in pieces):
        return True
    return bool(re.match(r"confee: [\w.]+: missing", line)) or any(
        re.search(rf"(?<!\w){re.escape(word)}" if word[0].isalnum() else re.escape(word), line)
        for word in shown
        if word
    )


def minimal(case: Case, there: Bench) -> Case:
    """Without the parts that its failure does not need."""
    first = pattern(complaint(case, there.try_one(case)))
    fixed = 1 if case.kind in bench.FILES else 0
    for i in reversed(range(fixed, len(case.parts))):
        less = case._replace(parts=case.parts[:i] + case.parts[i + 1 :])
        if pattern(complaint(less, there.try_one(less))) == first:
            case = less
    return case


def pattern(text: str) -> str:
    """A message without what differs from case to case."""
    text = re.sub(r"known: .*|among .*", "known: ...", text.removeprefix("confee: ").strip())
    text = re.sub(r"^([^:=]{0,80}[=:]).*?: ", r"...: ", text)
    text = re.sub(r"\d[\d.e+-]*", "#", text)
    return text[:110]


# --------------------------------------------------------------------------- many


def tried(
    there: Bench, seed: int, numbers: Iterable[int], tell: bool = False
) -> tuple[list[tuple[int, Case, str]], Counter, Counter]:
    """(failures, kinds and what came of them, refusals by their pattern)."""
    failures: list[tuple[int, Case, str]] = []
    kinds: Counter[tuple[str, str]] = Counter()
    refusals: Counter[str] = Counter()
    for index in numbers:
        case = drawn(seed, index, there)
        faulthandler.dump_traceback_later(120, exit=True)
        said = there.try_one(case)
        faulthandler.cancel_dump_traceback_later()
        wrong = complaint(case, said)
        kinds[case.kind, "WRONG" if wrong else "refused" if said.code else "runs"] += 1
        kinds[case.kind, "CPU s"] += said.seconds  # type: ignore[assignment]
        if said.code == 1 and not wrong:
            refusals[pattern(said.err)] += 1
        if wrong:
            failures.append((index, case, wrong))
            if tell:
                print(f"{seed}:{index} {case.kind}, {case.mutation}: {wrong}", flush=True)
    return failures, kinds, refusals


def processes(there: Bench, seed: int, count: int) -> list[str]:
    """So many refusals again as real processes: the same line, and exit code 1."""
    wrong, done, index = [], Counter(), 0
    while sum(done.values()) < count:
        index += 1
        case = drawn(seed, -index, there)
        command = _command(case)
        if command is None or done[case.kind] > count // 3 or any("\0" in p for p in case.parts):
            continue
        said = there.try_one(case)
        if said.code != 1 or complaint(case, said):
            continue
        done[case.kind] += 1
        real = subprocess.run(
            [sys.executable, "-m", *command],
            capture_output=True,
            text=True,
            timeout=120,
            errors="replace",
        )
        lines = [line for line in real.stderr.splitlines() if not line.startswith("Using ")]
        if real.returncode != 1 or lines != said.err.splitlines() or real.stdout:
            wrong.append(f"{command}: exit code {real.returncode}, {lines[:3]}, not {said.err!r}")
    print("processes:", ", ".join(f"{kind} {n}" for kind, n in done.items()))
    return wrong


def _command(case: Case) -> list[str] | None:
    match case.kind:
        case "run":
            return None
        case "run, as text":
            from confee.config.reproduce import _yaml

            text = " ".join(case.parts)
            return ["snakemake", "-n", "--cores", "1", "--config", f"overrides={_yaml(text)}"]
        case "config" | "simulate":
            return ["confee", case.kind, *case.parts]
        case "words":
            return ["confee", *case.parts]
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--processes", type=int, default=0)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        there = Bench(Path(folder))
        if chosen.only is not None:
            case = drawn(chosen.seed, chosen.only, there)
            said = there.try_one(case)
            print(case, said, complaint(case, said) or "well", sep="\n")
            return 0
        began, spent = time.monotonic(), time.process_time()
        failures, kinds, refusals = tried(there, chosen.seed, range(chosen.cases), tell=True)
        took = time.monotonic() - began, time.process_time() - spent
        for kind in sorted({kind for kind, _ in kinds}):
            print(
                f"{kind:20}",
                *(
                    f"{what} {kinds[kind, what]:5.0f}"
                    for what in ("runs", "refused", "WRONG", "CPU s")
                ),
                sep="  ",
            )
        print(f"{len(refusals)} kinds of refusals; the most common:")
        for text, count in refusals.most_common(25):
            print(f"{count:5}  {text}")
        smallest: dict[str, str] = {}
        for index, case, wrong in failures:
            if pattern(wrong) not in smallest and len(smallest) < 60:
                smallest[pattern(wrong)] = (
                    f"{chosen.seed}:{index} {minimal(case, there)!r:.700}\n      {wrong}"
                )
        for text in smallest.values():
            print(text)
        bad = processes(there, chosen.seed, chosen.processes) if chosen.processes else []
        print(*bad, sep="\n")
        print(
            f"seed {chosen.seed}: {chosen.cases} cases in {took[0]:.0f} s ({took[1]:.0f} CPU s), "
            f"{len(failures) + len(bad)} wrong"
        )
        os.chdir("/")
        return int(bool(failures or bad))


if __name__ == "__main__":
    sys.exit(main())

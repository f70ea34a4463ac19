"""`python -m confee.paper.checked`: print the table of steps and mutants.

`python -m confee.paper.checked --write docs/proofs` also updates the last lines of the pages.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from confee.paper.checked import PROOFS, Score, declared_survivors, judge, mutants, published
from confee.paper.checked.steps import Proof

START, END = "<!-- checked -->\n", "<!-- end -->"


def block(proof: Proof, score: Score) -> str:
    """Return the lines of a page about its checks: counts, and survivors with their reasons."""
    reasons = declared_survivors(proof)
    lines = textwrap.wrap(published(proof, score), 100)
    if score.survivors:
        lines.append("")
    for step, mutant in score.survivors:
        reason = reasons.get((step, mutant), "not explained")
        lines += textwrap.wrap(
            f"- Not rejected, `{mutant}` in `{step}`: {reason}.", 100, subsequent_indent="  "
        )
    return "\n".join(lines) + "\n"


def write(folder: Path, scores: dict[str, Score]) -> None:
    """Update the lines about the checks of the pages in `folder`."""
    for name, proof in PROOFS.items():
        page = folder / proof.page
        text = page.read_text(encoding="utf-8")
        before, rest = text.split(START)
        after = rest.split(END, 1)[1]
        page.write_text(before + START + block(proof, scores[name]) + END + after, encoding="utf-8")


def main() -> int:
    """Print the table; return 1 if a step is not certified or a survivor is not explained."""
    bad = 0
    scores = {}
    for proof in PROOFS.values():
        print(f"{proof.title} (docs/proofs/{proof.page})")
        certified = dict(judge(proof))
        for step in proof.steps:
            ok = certified.get(step.name)
            mark = "cited" if ok is None else step.certified if ok else "NOT CERTIFIED"
            bad += ok is False
            print(f"  {mark:13}  {step.name}")
        scores[proof.name] = score = mutants(proof)
        bad += set(score.survivors) != set(declared_survivors(proof))
        print("  " + block(proof, score).replace("\n", "\n  "))
    if sys.argv[1:2] == ["--write"]:
        write(Path(sys.argv[2]), scores)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())

"""What a claim module returns: a finding with its controls, corrections, readings and steps.

A finding answers two questions. `as_printed` is the outcome of the printed statement, under the
interpretation that favours its authors most. `corrections` say what has to be changed, whether the
corrected statement is true, and how serious the error is (`severity`): a misprint and a broken
theorem both fail as printed, and differ in severity.

A negative control is put through the same check as the claim. If the control passes, the check
cannot detect a failure, and the outcome is `vacuous`. The module `exponents` has the rule by which
a measured exponent becomes an outcome.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import pandas as pd

HOLDS, FAILS, CONSISTENT, UNDECIDED, VACUOUS = (
    "holds",
    "fails",
    "consistent",
    "undecided",
    "vacuous",
)

OUTCOMES = (HOLDS, FAILS, CONSISTENT, UNDECIDED, VACUOUS)

SEVERITIES = {
    "none": "nothing to correct",
    "typo": "a misprint: the paper has it right elsewhere, or only the correction makes sense",
    "rounding": "true up to rounding to whole rounds, queries or batches",
    "constant": "true with another constant, which the O-notation hides",
    "logarithm": "true with another logarithm, which the O~-notation hides",
    "condition": "true under an assumption that the paper makes elsewhere or can make",
    "horizon": "not met at the horizons simulated; longer horizons remain open",
    "gap": "a step of the proof fails; the result may still be true",
    "false": "untrue, and no small change makes it true",
}
"""How serious an error is, from the lightest to the gravest, and what each word means."""

BREAKING = ("gap", "false")
"""Severities that take away what rests on a statement."""

MEASURED, COUNTED, ARITHMETIC = "measured", "counted", "arithmetic"

GLOSS = {
    MEASURED: "not met at the horizons simulated",
    COUNTED: "not true as printed",
    ARITHMETIC: "not true as printed",
}
"""What `fails` means, by the basis of a finding. A simulation contradicts a claim only at the
horizons simulated; counting and arithmetic refute the printed statement."""

Text = Annotated[str, {"minLength": 1}]
Outcome = Annotated[str, {"enum": list(OUTCOMES)}]
Severity = Annotated[str, {"enum": list(SEVERITIES)}]
"""Types of fields: what claims.json allows is read off them (see `confee.claims.schema`)."""

ALPHA = 0.025
"""One-sided level: 95 % two-sided limits."""


@dataclass(frozen=True)
class Control:
    """A policy or a statement of known quality, put through the same check as the claim.

    Parameters
    ----------
    what
        The policy or the statement.
    expected
        `fails` for a negative control, `holds` for a positive one.
    as_expected
        Whether the check gives the expected outcome; null if the control was not played.
    value
        The number that decided.
    note
        What the number is, or why it is missing.
    """

    what: Text
    expected: Annotated[str, {"enum": [FAILS, HOLDS]}] = FAILS
    as_expected: bool | None = None
    value: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Correction:
    """What to change in a statement so that it is true.

    Parameters
    ----------
    place
        Where the paper has the words.
    printed
        The words or the formula as printed, formulas in $.
    mended
        The same after the change, in the paper's notation.
    severity
        How serious the error is, from `none` to `false`.
    reason
        Why it has that severity, in one sentence.
    effect
        What the change does to the theorems that use the statement.
    outcome
        The outcome of the corrected statement.
    shown
        What shows it: a page of docs/proofs, or the check's own numbers.
    closed
        Whether the corrected statement supports everything that rests on it. A `gap` that is
        closed breaks nothing.
    """

    place: Text
    printed: Text
    mended: Text
    severity: Severity
    reason: Text
    effect: str
    outcome: Outcome = HOLDS
    shown: str = ""
    closed: bool = False

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES or self.outcome not in OUTCOMES:
            raise ValueError(f"{self.severity}, {self.outcome}")

    def now(self, outcome: str, shown: str = "") -> Correction:
        """Return the correction with the outcome of its corrected statement in these runs."""
        return dataclasses.replace(self, outcome=outcome, shown=shown or self.shown)


@dataclass(frozen=True)
class Reading:
    """Another way to read the paper's words.

    Parameters
    ----------
    choice
        The other reading.
    outcome
        The outcome under it.
    measured
        What was measured under it.
    """

    choice: Text
    outcome: Outcome
    measured: str = ""


@dataclass(frozen=True)
class Step:
    """A part of a claim, judged by itself.

    Parameters
    ----------
    step
        The part.
    outcome
        An outcome, or another word such as `first T`.
    number
        A number that `number_of` of the finding explains, unless the note does.
    note
        What a reader has to know beside it.
    """

    step: str
    outcome: str
    number: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """The outcome of one claim at the horizon played; its fields are those of claims.json.

    Parameters
    ----------
    id
        The claim, with a policy's options where they matter.
    statement
        The claim in our words.
    place
        Where the paper makes the claim.
    as_printed
        The outcome of the statement as printed, under the interpretation that favours its authors
        most.
    prediction
        What the claim predicts.
    measured
        What was measured, counted or computed.
    horizon
        The horizon T up to which the claim was judged.
    controls
        Policies or statements of known quality, put through the same check.
    corrections
        What has to be changed for the statement to be true; empty if nothing.
    readings
        Readings of the paper under which the outcome differs.
    basis
        What the outcome rests on, which decides what `fails` means.
    ours
        Whether the question is this project's own and the paper promises nothing.
    numbers
        All numbers of the check.
    seeds
        The fewest seeds of a cell, or draws of a kind.
    interval
        A confidence interval.
    decide
        What would decide, or where the outcome is worst.
    p_value
        The p-value before Holm's correction.
    why
        The rule that gave the outcome, with the numbers it was applied to.
    interval_of
        The quantity that the interval is for.
    steps
        Parts of the claim, judged one by one.
    number_of
        What the numbers of the steps are.
    evidence
        The frames that it rests on: regret, worst, slopes, asked, studies/<name>; none for
        arithmetic.
    """

    id: Text
    statement: Text
    place: Text
    as_printed: Outcome
    prediction: str
    measured: str
    horizon: str
    controls: tuple[Control, ...] = ()
    corrections: tuple[Correction, ...] = ()
    readings: tuple[Reading, ...] = ()
    basis: Annotated[str, {"enum": list(GLOSS)}] = MEASURED
    ours: bool = False
    numbers: dict = field(default_factory=dict)
    seeds: Annotated[int, {"minimum": 0}] = 0
    interval: tuple[float, float] | None = None
    decide: str = ""
    p_value: Annotated[float | None, {"minimum": 0, "maximum": 1}] = None
    why: str = ""
    interval_of: str = ""
    steps: tuple[Step, ...] = ()
    number_of: str = ""
    evidence: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """The gravest severity of the corrections, `none` if there are none."""
        return gravest(c.severity for c in self.corrections)

    @property
    def reason(self) -> str:
        """Why it has that severity, in one sentence."""
        return next((c.reason for c in self.corrections if c.severity == self.severity), "")

    @property
    def mended(self) -> Annotated[str, {"enum": ["", *OUTCOMES]}]:
        """The worst outcome of the corrected statements. Empty if nothing had to be corrected, as
        where simulations contradict a statement that may be true at longer horizons."""
        outcomes = {c.outcome for c in self.corrections if c.severity != "horizon"}
        worst_first = (FAILS, VACUOUS, UNDECIDED, CONSISTENT, HOLDS)
        return next((outcome for outcome in worst_first if outcome in outcomes), "")

    @property
    def breaks(self) -> bool:
        """Whether the statements that rest on this claim lose their support."""
        return any(c.severity in BREAKING and not c.closed for c in self.corrections)

    @property
    def gloss(self) -> Annotated[str, {"enum": ["", *dict.fromkeys(GLOSS.values())]}]:
        """What `fails` means for this claim; empty if it does not fail."""
        return GLOSS[self.basis] if self.as_printed == FAILS else ""

    @property
    def control(self) -> Control | None:
        """The first control that must fail; None if there is none."""
        return next((c for c in self.controls if c.expected == FAILS), None)

    @property
    def positive(self) -> Control | None:
        """The control that must hold; None if there is none."""
        return next((c for c in self.controls if c.expected == HOLDS), None)


def graded(finding: Finding) -> Finding:
    """Return the finding, with a correction added if it fails and declares only typos.

    A claim that fails therefore always counts as needing a correction. A statement that a
    simulation contradicts gets the severity `horizon`. A statement that counting or arithmetic
    refutes counts as `false` until its module declares a correction.
    """
    if finding.as_printed != FAILS or any(c.severity != "typo" for c in finding.corrections):
        return finding
    measured = finding.basis == MEASURED
    unknown = Correction(
        place=finding.place,
        printed=finding.statement,
        mended="no correction is known that makes it true",
        severity="horizon" if measured else "false",
        reason="it is not met at the horizons simulated"
        if measured
        else "it is refuted, and no correction is known",
        effect="not examined",
        outcome=UNDECIDED,
    )
    return dataclasses.replace(finding, corrections=(*finding.corrections, unknown))


def gravest(severities: Iterable[str]) -> str:
    """Return the gravest of the severities, `none` if there are none."""
    order = list(SEVERITIES)
    return max(severities, key=order.index, default="none")


def apply_control(finding: Finding) -> Finding:
    """`vacuous` where a negative control did not fail or was not played."""
    negative = [c for c in finding.controls if c.expected == FAILS]
    control = next((c for c in negative if not c.as_expected), None)
    if negative and control is None:
        return finding
    missing = control is None or control.as_expected is None
    why = "was not simulated here" if missing else "passes the check, which a control must fail"
    note = f" ({control.note})" if control is not None and control.note else ""
    return dataclasses.replace(
        finding,
        as_printed=VACUOUS,
        corrections=(),
        p_value=None,
        decide=f"the negative control ({control.what if control else 'none'}) {why}{note}",
    )


def correct(findings: Iterable[Finding], primary: Iterable[str]) -> list[Finding]:
    """Apply Holm's correction to the primary findings; those that fail it become `undecided`."""
    from statsmodels.stats.multitest import multipletests

    findings, primary = list(findings), set(primary)
    family = [i for i, v in enumerate(findings) if v.id in primary and v.p_value is not None]
    if not family:
        return findings
    adjusted = multipletests([findings[i].p_value for i in family], ALPHA, method="holm")[1]
    for i, p in zip(family, adjusted, strict=True):
        numbers = {**findings[i].numbers, "p_holm": float(p)}
        change: dict = {"numbers": numbers}
        if findings[i].as_printed in (HOLDS, CONSISTENT, FAILS) and p > ALPHA:
            change |= {
                "as_printed": UNDECIDED,
                "corrections": (),
                "decide": f"{findings[i].as_printed} if tested alone, but not after Holm's "
                "correction "
                f"for {len(family)} claims (p = {p:.2g}); more seeds would decide",
            }
        findings[i] = dataclasses.replace(findings[i], **change)
    return findings


def fewest_seeds(runs: pd.DataFrame) -> int:
    """Seeds of the cell that has fewest; columns label, K, T, B, V, seed."""
    return int(runs.groupby(["label", "K", "T", "B", "V"])["seed"].nunique().min())


def at_horizon(T: float, toy: bool, extra: str = "") -> str:
    """`T up to 1e+08`, with a warning for a toy experiment."""
    text = f"T up to {T:.3g}" + (f", {extra}" if extra else "")
    return f"toy horizon ({text}): says nothing about larger ones" if toy else text

"""Whether this Snakemake process plays anything, by its command line."""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from confee.workflow.handoff import RESULTS

PLAYS_NOTHING = (
    "dryrun",
    "lint",
    "list_rules",
    "list_target_rules",
    "print_compilation",
    "dag",
    "rulegraph",
    "filegraph",
    "d3dag",
    "summary",
    "detailed_summary",
    "list_changes",
    "list_input_changes",
    "list_params_changes",
    "list_untracked",
    "list_conda_envs",
    "conda_cleanup_envs",
    "conda_create_envs_only",
    "container_cleanup_images",
    "containerize",
    "generate_unit_tests",
    "unlock",
    "cleanup_metadata",
    "cleanup_shadow",
    "delete_all_output",
    "delete_temp_output",
    "archive",
    "touch",
)
"""Options with which Snakemake shows something, or writes of its own, and runs no job."""


def _said(words: Sequence[str] | None) -> Any:
    """The options of a command line, of this process's if there is none; None if they are none of
    Snakemake's: it was started from Python."""
    return _parsed(tuple(sys.argv[1:] if words is None else words))


@functools.cache
def _parsed(words: tuple[str, ...]) -> Any:
    """The options.

    Snakemake tells a workflow only of a dry run, so its own parser reads the words again: it knows
    short options and shortened ones.
    """
    from snakemake.cli import get_argument_parser

    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return get_argument_parser().parse_known_args(words)[0]
    except SystemExit:
        return None


def reports(words: Sequence[str] | None = None) -> bool:
    """Whether Snakemake is to write its report, during a run or instead of one."""
    said = _said(words)
    return said is not None and (said.report is not None or said.reporter is not None)


def plays(words: Sequence[str] | None = None) -> bool:
    """Whether a Snakemake with this command line runs jobs of ours.

    A report plays only if it is for after the run.
    """
    said = _said(words)
    if said is None:
        return True
    if reports(words):
        return bool(said.report_after_run)
    if said.executor in ("dryrun", "touch"):
        return False
    return all(getattr(said, name, None) in (None, False) for name in PLAYS_NOTHING)


def inputs(words: Sequence[str] | None = None) -> Path:
    """Where what jobs read is written: results/jobs; a temporary folder, which goes with this
    process, for who only looks. (`--archive` and `--touch` take the files themselves.)"""
    said = _said(words)
    if plays(words) or (said.executor == "touch" or said.touch or said.archive):
        return RESULTS / "jobs"
    folder = Path(tempfile.mkdtemp(prefix="confee-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder

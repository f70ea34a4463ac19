"""What this Snakemake process is for, by its command line: to run jobs, or to show something."""

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

RUNS_NOTHING = (
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
"""Options with which Snakemake runs no job."""


def _options(words: Sequence[str] | None) -> Any:
    """The options of a command line (default: this process's); None if Snakemake does not accept
    them, as where it was started from Python."""
    return _parsed(tuple(sys.argv[1:] if words is None else words))


@functools.cache
def _parsed(words: tuple[str, ...]) -> Any:
    """The options as Snakemake's own parser reads them, with short and abbreviated names.

    A Snakefile sees only one of them: whether this is a dry run.
    """
    from snakemake.cli import get_argument_parser

    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return get_argument_parser().parse_known_args(words)[0]
    except SystemExit:
        return None


def reports(words: Sequence[str] | None = None) -> bool:
    """Whether Snakemake writes its report, after running jobs or instead."""
    options = _options(words)
    return options is not None and (options.report is not None or options.reporter is not None)


def plays(words: Sequence[str] | None = None) -> bool:
    """Whether a Snakemake with this command line runs jobs."""
    options = _options(words)
    if options is None:
        return True
    if reports(words):
        return bool(options.report_after_run)
    if options.executor in ("dryrun", "touch"):
        return False
    return all(getattr(options, name, None) in (None, False) for name in RUNS_NOTHING)


def inputs(words: Sequence[str] | None = None) -> Path:
    """The folder for the files that jobs read: results/jobs, or a temporary one if no job runs.
    (With `--archive` and `--touch` none does, but they need the files in their place.)"""
    options = _options(words)
    if plays(words) or options.executor == "touch" or options.touch or options.archive:
        return RESULTS / "jobs"
    folder = Path(tempfile.mkdtemp(prefix="confee-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder

"""Whether this Snakemake process plays anything, by its command line."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence

PLAYS_NOTHING = (
    "dryrun", "lint", "list_rules", "list_target_rules", "print_compilation",
    "dag", "rulegraph", "filegraph", "d3dag", "summary", "detailed_summary",
    "list_changes", "list_input_changes", "list_params_changes", "list_untracked",
    "list_conda_envs", "conda_cleanup_envs", "conda_create_envs_only",
    "container_cleanup_images", "containerize", "generate_unit_tests", "unlock",
    "cleanup_metadata", "cleanup_shadow", "delete_all_output", "delete_temp_output",
    "archive", "touch",
)  # fmt: skip
"""Options with which Snakemake shows something, or writes of its own, and runs no job."""


def plays(words: Sequence[str] | None = None) -> bool:
    """Whether a Snakemake with this command line (this process's) runs jobs of ours.

    Snakemake tells a workflow only of a dry run, so its own parser reads the words again: it knows
    short options and shortened ones. A report plays only if it is for after the run.
    """
    from snakemake.cli import get_argument_parser

    try:
        with contextlib.redirect_stderr(io.StringIO()):
            parser = get_argument_parser()
            said, _ = parser.parse_known_args(sys.argv[1:] if words is None else words)
    except SystemExit:  # not Snakemake's own words: it was started from Python
        return True
    if said.report is not None or said.reporter is not None:
        return bool(said.report_after_run)
    if said.executor in ("dryrun", "touch"):
        return False
    return all(getattr(said, name, None) in (None, False) for name in PLAYS_NOTHING)

"""Which command lines of Snakemake run jobs."""

from __future__ import annotations

import shlex

import pytest

from confee.workflow import mode

LOOKS = (
    "-n",
    "-n -q",
    "--dry-run",
    "--dag",
    "--dag dot",
    "--rulegraph",
    "--rulegr",
    "--filegraph",
    "--d3dag",
    "--summary",
    "-S",
    "--detailed-summary",
    "-D",
    "--list-rules",
    "-l",
    "--list",
    "--list-target-rules",
    "--lint",
    "--lint json",
    "--print-compilation",
    "--list-untracked",
    "--unlock",
    "--touch",
    "-t",
    "--archive all.tar.gz",
    "--cleanup-metadata results/tiny/x.csv",
    "--cleanup-shadow",
    "--delete-all-output",
    "--delete-temp-output",
    "--report",
    "--report r.html",
    "--containerize",
    "--list-params-changes",
    "--executor dryrun",
)


@pytest.mark.parametrize("words", LOOKS)
@pytest.mark.parametrize("more", ["--cores 2", '--config overrides="experiment=tiny grid.T=[5e3]"'])
def test_a_look_plays_nothing(words, more):
    assert not mode.plays(shlex.split(f"{more} {words}"))
    assert not mode.plays(
        shlex.split(
            f"{words.split()[0]}={words.split()[1]} {more}"
            if words.startswith("--") and len(words.split()) == 2
            else f"{more} {words}"
        )
    )


@pytest.mark.parametrize(
    "words",
    [
        "--cores 2",
        "-c2",
        "-j 4",
        "--cores 2 figures/tiny/regret-T.pdf",
        "-c 2 --forceall",
        '--cores 2 --config overrides="name=dag claims=[idle-runs]"',
        "--cores 1 --until slopes",
        "--cores 2 --report --report-after-run",
        "--cores 2 --executor local --jobs 20",
        "--executor no-such-plugin",
        "pytest --no-such-option",
    ],
)
def test_a_run_plays(words):
    assert mode.plays(shlex.split(words))


def test_each_word_is_one_of_snakemakes():
    from snakemake.cli import get_argument_parser

    known = {action.dest for action in get_argument_parser()._actions}
    assert set(mode.RUNS_NOTHING) <= known | {"list_conda_envs"}

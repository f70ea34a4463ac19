"""Command lines that reproduce results, ready to be pasted into a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

import yaml

from confee.config import conf_files
from confee.config.names import CLAIMS_ALONE
from confee.core.errors import ConfeeError


def snakemake(overrides: str, target: str = "") -> str:
    """Return the command that makes a target of an experiment, by default all of it."""
    words = ["snakemake --cores 2", target]
    if overrides:
        words.append(f"--config overrides={_shell(_yaml(_joined(shlex.split(overrides))))}")
    return " ".join(filter(None, words))


def experiment_of(folder: str) -> str:
    """Return the experiment that a folder of results/ belongs to."""
    return folder.removesuffix(CLAIMS_ALONE)


def of_folder(experiment: str) -> str:
    """Return overrides that make results/<experiment>, with `...` for the claims it was run for."""
    name = experiment_of(experiment)
    return f"experiment={name}" + (" claims=[...]" if name != experiment else "")


def remake(experiment: str) -> str:
    """Return a hint on how to make results/<experiment>, or that conf has no such experiment."""
    name = experiment_of(experiment)
    try:
        known = sorted(conf_files.files("experiment"))
    except ConfeeError:  # results may be read where there is no conf
        known = [name]
    if name in known:
        return f"run: {snakemake(of_folder(experiment))}"
    return (
        f"no experiment is called {name}; known: {', '.join(known)}; if a workflow had "
        f"name={name}, give its command again"
    )


def of_claims(overrides: str, ids: Sequence[str]) -> str:
    """Return `overrides` changed so that they judge only these claims and draw nothing."""
    kept = [o for o in shlex.split(overrides) if not re.match(r"(claims|figures)=", o)]
    return _joined([*kept, f"claims=[{','.join(ids)}]"])


def _joined(words: Sequence[str]) -> str:
    """Return one string that a shell splits into `words`, quoted only where necessary."""
    return " ".join(shlex.quote(w) if not w or re.search(r"[\s'\"\\]", w) else w for w in words)


def _yaml(text: str) -> str:
    """Return a value of --config that Snakemake reads as this text.

    Snakemake strips outer quotes and reads the rest as a number or as YAML.
    """
    try:
        same = yaml.load(text, Loader=yaml.BaseLoader) == text
    except yaml.YAMLError:
        same = False
    quoted = text.replace("'", "''")
    return text if same and text[0] not in "'\"" else f" '{quoted}' "


def _shell(text: str) -> str:
    return f'"{text}"' if not re.search(r'["$`\\!]', text) else shlex.quote(text)

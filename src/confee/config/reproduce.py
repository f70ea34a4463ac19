"""Command lines that make results again, as a reader pastes them into a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

import yaml

from confee.config import conf_files
from confee.config.names import CLAIMS_ALONE
from confee.core.errors import ConfeeError


def snakemake(overrides: str, target: str = "") -> str:
    """What makes a target of an experiment again, or all of it."""
    words = ["snakemake --cores 2", target]
    if overrides:
        words.append(f"--config overrides={_shell(_yaml(_joined(shlex.split(overrides))))}")
    return " ".join(filter(None, words))


def experiment_of(folder: str) -> str:
    """The experiment that a folder of results/ is named after."""
    return folder.removesuffix(CLAIMS_ALONE)


def of_folder(experiment: str) -> str:
    """Overrides that make results/<experiment>; which claims it was for, it knows itself."""
    named = experiment_of(experiment)
    return f"experiment={named}" + (" claims=[...]" if named != experiment else "")


def remake(experiment: str) -> str:
    """How to make results/<experiment>; that nothing makes it, if conf has no such experiment."""
    named = experiment_of(experiment)
    try:
        known = sorted(conf_files.files("experiment"))
    except ConfeeError:  # results may be looked at where there is no conf
        known = [named]
    if named in known:
        return f"run: {snakemake(of_folder(experiment))}"
    return (
        f"no experiment is called {named}; known: {', '.join(known)}; if a run had name={named}, "
        "run that again"
    )


def of_claims(overrides: str, ids: Sequence[str]) -> str:
    """Overrides under which the same experiment settles these claims and draws nothing."""
    kept = [o for o in shlex.split(overrides) if not re.match(r"(claims|figures)=", o)]
    return _joined([*kept, f"claims=[{','.join(ids)}]"])


def _joined(words: Sequence[str]) -> str:
    """One string that a shell would split into `words`, quoted only where it must be."""
    return " ".join(shlex.quote(w) if not w or re.search(r"[\s'\"\\]", w) else w for w in words)


def _yaml(text: str) -> str:
    """A value of --config that Snakemake takes for this text. It reads it as a number or as YAML,
    and strips outer quotes before."""
    try:
        same = yaml.load(text, Loader=yaml.BaseLoader) == text
    except yaml.YAMLError:
        same = False
    quoted = text.replace("'", "''")
    return text if same and text[0] not in "'\"" else f" '{quoted}' "


def _shell(text: str) -> str:
    return f'"{text}"' if not re.search(r'["$`\\!]', text) else shlex.quote(text)

"""The lock, pyproject.toml, environment.yml and the Makefile tell of one environment."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()


def locked_names():
    return set(re.findall(r"^([a-z0-9.-]+)==", LOCK, re.MULTILINE))


def test_every_entry_of_the_lock_has_a_hash():
    entries = re.split(r"\n(?=[a-z0-9])", LOCK)[1:]
    assert len(entries) > 50
    for entry in entries:
        assert re.match(r"[a-z0-9.-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_the_lock_names_no_place_to_fetch_from():
    assert not re.findall(r"https?:|file:|--index|--extra-index|--find-links|@ ", LOCK)
    assert not re.findall(r"(?m)^[^#]*/", LOCK)


def test_every_dependency_is_locked():
    wanted = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]
    names = {re.match(r"[A-Za-z0-9._-]+", line)[0].lower() for line in wanted}
    assert names <= locked_names()


def test_all_files_ask_for_the_same_python():
    low, high = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert f"python {PROJECT['requires-python']}" in conda
    assert {"pip": ["--require-hashes -r requirements.lock"]} in conda

    makefile = (ROOT / "Makefile").read_text()
    assert f"(3, {low}) <= sys.version_info < (3, {high})" in makefile
    ci = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    versions = ci["jobs"]["checks"]["strategy"]["matrix"]["python"]
    assert versions == [f"3.{low}", f"3.{int(high) - 1}"]


def test_make_builds_with_the_locked_backend():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
    assert {re.match(r"[a-z]+", line)[0] for line in build["requires"]} <= locked_names()

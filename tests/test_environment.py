"""The lock, pyproject.toml, environment.yml and the Makefile tell of one environment."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


WANTED = [
    *PROJECT["dependencies"],
    *PROJECT["optional-dependencies"]["dev"],  # `cluster` is installed beside the lock
]
PLACES = [
    {
        "sys_platform": platform,
        "platform_system": system,
        "os_name": name,
        "platform_machine": machine,
        "python_version": version,
        "python_full_version": f"{version}.0",
    }
    for platform, system, name in (
        ("linux", "Linux", "posix"),
        ("darwin", "Darwin", "posix"),
        ("win32", "Windows", "nt"),
    )
    for version in ("3.11", "3.12", "3.13")
    for machine in ("x86_64", "aarch64")
]
"""What the lock is for: `uv` resolves for all of them at once."""


def locked(text=LOCK):
    """Name -> the requirements of a lock of that name: several, if their markers differ."""
    found = {}
    for line in re.findall(r"^[a-z0-9][^\\\n]*", text, re.MULTILINE):
        one = Requirement(line)
        found.setdefault(canonicalize_name(one.name), []).append(one)
    return found


def locked_names():
    return set(locked())


def out_of_range(wanted, text=LOCK):
    """What of `wanted` the lock has no version of, or one out of its range."""
    versions = {
        name: [next(iter(one.specifier)).version for one in some]
        for name, some in locked(text).items()
    }
    return [
        line
        for line in wanted
        for one in [Requirement(line)]
        if not (there := versions.get(canonicalize_name(one.name)))
        or not all(one.specifier.contains(version, prereleases=True) for version in there)
    ]


def reached(wanted, places):
    """The names that `wanted` leads to in any of `places`, by what installed packages require."""
    found, todo = (
        set(),
        [(canonicalize_name(r.name), x) for r in map(Requirement, wanted) for x in ("", *r.extras)],
    )
    while todo:
        if (one := todo.pop()) in found:
            continue
        found.add(one)
        name, extra = one
        try:
            lines = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # not for this machine: Windows alone wants it, say
            continue
        for needed in map(Requirement, lines):
            if needed.marker is None or any(
                needed.marker.evaluate({**place, "extra": extra}) for place in places
            ):
                next_one = canonicalize_name(needed.name)
                todo += [(next_one, x) for x in ("", *needed.extras)]
    return {name for name, _ in found}


def test_every_entry_of_the_lock_has_a_hash():
    entries = re.split(r"\n(?=[a-z0-9])", LOCK)[1:]
    assert len(entries) > 50
    for entry in entries:
        assert re.match(r"[a-z0-9.-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_the_lock_names_no_place_to_fetch_from():
    assert not re.findall(r"https?:|file:|--index|--extra-index|--find-links|@ ", LOCK)
    assert not re.findall(r"(?m)^[^#]*/", LOCK)


def test_the_lock_is_in_step_with_the_project():
    assert out_of_range(WANTED) == []
    assert locked_names() - reached(WANTED, PLACES) == set()  # nothing that nobody needs
    assert reached(WANTED, [{}]) - locked_names() == set()  # all that is needed here
    for one in (one for some in locked().values() for one in some):
        assert one.marker is None or any(map(one.marker.evaluate, PLACES)), one


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: re.sub(r"(?m)^numpy==\S+", "numpy==1.26.4", text), "numpy>="),
        (lambda text: re.sub(r"(?m)^pyarrow==", "pyarrows==", text), "pyarrow>="),
    ],
)
def test_a_lock_that_fell_behind_is_seen(change, said):
    assert [one[: len(said)] for one in out_of_range(WANTED, change(LOCK))] == [said]


def test_what_nobody_needs_any_more_is_seen():
    """Without snakemake in the project, much of the lock is left over, and numpy is not."""
    less = [line for line in WANTED if not line.startswith("snakemake")]
    orphans = locked_names() - reached(less, PLACES)
    assert {"snakemake", "pulp", "yte"} <= orphans
    assert "numpy" not in orphans


CONDA = {
    "matplotlib": "matplotlib-base",  # without a window system
    "playwright": "playwright-python",
    "snakemake": "snakemake-minimal",  # what PyPI calls snakemake
}
"""Packages that conda has under another name."""


def test_conda_is_asked_for_the_packages_of_the_project_and_for_no_other():
    wanted = [
        f"{CONDA.get(one.name, one.name)} {one.specifier}" for one in map(Requirement, WANTED)
    ]
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert conda["dependencies"] == [f"python {PROJECT['requires-python']}", "pip", *wanted]


def test_all_files_ask_for_the_same_python():
    low, high = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"(3, {low}) <= sys.version_info < (3, {high})" in makefile
    ci = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    versions = ci["jobs"]["checks"]["strategy"]["matrix"]["python"]
    assert versions == [f"3.{low}", f"3.{int(high) - 1}"]


def test_make_builds_with_the_locked_backend():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    assert {re.match(r"[a-z]+", line)[0] for line in build["requires"]} <= locked_names()

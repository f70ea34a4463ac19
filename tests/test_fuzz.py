"""Bad input: a sample of tests/fuzz, and whether its checks see what they are for."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from unittest import mock

import pytest

from confee.core import schema
from confee.core.errors import ConfeeError
from fuzz import bench, cases, run


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    before = Path.cwd()
    yield bench.Bench(tmp_path_factory.mktemp("fuzz"))
    os.chdir(before)


def test_a_sample_runs_or_is_refused_in_one_line(there):
    failures, kinds, _ = run.tried(there, 1, range(60))
    assert failures == []
    assert sum(n for (_, what), n in kinds.items() if what == "refused") > 30
    assert sum(n for (_, what), n in kinds.items() if what == "runs") > 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_thousands_of_cases_run_or_are_refused_in_one_line(there, seed):
    assert run.tried(there, seed, range(5000))[0] == []


# --------------------------------------------------------------------------- planted faults

BAD = cases.Case(
    "cell's values", "set", (cases.Change(("seeds",), "set", "many"),), ("seeds", "many")
)


def refuse(text):
    def build(*_):
        raise ConfeeError(text)

    return build


def touch(name):
    def build(*_):
        Path(name).write_text("")
        raise ConfeeError("seeds=many: must be a number")

    return build


def noisy(*_):
    print("half a result")
    raise ConfeeError("seeds=many: must be a number")


def several(*_):
    sys.exit("confee: seeds=many\nmust be a number")


def hang(*_):
    while True:
        pass


def hoard(*_):
    return bytearray(bench.MEMORY + (1 << 30))


def leave(*_):
    sys.exit(3)


def warn(*_):
    warnings.warn("overflow", RuntimeWarning, stacklevel=1)
    raise bench.Plays


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda *_: {}["seeds"], "escaped: KeyError"),
        (refuse("must be better"), "names neither key nor value"),
        (refuse("seeds=many"), "does not say what is allowed"),
        (refuse("seeds=many: must not raise ValueError"), "jargon"),
        (refuse("seeds=many: must be " + "x" * 500), "characters"),
        (several, "fails with 2 lines"),
        (noisy, "fails, with output"),
        (touch("results/new"), "fails, and wrote results"),
        (touch("canary"), "there is a canary"),
        (leave, "exit code 3"),
        (warn, "runs, with noise"),
        (hang, "over 0.2 CPU s"),
    ],
)
def test_faults_are_seen(there, monkeypatch, fault, said):
    assert run.complaint(BAD, there.try_one(BAD)) == ""
    monkeypatch.setattr(bench, "SECONDS", 0.2)
    with mock.patch.object(schema, "build", fault):
        assert said in run.complaint(BAD, there.try_one(BAD))


def test_memory_is_bounded(there):
    """What asks for more is told so, and the next case has room again."""
    with mock.patch.object(schema, "build", hoard):
        assert "out of memory" in there.try_one(BAD).err
    assert run.complaint(BAD, there.try_one(BAD)) == ""


def test_the_smallest_case_that_fails_is_found(there):
    more = (*BAD.parts, cases.Change(("V",), "set", 3), cases.Change(("T",), "set", 3000))
    with mock.patch.object(schema, "check", side_effect=KeyError("seeds")):
        found = run.minimal(BAD._replace(parts=more), there)
    assert found.parts == ()
    only_seeds = schema.check

    def check(field, value, where):
        return {}["seeds"] if value == "many" else only_seeds(field, value, where)

    with mock.patch.object(schema, "check", check):
        found = run.minimal(BAD._replace(parts=more), there)
    assert found.parts == BAD.parts

"""Whatever decides a number is part of a key: code of one's own, what it reads, how data are
written, libraries. And what was hashed is what runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from confee.core import sources
from confee.core.errors import ConfeeError
from confee.workflow import stages
from support import fresh

ROOT = Path(__file__).parents[1]

POLICY = """
import numpy as np
from confee.core.jit import njit
from confee.policies.base import Policy
from confee.world.game import idle, new_data, query
{above}

@njit
def play(world, ledger, K, T, B, rng):
    data, plays = new_data(K), np.ones(K)
    query(world, ledger, data, 1, 0, rng)
    for arm in range(K):
        plays[arm] = {weight} if arm else 1.0
    idle(world, ledger, data, 2, T + 1, plays, rng)

POLICY = Policy(id="mine", summary="one query", kernel=play)
"""

TOLD = """
from confee import simulate
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.simulation.cells import cell, family
from confee.simulation.units import Seeds, units_of
from confee.simulation.play import USUAL
try:
    size = Size(K=2, T=400, B=40, V=0)
    one = cell({"name": "mine"}, size)
    met = family({"s": {"name": "stationary", "gap": 0.5}}, size)
    unit = next(units_of(one, met, Seeds(2, 1, 0, 0, 0.1), 0, USUAL))
    print(unit.file.name)
    print(simulate("mine", "stationary", gap=0.5, **size._asdict(), seeds=40).regret.mean())
except ConfeeError as error:
    print("ConfeeError", error)
"""


@pytest.fixture
def own(tmp_path):
    """A folder of one's own, beside it another on PYTHONPATH; `told` plays in a new process."""

    class Own:
        folder = tmp_path / "own"
        beside = tmp_path / "beside"

        def write(self, name: str, text: str) -> None:
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text), encoding="utf-8")

        def stage(self) -> str:
            code = "from confee.workflow.stages import code_of; print(code_of()['hash'])"
            return self.printed(code)[0]

        def told(self) -> list[str]:
            return self.printed(TOLD)

        def printed(self, code: str) -> list[str]:
            env = {
                **os.environ,
                "CONFEE_EXTRA": str(self.folder),
                "CONFEE_CACHE": str(tmp_path / "c"),
            }
            env["PYTHONPATH"] = f"{ROOT / 'src'}:{self.beside}"
            done = fresh.python("-c", code, cwd=tmp_path, env=env)
            assert done.returncode == 0, done.stderr
            return done.stdout.splitlines()

    found = Own()
    return found


FOLLOWED = {
    "a relative import": ("from .strength import FACTOR", "own/policies/strength.py"),
    "an absolute one": ("from confee.policies.strength import FACTOR", "own/policies/strength.py"),
    "through PYTHONPATH": ("from strength import FACTOR", "beside/strength.py"),
    "in a package there": ("from lab.strength import FACTOR", "beside/lab/strength.py"),
    "a package beside": ("from .lab import FACTOR", "own/policies/lab/__init__.py"),
    "a module in it": ("from .lab.sub import FACTOR", "own/policies/lab/sub.py"),
    "by a function's other name": (
        "from importlib import import_module as im\nFACTOR = im(name='strength').FACTOR",
        "beside/strength.py",
    ),
    "by importlib": (
        "import importlib\nFACTOR = importlib.import_module('strength').FACTOR",
        "beside/strength.py",
    ),
}


@pytest.mark.parametrize("how", FOLLOWED)
def test_an_edited_helper_of_ones_own_is_seen(own, how):
    """By the key, and by a kernel that was compiled with what it said before."""
    above, place = FOLLOWED[how]
    if "lab" in place:
        own.write(f"{place.partition('lab')[0]}lab/__init__.py", "")
    own.write("own/policies/mine.py", POLICY.format(above=above, weight="FACTOR"))
    own.write(place, "FACTOR = 1.0\n")
    first = own.told()
    assert own.told() == first
    own.write(place, "FACTOR = 99.0\n")
    then = own.told()
    assert then[0] != first[0]
    assert then[1] != first[1]


def test_a_file_that_a_module_reads_at_its_top_is_part_of_the_key(own):
    above = "FACTOR = float(np.loadtxt(__file__.replace('mine.py', 'factor.txt')))"
    own.write("own/policies/mine.py", POLICY.format(above=above, weight="FACTOR"))
    own.write("own/policies/factor.txt", "1\n")
    first = own.told()
    assert own.told() == first
    own.write("own/policies/factor.txt", "99\n")
    then = own.told()
    assert then[0] != first[0]
    assert then[1] != first[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            POLICY.format(
                above="import importlib\nname = 'strength'\n"
                "FACTOR = importlib.import_module(name).FACTOR",
                weight="FACTOR",
            ),
            r"mine.py: line 8: import_module must be given a name that is written out",
        ),
        (
            POLICY.format(above="said = {}\nexec('FACTOR = 1.0', said)", weight="1.0"),
            r"mine.py: line 7: exec must not be called",
        ),
        (
            POLICY.format(above="import subprocess\nsubprocess.run(['true'])", weight="1.0"),
            r"mine.py: line 7: starts a program",
        ),
        (
            POLICY.format(above="", weight="1.0")
            + "FACTOR = open(__file__.replace('mine.py', 'factor.txt'), encoding='utf-8').read()\n",
            r"mine.py: line \d+: reads .*factor.txt below a compiled function",
        ),
        (
            POLICY.format(above="", weight="1.0").replace(
                "kernel=play",
                "kernel=play, arguments=lambda *_: "
                "(open(__file__.replace('mine.py', 'factor.txt'), encoding='utf-8'),)[1:]",
            ),
            r"mine.py: line \d+: reads .*factor.txt while it plays",
        ),
    ],
    ids=["a computed name", "exec", "a program", "below a kernel", "while it plays"],
)
def test_what_cannot_be_followed_is_refused(own, text, said):
    own.write("own/policies/mine.py", text)
    own.write("own/policies/factor.txt", "1\n")
    own.write("beside/strength.py", "FACTOR = 1.0\n")
    assert re.match(f"ConfeeError .*{said}", own.told()[-1])


# --------------------------------------------------------------------------- what differs not


def test_line_ends_and_marks_of_editors_change_no_hash():
    text = b"a = 1\nb = 2\n"
    for same in (text.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + text, text + b"\n\n"):
        assert sources.plain(same) == sources.plain(text)
    assert sources.plain(text) != sources.plain(b"a = 1\nb = 3\n")


def test_a_stage_sees_what_policies_declare(own):
    """Colours, rates and ranges that shipped and plugin policies declare are read by stages."""
    declared = POLICY.format(above="", weight="1.0")
    own.write("own/policies/mine.py", declared)
    first = own.stage()
    own.write("own/policies/mine.py", declared.replace('"one query"', '"one query, once"'))
    assert own.stage() != first


def test_a_series_is_known_by_what_it_says(tmp_path):
    from confee.world.adversaries import series

    text = "day,tea,salt\n1,10,4.0\n2,11,4.5\n3,9,4\n"
    same = {
        "crlf": text.replace("\n", "\r\n"),
        "mark": "\ufeff" + text,
        "digits": text.replace("10", "10.0").replace("4.0", "4"),
        "time": text.replace("\n1,", "\n1.0,"),
        "blank": text + "\n \n",
        "spaces": text.replace(",", ", "),
    }
    other = {
        "value": text.replace("4.5", "4.6"),
        "name": text.replace("tea", "silk"),
        "when": text.replace("\n3,", "\n4,"),
    }
    digests = {}
    for name, said in {"as it is": text, **same, **other}.items():
        file = tmp_path / f"{name}.csv"
        file.write_bytes(said.encode())
        digests[name] = series.read(file).digest
    assert {digests[name] for name in same} == {digests["as it is"]}
    assert len({digests[name] for name in [*other, "as it is"]}) == 4


# --------------------------------------------------------------------------- what was hashed runs


def test_libraries_are_part_of_a_hash(monkeypatch):
    before = sources.code_hash(["confee.paper.theory"])
    for name in ("numpy", "numba"):
        monkeypatch.setattr(sources.metadata, "version", lambda one, n=name: f"{one}{one == n}")
        for cached in (sources.versions, sources._hash_of):
            cached.cache_clear()
        assert sources.code_hash(["confee.paper.theory"]) != before
    monkeypatch.undo()
    monkeypatch.setattr(sources.platform, "python_version", lambda: "3.11.0")
    for cached in (sources.versions, sources._hash_of):
        cached.cache_clear()
    assert sources.code_hash(["confee.paper.theory"]) != before
    monkeypatch.undo()
    for cached in (sources.versions, sources._hash_of):
        cached.cache_clear()
    assert sources.code_hash(["confee.paper.theory"]) == before


@pytest.mark.parametrize("of", ["confee", "one's own"])
def test_an_edit_that_keeps_size_and_date_runs(tmp_path, of):
    """As from an archive: Python's usual bytecode would be taken for right."""
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    mine = tmp_path / "policies/mine.py"
    mine.parent.mkdir()
    edited, said = (
        (source / "confee/paper/theory.py", "confee.paper.theory")
        if of == "confee"
        else (mine, "confee.policies.mine")
    )
    mine.write_text("X = 0\n", encoding="utf-8")
    text = edited.read_text(encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(source)}
    for name in ("PYTHONDONTWRITEBYTECODE", "CONFEE_EXTRA"):
        env.pop(name, None)
    if of != "confee":  # where it is named, all of PYTHONPATH is loaded by hash
        env["CONFEE_EXTRA"] = str(tmp_path)
    for value in ("1", "2", "3"):
        edited.write_text(f"{text}\nX = {value}\n", encoding="utf-8")
        os.utime(edited, (1e9, 1e9))
        # A real interpreter: one that is told to write no bytecode has none to take for right.
        done = subprocess.run(
            [sys.executable, "-c", f"import {said} as m; print(m.X)"],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.strip() == value, done.stderr


def test_code_that_changed_while_it_was_at_work_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_hashed", {})
    file = tmp_path / "some.py"
    file.write_bytes(b"a = 1\n")
    sources._hashed[file] = file.read_bytes()
    sources.check()
    file.write_bytes(b"a = 2\n")
    with pytest.raises(ConfeeError, match=r"some\.py: changed while results were computed"):
        sources.check()
    file.unlink()
    with pytest.raises(ConfeeError, match=r"some\.py: changed"):
        sources.check()


def test_a_stage_refuses_other_code_than_was_planned():
    planned = json.loads(json.dumps(stages.code_of(["confee.rendering"])))
    stages.check(planned)
    with pytest.raises(ConfeeError, match="the code of confee changed"):
        stages.check(planned | {"hash": "0" * 16})


def test_what_is_installed_below_the_folder_one_works_in_is_imported_as_usual(tmp_path):
    """As from a checkout that has its environment inside, with a folder of one's own."""
    (tmp_path / "policies").mkdir()
    packages = tmp_path / "env" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    linked = Path(sources.metadata.distribution("numpy").locate_file("numpy"))
    for name in ("numpy", "numpy.libs"):
        if (linked.parent / name).exists():
            shutil.copytree(linked.parent / name, packages / name)
    env = {**os.environ, "CONFEE_EXTRA": str(tmp_path), "PYTHONPATH": f"{ROOT / 'src'}:{packages}"}
    program = (
        "import confee.core.plugins, confee.core.following as f; f.watch(); "
        "import numpy; print(numpy.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith(str(packages)), done.stderr

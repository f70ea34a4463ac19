"""The pages that users follow, followed: files are written, and commands run, as printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from confee.world.settings import SETTINGS
from support import fresh
from support.regret_tables import table

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"^`(~/[\w./-]+)`:$")


def steps(page):
    """("file", name, text) for each block under a file's name, ("run", line) for each command."""
    name, found, block = "", [], None
    for line in (ROOT / "docs" / page).read_text().splitlines():
        if line.startswith("```"):
            if block is None:
                kind, block = line[3:], []
                continue
            if name:
                found.append(("file", name, "\n".join(block) + "\n"))
            elif kind == "sh":
                found += [("run", command) for command in block]
            name, block = "", None
        elif block is not None:
            block.append(line)
        elif line.strip():
            name = match[1] if (match := NAMED.match(line)) else ""
    return found


def follow(page, tmp_path, skip):
    """Follows a page in a copy of this checkout; the output of its commands, those but `skip`."""
    here, home = tmp_path / "confee", tmp_path / "home"
    here.mkdir()
    home.mkdir()
    for part in (
        "Snakefile",
        "benchmarks",
        "conf",
        "workflow",
        "profiles",
        "src",
        "tests",
        "pyproject.toml",
    ):
        (here / part).symlink_to(ROOT / part)
    script = ["set -e"]
    for kind, *said in steps(page):
        if kind == "file":
            file = home / said[0].removeprefix("~/")
            script.append(f"cat > {file} <<'END'\n{said[1]}END")
        elif not any(word in said[0] for word in (*skip, ".venv/bin/activate")):
            script.append(said[0])
    env = {k: v for k, v in os.environ.items() if k != "CONFEE_EXTRA"}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    env["PYTHONPATH"] = str(ROOT / "src")
    # Kernels stay where they are compiled already.
    env["CONFEE_CACHE"] = env.get("CONFEE_CACHE") or str(cache())
    env["HOME"] = str(home)
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=here, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, here


def cache():
    from confee.core import jit

    return jit.ROOT


PAGES = {"add-a-policy.md": "thompson", "add-an-adversary.md": "blinking"}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_followed_up_to_one_cell(page, tmp_path):
    said, _ = follow(page, tmp_path, ["snakemake", "confee claims", "pytest", "benchmarks"])
    assert PAGES[page] in said
    assert '{"regret": [' in said


@pytest.mark.slow
def test_a_policy_of_ones_own_plays_where_nothing_is_compiled_yet(tmp_path):
    """numba writes its cache while the policy plays, which is no reading of data."""
    file = tmp_path / "policies/thompson.py"
    file.parent.mkdir()
    file.write_text(blocks("add-a-policy.md", "python")[0], encoding="utf-8")
    words = ["policy=thompson", "adversary=switching", "K=2", "T=1000", "B=100", "V=1", "seeds=1"]
    done = subprocess.run(
        [sys.executable, "-m", "confee", "simulate", *words],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "CONFEE_EXTRA": str(tmp_path),
            "CONFEE_CACHE": str(tmp_path / "cache"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_policy_of_ones_own_takes_part(tmp_path):
    import json

    import pandas as pd

    # What the page says of its rate is for the policy compiled; test_policy_rate has that.
    said, here = follow("add-a-policy.md", tmp_path, ["experiment=rate", "--experiment rate"])
    assert "lower-bound/measured" in said
    assert " passed" in said
    results = here / "results/mine"
    assert "thompson" in set(pd.read_parquet(results / "regret.parquet")["policy"])
    assert "thompson" in set(pd.read_csv(results / "slopes.csv")["label"])
    claims = json.loads((results / "claims.json").read_text())["claims"]
    (measured,) = (one for one in claims if one["id"] == "lower-bound/measured")
    assert "thompson" in json.dumps(measured["numbers"])
    assert (here / "figures/mine/regret-T.pdf").exists()


@pytest.mark.slow
def test_an_adversary_of_ones_own_takes_part(tmp_path):
    import pandas as pd

    said, here = follow("add-an-adversary.md", tmp_path, [])
    assert " passed" in said
    runs = pd.read_parquet(here / "results/blinks/regret.parquet")
    mine = runs[runs["adversary"] == "blinking"]
    assert mine["adversary.gap"].nunique() > 2
    assert (mine["variation"] <= mine["V"] * (1 + 1e-9)).all()


@pytest.mark.slow
def test_a_base_algorithm_of_ones_own_takes_part(tmp_path):
    """In one cell and in an experiment, with its baselines; it passes the tests, and is timed."""
    import json

    import pandas as pd

    said, here = follow("add-a-base-algorithm.md", tmp_path, [])
    of = ["hyque_kl_ucb", "hyque", "uniform", "kl_ucb", "kl_ucb_restarted"]
    rows = [json.loads(line) for line in said.splitlines() if line.startswith('{"regret": [')]
    mean = dict(zip(of, (row["regret"][0] for row in rows), strict=True))
    assert mean["hyque_kl_ucb"] < mean["kl_ucb"] < mean["uniform"]
    assert rows[of.index("kl_ucb_restarted")]["restarts"][0] > 0
    assert " passed" in said
    assert " failed" not in said
    results = here / "results/kl"
    runs = pd.read_parquet(results / "regret.parquet")
    assert set(of) <= set(runs["policy"])
    assert (runs[runs["policy"].str.contains("kl_ucb")]["queries"] > 0).all()
    assert set(of) <= set(pd.read_csv(results / "worst.csv")["policy"])
    assert (here / "figures/kl/regret-T.pdf").exists()
    timed = [line.split() for line in said.splitlines() if " arms " in line]
    assert {line[0] for line in timed} == {"hyque_kl_ucb", "kl_ucb"}
    assert all(float(line[3]) > 0 for line in timed)


def test_the_code_to_get_started_runs(tmp_path):
    """As printed, where `paper` is a run of two adversaries."""
    import pandas as pd

    from confee import load, simulate
    from confee.simulation import files

    code = blocks("get-started.md", "python")
    assert code
    cell = {"K": 2, "T": 1000, "B": 100, "V": 1, "seeds": 6}
    runs = pd.concat([simulate("hyque", adversary, **cell) for adversary in ("switching", "fall")])
    rows = runs.astype(object).where(runs.notna(), None).to_dict("records")
    about = {"config": {"seeds": {"choose": 2}}}
    files.write_table(tmp_path / "results/paper/regret.parquet", rows, about)
    assert len(load("paper", results=tmp_path / "results")) == 12
    for block in code:
        done = fresh.python("-c", block, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_the_cell_to_get_started_is_simulated(tmp_path):
    (block,) = (b for b in blocks("get-started.md", "sh") if b.startswith("confee list\n"))
    for line in block.splitlines():
        done = confee(tmp_path, *line.split()[1:])
        assert (done.returncode, done.stderr) == (0, ""), line
    assert '{"regret": [' in done.stdout


def test_a_page_names_the_policies_and_adversaries_of_each_setting():
    from confee.policies import POLICIES
    from confee.world.adversaries import ADVERSARIES

    table = (ROOT / "docs/add-a-base-algorithm.md").read_text().partition("| setting | ALG |")[2]
    rows = re.findall(r"^\| (\w+) \| [\w-]+ \| (.*) \| (.*) \|$", table, re.MULTILINE)
    said = {setting: (policies, adversaries) for setting, policies, adversaries in rows}
    assert list(said) == list(SETTINGS)
    for place, registered in enumerate((POLICIES, ADVERSARIES)):
        for one in registered.values():
            if one.setting != "arms" and getattr(one, "role", "") != "uniform":
                assert f"`{one.id}`" in said[one.setting][place]


# ----------------------------------------------------------------------- what can go wrong


def confee(tmp_path, *words, extra=None):
    env = {**os.environ, "CONFEE_EXTRA": str(extra or tmp_path), "PYTHONPATH": str(ROOT / "src")}
    return fresh.python("-m", "confee", *words, env=env, cwd=ROOT)


PLAYED = ["simulate", "policy=mine", "adversary=switching", "K=2", "T=100", "B=10", "V=1"]
GOOD = """
from confee.policies.base import Policy
from confee.world.game import idle, new_data, query

def play(world, ledger, K, T, B, rng):
    {line}
    idle(world, ledger, new_data(K), 1, T + 1, [1.0, 1.0], rng)

POLICY = Policy(id="{id}", summary="mine", kernel=play)
"""


@pytest.mark.parametrize(
    ("files", "words", "expected"),
    [
        ({"policies/mine.py": "import nowhere"}, ["list"], "mine.py: line 1: ModuleNotFoundError"),
        ({"policies/mine.py": "x = (\n"}, ["list"], "mine.py: line 1: '(' was never closed"),
        ({"policies/mine.py": "x = 1\0\n"}, ["list"], "mine.py: source code string cannot"),
        (
            {"policies/mine.py": "class E(BaseException): 1\nraise E"},
            ["list"],
            "mine.py: line 2: E",
        ),
        ({"policies/mi.ne.py": "x = 1\n"}, ["list"], "mi.ne.py: its name must be a word"),
        ({"policies/mine.py": "import nowhere"}, PLAYED, "mine.py: line 1: ModuleNotFoundError"),
        ({"policies/ucb1.py": "x = 1\n"}, ["list", "hyque"], "ucb1.py: confee has a ucb1"),
        ({"policies/ucb1.py": "x = 1\n"}, ["list"], "ucb1.py: confee has a ucb1"),
        ({"policies/mine.py": "POLICY = {}"}, ["list"], "mine.py: POLICY must be of type Policy"),
        ({"adversaries/hard.py": "x = 1\n"}, ["list"], "hard.py: confee has a hard"),
        (
            {"policies/mine.py": GOOD.format(id="yours", line="pass")},
            ["list"],
            "POLICY.id=yours: must be mine",
        ),
        (
            {"policies/mine.py": GOOD.format(id="mine", line="[][3]")},
            PLAYED,
            "mine.py: line 6: IndexError",
        ),
        ({"conf/policy/ucb1.yaml": "name: ucb1"}, PLAYED, "confee has a policy ucb1"),
        ({"conf/policy/mine.yaml": "name: mine"}, PLAYED, "policy.name=mine: unknown"),
    ],
)
def test_mistakes_in_it_are_one_line(tmp_path, files, words, expected):
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = confee(tmp_path, *words)
    assert done.returncode == 1
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_mistake_in_it_is_no_matter_where_it_is_not_used(tmp_path):
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/mine.py").write_text("import nowhere")
    done = confee(tmp_path, "list", "uniform")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_folder_that_is_not_there(tmp_path):
    done = confee(tmp_path, "list", extra=tmp_path / "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("confee: CONFEE_EXTRA=")
    assert done.stderr.endswith("must be a folder\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rng.nothing(3)", "Unknown attribute 'nothing'"),
        ("nothing(3)", "NameError: name 'nothing' is not defined"),
    ],
)
def test_what_numba_does_not_take_is_named_with_its_place(line, said, tmp_path):
    text = GOOD.format(id="mine", line=line).replace("def play", "@njit\ndef play")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/mine.py").write_text("from confee.core.jit import njit\n" + text)
    done = confee(tmp_path, *PLAYED)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "a kernel does not compile" in done.stderr
    assert f"mine.py: line 8: {said}" in done.stderr


def blocks(page, kind):
    """The blocks of code of one kind on a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_a_class_with_act_and_observe_is_a_policy(tmp_path):
    (page,) = (b for b in blocks("add-a-policy.md", "python") if "from_class" in b)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/greedy.py").write_text(page, encoding="utf-8")
    words = ["policy=greedy", "adversary=switching", "K=3", "T=1000", "B=150", "V=2", "seeds=2"]
    done = confee(tmp_path, "simulate", *words)
    assert done.returncode == 0, done.stderr
    assert '"queries": [150.0, ' in done.stdout
    wrong = page.replace("int(np.argmax(self.sums / self.counts))", "7").replace("< 0.1", "< 0")
    (tmp_path / "policies/greedy.py").write_text(wrong, encoding="utf-8")
    done = confee(tmp_path, "simulate", *words)
    assert "policy=greedy: act must return an arm as a whole number in [0, 2]" in done.stderr


def test_the_page_on_regrets_of_ones_own_is_followed(tmp_path, monkeypatch):
    names = {"true": "mine", "kept": "sw_ucb", "flat in B": "random_restart"}
    runs = table([*names]).replace({"policy": names})
    runs.to_csv(tmp_path / "runs.csv", index=False)
    first, second = blocks("fit.md", "sh")
    done = subprocess.run(
        ["bash", "-c", first.replace("confee fit", f"{sys.executable} -m confee fit")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "verdict/report.md").exists()
    assert "confee compare" in second
    monkeypatch.chdir(tmp_path)
    said: dict = {}
    exec(compile(blocks("fit.md", "python")[0], "fit.md", "exec"), said)
    assert said["result"].findings[0].as_printed == "consistent"


def test_a_claim_of_ones_own_is_judged(tmp_path):
    """As the page has it: listed with the others, and refused where its id is taken."""
    (page,) = blocks("add-a-claim.md", "python")
    file = tmp_path / "claims/beats_uniform.py"
    file.parent.mkdir()
    file.write_text(page, encoding="utf-8")
    assert "beats-uniform" in confee(tmp_path, "list").stdout
    program = (
        "import pandas as pd; from confee import claims; from confee.evidence import Evidence\n"
        "rows = [(l, 2, 100, 10, 1.0, r) for l, r in (('hyque', 5.0), ('uniform', 9.0))]\n"
        "worst = pd.DataFrame(rows, columns=['label', 'K', 'T', 'B', 'V', 'regret'])\n"
        "(v,) = claims.judge(Evidence(worst, worst, worst, worst), ['beats-uniform'])\n"
        "print(v.as_printed, v.measured)"
    )
    env = {**os.environ, "CONFEE_EXTRA": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    done = fresh.python("-c", program, cwd=tmp_path, env=env)
    assert done.stdout == "holds a ratio of at most 0.56\n", done.stderr
    file.write_text(page.replace('id="beats-uniform"', 'id="idle-runs"'), encoding="utf-8")
    done = confee(tmp_path, "list")
    assert "beats_uniform.py: id=idle-runs: is another claim" in done.stderr
    file.rename(file.with_name("idle_runs.py"))
    assert "idle_runs.py: confee has a idle_runs; choose" in confee(tmp_path, "list").stderr


@pytest.mark.slow
def test_the_wheel_has_all_that_simulate_needs(tmp_path):
    """Installed from it, elsewhere than in a checkout, it finds conf."""
    for name in ("src", "conf", "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    pip = [sys.executable, "-m", "pip", "-q"]
    made = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", "dist", "."]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    place = tmp_path / "installed"
    into = [*pip, "install", "--no-deps", "--no-index", "--target", str(place), str(wheel)]
    subprocess.run(into, cwd=tmp_path, check=True, capture_output=True)
    program = (
        "import confee\n"
        "sizes = dict(K=2, T=1000, B=100, V=1, seeds=2)\n"
        "print(confee.__file__, len(confee.simulate('ucb1', 'switching', **sizes)))"
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith("CONFEE")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=place,
        capture_output=True,
        text=True,
        env=env | {"PYTHONPATH": str(place)},
        check=False,
    )
    assert done.stdout.startswith(str(place)), done.stderr
    assert done.stdout.endswith(" 2\n")

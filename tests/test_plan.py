"""What is to be played, and what a change of conf or code makes to be played again."""

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from confee.claims import CLAIMS, needs, rexp3b_rate
from confee.claims.judging.rates import USUAL
from confee.config import conf_files
from confee.config.experiments import Jobs
from confee.core.canonical import digest
from confee.core.errors import ConfeeError
from confee.core.size import Size
from confee.core.sources import closure
from confee.rendering import FIGURES, TABLES
from confee.simulation.cells import cell, family, label_of
from confee.simulation.files import read_table, write_table
from confee.simulation.plan import Plan
from confee.simulation.play import USUAL as PLAIN
from confee.simulation.units import Seeds, unit, units_of
from confee.workflow import cleaning
from confee.workflow.cutting import Missing, cut
from confee.workflow.jobs import do_job, job_file
from confee.workflow.planning import Workflow
from confee.workflow.results import IDENTITY, _sorted_runs, collect, frame, runs
from support import fresh

ROOT = Path(__file__).parents[1]
TINY = "experiment=tiny claims=[hyque-budget] figures=[regret-T] "


def files(overrides=""):
    return {u.file.as_posix(): u for u in Workflow({"overrides": TINY + overrides}).plan.units}


def touched(before, after):
    """(policy, K, T, B, V) of the cells that one of two plans has alone."""
    names = before.keys() ^ after.keys()
    cells = (({**before, **after})[name].cell for name in names)
    return {(c.policy, *c.size) for c in cells}


def test_a_unit_is_named_after_its_key_and_read_back():
    for name, one in files().items():
        assert name.endswith(f"{digest(one.key)}.parquet")
        said = json.loads(json.dumps(one.describe()))
        assert unit(said) == one
        with pytest.raises(ConfeeError, match="planned with other code"):
            unit(said | {"file": "cells/hyque/0.parquet"})


def test_one_value_of_conf_touches_its_cells_and_no_other():
    before = files()
    assert {p for p, *_ in touched(before, files("policies.hyque.scale=2"))} == {"hyque"}
    longer = touched(before, files("grid.T=[1e3,2e3,4e3]"))
    assert longer
    assert all(T > 3000 for _, _, T, _, _ in longer)
    assert touched(before, files("+plays.rexp3b.estimate=2")) <= {
        (c.policy, *c.size) for c in (u.cell for u in before.values()) if c.policy == "rexp3b"
    }
    for neutral in ("jobs.cells=1", "jobs.queries=1", "toy=false", "name=other"):
        assert not touched(before, files(neutral))


def test_shards_cut_seeds_and_say_the_same():
    whole, cut = (Workflow({"overrides": TINY + f"jobs.shard={n}"}) for n in (0, 1))
    assert cut.about == whole.about
    assert cut.keys == whole.keys
    assert len(cut.plan.units) > len(whole.plan.units)


@cache
def whole_of(experiment):
    return Workflow({"overrides": f"experiment={experiment}"})


@pytest.mark.parametrize("name", conf_files.files("experiment"))
def test_every_experiment_of_conf_is_valid(name):
    assert whole_of(name).name == name
    assert whole_of(name).plan.everything


def test_a_named_claim_plans_what_it_needs_and_nothing_else():
    budget = Workflow({"overrides": "experiment=paper claims=[hyque-budget]"})
    assert budget.plan.units == budget.plan.points == []
    assert {u.cell.policy for _, u in budget.plan.asked} == {"hyque"}
    assert budget.pictures == budget.tables == []
    rate = Workflow({"overrides": "experiment=paper claims=[rexp3b-rate]"})
    assert {u.cell.label for u in rate.plan.everything} == {
        "random_restart",
        "rexp3b",
        "rexp3b(pool=set)",
        "sw_ucb",
        "sw_ucb_copied",
        "sw_ucb_misled",
        "sw_ucb_overtold",
        "ucb1_restarted",
        "uniform",
    }
    whole = whole_of("paper")
    parts = {u.file for run in (budget, rate) for u in run.plan.everything}
    assert parts <= {u.file for u in whole.plan.everything}
    others = {
        id
        for id in CLAIMS
        if id.startswith(("extension/", "alg-assumption/", "policy-rate/", "prior-free"))
    }
    assert set(whole.claims) == set(CLAIMS) - others  # those speak of other policies
    played = {}
    for point in whole.plan.points:
        played.setdefault(point["label"], set()).update((point["axis"], point["variable"]))
    listed = {label_of(entrant.conf) for entrant in whole.experiment.entrants.values()}
    for sweep in needs(whole.claims, toy=False).sweeps:
        label = label_of(sweep.policy)
        wanted = {*sweep.axes, *sweep.rays}
        # What the experiment says of a policy goes before what a claim does.
        assert wanted & played[label] if label in listed else wanted <= played[label], sweep


CONTROLLED = {
    "hyque": USUAL,
    "hyque_calibrated": USUAL,
    "rexp3b": rexp3b_rate.CONTROLS,
    "rexp3": USUAL,
    "master": USUAL,
}


@pytest.mark.parametrize("label", CONTROLLED)
def test_both_controls_are_played_on_every_ray_of_paper(label):
    """And the partner along K; the negative control there is played at one of the budgets."""
    controls, on = CONTROLLED[label], {}
    for point in whole_of("paper").plan.points:
        on.setdefault((point["axis"], point["variable"]), set()).add(point["label"])
    mine = [
        (ray, variable) for (ray, variable), labels in on.items() if variable and label in labels
    ]
    assert mine
    for ray, variable in mine:
        assert controls.positive[variable] in on[ray, variable], ray
        if variable == "K":
            assert controls.partner in on[ray, variable], ray
        else:
            assert controls.negative[variable] in on[ray, variable], ray
    rivals = set().union(*(labels for (_, variable), labels in on.items() if variable == "K"))
    assert controls.negative["K"] in rivals


@pytest.mark.parametrize(
    ("changed", "label"),
    [
        ("policies.hyque.scale=0.5", "hyque(scale=0.5)"),
        ("policies.rexp3b.pool=set ~policies.rexp3b_set ~plays.rexp3b_set", "rexp3b(pool=set)"),
        ("policy@policies.uniform=ucb1 policies.uniform.exploration=3", "ucb1(exploration=3)"),
    ],
)
def test_an_entry_that_is_changed_is_played_beside_what_claims_are_about(changed, label):
    """A claim's policy has the label of an entry of that name, whatever that entry holds now."""
    run = Workflow({"overrides": f"experiment=smoke {changed}"})
    played = {(point["label"], point["axis"]) for point in run.plan.points}
    assert {(label, axis) for axis in ("T", "B_at_V2")} <= played
    asked = {}  # of what no entry holds: no axis or ray but those that claims ask for
    for sweep in needs(run.claims, toy=True).sweeps:
        rays = run.experiment.grid.along(sweep.rays)
        if sweep.beside:
            rays = run.experiment.entrants[sweep.beside].axes
        asked.setdefault(label_of(sweep.policy), set()).update(sweep.axes, rays)
    own = {label_of(entry.conf) for entry in run.experiment.entrants.values()}
    for one in asked.keys() - own:
        assert {axis for name, axis in played if name == one} <= asked[one], one
    before = {(point["label"], point["axis"]) for point in whole_of("smoke").plan.points}
    swept = {
        label_of(sweep.policy)
        for sweep in needs(
            [id for id in CLAIMS if not id.startswith("policy-rate/")], toy=True
        ).sweeps
    }
    rays = run.experiment.grid.rays  # all that claims ask for
    assert {(one, axis) for one, axis in before if one in swept and axis in rays} <= played


def test_claims_on_policies_that_are_not_played_are_left_out_unless_named():
    without = "experiment=smoke ~policies.rexp3b ~policies.rexp3b_set ~plays.rexp3b_set "
    assert not [id for id in Workflow({"overrides": without}).claims if id.startswith("rexp3b")]
    named = Workflow({"overrides": without + "claims=[rexp3b-budget]"})
    assert named.claims == ["rexp3b-budget"]
    assert {u.cell.policy for _, u in named.plan.asked} == {"rexp3b"}


def test_maps_are_played_by_those_they_name_only():
    overrides = (
        "experiment=tiny claims=[hyque-budget] figures=[regimes] +maps.regimes={policies:[rexp3b],"
    )
    run = Workflow({"overrides": overrides + "K:2,T:[1e3],beta:[0.5,1],V:[1,largest],phases:2}"})
    rows = run.plan.points
    assert {p["axis"] for p in rows} == {"regimes"}
    without = Workflow(
        {"overrides": (overrides + "K:2,T:[1e3],beta:1,V:1}").replace("[regimes]", "[]")}
    )
    assert without.plan.points == []
    assert {r["policy"] for r in rows} == {"rexp3b"}
    assert len(rows) == 2 * 2 * 2
    for r in rows:
        assert r["V"] in (1, math.sqrt(r["B"]) / 2)
        assert r["B"] == pytest.approx(r["T"] ** (1 if r["B"] == r["T"] else 0.5), rel=0.05)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("+maps.m={policies:[who],K:2,T:1e3,beta:1,V:1}", "maps.m.policies=who"),
        ("+maps.m={policies:[hyque],K:2,T:1e3,V:1}", "maps.m.beta: missing"),
        ("+maps.m={policies:[hyque],K:2,T:1e3,beta:1}", "maps.m.V: missing"),
        ("+maps.m={policies:[hyque],K:2,T:1e3,beta:1.5,V:1}", "maps.m.beta=1.5: must be"),
        ("+maps.m={policies:[hyque],K:2,T:1e3,beta:1,V:huge}", "maps.m.V=huge: must be"),
        ("+maps.m={policies:[hyque],K:2,T:1e3,beta:1,V:1,W:1}", "maps.m.W=1: no such key; must be"),
        ("+maps.T={policies:[hyque],K:2,T:1e3,beta:1,V:1}", "maps.T: must not be named after"),
        ("seeds.error=0", "seeds.error=0: must be a number in (0"),
        ("seeds.most=-1", "seeds.most=-1: must be a whole number in [0"),
    ],
)
def test_bad_maps_and_seeds_are_one_line(text, said):
    with pytest.raises(ConfeeError) as error:
        Workflow({"overrides": "experiment=tiny " + text})
    assert said in str(error.value)


def test_seeds_come_in_turns_that_double():
    seeds = Seeds(choose=4, worst=3, estimate=16, most=100, error=0.03)
    windows = [seeds.window(*turn) for turn in seeds.passes[1:]]
    assert windows == [(4, 16), (20, 16), (36, 32), (68, 36)]
    assert Seeds(4, 3, 16, 16, 0.03).passes == [("choose", 0), ("estimate", 0)]
    assert Seeds(4, 0, 0, 0, 0).passes == [("choose", 0)]


def play_all_jobs(run):
    """Runs an experiment's jobs in this process, each after those it waits for."""
    todo = dict.fromkeys(run.jobs)
    run.prepare()
    while todo:
        for name in list(todo):
            waits = {Path(f).stem for f in run.needs(name) if not f.endswith(".compiled")}
            if not waits & todo.keys():
                do_job(job_file(name))
                del todo[name]


TURNS = (
    "experiment=tiny claims=[hyque-budget] figures=[regret-T] ~policies.hyque_calibrated "
    "~plays.hyque_calibrated grid.T=[1e3] phases=1 ~rays.B_at_V2 "
)


@pytest.mark.parametrize("shard", [0, 3])
def test_fresh_seeds_stop_at_the_error_asked_for(tmp_path, monkeypatch, shard):
    monkeypatch.chdir(tmp_path)
    run = Workflow({"overrides": TURNS + f"seeds.most=64 seeds.error=0.01 jobs.shard={shard}"})
    play_all_jobs(run)
    plan = json.loads(run.plan_text)
    collect(plan)
    frame = runs(plan)
    fresh = frame[frame["seed"] >= 2]
    spent = {}
    for label, mine in fresh.groupby("label"):
        entries = mine.groupby(["adversary", "adversary.gap"])["regret"]
        table = entries.agg(["count", "mean", "sem"])
        assert table["count"].nunique() == 1, label
        spent[label] = count = table["count"].iloc[0]
        leading = table.loc[table["mean"].idxmax()]
        assert count == 64 or leading["sem"] <= 0.01 * leading["mean"], label
        # Not one turn more than needed: half the seeds were not enough.
        if count > 4:
            half = mine[mine["seed"] < 2 + count // 2]
            table = half.groupby(["adversary", "adversary.gap"])["regret"].agg(["mean", "sem"])
            before = table.loc[table["mean"].idxmax()]
            assert before["sem"] > 0.01 * before["mean"], label
    assert spent["uniform"] == spent["oracle"] == 4
    assert spent["hyque"] > 4
    totals[shard] = frame["regret"].sum(), len(frame)
    if len(totals) == 2:
        assert totals[0] == totals[3]


totals: dict[int, tuple] = {}


def test_every_unit_is_in_one_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for how in ("", "jobs.shard=1", "jobs.cells=1", "jobs.shard=3 jobs.cells=2"):
        run = Workflow({"overrides": TINY + how})
        jobs = {name: json.loads(job.text) for name, job in run.jobs.items()}
        played = [u["file"] for job in jobs.values() if job["kind"] == "play" for u in job["units"]]
        assert sorted(played) == sorted(u.file.as_posix() for u in run.missing)
        for name, job in jobs.items():
            if job["kind"] == "play":
                mine = {u["file"] for u in job["units"]}
                before = {f for u in job["units"] for f in u["after"]} - mine
                waits = {Path(f).stem for f in run.needs(name) if f.endswith(".done")}
                made = {u["file"] for other in waits for u in jobs[other]["units"]}
                assert before <= made


def test_jobs_do_not_depend_on_pythons_hash():
    code = (
        "from confee.workflow.planning import Workflow\n"
        f"run = Workflow({{'overrides': {TINY!r} + 'name=nowhere'}})\n"
        "print(sorted(run.jobs), run.plan_file, run.keys, [run.needs(n) for n in run.jobs])"
    )
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(PYTHONHASHSEED=seed),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == fresh.python("-c", code, cwd=ROOT).stdout


def told(code, source, cwd):
    """What a process with the sources in `source` prints in JSON."""
    env = environment(PYTHONPATH=str(source), CONFEE_CONF=str(ROOT / "conf"))
    done = fresh.python("-c", code, env=env, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def environment(**more):
    return {**os.environ, **more}


def replay(source, cwd):
    """policy -> the files of its cells, as a process with the sources in `source` names them."""
    code = (
        "import json\nfrom confee.workflow.planning import Workflow\n"
        "run = Workflow({'overrides': 'experiment=smoke claims=[hyque-budget] '\n"
        "           'figures=[regret-T] '\n"
        "           'grid.T=[1e4] +policy@policies.baque=baque'})\n"
        "print(json.dumps([u.file.as_posix() for u in run.plan.units]))"
    )
    return set(told(code, source, cwd))


def test_an_edited_module_touches_the_policies_that_use_it(tmp_path):
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    package = source / "confee"
    before = replay(source, tmp_path)

    def policies(*edited):
        kept = {file: (package / file).read_text() for file in edited}
        for file, text in kept.items():
            (package / file).write_text(text + "\n# edited\n")
        after = replay(source, tmp_path)
        for file, text in kept.items():
            (package / file).write_text(text)
        return {name.split("/")[1] for name in before ^ after}

    for file in package.rglob("*.py"):  # a date is no reason
        file.touch()
    above = ("evidence/slopes.py", "workflow/results.py", "config/experiments.py")
    assert policies(*above) == set()
    assert policies("policies/rexp3b.py") == {"rexp3b"}
    assert policies("policies/hyque.py") == {"hyque", "hyque_calibrated", "baque"}
    everyone = {name.split("/")[1] for name in before}
    made_by = ("calibrate.py", "turns.py", "files.py", "play.py", "../workflow/jobs.py")
    for file in (f"simulation/{name}" for name in made_by):
        assert policies(file) == everyone
    assert "uniform" in policies("world/game.py")


def test_a_module_depends_on_what_it_imports_and_not_on_the_package_around():
    assert "confee.policies.ucb" in closure("confee.policies.hyque")
    assert "confee.policies.rexp3b" not in closure("confee.policies.hyque")
    assert "confee.rendering.figures.pace" not in closure("confee.rendering.figures.axes")


def test_nothing_slow_is_imported_that_is_not_needed():
    """By jobs; then, in the same process, by plans."""
    code = (
        "import sys, confee.workflow.cli, confee.workflow.jobs; print(*sys.modules)\n"
        "import confee.workflow.planning; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    jobs, plans = (set(line.split()) for line in done.stdout.splitlines())
    assert not jobs & {"hydra", "omegaconf", "pandas", "scipy.stats", "matplotlib", "snakemake"}
    assert not plans & {"pandas", "scipy.stats", "statsmodels", "matplotlib", "seaborn"}


def test_an_edit_of_what_is_above_a_stage_leaves_it_as_it_is(tmp_path):
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import json\nfrom confee.workflow.planning import Workflow\n"
        "print(json.dumps(Workflow({'overrides': 'experiment=smoke'}).keys))"
    )
    before = told(code, source, tmp_path)
    shown = {*FIGURES, *TABLES}
    for file, touched in {
        "claims/counting_lemma.py": {"claims", "album", "report", *shown},
        "evidence/parts.py": {*before},
        "rendering/figures/floor.py": {"floor", "album", "report"},
        "rendering/report/formulas.py": {"report", "album", *shown},
        "workflow/cli.py": {*before},
    }.items():
        edited = source / "confee" / file
        edited.write_text(edited.read_text() + "\n# edited\n")
        after = told(code, source, tmp_path)
        changed = {name for name in before if before[name] != after[name]}
        assert changed == touched, file
        before = after


def test_named_claims_leave_the_experiment_as_it_is(tmp_path, monkeypatch):
    """Its ledger, its table and, when `clean` looks, its cells."""
    monkeypatch.chdir(tmp_path)
    whole = Workflow({"overrides": "experiment=tiny figures=[block]"})
    alone = Workflow({"overrides": "experiment=tiny claims=[hyque-budget]"})
    assert (whole.name, alone.name) == ("tiny", "tiny.claims")
    assert whole.experiment.resolved["name"] == "tiny"
    whole.prepare()
    alone.prepare()
    files = [Path("results") / u.file for run in (whole, alone) for u in run.plan.everything]
    stray = Path("results/cells/hyque/0123456789abcdef.parquet")
    for file in [*files, stray]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert cleaning.unneeded()["cells"] == [stray]
    assert all(file.exists() for file in files)


def test_a_flipped_bit_is_noticed_in_what_a_file_says_of_itself(tmp_path):
    """Parquet holds the metadata twice, as text and within a schema in base 64."""
    file = tmp_path / "a.parquet"
    write_table(file, [{"a": 1}], {"key": 1})
    whole = file.read_bytes()
    schema = whole.index(b"ARROW:schema")
    for place in (whole.index(b'{"key":1}') + 3, schema + 100, schema + 200):
        for bit in range(8):
            flipped = whole[place] ^ 1 << bit
            file.write_bytes(whole[:place] + bytes([flipped]) + whole[place + 1 :])
            with contextlib.suppress(ConfeeError):
                assert read_table(file, "")[1] == {"key": 1}


def test_a_flipped_bit_is_noticed(tmp_path):
    rows = [{"policy": "hyque", "seed": s, "regret": 100.0 + s / 3, "T": 1000} for s in range(50)]
    file = tmp_path / "a.parquet"
    write_table(file, rows, {"key": 1})
    table, about = read_table(file, "make it again")
    assert (table.to_pylist(), about) == (rows, {"key": 1})
    whole = file.read_bytes()
    rng = np.random.default_rng(1)
    accepted = 0
    for place in rng.integers(0, 8 * len(whole), 400):
        data = bytearray(whole)
        data[place // 8] ^= 1 << (place % 8)
        file.write_bytes(bytes(data))
        with contextlib.suppress(ConfeeError):
            table, about = read_table(file, "make it again")
            # In a place that says nothing, such as padding or the writer's name.
            assert (table.to_pylist(), about) == (rows, {"key": 1})
            accepted += 1
    assert accepted < 200


# ----------------------------------------------------------------------- settings


def test_a_policy_meets_its_own_setting():
    """Of arms: those of arms if there are any, else what looks like arms."""
    entries = {
        "line": {"name": "linear_switching", "gap": [0.1, 0.3]},
        "log": {"name": "logistic_switching"},
        "maps": {"name": "contextual_switching"},
    }

    def met(setting, more=()):
        found = family(
            {**entries, **dict(more)}, Size(3, 1000, 100, 2.0), setting=setting, who="mine"
        )
        return [one.adversary for one in found]

    assert met("linear") == met("arms") == ["linear_switching"] * 2
    assert met("contextual") == ["contextual_switching"]
    assert met("arms", {"arms": {"name": "switching"}}.items()) == ["switching"]
    said = (
        "^family: has adversaries of contextual, linear, logistic; must have some of episodic, as "
        r"policies\.mine plays"
    )
    with pytest.raises(ConfeeError, match=said):
        met("episodic")
    with pytest.raises(ConfeeError, match=r"family\.odd\.name=odd: unknown"):
        met("episodic", {"odd": {"name": "odd"}}.items())


def test_a_policy_may_be_called_as_a_missing_value(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = {"about": {"config": {"name": "mine"}}}
    words = ["NA", "None", "n/a", "nan-", "ucb1"]
    file = tmp_path / "results/mine/worst.csv"
    file.parent.mkdir(parents=True)
    text = "".join(f"{word},{i},{'' if i else 1.5}\n" for i, word in enumerate(words))
    file.write_text("label,K,gap\n" + text, encoding="utf-8")
    read = frame(plan, "worst.csv")
    assert read["label"].to_list() == words
    assert read["gap"].isna().to_list() == [False, True, True, True, True]


def test_jobs_of_much_memory_are_told_of():
    """Before they are played; a shard makes them small."""
    many = "experiment=tiny seeds.choose=1e5"
    assert any("jobs.shard=1000" in said for said in Workflow({"overrides": many}).warnings)
    assert not Workflow({"overrides": f"{many} jobs.shard=1000"}).warnings
    assert not Workflow({"overrides": "experiment=tiny"}).warnings


def test_figures_can_be_restricted_to_some_policies():
    def shown(said):
        return json.loads(Workflow({"overrides": f"experiment=tiny {said}"}).plan_text)["shown"]

    assert shown("show=[hyque,uniform]") == ["hyque", "uniform"]
    assert len(shown("")) == 5
    with pytest.raises(ConfeeError, match=r"^show=nobody: must be among hyque, "):
        shown("show=[nobody]")


def test_turns_of_a_cell_do_not_wait_for_a_claim_that_asks_for_the_same_game():
    """At V = 0 the family is one adversary, which a claim may meet at the same gaps."""
    at, family_of = Size(2, 2000, 400, 0), {"stationary": {"name": "stationary", "gap": [0.1, 0.2]}}
    played, opponents = cell({"name": "ucb1"}, at), family(family_of, at)
    turns = list(units_of(played, opponents, Seeds(2, 1, 2, 4, 0.01), 0, PLAIN))
    other = units_of(played, opponents, Seeds(9, 0, 0, 0, 0), 0, PLAIN)
    planned = Plan(turns, [], [("same", u) for u in other])
    asked = {u.file.as_posix() for _, u in planned.asked}
    jobs = cut(Missing(planned), Jobs(), remote=False)
    units = [u for job in jobs for u in json.loads(job.text)["units"]]
    assert {u["file"] for u in units} > asked
    for u in units:
        before = [other["file"] for other in units[: units.index(u)]]
        assert asked.isdisjoint(u["after"])
        assert set(u["after"]) <= set(before)


def test_an_option_of_two_types_is_text_in_the_table_of_all_runs():
    """Two policies may call a word and a number by one name."""
    about = {"T": [8], "B": [4], "V": [1.0], "K": [2], "seed": [0], "regret": [1.0]}
    names = [name for name in IDENTITY if name not in about]
    tables = [
        pa.table({**{name: ["x"] for name in names}, **about, "policy.test": [value]})
        for value in ("gaussian", 0.5, None)
    ]
    found = _sorted_runs(tables).column("policy.test").to_pylist()
    assert sorted(found, key=str) == ["0.5", None, "gaussian"]

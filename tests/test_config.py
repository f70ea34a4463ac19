"""What conf accepts, and the one line that refuses the rest: key, value, range."""

import contextlib
import dataclasses
import re

import numpy as np
import pytest

from confee.config import composition, conf_files, experiments
from confee.core import schema
from confee.core.canonical import dumps
from confee.core.errors import ConfeeError
from confee.workflow.planning import Workflow
from support import fresh

BAD = [
    # key, what is wrong with it
    ("seeds.chose=3", "seeds.chose=3: no such key; known: choose"),
    ("+gird.T=[1]", "gird={'T': [1]}: no such key"),
    ("seeds.choose=x", "seeds.choose=x: must be a whole number in [1, 1e+06]"),
    ("seeds.choose=true", "seeds.choose=True: must be a whole number"),
    ("seeds.choose=null", "seeds.choose=None: must be a whole number"),
    ("seeds.choose=0", "seeds.choose=0: must be"),
    ("seeds.choose=-1", "seeds.choose=-1: must be"),
    ("seeds.choose=1e400", "seeds.choose=inf: must be"),
    ("seeds.choose=1,2", "seeds.choose=1,2: must be one value; a list is written key=[1,2]"),
    ("seeds.choose=glob(*)", "seeds.choose=glob(*): must be one value"),
    ("seeds.choose=" + "9" * 400, "seeds.choose=999"),
    ("seeds.choose=" + "{a:" * 300 + "1" + "}" * 300, "nested too deeply"),
    ("seeds.choose=" + "9" * 5000, ": a number has too many digits"),
    ("seeds.choose=\x1b[31m", "seeds.choose=\\x1b[31m: "),
    ("centre.V=${oc.env:HOME}", "centre.V=${oc.env:HOME}: must not call a resolver"),
    ("~seed", "~seed: no such key"),
    ("+policy@policies.hyque=ucb1", "+policy@policies.hyque=ucb1: is set already; must be given"),
    (
        "+policy@policies.x=3",
        "+policy@policies.x=3: unknown; must be one that `confee list policy`",
    ),
    ("+policy@policies.x=../up", "policy=../up: unknown; must be one that `confee list policy`"),
    ("+policy@policies.x=[[a]]", "+policy@policies.x=[[a]]: unknown; must"),
    ("+plays.hyque=3", "plays.hyque=3: must be a mapping"),
    ("+family={1:2}", "family.1: no such key; must be a word"),
    ("x" * 3000 + "=1", "xxx"),
    ("name=" + "a" * 101, "must be a word of letters, digits, - and _, with at most 100"),
    ("jobs.shard=1 seeds.choose=1e5", "plan: 3400272 units of work; must be at most 50000"),
    ("phases=64 grid.T=[" + ",".join(map(str, range(1000, 1200))) + "]", "plan: 192042 units"),
    (
        "family.hard={name:hard,c:[" + "1," * 200 + "1],adaptive:[" + "true," * 60 + "true]}",
        "family.hard: its lists make 12261 opponents; must be at most 10000",
    ),
    ("seeds=3", "seeds=3: must be a mapping"),
    ("seeds.choose=2 seeds.choose=2", "seeds.choose: given 2 times"),
    ("seeds.choose=2 ++seeds.choose=2", "seeds.choose: given 2 times"),
    ("seeds.choose=json_str({})", "not in Hydra's syntax: Unknown function 'json_str'"),
    ("~seeds", "~seeds: must not be deleted"),
    ("~centre.K", "centre.K: missing"),
    ("phases=1.5", "phases=1.5: must be a whole number in [1, 64]"),
    ("toy=3", "toy=3: must be true or false"),
    ("idle=both", "idle=both: must be one of expected, sampled"),
    ("name=../up", "name=../up: must be a word"),
    ("name=cells", "name=cells: must not be one of"),
    ("grid.T=[0]", "grid.T=0: must be a whole number in [1, 1e+15]"),
    ("grid.T=[.nan]", "grid.T=.nan: must be"),
    ("grid.T=[nan]", "grid.T=nan: must be"),
    ("grid.T=[1e18]", "grid.T=1e+18: must be"),
    ("grid.T=[1e15]", "grid.T=1e+15: T="),
    ("+grid.K=[1]", "grid.K=1: must be a whole number in [2, 100000]"),
    ("+grid.V=[-1]", "grid.V=-1: must be a number in [0, 1e+15]"),
    ("+grid.B=[1e9]", "grid.B=1e+09: B=840896415: must be a whole number in [K, T]"),
    ("+grid.B=[1]", "grid.B=1: B="),
    ("+grid.Q=[1]", "grid.Q=[1]: no such axis; must be one of K, T, B, V"),
    ("~grid.T ~rays.B_at_V2", "grid={}: an experiment needs at least one point"),
    ("+at.Q.K=2", "at.Q: no such axis; must be one of K, T, B, V"),
    ("centre.B=1e9", "B=1000000000: must be a whole number in [K, T] = [2, 2000]"),
    ("policies.hyque.scale=-1", "policies.hyque.scale=-1: must be a number in [0, inf)"),
    ("+policies.hyque.pool=set", "policies.hyque.pool=set: no such key; known: scale, buffer"),
    ("policies.hyque.name=hyqe", "policies.hyque.name=hyqe: unknown; did you mean hyque?"),
    ("policies.hyque={name:[hyque]}", "policies.hyque.name=['hyque']: unknown"),
    ("+policy@policies.x=hyqe", "policy=hyqe: unknown; did you mean hyque?"),
    ("family.switching.strength=[-1]", "family.switching.strength=-1: must be a number in (0,"),
    ("family.switching.gap=0.9", "family.switching.gap=0.9: must be a number in (0, 0.5]"),
    ("family.hard.c=-1", "family.hard.c=-1: must be a number in (0, inf)"),
    ("+family.switching.foo=1", "family.switching.foo=1: no such key"),
    ("+plays.foo.axes=[T]", "plays.foo: no such entry in policies"),
    ("+plays.hyque.axes=[Q]", "plays.hyque.axes=Q: must be among T, B, V, K"),
    ("+plays.hyque.estimate=-1", "plays.hyque.estimate=-1: must be"),
    ("claims=[hyque]", "claims=hyque: unknown; did you mean hyque-rate/printed"),
    ("figures=[pie]", "figures=pie: unknown; must be one that `confee list figure`"),
    ("jobs.cells=0", "jobs.cells=0: must be"),
    ("experiment=tiny experiment=tiny", "experiment: given 3 times"),
    ("seeds.choose=3 seed=4", "seed=4: no such key"),
    ("policies.hyque.scale=1 policies.hyqu=1", "policies.hyqu=1: must be a mapping"),
    ("policies.hyqu.scale=1", "policies.hyqu: has no name; must be one of hyque,"),
    ("+policy@policies.x=hyque,ucb1", "+policy@policies.x=hyque,ucb1: must be one value"),
    ("+policy@policies.x={name:hyque}", "+policy@policies.x={name:hyque}: unknown; must"),
    ("+maps.a={K:2,T:1e3,beta:1e-9,nu:0} phases=4", "maps.a.beta=1e-09: makes T too large"),
    (
        "+maps.a={K:3000,T:1e3,beta:.5,nu:0}",
        "maps.a: has no valid cell; B = T^beta must be at least K",
    ),
    ("+maps.a={K:2,T:1e3,beta:.5,V:big}", "maps.a.V=big: must be a number in [0, inf), or largest"),
    ("family.switching.strength=ceil", "strength=ceil: must be a number in (0, inf), or ceiling"),
    ("+family.hard.strength=[1]", "family.hard.strength=[1]: must not be given: hard has none"),
    ("+rays.r={V:[1,2],B:[100,200],ratio:2,K:2}", "rays.r.B=[100, 200]: must be one number, as V"),
    ("+rays.r={V:[1,2],B:100,ratio:[2,3],K:2}", "rays.r.ratio=[2, 3]: must be one number, as V"),
    ("+rays.r={V:1,B:100,ratio:[2,0.9],K:2}", "rays.r.ratio=0.9: must be a number in [1, 1e+09]"),
    ("+rays.r={V:1,B:100,ratio:nan,K:2}", "rays.r.ratio=nan: must be a number in [1, 1e+09]"),
    ("+rays.r={V:1,B:3,ratio:2,K:4}", "rays.r.B=3: must be at least 5, so that each phase has K"),
    ("+rays.r={V:1,B:16,ratio:2,K:[2,16]}", "rays.r.B=16: must be at least 19, so that each phase"),
    ("+rays.r={V:1,B:[64,2],ratio:2,K:4}", "rays.r.B=2: must be at least 5, so that each phase"),
    (
        "+rays.r={V:1,B:1e13,ratio:1e9,K:2}",
        "rays.r.ratio=1e+09: must be at most 84.1 for B = 1e+13",
    ),
    ("+rays.r={V:[0,1],B:100,ratio:2,K:2}", "rays.r.V=0: must be over 0, as V has several values"),
    ("+rays.r={V:[1,-1],B:100,ratio:2,K:2}", "rays.r.V=-1: must be a number in [0, 1e+15]"),
    ("+rays.r={V:x,B:100,ratio:2,K:2}", "rays.r.V=x: must be a number in [0, 1e+15]"),
    ("+rays.r={V:1,B:100,ratio:2,K:1}", "rays.r.K=1: must be a whole number in [2, 100000]"),
    ("+rays.r={V:1,B:1.5,ratio:2,K:2}", "rays.r.B=1.5: must be a whole number in [1, 1e+13]"),
    ("+rays.r={V:1,B:100,K:2}", "rays.r.ratio: missing; must be a number or a list of numbers"),
    (
        "+rays.r={V:[],B:100,ratio:2,K:2}",
        "rays.r.V: missing; must be a number or a list of numbers",
    ),
    (
        "+rays.r={V:1,B:100,ratio:2,K:2,W:3}",
        "rays.r.W=3: no such key; must be one of family, K, B, V, ratio",
    ),
    ("+rays.r={V:1,B:100,ratio:2,K:2,phases:[1,2]}", "rays.r.phases=[1, 2]: must be one whole"),
    ("+rays.r={V:1,B:100,ratio:2,K:2,phases:0}", "rays.r.phases=0: must be a whole number in [1,"),
    ("+rays.r={V:1,B:100,ratio:2,K:2,family:[who]}", "rays.r.family=who: must be among switching"),
    ("+rays.r=3", "rays.r=3: must be a mapping"),
    ("rays=null", "rays=None: must be a mapping"),
    ("+rays.T={V:1,B:100,ratio:2,K:2}", "rays.T: must not be named like an axis (T, B, V, K)"),
    (
        "+rays.m={V:1,B:100,ratio:2,K:2} +maps.m={policies:[hyque],K:2,T:1e3,beta:1,V:1}",
        "rays.m: must not be named like an axis (T, B, V, K) or a map",
    ),
    ("+plays.hyque.axes=[r]", "plays.hyque.axes=r: must be among T, B, V, K, B_at_V2"),
    ("seeds.choose=${x}", "seeds.choose=${x}: Interpolation key 'x' not found"),
    ("grid=${grid.T}", "grid=${grid.T}: refers to itself; ${...} must name another key"),
    ("+plays.uniform.estimate={null:1}", "plays.uniform.estimate={null:1}: a key is not a word"),
    ("+adversary@family.x=${python_version:}", "must not call a resolver"),
    ("policies=null", "policies=None: must be a mapping"),
    ("family=null", "family=None: must be a mapping"),
    ("claims=[nan]", "claims=nan: must be a finite number"),
    ("hydra.run.dir=x", "hydra.run.dir=x: no such key"),
    ("grd.T=[1e4]", "grd={'T': [10000.0]}: no such key; did you mean grid?"),
    ("policy=hyque", "policy=hyque: no such key of an experiment; +policy@policies.<name>=hyque"),
    ("adversary=fall", "no such key of an experiment; +adversary@family.<name>=fall adds one"),
    ("policies=[hyque]", "policies=[hyque]: must be a mapping"),
    ("family.fall.gap=0.1", "family.fall: has no name; must be one of switching, hard, or added"),
    ("family.switching.name=swiching", "family.switching.name=swiching: unknown; did you mean"),
    ("seeds.choose=3,toy=true", "not in Hydra's syntax: overrides are separated by blanks"),
    ("grid.T=[1e3", "grid.T=[1e3: not in Hydra's syntax: a bracket is not closed"),
    ("figures=[ranking]", "figures=ranking: nothing to draw; the experiment tiny must have maps."),
    (
        "figures=[ray-V]",
        "figures=ray-V: nothing to draw; the experiment tiny must have a ray along V",
    ),
    ("smoke", "smoke: not an override; must be key=value, as in experiment=smoke"),
    ("nonsense", "nonsense: not an override; must be key=value"),
    ("=3", "=3: not an override"),
    ("~", "~: not an override"),
    ("'seeds.choose=2", "no closing quotation"),
]


@pytest.mark.parametrize(("bad", "said"), BAD)
def test_bad_input_is_refused_in_one_line(bad, said):
    with pytest.raises(ConfeeError) as error:
        Workflow({"overrides": f"experiment=tiny {bad}"})
    assert said in str(error.value)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 2000


@pytest.mark.parametrize(
    ("ray", "cells", "moves"),
    [
        ("{V:1,B:100,ratio:2,K:2}", 2, "B"),
        ("{V:1,B:[100,101],ratio:2,K:2}", 4, "B"),
        ("{V:1,B:[100,100],ratio:2,K:2}", 2, "B"),
        ("{V:0,B:[100,200],ratio:2,K:2}", 4, "B"),
        ("{V:[1,2],B:100,ratio:2,K:2,phases:1}", 2, "V"),
        ("{V:1,B:100,ratio:[1],K:2}", 2, "B"),
        ("{V:1,B:100,ratio:[1,2,4],K:2}", 6, "T"),
        ("{V:1,B:2,ratio:1,K:2}", 2, "B"),
        ("{V:500,B:100,ratio:1000,K:[2,3]}", 4, "K"),
    ],
)
def test_rays_that_say_little_are_planned(ray, cells, moves):
    """One point, points next to each other, no idle rounds, out of the theorem's range."""
    run = Workflow({"overrides": f"experiment=tiny +rays.r={ray}"})
    mine = [p for p in run.plan.points if p["axis"] == "r" and p["label"] == "hyque"]
    assert len(mine) == cells
    assert {p["variable"] for p in mine} == {moves}
    ratio = [p["T"] / p["B"] for p in mine]
    assert moves == "T" or np.ptp(ratio) < 0.02 * max(ratio)


def test_a_ray_has_still_cells_at_its_ends_where_the_family_has_a_stationary_world():
    with_it = "experiment=tiny +adversary@family.stationary=stationary "
    run = Workflow({"overrides": with_it + "+rays.r={V:[1,2,4],B:100,ratio:2,K:2}"})
    mine = [p for p in run.plan.points if p["axis"] == "r" and p["label"] == "hyque"]
    assert [p["V"] for p in mine if p["phase"] == 0] == [1, 2, 4, 0]
    met = {
        (u.cell.size.V, o.adversary)
        for u in run.plan.units
        for o in u.opponents
        if u.cell.policy == "hyque"
    }
    assert {adversary for V, adversary in met if V == 0} == {"stationary"}
    assert "stationary" not in {adversary for V, adversary in met if V in (1, 4)}


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"overides": "x"}, 'overides=x: no such key; must be overrides="..."'),
        ({"overrides": {"a": 1}}, "overrides={'a': 1}: must be one string"),
        ({"overrides": [1]}, "overrides=[1]: must be one string"),
        ({"overrides": 3}, "overrides=3: must be one string"),
        (
            {"overrides": "experiment=bar"},
            "experiment=bar: unknown; known: extensions, floor, horizon, paper, priorfree, rate, "
            "shootout, smoke, tiny",
        ),
        ({"overrides": "experiment="}, "experiment='': unknown"),
    ],
)
def test_what_snakemake_hands_over_is_checked(bad, said):
    with pytest.raises(ConfeeError, match=f"^{re.escape(said)}"):
        Workflow(bad)


@pytest.mark.parametrize(
    "given", ["claims=[lower-bound/measured]", "claims.0=lower-bound/measured"]
)
def test_claims_that_are_named_have_a_folder_of_their_own(given):
    assert experiments.experiment(["experiment=tiny", given]).name == "tiny.claims"


def test_one_name_is_asked_of_a_group():
    for value in ("[ucb1,hyque]", "ucb1,hyque", "{name:hyque}", "null", "3"):
        allowed = "must be one value" if value == "ucb1,hyque" else "unknown; must be one that"
        with pytest.raises(ConfeeError, match=f"^policy={re.escape(value)}: {allowed}"):
            composition.compose("cell", [f"policy={value}"])


def test_a_list_of_overrides_is_as_good_as_a_string():
    text = experiments.experiment("experiment=tiny seeds.choose=3")
    assert experiments.experiment(["experiment=tiny", "seeds.choose=3"]).resolved == text.resolved


def test_equal_numbers_give_equal_configurations():
    spellings = [
        "centre.T=1e4 grid.T=[1e3]",
        "centre.T=10000 grid.T=[1000]",
        "centre.T=10000.0 grid.T=[1000.0]",
    ]
    plans = [Workflow({"overrides": f"experiment=tiny {said}"}) for said in spellings]
    assert len({dumps(run.keys) for run in plans}) == 1  # nothing is made again
    assert len({tuple(u.file for u in run.plan.units) for run in plans}) == 1


@pytest.mark.parametrize("group", ["policy", "adversary"])
def test_a_module_is_all_that_a_policy_or_an_adversary_needs(group):
    """Each is composed with the defaults of its module, in their order, and of their types."""
    registered = conf_files.REGISTERED[group]
    assert conf_files.files(group) == {}
    assert conf_files.names(group) == sorted(registered)
    chosen = {"policy": "uniform", "adversary": "switching"}
    for name, spec in registered.items():
        words = [f"{key}={value}" for key, value in (chosen | {group: name}).items()]
        values = composition.compose("cell", words)[group]
        assert values.pop("name") == name
        assert list(values) == [field.name for field in dataclasses.fields(spec.options)]
        assert schema.build(spec.options, values) == spec.options()


def test_a_file_gives_a_policy_other_options_under_another_name(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFEE_EXTRA", str(tmp_path))
    (tmp_path / "conf/policy").mkdir(parents=True)
    file = tmp_path / "conf/policy/wide.yaml"
    file.write_text("defaults: [sw_ucb, _self_]\nxi: 2\n", encoding="utf-8")
    entry = experiments.experiment("experiment=tiny +policy@policies.x=wide").entrants["x"].conf
    assert entry == {"name": "sw_ucb", "plan": "paced", "xi": 2, "window_scale": 1}
    assert "wide" in conf_files.names("policy")
    file.rename(file.with_name("sw_ucb.yaml"))
    with pytest.raises(ConfeeError, match="confee has a policy sw_ucb; choose another name"):
        experiments.experiment("experiment=tiny")


def test_composing_leaves_hydra_as_it_was():
    """A process has one ConfigStore and one version of Hydra, which may be the caller's."""
    from hydra import version
    from hydra.core.config_store import ConfigStore

    store = ConfigStore.instance()
    store.store(group="policy", name="ucb1", node={"of": "the caller"})
    store.store(name="cell", node={"of": "the caller"})
    before, base = dict(store.repo["policy"]), version.getbase()
    try:
        for override, refused in (("policy=ucb1", False), ("policy=nobody", True)):
            with pytest.raises(ConfeeError) if refused else contextlib.nullcontext():
                values = composition.compose("cell", [override, "adversary=switching"])
            assert values["policy"]["name"] == "ucb1"
            assert store.repo["policy"] == before
            assert "adversary" not in store.repo
            assert version.getbase() == base
            assert "cell.yaml" in store.repo
    finally:
        del store.repo["policy"], store.repo["cell.yaml"]


def test_composing_imports_only_the_policies_it_needs():
    program = (
        "import sys; from confee.config import composition\n"
        "composition.compose('cell', ['policy=ucb1', 'adversary=drift'])\n"
        "print('confee.policies.ucb1' in sys.modules, 'confee.policies.hyque' in sys.modules)"
    )
    assert fresh.python("-c", program).stdout == "True False\n"


def test_conf_is_found_beside_the_sources_or_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CONFEE_CONF", str(tmp_path))
    with pytest.raises(ConfeeError, match="no configuration there"):
        conf_files.folder()


def test_yaml_that_cannot_be_read_is_said_in_one_line(monkeypatch, tmp_path):
    (tmp_path / "config.yaml").write_text("a: [1")
    monkeypatch.setenv("CONFEE_CONF", str(tmp_path))
    with pytest.raises(ConfeeError) as error:
        composition.compose("config", [])
    assert "\n" not in str(error.value)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """An experiment of one's own, built on `tiny`, that says no name."""
    file = tmp_path / "conf/experiment/mine.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("# @package _global_\ndefaults: [tiny]\ncentre: {V: 1}\n", encoding="utf-8")
    monkeypatch.setenv("CONFEE_EXTRA", str(tmp_path))


def test_an_experiment_built_on_another_does_not_take_its_folder(mine):
    assert experiments.experiment("experiment=mine").name == "mine"
    assert experiments.experiment("experiment=mine name=other").name == "other"
    assert experiments.experiment("experiment=tiny").name == "tiny"
    assert experiments.experiment("experiment=tiny name=tiny centre.V=1").name == "tiny"
    with pytest.raises(ConfeeError, match=r"^name=tiny: is another experiment's"):
        experiments.experiment("experiment=mine name=tiny")


def test_a_name_may_be_a_year():
    assert experiments.experiment("experiment=tiny name=2024").name == "2024"
    for bad in ("1e5", "true", "null", "-1", "nan"):
        with pytest.raises(ConfeeError, match=r"^name="):
            experiments.experiment(f"experiment=tiny name={bad}")

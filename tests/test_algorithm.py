"""What every base algorithm keeps to by itself: its interface, that it forgets, the assumption."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import pkgutil
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import confee.policies
from confee.core.errors import ConfeeError
from confee.core.jit import njit, over
from confee.core.size import Size
from confee.policies import POLICIES, hyque, scheduled
from confee.policies.algorithm import CALLED, Algorithm
from confee.policies.examine import examine, observe
from confee.policies.oful import OFUL
from confee.policies.ucb import UCB1
from confee.simulation.cells import opponent
from confee.simulation.play import draw_path
from confee.world import game
from confee.world.adversaries import ADVERSARIES, usual
from confee.world.settings import ARMS
from support import fresh, plays

ROOT = Path(__file__).parents[1]
K, T = 3, 20_000


def registered():
    """Id -> algorithm: those that modules of `confee.policies`, one's own too, have for a value."""
    found = {}
    for module in pkgutil.iter_modules(confee.policies.__path__):
        values = vars(importlib.import_module(f"confee.policies.{module.name}")).values()
        found |= {one.id: one for one in values if isinstance(one, Algorithm)}
    return {id: one for id, one in sorted(found.items()) if usual(one.setting.id) in ADVERSARIES}


ALL = registered()
every_algorithm = pytest.mark.parametrize("alg", ALL.values(), ids=ALL)


def still(alg, seed=0):
    """(path, world, known, constants): a world of its setting in which nothing changes."""
    against = opponent({"name": usual(alg.setting.id)}, Size(K=K, T=T, B=T, V=0))
    path = draw_path(against, Size(K, T, T, 0), seed)
    known = path.offers[alg.setting.id]
    constants = alg.constants(known, T, alg.options())
    return path, alg.setting.game.new_world(path), known, constants


def best(path):
    """The value of the best decision in the first round."""
    return path.top[0] if hasattr(path, "top") else path.mean[0].max()


# ----------------------------------------------------------------------- every algorithm


def test_there_are_some():
    assert {"ucb1", "oful"} <= set(ALL)
    assert POLICIES["hyque_oful"].algorithm is POLICIES["oful_restarted"].algorithm is OFUL


@every_algorithm
def test_keeps_to_the_interface(alg):
    _, world, known, constants = still(alg)
    examine(alg, world, known, constants, T)
    values = [value for _, value, _ in observe(alg, world, known, constants, 500, 1)]
    assert 0 <= min(values) <= max(values) <= 1


@every_algorithm
def test_rho_is_an_error_as_the_assumption_has_it(alg):
    """At least 1/sqrt(t), not increasing, with t rho(t) not decreasing."""
    _, _, known, _ = still(alg)
    t = np.unique(np.geomspace(1, 10**6, 400).astype(int))
    rho = np.array([alg.rho(int(one), known) for one in t])
    assert (rho * np.sqrt(t) >= 1).all()
    assert (np.diff(rho) <= 1e-12).all()
    assert (np.diff(t * rho) >= -1e-9).all()
    assert alg.error(known) > 0


@every_algorithm
def test_begin_forgets_everything(alg):
    """It decides as one that never saw anything, with the same random numbers."""
    _, world, known, constants = still(alg)
    query = alg.setting.calls["query"]

    def look(instance, rounds):
        alg.begin(instance, known, constants)
        ledger, rng = game.new_ledger(), np.random.default_rng(5)
        data = alg.setting.calls["new_memories"](1, world)[0]
        seen = []
        for tau in range(rounds):
            decision, value = alg.act(instance, tau, known, constants, rng)
            reward = query(world, ledger, data, tau + 1, decision, rng)
            alg.learn(instance, known, constants, data, decision, reward)
            seen.append((np.asarray(decision).tolist(), value, reward))
        return seen

    used, fresh = alg.new_instances(2, known, constants)
    look(used, 300)
    assert look(used, 100) == look(fresh, 100)


def assumption(alg, **options):
    """Where nothing changes: in which share of rounds f~_t < f*, and the largest mean(f~ - R) over
    rho(t), the worst of four runs."""
    low, worst, t = [], 0.0, np.arange(1, 3001)
    for seed in range(4):
        path, world, known, _ = still(alg, seed)
        constants = alg.constants(known, T, alg.options(**options))
        looked = list(observe(alg, world, known, constants, len(t), seed))
        value = np.array([value for _, value, _ in looked])
        excess = np.cumsum(value - [reward for _, _, reward in looked]) / t
        low.append((value < best(path) - 1e-9).mean())
        worst = max(worst, (excess / [alg.rho(int(one), known) for one in t]).max())
    return np.mean(low), worst


@every_algorithm
def test_the_assumption_where_nothing_changes(alg):
    """f~_t >= f* in all but one round of twenty, and mean(f~ - R) <= 10 rho(t) at each t.

    The assumption is up to constants (Wei and Luo 2021, Appendix I): 10 lets no wrong order pass.
    """
    low, worst = assumption(alg)
    assert low <= 0.05
    assert worst <= 10


def test_without_a_bonus_or_with_a_rho_of_another_order_it_is_broken():
    low, _ = assumption(OFUL, radius=0)
    assert low > 0.5
    faster = njit(lambda t, known: 1.0 / t)
    _, worst = assumption(dataclasses.replace(UCB1, rho=faster))
    assert worst > 100


# ----------------------------------------------------------------------- what can go wrong


def arms():
    size = Size(K, T, T, 0)
    path = draw_path(opponent({"name": "switching"}, size), size, 0)
    return game.new_world(path), K, 2.0, T


MISTAKES = [
    ({"act": lambda instance, tau, known, constants, rng: (0, 1.5)}, r"f~ .*\[0, 1\]; it gave 1.5"),
    ({"act": lambda instance, tau, known, constants, rng: (0, np.nan)}, "f~ .*; it gave nan"),
    ({"act": lambda instance, tau, known, constants, rng: 0}, "a pair .*; it gave 0"),
    ({"act": lambda instance, tau, known, constants, rng: (0.0, 1.0)}, "arm as a whole number"),
    ({"act": lambda instance, tau, known, constants, rng: (known, 1.0)}, r"in \[0, 2\]; it gave 3"),
    ({"act": lambda instance, tau, known, constants, rng: instance.arm()}, "act: .*'arm'"),
    (
        {"learn": lambda instance, known, constants, data, arm, reward: instance["a"]},
        r"learn: .*line \d+: there is no getitem",
    ),
    ({"new_instances": lambda count, known, constants: np.zeros(count)}, "with `count` rows"),
    ({"replayed": lambda instance, data: instance[0, :2]}, r"shape \(3,\)"),
    ({"rho": lambda t, known: -1.0}, "rho must return a number over 0"),
    ({"rho": lambda t, known: float(t)}, "at t=2 from half to all of its 1 at half t"),
    ({"rho": lambda t, known: t**-2.0}, "at t=2 from half to all of its 1 at half t"),
    ({"chances": lambda n, known: np.full(n + 1, 0.5)}, "chances in .* the last one 1"),
]


@pytest.mark.parametrize(("wrong", "said"), MISTAKES, ids=[next(iter(w)) for w, _ in MISTAKES])
def test_an_algorithm_that_is_none_is_named_with_the_function(wrong, said):
    ((name, function),) = wrong.items()
    alg = dataclasses.replace(UCB1, **{name: njit(function)})
    with pytest.raises(ConfeeError, match=f"algorithm=ucb1: .*{name}.*") as error:
        examine(alg, *arms())
    assert re.search(said, str(error.value))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"act": lambda instance, tau, known, constants, rng: (0, 1.0)},
            "act must be a function under @njit",
        ),
        ({"learn": njit(lambda instance, reward: None)}, r"learn must take \(instance, known"),
        ({"setting": "arms"}, "setting must be one of confee.world.settings"),
        ({"error": 3}, "error must be a function"),
        ({"options": 3}, "options must be a dataclass"),
    ],
)
def test_an_algorithm_is_checked_where_it_is_made(wrong, said):
    with pytest.raises(ConfeeError, match=f"algorithm=ucb1: {said}"):
        dataclasses.replace(UCB1, **wrong)


def test_an_option_of_what_plays_it_is_taken():
    alg = dataclasses.replace(UCB1, options=hyque.ScaleOptions)
    with pytest.raises(
        ConfeeError, match="algorithm=ucb1: option scale is an option of what plays"
    ):
        hyque.over(alg, "mine")
    scheduled.paced(alg, "mine")


def test_over_takes_kernels():
    with pytest.raises(ConfeeError, match="over must be given a kernel"):
        over(len, "mine", rho=UCB1.rho)


@pytest.mark.parametrize("f", [np.nan, 1.5, -0.1])
def test_values_outside_0_and_1_are_refused_whenever_they_come(f):
    """`examine` sees the first few; HyQue counts the rest."""
    choose = hyque.act.py_func

    def act(instance, tau, known, constants, rng):
        arm, value = choose(instance, tau, known, constants, rng)
        return arm, f if tau == 40 else value

    size = Size(K, 2000, 600, 1)
    path = draw_path(opponent({"name": "switching"}, size), size, 0)
    spec, ledger = POLICIES["hyque"], game.new_ledger()
    arguments = spec.kernel_arguments(K, 2000, 600, 1, path.pieces, spec.options())
    kernel = plays.plain(spec.kernel, act=act)
    kernel(game.new_world(path), ledger, K, 2000, 600, *arguments, np.random.default_rng(1))
    assert ledger.stray > 0
    with pytest.raises(ConfeeError, match=r"policy=mine: act .* f~ in \[0, 1\]; it did otherwise"):
        game.check(ledger, path, "mine", 600)


def test_the_page_lists_what_an_algorithm_has():
    page = (ROOT / "docs/add-a-base-algorithm.md").read_text()
    for name in CALLED:
        assert f"def {name}(" in page or f"    {name}=" in page
    for field in dataclasses.fields(Algorithm):
        if field.default is dataclasses.MISSING:
            assert f"    {field.name}=" in page


def test_policies_of_any_setting_compile_before_an_experiment():
    from confee.workflow import jobs

    jobs._compile("oful")


# ----------------------------------------------------------------------- in a folder of one's own

TWICE = """
from confee.core.jit import njit, over
from confee.policies import blocks

@njit
def slow(t, known):
    return t ** -0.25

@njit
def fast(t, known):
    return t ** -{power}

FIRST = over(blocks.ratios, __name__, rho=slow)
SECOND = over(blocks.ratios, __name__, rho=fast)
"""
SAID = """
import json
from confee.core import jit
from confee.policies import mine
both = mine.FIRST, mine.SECOND
print(json.dumps([[made(4, 0)[0] for made in both], [len(made.stats.cache_hits) for made in both],
                  jit.folder(mine.__name__).name]))
"""


def python(folder, *words, **more):
    env = {**os.environ, "CONFEE_EXTRA": str(folder), "PYTHONPATH": str(ROOT / "src"), **more}
    return fresh.python(*words, env=env)


def test_kernels_over_ones_own_functions_are_cached_and_kept_apart(tmp_path):
    """Two kernels of one module have the same file, name and bytecode; they call other functions.
    An edit compiles them anew."""
    (tmp_path / "policies").mkdir()

    def said(power):
        (tmp_path / "policies/mine.py").write_text(TWICE.format(power=power))
        done = python(tmp_path, "-c", SAID, CONFEE_CACHE=str(tmp_path / "cache"))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    (first, hits, folder), (second, hits_later, same) = said(0.5), said(0.5)
    assert first == second == [0.5, 0.25]
    assert (sum(hits), hits_later) == (0, [1, 1])
    edited, hits, other = said(1.0)
    assert edited == [0.5, 0.0625]
    assert sum(hits) == 0
    assert folder == same != other


def test_a_mistake_in_ones_own_is_one_line_before_anything_is_compiled_over_it(tmp_path):
    page = (ROOT / "docs/add-a-base-algorithm.md").read_text()
    (text,) = re.findall(r"```python\n(\"\"\"HyQue over.*?)```", page, re.DOTALL)
    (tmp_path / "policies").mkdir()
    cell = ["adversary=switching", "K=2", "T=100", "B=10", "V=1"]
    for right, wrong, expected in (
        ("    rho=rho,\n    chances", "    chances", "TypeError: .*'rho'"),
        ("return arm, top", "return arm, math.nan", "act must return f~ .*it gave nan"),
        ("[REWARDS, arm] +=", "[REWARDS, arm].sum +=", r"policy=mine, .*learn: .*line \d+: "),
    ):
        assert text.count(right) == 1
        (tmp_path / "policies/mine.py").write_text(text.replace(right, wrong))
        done = python(tmp_path, "-m", "confee", "simulate", "policy=mine", *cell)
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert re.match(f"confee: .*mine.py: .*{expected}|confee: {expected}.*", line)
        assert "mine.py" in line


def test_the_example_of_the_page_has_the_index_that_it_says(monkeypatch):
    """Its index is what its docstring says, and arms that it passes over are below the top."""
    from scipy.optimize import brentq

    page = (ROOT / "docs/add-a-base-algorithm.md").read_text()
    (text,) = re.findall(r"```python\n(\"\"\"HyQue over.*?)```", page, re.DOTALL)
    module = types.ModuleType("mine")
    monkeypatch.setitem(sys.modules, "mine", module)  # dataclasses look there
    exec(compile(text, "page", "exec"), made := vars(module))

    def kl(p, q):
        return sum(a * np.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)

    def index(wins, plays, level):
        mean = wins / plays
        at = lambda q: plays * kl(mean, q) - level  # noqa: E731
        return 1.0 if mean == 1 else brentq(at, mean, 1 - 1e-12) if at(1 - 1e-12) > 0 else 1.0

    rng = np.random.default_rng(3)
    for _ in range(200):
        plays_ = rng.integers(1, 40, 5)
        wins = rng.binomial(plays_, rng.uniform(0, 1, 5))
        tau = int(plays_.sum())
        instance = np.stack([plays_, wins]).astype(float)
        arm, value = made["act"](instance, tau, 5, 1.0, rng)
        exact = [index(w, n, np.log(tau + 1)) for w, n in zip(wins, plays_, strict=True)]
        assert value == pytest.approx(max(exact), abs=2e-6)
        assert exact[arm] == pytest.approx(max(exact), abs=4e-6)
    assert made["KL_UCB"].setting is ARMS

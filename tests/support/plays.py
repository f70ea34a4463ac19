"""Plays a policy's kernel on a given path: compiled, or as plain Python with parts replaced."""

from __future__ import annotations

import types

import numpy as np

from confee.policies import POLICIES
from confee.world import episodes, game
from confee.world.mdp import Episodes
from confee.world.path import Path
from confee.world.settings import SETTINGS
from confee.world.structured import Structured


def options_of(policy, **options):
    """The options a kernel wants: the calibrated policy gets a scale that restarts now and then."""
    spec = POLICIES[policy]
    if spec.calibrated:
        from confee.policies.hyque_calibrated import Calibrated

        return Calibrated(**{"scale": 0.002, **options})
    return spec.options(**options)


def proxy(world, data):
    """P = max_k mean over S of mu^k, of the data in use as they stand."""
    data = data.copy()
    game.fold(world, data)
    return max(0.0, data[:-4].max()) / data[-4]


def play(policy, path: Path, B: int, V: float, rng, sampled=False, kernel=None, **options):
    """The recorded quantities of one run; `rng` may be a seed. It is checked as every run is, but
    for a `kernel` in the policy's own place."""
    spec = POLICIES[policy]
    rng = np.random.default_rng(rng) if isinstance(rng, int) else rng
    path, T = as_played(policy, path), path.horizon
    known = path.offers[spec.setting]
    ledger = game.new_ledger(sampled)
    arguments = spec.kernel_arguments(known, T, B, V, path.pieces, options_of(policy, **options))
    world = SETTINGS[spec.setting].game.new_world(path)
    own = kernel is None
    kernel = kernel or spec.kernel
    if getattr(kernel, "deep", False):  # Python all through, which reads a record's fields slowly
        fields = zip(ledger.dtype.names, ledger.item(), strict=True)
        accounts = types.SimpleNamespace(**dict(fields))
        kernel(world, accounts, known, T, B, *arguments, rng)
        for name, value in vars(accounts).items():
            ledger[name] = value
    else:
        kernel(world, ledger, known, T, B, *arguments, rng)
    if own:
        game.check(ledger, path, policy, B)
    return game.settle(ledger, path)


def as_played(policy, path):
    """Arms as the policy's setting has them: with unit vectors for features, or as its actions.

    Where rules are played, each segment has the means of its first round throughout.
    """
    spec = POLICIES[policy]
    if spec.setting in path.offers:
        return path
    if spec.setting in ("linear", "logistic"):
        return Structured(
            path.start,
            path.mean,
            path.slope,
            features=np.eye(path.mean.shape[1]),
            theta=path.mean,
            end=path.last,
            link=spec.setting,
        )
    # One context, or one state and one step. Nothing moves inside a segment.
    reward = path.mean[:, None, :]
    if spec.setting == "contextual":
        regressors = np.concatenate([reward, 1 - reward])  # a class in which arms are alike
        return Episodes.contexts(path.start[:-1], np.ones(1), reward, regressors, path.horizon)
    return Episodes(path.start, np.ones(1), reward, np.ones((*reward.shape, 1)))


def python(kernel):
    """A kernel as Python: compiled ones keep what they were compiled from."""
    return getattr(kernel, "py_func", kernel)


def plain(kernel, deep=False, **replaced):
    """A kernel as plain Python, with some of the functions it calls replaced, in the part of it or
    the kernel of another policy too (`play...`) that it plays; `deep`: in all that it calls, which
    then takes any object for random numbers."""
    code = python(kernel)
    called = {name: code.__globals__.get(name) for name in code.__code__.co_names}
    others = {
        name: plain(f, deep, **replaced)
        for name, f in called.items()
        if hasattr(f, "py_func" if deep else "__name__")
        and f is not kernel
        and (deep or f.__name__.startswith("play"))
    }
    names = {**code.__globals__, **others, **replaced}
    made = types.FunctionType(code.__code__, names, code.__name__, None, code.__closure__)
    made.deep = deep
    return made


def noting(policy):
    """(kernel, runs): the policy's kernel, which appends (start, stop, is query) to `runs`."""
    runs: list[tuple[int, int, bool]] = []

    played = SETTINGS[POLICIES[policy].setting].game

    def query(world, ledger, data, t, arm, rng):
        runs.append((int(t), int(t) + 1, True))
        return played.query(world, ledger, data, t, arm, rng)

    def idle(world, ledger, data, start, stop, weights, rng):
        if stop > start:
            runs.append((int(start), int(stop), False))
        played.idle(world, ledger, data, start, stop, weights, rng)

    return plain(POLICIES[policy].kernel, query=query, idle=idle), runs


def pieces(lengths, first, last):
    """A path of lines: segment s has `lengths[s]` rounds, from first[s] to last[s] ([S, K])."""
    lengths = np.asarray(lengths, dtype=np.int64)
    first, last = np.asarray(first, dtype=float), np.asarray(last, dtype=float)
    start = np.append(1, 1 + np.cumsum(lengths))
    return Path(start, first, (last - first) / np.maximum(lengths - 1, 1)[:, None])


def episodes_at_random(path, rules, record, replayed, shown, rng):
    """Queries, idle runs, copies and forgetting of two memories at random, over all of `path`, in
    the game over rules and in `record`, which plays them one by one; returns the ledger.

    shown(memory, reward, seen): asserts that a memory shows what `record.query` gave.
    """
    world, ledger = episodes.new_world(path), game.new_ledger()
    memories = episodes.new_memories(2, world)
    kept = [[], []]
    in_use, copied = episodes.anything(world), record.anything()
    t = 1
    while t <= path.horizon:
        j = int(rng.integers(2))
        kind = rng.choice(["query", "idle", "copy", "forget"], p=[0.6, 0.2, 0.1, 0.1])
        if kind == "query":
            rule = rules[rng.integers(len(rules))]
            seed = int(rng.integers(2**32))
            found = episodes.query(world, ledger, memories[j], t, rule, np.random.default_rng(seed))
            reward, seen = record.query(rule, np.random.default_rng(seed))
            assert found == reward
            shown(memories[j], reward, seen)
            kept[j].append(rule)
            t += 1
        elif kind == "idle":
            stop = min(t + int(rng.integers(0, 15)), path.horizon + 1)
            own = len(kept[j]) > 0
            again = replayed(memories[j], memories[j]) if own else in_use
            episodes.idle(world, ledger, memories[j], t, stop, again, rng)
            for _ in range(t, stop):
                record.idle(kept[j] if own else copied)
            t = stop
        elif kind == "copy" and kept[j]:
            in_use[:] = memories[j]
            copied = list(kept[j])
        elif kind == "forget":
            memories[j] = 0.0
            kept[j] = []
    return ledger

"""A plain, slow, round-by-round reference of the policies; it shares no code with the project.

Rounds are t = 1..T as in the paper, so mu_t is `means[t - 1]`. Every round is decided by the
condition the paper prints; nothing is solved for, skipped or kept as an interval. Rewards are
Bernoulli; an idle round counts its exact expected regret under the play distribution.
"""

import math
from itertools import groupby, pairwise

import numpy as np

# ------------------------------------------------------------------------------------- worlds


class Path:
    """Explicit means: `means[t - 1, k]` is mu_t^k."""

    def __init__(self, means):
        self.means = np.array(means, dtype=float)
        self.T, self.K = self.means.shape
        if self.means.min() < 0 or self.means.max() > 1:
            raise ValueError("means must lie in [0, 1]")

    @property
    def variation(self):
        """Exact variation: sum over t < T of max_k |mu_{t+1}^k - mu_t^k|."""
        return float(np.abs(np.diff(self.means, axis=0)).max(axis=1).sum())


def batches(T, m):
    """Batch j = 0..m-1 as (first, last), rounds floor(jT/m)+1 .. floor((j+1)T/m)."""
    return [(j * T // m + 1, (j + 1) * T // m) for j in range(m)]


def switching(gap, K, T, V, rng, centred=False):
    """One good arm a batch, at 1/2 + gap over 1/2 (`centred`: 1/2 +- gap/2), redrawn each time."""
    bad, good = (0.5 - gap / 2, 0.5 + gap / 2) if centred else (0.5, 0.5 + gap)
    m = min(T, 1 + math.floor(V / gap + 1e-9))
    means = np.full((T, K), bad)
    arm = None
    for first, last in batches(T, m):
        arm = rng.choice([k for k in range(K) if k != arm])
        means[first - 1 : last, arm] = good
    return Path(means)


def stationary(values, T):
    """The same means in every round."""
    return Path(np.tile(np.asarray(values, dtype=float), (T, 1)))


def lines(rounds, values, T):
    """Piecewise linear means through `values[i]` (one mean per arm) at round `rounds[i]`."""
    values = np.asarray(values, dtype=float)
    t = np.arange(1, T + 1)
    return Path(np.column_stack([np.interp(t, rounds, column) for column in values.T]))


# ------------------------------------------------------------------------------ what is known


class Feedback:
    """The query rounds S whose feedback a policy uses: plays, rewards and mu over S, per arm."""

    def __init__(self, K):
        self.K = K
        self.plays = np.zeros(K)
        self.rewards = np.zeros(K)
        self.mu = np.zeros(K)
        self.size = 0

    def observe(self, arm, reward, mu):
        self.plays[arm] += 1
        self.rewards[arm] += reward
        self.mu += mu
        self.size += 1

    def frequencies(self):
        return self.plays / self.size

    def best_mean(self):
        """P_t = max_k of the mean of mu^k over S."""
        return (self.mu / self.size).max()


class UCB1(Feedback):
    """Feedback that also chooses arms."""

    def choose(self, rng):
        """The arm and its g~ = min(1, index); 1 while the arm is unplayed."""
        unplayed = np.flatnonzero(self.plays == 0)
        if len(unplayed):
            return rng.choice(unplayed), 1.0
        index = self.rewards / self.plays + np.sqrt(2 * math.log(self.size) / self.plays)
        arm = rng.choice(np.flatnonzero(index == index.max()))
        return arm, min(1.0, float(index[arm]))

    def uniform(self, rng):
        """Any arm, and its own g~."""
        arm = rng.integers(0, self.K)
        n = self.plays[arm]
        if n == 0:
            return arm, 1.0
        return arm, min(1.0, self.rewards[arm] / n + math.sqrt(2 * math.log(self.size) / n))


class OverUCB1:
    """A base algorithm, what HyQue and query plans are played over: here UCB1.

    `new()` is an instance that has seen nothing: `size` counts its observations, `choose(rng)` is
    (decision, f~), `observe(decision, reward, seen)` takes what `Record.query` gave, and
    `frequencies()` is what idle rounds replay. rho(t): average error after t observations.
    chance(m, n): of starting an instance of order m in a block of order n.
    """

    def __init__(self, K):
        self.K = K

    def new(self):
        return UCB1(self.K)

    def rho(self, t):
        return math.sqrt(self.K * math.log(max(t, 2)) / t) + self.K / t

    def chance(self, m, n):
        return square_root(m, n)


def square_root(m, n):
    """The chance that the body prints: 2^{(m - n)/2}."""
    return 2 ** ((m - n) / 2)


class Record:
    """One run against one path: what happened, and the regret in its four parts.

    Here decisions are arms. A game of another kind is a class with its own `query`, `idle` and
    `anything`.
    """

    def __init__(self, path, B):
        self.means, self.T, self.K, self.B = path.means, path.T, path.K, B
        self.variation = path.variation
        self.regret = self.regret_query = self.regret_error = 0.0
        self.regret_drift = self.regret_no_data = 0.0
        self.queried = []  # round t -> was it a query
        self.used = 0  # B'
        self.denied = self.conversions = self.restarts = 0
        self.blocks = []  # of HyQue, for tests

    def anything(self):
        """What idle rounds play before anything was seen."""
        return np.full(self.K, 1 / self.K)

    def query(self, arm, rng):
        """Plays `arm` in the next round; returns its reward, and mu_t for the accounts."""
        mu = self.means[len(self.queried)]
        self.queried.append(True)
        self.used += 1
        missed = mu.max() - mu[arm]
        self.regret += missed
        self.regret_query += missed
        return float(rng.random() < mu[arm]), mu

    def idle(self, p, feedback=None):
        """Plays distribution `p` in the next round; `feedback` holds S (None or empty: no data)."""
        mu = self.means[len(self.queried)]
        self.queried.append(False)
        played, top = float(p @ mu), mu.max()
        self.regret += top - played
        if feedback is None or feedback.size == 0:
            self.regret_no_data += top - played
        else:
            best_mean = feedback.best_mean()
            self.regret_error += best_mean - played
            self.regret_drift += top - best_mean

    def longest(self, kind):
        return max((len(list(run)) for q, run in groupby(self.queried) if q == kind), default=0)

    def summary(self):
        assert len(self.queried) == self.T
        assert sum(self.queried) == self.used
        return {
            "regret": float(self.regret),
            "regret_query": float(self.regret_query),
            "regret_error": float(self.regret_error),
            "regret_drift": float(self.regret_drift),
            "regret_no_data": float(self.regret_no_data),
            "queries": self.used,
            "denied": self.denied,
            "conversions": self.conversions,
            "restarts": self.restarts,
            "longest_idle": self.longest(False),
            "longest_query": self.longest(True),
            "variation": self.variation,
        }


class Memory:
    """Frequencies in use: own ones, else the last own ones that were played, else `anything`."""

    def __init__(self, anything):
        self.last = anything

    def distribution(self, feedback, own=lambda feedback: feedback.frequencies()):
        if feedback.size:
            self.last = own(feedback)
        return self.last


# --------------------------------------------------------------------------- BaQue and HyQue


def owners(n, started):
    """For each of 2^n slots the finest of the `started` instances (m, first slot) over it."""
    result = []
    for slot in range(2**n):
        over = [(m, s) for m, s in started if s <= slot < s + 2**m]
        result.append(min(over))  # the smallest m; two instances of one m never overlap
    return result


def schedule(n, rng, chance=square_root):
    """Algorithm 1, lines 1-7: the started instances (m, first slot) and the owner of each slot."""
    started = []
    for slot in range(2**n):
        for m in range(n, -1, -1):
            if slot % 2**m == 0 and rng.random() < chance(m, n):
                started.append((m, slot))
    return started, owners(n, started)


def rise_test(total, m, U, rho_hat):
    """Test (i) at the end of an order-m span whose baseline rewards sum to `total`."""
    return total / 2**m >= U + 9 * rho_hat(2**m)


def fall_test(excess, queries, rho_hat):
    """Test (ii) after a query; `excess` is the sum of g~ - R over the block's queries so far."""
    return excess / queries >= 3 * rho_hat(queries)


def buffers(T, B, n, t, buffer):
    """What the on-demand condition subtracts from tB/T."""
    if buffer == "body":
        return min(T / math.sqrt(B), 2**n, T - t)
    if buffer == "appendix":
        return min(math.sqrt(B), T - t)
    raise ValueError(f"buffer must be body or appendix, not {buffer!r}")


def baseline_quota(T, b, t_n, slots, quota):
    """Baseline queries of an instance that is active in these slots of a block that starts at t_n.

    max(1, floor(|S| / b)), and 0 if its set S of active rounds is empty. S holds rounds up to T
    only ("horizon"), or those past T as well ("block").
    """
    S = [t_n + slot * b + k for slot in slots for k in range(b)]
    if quota == "horizon":
        S = [t for t in S if t <= T]
    elif quota != "block":
        raise ValueError(f"quota must be horizon or block, not {quota!r}")
    return max(1, math.floor(len(S) / b)) if S else 0


def play_hyque(
    record,
    rng,
    base,
    baseline=True,
    on_demand=True,
    scale=1.0,
    buffer="body",
    quota="horizon",
    blind=False,
    discarding=False,
):
    """Algorithm 2 over `base`. Without `on_demand` it is BaQue, without `baseline` OdQue.

    `blind` draws every queried arm uniformly; `discarding` forgets what converted queries showed.
    """
    T, B = record.T, record.B
    b = -(-2 * T // B)
    memory = Memory(record.anything())

    def rho_hat(t):
        """rho^(t) at delta = 1/T."""
        return scale * 6 * (math.log2(T) + 1) * math.log(T**2) * base.rho(t)

    t, n = 1, 0
    while t <= T:
        t_n = t
        started, owner = schedule(n, rng, base.chance)
        instances = {i: base.new() for i in started}
        left = dict.fromkeys(started, 0)  # baseline queries still to be made
        if baseline:
            for i in started:
                slots = [slot for slot in range(2**n) if owner[slot] == i]
                left[i] = baseline_quota(T, b, t_n, slots, quota)
        ends = {}  # round -> instances whose span it ends
        for m, s in started:
            ends.setdefault(t_n + b * (s + 2**m) - 1, []).append((m, s))
        baseline_rewards = {}  # round -> reward
        U, excess, queries = math.inf, 0.0, 0  # over the block's queries so far
        fired = []
        block = {"n": n, "start": t_n, "b": b, "started": started, "owner": owner}
        block |= {"baseline": baseline_rewards, "converted": [], "fired": fired}
        record.blocks.append(block)

        while t < t_n + b * 2**n and t <= T and not fired:
            i = owner[(t - t_n) // b]
            instance = instances[i]

            kind = "idle"
            if left[i] > 0:
                left[i] -= 1
                if record.used < B:
                    kind = "baseline"
                else:
                    record.denied += 1
            elif on_demand and record.used < t * B / T - buffers(T, B, n, t, buffer):
                kind = "converted"
                record.conversions += 1
                block["converted"].append(t)

            if kind == "idle":
                record.idle(memory.distribution(instance), instance)
            else:
                decision, g = instance.uniform(rng) if blind else instance.choose(rng)
                reward, seen = record.query(decision, rng)
                if kind == "baseline" or not discarding:
                    instance.observe(decision, reward, seen)
                    U, excess, queries = min(U, g), excess + g - reward, queries + 1
                    if kind == "baseline":
                        baseline_rewards[t] = reward
                    if fall_test(excess, queries, rho_hat):
                        fired.append("ii")

            for m, s in ends.get(t, []):
                span = range(t_n + b * s, t + 1)
                total = sum(r for u, r in baseline_rewards.items() if u in span)
                if queries > 0 and rise_test(total, m, U, rho_hat):
                    fired.append("i")
            t += 1

        if fired:
            record.restarts += 1
            n = 0
        else:
            n += 1


def run_hyque(base, means, B, rng, **options):
    """HyQue over `base` on `means` [T, K] or a Path: its Record."""
    record = Record(means if isinstance(means, Path) else Path(means), B)
    play_hyque(record, rng, base, **options)
    return record


# -------------------------------------------------------------------------------- the others


def paced(T, B):
    """The rounds that the paced plan queries."""
    return {i * T // B + 1 for i in range(B)}


def play_planned(record, rng, base, query_rounds, restart=lambda: False):
    """`base` that queries in `query_rounds`, and else replays its past decisions.

    It is started anew before a query, but an instance's first, if `restart()`: a coin a query.
    """
    memory = Memory(record.anything())
    instance = base.new()
    for t in range(1, record.T + 1):
        if t not in query_rounds:
            record.idle(memory.distribution(instance), instance)
            continue
        if instance.size and restart():
            instance = base.new()
            record.restarts += 1
        decision, _ = instance.choose(rng)
        instance.observe(decision, *record.query(decision, rng))


def restart_period(K, B, V):
    """(K ln B)^{1/3} (B / V)^{2/3} queries, at least K and at most B; V = 0 never restarts."""
    if V == 0:
        return B
    return min(max(math.floor((K * math.log(B) * (B / V) ** 2) ** (1 / 3)), K), B)


def rexp3b_parameters(T, K, B, V):
    """Delta_T, Delta_B, gamma."""
    delta_T = T
    if V > 0:
        real = T * (K * math.log(K)) ** (1 / 3) / (B ** (1 / 3) * V ** (2 / 3))
        delta_T = max(1, math.floor(min(real, T)))
    delta_B = max(1, delta_T * B // T)
    gamma = min(1.0, math.sqrt(K * math.log(K) / ((math.e - 1) * delta_B)))
    return delta_T, delta_B, gamma


def play_rexp3b(record, rng, V, pool="multiset"):
    """Rexp3B; log weights, as the weights themselves overflow."""
    if pool not in ("multiset", "set"):
        raise ValueError(f"pool must be multiset or set, not {pool!r}")
    T, K, B = record.T, record.K, record.B
    delta_T, delta_B, gamma = rexp3b_parameters(T, K, B, V)

    def own(batch):
        if pool == "multiset":
            return batch.frequencies()
        return (batch.plays > 0) / np.count_nonzero(batch.plays)

    memory = Memory(record.anything())
    for t in range(1, T + 1):
        position = (t - 1) % delta_T
        if position == 0:
            log_w = np.zeros(K)
            batch = Feedback(K)
        wished = position < delta_B
        if wished and record.used < B:
            w = np.exp(log_w - log_w.max())
            p = (1 - gamma) * w / w.sum() + gamma / K
            arm = rng.choice(K, p=p)
            reward, mu = record.query(arm, rng)
            batch.observe(arm, reward, mu)
            log_w[arm] += gamma * (reward / p[arm]) / K
        else:
            record.denied += wished
            record.idle(memory.distribution(batch, own), batch)


def sw_ucb_window(K, B, V, window_scale=1.0):
    """(sqrt(K) B / V)^{2/3} queries, at least K and at most B; V = 0 keeps all."""
    window = B
    if V > 0:
        window = min(max(math.floor((math.sqrt(K) * B / V) ** (2 / 3)), K), B)
    return min(max(round(window * window_scale), K), B)


def play_sw_ucb(record, rng, query_rounds, V, xi=0.5, window_scale=1.0):
    """Sliding-window UCB: all that counts are the last `window` queries."""
    window = sw_ucb_window(record.K, record.B, V, window_scale)
    seen = []  # (arm, reward, mu) of every query
    for t in range(1, record.T + 1):
        recent = Feedback(record.K)
        for one in seen[-window:]:
            recent.observe(*one)
        if t not in query_rounds:
            record.idle(recent.frequencies(), recent)
            continue
        absent = np.flatnonzero(recent.plays == 0)
        if len(absent):
            arm = rng.choice(absent)
        else:
            padding = np.sqrt(xi * math.log(min(len(seen), window)) / recent.plays)
            index = recent.rewards / recent.plays + padding
            arm = rng.choice(np.flatnonzero(index == index.max()))
        reward, mu = record.query(arm, rng)
        seen.append((arm, reward, mu))


def play_informed(record, rng):
    """Told the batches and their gap: looks at the arms in turn, then plays the best seen."""
    T, K, B = record.T, record.K, record.B
    changes = [t for t in range(2, T + 1) if (record.means[t - 1] != record.means[t - 2]).any()]
    for first, stop in pairwise([1, *changes, T + 1]):
        low, high = np.sort(record.means[first - 1])[-2:]
        gap, rounds = high - low, stop - first
        wished = K * math.ceil(max(1.0, math.log(rounds * gap**2)) / gap**2)
        queries = min(rounds * B // T, wished)
        batch = Feedback(K)
        arm = rng.integers(K)
        for _ in range(queries):
            reward, mu = record.query(arm, rng)
            batch.observe(arm, reward, mu)
            arm = (arm + 1) % K
        p = np.full(K, 1 / K)
        if queries >= K:
            mean = batch.rewards / batch.plays
            p = np.eye(K)[rng.choice(np.flatnonzero(mean == mean.max()))]
        for _ in range(rounds - queries):
            record.idle(p, batch)


def play_informed_even(record, rng):
    """The same number of queries at equal distances; the best arm seen so far in between."""
    T, K, B = record.T, record.K, record.B
    changes = [t for t in range(2, T + 1) if (record.means[t - 1] != record.means[t - 2]).any()]
    for first, stop in pairwise([1, *changes, T + 1]):
        low, high = np.sort(record.means[first - 1])[-2:]
        gap, rounds = high - low, stop - first
        wished = K * math.ceil(max(1.0, math.log(rounds * gap**2)) / gap**2)
        queries = min(rounds * B // T, wished)
        due = {i * rounds // queries for i in range(queries)}
        batch = Feedback(K)
        arm = rng.integers(K)
        p = np.full(K, 1 / K)
        for t in range(rounds):
            if t not in due:
                record.idle(p, batch)
                continue
            reward, mu = record.query(arm, rng)
            batch.observe(arm, reward, mu)
            arm = (arm + 1) % K
            if batch.plays.min() > 0:
                mean = batch.rewards / batch.plays
                p = np.eye(K)[rng.choice(np.flatnonzero(mean == mean.max()))]


def play_uniform(record):
    for _ in range(record.T):
        record.idle(np.full(record.K, 1 / record.K))


def play_oracle(record):
    for mu in record.means:
        record.idle(np.eye(record.K)[mu.argmax()])


def play(policy, means, B, V, rng, **options):
    """Plays one run and returns its Record. `means` is a [T, K] array or a Path."""
    path = means if isinstance(means, Path) else Path(means)
    if not 2 <= path.K <= B <= path.T:
        raise ValueError(f"need 2 <= K <= B <= T, not K = {path.K}, B = {B}, T = {path.T}")
    if path.variation > V * (1 + 1e-9) + 1e-9:
        raise ValueError(f"the path spends {path.variation}, over V = {V}")
    record = Record(path, B)
    ucb1 = OverUCB1(path.K)
    match policy:
        case "hyque":
            play_hyque(record, rng, ucb1, **options)
        case "baque":
            play_hyque(record, rng, ucb1, on_demand=False, **options)
        case "odque":
            play_hyque(record, rng, ucb1, baseline=False, **options)
        case "hyque_blind":
            play_hyque(record, rng, ucb1, blind=True, **options)
        case "hyque_discarding":
            play_hyque(record, rng, ucb1, discarding=True, **options)
        case "rexp3b":
            play_rexp3b(record, rng, V, **options)
        case "ucb1":
            play_planned(record, rng, ucb1, paced(path.T, B), **options)
        case "ucb1_restarted":
            period = restart_period(path.K, B, V)
            on_schedule = lambda: record.used % period == 0  # noqa: E731
            play_planned(record, rng, ucb1, paced(path.T, B), on_schedule, **options)
        case "greedy_spend":
            play_planned(record, rng, ucb1, set(range(1, B + 1)), **options)
        case "sw_ucb":
            play_sw_ucb(record, rng, paced(path.T, B), V, **options)
        case "informed":
            play_informed(record, rng, **options)
        case "informed_even":
            play_informed_even(record, rng, **options)
        case "uniform":
            play_uniform(record, **options)
        case "oracle":
            play_oracle(record, **options)
        case _:
            raise ValueError(f"unknown policy {policy!r}")
    return record


def run(policy, means, B, V, rng, **options):
    """One run as a dict of its regret parts, counts and variation.

    Options: `scale` of hyque, baque and odque, `buffer` ("body", "appendix") of hyque and odque,
    `quota` ("horizon", "block") of hyque and baque; `pool` ("multiset", "set") of rexp3b; `xi` and
    `window_scale` of sw_ucb.
    """
    return play(policy, means, B, V, rng, **options).summary()

"""Plain, slow references of the prior-free policies, by the round and by the definition.

A player keeps all it has seen and looks at it anew each time: intervals are slices, tests are tried
on each of them. It takes the same random numbers as the kernel, in the same order.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import rel_entr

SUMS = ("regret", "regret_error", "regret_drift", "regret_no_data")


def replay(path, B, seed, make):
    """Play `path` under the paced schedule: the sums that the ledger keeps, restarts, queries.

    `make(K, T, B, rng)` returns a player: `choose()` is an arm; `see(arm, reward)` returns whether
    it restarts; `idle()` are the weights of idle rounds, None for any arm; `kept()` is how many of
    the last queries are in use.
    """
    T, K = path.horizon, path.mean.shape[1]
    means, rng = path.means(), np.random.default_rng(seed)
    player = make(K, T, B, rng)
    rounds = {i * T // B + 1 for i in range(B)}
    queried, sums, restarts = [], dict.fromkeys(SUMS, 0.0), 0
    weights = None
    for t in range(1, T + 1):
        mu = means[t - 1]
        if t in rounds:
            arm = player.choose()
            reward = 1.0 if rng.random() < mu[arm] else 0.0
            queried.append(t)
            sums["regret"] += mu.max() - mu[arm]
            restarts += player.see(arm, reward)
            if t + 1 not in rounds and t < T:
                weights = player.idle()
            continue
        p = np.ones(K) if weights is None else np.asarray(weights, dtype=float)
        mine = float(p @ mu) / p.sum()
        sums["regret"] += mu.max() - mine
        kept = player.kept()
        if kept:
            P = means[np.array(queried[-kept:]) - 1].mean(axis=0).max()
            sums["regret_error"] += P - mine
            sums["regret_drift"] += mu.max() - P
        else:
            sums["regret_no_data"] += mu.max() - mine
    return sums | {"restarts": restarts, "queries": len(queried)}


# --------------------------------------------------------------------------- parts


def geometric(n, ratio=1.25):
    """Splits 1, 2, 3, .. up to n / 2 in a grid that grows by `ratio`, and as far from the end."""
    near, split = set(), 1
    while 2 * split <= n:
        near |= {split, n - split}
        split = max(split + 1, math.floor(split * ratio))
    return sorted(near)


def alarm(rewards, beta, ratio=1.25):
    """Whether the Bernoulli likelihood ratio of a change reaches beta at a split of the grid."""
    n, splits = len(rewards), geometric(len(rewards), ratio)
    if not splits:
        return False
    s, total = np.array(splits), sum(rewards)
    first, q = np.cumsum(rewards)[s - 1], total / n

    def kl(p):
        return rel_entr(p, q) + rel_entr(1 - p, 1 - q)

    return bool((s * kl(first / s) + (n - s) * kl((total - first) / (n - s))).max() >= beta)


def gaussian_alarm(rewards, beta, ratio=1.25):
    """Whether the likelihood ratio for rewards of variance 1/4 reaches beta at a split."""
    n = len(rewards)
    for s in geometric(n, ratio):
        difference = np.mean(rewards[:s]) - np.mean(rewards[s:])
        if 2 * s * (n - s) / n * difference**2 >= beta:
            return True
    return False


def largest_index(plays, rewards, root, rng):
    """UCB1's arm, unplayed ones at infinity, ties by one draw."""
    index = [
        r / n + root * (1.0 / math.sqrt(n)) if n else math.inf
        for n, r in zip(plays, rewards, strict=True)
    ]
    best = [k for k, value in enumerate(index) if value == max(index)]
    return best[int(rng.integers(0, len(best)))] if len(best) > 1 else best[0]


def largest(values, rng):
    """The arm of the largest value; one of several after each other, a draw for each but one."""
    arm, top, ties = 0, -1.0, 0
    for k, value in enumerate(values):
        if value > top:
            arm, top, ties = k, value, 1
        elif value == top:
            ties += 1
            if rng.random() * ties < 1.0:
                arm = k
    return arm


def only(K, arm):
    return [float(k == arm) for k in range(K)]


def failures(chance, rng):
    """Failures before the next success."""
    return int(math.log(1.0 - rng.random()) / math.log1p(-chance)) if chance < 1.0 else 0


def begun(value, chances):
    """Which of independent events of these chances is the first to happen, by where `value` lies
    among the probabilities of that; None if none does."""
    reached, left = 0.0, 1.0
    for i, chance in enumerate(chances):
        reached += left * chance
        left *= 1.0 - chance
        if value < reached:
            return i
    return None


def windows(age):
    """Where the intervals that end at this age begin: level j has the last 8 * 2^j queries, due at
    multiples of 2^j."""
    starts, j = [], 0
    while age % 2**j == 0:
        starts.append(max(0, age - 8 * 2**j))
        if starts[-1] == 0:
            break
        j += 1
    return starts


class Player:
    """What all have: the queries of the episode, as (arm, reward)."""

    def __init__(self, K, T, B, rng, idle="leader"):
        self.K, self.T, self.B, self.rng, self.by_leader = K, T, B, rng, idle == "leader"
        self.seen = []
        self.restarts = 0

    def rewards(self, arm, first=0):
        return [y for k, y in self.seen[first:] if k == arm]

    def counts(self, first=0):
        arms = [k for k, _ in self.seen[first:]]
        return [arms.count(k) for k in range(self.K)]

    def totals(self, first=0):
        totals = [0.0] * self.K
        for k, y in self.seen[first:]:
            totals[k] += y
        return totals

    def kept(self):
        return len(self.seen)

    def idle(self):
        if self.by_leader:
            return only(self.K, self.leading())
        return self.counts() if self.seen else None


# --------------------------------------------------------------------------- index policies


class Lookout(Player):
    def __init__(
        self,
        *args,
        h=1.0,
        exploration=0.5,
        beta_scale=1.0,
        checks="looks",
        eps=0.0,
        restarts=True,
        test="gaussian",
        **more,
    ):
        super().__init__(*args, **more)
        self.alarm = gaussian_alarm if test == "gaussian" else alarm
        self.h, self.exploration, self.beta_scale = h, exploration, beta_scale
        self.checks, self.eps, self.tests = checks, eps, restarts
        self.looks = {}
        self.best = self.by_index()

    @property
    def rate(self):
        rate = 0.5 * math.sqrt(self.T / self.B / (self.K * self.B)) * math.sqrt(1 + self.restarts)
        return min(rate, 0.25 / self.K)

    @property
    def beta(self):
        return self.beta_scale * (math.log(self.B / (1 + self.restarts)) + 1)

    def by_index(self):
        root = math.sqrt(self.exploration * math.log(max(len(self.seen), self.K)))
        return largest_index(self.counts(), self.totals(), root, self.rng)

    def choose(self):
        if len(self.seen) < self.K:
            return self.best
        if self.checks == "forced":
            u = self.rng.random() / self.rate
            return int(u) if u < self.K else self.best
        if self.checks == "looks":
            self.look()
            if self.looks:
                u = self.rng.random()
                if u < 0.5:
                    return sorted(self.looks)[int(2 * u * len(self.looks))]
        return self.best

    def look(self):
        u = self.rng.random() / min(1 / self.K, 2 * self.rate / self.h)
        if u >= self.K:
            return
        arm, eps = int(u), self.eps or self.rng.random()
        mean = np.array(self.totals()) / self.counts()
        gap = mean.max() - mean[arm]
        if arm in self.looks or arm == self.best:
            return
        if gap <= eps and eps >= 2 * self.K * self.rate:
            left = math.ceil(self.beta / eps**2)
            self.looks[arm] = {"left": left, "walk": 0.0, "eps": eps, "mid": mean[arm] + eps / 2}

    def see(self, arm, reward):
        if look := self.looks.get(arm):
            look["walk"] += 4 * look["eps"] * (reward - look["mid"])
            look["left"] -= 1
            if look["walk"] <= -self.h or look["left"] <= 0:
                del self.looks[arm]
        self.seen.append((arm, reward))
        changed = self.tests and self.alarm(self.rewards(arm), self.beta)
        if changed:
            self.restarts += 1
            self.seen, self.looks = [], {}
        self.best = self.by_index()
        return changed

    def leading(self):
        return self.best


class Dal(Player):
    def __init__(
        self, *args, detector_data="forced", exploration=2.0, constant=4.0, alpha_scale=1.0, **more
    ):
        super().__init__(*args, **({"idle": "frequency"} | more))
        self.pooled, self.exploration = detector_data == "all", exploration
        self.constant = constant
        self.alpha = alpha_scale * math.sqrt(self.K * math.log(self.B) / self.B)
        self.order = list(range(self.K))
        for k in range(self.K - 1, 0, -1):
            pick = int(self.rng.integers(0, k + 1))
            self.order[k], self.order[pick] = self.order[pick], self.order[k]
        self.forced = []  # of the queries in `seen`, whether they were

    def base(self):
        """Plays and rewards that UCB1 learns from."""
        own = [
            (k, y)
            for (k, y), forced in zip(self.seen, self.forced, strict=True)
            if self.pooled or not forced
        ]
        plays = [sum(1 for k, _ in own if k == arm) for arm in range(self.K)]
        return plays, [sum(y for k, y in own if k == arm) for arm in range(self.K)]

    def by_index(self):
        plays, rewards = self.base()
        root = math.sqrt(self.exploration * math.log(max(sum(plays), self.K)))
        return largest_index(plays, rewards, root, self.rng)

    def choose(self):
        alpha = min(1.0, self.alpha * math.sqrt(1 + self.restarts))
        place = len(self.seen) % max(self.K, math.ceil(self.K / alpha))
        self.now_forced = place < self.K
        return self.order[place] if self.now_forced else self.by_index()

    def see(self, arm, reward):
        self.seen.append((arm, reward))
        self.forced.append(self.now_forced)
        if not (self.pooled or self.now_forced):
            return False
        tested = [
            y
            for (k, y), forced in zip(self.seen, self.forced, strict=True)
            if k == arm and (self.pooled or forced)
        ]
        beta = math.log(self.constant * math.sqrt(self.B)) + 1.5 * math.log(len(tested))
        changed = alarm(tested, beta)
        if changed:
            self.restarts += 1
            self.seen, self.forced = [], []
        return changed

    def leading(self):
        return self.by_index()


class Lepski(Player):
    """Every level's window is what it was when it was last due."""

    def __init__(self, *args, xi=0.5, test=0.5, **more):
        super().__init__(*args, **more)
        self.xi, self.test = xi, test
        self.low = math.ceil(math.log2(2 * self.K))
        self.last = {}  # level -> the first query of its window, and that after it
        self.start = 0

    def choose(self):
        return self.leading()

    def leading(self):
        plays, rewards = self.counts(self.start), self.totals(self.start)
        root = math.sqrt(self.xi * math.log(max(1, len(self.seen) - self.start)))
        index = [
            r / n + root * (1.0 / math.sqrt(n)) if n else math.inf
            for n, r in zip(plays, rewards, strict=True)
        ]
        return largest(index, self.rng)

    def see(self, arm, reward):
        self.seen.append((arm, reward))
        n = len(self.seen)
        level = self.low
        while n % 2**level == 0:
            self.last[level] = max(0, n - 8 * 2**level), n
            level += 1
        if n % 2**self.low == 0:
            self.start = self.agreed()
        return False

    def agreed(self):
        bounds = []
        for level in sorted(self.last):
            first, stop = self.last[level]
            own = []
            for k in range(self.K):
                y = [y for arm, y in self.seen[first:stop] if arm == k]
                mean = sum(y) / len(y) if y else 0.0
                radius = math.sqrt(self.test * math.log(self.B) / len(y)) if y else math.inf
                own.append((mean, radius))
            for other in bounds:
                for (m, r), (m2, r2) in zip(own, other, strict=True):
                    if abs(m - m2) > r + r2:
                        return self.last[level - 1][0]
            bounds.append(own)
        return 0

    def kept(self):
        return len(self.seen) - self.start

    def idle(self):
        if self.by_leader:
            return only(self.K, self.leading())
        return self.counts(self.start)


# --------------------------------------------------------------------------- elimination


class Eliminating(Player):
    """Idle rounds play the good arm of the largest mean in the episode."""

    def __init__(self, *args, **more):
        super().__init__(*args, **({"idle": "frequency"} | more))
        self.good = set(range(self.K))

    def idle(self):
        return super().idle() if self.seen else None

    def leading(self):
        plays, rewards = self.counts(), self.totals()
        means = [
            -2.0 if k not in self.good else rewards[k] / plays[k] if plays[k] else 2.0
            for k in range(self.K)
        ]
        return largest(means, self.rng)


class Meta(Eliminating):
    def __init__(self, *args, threshold="remark", scale=1.0, replay=1.0, **more):
        super().__init__(*args, **more)
        self.form, self.scale, self.replay = threshold, scale, replay
        self.begin()

    def begin(self):
        self.seen, self.estimates = [], []
        self.good = set(range(self.K))
        self.children = []  # replays: ages at which they begin and end, and their active arms

    def active(self):
        return self.children[-1][2] if self.children else self.good

    def choose(self):
        arms = sorted(self.active())
        return arms[int(self.rng.random() * len(arms))]

    def threshold(self, s):
        K, L = self.K, math.log(self.B)
        if self.form == "printed":
            return self.scale * L * math.sqrt(max(K * s, K**2))
        if self.form == "remark":
            return self.scale * math.sqrt(max(K * s * L, K**2 * L**2))
        L = 4 * math.log2(self.B) + math.log2(K)
        return self.scale * (math.e - 1) * (math.sqrt(K * L * s) + K * L)

    def see(self, arm, reward):
        estimate = np.zeros(self.K)
        estimate[arm] = len(self.active()) * reward
        self.seen.append((arm, reward))
        self.estimates.append(estimate)
        age = len(self.seen)
        for start in windows(age):
            total = np.sum(self.estimates[start:], axis=0)
            bar = self.threshold(age - start)
            worse = {k for k in range(self.K) if total.max() - total[k] > bar}
            self.good -= worse
            for began, _, arms in self.children:
                if began <= start:
                    arms -= worse
        if not self.good:
            self.restarts += 1
            self.begin()
            return True
        while self.children and age > self.children[-1][1]:
            self.children.pop()
        orders = range(math.ceil(math.log2(self.B)), 0, -1)
        chances = [min(1.0, self.replay / math.sqrt(2**m * age)) for m in orders]
        longest = begun(self.rng.random(), chances)
        if longest is not None:
            self.children.append((age, age + 2 ** orders[longest], set(range(self.K))))
        return False


class AdSwitch(Eliminating):
    def __init__(self, *args, C1=1.0, finest=1.0, **more):
        super().__init__(*args, **more)
        self.C1, self.finest = C1, finest
        self.last = list(range(self.K))
        for k in range(self.K - 1, 0, -1):
            pick = int(self.rng.integers(0, k + 1))
            self.last[k], self.last[pick] = self.last[pick], self.last[k]
        self.last = [x - self.K for x in self.last]
        self.queries = 0
        self.begin()

    def begin(self):
        self.seen = []
        self.good = set(range(self.K))
        self.bad = {}  # arm -> mean and gap when it turned bad
        self.checks = {k: [] for k in range(self.K)}  # plays of the arm at which each is done
        self.bounds = {k: [] for k in range(self.K)}  # of all intervals so far: mean, radius
        episode = 1 + self.restarts
        self.chance = min(1.0, math.sqrt(episode / (self.K * self.B * math.log(self.B))))
        self.slot = failures(self.chance, self.rng)

    def choose(self):
        while self.slot < self.K:
            if self.slot in self.bad:
                self.check(self.slot)
            self.slot += 1 + failures(self.chance, self.rng)
        self.slot -= self.K
        counts = self.counts()
        owed = {k for k in self.bad if any(counts[k] < n for n in self.checks[k])}
        arm = min(self.good | owed, key=lambda k: self.last[k])
        self.last[arm] = self.queries
        return arm

    def check(self, arm):
        gap = self.bad[arm][1]
        scales = [i for i in range(60, 0, -1) if i == 1 or 2.0**-i >= gap / self.finest]
        value = self.chance * self.rng.random()
        first = begun(value, [2.0**-i * self.chance for i in scales])
        if first is not None:
            n = math.ceil(2 ** (2 * scales[first] + 1) * math.log(self.B))
            self.checks[arm].append(self.counts()[arm] + n)

    def moved(self, arm):
        own, k = self.rewards(arm), 1
        while 2**k <= len(own):
            length = 2**k
            k += 1
            mean, radius = sum(own[-length:]) / length, math.sqrt(2 * math.log(self.B) / length)
            if arm in self.good:
                if self.bounds[arm]:
                    means, radii = np.array(self.bounds[arm]).T
                    if (abs(mean - means) > radius + radii).any():
                        return True
                if radius <= 1:
                    self.bounds[arm].append((mean, radius))
            elif abs(mean - self.bad[arm][0]) > self.bad[arm][1] / 4 + radius:
                return True
        return False

    def see(self, arm, reward):
        self.queries += 1
        self.seen.append((arm, reward))
        if self.moved(arm):
            self.restarts += 1
            self.begin()
            return True
        for start in windows(len(self.seen)):
            plays, rewards = self.counts(start), self.totals(start)
            means = {k: rewards[k] / plays[k] for k in self.good if plays[k]}
            for k in list(self.good):
                if plays[k] < 2:
                    continue
                gap = max(means.values()) - means[k]
                if gap > math.sqrt(self.C1 * math.log(self.B) / (plays[k] - 1)):
                    self.good.remove(k)
                    self.bad[k] = means[k], gap
        return False


class ArmSwitch(Eliminating):
    def __init__(self, *args, scale=1.0, confidence="log", **more):
        super().__init__(*args, **more)
        self.scale, self.printed = scale, confidence == "printed"
        self.begin()

    def begin(self):
        self.seen, self.marked, self.chances = [], [], []
        self.good = set(range(self.K))
        self.looks = {}  # bad arm -> ages at which its look begins and ends
        self.bound = 1 / math.sqrt(self.K)
        self.slot = failures(self.bound, self.rng)

    def choose(self):
        age = len(self.seen)
        while self.slot < self.K:
            chance = 1 / math.sqrt(self.K * (age + 1))
            scales = range(math.ceil(math.log2(self.B)), 0, -1)
            value = self.bound * self.rng.random()
            first = begun(value, [chance * 2.0**-i for i in scales])
            if first is not None and self.slot not in self.good:
                began, ends = self.looks.get(self.slot, (age, age))
                began = age if ends <= age else began
                ends = max(ends, age + self.K * 4 ** scales[first])
                self.looks[self.slot] = began, ends
            self.bound = chance
            self.slot += 1 + failures(self.bound, self.rng)
        self.slot -= self.K
        self.candidates = {k for k, (_, ends) in self.looks.items() if ends > age} | self.good
        u = self.K * self.rng.random()
        self.marked.append(u < len(self.candidates))
        m = len(self.candidates - self.good)
        self.chances.append((1 - m / self.K) / len(self.good))
        if self.marked[-1]:
            return sorted(self.candidates)[int(u)]
        return sorted(self.good)[int(len(self.good) * self.rng.random())]

    def see(self, arm, reward):
        self.seen.append((arm, reward))
        age, B, K = len(self.seen), self.B, self.K
        candidates = set(self.candidates)
        for start in windows(age):
            N = age - start
            delta = 1 / (math.sqrt(K) * B**1.5)
            level = math.log(2 * K * B**2 * (math.log(N) + 2) / delta)
            C = math.sqrt(level if self.printed else math.log(B))
            total = np.array(self.totals(start))
            marked = np.zeros(K)
            for (k, y), is_marked in zip(self.seen[start:], self.marked[start:], strict=True):
                marked[k] += y * is_marked
            inside = {k for k in candidates if k in self.good or self.looks[k][0] <= start}
            good = inside & self.good
            bar = self.scale * C * max(math.sqrt(N / K), C)
            lost = {k for k in inside if marked[list(inside)].max() - marked[k] > bar}
            if good:
                bar = self.scale * C * max(math.sqrt(sum(self.chances[start:])), C)
                lost |= {k for k in good if total[list(good)].max() - total[k] > bar}
            for k in lost:
                if k in self.good:
                    self.good.remove(k)
                    self.looks[k] = 0, 0
                candidates.discard(k)
                self.looks[k] = self.looks[k][0], 0
        if not self.good:
            self.restarts += 1
            self.begin()
            return True
        return False

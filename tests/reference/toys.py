"""Two small models in plain Python, with errors to plant: what the checks of samplers are checked on."""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.inference.schedule import Step

N_NORMAL, N_MIXTURE = 3, 5
CONCENTRATION, BASE_VARIANCE = 0.7, 4.0
SWEEP = (Step("gibbs"),)


class NormalTruth(NamedTuple):
    """Mean ~ N(0, variance), log variance ~ N(0, 1), data ~ N(mean, 1)."""

    mean: float
    log_variance: float


class NormalSampler:
    """Gibbs on the mean, random walk on the log variance; a state is a list of both."""

    def __init__(self, data, error):
        self.data, self.error = data, error

    def start(self, rng):
        return [0.0, 0.0]

    def refresh(self, state):
        """Nothing is kept besides the state."""

    def move(self, rng, state, step):
        for _ in range(step.times):
            variance = 1.0 / (math.exp(-state[1]) + len(self.data))
            spread = 1.5 * variance if self.error == "wrong conditional variance" else variance
            state[0] = variance * sum(self.data) + math.sqrt(spread) * rng.normal()
            proposal = state[1] + 2.0 * rng.normal()
            gain = self.log_conditional(state[0], proposal) - self.log_conditional(*state)
            if math.log1p(-rng.random()) < gain:
                state[1] = proposal

    def log_conditional(self, mean, log_variance):
        return -0.5 * (log_variance + mean**2 * math.exp(-log_variance) + log_variance**2)


class NormalModel(NamedTuple):
    """Hooks of the normal model; `error` names what is planted."""

    error: str = ""

    def draw_prior(self, rng):
        log_variance = rng.normal()
        return NormalTruth(math.exp(0.5 * log_variance) * rng.normal(), log_variance)

    def draw_data(self, rng, truth):
        return tuple((truth.mean + rng.normal(size=N_NORMAL)).tolist())

    def sampler(self, data):
        return NormalSampler(data, self.error)

    def state_from(self, sampler, truth):
        return list(truth)

    def redraw_data(self, rng, sampler, state):
        return self.sampler(self.draw_data(rng, NormalTruth(*state))), state

    def summarise(self, sampler, state):
        mean, log_variance = state
        return {
            "size of mean": math.log(abs(mean)),
            "positive": float(mean > 0.0),
            "mean": math.tanh(mean),
            "log_variance": log_variance,
            "log_variance^2": log_variance**2,
            "residual": sum(sampler.data) / N_NORMAL - mean,
        }


class MixtureTruth(NamedTuple):
    """A partition of five numbers; centres are integrated out."""

    labels: tuple[int, ...]


class MixtureSampler:
    """Collapsed Gibbs of a Chinese restaurant mixture of N(centre, 1), centre ~ N(0, 4); a state lists labels."""

    def __init__(self, data, error):
        self.data, self.error = data, error

    def start(self, rng):
        return [0] * len(self.data)

    def refresh(self, state):
        """Nothing is kept besides the state."""

    def move(self, rng, state, step):
        if self.error == "never moves":
            return
        for _ in range(step.times):
            for item in range(len(state)):
                state[item] = self.draw_label(rng, state, item)

    def draw_label(self, rng, state, item):
        sizes, sums = [0] * N_MIXTURE, [0.0] * N_MIXTURE
        for other, label in enumerate(state):
            if other != item or self.error == "item not removed":
                sizes[label] += 1
                sums[label] += self.data[other]
        weights = [self.weight(sizes[k], sums[k], self.data[item], k == state[item]) for k in range(N_MIXTURE)]
        for extra in [k for k in range(N_MIXTURE) if sizes[k] == 0][1:]:
            weights[extra] = 0.0  # one empty cluster is enough
        left = rng.random() * sum(weights)
        for label, weight in enumerate(weights):
            left -= weight
            if left < 0.0:
                return label
        return state[item]

    def weight(self, size, total, value, is_own):
        """Prior weight of a cluster without the item, times the item's predictive density."""
        prior = size or CONCENTRATION
        if size == 0 and self.error == "new-cluster term forgotten":
            prior = 1.0
        if size > 0 and is_own and self.error == "count not removed":
            prior = size + 1
        variance = 1.0 / (1.0 / BASE_VARIANCE + size)
        spread = 1.0 + variance
        return prior * math.exp(-0.5 * (value - variance * total) ** 2 / spread) / math.sqrt(spread)


class MixtureModel(NamedTuple):
    """Hooks of the mixture; `error` names what is planted."""

    error: str = ""

    def draw_prior(self, rng):
        labels: list[int] = []
        for i in range(N_MIXTURE):
            new = rng.random() * (CONCENTRATION + i) < CONCENTRATION
            labels.append(max(labels, default=-1) + 1 if new else labels[rng.integers(0, i)])
        return MixtureTruth(tuple(labels))

    def draw_data(self, rng, truth):
        centres = math.sqrt(BASE_VARIANCE) * rng.normal(size=N_MIXTURE)
        return tuple((centres[list(truth.labels)] + rng.normal(size=N_MIXTURE)).tolist())

    def sampler(self, data):
        return MixtureSampler(data, self.error)

    def state_from(self, sampler, truth):
        return list(truth.labels)

    def redraw_data(self, rng, sampler, state):
        return self.sampler(self.draw_data(rng, MixtureTruth(tuple(state)))), state

    def summarise(self, sampler, state):
        x = sampler.data
        sizes = [state.count(label) for label in set(state)]
        within = sum(
            (a - b) ** 2 for a, k in zip(x, state, strict=True) for b, m in zip(x, state, strict=True) if k == m
        )
        return {
            "n_clusters": float(len(sizes)),
            "largest": float(max(sizes)),
            "smallest": float(min(sizes)),
            "singletons": float(sizes.count(1)),
            "entropy": -sum(size / N_MIXTURE * math.log(size / N_MIXTURE) for size in sizes),
            "pair 0 1": float(state[0] == state[1]),
            "pair 2 4": float(state[2] == state[4]),
            "sum of squares": math.log(sum(value * value for value in x)),
            "within": math.log1p(within),
            "x0 x1": math.tanh(x[0] * x[1]),
            "range": max(x) - min(x),
            "log joint": log_joint(x, state),
        }


def log_joint(data: tuple[float, ...], labels: Any) -> float:
    """Log of the Chinese restaurant's weight and the marginal of each cluster, up to a constant."""
    total = 0.0
    for label in set(labels):
        members = [value for value, k in zip(data, labels, strict=True) if k == label]
        size, precision = len(members), 1.0 + BASE_VARIANCE * len(members)
        square = sum(value * value for value in members) - BASE_VARIANCE * sum(members) ** 2 / precision
        total += math.log(CONCENTRATION) + math.lgamma(size) - 0.5 * (math.log(precision) + square)
    return total


def visited(
    data: tuple[float, ...], error: str, rng: np.random.Generator, n_sweeps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Labels and log joint after each sweep of the mixture's sampler on fixed data."""
    sampler = MixtureSampler(data, error)
    state = sampler.start(rng)
    labels, scores = np.empty((n_sweeps, len(data)), np.int64), np.empty(n_sweeps)
    for sweep in range(n_sweeps):
        sampler.move(rng, state, SWEEP[0])
        labels[sweep], scores[sweep] = state, log_joint(data, state)
    return labels, scores

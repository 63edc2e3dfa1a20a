"""A small sampler for tests of the engine: a Dirichlet-process mixture of Gaussians of variance 1 by Gibbs sweeps."""

import dataclasses
import hashlib
import time

import numpy as np

from bayesgrove.inference.schedule import Schedule, Step


@dataclasses.dataclass
class ToyState:
    labels: np.ndarray
    sums: np.ndarray
    counts: np.ndarray


@dataclasses.dataclass(frozen=True)
class ToySampler:
    """Kept sums drift by rounding until `refresh` makes them anew, so that a wrong resume is seen in the bits.

    `pause` is a time to sleep in each move; `ragged` makes the shape of a draw vary.
    """

    values: tuple[float, ...] = (-2.1, -1.9, 0.1, 0.3, 2.2, 2.5)
    concentration: float = 0.7
    pause: float = 0.0
    ragged: bool = False

    def fingerprint(self):
        digest = hashlib.sha256(np.array(self.values).tobytes()).hexdigest()
        return {"model": "toy", "data": {"sha256": digest, "rows": len(self.values)}, "prior": self.concentration}

    def start(self, rng):
        state = ToyState(rng.integers(0, 2, len(self.values)), np.zeros(0), np.zeros(0))
        self.refresh(state)
        return state

    def move(self, rng, state, step):
        if self.pause:
            time.sleep(self.pause)
        moved = 0
        for _ in range(step.times):
            for item, value in enumerate(self.values):
                moved += self._resample(rng, state, item, value)
        return {"proposed": step.times * len(self.values), "accepted": moved}

    def _resample(self, rng, state, item, value):
        old = state.labels[item]
        state.counts[old] -= 1
        state.sums[old] -= value
        precision = state.counts + 0.25
        variance = 1 + 1 / precision
        log_weights = -0.5 * np.log(variance) - 0.5 * (value - state.sums / precision) ** 2 / variance
        empty = int(np.argmin(state.counts > 0))
        weights = np.exp(log_weights) * state.counts
        weights[empty] = np.exp(log_weights[empty]) * self.concentration
        new = int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum()))
        state.labels[item] = new
        state.counts[new] += 1
        state.sums[new] += value
        return int(new != old)

    def refresh(self, state):
        _, labels = np.unique(state.labels, return_inverse=True)
        state.labels[:] = labels
        size = len(self.values) + 1
        state.counts = np.bincount(labels, minlength=size).astype(float)
        state.sums = np.bincount(labels, np.array(self.values), size)

    def pack(self, state):
        return {"labels": state.labels}

    def unpack(self, arrays):
        state = ToyState(arrays["labels"], np.zeros(0), np.zeros(0))
        self.refresh(state)
        return state

    def draw(self, state):
        if self.ragged:
            return {"labels": state.labels, "sizes": state.counts[state.counts > 0]}
        return {"labels": state.labels}

    def scalars(self, state):
        return {"log_joint": float(state.sums @ state.sums), "n_clusters": float(np.count_nonzero(state.counts))}


class BrokenSampler(ToySampler):
    """Its log joint is nan when there are four clusters or more."""

    def scalars(self, state):
        n_clusters = float(np.count_nonzero(state.counts))
        return {"log_joint": np.nan if n_clusters >= 4 else 0.0, "n_clusters": n_clusters}


class FlatSampler:
    """The cheapest there is: labels change by a counter; to weigh the engine itself."""

    def __init__(self, n_items=5):
        self.n_items = n_items

    def fingerprint(self):
        return {"model": "flat", "rows": self.n_items}

    def start(self, rng):
        return np.zeros(self.n_items, np.int64)

    def move(self, rng, state, step):
        state[0] += 1
        return {"proposed": 1, "accepted": 1}

    def refresh(self, state):
        pass

    def pack(self, state):
        return {"labels": state}

    def unpack(self, arrays):
        return arrays["labels"]

    def draw(self, state):
        return {"labels": state}

    def scalars(self, state):
        return {"log_joint": 1.0, "n_clusters": 2.0, "entropy": 0.5, "largest": 0.3}


SCHEDULE = Schedule((Step("gibbs"),), (Step("gibbs"), Step("again")), n_tune=15, thin=2, refresh=7)


def digest(results):
    """sha256 over all draws and scalars of all chains."""
    whole = hashlib.sha256()
    for result in results:
        for named in (result.draws, result.scalars):
            for name, values in named.items():
                whole.update(f"{result.chain} {name} {values.shape} {values.dtype}".encode())
                rows = values if values.dtype == object else [values]
                for row in rows:
                    whole.update(np.ascontiguousarray(row).tobytes())
    return whole.hexdigest()

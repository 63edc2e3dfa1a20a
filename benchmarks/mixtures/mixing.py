"""Effective draws per second on toy1300: samplers take turns on the same budget of CPU time."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.inference.chain import begin
from bayesgrove.inference.diagnostics import mixing
from bayesgrove.models.nrm.sampler import MixtureSampler
from benchmarks.mixtures.chains import FIXED, paper_prior, prepare, schedule_for, start, sweeps, warm_up
from benchmarks.mixtures.data import toy1300

SAMPLERS = ("tree-guided", "gibbs", "split-merge")
SCALARS = ("log_joint", "n_clusters")
N_CHAINS, N_ROUNDS = 4, 10
STARTS = ("burnt in", "one cluster")
"""Where tree-guided chains have burnt in, for all alike: how well each mixes once it is there, the burn-in a gift. Or
all rows together: the first half of each chain is thrown away, its time counts."""
WANTED = 3.0


@dataclass
class Run:
    """One chain of one sampler, what it has shown so far, and its CPU seconds."""

    sampler: MixtureSampler
    state: Any
    chain: Iterator[None]
    seen: list[tuple[float, ...]] = field(default_factory=list)
    seconds: float = 0.0

    def go_on(self, seconds: float) -> None:
        """Sweep for so long."""
        first = now = time.process_time()
        while now < first + seconds:
            next(self.chain)
            scalars = self.sampler.scalars(self.state)
            self.seen.append(tuple(scalars[name] for name in SCALARS))
            now = time.process_time()
        self.seconds += now - first


def measure(seed: int, budget: float, n_burn: int = 300) -> list[dict[str, Any]]:
    """One row a start, scalar and sampler."""
    X = toy1300()
    if X is None:
        return [{"part": "mixing", "data": "toy1300", "note": "not measured: set BAYESGROVE_DATA to the data's folder"}]
    warm_up(X, paper_prior(X), FIXED)
    burnt_in = [_burnt_in(X, seed, chain, n_burn) for chain in range(N_CHAINS)]
    firsts = dict(zip(STARTS, (burnt_in, [np.zeros(len(X), np.int64)] * N_CHAINS), strict=True))
    return [row for name, labels in firsts.items() for row in _from(X, name, labels, seed, budget)]


def _from(X: np.ndarray, start_name: str, firsts: list[np.ndarray], seed: int, budget: float) -> list[dict[str, Any]]:
    """All samplers from one start, in turns."""
    runs = {name: [_begin(X, name, first, seed, chain) for chain, first in enumerate(firsts)] for name in SAMPLERS}
    for _ in range(N_ROUNDS):
        for chains in runs.values():
            for run in chains:
                run.go_on(budget / (N_ROUNDS * N_CHAINS))
    share_dropped = 0.0 if start_name == STARTS[0] else 0.5
    found = {name: _effective(chains, share_dropped) for name, chains in runs.items()}
    return [{**row, "start": start_name} for row in _rows(found)]


def _burnt_in(X: np.ndarray, seed: int, chain: int, n_burn: int) -> np.ndarray:
    sampler = prepare(X, seed, "guide", paper_prior(X), FIXED)
    position = start(sampler, seed, chain)
    walk = sweeps(sampler, schedule_for("tree-guided", len(X), n_tune=n_burn // 2), position)
    for _ in range(n_burn):
        next(walk)
    return sampler.labels(position.state)


def _begin(X: np.ndarray, name: str, first: np.ndarray, seed: int, chain: int) -> Run:
    sampler = prepare(X, seed, first, paper_prior(X), FIXED)
    position = begin(sampler, generator(seed, 3, chain))
    return Run(sampler, position.state, sweeps(sampler, schedule_for(name, len(X), n_tune=0), position))


def _effective(chains: list[Run], share_dropped: float) -> dict[str, Any]:
    """r_hat and effective draws per CPU second of each scalar; chains are cut to the shortest, then their beginning."""
    length = min(len(run.seen) for run in chains)
    values = np.array([run.seen[int(share_dropped * length) : length] for run in chains])
    seconds = sum(run.seconds * length / len(run.seen) for run in chains)
    found: dict[str, Any] = {"sweeps": N_CHAINS * length, "cpu_seconds": seconds}
    for place, name in enumerate(SCALARS):
        column = np.ascontiguousarray(values[:, :, place])
        r_hat, bulk = mixing(column)[:2] if np.ptp(column) > 0 else (np.nan, np.nan)
        found[name] = {"r_hat": r_hat, "ess": bulk, "ess_per_second": bulk / seconds}
    return found


def _rows(found: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for scalar in SCALARS:
        gibbs = found["gibbs"][scalar]["ess_per_second"]
        for name, values in found.items():
            row = {"part": "mixing", "data": "toy1300", "who": name, "scalar": scalar, "sweeps": values["sweeps"]}
            row |= {"cpu_seconds": values["cpu_seconds"], **values[scalar]}
            row["this_over_gibbs"] = values[scalar]["ess_per_second"] / gibbs
            if name == "tree-guided" and scalar == "log_joint":
                row |= {"wanted": f">= {WANTED:g}", "holds": bool(row["this_over_gibbs"] >= WANTED)}
            rows.append(row)
    return rows

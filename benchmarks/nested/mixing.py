"""Effective draws per second of level 1 on Animals: path moves take turns on the same budget of CPU time."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.inference.diagnostics import mixing
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.state import ROOT, Tree
from benchmarks.nested.chains import REFRESH, animal_rows, burnt_in, make_sampler, steps_of, sweep

MOVES = {
    "paper's move": {"path": "mh", "regraft": False},
    "Gibbs": {"path": "gibbs", "regraft": False},
    "Gibbs + regraft": {"path": "gibbs", "regraft": True},
}
SCALARS = ("n_level_1", "largest_share")
N_CHAINS, N_ROUNDS, BURN_IN = 4, 10, 500
WANTED = 10.0


@dataclass
class Run:
    """One chain of one move, what level 1 was like so far, and the CPU seconds of its sweeps."""

    sampler: NestedSampler
    state: Any
    rng: np.random.Generator
    steps: Any
    seen: list[tuple[float, float]] = field(default_factory=list)
    seconds: float = 0.0

    def go_on(self, seconds: float) -> None:
        """Sweep for so long; looking at the state is not timed."""
        end = self.seconds + seconds
        while self.seconds < end:
            start = time.process_time()
            sweep(self.sampler, self.rng, self.state, self.steps, 1)
            if len(self.seen) % REFRESH == 0:
                self.sampler.refresh(self.state)
            self.seconds += time.process_time() - start
            self.seen.append(first_level(self.state.tree))


def first_level(tree: Tree) -> tuple[float, float]:
    """Number of the root's children, and the share of the largest."""
    sizes, child = [], int(tree.first_child[ROOT])
    while child != NULL:
        sizes.append(int(tree.count[child]))
        child = int(tree.next_sibling[child])
    return float(len(sizes)), max(sizes) / tree.leaf.size


def measure(seed: int, budget: float) -> list[dict[str, Any]]:
    """One row a statistic and move, at C = 0; `budget` CPU seconds for each move."""
    X = animal_rows()
    if X is None:
        return [{"part": "mixing", "data": "Animals", "note": "not measured: set BAYESGROVE_DATA to the data's folder"}]
    runs = {name: [begin(X, options, seed + chain) for chain in range(N_CHAINS)] for name, options in MOVES.items()}
    for _ in range(N_ROUNDS):
        for chains in runs.values():
            for run in chains:
                run.go_on(budget / (N_ROUNDS * N_CHAINS))
    return rows_of({name: effective(chains) for name, chains in runs.items()})


def begin(X: np.ndarray, options: dict[str, Any], seed: int) -> Run:
    """A chain of a move where default sweeps have settled, a gift to all alike."""
    sampler = make_sampler(X)
    state, rng = burnt_in(sampler, seed, BURN_IN)
    run = Run(sampler, state, rng, steps_of(sampler, **options))
    sweep(sampler, rng, state, run.steps, 2)  # compile
    return run


def effective(chains: list[Run]) -> dict[str, Any]:
    """Effective draws per CPU second of each statistic; chains are cut to the shortest."""
    length = min(len(run.seen) for run in chains)
    values = np.array([run.seen[:length] for run in chains])
    seconds = sum(run.seconds * length / len(run.seen) for run in chains)
    found: dict[str, Any] = {"sweeps": N_CHAINS * length, "cpu_seconds": seconds}
    for place, name in enumerate(SCALARS):
        r_hat, bulk = mixing(np.ascontiguousarray(values[:, :, place]))[:2]
        found[name] = {"r_hat": r_hat, "ess": bulk, "ess_per_second": bulk / seconds}
    return found


def rows_of(found: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Every move against the paper's."""
    first, *_, last = MOVES
    rows = []
    for scalar in SCALARS:
        slow = found[first][scalar]["ess_per_second"]
        for name, values in found.items():
            row = {"part": "mixing", "data": "Animals", "who": name, "scalar": scalar, "sweeps": values["sweeps"]}
            row |= {"cpu_seconds": values["cpu_seconds"], **values[scalar]}
            row["over_paper_move"] = values[scalar]["ess_per_second"] / slow
            if name == last and scalar == SCALARS[0]:
                row |= {"wanted": f">= {WANTED:g}", "holds": bool(row["over_paper_move"] >= WANTED)}
            rows.append(row)
    return rows

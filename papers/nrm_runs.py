"""Chains of the mixture experiments: all samplers from one start, for the same CPU time."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.inference.diagnostics import mixing
from bayesgrove.models.nrm.guide import make_guide
from bayesgrove.models.nrm.paper import paper_sweep
from bayesgrove.models.nrm.paper_sampler import PaperSampler
from bayesgrove.models.nrm.points import euclidean_points
from bayesgrove.models.nrm.process import Process
from bayesgrove.models.nrm.sampler import make_sampler
from bayesgrove.models.nrm.schedules import schedule_of
from bayesgrove.models.nrm.starts import GivenLabels
from papers.nrm_cases import MixtureCase
from papers.nrm_ratios import log_ratio

GIBBS, SPLIT_MERGE, PRINTED, OURS = "Gibbs", "split-merge", "as printed", "ours"
SAMPLERS = {GIBBS: "gibbs", SPLIT_MERGE: "split-merge", PRINTED: "paper:code", OURS: "tree-guided"}
"""Names in tables -> names of schedules. As printed: 10 global moves and a local one, as in the authors' program."""
REFRESH, N_PROBES = 10, 4
"""Sweeps between fresh statistics, and proposals whose ratio is computed then."""
BURN_IN = 0.25
"""Share of a run's sweeps left out of laws and effective sample sizes."""
FEWEST = 20
"""Sweeps after burn-in that an effective sample size asks for."""
GUIDE_PATH, CHAIN_PATH, PROBE_PATH = 0x6D1D, 0xCA1A, 0x0DD5


class Run(NamedTuple):
    """One chain, sweep by sweep."""

    seconds: np.ndarray
    """CPU seconds since the first sweep began."""
    log_joint: np.ndarray
    n_clusters: np.ndarray
    log_r: np.ndarray
    """Of split-merge proposals: of the printed sampler all, of others some in every tenth sweep."""
    labels: np.ndarray
    """Of the sweep with the largest log joint."""

    @property
    def later(self) -> slice:
        """Sweeps after burn-in."""
        return slice(int(BURN_IN * self.log_joint.size), None)


class Chain:
    """A sampler at work: its state, and the ratios of its proposals."""

    def __init__(self, case: MixtureCase, process: Process, name: str, first: np.ndarray, seed: int) -> None:
        self.schedule = schedule_of(SAMPLERS[name], len(case.values), n_tune=0)
        self.sampler = sampler_of(case, process, name, first)
        self.rng, self.probe_rng = generator(seed, CHAIN_PATH), generator(seed, PROBE_PATH)
        self.state = self.sampler.start(self.rng)
        self.laws = [law for step in self.schedule.draw for law in step.options.get("laws", ())]
        self.log_r: list[float] = []

    def sweep(self) -> None:
        """All moves of a sweep."""
        for step in self.schedule.draw:
            if step.move == "paper":
                state, sampler = self.state, self.sampler
                found = paper_sweep(
                    self.rng, sampler.prior, sampler.values, state.forest, state.log_kappa, **step.options
                )
                self.log_r += found.log_r.tolist()
            else:
                self.sampler.move(self.rng, self.state, step)

    def probe(self) -> None:
        """Ratios of proposals by each law of the schedule."""
        for law in self.laws:
            found = [log_ratio(self.probe_rng, self.sampler, self.state, law) for _ in range(N_PROBES)]
            self.log_r += [value for value in found if value is not None]


def sampler_of(case: MixtureCase, process: Process, name: str, first: np.ndarray) -> Any:
    """The sampler of a name, which begins with given labels."""
    start = GivenLabels(first)
    if name == PRINTED:
        return PaperSampler(case.prior, case.values, process, case.log_measure, start, {})
    guide = make_guide(generator(0, GUIDE_PATH), euclidean_points(case.prior, case.values))
    return make_sampler(case.prior, case.values, guide, process, (), case.log_measure, start, {})


def run_chain(case: MixtureCase, process: Process, name: str, first: np.ndarray, seed: int, seconds: float) -> Run:
    """Sweeps until the CPU time is over, at least two; what is compiled is compiled before the clock starts."""
    warm_up(case, process, name, first)
    chain, spent = Chain(case, process, name, first, seed), 0.0
    seen: list[tuple[float, float, float]] = []
    labels, best = first, -np.inf
    while spent < seconds or len(seen) < 2:
        begin = time.process_time()
        chain.sweep()
        if (len(seen) + 1) % REFRESH == 0:
            chain.sampler.refresh(chain.state)
        spent += time.process_time() - begin
        scalars = chain.sampler.scalars(chain.state)
        seen.append((spent, scalars["log_joint"], scalars["n_clusters"]))
        if scalars["log_joint"] > best:
            best, labels = scalars["log_joint"], chain.sampler.draw(chain.state)["labels"].astype(np.int64)
        if len(seen) % REFRESH == 0:
            chain.probe()
    at, log_joint, n_clusters = np.array(seen).T
    return Run(at, log_joint, n_clusters, np.array(chain.log_r), labels)


def warm_up(case: MixtureCase, process: Process, name: str, first: np.ndarray) -> None:
    """Everything once on a few rows."""
    few = case._replace(values=np.ascontiguousarray(case.values[:FEWEST]))
    chain = Chain(few, process, name, first[:FEWEST], 0)
    chain.sweep()
    chain.sampler.refresh(chain.state)
    chain.sampler.scalars(chain.state)
    chain.sampler.draw(chain.state)
    chain.probe()


# What runs show


def best_log_joint(run: Run) -> float:
    """The largest log joint of a run."""
    return float(run.log_joint.max())


def reached_after(run: Run, level: float) -> float:
    """CPU seconds until the log joint is first as large; infinite if it never is."""
    there = np.flatnonzero(run.log_joint >= level)
    return float(run.seconds[there[0]]) if there.size else np.inf


def seconds_per_sweep(run: Run) -> float:
    """CPU seconds of a sweep."""
    return float(run.seconds[-1] / run.seconds.size)


def distance_of_ratio(run: Run) -> float:
    """How far the mean log ratio of proposals is from 0; nan where there are none."""
    return abs(float(run.log_r.mean())) if run.log_r.size else np.nan


def effective_draws(values: np.ndarray) -> float:
    """Bulk effective sample size of one chain; 0 for one that never moves, nan for one too short to tell."""
    if values.size < FEWEST:
        return np.nan
    return 0.0 if np.ptp(values) == 0.0 else mixing(values[None, :])[1]


def effective_per_second(run: Run) -> float:
    """Effective draws of the log joint, after burn-in, by CPU second."""
    kept = run.log_joint[run.later]
    return effective_draws(kept) / (seconds_per_sweep(run) * kept.size)


def law_of_clusters(runs: Sequence[Run]) -> dict[int, float]:
    """Shares of sweeps by number of clusters, every run counting alike."""
    found: dict[int, float] = {}
    for run in runs:
        numbers, counts = np.unique(run.n_clusters[run.later], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            found[int(number)] = found.get(int(number), 0.0) + count / (counts.sum() * len(runs))
    return dict(sorted(found.items()))

"""`PaperSampler`: the published sampler as the engine sees it. It does not leave the posterior invariant."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.inference.schedule import Step
from bayesgrove.models.nrm.forest import Forest, forest_labels, refresh_forest, sorted_roots
from bayesgrove.models.nrm.packing import pack_forest, start_forest, unpack_forest
from bayesgrove.models.nrm.paper import paper_sweep
from bayesgrove.models.nrm.process import (
    Process,
    draw_process,
    fill_log_kappa,
    log_constant,
    log_kappa_table,
    start_numbers,
)
from bayesgrove.models.nrm.sampler import fingerprint_of, smallest_type, varying_numbers
from bayesgrove.stats.partitions import relabel


@dataclass(eq=False)
class PaperState:
    """A forest with a tree per cluster, and the numbers of the process."""

    forest: Forest
    numbers: np.ndarray
    log_kappa: np.ndarray


@dataclass(frozen=True, eq=False)
class PaperSampler:
    """Moves "paper" (global and local moves of a sweep) and "process"; the likelihood's numbers stay as they are.

    Attributes are those of `MixtureSampler`; rows are in their own order.
    """

    prior: Any
    values: np.ndarray
    process: Process
    log_measure: float
    first_labels: Callable[[np.random.Generator], np.ndarray]
    about: Mapping[str, Any]

    @property
    def n_items(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    def fingerprint(self) -> dict[str, Any]:
        """Settings, and hashes of the data and of the numbers that came from them."""
        return fingerprint_of(self.prior, self.values, self.process, (), self.about)

    def start(self, rng: np.random.Generator) -> PaperState:
        """Rows of each first cluster, inserted in their order into one tree."""
        labels = relabel(self.first_labels(rng))
        numbers = start_numbers(self.process, self.n_items)
        log_kappa = self._log_kappa(numbers)
        return PaperState(start_forest(self.prior, self.values, log_kappa, labels), numbers, log_kappa)

    def _log_kappa(self, numbers: np.ndarray) -> np.ndarray:
        return log_kappa_table(self.process, numbers, self.n_items)

    def move(self, rng: np.random.Generator, state: PaperState, step: Step) -> Mapping[str, int]:
        """A sweep of the published sampler, or the numbers of the process."""
        if step.move == "paper":
            return self._sweep(rng, state, step)
        if step.move == "process":
            return self._process(rng, state, step)
        raise InvalidSettingError(f"a move is 'paper' or 'process', got {step.move!r}.")

    def _sweep(self, rng: np.random.Generator, state: PaperState, step: Step) -> Mapping[str, int]:
        counts = {"splits": 0, "splits_accepted": 0, "merges": 0, "merges_accepted": 0}
        for _ in range(step.times):
            found = paper_sweep(rng, self.prior, self.values, state.forest, state.log_kappa, **step.options)
            counts["splits"] += found.splits_proposed
            counts["splits_accepted"] += found.splits_accepted
            counts["merges"] += found.merges_proposed
            counts["merges_accepted"] += found.merges_accepted
        return counts

    def _process(self, rng: np.random.Generator, state: PaperState, step: Step) -> Mapping[str, int]:
        if not self.process.varies:
            return {}
        sizes = np.bincount(forest_labels(state.forest))
        for _ in range(step.times):
            draw_process(rng, self.process, state.numbers, sizes, self.n_items)
        fill_log_kappa(self.process.kind, state.numbers, state.log_kappa)
        refresh_forest(self.prior, self.values, state.forest, state.log_kappa)
        return {}

    def refresh(self, state: PaperState) -> None:
        """The forest again from its shape: also the places of its nodes are then those of a resumed run."""
        fresh = self.unpack(self.pack(state))
        state.forest, state.log_kappa = fresh.forest, fresh.log_kappa

    def pack(self, state: PaperState) -> dict[str, np.ndarray]:
        """The shape of the forest and the numbers."""
        return {"pairs": pack_forest(state.forest)["pairs"], "numbers": state.numbers.copy()}

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> PaperState:
        """The state of a shape and numbers."""
        numbers = arrays["numbers"].copy()
        log_kappa = self._log_kappa(numbers)
        return PaperState(unpack_forest(self.prior, self.values, log_kappa, arrays), numbers, log_kappa)

    def draw(self, state: PaperState) -> dict[str, np.ndarray]:
        """Labels by first appearance."""
        return {"labels": relabel(forest_labels(state.forest)).astype(smallest_type(self.n_items))}

    def scalars(self, state: PaperState) -> dict[str, float]:
        """Log joint, number of clusters, and all numbers that change."""
        roots = sorted_roots(state.forest)
        log_joint = float(state.forest.log_phi[roots].sum())
        log_joint += float(log_constant(self.process.kind, state.numbers, self.n_items)) + self.log_measure
        found = {"log_joint": log_joint, "n_clusters": float(roots.size)}
        return {**found, **varying_numbers(self.process, state.numbers)}

"""`MixtureSampler`: the mixture as the engine sees it."""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesgrove.core.errors import NumericalError
from bayesgrove.core.jit import kernel
from bayesgrove.inference.schedule import Step, chosen_move
from bayesgrove.models.nrm.anchors import Options, split_merge_moves
from bayesgrove.models.nrm.gibbs import gibbs_points
from bayesgrove.models.nrm.guide import Guide, weigh_guide
from bayesgrove.models.nrm.hyper import draw_factors, free_places, scaled
from bayesgrove.models.nrm.local import draw_local_points
from bayesgrove.models.nrm.process import (
    ALPHA,
    GENERALISED_GAMMA,
    SIGMA,
    Process,
    V,
    draw_process,
    process_tables,
    start_log_kappa,
    start_numbers,
)
from bayesgrove.models.nrm.split_merge import LAWS, N_TALLIES
from bayesgrove.models.nrm.starts import GuideStart
from bayesgrove.models.nrm.state import (
    State,
    fill_alone,
    grow,
    log_joint_of,
    new_state,
    rebuild,
    refill,
)
from bayesgrove.scoring.row_scorers import choose_scorer

TALLY_NAMES = ("splits", "splits_accepted", "merges", "merges_accepted")


@kernel
def normal_form(labels, row_at, out):
    """Labels of the rows in their own order, numbered by first appearance, to `out`; `labels` are in leaf order."""
    n = labels.size
    by_row, number = np.empty(n, np.int64), np.full(n, -1)
    for place in range(n):
        by_row[row_at[place]] = labels[place]
    n_seen = 0
    for row in range(n):
        k = by_row[row]
        if number[k] < 0:
            number[k] = n_seen
            n_seen += 1
        out[row] = number[k]


def smallest_type(n_items: int) -> np.dtype:
    """The smallest type that holds the labels of so many items."""
    return np.min_scalar_type(n_items - 1)


def hash_of(*arrays: np.ndarray) -> str:
    """A short hash of some arrays."""
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def fingerprint_of(
    prior: Any, rows: np.ndarray, process: Process, free: tuple[str, ...], about: Mapping[str, Any]
) -> dict[str, Any]:
    """What tells a mixture and its data from others, in JSON's types."""
    numbers = hashlib.sha256()
    for field in prior:
        numbers.update(np.ascontiguousarray(field, float).tobytes())
    return {
        **about,
        "process": process.flat(),
        "learned": list(free),
        "n_rows": rows.shape[0],
        "n_columns": rows.shape[1],
        "data": hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()[:16],
        "likelihood_numbers": numbers.hexdigest()[:16],
    }


def varying_numbers(process: Process, numbers: np.ndarray) -> dict[str, float]:
    """The numbers of the process that change from draw to draw."""
    found = {}
    if process.kind == GENERALISED_GAMMA:
        found["log_u"] = float(numbers[V])
    if process.free_alpha:
        found["concentration"] = float(numbers[ALPHA])
    if process.free_sigma:
        found["sigma"] = float(numbers[SIGMA])
    return found


@dataclasses.dataclass(frozen=True, eq=False)
class MixtureSampler:
    """A mixture of one data set: see `inference.sampler.Sampler` for the methods."""

    prior: Any
    """Of the likelihood, as the chain begins."""
    values: np.ndarray
    """(n, d): encoded rows in the guide's order."""
    guide: Guide
    process: Process
    free: tuple[str, ...]
    """Names of the likelihood's numbers that are learned."""
    log_measure: float
    """From encoded densities to those of the raw data."""
    first_labels: Callable[[np.random.Generator], np.ndarray]
    """`first_labels(rng)` gives labels of the rows in their own order."""
    about: Mapping[str, Any]
    """What else tells this model from others, in JSON's types."""

    @property
    def n_items(self) -> int:
        """Number of what moves: rows."""
        return int(self.values.shape[0])

    @property
    def n_rows(self) -> int:
        """Number of rows, as the process counts them."""
        return self.n_items

    @property
    def parallel(self) -> str:
        """Threads share the data; sweeps of a few rows are mostly Python, which processes run side by side."""
        return "processes" if self.n_items < 300 else "threads"

    @property
    def label_type(self) -> np.dtype:
        """The smallest type that holds every label."""
        return smallest_type(self.n_rows)

    def fingerprint(self) -> dict[str, Any]:
        """Settings, and hashes of the data and of the numbers that came from them."""
        rows = np.empty_like(self.values)
        rows[self.guide.order] = self.values
        about = fingerprint_of(self.prior, rows, self.process, self.free, self.about)
        return {**about, "guide": hash_of(self.guide.order, self.guide.key)}

    def start(self, rng: np.random.Generator) -> State:
        """The first labels, u at n, the likelihood's numbers as given."""
        labels = self._in_guide(np.asarray(self.first_labels(rng)))
        numbers = start_numbers(self.process, self.n_rows)
        return self._new_state(labels, numbers, np.zeros(len(self.free)))

    def _new_state(self, labels: np.ndarray, numbers: np.ndarray, log_factors: np.ndarray) -> State:
        tables = process_tables(self.process, numbers, self.n_rows, int(labels.max()) + 1)
        return new_state(self.scorer(log_factors), self.values, labels, tables, numbers, log_factors)

    def _in_guide(self, labels: np.ndarray) -> np.ndarray:
        """Labels in the guide's order from those of the rows in their own."""
        return labels[self.guide.order]

    def _scorer_of(self, state: State) -> Any:
        """The scorer with a state's numbers."""
        return self.scorer(state.log_factors)

    def _cluster_sizes(self, state: State) -> np.ndarray:
        """Numbers of rows."""
        return state.clusters.sizes[: state.clusters.n_clusters[0]]

    def scorer(self, log_factors: np.ndarray) -> Any:
        """The scorer of the likelihood with these log factors on its learned numbers."""
        prior = scaled(self.prior, self._places, log_factors)
        return choose_scorer(prior, self.n_items, complete=self._complete)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", free_places(self.prior, self.free))
        object.__setattr__(self, "_complete", not bool(np.isnan(self.values).any()))

    _places: np.ndarray = dataclasses.field(init=False, repr=False)
    _complete: bool = dataclasses.field(init=False, repr=False)

    # ---- moves

    def move(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """One of "gibbs", "anchors", "local", "process", "likelihood"."""
        return chosen_move(MOVES, step)(self, rng, state, step)

    def _gibbs(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Scans over all points, or a uniform subset, in random order."""
        n_points = min(self.n_items, int(step.options.get("n_points", self.n_items)))
        for _ in range(step.times):
            is_whole = n_points == self.n_items
            points = rng.permutation(n_points) if is_whole else rng.choice(self.n_items, n_points, replace=False)
            self._move_points(rng, state, points)
        return {}

    def _local(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Points below a node of the guide."""
        depth, most = int(step.options.get("depth", 2)), int(step.options.get("most", 1_000))
        for _ in range(step.times):
            self._move_points(rng, state, draw_local_points(rng, self.guide, depth, most))
        return {}

    def _move_points(self, rng: np.random.Generator, state: State, points: np.ndarray) -> None:
        done = 0
        while True:
            done = gibbs_points(rng, state.scorer, self.values, state.clusters, state.weights, points, done)
            if done == points.size:
                return
            if done < 0:
                row = self._row_at(int(points[-1 - done]))
                raise NumericalError(
                    f"no cluster, old or new, is possible for row {row}: its densities are not finite. "
                    "Look for extreme cells.",
                    row=row,
                )
            self._make_room(state)

    def _row_at(self, place: int) -> int:
        """The row at a place of the guide."""
        return int(self.guide.order[place])

    def _anchors(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """Split-merge moves; the distributions of the step take turns."""
        if self.n_items < 2:
            return {}
        laws = step.options.get("laws", ("uniform", "tree"))
        codes = np.array([LAWS[laws[k % len(laws)]] for k in range(step.times)], np.int64)
        options = Options(p_split=float(step.options.get("p_split", 0.5)), n_scans=int(step.options.get("n_scans", 0)))
        tallies, done = np.zeros(N_TALLIES, np.int64), 0
        while True:
            done = split_merge_moves(
                rng, state.scorer, self.values, state.clusters, state.weights, self.guide, codes, options, done, tallies
            )
            if done == codes.size:
                return dict(zip(TALLY_NAMES, tallies.tolist(), strict=True))
            self._make_room(state)

    def _process(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """u, concentration and sigma."""
        if not self.process.varies:
            return {}
        sizes = self._cluster_sizes(state)
        for _ in range(step.times):
            draw_process(rng, self.process, state.numbers, sizes, self.n_rows)
        self._weigh(state)
        return {}

    def _weigh(self, state: State) -> None:
        """The tables of the process again."""
        n_clusters = int(state.clusters.n_clusters[0])
        log_kappa, log_v = process_tables(self.process, state.numbers, self.n_rows, n_clusters)
        state.weights = state.weights._replace(log_kappa=log_kappa, log_v=log_v)

    def _make_room(self, state: State) -> None:
        """More clusters than arrays or tables have room for."""
        if state.clusters.n_clusters[0] + 1 >= state.clusters.sizes.size:
            state.clusters = grow(state.clusters)
        if state.clusters.n_clusters[0] + 1 >= state.weights.log_v.size:
            self._weigh(state)

    def _likelihood(self, rng: np.random.Generator, state: State, step: Step) -> Mapping[str, int]:
        """The likelihood's learned numbers, a slice step each time."""
        if not self.free:
            return {}
        clusters = state.clusters
        n_clusters = int(clusters.n_clusters[0])
        state.log_factors = draw_factors(
            rng, self.prior, self._places, state.log_factors, clusters.rows, n_clusters, step.times
        )
        state.scorer = self._scorer_of(state)
        refill(state.scorer, clusters)
        fill_alone(state.scorer, self.values, state.weights.alone)
        return {}

    # ---- what is stored

    def refresh(self, state: State) -> None:
        """Number the clusters by first appearance and compute everything again from the data."""
        state.clusters.labels[:] = self._in_guide(self.labels(state))
        state.scorer = self._scorer_of(state)
        rebuild(state.scorer, self.values, state.clusters)
        self._weigh(state)
        fill_alone(state.scorer, self.values, state.weights.alone)

    def labels(self, state: State) -> np.ndarray:
        """Labels of the rows in their own order, by first appearance."""
        out = np.empty(self.n_items, self.label_type)
        normal_form(state.clusters.labels, self.guide.order, out)
        return out

    def pack(self, state: State) -> dict[str, np.ndarray]:
        """Labels and numbers."""
        return {"labels": self.labels(state), "numbers": state.numbers.copy(), "log_factors": state.log_factors.copy()}

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> State:
        """The state of labels and numbers."""
        labels = self._in_guide(arrays["labels"].astype(np.int64))
        return self._new_state(labels, arrays["numbers"].copy(), arrays["log_factors"].copy())

    def draw(self, state: State) -> dict[str, np.ndarray]:
        """Labels."""
        return {"labels": self.labels(state)}

    def scalars(self, state: State) -> dict[str, float]:
        """Log joint, number of clusters, and all numbers that change."""
        clusters, process = state.clusters, self.process
        n_clusters = int(clusters.n_clusters[0])
        log_joint = log_joint_of(
            process.kind, state.numbers, state.weights, clusters.sizes, clusters.log_marginal,
            n_clusters, self.n_rows,
        )  # fmt: skip
        found = {"log_joint": log_joint + self.log_measure, "n_clusters": float(n_clusters)}
        found |= varying_numbers(process, state.numbers)
        for name, value in zip(self.free, state.log_factors, strict=True):
            found[f"log_factor_{name}"] = float(value)
        return found


MOVES: dict[str, Callable[[MixtureSampler, np.random.Generator, State, Step], Mapping[str, int]]] = {
    "gibbs": MixtureSampler._gibbs,
    "anchors": MixtureSampler._anchors,
    "local": MixtureSampler._local,
    "process": MixtureSampler._process,
    "likelihood": MixtureSampler._likelihood,
}


def make_sampler(
    prior: Any,
    values: np.ndarray,
    order_and_key: tuple[np.ndarray, np.ndarray],
    process: Process,
    free: tuple[str, ...],
    log_measure: float,
    first_labels: Callable[[np.random.Generator], np.ndarray] | None,
    about: Mapping[str, Any],
) -> MixtureSampler:
    """Put the rows in the guide's order and weigh its nodes with the numbers the chains begin with.

    Without `first_labels` chains begin with partitions drawn from the guide.
    """
    order, key = order_and_key
    ordered = np.ascontiguousarray(values[order])
    guide = weigh_guide(prior, ordered, order, key, start_log_kappa(process, order.size))
    start = first_labels or GuideStart(prior, ordered, guide, process)
    return MixtureSampler(prior, ordered, guide, process, free, log_measure, start, about)

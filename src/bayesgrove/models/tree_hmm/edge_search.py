"""Search for the partition of trees that the mixture of edges finds most probable (`edge_mixture`).

Rows are merged from singletons in three orders; then trees are reassigned, redrawn and clusters merged while the log
joint grows, and the hyperparameters are set where it is largest.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bayesgrove.models.tree_hmm.edge_mixture import (
    EdgePrior,
    Rooms,
    Uses,
    fill_rooms,
    make_rooms,
    merge_rows,
    visit_trees,
)
from bayesgrove.stats.partitions import relabel

FIRST_PRIOR = EdgePrior(np.array([10.0, 0.3]), np.array([0.5, 0.5]))
N_ORDERS = 3
N_ROUNDS = 3
"""Rounds of search, each followed by new hyperparameters."""
N_SWEEPS = 10
"""Sweeps of random reassignment in a round."""
MOST_GREEDY = 10
SAMPLE, MOST_WHOLE = 500, 700
"""Of more trees than this the search is made on a sample; the others are assigned to what was found."""
SPARE_ROWS = 8
LEAST_STRENGTH, LARGEST_DISCOUNT = 1e-3, 0.95
LARGEST_STRENGTHS = (100.0, 1.0)
"""Of labels and of edges. Without limits, trees of one kind would be explained by the base distribution alone, under
which all partitions are equally probable. Documents have strengths of 1 to 100 and of less than 1."""
FACTORS, STEPS = (1 / 3, 1 / 1.5, 1.5, 3.0), (-0.2, -0.05, 0.05, 0.2)


class EdgeFit(NamedTuple):
    """The partition found."""

    labels: np.ndarray
    """int64 (n_trees,): by first appearance."""
    prior: EdgePrior
    log_joint: float
    """Log marginal of the trees given the partition; all partitions have the same prior."""


class EdgeStart(NamedTuple):
    """The partition found and what scores others: the bound on the evidence compares any numbers of clusters."""

    uses: Uses
    fit: EdgeFit

    def best_of(self, partitions: Iterable[np.ndarray]) -> np.ndarray:
        """The most probable of some partitions and the one found."""
        scored = [(log_joint(self.uses, self.fit.prior, relabel(labels)), labels) for labels in partitions]
        score, labels = max(scored, key=lambda pair: pair[0])
        return labels if score >= self.fit.log_joint else self.fit.labels


def fit_edges(rng: np.random.Generator, uses: Uses, n_orders: int = N_ORDERS) -> EdgeFit:
    """The best partition found; of many trees, from a sample of them."""
    if uses.n_trees <= MOST_WHOLE:
        return search_edges(rng, uses, n_orders)
    chosen = np.sort(rng.choice(uses.n_trees, SAMPLE, replace=False))
    found = search_edges(rng, uses.take(chosen), n_orders)
    labels = np.concatenate([found.labels, np.full(uses.n_trees - SAMPLE, found.labels.max() + 1)])
    others = np.setdiff1d(np.arange(uses.n_trees), chosen)
    return extend(rng, uses, found.prior, labels[np.argsort(np.concatenate([chosen, others]))], others)


def extend(rng: np.random.Generator, uses: Uses, prior: EdgePrior, labels: np.ndarray, others: np.ndarray) -> EdgeFit:
    """Assign trees outside the sample, all of which begin in a cluster of their own, and go on from there."""
    labels = relabel(labels)
    labels, _ = reassigned(rng, uses, prior, labels, others, is_greedy=True)
    labels = improved(rng, uses, prior, labels, n_sweeps=0)
    return EdgeFit(labels, prior, log_joint(uses, prior, labels))


def search_edges(rng: np.random.Generator, uses: Uses, n_orders: int = N_ORDERS) -> EdgeFit:
    """The best of several merge orders, improved at random; hyperparameters learned."""
    prior, starts = FIRST_PRIOR, []
    for order in range(n_orders):
        labels = merged(uses, prior, np.arange(uses.n_trees), order)
        starts.append(improved(rng, uses, prior, labels, n_sweeps=0))
    labels = max(starts, key=lambda found: log_joint(uses, prior, found))
    for _ in range(N_ROUNDS):
        prior = learned_prior(uses, prior, labels)
        labels = improved(rng, uses, prior, labels, N_SWEEPS)
    return EdgeFit(labels, prior, log_joint(uses, prior, labels))


def log_joint(uses: Uses, prior: EdgePrior, labels: np.ndarray) -> float:
    """Log marginal of all trees given a partition."""
    rooms = make_rooms(uses, int(labels.max(initial=0)) + 1)
    return float(fill_rooms(uses, prior, rooms, labels))


def filled(uses: Uses, prior: EdgePrior, labels: np.ndarray, n_spare: int) -> Rooms:
    """Rows of a partition, and some without trees."""
    rooms = make_rooms(uses, int(labels.max(initial=-1)) + 1 + n_spare)
    fill_rooms(uses, prior, rooms, labels)
    return rooms


def merged(uses: Uses, prior: EdgePrior, labels: np.ndarray, order: int = 0) -> np.ndarray:
    """The partition with clusters merged while that gains."""
    found = relabel(labels)
    merge_rows(uses, prior, filled(uses, prior, found, 0), found, order)
    return relabel(found)


def reassigned(
    rng: np.random.Generator, uses: Uses, prior: EdgePrior, labels: np.ndarray, trees: np.ndarray, *, is_greedy: bool
) -> tuple[np.ndarray, int]:
    """The partition after each of some trees was moved to its most probable cluster, or to one drawn; number moved."""
    found = relabel(labels)
    order = rng.permutation(trees)
    rooms = filled(uses, prior, found, SPARE_ROWS)
    made = visit_trees(rng, uses, prior, rooms, found, order, is_greedy)
    n_moved = made if made >= 0 else -1 - made  # where rooms ran out, the trees left are for another visit
    return relabel(found), int(n_moved)


def improved(rng: np.random.Generator, uses: Uses, prior: EdgePrior, labels: np.ndarray, n_sweeps: int) -> np.ndarray:
    """Sweeps at random, then greedy ones until nothing moves, then merges; the partition given where that is better."""
    found, everyone = labels, np.arange(uses.n_trees)
    for _ in range(n_sweeps):
        found, _ = reassigned(rng, uses, prior, found, everyone, is_greedy=False)
    for _ in range(MOST_GREEDY):
        found, n_moved = reassigned(rng, uses, prior, found, everyone, is_greedy=True)
        if not n_moved:
            break
    found = merged(uses, prior, found)
    return found if log_joint(uses, prior, found) > log_joint(uses, prior, labels) else labels


def learned_prior(uses: Uses, prior: EdgePrior, labels: np.ndarray) -> EdgePrior:
    """Hyperparameters at which the partition is more probable: one coordinate after another, twice."""
    best, score = prior, log_joint(uses, prior, labels)
    for _ in range(2):
        for level in range(2):
            for candidate in [*strengths_near(best, level), *discounts_near(best, level)]:
                found = log_joint(uses, candidate, labels)
                if found > score:
                    best, score = candidate, found
    return best


def strengths_near(prior: EdgePrior, level: int) -> list[EdgePrior]:
    """Smaller and larger strengths of a level."""
    values = np.clip(prior.strength[level] * np.array(FACTORS), LEAST_STRENGTH, LARGEST_STRENGTHS[level])
    return [_with(prior, "strength", level, value) for value in values.tolist()]


def discounts_near(prior: EdgePrior, level: int) -> list[EdgePrior]:
    """Smaller and larger discounts of a level."""
    values = [float(np.clip(prior.discount[level] + step, 0.0, LARGEST_DISCOUNT)) for step in STEPS]
    return [_with(prior, "discount", level, value) for value in values]


def _with(prior: EdgePrior, name: str, level: int, value: float) -> EdgePrior:
    values = getattr(prior, name).copy()
    values[level] = value
    return prior._replace(**{name: values})

"""Whether a child's position matters: positions of their own, or one that all children share (specification, 2B)."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from bayesgrove.models.tree_hmm.links import unique_links
from bayesgrove.models.tree_hmm.parameters import make_prior
from bayesgrove.models.tree_hmm.vb import VB_DEFAULTS, vb_start
from bayesgrove.trees.forest import Forest

POSITIONS = ("auto", "own", "shared")
LEAST_LABELS = 30
"""With fewer labels than this the pattern of filled positions is most of what there is: they stay as they are."""
MOST_TREES = 1_000
"""Of more trees a sample is compared. Tables by position need many trees to pay: of INEX05, 300 trees prefer shared
positions by 600 to 1,300 nats, and 1,000 trees prefer their own by 7,000."""
N_STATES = 4
N_STARTS = 5
"""Fits of each, of which the median counts. Single bounds on syntax trees differ by up to 10% between starts, more than
own and shared positions do, and a chain finds a typical optimum rather than the best."""
HOW = VB_DEFAULTS._replace(n_components=10, n_iter=15, n_init=1)


class PositionsChoice(NamedTuple):
    """What was chosen, and the lower bounds on the log evidence that decided; nan where nothing was compared."""

    is_shared: bool
    own_bound: float = float("nan")
    shared_bound: float = float("nan")

    @property
    def sentence(self) -> str:
        """In words."""
        chosen = "shared" if self.is_shared else "own"
        if np.isnan(self.own_bound):
            return f"positions: {chosen}"
        gain = abs(self.shared_bound - self.own_bound)
        return f"positions: {chosen}, by {gain:,.0f} nats (own {self.own_bound:,.0f}, shared {self.shared_bound:,.0f})"


def choose_positions(rng: np.random.Generator, forest: Forest, wanted: str, missing: str) -> PositionsChoice:
    """As wanted; "auto" compares variational bounds of both as models of the same labels and filled positions."""
    if wanted != "auto":
        return PositionsChoice(wanted == "shared")
    is_open = forest.values is None and missing == "bottom_prior" and forest.max_outdegree > 1
    if not is_open or forest.n_labels < LEAST_LABELS or forest.n_trees < 2:
        return PositionsChoice(is_shared=False)
    if forest.n_trees > MOST_TREES:
        forest = forest.take(np.sort(rng.choice(forest.n_trees, MOST_TREES, replace=False)))
    own = bound_of(rng, forest)
    shared = bound_of(rng, forest.with_max_outdegree(1)[0]) + log_frontier(forest)
    return PositionsChoice(shared > own, own, shared)


def bound_of(rng: np.random.Generator, forest: Forest) -> float:
    """Lower bound on the log evidence of a forest, the median of short variational fits."""
    how = HOW._replace(n_components=min(HOW.n_components, forest.n_trees))
    links, prior = unique_links(forest), make_prior(forest, N_STATES)
    return float(np.median([vb_start(rng, links, prior, 1.0, how).elbo for _ in range(N_STARTS)]))


def log_frontier(forest: Forest) -> float:
    """Log evidence of which positions hold a leaf and which are empty, under a Beta(1, 1) prior at each position.

    A model with one shared position does not speak of them, one with positions of their own does.
    """
    below = np.flatnonzero(forest.parents >= 0)
    n_internal = np.count_nonzero(forest.internal)
    largest = forest.max_outdegree
    cells = forest.parents[below].astype(np.int64) * largest + forest.positions[below] - 1
    filled = np.bincount(np.unique(cells) % largest, minlength=largest)
    leaves = np.bincount(np.unique(cells[~forest.internal[below]]) % largest, minlength=largest)
    return float((betaln(1.0 + leaves, 1.0 + n_internal - filled) - betaln(1.0, 1.0)).sum())

"""A hierarchy over the components of a mixture: which of them would be one at the least cost in evidence."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.models.tree_hmm.component_fit import ComponentFit, fit_component
from bayesgrove.models.tree_hmm.em import DistinctTrees, Progress, distinct_trees
from bayesgrove.models.tree_hmm.links import Links
from bayesgrove.models.tree_hmm.parameters import TreePrior, select_counts
from bayesgrove.models.tree_hmm.tables import Counts, Strengths
from bayesgrove.trees.cuts import front_labels
from bayesgrove.trees.table import Tree

N_SHORT, N_REFIT = 4, 15
"""Iterations for a pair from either side, and for a merged component."""
SOFTENING = 0.1
"""Nats per tree that are added to losses before they are compared: below it a loss is within reach of other optima."""


@dataclass(frozen=True, eq=False, repr=False)
class ComponentsTree(Tree):
    """A `Tree` whose items are components, merged one pair at a time; ids of inner nodes follow the order of merging.

    Columns: `log_merge_odds`, the log ratio of the bounds with and without the merge, and `n_trees`.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return ComponentsTree, (self.parent, self.item, self.height, dict(self.columns), self.leaf_labels)

    @property
    def log_ratios(self) -> np.ndarray:
        """(K - 1,): log ratio of every merge, in the order of merging."""
        return self.columns["log_merge_odds"][self.n_leaves :]

    def cut(
        self,
        rule: str | int | None = None,
        *,
        probability: float | None = None,
        n_clusters: int | None = None,
        height: float | None = None,
    ) -> np.ndarray:
        """Cluster of every component, consecutive from 0 in the order of each cluster's first component.

        Parameters
        ----------
        rule : int, "gap", "sign" or "half", optional
            A number of clusters: the last merges are undone. "gap" stops before the merge whose loss is the most times
            larger than any before; "sign" (the default) before the first merge that loses evidence.
        probability, n_clusters, height
            As for every tree; `n_clusters=k` is `cut(k)`.
        """
        given = [value for value in (rule, probability, n_clusters, height) if value is not None]
        if len(given) > 1:
            raise InvalidSettingError(f"a cut takes one rule, got {len(given)} of them ({given}). Leave one.")
        if n_clusters is not None or isinstance(rule, int | np.integer):
            return self._before_last(int(given[0]))
        if rule == "gap":
            return self._before_last(clusters_before_gap(self.log_ratios, float(self.columns["n_trees"][-1])))
        if rule == "sign" or not given:
            return self._before_last(self.n_leaves - n_gains(self.log_ratios))
        if rule not in (None, "half"):
            raise InvalidSettingError(
                f'a cut of these clusters is a number of them, "gap", "sign" or "half", got {rule!r}. '
                "For a probability or a height say which: probability=, height=."
            )
        return super().cut(rule, probability=probability, height=height)

    def _before_last(self, n_clusters: int) -> np.ndarray:
        """Labels when the last merges are undone."""
        if not 1 <= n_clusters <= self.n_leaves:
            raise InvalidSettingError(
                f"n_clusters lies between 1 and the number of components ({self.n_leaves}), got {n_clusters}."
            )
        end = 2 * self.n_leaves - n_clusters
        ids = np.arange(self.n_nodes)
        in_front = (ids < end) & ((self.parent >= end) | (self.parent == NULL))
        return front_labels(self.parent, self.leaf_of_item, in_front)


def n_gains(log_ratios: np.ndarray) -> int:
    """How many merges come before the first that loses evidence."""
    losing = np.flatnonzero(log_ratios < 0.0)
    return int(losing[0]) if losing.size else log_ratios.size


def clusters_before_gap(log_ratios: np.ndarray, n_trees: float) -> int:
    """Number of clusters before the merge whose loss exceeds all earlier ones by the largest factor.

    Losses grow with the sizes of what is merged, so that the largest difference is nearly always the last one (on INEX
    2005 log ratios end with -526, -9773, -29894, -45159, -79168, where five clusters, before the first of the large
    losses, are wanted); their ratios show where merging begins to cost. A tenth of a nat per tree is added to all
    losses, as differences below that come from local optima. Without any loss all is one cluster.
    """
    losses = np.maximum.accumulate(np.maximum(-log_ratios, 0.0)) + SOFTENING * n_trees
    factors = losses / np.concatenate([[SOFTENING * n_trees], losses[:-1]])
    if log_ratios.size == 0 or factors.max() <= 1.0:
        return 1
    return log_ratios.size + 1 - int(factors.argmax())


class _Pair(NamedTuple):
    log_ratio: float
    side: int
    """Which component's distribution the better union began with."""


def build_components_tree(
    links: Links,
    prior: TreePrior,
    counts: Counts,
    responsibilities: np.ndarray,
    concentration: float = 1.0,
    merge_strength: float = 1.0,
    progress: Progress | None = None,
) -> ComponentsTree:
    """Merge the pair of components of largest log ratio until one is left.

    Parameters
    ----------
    counts : Counts
        Expected or drawn counts of the K components: their distributions are where fits begin.
    responsibilities : float array of shape (K, n_trees)
        Soft, or 0 and 1.
    merge_strength : float
        Smaller strengths of the prior are raised to this: a sparse prior pays little for tables that only repeat
        others, and would keep components apart that differ by nothing else.

    Notes
    -----
    log ratio = L(a + b) - L(a) - L(b) + log Gamma(n_a + n_b) / (Gamma(n_a) Gamma(n_b) concentration) with L the
    variational bound of one component, L(a + b) the better of four iterations from either side.
    """
    trees = distinct_trees(links)
    prior = prior._replace(strengths=Strengths(*(max(strength, merge_strength) for strength in prior.strengths)))
    found = [_start(trees, prior, counts, k, row) for k, row in enumerate(responsibilities)]
    n_items = len(found)
    active, pairs, merges = list(range(n_items)), {}, []
    log_ratios = []
    for new in range(n_items, 2 * n_items):
        for later in active if new == n_items else active[-1:]:
            for earlier in active[: active.index(later)]:
                pairs[earlier, later] = _pair(trees, prior, concentration, found[earlier], found[later])
        if progress is not None:
            progress(new - n_items, n_items - 1)
        if len(active) == 1:
            break
        a, b = max(pairs, key=lambda both: pairs[both].log_ratio)
        log_ratios.append(pairs[a, b].log_ratio)
        merges.append((a, b))
        found.append(_merged(trees, prior, found[a], found[b], pairs[a, b].side))
        active = [k for k in active if k not in (a, b)] + [new]
        pairs = {both: pair for both, pair in pairs.items() if a not in both and b not in both}
    return _as_tree(merges, log_ratios, np.array([component.size for component in found]))


def _as_tree(merges: list[tuple[int, int]], log_ratios: list[float], sizes: np.ndarray) -> ComponentsTree:
    tree = ComponentsTree.from_merges(
        np.array(merges, np.int64).reshape(-1, 2), log_merge_odds=np.array(log_ratios), columns={"n_trees": sizes}
    )
    return tree  # type: ignore[return-value]


def _start(trees: DistinctTrees, prior: TreePrior, counts: Counts, component: int, row: np.ndarray) -> ComponentFit:
    """One component of the mixture, fitted to its own trees."""
    weights = np.bincount(trees.number, row, trees.multiplicity.size)
    return fit_component(trees, prior, select_counts(counts, np.array([component])), weights, N_REFIT)


def _merged(trees: DistinctTrees, prior: TreePrior, a: ComponentFit, b: ComponentFit, side: int) -> ComponentFit:
    start = (a, b)[side].counts
    return fit_component(trees, prior, start, a.weights + b.weights, N_SHORT + N_REFIT)


def _pair(trees: DistinctTrees, prior: TreePrior, concentration: float, a: ComponentFit, b: ComponentFit) -> _Pair:
    """Log ratio of a merge, by short fits from both sides."""
    unions = [fit_component(trees, prior, side.counts, a.weights + b.weights, N_SHORT) for side in (a, b)]
    bounds = [union.bound for union in unions]
    together = gammaln(a.size + b.size) - gammaln(a.size) - gammaln(b.size) - np.log(concentration)
    return _Pair(float(max(bounds) - a.bound - b.bound + together), int(np.argmax(bounds)))

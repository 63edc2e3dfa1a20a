"""`LinkedSampler`: the mixture with constraints on some rows, see `stats.links`.

The posterior is that of the mixture without constraints, restricted to the partitions that meet them. Items move as
rows do otherwise: with phi(c) = kappa(rows of c) p(X_c) for clusters without a forbidden pair and 0 for others, the
distribution of partitions of the items is again a product over clusters times V(n, K), n the number of rows, and every
move of partitions stays valid. phi stands in the likelihood's marginal (`LinkedPrior`), so that what the moves look up
for a number of items is 0. The partition of single items always is possible and every partition can be reached from it,
one item after another: Gibbs steps alone visit all partitions, whatever the constraints.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.likelihoods.linked import LinkedPrior, link_rows
from bayesgrove.models.nrm.guide import Guide, weigh_guide
from bayesgrove.models.nrm.hyper import scaled
from bayesgrove.models.nrm.process import process_tables, start_numbers
from bayesgrove.models.nrm.sampler import MixtureSampler, fingerprint_of, hash_of
from bayesgrove.models.nrm.state import State, fill_alone, new_state, refill
from bayesgrove.scoring.lanes import RowScorer
from bayesgrove.stats.links import Links
from bayesgrove.stats.partitions import relabel


@dataclasses.dataclass(frozen=True)
class LinkedStart:
    """The start of other chains, changed where it breaks a constraint."""

    first_labels: Callable[[np.random.Generator], np.ndarray]
    links: Links

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Labels of all rows."""
        return self.links.met_by(self.first_labels(rng))


@dataclasses.dataclass(frozen=True, eq=False)
class LinkedSampler(MixtureSampler):
    """A mixture of items: `prior` is a `LinkedPrior`, `values` are items in the order of the guide, whose leaves they
    are; labels are given and taken for rows.
    """

    links: Links
    prior: LinkedPrior

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.links.item.size)

    def fingerprint(self) -> dict[str, Any]:
        """That of the rows, and the constraints."""
        about = fingerprint_of(self.prior.prior, self.prior.values, self.process, self.free, self.about)
        guide = hash_of(self.guide.order, self.guide.key)
        return {**about, "guide": guide, "links": hash_of(self.links.item, self.links.apart)}

    def _new_state(self, labels: np.ndarray, numbers: np.ndarray, log_factors: np.ndarray) -> State:
        log_size, log_v = process_tables(self.process, numbers, self.n_rows, int(labels.max()) + 1)
        tables = np.zeros(self.n_items + 2), log_v
        return new_state(self._scorer_with(log_factors, log_size), self.values, labels, tables, numbers, log_factors)

    def _scorer_with(self, log_factors: np.ndarray, log_size: np.ndarray) -> RowScorer:
        return RowScorer(scaled(self.prior, self._places, log_factors)._replace(log_size=log_size))

    def _scorer_of(self, state: State) -> RowScorer:
        log_size, _ = process_tables(self.process, state.numbers, self.n_rows)
        return self._scorer_with(state.log_factors, log_size)

    def _weigh(self, state: State) -> None:
        """What the process says is in the marginals."""
        n_clusters = int(state.clusters.n_clusters[0])
        log_size, log_v = process_tables(self.process, state.numbers, self.n_rows, n_clusters)
        state.weights = state.weights._replace(log_v=log_v)
        state.scorer = self._scorer_with(state.log_factors, log_size)
        refill(state.scorer, state.clusters)
        fill_alone(state.scorer, self.values, state.weights.alone)

    def _cluster_sizes(self, state: State) -> np.ndarray:
        """Numbers of rows, not of items."""
        n_clusters = state.clusters.n_clusters[0]
        return state.clusters.rows[:n_clusters, n_stats(self.prior.prior)].astype(np.int64)

    def _in_guide(self, labels: np.ndarray) -> np.ndarray:
        return labels[self.links.first_rows][self.guide.order]

    def _row_at(self, place: int) -> int:
        return int(self.links.first_rows[self.guide.order[place]])

    def labels(self, state: State) -> np.ndarray:
        """Labels of the rows, by first appearance."""
        of_items = np.empty(self.n_items, np.int64)
        of_items[self.guide.order] = state.clusters.labels
        return relabel(of_items[self.links.item]).astype(self.label_type)


def linked(plain: MixtureSampler, links: Links) -> MixtureSampler:
    """The sampler of the same rows under constraints."""
    n_rows, order, process = links.item.size, plain.guide.order, plain.process
    rows = np.empty_like(plain.values)
    rows[order] = plain.values
    log_size, _ = process_tables(process, start_numbers(process, n_rows), n_rows)
    prior, items = link_rows(plain.prior, rows, links, log_size, np.zeros_like(log_size))
    guide = guide_of_items(prior, items, plain.guide, links)
    values = np.ascontiguousarray(items[guide.order])
    start = LinkedStart(plain.first_labels, links)
    return LinkedSampler(prior, values, guide, process, plain.free, plain.log_measure, start, plain.about, links=links)


def guide_of_items(prior: LinkedPrior, items: np.ndarray, guide: Guide, links: Links) -> Guide:
    """The guide over the first rows of all items: the tree of the largest keys between neighbours."""
    place_of_row = np.empty(guide.order.size, np.int64)
    place_of_row[guide.order] = np.arange(guide.order.size)
    places = place_of_row[links.first_rows]
    order = np.argsort(places)
    between = places[order]
    key = np.maximum.reduceat(guide.key[: between[-1]], between[:-1]) if order.size > 1 else guide.key[:0]
    return weigh_guide(prior, np.ascontiguousarray(items[order]), order, key, np.zeros(order.size + 2))

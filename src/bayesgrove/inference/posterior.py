"""`Posterior`: the draws of a run and everything that can be asked of them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.core.rng import resolve_seed
from bayesgrove.inference.certain import CertainItems, certain_items
from bayesgrove.inference.credible import CredibleBall, ball_around
from bayesgrove.inference.diagnostics import Diagnostics, diagnose
from bayesgrove.inference.export import draws_to_arviz, write_netcdf
from bayesgrove.inference.notebook import draws_html
from bayesgrove.inference.point_estimate import PointEstimate, estimate_partition
from bayesgrove.inference.representatives import Representatives, representatives_of
from bayesgrove.inference.similarity import Certainty, certainty_of
from bayesgrove.stats.partitions import co_clustering, relabel, relabel_draws
from bayesgrove.trees import Tree
from bayesgrove.trees.consensus import consensus_tree


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """Draws of partitions from several chains; labels mean something within one draw only.

    Attributes
    ----------
    labels : int array of shape (n_chains, n_draws, n_items)
        Any integer type.
    scalars : mapping of str to array of shape (n_chains, n_draws)
        Label-free numbers, such as `log_joint` and `concentration`.
    extra : mapping of str to array of shape (n_chains, n_draws, ...)
        Other draws a family of models keeps, also found as attributes: `posterior.paths`.
    attributes : mapping
        What is known of the run, in JSON's types; written into what is exported.

    Examples
    --------
    >>> labels = [[[0, 0, 1, 1], [0, 0, 1, 2]], [[5, 5, 2, 2], [1, 1, 0, 0]]]
    >>> posterior = Posterior(labels, {"log_joint": [[-3.0, -4.0], [-3.0, -3.0]]})
    >>> posterior
    Posterior(n_chains=2, n_draws=2, n_items=4, scalars=['log_joint'])
    >>> posterior.similarity()[2].tolist()
    [0.0, 0.0, 1.0, 0.75]
    >>> posterior.point_estimate(random_state=0).labels.tolist()
    [0, 0, 1, 1]
    """

    labels: np.ndarray
    scalars: Mapping[str, np.ndarray] = field(default_factory=dict)
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        labels = _read_only(self.labels)
        if labels.ndim != 3 or labels.size == 0:
            raise InvalidInputError(
                f"labels have the shape (chain, draw, item), none of them 0, got {labels.shape}. "
                "For one chain give labels[np.newaxis]."
            )
        if labels.dtype.kind not in "iu":
            raise InvalidInputError(f"labels are integers, got an array of {labels.dtype}. Convert them to int64.")
        scalars = {str(name): _read_only(values) for name, values in self.scalars.items()}
        extra = {str(name): _read_only(values) for name, values in self.extra.items()}
        _check_names(scalars, extra)
        for name, values in scalars.items():
            _check_shape(name, values.shape, labels.shape[:2], "(chain, draw)")
        for name, values in extra.items():
            _check_shape(name, values.shape[:2], labels.shape[:2], "(chain, draw, ...)")
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "scalars", MappingProxyType(scalars))
        object.__setattr__(self, "extra", MappingProxyType(extra))
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Posterior, (self.labels, dict(self.scalars), dict(self.extra), dict(self.attributes))

    def __getattr__(self, name: str) -> np.ndarray:
        # Only asked when nothing else has the name; `extra` itself is missing while an instance is being made.
        extra: Mapping[str, np.ndarray] = self.__dict__.get("extra", {})
        if name in extra:
            return extra[name]
        raise AttributeError(f"'Posterior' has no attribute {name!r}; its extra draws are {sorted(extra)}")

    def __repr__(self) -> str:
        extra = f", extra={sorted(self.extra)}" if self.extra else ""
        return (
            f"{type(self).__name__}(n_chains={self.n_chains}, n_draws={self.n_draws}, n_items={self.n_items}, "
            f"scalars={sorted(self.scalars)}{extra})"
        )

    def _repr_html_(self) -> str:
        return draws_html(self.labels, tuple(self.scalars))

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return int(self.labels.shape[0])

    @property
    def n_draws(self) -> int:
        """Number of draws of each chain."""
        return int(self.labels.shape[1])

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.labels.shape[2])

    @cached_property
    def _draws(self) -> np.ndarray:
        """All draws of all chains in normal form: int32 of shape (n_chains * n_draws, n_items)."""
        return relabel_draws(self.labels)

    @cached_property
    def _similarity(self) -> np.ndarray:
        return _read_only(co_clustering(self._draws))

    # Parts

    def subset(self, chains: Any = None, draws: Any = None) -> "Posterior":
        """The posterior of some chains and draws, each given as a slice or a list of numbers."""
        pick = np.arange(self.n_chains)[slice(None) if chains is None else chains]
        keep = np.arange(self.n_draws)[slice(None) if draws is None else draws]
        rows = np.ix_(np.atleast_1d(pick), np.atleast_1d(keep))
        return replace(
            self,
            labels=self.labels[rows],
            scalars={name: values[rows] for name, values in self.scalars.items()},
            extra={name: values[rows] for name, values in self.extra.items()},
        )

    def thin(self, every: int) -> "Posterior":
        """Every so many-th draw of each chain, beginning with the first."""
        if every < 1:
            raise InvalidSettingError(f"every must be at least 1, got {every}. 1 keeps all draws.")
        return self.subset(draws=slice(None, None, every))

    # Answers

    def similarity(self, items: ArrayLike | None = None) -> np.ndarray:
        """Share of draws in which items i and j are in one cluster, read-only, kept when of all items.

        Parameters
        ----------
        items : int array, optional
            Only these items; needed above 20,000.
        """
        if items is None:
            return self._similarity
        return co_clustering(self._draws[:, self._some_items(items)])

    def point_estimate(
        self,
        loss: str = "vi",
        *,
        a: float = 1.0,
        n_starts: int | None = None,
        random_state: Any = None,
        max_clusters: int | None = None,
        n_jobs: int | None = None,
    ) -> PointEstimate:
        """The partition of least posterior expected loss, searched among all partitions.

        Parameters
        ----------
        loss : {"vi", "binder", "omari", "nvi", "nid"}
            Variation of information (exact, in nats), Binder's loss (share of pairs of items that differ), one minus
            the adjusted Rand index, normalised variation of information, or normalised information distance.
        a : float
            Of "vi" and "binder", between 0 and 2: the cost of parting items that belong together, that of joining
            items that do not being 2 - a. More than 1 gives fewer clusters.
        n_starts : int, optional
            Local searches, of which the best is taken: 16, or fewer (at least 4) where they take long.
        random_state : None, int or Generator
            An integer makes the result repeatable.
        max_clusters : int, optional
            No more clusters than these.
        n_jobs : int, optional
            Threads; the result does not depend on it.

        Notes
        -----
        The search of Dahl, Johnson and Müller (2022): items are allocated one by one in random order, then
        reallocated until none moves, then clusters are destroyed and their items allocated anew. Starts are the best
        draw, one cluster, and by turns nothing and a random partition. Up to 500 draws, evenly spread, are searched
        (fewer, at least 100, above 4,000 items or with hundreds of clusters); among what the starts found and the
        best of these draws the expected loss over *all* draws decides. A scan costs items x draws searched x clusters
        steps of about a nanosecond.
        """
        return estimate_partition(
            resolve_seed(random_state),
            self._draws,
            loss,
            n_starts=n_starts,
            max_clusters=max_clusters,
            n_jobs=n_jobs,
            a=a,
        )

    def representatives(self, n: int = 3, *, n_starts: int = 4, random_state: Any = None) -> Representatives:
        """Some partitions that together stand for the posterior, each with its share of the draws.

        Where chains agree on one mode they resemble each other; where the posterior has several, one stands for each.

        Parameters
        ----------
        n : int
            How many, at most; fewer where one would stand for no draw.
        n_starts : int
            First choices of the partitions, of which the best is taken.
        random_state : None, int or Generator

        Notes
        -----
        Balocchi and Wade's WASABI (2025): the partitions whose weighted mixture is nearest to the draws in Wasserstein
        distance under the variation of information. Draws go to the nearest partition and each partition becomes the
        point estimate of its draws, in turns, until nothing changes.
        """
        return representatives_of(resolve_seed(random_state), self._draws, n, n_starts)

    def certain(self, probability: float = 0.95, *, n_starts: int = 16, random_state: Any = None) -> CertainItems:
        """As many items as possible whose clustering among themselves has at least this probability.

        Parameters
        ----------
        probability : float
            Share of the draws in which these items are divided in just this way, above 0 and at most 1.
        n_starts : int
            Greedy searches, each from another item, of which the best is taken.
        random_state : None, int or Generator

        Notes
        -----
        After CHIPS (Dahl, Page and Barrientos): items are added one by one, each with the cluster, or a new one, that
        keeps the most draws, while enough are kept.
        """
        return certain_items(resolve_seed(random_state), self._draws, probability, n_starts)

    def credible_ball(
        self, level: float = 0.95, loss: str = "vi", *, center: ArrayLike | None = None, random_state: Any = None
    ) -> CredibleBall:
        """The smallest ball around a partition that holds this share of the draws, with its bounds.

        Parameters
        ----------
        level : float
            Share of the draws, above 0 and at most 1.
        loss : {"vi", "binder"}
            The distance.
        center : int array of shape (n_items,), optional
            By default the point estimate of the same loss, searched with `random_state`.
        random_state : int, Generator or None
            Of that search.
        """
        if center is None:
            middle = self.point_estimate(loss, random_state=random_state).labels
        else:
            middle = self._partition(center)
        return ball_around(self._draws, middle, level, loss)

    def certainty(self, labels: ArrayLike) -> Certainty:
        """How firmly each item belongs to its cluster of a partition, and which other cluster is next.

        Other clusters are called by their labels where these are 0, 1, ....
        """
        self._partition(labels)  # refuses what is none
        return certainty_of(self._draws, np.unique(labels, return_inverse=True)[1])

    def consensus_tree(self, leaf_labels: tuple[str, ...] | None = None, *, items: ArrayLike | None = None) -> Tree:
        """Average linkage on 1 - similarity; nodes say in which share of draws their items are one cluster.

        Items that no draw parts are joined first; of the groups so made there may be 5,000, else give `items`, a
        sample. Columns of the tree are described in `bayesgrove.trees.consensus.consensus_tree`.
        """
        draws = self._draws if items is None else self._draws[:, self._some_items(items)]
        return consensus_tree(draws, leaf_labels)

    def diagnostics(self) -> Diagnostics:
        """r_hat and effective sample sizes of label-free scalars, distance of chains, and a verdict."""
        return diagnose(self._draws.reshape(self.labels.shape), self.scalars)

    def to_arviz(self) -> Any:
        """An xarray DataTree as ArviZ reads it: `posterior` with labels, scalars and extra draws."""
        return draws_to_arviz(self.labels, {**self.scalars, **self.extra}, self.attributes)

    def to_netcdf(self, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
        """Write what `to_arviz` gives as a netCDF file, whole or not at all."""
        write_netcdf(self.to_arviz(), path, overwrite=overwrite)

    def _some_items(self, items: ArrayLike) -> np.ndarray:
        chosen = np.asarray(items)
        if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
            raise InvalidInputError(
                f"items are a vector of at least one whole number, got shape {chosen.shape} of {chosen.dtype}. "
                "For a mask give np.flatnonzero(mask)."
            )
        if chosen.min() < 0 or chosen.max() >= self.n_items:
            raise InvalidInputError(
                f"items lie between 0 and {self.n_items - 1}, got {chosen.min()} .. {chosen.max()}. Ask for these only."
            )
        return chosen

    def _partition(self, labels: ArrayLike) -> np.ndarray:
        partition = relabel(labels)
        if partition.size != self.n_items:
            raise InvalidInputError(f"a partition has one label per item, got {partition.size} for {self.n_items}.")
        return partition


def _read_only(values: ArrayLike) -> np.ndarray:
    view = np.asarray(values).view()
    view.setflags(write=False)
    return view


def _check_names(scalars: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
    twice = sorted(
        scalars.keys() & extra.keys() | {"labels", "chain", "draw", "item"} & (scalars.keys() | extra.keys())
    )
    if twice:
        raise InvalidInputError(f"every array of draws has a name of its own, got {twice} twice. Rename them.")


def _check_shape(name: str, shape: tuple[int, ...], expected: tuple[int, ...], words: str) -> None:
    if shape != expected:
        raise InvalidInputError(
            f"{name!r} must have the shape {words} of the labels, {expected}, got {shape}. Store it with every draw."
        )

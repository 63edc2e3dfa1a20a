"""`PathPosterior`: draws of trees of fixed depth, each given by the paths of the items from the root to a leaf."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.inference.export import draws_to_arviz
from bayesgrove.inference.path_summaries import FrequentTree, central_draw, frequent_tree, mean_overlap
from bayesgrove.inference.path_summaries import node_credibility as credibility_of
from bayesgrove.inference.point_estimate import estimate_partition
from bayesgrove.inference.posterior import Posterior
from bayesgrove.stats.partitions import relabel_draws
from bayesgrove.stats.paths import number_paths, path_nodes
from bayesgrove.trees import Tree
from bayesgrove.trees.consensus import consensus_tree

SCORES = ("cdl", "rcdl", "log_joint")


class DrawPlace(NamedTuple):
    """Where a draw stands."""

    chain: int
    draw: int


@dataclass(frozen=True, eq=False, repr=False)
class PathPosterior(Posterior):
    """Draws of trees: `labels` are the leaves of the items, `paths` their nodes at every level below the root.

    All that `Posterior` answers is answered of the leaves; `of_level` gives the posterior of the partition at another
    level. Ids of nodes mean something within one draw and one level only.

    Attributes
    ----------
    paths : int array of shape (n_chains, n_draws, n_items, n_levels)
        Items with one id at a level have one id at every level above it; ids are 0, 1, ... by first appearance.

    Examples
    --------
    >>> draws = [[[[0, 0], [0, 1], [1, 2]], [[0, 0], [0, 0], [1, 1]], [[0, 0], [0, 0], [1, 1]]]]
    >>> posterior = PathPosterior.from_paths(draws)
    >>> posterior.labels[0].tolist()
    [[0, 1, 2], [0, 0, 1], [0, 0, 1]]
    >>> posterior.path_overlap().round(2).tolist()
    [[2.0, 1.67, 0.0], [1.67, 2.0, 0.0], [0.0, 0.0, 2.0]]
    >>> posterior.central_draw()
    DrawPlace(chain=0, draw=1)
    """

    paths: np.ndarray = field(kw_only=True)

    def __post_init__(self) -> None:
        paths = np.asarray(self.paths).view()
        check_paths(paths)
        super().__post_init__()
        if paths.shape[:3] != self.labels.shape:
            raise InvalidInputError(
                f"paths belong to the same chains, draws and items as labels, {self.labels.shape}, got "
                f"{paths.shape[:3]}. Make both by PathPosterior.from_paths."
            )
        paths.setflags(write=False)
        object.__setattr__(self, "paths", paths)

    @classmethod
    def from_paths(
        cls,
        paths: ArrayLike,
        scalars: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> "PathPosterior":
        """The posterior of paths of shape (n_chains, n_draws, n_items, n_levels); labels are the ids of the leaves."""
        every = np.asarray(paths)
        check_paths(every)
        return cls(every[..., -1], scalars or {}, extra or {}, attributes or {}, paths=every)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.paths, dict(self.scalars), dict(self.extra), dict(self.attributes))

    def __repr__(self) -> str:
        return f"{super().__repr__().replace('scalars=', f'n_levels={self.n_levels}, scalars=')}"

    @property
    def n_levels(self) -> int:
        """Number of levels below the root."""
        return int(self.paths.shape[3])

    @cached_property
    def _path_draws(self) -> np.ndarray:
        """All draws of all chains, (n_chains * n_draws, n_items, n_levels)."""
        return self.paths.reshape(-1, self.n_items, self.n_levels)

    # Parts

    def subset(self, chains: Any = None, draws: Any = None) -> "PathPosterior":
        """The posterior of some chains and draws, each given as a slice or a list of numbers."""
        pick = np.atleast_1d(np.arange(self.n_chains)[slice(None) if chains is None else chains])
        keep = np.atleast_1d(np.arange(self.n_draws)[slice(None) if draws is None else draws])
        chosen = np.ix_(pick, keep)
        return PathPosterior.from_paths(
            self.paths[chosen],
            {name: values[chosen] for name, values in self.scalars.items()},
            {name: values[chosen] for name, values in self.extra.items()},
            self.attributes,
        )

    def of_level(self, level: int) -> Posterior:
        """Partitions of the items at a level, 1 for the children of the root, `n_levels` for the leaves."""
        if not 1 <= level <= self.n_levels:
            raise InvalidSettingError(f"levels are 1 .. {self.n_levels}, got {level}.", level=level)
        return Posterior(self.paths[..., level - 1], self.scalars, {}, self.attributes)

    def at(self, place: DrawPlace | tuple[int, int]) -> np.ndarray:
        """Paths of one draw, int64 of shape (n_items, n_levels), ids by first appearance."""
        return number_paths(self.paths[place[0], place[1]])

    # Answers

    def path_overlap(self, items: ArrayLike | None = None) -> np.ndarray:
        """Mean number of nodes below the root that the paths of items i and j share, between 0 and `n_levels`.

        Parameters
        ----------
        items : int array, optional
            Only these items; needed above 20,000.
        """
        draws = self._path_draws
        return mean_overlap(draws if items is None else draws[:, self._some_items(items)])

    def central_draw(self) -> DrawPlace:
        """The draw that is nearest to all draws: least mean squared distance of the matrices of path overlaps.

        Of more than 2,000 items an even sample of 2,000 is compared; of very many draws an even sample is tried
        (about 4e9 additions are spent). The mean is over all draws.
        """
        return self._place(central_draw(self._path_draws))

    def best_draw(self, score: str = "cdl") -> DrawPlace:
        """The draw of the largest score: "cdl", "rcdl" or "log_joint"; a density, not a tree's probability."""
        if score not in SCORES or score not in self.scalars:
            known = [name for name in SCORES if name in self.scalars]
            raise InvalidSettingError(f"score is one of {known}, got {score!r}.", score=score)
        return self._place(int(np.argmax(self.scalars[score])))

    def frequent_tree(self) -> FrequentTree:
        """The tree that most draws have: number of its first draw among all draws, and the share that have it.

        Where nearly all draws differ it says little: look at the share.
        """
        return frequent_tree(self._path_draws)

    def consensus_paths(self, loss: str = "vi", *, random_state: Any = None, n_jobs: int | None = None) -> np.ndarray:
        """Level by level, the partition of least expected loss among those that refine the level above.

        Inside each node the items are divided by what the draws say of them at the next level; int64 of shape
        (n_items, n_levels).

        Parameters
        ----------
        loss : {"vi", "binder"}
        random_state : None, int or Generator
        n_jobs : int, optional
            Threads.
        """
        seed = resolve_seed(random_state)
        found = np.zeros((self.n_items, self.n_levels), np.int64)
        above, n_made = np.zeros(self.n_items, np.int64), 0
        for level in range(self.n_levels):
            for node in range(int(above.max()) + 1):
                items = np.flatnonzero(above == node)
                if items.size > 1:
                    draws = relabel_draws(self._path_draws[:, items, level])
                    own_seed = resolve_seed(generator(seed, n_made))
                    found[items, level] = estimate_partition(own_seed, draws, loss, n_jobs=n_jobs).labels
                n_made += 1
            found[:, : level + 1] = number_paths(found[:, : level + 1])
            above = found[:, level]
        return found

    def consensus_tree(self, leaf_labels: tuple[str, ...] | None = None, *, items: ArrayLike | None = None) -> Tree:
        """Average linkage on 1 - (path overlap) / (number of levels).

        As `Posterior.consensus_tree`, with every level of every draw as a partition of its own: `together` is the
        share of (draw, level) in which a node's items are one node.
        """
        draws = self._path_draws if items is None else self._path_draws[:, self._some_items(items)]
        return consensus_tree(np.moveaxis(draws, 2, 1).reshape(-1, draws.shape[1]), leaf_labels)

    def node_credibility(self, levels: ArrayLike) -> np.ndarray:
        """Share of draws in which exactly the items of a node are a node, for all nodes of a tree.

        Parameters
        ----------
        levels : int array of shape (n_items, n_levels)
            A tree as paths, of any number of levels. Nodes are numbered as `bayesgrove.stats.paths.path_nodes` does:
            the root, whose credibility is 1, then level by level by first appearance.
        """
        nodes = path_nodes(levels)
        if len(nodes.node) != self.n_items:
            raise InvalidInputError(f"levels have one path per item, got {len(nodes.node)} for {self.n_items} items.")
        return credibility_of(nodes, self._path_draws)

    def to_arviz(self) -> Any:
        """An xarray DataTree as ArviZ reads it: `paths` (chain, draw, item, level), scalars and extra draws."""
        return draws_to_arviz(
            self.paths,
            {**self.scalars, **self.extra},
            self.attributes,
            name="paths",
            inner=("level", np.arange(1, self.n_levels + 1)),
            dims={"components": ["item"]} if "components" in self.extra else None,
        )

    def _place(self, number: int) -> DrawPlace:
        return DrawPlace(*divmod(number, self.n_draws))


def check_paths(paths: np.ndarray) -> None:
    """Refuse what is no array of paths."""
    if paths.ndim != 4 or 0 in paths.shape or paths.dtype.kind not in "iu":
        raise InvalidInputError(
            f"paths are integers of the shape (chain, draw, item, level), none of them 0, got {paths.dtype} of "
            f"shape {paths.shape}. For one chain give paths[np.newaxis]."
        )


def _restored(paths: np.ndarray, scalars: Any, extra: Any, attributes: Any) -> PathPosterior:
    return PathPosterior.from_paths(paths, scalars, extra, attributes)

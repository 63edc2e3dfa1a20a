"""A result from the draws that a run has so far, without the model that makes them."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError, MemoryLimitError
from bayesgrove.inference.cross_posterior import CrossPosterior, cross_posterior
from bayesgrove.inference.description import Description, spread
from bayesgrove.inference.folder import read_run
from bayesgrove.inference.path_exhibits import hierarchy_exhibits
from bayesgrove.inference.path_posterior import PathPosterior
from bayesgrove.inference.path_trees import hierarchy_tree
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.result import Result, View
from bayesgrove.inference.status import read_chains
from bayesgrove.inference.trace import MemoryTrace
from bayesgrove.inference.views import largest_first
from bayesgrove.stats.partitions import relabel
from bayesgrove.trees import Tree

MOST_LABELS = 2_000_000
"""Labels (draws x items) that the estimate and the tree are made from: a look, not the last word."""
FEWEST_DRAWS, MOST_DRAWS = 40, 400
N_STARTS = 2
DRAWN = ({"view_labels", "row_labels"}, {"paths"}, {"labels"})
"""What draws of any model hold."""
STACKED = ("view_labels", "paths", "labels")
Describe = Callable[[Tree, np.ndarray], Description | None]


def partial_result(
    run_dir: str | os.PathLike[str],
    *,
    leaf_labels: tuple[str, ...] | None = None,
    feature_names: tuple[str, ...] = (),
    describe: Describe | None = None,
) -> Result | None:
    """What the draws in a run's folder say so far; None while there are none.

    Labels are the point estimate of some draws, evenly spread; the tree is their consensus, or of hierarchies of fixed
    depth the most central of them; of views, each has both. Scalars and diagnostics use all draws of the chains that
    are under way.
    """
    folder = Path(run_dir)
    document = read_run(folder)
    posterior = posterior_so_far(read_chains(folder), {"model": document["model"]})
    if posterior is None:
        return None
    if isinstance(posterior, CrossPosterior) and not feature_names:
        feature_names = tuple(f"column {j}" for j in range(posterior.n_items))
    found = _estimate(_some_draws(posterior), leaf_labels, feature_names)
    return Result(
        **found,
        model=document["model"],
        log_evidence=None,
        likelihood="known when the run has ended",
        feature_names=feature_names,
        provenance=document.get("about", {}),
        details={"draws": f"{posterior.n_draws} of {document['n_draws']} so far, {posterior.n_chains} chains"},
        posterior=posterior,
        diagnostics=posterior.diagnostics(),
        description=None if describe is None else describe(found["tree"], found["labels"]),
    )


def _estimate(
    posterior: Posterior, leaf_labels: tuple[str, ...] | None, feature_names: tuple[str, ...]
) -> dict[str, Any]:
    """Labels, a tree and what else a result has to show; of hierarchies of fixed depth those of the central draw."""
    if isinstance(posterior, CrossPosterior):
        return _estimate_views(posterior, leaf_labels, feature_names)
    if isinstance(posterior, PathPosterior):
        levels = posterior.at(posterior.central_draw())
        tree = hierarchy_tree(posterior, levels, leaf_labels)
        exhibits = hierarchy_exhibits(posterior, tree, levels)
        return {"labels": np.ascontiguousarray(levels[:, -1]), "tree": tree, "exhibits": exhibits}
    labels = _partition(posterior)
    return {"labels": labels, "tree": _consensus(posterior, labels, leaf_labels)}


def _partition(posterior: Posterior) -> np.ndarray:
    return posterior.point_estimate(n_starts=N_STARTS, random_state=0).labels


def _estimate_views(
    posterior: CrossPosterior, leaf_labels: tuple[str, ...] | None, feature_names: tuple[str, ...]
) -> dict[str, Any]:
    """Views of the columns, the largest first, and clusters of the rows in each; the first one's stand for all."""
    of_column = _partition(posterior)
    groups = [np.flatnonzero(of_column == view) for view in range(int(of_column.max()) + 1)]
    views: list[View] = []
    for number in largest_first(groups):
        rows = posterior.of_view(groups[number])
        labels = _partition(rows)
        tree = _consensus(rows, labels, leaf_labels)
        views.append(View(f"view {len(views)}", groups[number], labels, tree))
    column_tree = _consensus(posterior, of_column, feature_names)
    return {"labels": views[0].labels, "tree": views[0].tree, "views": tuple(views), "column_tree": column_tree}


def posterior_so_far(traces: list[MemoryTrace], attributes: dict[str, Any]) -> Posterior | None:
    """The draws that all chains under way have; chains far behind the others, or waiting, are left out."""
    longest = max((trace.n_draws for trace in traces), default=0)
    under_way = [trace for trace in traces if trace.n_draws and 2 * trace.n_draws >= longest]
    if not under_way:
        return None
    n_draws = min(trace.n_draws for trace in under_way)
    drawn = [trace.arrays(n_draws) for trace in under_way]
    scalars = [trace.scalars(n_draws) for trace in under_way]
    _refuse_unknown([_layout(own) | dict.fromkeys(of_chain) for own, of_chain in zip(drawn, scalars, strict=True)])
    stacked = {name: np.stack([scalar[name] for scalar in scalars]) for name in scalars[0]}
    if "view_labels" in drawn[0]:
        return cross_posterior(drawn, stacked, attributes)
    if "paths" in drawn[0]:
        return PathPosterior.from_paths(np.stack([own["paths"] for own in drawn]), stacked, {}, attributes)
    return Posterior(np.stack([own["labels"] for own in drawn]), stacked, {}, attributes)


def _layout(drawn: Mapping[str, Any]) -> dict[str, tuple[int, ...] | None]:
    """Names of a chain's draws, with the shape of what is stacked over chains; other shapes may differ."""
    return {name: values.shape if name in STACKED else None for name, values in drawn.items()}


def _refuse_unknown(layouts: list[dict[str, tuple[int, ...] | None]]) -> None:
    """Raise where chains hold no draws that are known here, or not all the same."""
    first = layouts[0]
    if any(layout != first for layout in layouts) or not any(known <= first.keys() for known in DRAWN):
        names = ", ".join(sorted(set().union(*layouts)))
        raise InvalidFileError(
            f"the run is damaged: its chains hold ({names:.200}), not one kind of draws each the same."
        )


def _some_draws(posterior: Posterior) -> Posterior:
    n_items = posterior.n_rows if isinstance(posterior, CrossPosterior) else posterior.n_items
    wanted = int(np.clip(MOST_LABELS // n_items, FEWEST_DRAWS, MOST_DRAWS))
    return posterior.subset(draws=spread(posterior.n_draws, max(1, wanted // posterior.n_chains)))


def _consensus(posterior: Posterior, labels: np.ndarray, leaf_labels: tuple[str, ...] | None) -> Tree:
    """The consensus of the draws; for too many items, the clusters of the estimate below one root."""
    try:
        return posterior.consensus_tree(leaf_labels)
    except MemoryLimitError:
        labels = relabel(labels)
        n, n_clusters = labels.size, int(labels.max()) + 1
        parent = np.concatenate([n + labels, np.full(n_clusters, n + n_clusters), [-1]])
        return Tree.from_parents(parent, leaf_labels=leaf_labels)

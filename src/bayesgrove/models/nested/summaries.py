"""What is shown of draws of a nested hierarchy: one tree, its scores, and how draws are on the whole."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.inference.path_posterior import DrawPlace, PathPosterior
from bayesgrove.stats.paths import PathNodes, inner_distances, path_nodes, sibling_distances

SELECTIONS = ("central", "best", "frequent", "consensus")
COUNTED = ("n_level_1", "n_clusters", "n_components")


class Selected(NamedTuple):
    """The tree shown."""

    place: DrawPlace | None
    """Where the draw stands; None for a consensus."""
    levels: np.ndarray
    """(n_rows, depth): its paths."""


def select_tree(rng: np.random.Generator, posterior: PathPosterior, select: str, n_jobs: int | None) -> Selected:
    """The tree to show, by one of `SELECTIONS`."""
    if select == "consensus":
        return Selected(None, posterior.consensus_paths(random_state=rng, n_jobs=n_jobs))
    if select == "central":
        place = posterior.central_draw()
    elif select == "best":
        place = posterior.best_draw("rcdl" if "rcdl" in posterior.scalars else "cdl")
    else:
        place = DrawPlace(*divmod(posterior.frequent_tree().draw, posterior.n_draws))
    return Selected(place, posterior.at(place))


def score_tree(rows: np.ndarray, posterior: PathPosterior, selected: Selected) -> dict[str, float]:
    """Scores of the tree shown; those of a draw are nan for a consensus, which is none."""
    scalars, place = posterior.scalars, selected.place
    cdl = scalars["cdl"][place] if place is not None else np.nan
    rcdl = scalars["rcdl"][place] if place is not None and "rcdl" in scalars else cdl
    inner, outer = distances(rows, path_nodes(selected.levels))
    return {"cdl": float(cdl), "rcdl": float(rcdl), "aid": inner, "aod": outer}


def distances(rows: np.ndarray, nodes: PathNodes) -> tuple[float, float]:
    """AID and AOD of a tree, on the rows that are sampled; nan where cells are missing."""
    inner = inner_distances(rows, nodes)[nodes.has_sibling & (nodes.size > 1)]
    outer = sibling_distances(rows, nodes)
    return float(inner.mean()) if inner.size else np.nan, float(outer.mean()) if outer.size else np.nan


def judge_draws(
    rows: np.ndarray, posterior: PathPosterior, drawn: Sequence[Mapping[str, np.ndarray]]
) -> dict[str, float]:
    """Mean AID and AOD of some draws, where any has siblings, and mean numbers of nodes of all."""
    most = int(np.clip(2e5 / len(rows), 5, 100))
    chosen = np.linspace(0, len(drawn) - 1, min(most, len(drawn))).astype(int)
    found = np.array([distances(rows, path_nodes(drawn[k]["paths"])) for k in chosen])
    each = {"aid": found[:, 0], "aod": found[:, 1]}
    known = {name: values[np.isfinite(values)] for name, values in each.items()}
    counted = {name: posterior.scalars[name] for name in COUNTED}
    return {f"mean_{name}": float(values.mean()) for name, values in {**known, **counted}.items() if values.size}

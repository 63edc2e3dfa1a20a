"""Heat maps of what clusters hold: known classes, and the labels that hidden states emit."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.plot.axes import new_axes
from bayesgrove.plot.settings_maps import write_cells
from bayesgrove.plot.subjects import as_result
from bayesgrove.plot.words import name_axes, name_colour_bar, set_title, shortened
from bayesgrove.stats.partitions import class_codes

LONG_NAME = 4
"""Longer names of columns stand upright."""
NEGLIGIBLE = 0.005
"""Labels less probable in every state are not shown."""


def class_table(result: Any, classes: Any, ax: Any = None, *, title: str | None = None) -> Any:
    """Draw how many items of each known class are in each cluster and return the matplotlib axes.

    Colours are shares of the class (columns sum to one), numbers are counts. Clusters stand in an order that brings
    those of the same classes together.

    Parameters
    ----------
    result : Result or fitted estimator
        Of any model with clusters.
    classes : array of shape (n_items,)
        Numbers or texts; missing ones are a class of their own.
    ax : matplotlib axes, optional
        A new figure when missing.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> blobs = bg.datasets.make_blobs_tree(30, depth=1, random_state=0)  # three clusters of ten rows
    >>> ax = bg.plot.class_table(bg.BHC(random_state=0).fit(blobs.X), blobs.labels)
    >>> [text.get_text() for text in ax.texts if text.get_text()]
    ['10', '10', '10']
    >>> plt.close(ax.figure)
    """
    result = as_result(result)
    known = np.asarray(classes)
    if known.shape != result.labels.shape:
        raise InvalidInputError(f"classes are one per item, {result.labels.size}, got shape {known.shape}.")
    names, codes = class_codes(known)
    counts = np.zeros((result.n_clusters, names.size))
    np.add.at(counts, (result.labels, codes), 1.0)
    order = cluster_order(counts)
    ax = new_axes(ax, (2.2 + 0.45 * names.size, 1.6 + 0.32 * order.size))
    share = counts[order] / np.maximum(counts.sum(axis=0), 1.0)
    image = ax.imshow(share, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0.0, vmax=1.0)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    name_axes(ax, "class", "cluster")
    _name_columns(ax, [str(name) for name in names])
    ax.set_yticks(np.arange(order.size), [str(cluster) for cluster in order])
    write_cells(ax, image, np.where(counts[order] > 0.0, counts[order], np.nan), share, missing="")
    name_colour_bar(ax, bar, "share of the class")
    set_title(ax, title)
    return ax


def cluster_order(counts: np.ndarray) -> np.ndarray:
    """Clusters by the mean place of their classes, so that a good table is nearly a diagonal."""
    share = counts / np.maximum(counts.sum(axis=0), 1.0)
    weight = np.maximum(share.sum(axis=1), 1e-300)
    return np.argsort(share @ np.arange(counts.shape[1]) / weight, kind="stable")


def emissions(model: Any, ax: Any = None, *, cluster: int = 0, max_labels: int = 40, title: str | None = None) -> Any:
    """Draw which labels the hidden states of a cluster emit, as a heat map, and return the matplotlib axes.

    States stand by their numbers; labels are those most probable in any state, in the order of the states that emit
    them.

    Parameters
    ----------
    model : fitted estimator
        Of trees with discrete labels: it has `components_`, or is a `TreeHMM`.
    ax : matplotlib axes, optional
        A new figure when missing.
    cluster : int
        Which component.
    max_labels : int
        Columns at most.
    title : str, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayesgrove as bg
    >>> trees = bg.TreeData.from_newick(["((a,b)c,d)e;", "((a,b)c)e;", "(x,(y,y)x,x)z;", "(x,(y,y)x)z;"])
    >>> model = bg.TreeHMMMixture(n_clusters=2, n_states=2, n_init=5, random_state=0).fit(trees)
    >>> ax = bg.plot.emissions(model, cluster=0)  # of the first two trees: without x, y and z
    >>> ax.get_xlabel()
    'label; 3 more, less probable'
    >>> plt.close(ax.figure)
    """
    if max_labels < 1:
        raise InvalidSettingError(f"max_labels is at least 1, got {max_labels}. Try 40.")
    tables = getattr(model, "components_", None) or [model]
    if cluster not in range(len(tables)):
        raise InvalidSettingError(f"clusters are 0 .. {len(tables) - 1}, got {cluster}.")
    table = getattr(tables[cluster], "emission_", None)
    if table is None or np.ndim(table) != 2:
        raise InvalidInputError(
            f"emissions shows the labels of hidden states, and {type(model).__name__} has no table of them. Fit a "
            "model of trees with discrete labels, such as TreeHMMMixture, and give the model itself."
        )
    states, labels = shown_emissions(np.asarray(table), max_labels)
    names = getattr(model, "vocabulary_", None)
    ax = new_axes(ax, (2.2 + 0.3 * labels.size, 1.8 + 0.32 * states.size))
    cells = np.asarray(table)[np.ix_(states, labels)]
    image = ax.imshow(cells, aspect="auto", interpolation="nearest", cmap="Greys", vmin=0.0, vmax=1.0)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    left = table.shape[1] - labels.size
    name_axes(ax, "label" + (f"; {left:,} more, less probable" if left else ""), "hidden state")
    _name_columns(ax, [str(code) if names is None else names[code] for code in labels])
    ax.set_yticks(np.arange(states.size), [str(state) for state in states])
    name_colour_bar(ax, bar, "probability")
    set_title(ax, title)
    return ax


def shown_emissions(table: np.ndarray, max_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """States, and the labels most probable in any of them, in the order of the states that emit them."""
    best = table.max(axis=0)
    chosen = np.argsort(-best, kind="stable")[:max_labels]
    chosen = chosen[best[chosen] > NEGLIGIBLE]
    order = np.lexsort((-best[chosen], table.argmax(axis=0)[chosen]))
    return np.arange(len(table)), chosen[order]


def _name_columns(ax: Any, names: Sequence[str]) -> None:
    short = [shortened(name, 18) for name in names]
    is_long = max(map(len, short), default=0) > LONG_NAME
    ax.set_xticks(np.arange(len(short)), short, rotation=90 if is_long else 0)

"""Results made by hand, so that what a page shows is known beforehand; no model is fitted."""

from typing import Any

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.core.table import Table
from bayesgrove.inference.description import Description, describe_rows
from bayesgrove.inference.exhibits import (
    BarsExhibit,
    Exhibit,
    GridExhibit,
    HeatMapExhibit,
    LinesExhibit,
    PictureExhibit,
    TextsExhibit,
)
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.result import Result
from bayesgrove.plot.colours import PALETTE
from bayesgrove.trees import Tree
from reference.results import chain_merges

LEVELS = ("red", "green", "blue")
SMALLEST_PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738"
    "550000000049454e44ae426082"
)
"""A PNG of one black pixel."""


def planted_tree(labels: np.ndarray, names: tuple[str, ...] | None = None) -> Tree:
    """Rows of a cluster are joined one after the other at odds of about e^3, clusters at odds of about e^-3."""
    groups = [np.flatnonzero(labels == label).tolist() for label in range(int(labels.max()) + 1)]
    merges, n_inside = chain_merges(groups)
    inside = [3.0 - 0.01 * place for group in groups for place in range(len(group) - 1)]
    above = [-3.0 - place for place in range(len(merges) - n_inside)]
    return Tree.from_merges(np.array(merges, np.int64).reshape(-1, 2), log_merge_odds=inside + above, leaf_labels=names)


def planted_rows(labels: np.ndarray, missing: float, seed: int = 1) -> Table:
    """Two numeric columns that tell clusters apart, one that does not, and one of categories."""
    rng = generator(seed)
    near = rng.normal(size=(labels.size, 3)) + np.column_stack([4.0 * labels, -3.0 * labels, 0 * labels])
    values = np.column_stack([near, (labels + (rng.random(labels.size) < 0.2)) % len(LEVELS)])
    values = np.where(rng.random(values.shape) < missing, np.nan, values)
    names = ("length", "weight", "noise", "colour")
    return Table(np.ascontiguousarray(values), names, ("float", "float", "float", "category"), {3: LEVELS})


def describe(table: Table, tree: Tree, labels: np.ndarray) -> Description:
    """The description of a table that is held in memory."""
    return describe_rows(lambda items: table.take(items), table.n_columns, tree, labels)


def planted_posterior(labels: np.ndarray, n_chains: int, n_draws: int, *, is_stuck: bool = False) -> Posterior:
    """The labels with a tenth of the rows elsewhere in every draw; where stuck, the first chain is in a world apart."""
    rng = generator(2)
    draws = np.broadcast_to(labels, (n_chains, n_draws, labels.size)).copy()
    moved = rng.random(draws.shape) < 0.1
    draws[moved] = rng.integers(0, labels.max() + 2, int(moved.sum()))
    log_joint = rng.normal(-500.0, 3.0, (n_chains, n_draws))
    log_joint[0] += 40.0 * is_stuck
    return Posterior(draws, {"concentration": rng.gamma(2.0, 1.0, (n_chains, n_draws)), "log_joint": log_joint})


def planted_result(
    sizes: tuple[int, ...] = (12, 9, 7),
    *,
    missing: float = 0.1,
    chains: tuple[int, int] | None = None,
    is_stuck: bool = False,
    names: tuple[str, ...] | None = None,
    **parts: Any,
) -> Result:
    """A result of clusters of these sizes, whose rows take turns; sampled where `chains` are (chains, draws)."""
    labels = planted_labels(sizes)
    tree = planted_tree(labels, names)
    table = planted_rows(labels, missing)
    posterior = None if chains is None else planted_posterior(labels, *chains, is_stuck=is_stuck)
    given = {
        "model": "Planted",
        "labels": labels,
        "tree": tree,
        "log_evidence": None,
        "likelihood": "none",
        "feature_names": table.names,
        "provenance": {"settings": {"cut": 0.5}},
        "posterior": posterior,
        "diagnostics": None if posterior is None else posterior.diagnostics(),
        "description": describe(table, tree, labels),
    }
    return Result(**{**given, **parts})


def planted_labels(sizes: tuple[int, ...]) -> np.ndarray:
    """0, 1, 2, 0, 1, 2, ... until each cluster has its size: clusters are not runs of rows."""
    left = list(sizes)
    labels: list[int] = []
    while sum(left):
        for label, size in enumerate(left):
            if size:
                labels.append(label)
                left[label] -= 1
    return np.array(labels, np.int64)


def all_exhibits() -> tuple[Exhibit, ...]:
    """One of each kind, and a heat map with a middle."""
    values = np.arange(12.0).reshape(3, 4)
    values[1, 2] = np.nan
    x = np.linspace(0.0, 10.0, 21)
    rows, columns = ("first", "second", "third"), ("a", "b", "c", "d")
    return (
        GridExhibit(
            title="A grid",
            note="Read it.",
            columns=("topic", "weight", "n"),
            rows=[["fish", 0.123456, 1200], ["fowl", None, -3]],
        ),
        HeatMapExhibit(title="A map", values=values, row_names=rows, column_names=columns, unit="grams"),
        HeatMapExhibit(
            title="Two sides", values=values - 4.0, row_names=rows, column_names=columns, unit="z", middle=0.0
        ),
        LinesExhibit(
            title="Lines",
            x=x,
            series={"sine": np.sin(x), "broken": np.where(x < 5, np.nan, x / 5)},
            x_label="time",
            y_label="swing",
        ),
        BarsExhibit(
            title="Bars",
            names=("up", "down"),
            values=np.array([2.0, -1.0]),
            low=np.array([1.5, -1.4]),
            high=np.array([2.4, -0.5]),
            y_label="effect",
        ),
        TextsExhibit(title="Texts", names=["<b>one</b>"], texts=["<script>window.hit = 1</script>\n  two"]),
        PictureExhibit(title="A picture", png=SMALLEST_PICTURE, alt="one black pixel"),
    )


def expected_colours(result: Result, items: np.ndarray) -> list[str]:
    """Colour of each item: clusters wear the palette's colours from the left of the tree."""
    in_order = result.labels[result.tree.leaf_order]
    first = np.unique(in_order, return_index=True)[1]
    rank = np.argsort(np.argsort(first))
    return [PALETTE[rank[result.labels[item]] % len(PALETTE)].upper() for item in items]

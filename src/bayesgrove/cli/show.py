"""What fitted models look like in a terminal."""

import collections
import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from bayesgrove.cli import run_folder, views
from bayesgrove.inference.overview import CountDistribution
from bayesgrove.inference.result import PAIR
from bayesgrove.report.words import why_another_number

MAX_CLUSTERS = 20
MAX_VIEWS, MAX_SIZES, MAX_NAMES = 20, 6, 30
MOST_COLUMN_LINES = 24
MAX_TOLD = 8
MOST_COLUMNS_SHOWN = 40
MOST_LETTERS = 40


def show_model(console: Console, model: Any, run: Path) -> None:
    """Views where there are any, clusters, evidence, hyperparameters and the tree of a fitted model."""
    if views.has_views(model):
        show_views(console, model)
    sizes = np.bincount(model.labels_)
    noun = "tree" if views.has_typical_trees(model) else "row"
    console.print(f"{count(len(sizes), 'cluster')} of {count(int(sizes.sum()), noun)}", style="bold")
    has_draws = model.result_.draws_of_clusters is not None
    whole = "component" if model.result_.n_components > len(sizes) and not has_draws else "cluster"
    show_clusters(console, model.tree_, model.labels_, noun, whole=whole)
    if hasattr(model, "posterior_"):
        console.print()
        show_chains(console, model, run)
    if "check" in model.result_.details:
        console.print(f"Model check: {model.result_.details['check']}\n", markup=False)
    console.print(numbers_grid(model))
    console.print()
    show_tree(console, model.tree_)


def show_columns(console: Console, model: Any) -> None:
    """How each column of a table is understood, and how to change it."""
    columns = getattr(model.result_, "columns", ())  # trees have none
    if not columns:
        return
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for title in ("column", "kind", "family", "reason", "alternatives"):
        grid.add_column(title, max_width=MOST_LETTERS, no_wrap=title not in ("reason", "alternatives"))
    for column in columns[:MOST_COLUMNS_SHOWN]:
        mark = " (close)" if column["close"] else ""
        cells = (column["name"], column["kind"], column["family"] + mark, column["reason"], column["alternatives"])
        grid.add_row(*map(Text, cells))
    console.print("Columns as understood", style="bold")
    console.print(grid)
    if len(columns) > MOST_COLUMNS_SHOWN:
        console.print(f"{len(columns) - MOST_COLUMNS_SHOWN:,} more columns are in the report")
    console.print("Change a family with --columns NAME=FAMILY,...; alternatives are in nats.\n", style="dim")


def show_views(console: Console, model: Any) -> None:
    """The views with their columns and numbers of clusters, and the tree of the columns."""
    n_columns = len(model.result_.feature_names)
    console.print(f"{count(len(model.views_), 'view')} of {count(n_columns, 'column')}", style="bold")
    console.print(view_grid(model.result_))
    console.print("\nColumns:")
    show_tree(console, model.column_tree_, MOST_COLUMN_LINES)
    console.print(f"\nRows in {model.result_.views[0].name}, the largest:", markup=False)


def view_grid(result: Any) -> Grid:
    """A grid of views: columns, clusters of rows and their sizes, names of columns as many as fit."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for title in ("view", "columns", "clusters"):
        grid.add_column(title, justify="right", no_wrap=True)
    grid.add_column("rows in clusters", max_width=24, no_wrap=True)
    grid.add_column("names of columns")  # the only one that gives way where the terminal is narrow
    for view in result.views[:MAX_VIEWS]:
        sizes = ", ".join(str(size) for size in sorted(np.bincount(view.labels), reverse=True)[:MAX_SIZES])
        names = ", ".join(result.feature_names[j] for j in view.columns[:MAX_NAMES])
        cells = (view.name.removeprefix("view "), str(view.columns.size), str(view.n_clusters), sizes, names)
        grid.add_row(*map(Text, cells))
    rest = result.views[MAX_VIEWS:]
    if rest:
        grid.add_row(f"{len(rest)} more", str(sum(view.columns.size for view in rest)), "", "", "")
    return grid


def count(number: int, thing: str) -> str:
    """The number and its noun, in the plural where due."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def show_tree(console: Console, tree: Any, max_lines: int = 30) -> None:
    """The tree in box-drawing characters, long lines cut at the terminal's edge."""
    for line in tree.to_text(max_lines).splitlines():
        console.print(Text(line), no_wrap=True, overflow="ellipsis", crop=True)


def show_clusters(
    console: Console,
    tree: Any,
    labels: np.ndarray,
    noun: str = "row",
    *,
    group: str = "cluster",
    whole: str = "cluster",
) -> None:
    """The grid of clusters and what its last two columns mean."""
    console.print(cluster_grid(tree, labels, noun, group=group, whole=whole))
    console.print(f"one {whole}: probability that the {noun}s are one {whole}", style="dim")
    if "apart" in tree.columns:
        beside = "apart from its neighbour: how often the two sides of the branch above are different clusters"
    else:
        beside = f"one with its neighbour: probability that the two sides of the branch above are one {whole}"
    console.print(beside, style="dim")


def cluster_grid(
    tree: Any, labels: np.ndarray, noun: str = "row", *, group: str = "cluster", whole: str = "cluster"
) -> Grid:
    """A grid of clusters, the largest first: size, and how sure the merges in and above it are.

    `group` is what labels are of, `whole` what merge probabilities are about: clusters, or components where clusters
    are unions of them.
    """
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    roots = cluster_roots(tree, labels)
    chance, apart = tree.nodes["probability"], tree.columns.get("apart")
    beside = "one with its neighbour" if apart is None else "apart from its neighbour"
    with_neighbour = chance if apart is None else apart
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for title in (group, f"{noun}s", "share", f"one {whole}", beside):
        grid.add_column(title, justify="right")
    for cluster in order[:MAX_CLUSTERS]:
        node = roots[cluster]
        above = tree.parent[node] if node >= 0 else -1
        grid.add_row(
            str(cluster),
            str(sizes[cluster]),
            f"{sizes[cluster] / sizes.sum():.1%}",
            format_chance(chance[node]) if node >= 0 and sizes[cluster] > 1 else "-",
            format_chance(with_neighbour[above]) if above >= 0 else "-",
        )
    if len(order) > MAX_CLUSTERS:
        rest = order[MAX_CLUSTERS:]
        grid.add_row(f"{len(rest)} more", str(sizes[rest].sum()), f"{sizes[rest].sum() / sizes.sum():.1%}", "", "")
    return grid


def show_chains(console: Console, model: Any, run: Path) -> None:
    """How many clusters, or views, the draws have, and whether the chains may be trusted."""
    counted = "views" if views.has_views(model) else "clusters"
    numbers = model.result_.draws_of_clusters.scalars[f"n_{counted}"].astype(np.int64).ravel()
    shares = np.bincount(numbers) / numbers.size
    common = sorted(np.flatnonzero(shares >= 0.005).tolist())
    text = ", ".join(f"{k}: {shares[k]:.1%}" for k in common)
    console.print(f"number of {counted} in the draws  {text}")
    if views.has_levels(model):
        console.print(level_words(model))
    shown = model.result_.n_components if counted == "clusters" else len(model.views_)
    found = CountDistribution(np.arange(shares.size), shares, True)
    reason = why_another_number(model.result_, found, shown, counted[:-1])
    if reason:
        console.print(reason)
    words = verdict_for_shell(model.diagnostics_.verdict, run)
    console.print(with_pair_names(words, model.result_), markup=False)
    console.print()


def verdict_for_shell(verdict: Any, run: Path) -> str:
    """The verdict, and on a line of its own the command that does what it advises."""
    reason = " ".join(filter(None, (f"{verdict.finding}.", verdict.remark)))
    if verdict.n_more_draws is None:
        return reason
    return f"{reason}\nrun longer: {run_folder.resume_command(run, verdict.n_draws + verdict.n_more_draws)}"


def with_pair_names(words: str, result: Any) -> str:
    """Words about scalars, pairs of items called by their names where they have any."""

    def named(scalar: re.Match[str]) -> str:
        names = result.pair_names(scalar[0])
        return scalar[0] if names is None else f"together[{', '.join(name[:MOST_LETTERS] for name in names)}]"

    return PAIR.sub(named, words)


def level_words(model: Any) -> str:
    """Nodes at each level, of the tree shown and on average of the draws."""
    shown = [int(level.max()) + 1 for level in model.level_labels_.T]
    means = (model.posterior_.paths.max(axis=2) + 1.0).mean(axis=(0, 1))
    pairs = zip(shown, means, strict=True)
    return "nodes by level (mean of the draws)  " + ", ".join(f"{own} ({mean:.1f})" for own, mean in pairs)


def cluster_roots(tree: Any, labels: np.ndarray) -> np.ndarray:
    """The node that holds exactly each cluster's rows; -1 for a cluster that is no node."""
    sizes = np.bincount(labels)
    unknown, mixed = -2, -1
    cluster = np.where(tree.item >= 0, labels[np.maximum(tree.item, 0)], unknown).tolist()
    # A parent's id is greater than its children's, so one pass upwards sees all children first.
    for node, parent in enumerate(tree.parent.tolist()):
        if parent >= 0:
            cluster[parent] = cluster[node] if cluster[parent] in (unknown, cluster[node]) else mixed
    found = np.array(cluster)
    nodes = np.flatnonzero((found >= 0) & (tree.size == sizes[np.maximum(found, 0)]))
    roots = np.full(len(sizes), -1)
    roots[found[nodes]] = nodes
    return roots


def format_chance(probability: float) -> str:
    """A probability in three digits that never claims certainty it has not."""
    if probability > 0.999:
        return "> .999"
    if probability < 0.001:
        return "< .001"
    return f"{probability:.3f}".removeprefix("0")


def numbers_grid(model: Any) -> Grid:
    """A grid of the evidence and the hyperparameters used."""
    grid = Grid(box=None, show_header=False, pad_edge=False)
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    for name, value in hyper_parameters(model).items():
        grid.add_row(name, value)
    return grid


def hyper_parameters(model: Any) -> dict[str, str]:
    """The numbers a fitted model used, each as a short text."""
    found = {}
    if hasattr(model, "log_evidence_"):
        found["log evidence"] = f"{model.log_evidence_:.3f}"
    if hasattr(model, "search_"):
        found["search"] = str(model.search_)
    if views.has_views(model):
        found["concentration of rows"] = describe(model.row_concentration_)
        found["concentration of columns"] = describe(model.column_concentration_)
    elif views.has_levels(model):
        found |= level_numbers(model)
    elif hasattr(model, "concentration_"):
        found["concentration"] = describe(model.concentration_)
    if views.has_typical_trees(model):
        found |= tree_numbers(model)
    likelihood = getattr(model, "likelihood_", None)
    if likelihood is not None:
        found["likelihood"] = type(likelihood).__name__
        for field in dataclasses.fields(likelihood):
            found[f"  {field.name}"] = describe(getattr(likelihood, field.name))
    return found


def tree_numbers(model: Any) -> dict[str, str]:
    """Sizes of the tables of a model of trees, and what tells its largest clusters apart."""
    found = {
        "hidden states": str(model._prior.shape.n_states),
        "prior strength": ", ".join(f"{name} {value:.3g}" for name, value in model._prior.strengths._asdict().items()),
        "largest position": str(model.max_outdegree_),
    }
    if model.vocabulary_ is not None:
        found["labels"] = str(len(model.vocabulary_))
    if not model._schema.n_columns:
        for telling in model.telling_labels(most=1)[:MAX_TOLD]:
            side = "more" if telling.log_odds > 0 else "less"
            shares = f"{telling.share:.1%} of its nodes, elsewhere {telling.elsewhere:.1%}"
            found[f"cluster {telling.cluster}"] = f"{side} {describe(telling.name)}: {shares}"
    return found


def level_numbers(model: Any) -> dict[str, str]:
    """Numbers and scores of a hierarchy of fixed depth."""
    found = {name: describe(getattr(model, f"{name}_")) for name in ("alpha", "gamma", "gamma0")}
    known = {name: score for name, score in model.scores_.items() if not np.isnan(score)}  # AID, AOD need two nodes
    return found | {name.upper(): describe(score) for name, score in known.items()}


def describe(value: Any) -> str:
    """A number, or the range of many, or how many columns are of each family, or a shortened text."""
    if isinstance(value, tuple) and value and all(isinstance(part, float | int) for part in value):
        value = np.array(value, float)
    if isinstance(value, tuple) and value and all(dataclasses.is_dataclass(part) for part in value):
        families = collections.Counter(type(part).__name__ for part in value)
        return ", ".join(f"{number} {name}" for name, number in families.items())
    if isinstance(value, np.ndarray) and value.ndim and value.size and value.dtype.kind in "biuf":
        low, high = np.nanmin(value), np.nanmax(value)
        return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g} ({value.size} numbers)"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= 60 else text[:59] + "…"

"""`bayesgrove demo`: the main job, from start to end, on data that scikit-learn brings along."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

from bayesgrove.cli import models, run_folder
from bayesgrove.cli.fit import name_leaves, show_files, summarise, write_pages
from bayesgrove.cli.progress import progress_of
from bayesgrove.cli.show import count, numbers_grid, show_clusters, show_tree
from bayesgrove.cli.sources import Rows
from bayesgrove.core.table import table_from_array

DATA = "wine (demo)"
INTRODUCTION = """\
178 Italian wines from three growers, described by 13 chemical measurements (scikit-learn's wine data). \
Bayesian hierarchical clustering arranges them in a tree. Each merge weighs the evidence that both sides \
are one cluster against the evidence that they are not, and among many trees the one with the highest evidence \
found is kept. The model knows neither the growers nor how many there are."""
UNIONS = """\
Each cluster is a union of Gaussian components of the mixture that no valley of the density separates. A grower's \
wines need not follow one Gaussian, so it may take several components to describe them."""
CERTAINTY = "Given this tree, how sure the components are:"


def demo(out: Path, console: Console, *, force: bool) -> None:
    """Cluster the wines, compare the clusters with the growers, show how sure each merge is."""
    force = force or _is_own(out)
    run_folder.check_destination(out, force=force)
    from sklearn.datasets import load_wine

    wine = load_wine()
    growers = wine.target_names[wine.target]
    names = tuple(f"{grower} #{i}" for i, grower in enumerate(growers))
    table = table_from_array(wine.data, [str(name) for name in wine.feature_names])
    console.print(INTRODUCTION, highlight=False)
    console.print()
    model, seconds = _fit(table)
    name_leaves(model, names)
    run_folder.write_run(
        out,
        model,
        {**summarise(model, "bhc", Rows(table, names), seconds), "data": DATA, "index": None},
        names,
        force=force,
    )
    files = write_pages(out, model)
    _show(console, model, growers, seconds)
    show_files(console, files)
    console.print("\nContinue in Python:", highlight=False)
    for line in _python_lines(out):
        console.print(f"  {line}", soft_wrap=True, markup=False, highlight=False)


def _is_own(out: Path) -> bool:
    """True for a folder the demo itself made before, which it may replace."""
    return os.path.isfile(out / run_folder.SUMMARY) and run_folder.read_summary(out).get("data") == DATA


def _fit(table: Any) -> tuple[Any, float]:
    model = models.model_class("bhc")(random_state=0)
    start = time.perf_counter()
    with progress_of(model, "clustering 178 wines"):
        model.fit(table)
    return model, time.perf_counter() - start


def _show(console: Console, model: Any, growers: np.ndarray, seconds: float) -> None:
    console.print(f"Tree found in {seconds:.1f} s (the first run compiles).", highlight=False)
    found = count(model.n_clusters_, "cluster")
    console.print(f"\n{found}, against the growers:", highlight=False)
    console.print(cross_grid(model.labels_, growers))
    _show_components(console, model)
    console.print("\nThe tree, small branches folded, with merge probabilities:")
    show_tree(console, model.tree_, 21)


def _show_components(console: Console, model: Any) -> None:
    """The components of the mixture, how sure they are, and the hyperparameters."""
    console.print(f"\n{UNIONS} Here there are {count(model.n_components_, 'component')}.", highlight=False)
    console.print(f"\n{CERTAINTY}", highlight=False)
    show_clusters(console, model.tree_, model.component_labels_, group="component", whole="component")
    console.print()
    console.print(numbers_grid(model))


def cross_grid(labels: np.ndarray, classes: np.ndarray) -> Grid:
    """Counts of clusters against known classes (columns)."""
    names = np.unique(classes)
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("cluster", justify="right")
    for name in names:
        grid.add_column(str(name), justify="right")
    for group in range(int(labels.max()) + 1):
        counts = [int(np.sum((labels == group) & (classes == name))) for name in names]
        grid.add_row(str(group), *(str(count) if count else "." for count in counts))
    return grid


def _python_lines(out: Path) -> list[str]:
    return [
        "import bayesgrove as bg",
        f"model = bg.load({str(out / run_folder.MODEL)!r})",
        "model.labels_, model.tree_.nodes, model.cut(n_clusters=3)",
        "model.tree_.plot()",
    ]

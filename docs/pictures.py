"""Make the pictures of the pages again: `python docs/pictures.py [NAME ...]`, all of them without a name.

Data come from scikit-learn, seeds are fixed, and each picture is what the page's own lines of code lead to.
"""

import argparse
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_iris, load_wine, make_blobs

import bayesgrove as bg
from bayesgrove.plot.colours import PALETTE

IMAGES = Path(__file__).resolve().parent / "images"
DOTS_PER_INCH = 110
MARKERS = "os^"


def wine() -> Figure:
    """The tree of the wines, leaves named by grower."""
    data = load_wine()
    model = bg.BHC(random_state=0).fit(data.data)
    names = [f"grower {grower}" for grower in data.target]
    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    model.tree_.plot(ax=figure.subplots(), leaf_labels=names, title="178 wines, joined by BHC")
    return figure


def wine_plane() -> Figure:
    """The wines in the plane of greatest variance of the standardised columns; colours: clusters, marks: growers."""
    data = load_wine()
    model = bg.BHC(random_state=0).fit(data.data)
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    ax = figure.subplots()
    scatter(ax, plane(data.data), model.labels_, data.target)
    ax.set(xlabel="first principal component", ylabel="second principal component")
    ax.set_title(f"Colours: {model.n_clusters_} clusters of BHC, repeated beyond {len(PALETTE)}. Marks: the 3 growers")
    return figure


def randomized_icicle() -> Figure:
    """The tree of 100,000 rows as an icicle."""
    X, _ = make_blobs(100_000, n_features=5, centers=12, random_state=0)
    model = bg.RandomizedBHC(random_state=0).fit(X)
    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    model.tree_.plot(ax=figure.subplots(), kind="icicle", title="100,000 rows, RandomizedBHC")
    return figure


def incremental_stream() -> Figure:
    """Three looks at a stream in which new groups appear."""
    X, _ = stream()
    model = bg.IncrementalBHC(random_state=0)
    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    for ax, batch in zip(figure.subplots(1, 3, sharex=True, sharey=True), np.split(X, [100, 400]), strict=True):
        model.partial_fit(batch)
        seen = X[: model.n_rows_seen_]
        scatter(ax, seen, model.labels_, np.zeros(len(seen), int))
        ax.set(title=f"{model.n_rows_seen_} rows: {model.n_clusters_} clusters", xlabel="first column")
    figure.axes[0].set_ylabel("second column")
    return figure


def stream() -> tuple[np.ndarray, np.ndarray]:
    """900 rows of six groups, three of which appear after 100 and after 400 rows; the group of each."""
    rng = np.random.default_rng(0)
    group = np.concatenate([rng.integers(0, 3, 100), rng.integers(0, 5, 300), rng.integers(0, 6, 500)])
    centers = np.array([[0, 0], [6, 0], [0, 6], [6, 6], [12, 3], [3, 12]])
    return centers[group] + rng.normal(scale=0.8, size=(900, 2)), group


@cache
def iris_mixture() -> bg.NRMMixture:
    """The mixture of the page: full covariances, draws eight sweeps apart."""
    model = bg.NRMMixture(likelihood="gaussian-full", thin=8, random_state=0, n_jobs=2)
    return model.fit(load_iris().data)


def iris_similarity() -> Figure:
    """How often two flowers are together, in the order of the consensus tree, and how many clusters there are."""
    model, species = iris_mixture(), load_iris().target
    posterior = model.posterior_
    order = posterior.consensus_tree().leaf_order
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
    shown = left.imshow(posterior.similarity()[np.ix_(order, order)], cmap="cividis", vmin=0.0, vmax=1.0)
    figure.colorbar(shown, ax=left, label="share of draws together", shrink=0.85)
    left.set(title="150 flowers, two by two", xlabel="flowers in the order of the consensus tree")
    left.set_yticks(*species_ticks(species[order]))
    draw_counts(right, posterior.scalars["n_clusters"])
    return figure


def species_ticks(species: np.ndarray) -> tuple[list[float], list[str]]:
    """The middle of each run of at least ten flowers of one species, and its name."""
    ends = np.flatnonzero(np.diff(species)) + 1
    runs = [run for run in np.split(np.arange(species.size), ends) if run.size >= 10]
    names = load_iris().target_names
    return [float(run.mean()) for run in runs], [str(names[species[run[0]]]) for run in runs]


def draw_counts(ax: Axes, n_clusters: np.ndarray) -> None:
    """The posterior of the number of clusters."""
    counts, frequency = np.unique(n_clusters.astype(int), return_counts=True)
    ax.bar(counts, frequency / frequency.sum(), color=PALETTE[0], width=0.7)
    ax.set(title="How many clusters", xlabel="clusters", ylabel="share of draws", xticks=counts)
    ax.spines[["top", "right"]].set_visible(False)


def iris_traces() -> Figure:
    """Number of clusters and log joint of four chains."""
    model = iris_mixture()
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    for ax, name in zip(figure.subplots(2, 1, sharex=True), ("n_clusters", "log_joint"), strict=True):
        for chain, values in enumerate(model.posterior_.scalars[name]):
            draws = np.arange(0, values.size, 10)
            ax.plot(draws, values[draws], color=PALETTE[chain], linewidth=0.8, label=f"chain {chain}")
        ax.set_ylabel(name)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].legend(ncols=4, frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 0.97))
    figure.axes[1].set_xlabel("draw (every tenth is shown)")
    return figure


def two_trees() -> Figure:
    """One small tree as dendrogram and as icicle."""
    X, _ = make_blobs(24, centers=4, cluster_std=1.3, random_state=5)
    tree = bg.BHC(random_state=0).fit(X).tree_
    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    tree.plot(ax=left, title="dendrogram")
    tree.plot(ax=right, kind="icicle", title="icicle")
    return figure


def plane(X: np.ndarray) -> np.ndarray:
    """Scores of the first two principal components of the standardised columns."""
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    _, _, directions = np.linalg.svd(standard, full_matrices=False)
    return standard @ directions[:2].T


def scatter(ax: Axes, xy: np.ndarray, labels: np.ndarray, classes: np.ndarray) -> None:
    """Points coloured by cluster, with a mark per class."""
    colours = np.array(PALETTE)[labels % len(PALETTE)]
    for known, marker in zip(np.unique(classes), MARKERS, strict=False):
        own = classes == known
        ax.scatter(*xy[own].T, c=colours[own], marker=marker, s=16, linewidths=0)
    ax.spines[["top", "right"]].set_visible(False)


PICTURES: dict[str, Callable[[], Figure]] = {
    "wine": wine,
    "wine-plane": wine_plane,
    "randomized-icicle": randomized_icicle,
    "incremental-stream": incremental_stream,
    "iris-similarity": iris_similarity,
    "iris-traces": iris_traces,
    "two-trees": two_trees,
}


def save(figure: Figure, path: Path) -> None:
    """Write a PNG file of at most 256 colours, a third of the size of one with all of them."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=DOTS_PER_INCH)
    Image.open(stream).convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE).save(path, optimize=True)


def main() -> None:
    """Write the pictures asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PICTURES], help="pictures to make; all by default")
    for name in parser.parse_args().names or PICTURES:
        save(PICTURES[name](), IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()

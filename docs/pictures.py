"""Make the pictures of the pages again: `python docs/pictures.py [NAME ...]`, all of them without a name.

Data come from scikit-learn, seeds are fixed, and each picture is what the page's own lines of code lead to.
"""

import argparse
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_iris, load_wine, make_blobs

import bayesgrove as bg
from bayesgrove.plot.colours import PALETTE

IMAGES = Path(__file__).resolve().parent / "images"
DOTS_PER_INCH = 110


@cache
def wine_model() -> bg.BHC:
    """The tree of the wines, columns named."""
    data = load_wine(as_frame=True)
    return bg.BHC(random_state=0).fit(data.data)


def wine() -> Figure:
    """The tree of the wines, leaves named by grower."""
    names = [f"grower {grower}" for grower in load_wine().target]
    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    bg.plot.dendrogram(wine_model(), figure.subplots(), leaf_labels=names, title="The tree of 178 wines")
    return figure


def wine_plane() -> Figure:
    """The wines in the plane of greatest variance, by cluster."""
    figure = Figure(figsize=(7.5, 5.0), layout="constrained")
    bg.plot.embedding(wine_model(), figure.subplots(), title="178 wines in three clusters")
    return figure


def wine_profile() -> Figure:
    """What sets the clusters apart."""
    figure = Figure(figsize=(8.0, 4.6), layout="constrained")
    bg.plot.profile(wine_model(), figure.subplots(), max_features=8, title="What sets the three clusters apart")
    return figure


def randomized_icicle() -> Figure:
    """The tree of 100,000 rows as an icicle."""
    X, _ = make_blobs(100_000, n_features=5, centers=12, random_state=0)
    model = bg.RandomizedBHC(random_state=0).fit(X)
    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    bg.plot.icicle(model, figure.subplots(), title="100,000 rows, RandomizedBHC")
    return figure


def incremental_stream() -> Figure:
    """Three looks at a stream in which new groups appear."""
    X, _ = stream()
    model = bg.IncrementalBHC(random_state=0)
    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    for ax, batch in zip(figure.subplots(1, 3, sharex=True, sharey=True), np.split(X, [100, 400]), strict=True):
        model.partial_fit(batch)
        ax.scatter(*X[: model.n_rows_seen_].T, c=np.array(PALETTE)[model.labels_], s=16, linewidths=0)
        ax.set(title=f"{model.n_rows_seen_} rows: {model.n_clusters_} clusters", xlabel="first column")
        ax.spines[["top", "right"]].set_visible(False)
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
    model = bg.NRMMixture(likelihood="gaussian-full", thin=8, n_draws=1000, random_state=0, n_jobs=2)
    return model.fit(load_iris().data)


def iris_similarity() -> Figure:
    """How often two flowers are together, and how many clusters there are."""
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1.0))
    bg.plot.similarity(iris_mixture(), left)
    bg.plot.cluster_counts(iris_mixture(), right)
    return figure


def iris_traces() -> Figure:
    """Number of clusters and log joint of four chains."""
    figure = Figure(figsize=(9.0, 5.6), layout="constrained")
    for ax, scalar in zip(figure.subplots(2, 1), ("n_clusters", "log_joint"), strict=True):
        bg.plot.trace(iris_mixture(), ax, scalar=scalar)
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


def views() -> Figure:
    """Three views of a made table, side by side."""
    made = bg.datasets.make_cross_table(100, (12, 8, 4), (4, 3, 2), n_trials=20, random_state=0)
    model = bg.BHCC("poisson", random_state=0).fit(made.X)
    figure = Figure(figsize=(9.6, 5.6), layout="constrained")
    bg.plot.views(model, figure.subplots())
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "wine": wine,
    "wine-plane": wine_plane,
    "wine-profile": wine_profile,
    "randomized-icicle": randomized_icicle,
    "incremental-stream": incremental_stream,
    "iris-similarity": iris_similarity,
    "iris-traces": iris_traces,
    "two-trees": two_trees,
    "views": views,
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

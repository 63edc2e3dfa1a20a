"""Error rates of BHC on simulated tables with known clusters: `python -m benchmarks.scorecard.errors [--seeds N]`.

Each case is fitted by the search and by the published greedy order: how often the number of clusters is too small or
too large, and the mean adjusted Rand index.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

N_ROWS = 300
Case = Callable[[int], tuple[np.ndarray, np.ndarray]]


def one_cluster(draw: Callable[[np.random.Generator], np.ndarray]) -> Case:
    """Rows of one distribution."""
    return lambda seed: (draw(np.random.default_rng(seed)), np.zeros(N_ROWS, np.int64))


def two_gaussians(distance: float) -> Case:
    """Two spheres in the plane, so many standard deviations apart."""

    def make(seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, N_ROWS)
        rows = rng.normal(size=(N_ROWS, 2))
        rows[:, 0] += distance * truth
        return rows, truth

    return make


def blobs(n_columns: int, n_centres: int, n_rows: int = N_ROWS) -> Case:
    """scikit-learn's blobs, some of which overlap."""
    from sklearn.datasets import make_blobs

    return lambda seed: make_blobs(n_rows, n_columns, centers=n_centres, cluster_std=0.6, random_state=seed)


CASES: dict[str, Case] = {
    "one Gaussian, 2 columns": one_cluster(lambda rng: rng.normal(size=(N_ROWS, 2))),
    "one Gaussian, 10 columns": one_cluster(lambda rng: rng.normal(size=(N_ROWS, 10))),
    "one Gaussian, correlation .9": one_cluster(
        lambda rng: rng.multivariate_normal(np.zeros(2), [[1.0, 0.9], [0.9, 1.0]], N_ROWS)
    ),
    "one uniform square": one_cluster(lambda rng: rng.uniform(size=(N_ROWS, 2))),
    "one exponential cluster, 2 columns": one_cluster(lambda rng: rng.exponential(size=(N_ROWS, 2))),
    **{f"two Gaussians, {distance} sd apart": two_gaussians(distance) for distance in (3, 4, 5, 6)},
    "5 blobs, 2 columns": blobs(2, 5),
    "10 blobs, 2 columns": blobs(2, 10),
    "20 blobs, 5 columns": blobs(5, 20),
    "5 blobs, 2 columns, 2,000 rows": blobs(2, 5, 2_000),
}


def error_rates(case: Case, search: str, n_seeds: int) -> dict[str, Any]:
    """Shares of tables with too few and too many clusters, and the mean adjusted Rand index."""
    from sklearn.metrics import adjusted_rand_score
    from sklearn.preprocessing import StandardScaler

    from bayesgrove import BHC
    from bayesgrove.likelihoods import GaussianDiagonal

    surplus, scores = [], []
    for seed in range(n_seeds):
        rows, truth = case(seed)
        model = BHC(GaussianDiagonal.learned(), search=search, clusters="components", random_state=0).fit(
            StandardScaler().fit_transform(rows)
        )
        surplus.append(model.n_clusters_ - np.unique(truth).size)
        scores.append(adjusted_rand_score(truth, model.labels_))
    off = np.array(surplus)
    return {"too few": np.mean(off < 0), "too many": np.mean(off > 0), "median": np.median(off), "ARI": np.mean(scores)}


def main() -> None:
    """Print a line for each case and search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    n_seeds = parser.parse_args().seeds
    for name, case in CASES.items():
        for search in ("best", "greedy"):
            found = error_rates(case, search, n_seeds)
            print(
                f"{name:36s} {search:7s}", "  ".join(f"{key} {value:.2f}" for key, value in found.items()), flush=True
            )


if __name__ == "__main__":
    main()

"""Data whose truth is known, what the best classifier could make of them, and the published sets where present."""

import contextlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidFileError
from bayesgrove.core.rng import generator
from bayesgrove.datasets import load_toy1300
from bayesgrove.datasets.home import data_home
from bayesgrove.stats.partitions import adjusted_rand
from benchmarks.timing import ROOT

SEPARATED_SPREAD = 4.0
OVERLAPPING_ARI = 0.97
WANTED_ARI, BELOW_ORACLE = 0.95, 0.02
SET_OF_119 = "tgmcmc_toy10k/10k_X.txt.gz", "tgmcmc_toy10k/10k_gt_labels.txt.gz"


class Blobs(NamedTuple):
    """Rows, their clusters, the best classifier's agreement with them, and the agreement that is wanted."""

    X: np.ndarray
    labels: np.ndarray
    spread: float
    oracle_ari: float

    @property
    def target_ari(self) -> float:
        """0.95, or a little below what can be reached."""
        return min(WANTED_ARI, self.oracle_ari - BELOW_ORACLE)


def draw_blobs(seed: int, n: int, d: int, n_clusters: int, kind: str) -> Blobs:
    """Equally likely clusters with unit noise; centres lie "separated", or so that the oracle's ARI is about .97."""
    rng = generator(seed)
    centres, labels = rng.standard_normal((n_clusters, d)), rng.integers(0, n_clusters, n)
    noise = rng.standard_normal((n, d))
    spread = SEPARATED_SPREAD if kind == "separated" else overlapping_spread(centres, labels, noise)
    return Blobs(spread * centres[labels] + noise, labels, spread, oracle(spread, centres, labels, noise))


def oracle(spread: float, centres: np.ndarray, labels: np.ndarray, noise: np.ndarray) -> float:
    """ARI of the classifier that knows all parameters: the nearest centre, as clusters are equally likely."""
    X, means = spread * centres[labels] + noise, spread * centres
    nearest = np.argmax(X @ means.T - 0.5 * (means**2).sum(axis=1), axis=1)
    return float(adjusted_rand(labels, nearest))


def overlapping_spread(centres: np.ndarray, labels: np.ndarray, noise: np.ndarray) -> float:
    """Standard deviation of the centres at which the oracle's ARI is about .97, by bisection."""
    low, high = 0.0, SEPARATED_SPREAD
    for _ in range(20):
        middle = 0.5 * (low + high)
        if oracle(middle, centres, labels, noise) < OVERLAPPING_ARI:
            low = middle
        else:
            high = middle
    return high


def home_of_data() -> Path:
    """The data folder, else `shared/data` beside the project."""
    beside = ROOT.parent / "shared" / "data"
    usual = data_home()
    return beside if beside.is_dir() and not (usual / SET_OF_119[0]).is_file() else usual


def toy1300() -> np.ndarray | None:
    """1,300 points in the plane, or None where the file is absent."""
    with contextlib.suppress(InvalidFileError):
        return load_toy1300(home_of_data()).data
    return None


def set_of_119() -> tuple[np.ndarray, np.ndarray] | None:
    """The 10,000 x 6 rows of 119 clusters, and their labels, or None where the files are absent."""
    rows, labels = (home_of_data() / name for name in SET_OF_119)
    if not (rows.is_file() and labels.is_file()):
        return None
    return np.loadtxt(rows), np.loadtxt(labels).astype(np.int64)

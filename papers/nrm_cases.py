"""Tables of the mixture experiments of Lee and Choi, their priors and starts, and what their logs say."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.datasets import load_nips, load_toy10k, load_toy1300
from bayesgrove.likelihoods import GaussianFull, Multinomial, bind
from bayesgrove.models.nrm.incremental import incremental_forest
from bayesgrove.models.nrm.process import DIRICHLET, GENERALISED_GAMMA, Process, start_log_kappa

PROCESSES = {
    "DP": Process(DIRICHLET, 1.0, 0.0, False, False),
    "NGGP": Process(GENERALISED_GAMMA, 1.0, 0.5, True, True),
}
"""alpha = 1 of the Dirichlet process; u, alpha and sigma of the other are drawn."""
STRENGTH, EXTRA_DEGREES, DETERMINANT = 0.1, 6.0, 0.1
PSEUDO_COUNT = 0.1
CHOICE_PATH, QUEUE_PATH = 0xC0DE, 0x0E0E


class Published(NamedTuple):
    """Figures of the authors' toy logs: five runs of 10 s each."""

    log_joint: float
    log_joint_sd: float
    log_r: float | None = None
    relative_time: float | None = None


TOY_LOGS = {
    ("DP", "Gibbs"): Published(-1681.2, 81.1, None, 4.4),
    ("DP", "split-merge"): Published(-1589.4, 26.1, -354.0, 6.6),
    ("DP", "as printed"): Published(-1577.7, 0.24, -3.5, 1.0),
    ("NGGP", "Gibbs"): Published(-1635.3, 42.8),
    ("NGGP", "split-merge"): Published(-1589.1, 1.6, -346.0),
    ("NGGP", "as printed"): Published(-1587.9, 1.2, -3.0),
}
"""By process and sampler; of the NGGP no times are known."""


class MixtureCase(NamedTuple):
    """A table, encoded, with its prior.

    Attributes
    ----------
    name : str
    prior : NamedTuple
        Of the likelihood.
    values : array of shape (n_rows, n_columns)
    log_measure : float
        From encoded densities to those of the raw data.
    classes : array of shape (n_rows,), or None
    """

    name: str
    prior: Any
    values: np.ndarray
    log_measure: float
    classes: np.ndarray | None


def toy(data_home: Any) -> MixtureCase:
    """1,300 points in the plane."""
    found = load_toy1300(data_home)
    return gaussian_case("toy", found.data, found.target)


def ten_thousand(data_home: Any, n_rows: int, seed: int) -> MixtureCase:
    """The 10K data, or some of its rows."""
    found = load_toy10k(data_home)
    rows = np.sort(generator(seed, CHOICE_PATH).permutation(len(found.data))[:n_rows])
    return gaussian_case("10K", found.data[rows], found.target[rows])


def gaussian_case(name: str, X: np.ndarray, classes: np.ndarray) -> MixtureCase:
    """Normal-inverse-Wishart: mean of the data, strength .1, d + 6 degrees, covariance of determinant .1."""
    n_columns = X.shape[1]
    covariance = np.cov(X.T)
    scale = covariance * (DETERMINANT / np.linalg.det(covariance)) ** (1.0 / n_columns)
    likelihood = GaussianFull(
        mean=X.mean(axis=0).tolist(), strength=STRENGTH, dof=n_columns + EXTRA_DEGREES, scale=scale
    )
    bound = bind(likelihood, X, "fixed")
    return MixtureCase(name, bound.prior, bound.values, bound.log_measure, classes)


def papers(data_home: Any, n_rows: int, n_words: int, seed: int) -> MixtureCase:
    """Counts of words in papers of NIPS, or the most frequent words of some of them; symmetric Dirichlet of .1."""
    counts = load_nips(data_home).data
    rows = np.sort(generator(seed, CHOICE_PATH).permutation(counts.shape[0])[:n_rows])
    words = np.sort(np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")[:n_words])
    bound = bind(Multinomial(PSEUDO_COUNT), counts[rows][:, words].toarray(), "fixed")
    return MixtureCase("NIPS", bound.prior, bound.values, bound.log_measure, None)


def noisy_start(case: MixtureCase, process: Process, seed: int) -> np.ndarray:
    """Labels of noisy incremental clustering, from which all samplers of a run begin."""
    order = generator(seed, QUEUE_PATH).permutation(len(case.values))
    log_kappa = start_log_kappa(process, len(case.values))
    return incremental_forest(case.prior, case.values, log_kappa, order, noisy=True).labels

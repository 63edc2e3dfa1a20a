"""`prior_clusters`: what a prior over partitions says about the number of clusters, before any data."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import roots_jacobi

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.lazy import lazy_import
from bayesgrove.estimators.mixture_processes import resolve_process
from bayesgrove.estimators.settings import check_whole
from bayesgrove.models.nrm.process import FINITE, GENERALISED_GAMMA, PITMAN_YOR, Process
from bayesgrove.stats.cluster_counts import (
    count_probabilities,
    log_stirling,
    log_v_dirichlet,
    log_v_finite,
    log_v_generalised_gamma,
    log_v_generalised_gamma_learned,
    log_v_pitman_yor,
)
from bayesgrove.stats.processes import LEAST_FINITE

MOST_ITEMS = 100_000
ALPHA_NODES, SIGMA_NODES = 64, 16
LEAST_ALPHA, MOST_ALPHA = 1e-8, 60.0
"""Ends of the quadrature over a Gamma(1, 1) concentration."""
SEARCHED = 1e-6, 1e6
"""Concentrations among which that of an expected number of clusters is looked for."""


@dataclass(frozen=True, eq=False, repr=False)
class PriorClusters:
    """The prior distribution of the number of clusters of n items.

    Attributes
    ----------
    process : str
    n : int
    concentration, sigma : float or "auto"
        "auto" where they are averaged over the priors under which `NRMMixture` learns them; sigma is None where the
        process has none.
    probabilities : float64 array
        Of 1, 2, ... clusters, down to 1e-9.
    """

    process: str
    n: int
    concentration: Any
    sigma: Any
    probabilities: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """The numbers of clusters 1, 2, ... that `probabilities` belong to."""
        return np.arange(1, self.probabilities.size + 1)

    @property
    def mean(self) -> float:
        """Expected number of clusters."""
        return float(self.probabilities @ self.counts)

    @property
    def sd(self) -> float:
        """Standard deviation of the number of clusters."""
        return math.sqrt(float(self.probabilities @ (self.counts - self.mean) ** 2))

    def quantile(self, level: float) -> int:
        """The smallest number of clusters whose cumulative probability is at least `level`."""
        if not 0.0 < level < 1.0:
            raise InvalidSettingError(f"level lies between 0 and 1, got {level}. Try 0.5 for the median.")
        return int(np.searchsorted(np.cumsum(self.probabilities), level - 1e-12)) + 1

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw with matplotlib and return the axes; options as in `bg.plot.prior_counts`."""
        return lazy_import("bayesgrove.plot:prior_counts")(self, ax=ax, **options)

    def __repr__(self) -> str:
        low, high = self.quantile(0.05), self.quantile(0.95)
        return (
            f"PriorClusters(process={self.process!r}, n={self.n}, concentration={self.concentration!r}, "
            f"mean={self.mean:.4g}, 90%={low}..{high})"
        )


def prior_clusters(
    process: str = "dp",
    n: int = 100,
    *,
    concentration: Any = "auto",
    sigma: Any = "auto",
    components: Any = "beta-negative-binomial",
    expected: float | None = None,
) -> PriorClusters:
    """The prior distribution of the number of clusters, and the concentration of an expected number.

    Parameters
    ----------
    process : {"dp", "nggp", "nig", "pitman-yor", "mfm"}
        As in `NRMMixture`, like the settings below; the defaults give the prior of its default settings.
    n : int
        Number of rows, at most 100,000.
    concentration, sigma : float or "auto"
        "auto" averages over the prior under which it is learned.
    components : str or tuple
        For "mfm": the prior of the number of components.
    expected : float, optional
        Expected number of clusters, in place of a concentration; the matching value is `concentration` of the result.

    Returns
    -------
    PriorClusters
        With `probabilities`, `mean`, `sd`, `quantile` and `plot`.

    Notes
    -----
    Exact for every process by recursions like those of Stirling numbers; u of "nggp" and "nig" and parameters that are
    "auto" are integrated out by quadrature (errors below 1e-6). The cost is proportional to n times the number of
    clusters; the default prior of the number of components of "mfm" has a long tail and takes far longer than
    "poisson".

    Examples
    --------
    >>> import bayesgrove as bg
    >>> prior = bg.prior_clusters("dp", 100, concentration=1.0)
    >>> prior
    PriorClusters(process='dp', n=100, concentration=1.0, mean=5.187, 90%=2..8)
    >>> prior.probabilities[:3].round(4).tolist()
    [0.01, 0.0518, 0.1259]
    >>> wanted = bg.prior_clusters("pitman-yor", 100, sigma=0.25, expected=5.0)
    >>> round(wanted.concentration, 3), round(wanted.mean, 6)
    (0.187, 5.0)
    """
    check_whole("n", n, 1)
    if n > MOST_ITEMS:
        raise InvalidSettingError(f"n must be at most {MOST_ITEMS:,}, got {n:,}. Larger n changes little: try that.")
    if expected is not None:
        concentration = concentration_of(process, n, sigma, components, float(expected))
    found = resolve_process(process, concentration, sigma, components)
    own_sigma = "auto" if found.free_sigma else found.sigma
    return PriorClusters(
        process,
        n,
        "auto" if found.free_alpha else found.alpha,
        own_sigma if found.kind in (GENERALISED_GAMMA, PITMAN_YOR) else None,
        count_probabilities(n, lambda most: log_counts(found, n, most)),
    )


def concentration_of(process: str, n: int, sigma: Any, components: Any, expected: float) -> float:
    """The concentration under which so many clusters are expected, by bisection of its logarithm."""

    def excess(log_concentration: float) -> float:
        given = prior_clusters(
            process, n, concentration=math.exp(log_concentration), sigma=sigma, components=components
        )
        return given.mean - expected

    low, high = (math.log(end) for end in (LEAST_FINITE if process == "mfm" else SEARCHED[0], SEARCHED[1]))
    if not excess(low) < 0.0 < excess(high):
        least, most = excess(low) + expected, excess(high) + expected
        raise InvalidSettingError(
            f"expected must lie between {least:.6g} and {most:.6g} clusters for this process and {n} rows, got "
            f"{expected}."
        )
    return math.exp(brentq(excess, low, high, xtol=1e-10))


def log_counts(process: Process, n: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """log P(K | numbers), K = 1 .. most, at the nodes of a quadrature over the numbers that are learned; weights."""
    alphas, alpha_weights = alpha_nodes(process)
    sigmas, sigma_weights = sigma_nodes(process)
    if process.kind == FINITE:
        rows = [
            log_v_finite(n, alpha, process.components, most) + log_stirling(n, -alpha, most)[1:] for alpha in alphas
        ]
        return np.array(rows), alpha_weights
    if process.kind == GENERALISED_GAMMA and process.free_alpha:
        rows = [log_v_generalised_gamma_learned(n, s, most) + log_stirling(n, s, most)[1:] for s in sigmas]
        return np.array(rows), sigma_weights
    rows, log_v = [], {PITMAN_YOR: log_v_pitman_yor, GENERALISED_GAMMA: log_v_generalised_gamma}.get(process.kind)
    for s in sigmas:
        own = log_stirling(n, s, most)[1:]
        for alpha in alphas:
            rows.append(own + (log_v(n, alpha, s, most) if log_v else log_v_dirichlet(n, alpha, most)))
    return np.array(rows), np.outer(sigma_weights, alpha_weights).ravel()


def alpha_nodes(process: Process) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre in log alpha over its Gamma prior, or the value given."""
    if not process.free_alpha:
        return np.array([process.alpha]), np.ones(1)
    low, high = math.log(LEAST_FINITE if process.kind == FINITE else LEAST_ALPHA), math.log(MOST_ALPHA)
    places, weights = np.polynomial.legendre.leggauss(ALPHA_NODES)
    alphas = np.exp(low + 0.5 * (high - low) * (places + 1.0))
    weights = weights * alphas**process.alpha_shape * np.exp(-process.alpha_rate * alphas)
    return alphas, weights / weights.sum()


def sigma_nodes(process: Process) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Jacobi over the Beta prior of sigma, or the value given."""
    if not process.free_sigma:
        return np.array([process.sigma]), np.ones(1)
    places, weights = roots_jacobi(SIGMA_NODES, process.sigma_b - 1.0, process.sigma_a - 1.0)
    return 0.5 * (places + 1.0), weights / weights.sum()

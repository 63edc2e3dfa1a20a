"""Statistics that tests of samplers need: counts against probabilities, means of chains, visited partitions.

Every p-value here is that of a right sampler; a test states its false-alarm rate by the level it compares with.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft, stats

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError
from bayesgrove.stats.partitions import all_partitions

MIN_EXPECTED = 5.0
N_BATCHES = 40
MIN_THINNING = 10


class Comparison(NamedTuple):
    """A test of counts against a distribution."""

    statistic: float
    p_value: float
    n_cells: int
    """After pooling; one cell compares nothing and has p-value 1."""


class PartitionLaw(NamedTuple):
    """A distribution over all partitions of a few items."""

    partitions: np.ndarray
    """Restricted growth strings of shape (n_partitions, n_items), in lexicographic order."""
    probabilities: np.ndarray
    log_evidence: float
    """Log of the sum of all joint weights."""


class PartitionAgreement(NamedTuple):
    """How well the partitions a chain visited agree with their exact distribution."""

    p_value: float
    """Of a chi-square test on thinned draws."""
    total_variation: float
    """Between the distribution and the frequencies of all draws."""
    total_variation_bound: float
    autocorrelation_time: float
    n_cells: int


def cell_groups(expected: ArrayLike, minimum: float = MIN_EXPECTED) -> np.ndarray:
    """Group of each cell, 0, 1, ...: cells that expect less than `minimum` share one, large enough itself.

    Examples
    --------
    >>> cell_groups([20.0, 3.0, 9.0, 4.0]).tolist()
    [0, 2, 1, 2]
    >>> cell_groups([20.0, 1.0, 9.0]).tolist()
    [0, 1, 1]
    """
    values = np.asarray(expected, float)
    small = values < minimum
    large = np.flatnonzero(~small)
    groups = np.full(values.size, large.size)
    groups[large] = np.arange(large.size)
    if large.size and values[small].sum() < minimum:
        groups[small] = np.argmin(values[large])
    return groups


def g_test(counts: ArrayLike, probabilities: ArrayLike, minimum: float = MIN_EXPECTED) -> Comparison:
    """Likelihood-ratio test of independent draws against a distribution, cells that expect too little pooled.

    Notes
    -----
    G = 2 sum over cells of observed log(observed / expected), chi-square with (cells - 1) degrees of freedom. A draw
    of an impossible cell gives p-value 0.

    Examples
    --------
    >>> round(g_test([48, 52], [0.5, 0.5]).p_value, 3)
    0.689
    """
    return _compare(counts, probabilities, minimum, _log_likelihood_ratio)


def chi_square_test(counts: ArrayLike, probabilities: ArrayLike, minimum: float = MIN_EXPECTED) -> Comparison:
    """Pearson's test of independent draws against a distribution, cells that expect too little pooled.

    Examples
    --------
    >>> chi_square_test([60, 40], [0.5, 0.5]).statistic
    4.0
    """
    return _compare(counts, probabilities, minimum, _pearson)


def batch_means(values: ArrayLike, n_batches: int = N_BATCHES) -> np.ndarray:
    """Means of consecutive batches, all of one length, along the first axis; the first few values may be left out.

    Examples
    --------
    >>> batch_means([9.0, 1.0, 3.0, 5.0, 7.0], 2).tolist()
    [2.0, 6.0]
    """
    series = np.asarray(values, float)
    if n_batches < 2 or len(series) < n_batches:
        raise InvalidSettingError(
            f"batch means need at least 2 batches of at least 1 value, got {n_batches} batches of {len(series)} "
            "values. Give a longer series or fewer batches."
        )
    length = len(series) // n_batches
    kept = series[len(series) - n_batches * length :]
    return kept.reshape(n_batches, length, *series.shape[1:]).mean(axis=1)


def mean_z(values: ArrayLike, expected: float, n_batches: int = N_BATCHES) -> float:
    """How many standard errors the mean of a chain's series lies above the expected one, by batch means.

    Under the distribution of a right sampler it follows t with (n_batches - 1) degrees of freedom, provided a batch is
    many times as long as the chain remembers: P(|z| > 4.4) = 8e-5 for 40 batches.
    """
    batches = batch_means(values, n_batches)
    error = batches.std(ddof=1) / math.sqrt(n_batches)
    return float(standardise(batches.mean() - expected, error))


def standardise(difference: ArrayLike, error: ArrayLike) -> np.ndarray:
    """Differences over their standard errors; 0 over 0 is 0: two constants that agree."""
    above, below = np.broadcast_arrays(np.asarray(difference, float), np.asarray(error, float))
    scores = np.where(above == 0.0, 0.0, np.copysign(np.inf, above))
    return np.divide(above, below, out=scores, where=below > 0.0)


def z_p_value(z: ArrayLike, degrees: int = N_BATCHES - 1) -> np.ndarray:
    """Two-sided p-values of z scores that follow t.

    Examples
    --------
    >>> f"{z_p_value(4.4):.0e}"
    '8e-05'
    """
    return 2.0 * stats.t.sf(np.abs(z), degrees)


def bonferroni_level(level: float, n_tests: int) -> float:
    """The level of each of several tests whose chance of any false alarm is at most `level` together."""
    if not 0.0 < level < 1.0 or n_tests < 1:
        raise InvalidSettingError(
            f"a level lies between 0 and 1 and there is at least one test, got level {level} and {n_tests} tests. "
            "Try a level of 1e-3."
        )
    return level / n_tests


def bonferroni_z(level: float, n_tests: int, degrees: int = N_BATCHES - 1) -> float:
    """The |z| that any of several tests exceeds with probability at most `level`.

    Examples
    --------
    >>> round(bonferroni_z(1e-3, 12), 2)
    4.39
    """
    return float(stats.t.isf(bonferroni_level(level, n_tests) / 2.0, degrees))


def autocorrelation_time(series: ArrayLike) -> float:
    """Integrated autocorrelation time: the variance of a chain's mean is that of so many times fewer free draws.

    1 for independent draws, inf for a constant series, which does not tell.

    Notes
    -----
    1 + 2 sum of autocorrelations, cut where the sum of two neighbours first falls below 0 and made to decrease
    (Geyer 1992, initial monotone sequence).
    """
    values = np.asarray(series, float)
    if values.ndim != 1 or values.size < 4:
        raise InvalidInputError(
            f"a series is a vector of at least 4 values, got shape {values.shape}. Give one chain at a time."
        )
    if np.ptp(values) == 0.0:
        return math.inf
    correlations = _autocorrelations(values)
    pairs = correlations[: values.size // 2 * 2].reshape(-1, 2).sum(axis=1)
    below = np.flatnonzero(pairs <= 0.0)
    kept = np.minimum.accumulate(pairs[: below[0]] if below.size else pairs)
    return float(max(2.0 * kept.sum() - 1.0, 1.0 / values.size))


def exact_partition_law(log_joint: Callable[[np.ndarray], float], n_items: int) -> PartitionLaw:
    """The normalised distribution over all partitions of n items, `log_joint` being a function of labels 0, 1, ....

    Examples
    --------
    >>> from bayesgrove.stats.processes import log_crp_labels
    >>> law = exact_partition_law(lambda labels: log_crp_labels(labels, 2.0), 3)
    >>> law.probabilities.round(4).tolist(), abs(law.log_evidence) < 1e-12
    ([0.1667, 0.1667, 0.1667, 0.1667, 0.3333], True)
    """
    partitions = np.array(list(all_partitions(n_items)))
    log_weights = np.array([log_joint(labels) for labels in partitions], float)
    top = log_weights.max()
    if not math.isfinite(top):
        raise InvalidInputError(
            f"the log joint is finite for some partition and below inf for all, its largest value is {top}. "
            "Check the function given."
        )
    log_evidence = float(top) + math.log(np.exp(log_weights - top).sum())
    return PartitionLaw(partitions, np.exp(log_weights - log_evidence), log_evidence)


def partition_codes(draws: ArrayLike) -> np.ndarray:
    """A whole number for each row of labels, equal for equal partitions whatever the labels; up to 14 items."""
    labels = np.asarray(draws)
    if labels.ndim != 2 or not 1 <= labels.shape[1] <= 14:
        raise InvalidInputError(
            f"draws are rows of labels of 1 to 14 items, got shape {labels.shape}. Enumeration is for a few items."
        )
    n_items = labels.shape[1]
    codes = np.zeros(len(labels), np.int64)
    for item in range(n_items):
        first_alike = np.argmax(labels == labels[:, [item]], axis=1)
        codes = codes * n_items + first_alike
    return codes


def partition_counts(draws: ArrayLike) -> np.ndarray:
    """How often each partition occurs among rows of labels, in the order of `all_partitions`.

    Examples
    --------
    >>> partition_counts([[0, 0], [4, 2], [1, 1]]).tolist()
    [2, 1]
    """
    codes = partition_codes(draws)
    known = partition_codes(np.array(list(all_partitions(np.shape(draws)[1]))))
    return np.bincount(np.searchsorted(known, codes), minlength=known.size)


def total_variation(first: ArrayLike, second: ArrayLike) -> float:
    """Half the sum of differences between two distributions over the same cells, given as weights of any scale."""
    a, b = np.asarray(first, float), np.asarray(second, float)
    return float(0.5 * np.abs(a / a.sum() - b / b.sum()).sum())


def total_variation_bound(probabilities: ArrayLike, n_draws: int, time: float = 1.0, multiple: float = 3.0) -> float:
    """What the total variation between a distribution and the frequencies of a right chain practically never exceeds.

    Parameters
    ----------
    probabilities : array
        The distribution.
    n_draws : int
        Number of draws counted.
    time : float
        Integrated autocorrelation time of the chain.
    multiple : float
        How many times its expectation; total variation concentrates, so that 3 fails far below 1e-4.

    Notes
    -----
    multiple sqrt(time) 1/2 sum_k sqrt(2 p_k (1 - p_k) / (pi n)): frequencies are nearly normal, and a normal variate
    of variance v has mean absolute value sqrt(2 v / pi).
    """
    p = np.asarray(probabilities, float)
    return float(multiple * math.sqrt(time) * 0.5 * np.sqrt(2.0 * p * (1.0 - p) / (math.pi * n_draws)).sum())


def partition_agreement(draws: ArrayLike, probabilities: ArrayLike, series: ArrayLike) -> PartitionAgreement:
    """Compare the partitions of one chain with their exact distribution.

    Parameters
    ----------
    draws : int array of shape (n_draws, n_items)
        Labels after each sweep.
    probabilities : array of shape (n_partitions,)
        In the order of `all_partitions`.
    series : array of shape (n_draws,)
        A scalar of the chain, as a rule its log joint, whose autocorrelation time thins the draws (by 10 at least)
        for the chi-square test and widens the bound on the total variation.
    """
    labels = np.asarray(draws)
    time = autocorrelation_time(series)
    if not math.isfinite(time):
        raise InvalidInputError(
            "the series that tells the autocorrelation time varies, got a constant. Did the chain ever move?"
        )
    thinning = max(MIN_THINNING, math.ceil(time))
    compared = chi_square_test(partition_counts(labels[thinning - 1 :: thinning]), probabilities)
    distance = total_variation(partition_counts(labels), probabilities)
    bound = total_variation_bound(probabilities, len(labels), time)
    return PartitionAgreement(compared.p_value, distance, bound, time, compared.n_cells)


def _compare(
    counts: ArrayLike,
    probabilities: ArrayLike,
    minimum: float,
    statistic: Callable[[np.ndarray, np.ndarray], float],
) -> Comparison:
    observed, law = np.asarray(counts, float), np.asarray(probabilities, float)
    _check_law(observed, law)
    expected = law / law.sum() * observed.sum()
    groups = cell_groups(expected, minimum)
    n_cells = int(groups.max()) + 1
    if observed[law == 0.0].any():
        return Comparison(math.inf, 0.0, n_cells)
    value = statistic(np.bincount(groups, observed), np.bincount(groups, expected))
    p_value = float(stats.chi2.sf(value, n_cells - 1)) if n_cells > 1 else 1.0
    return Comparison(value, p_value, n_cells)


def _check_law(observed: np.ndarray, law: np.ndarray) -> None:
    if observed.shape != law.shape or observed.ndim != 1 or observed.sum() == 0.0:
        raise InvalidInputError(
            f"counts and probabilities have one entry per cell and there are draws, got shapes {observed.shape} and "
            f"{law.shape} and {observed.sum():g} draws."
        )
    if not (np.isfinite(law).all() and (law >= 0.0).all() and law.sum() > 0.0):
        raise InvalidInputError(
            f"probabilities are finite numbers of at least 0, not all 0; the smallest is {law.min()} and their sum "
            f"{law.sum()}. Normalise them first."
        )


def _log_likelihood_ratio(observed: np.ndarray, expected: np.ndarray) -> float:
    seen = observed > 0.0
    return float(2.0 * (observed[seen] * np.log(observed[seen] / expected[seen])).sum())


def _pearson(observed: np.ndarray, expected: np.ndarray) -> float:
    return float(((observed - expected) ** 2 / expected).sum())


def _autocorrelations(values: np.ndarray) -> np.ndarray:
    centred = values - values.mean()
    size = fft.next_fast_len(2 * values.size, real=True)
    spectrum = fft.rfft(centred, size)
    covariances = fft.irfft(spectrum * spectrum.conj(), size)[: values.size]
    return covariances / covariances[0]

"""Is a chain over partitions right? Exact laws, counts, thinning, tests and bounds of the specification's section 14.

Typical use, with labels of shape (draw, item) and the trace of the log joint:

    law = exact_law(rows, variance, prior_variance, Dirichlet(1.0))
    found = compare(labels, log_joint, law)
    assert found.p_value > 1e-4 and found.total_variation <= found.bound
"""

import math
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy import stats

from reference.nrm import Partition, Process, gaussian_evidence, posterior, relabel
from reference.nrm_hyper import RandomDirichlet, RandomGeneralisedGamma, posterior_random_hyper

Law = dict[Partition, float]
SMALLEST_EXPECTATION = 5.0
SHORTEST_THINNING = 10
WINDOW = 6.0


def exact_law(
    rows, variance: float, prior_variance: float, process: Process | RandomDirichlet | RandomGeneralisedGamma
) -> Law:
    """Posterior probability of every partition of the rows (known-variance Gaussian, prior mean 0).

    u is integrated out, and alpha and sigma too where the process is one of the random ones.
    """
    evidence = gaussian_evidence(rows, variance, prior_variance)
    if isinstance(process, RandomDirichlet | RandomGeneralisedGamma):
        return posterior_random_hyper(evidence, len(rows), process).law.as_dict()
    return posterior(evidence, len(rows), process).as_dict()


def partition_counts(labels) -> Counter[Partition]:
    """How often each partition occurs in labels of shape (draw, item), however its clusters are numbered."""
    rows, counts = np.unique(np.asarray(labels), axis=0, return_counts=True)
    found: Counter[Partition] = Counter()
    for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
        found[relabel(row)] += count
    return found


def autocorrelation_time(series) -> float:
    """Integrated autocorrelation time 1 + 2 (sum of autocorrelations), at least 1; 1 for independent draws.

    Sokal's window: the sum ends at the first lag that is 6 times the time found so far.
    """
    values = np.asarray(series, float)
    values = values - values.mean()
    if not values.any():
        return 1.0
    n = len(values)
    spectrum = np.fft.rfft(values, 2 * n)
    correlation = np.fft.irfft(spectrum * spectrum.conj())[:n]
    times = 2.0 * np.cumsum(correlation / correlation[0]) - 1.0
    ends = np.arange(n) >= WINDOW * times
    return max(1.0, float(times[np.argmax(ends)] if ends.any() else times[-1]))


class Cells(NamedTuple):
    """Counts and their expectations by cell, every expectation at least 5 (one cell alone may have less)."""

    observed: np.ndarray
    expected: np.ndarray


def pooled_cells(counts: Mapping[Partition, int], law: Law) -> Cells:
    """One cell per partition of expectation at least 5, the rest pooled; a pool below 5 joins the smallest cell."""
    strangers = set(counts) - set(law)
    if strangers:
        raise ValueError(f"the law must name every partition visited; it lacks {sorted(strangers)[:3]}")
    n = sum(counts.values())
    cells = sorted(((n * chance, counts.get(state, 0)) for state, chance in law.items()), reverse=True)
    kept = [cell for cell in cells if cell[0] >= SMALLEST_EXPECTATION]
    pool = np.sum(cells[len(kept) :], axis=0) if len(kept) < len(cells) else np.zeros(2)
    if pool[0] >= SMALLEST_EXPECTATION or not kept:
        kept.append(tuple(pool))
    else:
        kept[-1] = tuple(np.add(kept[-1], pool))
    expected, observed = np.array(kept).T
    return Cells(observed, expected)


def chi_square_p_value(counts: Mapping[Partition, int], law: Law) -> float:
    """Pearson's test of independent draws against the law."""
    observed, expected = pooled_cells(counts, law)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(stats.chi2.sf(statistic, len(expected) - 1)) if len(expected) > 1 else 1.0


def g_test_p_value(counts: Mapping[Partition, int], law: Law) -> float:
    """Likelihood ratio test of independent draws against the law."""
    observed, expected = pooled_cells(counts, law)
    seen = observed > 0
    statistic = 2.0 * float((observed[seen] * np.log(observed[seen] / expected[seen])).sum())
    return float(stats.chi2.sf(statistic, len(expected) - 1)) if len(expected) > 1 else 1.0


def total_variation(counts: Mapping[Partition, int], law: Law) -> float:
    """Half the sum of absolute differences between frequencies and probabilities."""
    n = sum(counts.values())
    return 0.5 * math.fsum(abs(counts.get(state, 0) / n - law.get(state, 0.0)) for state in {*law, *counts})


def total_variation_bound(law: Law, n_draws: int, time: float = 1.0) -> float:
    """Three times the expected total variation of draws with this autocorrelation time (acceptance 9)."""
    spread = math.fsum(math.sqrt(2 * p * (1 - p) / (math.pi * n_draws)) for p in law.values())
    return 3.0 * math.sqrt(time) * 0.5 * spread


class Comparison(NamedTuple):
    """Autocorrelation time, p values of the thinned chain, total variation of the whole chain and its bound."""

    time: float
    p_value: float
    g_p_value: float
    total_variation: float
    bound: float


def compare(labels, log_joint, law: Law) -> Comparison:
    """A chain of partitions against the law, thinned by the autocorrelation time of the log joint, at least 10."""
    time = autocorrelation_time(log_joint)
    thinned = partition_counts(np.asarray(labels)[:: max(SHORTEST_THINNING, math.ceil(time))])
    whole = partition_counts(labels)
    return Comparison(
        time,
        chi_square_p_value(thinned, law),
        g_test_p_value(thinned, law),
        total_variation(whole, law),
        total_variation_bound(law, len(labels), time),
    )


def batch_z(series, truth: float, n_batches: int = 40) -> float:
    """(mean - truth) / standard error from batch means; Student's t with n_batches - 1 degrees of freedom."""
    values = np.asarray(series, float)
    means = values[: len(values) // n_batches * n_batches].reshape(n_batches, -1).mean(axis=1)
    return float((means.mean() - truth) / (means.std(ddof=1) / math.sqrt(n_batches)))

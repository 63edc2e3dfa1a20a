"""Randomized against exact BHC at 10,000 rows on the five kinds of benchmark data, seeds not used elsewhere."""

import functools
import math
import resource
import time

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from bayesgrove import BHC, RandomizedBHC
from bayesgrove.core.rng import generator
from bayesgrove.datasets import make_benchmark_blobs

pytestmark = pytest.mark.statistical

N = 10_000
CASES = [
    pytest.param(101, "gaussian"),
    pytest.param(102, "gaussian", marks=pytest.mark.slow),
    pytest.param(101, "auto", marks=pytest.mark.slow),
    pytest.param(102, "auto", marks=pytest.mark.slow),
]


@functools.cache
def pair(kind, seed, likelihood):
    """Greedy exact and randomized model of the same table; both learn hyperparameters from the same sample of rows."""
    X, _ = make_benchmark_blobs(kind, N, 10, random_state=seed)
    exact = BHC(likelihood=likelihood, search="greedy", random_state=seed).fit(X)
    randomized = RandomizedBHC(likelihood=likelihood, search="greedy", random_state=seed).fit(X)
    assert exact.likelihood_ == randomized.likelihood_
    assert randomized.depth_ <= 6
    return exact, randomized


@pytest.mark.parametrize(("seed", "likelihood"), CASES)
@pytest.mark.parametrize("kind", ["separated", "outliers", "skewed"])
def test_clear_clusters_are_those_of_exact_bhc(kind, seed, likelihood):
    exact, randomized = pair(kind, seed, likelihood)
    assert adjusted_rand_score(exact.labels_, randomized.labels_) >= 0.99
    assert randomized.log_evidence_ / N >= exact.log_evidence_ / N - 0.01


@pytest.mark.parametrize(("seed", "likelihood"), CASES)
def test_nested_clusters_have_no_worse_bound_than_exact_bhc(seed, likelihood):
    exact, randomized = pair("nested", seed, likelihood)
    assert randomized.log_evidence_ >= exact.log_evidence_ - 1e-6 * abs(exact.log_evidence_)


@pytest.mark.parametrize(("seed", "likelihood"), CASES)
def test_overlap_costs_little_and_refining_never_hurts(seed, likelihood):
    exact, once = pair("overlapping", seed, likelihood)
    X, truth = make_benchmark_blobs("overlapping", N, 10, random_state=seed)
    never, often = (
        RandomizedBHC(likelihood=likelihood, search="greedy", random_state=seed, refine=k).fit(X) for k in (0, 4)
    )
    gap = (once.log_evidence_ - exact.log_evidence_) / N
    found = [adjusted_rand_score(truth, model.labels_) for model in (exact, never, once, often)]
    shown = ", ".join(f"{ari:.2f}" for ari in found)  # seen with -rP
    print(f"bound per row minus exact's {gap:.3f}; ARI with truth of exact, refine = 0, 1, 4: {shown}")
    assert never.log_evidence_ <= once.log_evidence_ <= often.log_evidence_
    assert gap >= -0.07


@pytest.mark.slow
def test_time_is_linear_and_memory_small_at_200_000_rows():
    rng = generator(11)
    centres = rng.normal(0, 12, (40, 10))
    seconds = []
    for n in (20_000, 200_000):
        truth = rng.integers(0, 40, n)
        X = centres[truth] + rng.normal(size=(n, 10))
        RandomizedBHC(random_state=0).fit(X[:2_000])  # compiles
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        model = RandomizedBHC(random_state=0).fit(X)
        seconds.append(time.perf_counter() - start)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        assert adjusted_rand_score(truth, model.labels_) > 0.9
        assert np.isfinite(model.log_evidence_)
        assert grown < 400 * 2**20
    assert math.log10(seconds[1] / seconds[0]) <= 1.15

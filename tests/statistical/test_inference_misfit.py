"""How often `check` raises false alarms, and how often it finds tails, dependence and heaping that were planted."""

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.inference.misfit import kurtosis_score

pytestmark = pytest.mark.statistical


def mixture(rng, n, d, n_clusters, spread):
    """Rows of Gaussian clusters with independent columns; and what was added to the centres."""
    labels = rng.integers(0, n_clusters, n)
    centres, scales = rng.normal(0.0, spread, (n_clusters, d)), rng.uniform(0.5, 2.0, (n_clusters, d))
    return centres[labels], scales[labels], rng.normal(size=(n, d))


def failed(X, seed):
    found = bg.BHC("gaussian", random_state=seed).fit(X).check()
    return found[~found.passed]


def test_false_alarms():
    """Data from the model, clusters apart and overlapping, exact and rounded cells.

    With a rate of .05 more than 15 of 150 tables fail with probability .004.
    """
    n_failed = 0
    for seed in range(150):
        rng = np.random.default_rng([seed, 3])
        shape = [(300, 4, 3, 5.0), (300, 3, 4, 2.0), (200, 2, 3, 2.0)][seed % 3]
        centres, scales, noise = mixture(rng, *shape)
        X = centres + scales * noise
        n_failed += len(failed(np.round(X, 1) if seed % 2 else X, seed)) > 0
    assert n_failed <= 15


def planted(kind, rng):
    centres, scales, noise = mixture(rng, 300, 4, 3, 5.0)
    if kind == "tails":
        noise[:, 0] = rng.standard_t(3.0, 300)
    if kind == "dependence":
        noise[:, 1] = 0.8 * noise[:, 0] + 0.6 * noise[:, 1]
    X = np.round(centres + scales * noise, 2)
    if kind == "values":
        X[:, 0] = np.where(rng.random(300) < 0.3, np.round(X[:, 0]), X[:, 0])
    return X


@pytest.mark.parametrize(("kind", "least"), [("tails", 16), ("dependence", 19), ("values", 19)])
def test_planted_misfits_are_found(kind, least):
    """In the first column, by the check that is made for it."""
    n_found = 0
    for seed in range(20):
        found = failed(planted(kind, np.random.default_rng([seed, 5])), seed)
        n_found += ((found.check == kind) & (found.column == "x0")).any()
    assert n_found >= least


def test_kurtosis_scores_are_standard_normal():
    """Of 4,000 normal samples of 30: z-scores of the mean and of the share beyond 1.645."""
    rows = np.random.default_rng(0).normal(size=(4_000, 30))
    apart = rows - rows.mean(axis=1, keepdims=True)
    kurtosis = (apart**4).mean(axis=1) / (apart**2).mean(axis=1) ** 2
    scores = np.array([kurtosis_score(float(own), 30) for own in kurtosis])
    assert abs(scores.mean()) < 5.0 / np.sqrt(4_000) + 0.02
    assert 0.04 < np.mean(scores > 1.645) < 0.06


def test_words_name_columns_clusters_and_what_to_try():
    found = failed(planted("dependence", np.random.default_rng([0, 5])), 0).iloc[0]
    assert found.sentence.startswith("Inside clusters, x0 and x1 are correlated (0.")
    assert "full covariance" in found.advice
    assert 0 <= found.cluster < 4

import mpmath
import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.stats.partitions import all_partitions
from bayesgrove.stats.processes import (
    expected_crp_clusters,
    log_crp,
    log_crp_labels,
)
from bayesgrove.stats.special import log_rising

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("concentration", [1e-8, 0.3, 1.0, 5.0, 200.0])
def test_the_law_sums_to_one_over_all_partitions(concentration):
    chances = [np.exp(log_crp_labels(labels, concentration)) for labels in all_partitions(7)]
    assert sum(chances) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("concentration", [0.2, 1.0, 7.5])
def test_the_law_is_the_product_of_seatings(concentration):
    for labels in all_partitions(6):
        log_chance = 0.0
        for i, label in enumerate(labels):
            sizes = np.bincount(labels[:i], minlength=labels[:i].max(initial=-1) + 1)
            log_chance += np.log(np.append(sizes, concentration)[label] / (concentration + i))
        assert log_crp_labels(labels, concentration) == pytest.approx(log_chance, abs=1e-12)


@pytest.mark.parametrize("concentration", [1e-300, 1e-5, 0.7, 15.9, 16.0, 1e3, 1e9, 1e15])
@pytest.mark.parametrize("n", [0, 1, 2, 100, 10**6])
def test_log_rising_has_all_digits(concentration, n):
    with mpmath.workdps(60):
        exact = mpmath.loggamma(mpmath.mpf(concentration) + n) - mpmath.loggamma(mpmath.mpf(concentration))
    assert log_rising(concentration, n) == pytest.approx(float(exact), rel=1e-13, abs=1e-12)


def test_empty_blocks_are_skipped():
    assert log_crp(np.array([2, 0, 1]), 1.5) == log_crp(np.array([2, 1]), 1.5)


@pytest.mark.parametrize("concentration", [1e-6, 0.5, 3.0, 1e8])
def test_expected_clusters(concentration):
    n = 50
    with mpmath.workdps(40):
        a = mpmath.mpf(concentration)
        mean = a * (mpmath.digamma(a + n) - mpmath.digamma(a))
    assert expected_crp_clusters(n, concentration) == pytest.approx(float(mean), rel=1e-13)


def test_expected_clusters_by_enumeration():
    mean = sum((labels.max() + 1) * np.exp(log_crp_labels(labels, 1.7)) for labels in all_partitions(6))
    assert expected_crp_clusters(6, 1.7) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("concentration", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_concentrations_are_named(concentration):
    with pytest.raises(InvalidSettingError, match="a finite number above 0, got"):
        log_crp_labels([0, 1], concentration)

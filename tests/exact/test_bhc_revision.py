"""Families of columns once more, given the clusters: evidence by a twin, choices, and which of two fits is kept."""

import math

import numpy as np
import pandas as pd
import pytest

from bayesgrove import BHC, load
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import (
    GaussianDiagonal,
    NegativeBinomial,
    Poisson,
    ZeroInflated,
    bind,
    log_interval_widths,
    log_marginal,
)
from bayesgrove.likelihoods.bind import bind_understood
from bayesgrove.likelihoods.negative_binomial import DISPERSIONS
from bayesgrove.likelihoods.understanding import understand
from bayesgrove.models.bhc.revision import fit_revised, log_marginal_within, revised_columns, within

pytestmark = pytest.mark.exact


def table_of(**columns):
    values = np.column_stack(list(columns.values())).astype(float)
    return Table(values, tuple(columns), ("float",) * values.shape[1])


def counts(seed, family, n=240):
    """Counts of three clusters that overlap, a measurement that tells these apart, and the clusters."""
    rng = np.random.default_rng(seed)
    z = rng.integers(3, size=n)
    mean = np.array([3.0, 7.0, 14.0])[z]
    cells = rng.poisson(mean) if family == "poisson" else rng.negative_binomial(2.0, 2.0 / (2.0 + mean))
    return table_of(counts=cells, size=rng.normal(20.0 * z, 1.0)), z


@pytest.mark.parametrize(
    ("likelihood", "cells", "unit"),
    [
        (Poisson(shape=2.0, rate=0.5), [0, 1, 5, 7, np.nan, 2, 3], 1.0),
        (
            GaussianDiagonal(mean=1, strength=0.5, shape=2, rate=1, grain=0),
            [0.25, 1.0, 5.5, 7.0, np.nan, 2.5, 3.0],
            1.5,
        ),
        (GaussianDiagonal(mean=1, strength=0.5, shape=2, rate=1, grain=1), [0, 1, 5, 7, np.nan, 2, 3], 1.0),
        (ZeroInflated(mean=1, strength=0.5, shape=2, rate=1, grain=0), [0.0, 0.0, 5.5, 7.0, np.nan, 2.5, 3.0], 2.0),
    ],
)
def test_evidence_given_clusters_is_the_sum_of_theirs(likelihood, cells, unit):
    labels = np.array([0, 1, 0, 0, 1, 1, 2])
    column = table_of(x=np.array(cells, float))
    parts = [column.values[labels == k] for k in range(3)]
    expected = sum(log_marginal(likelihood, part) + log_interval_widths(likelihood, part, unit) for part in parts)
    assert log_marginal_within(likelihood, column, labels) == pytest.approx(expected, abs=1e-9)


def test_hyperparameters_are_the_most_probable_ones_given_the_clusters():
    table, z = counts(0, "poisson", n=60)
    cells = table.column(0)
    parts = [cells.values[z == k] for k in range(3)]
    found = log_marginal_within(Poisson.learned(), cells, z)
    shapes, rates = np.geomspace(0.5, 20.0, 25), np.geomspace(0.05, 3.0, 25)
    every = [sum(log_marginal(Poisson(shape=a, rate=b), x) for x in parts) for a in shapes for b in rates]
    assert max(every) - 1e-2 <= found <= max(every) + 0.1


@pytest.mark.parametrize("family", ["poisson", "negative-binomial"])
def test_given_the_clusters_counts_get_their_family(family):
    """Poisson counts are chosen wrongly in a third of the tables; given the clusters, all are right."""
    for seed in range(8):
        table, z = counts(seed, family)
        understood = understand("auto", table)
        revised = revised_columns(understood, table, z)
        assert set(revised) <= {0}
        choice = revised[0][0] if revised else understood.choices[0]
        assert choice.family == family, seed
        if revised:
            assert choice.reason.endswith("revised within clusters")
            assert family not in choice.evidence


def test_the_dispersion_is_the_most_probable_one_given_the_clusters():
    table, z = counts(0, "negative-binomial", n=90)
    cells = table.column(0).values
    found = within(NegativeBinomial.learned(), table.column(0), z).dispersion

    def log_joint(dispersion):
        start = NegativeBinomial(dispersion=dispersion, a=1.0 + dispersion / cells.mean(), b=1.0)
        return sum(log_marginal(start, cells[z == k]) for k in range(3))

    assert found == max(DISPERSIONS, key=log_joint)
    assert found < 5.0
    assert log_marginal_within(NegativeBinomial(dispersion=found, a="auto", b="auto"), table.column(0), z) > max(
        log_joint(dispersion) for dispersion in (0.2, 30.0)
    )


def test_without_clusters_mixed_counts_are_over_dispersed():
    table, z = counts(0, "poisson")
    understood = understand("auto", table)
    revised = revised_columns(understood, table, np.zeros(z.size, np.int64))
    assert (revised[0][0] if 0 in revised else understood.choices[0]).family != "poisson"


def misunderstood():
    """A table whose counts are taken for over-dispersed ones, its clusters, and the bound table."""
    for seed in range(100):
        table = counts(seed, "poisson")[0]
        understood = understand("auto", table)
        if understood.choices[0].family == "negative-binomial":
            return table, understood, bind_understood(understood, table)
    raise AssertionError("the choice by single columns has become right")


def test_the_fit_of_higher_evidence_is_kept(tmp_path):
    table, understood, _ = misunderstood()
    frame = pd.DataFrame(table.values, columns=list(table.names))
    model = BHC().fit(frame)
    given = {name: choice.family for name, choice in zip(table.names, understood.choices, strict=True)}
    first = BHC(given).fit(frame)
    assert model.columns_["family"].tolist() == ["poisson", "gaussian"]
    assert model.log_evidence_ > first.log_evidence_ + 3.0
    model.save(tmp_path / "model.bg")
    again = load(tmp_path / "model.bg")
    assert again.columns_.equals(model.columns_)
    np.testing.assert_array_equal(again.predict(frame), model.labels_)
    for settings in ({"hyper": "fixed"}, {"search": "greedy"}):
        assert BHC(**settings).fit(frame).columns_["family"][0] == "negative-binomial"


def test_a_second_fit_of_lower_evidence_is_not_kept():
    table, understood, bound = misunderstood()
    kept = BHC()
    kept._check_settings()
    kept._seed = 0
    fits = []

    def worse(given):
        fits.append(kept._build(given))
        fits[-1] = fits[-1]._replace(log_evidence=fits[-1].log_evidence - (math.inf if len(fits) == 2 else 0.0))
        return fits[-1]

    assert fit_revised(bound, understood, table, "auto", worse) is fits[0]
    assert len(fits) == 2


def test_tables_of_one_family_are_left_as_they_are():
    values = np.random.default_rng(0).normal(size=(60, 2))
    calls = []
    table = table_of(a=values[:, 0], b=values[:, 1])
    bound = bind("auto", table)

    def fit(given):
        calls.append(given)
        return given

    assert fit_revised(bound, understand("auto", table), table, "auto", fit) is bound
    assert len(calls) == 1

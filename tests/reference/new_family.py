"""Every engine with a family that the package does not have, against plain twins; run as a program of its own.

`python -m reference.new_family` registers the family of `reference.geometric`, which no other process should know.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numba
import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import (
    Bernoulli,
    Columns,
    GaussianDiagonal,
    bernoulli,
    bind,
    contract,
    from_document,
    gaussian_diagonal,
    log_marginal,
    to_document,
)
from bayesgrove.likelihoods.columns import ColumnsPrior, column_log_predictive
from bayesgrove.likelihoods.families import CODE_OF, FAMILIES, NAMED, register
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.models.cross import cell_mixtures
from bayesgrove.models.cross.cell_mixtures import CellMixtures
from reference import bhc, crosscat
from reference import likelihoods as twins
from reference.geometric import FAMILY, Geometric

A, B = 2.0, 1.5
CHAINS = {"n_chains": 1, "n_tune": 2, "n_draws": 8, "random_state": 4, "n_jobs": 1}
LIKELIHOOD = Columns([Geometric(a=A, b=B), Geometric(a=A, b=B), Bernoulli(a=0.5, b=0.5)])
FAMILIES_OF_TWIN = (("geometric", A, B), ("geometric", A, B), ("bern", 0.5, 0.5))


def geometric(cells, a, b):
    """Log marginal, plainly: the beta function of what was seen over that of the prior."""
    n, s = len(cells), sum(cells)
    before = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.lgamma(a + n) + math.lgamma(b + s) - math.lgamma(a + n + b + s) - before


def table(n_rows=9):
    """Two groups of rows and a few missing cells."""
    rng = generator(7)
    group = np.arange(n_rows) % 2
    waits = rng.geometric(np.where(group == 0, 0.8, 0.15)[:, None], (n_rows, 2)) - 1.0
    values = np.column_stack([waits, rng.random(n_rows) < 0.2 + 0.6 * group])
    values[1, 0] = values[4, 2] = np.nan
    return values


def evidence_of(values, columns=(0, 1, 2)):
    """Log marginal of a set of rows as one cluster, in some columns."""
    model = crosscat.model_of(values, FAMILIES_OF_TWIN, 1.0, 1.0)
    return lambda items: math.fsum(crosscat.log_marginal(model, j, tuple(sorted(items))) for j in columns)


def merges_of(tree):
    """Children of the merges of a binary tree, in order, leaves numbered by their rows."""
    name = np.where(tree.item >= 0, tree.item, np.arange(tree.parent.size))
    return [[name[k] for k in np.flatnonzero(tree.parent == node)] for node in np.flatnonzero(tree.item < 0)]


def check_odds(tree, evidence, n_rows, log_concentration=0.0):
    """Merge odds of a given tree are those of the twin."""
    twin = bhc.grow(evidence, n_rows, log_concentration, children=merges_of(tree))
    np.testing.assert_allclose(tree.columns["log_merge_odds"][n_rows:], twin.log_odds[n_rows:], rtol=0, atol=1e-8)


def check_marginals():
    """The closed form, its predictives, whole tables of the family, and files."""
    values = table()
    waits = values[:, :1]
    seen = waits[~np.isnan(waits)].tolist()
    expected = geometric(seen, A, B)
    assert math.isclose(log_marginal(Geometric(a=A, b=B), waits), expected, abs_tol=1e-10)
    assert math.isclose(log_marginal(LIKELIHOOD, values), evidence_of(values)(range(9)), abs_tol=1e-10)
    row = np.array([len(seen), sum(seen)])
    code, p = CODE_OF[Geometric], np.array([A, B, 0.0, 0.0])
    more = [column_log_predictive(code, row, 0, 2, float(x), p) for x in range(4)]
    np.testing.assert_allclose(more, [geometric([*seen, x], A, B) - expected for x in range(4)], atol=1e-10)
    bound = bind("geometric", waits, hyper="optimize")
    assert NAMED["geometric"] is Geometric
    assert isinstance(bound.prior, ColumnsPrior)
    assert bound.free == ("geometric.a", "geometric.b")
    assert from_document(to_document(bound)).likelihood == bound.likelihood


def check_gradient():
    """Derivatives by the logs of both numbers, against differences."""
    prior = bind(Geometric(a=A, b=B), table()[:, :2]).prior
    row, out, step = np.zeros(contract.n_stats(prior)), np.zeros(2), 1e-6
    for x in table()[:, :2]:
        contract.add(prior, row, x)
    contract.log_gradient(prior, row, out)
    for k in range(2):
        ends = [
            contract.log_marginal(contract.with_hyper(prior, np.exp(sign * step * (np.arange(2) == k))), row)
            for sign in (-1.0, 1.0)
        ]
        assert math.isclose(out[k], (ends[1] - ends[0]) / (2.0 * step), rel_tol=1e-6, abs_tol=1e-6)


def check_trees():
    """BHC, its randomized and incremental forms: merge odds of the trees they find."""
    values = table()
    for model in (
        bg.BHC(LIKELIHOOD, concentration=1.0, hyper="fixed"),
        bg.RandomizedBHC(LIKELIHOOD, concentration=1.0, hyper="fixed", leaf_size=4, sample_size=4, random_state=1),
        bg.IncrementalBHC(LIKELIHOOD, concentration=1.0, hyper="fixed", n_init=4),
    ):
        check_odds(model.fit(values).tree_, evidence_of(values), len(values))
    learned = bg.BHC(Columns([Geometric.learned(), Geometric.learned(), Bernoulli()])).fit(values)
    assert learned.log_evidence_ > bg.BHC(Columns([Geometric(), Geometric(), Bernoulli()])).fit(values).log_evidence_


def check_mixture():
    """NRMMixture: the log joint of every draw."""
    values = table()
    model = bg.NRMMixture(LIKELIHOOD, "dp", 1.0, hyper="fixed", **CHAINS).fit(values)
    evidence = evidence_of(values)
    for labels, found in zip(model.posterior_.labels[0], model.posterior_.scalars["log_joint"][0], strict=True):
        own = [frozenset(block) for block in crosscat.blocks(labels.tolist())]
        expected = bhc.log_joint(evidence, own, 0.0) + bhc.log_crp_constant(len(values), 0.0)
        assert math.isclose(found, expected, abs_tol=1e-8)


def check_cross_trees():
    """BHCC: row trees, with both row searches, and answers about cells."""
    values = table()
    for row_search in ("greedy", "best"):
        model = bg.BHCC(LIKELIHOOD, hyper="fixed", row_search=row_search, random_state=0, n_jobs=1).fit(values)
        for view in model.views_:
            check_odds(view.tree_, evidence_of(values, view.columns.tolist()), len(values))
    check_cells(model, values)
    learned = bg.BHCC(Columns([Geometric.learned(), Geometric.learned(), Bernoulli()]), n_jobs=1).fit(values)
    assert learned.log_evidence_ > bg.BHCC(LIKELIHOOD, hyper="fixed", n_jobs=1).fit(values).log_evidence_


def check_cells(model, values):
    """Densities of a cell sum to 1; filled cells, intervals, draws and new columns are there."""
    cells = np.arange(3_000.0)
    logs = model.cell_log_density(np.full(cells.size, 1), np.zeros(cells.size, int), cells)
    assert math.isclose(np.exp(logs).sum(), 1.0, abs_tol=1e-3)
    filled = model.impute(level=0.8, draws=3)
    place = int(np.flatnonzero((filled.rows == 1) & (filled.columns == 0))[0])
    assert filled.values[1, 0] == np.argmax(logs)
    assert filled.low[place] == np.searchsorted(np.cumsum(np.exp(logs)), 0.1)
    assert filled.high[place] == np.searchsorted(np.cumsum(np.exp(logs)), 0.9)
    assert (filled.draws >= 0.0).all()
    assert np.isfinite(model.score_samples(values)).all()
    assert model.simulate(4, random_state=0).shape == (4, 3)
    assert np.isfinite(model.mutual_information([(0, 1)], n_samples=20)).all()
    assert math.isfinite(model.column_log_density(np.arange(9) % 4, Geometric(a=A, b=B)))


def check_chains():
    """CrossCat: the log joint of every draw; what it learns moves."""
    values = table()
    model = bg.CrossCat(LIKELIHOOD, 1.0, 1.0, hyper="fixed", **CHAINS).fit(values)
    twin = crosscat.model_of(values, FAMILIES_OF_TWIN, 1.0, 1.0)
    posterior, first = model.posterior_, 0
    for views, found in zip(posterior.labels[0].tolist(), posterior.scalars["log_joint"][0], strict=True):
        n_views = max(views) + 1
        rows = tuple(tuple(labels) for labels in posterior.rows[first : first + n_views].tolist())
        first += n_views
        assert math.isclose(found, crosscat.log_joint(twin, (tuple(views), rows)), abs_tol=1e-8)
    check_cells(model, values)
    learning = bg.CrossCat(Columns([Geometric.learned(), Geometric.learned(), Bernoulli()]), **CHAINS).fit(values)
    numbers = learning.posterior_.extra["column_numbers"][0]
    assert (numbers[:, :2, :2] > 0.0).all()
    assert (np.ptp(numbers[:, :2, :2], axis=0) > 0.0).any(axis=0).all()
    assert (numbers[:, 2, :2] == 0.5).all()


def check_nested():
    """Collapsed BHMC."""
    values = table()
    model = bg.BHMC(depth=2, likelihood=LIKELIHOOD, **CHAINS).fit(values)
    assert np.isfinite(model.posterior_.scalars["log_joint"]).all()
    assert np.isfinite(model.score_samples(values)).all()


class CoinPrior(NamedTuple):
    """As that of a Bernoulli column."""

    a: np.ndarray
    b: np.ndarray


@dataclass(frozen=True)
class Coin(Bernoulli):
    """Bernoulli columns under another name: engines know no fast way for them."""

    def prior(self, values, encoding, table):
        """The same numbers."""
        return CoinPrior(*super().prior(values, encoding, table))


def check_copy():
    """A copy of a family of the package gives its trees and draws, by the general ways instead of the fast ones."""
    rng = generator(9)
    group = rng.integers(0, 2, 14)
    values = (rng.random((14, 4)) < 0.1 + 0.8 * group[:, None]).astype(float)
    values[2, 1] = np.nan
    one, two = (Columns([kind(a=0.7, b=0.4)] * 4) for kind in (Bernoulli, Coin))
    for estimator, settings in (
        (bg.NRMMixture, {"hyper": "fixed", **CHAINS}),
        (bg.CrossCat, {"hyper": "fixed", "init": "random", **CHAINS}),
        (bg.BHMC, {"depth": 2, **CHAINS}),
    ):
        first, second = (estimator(likelihood=own, **settings).fit(values).posterior_ for own in (one, two))
        np.testing.assert_allclose(first.scalars["log_joint"], second.scalars["log_joint"], rtol=1e-9)
    first, second = (bg.BHCC(own, hyper="fixed", n_jobs=1, random_state=1).fit(values) for own in (one, two))
    assert math.isclose(first.log_evidence_, second.log_evidence_, rel_tol=1e-9)
    assert first.view_labels_.tolist() == second.view_labels_.tolist()
    assert first.labels_.tolist() == second.labels_.tolist()


class MeasuredPrior(NamedTuple):
    """As that of a Gaussian column, without grain."""

    mean: np.ndarray
    strength: np.ndarray
    shape: np.ndarray
    rate: np.ndarray


@dataclass(frozen=True)
class Measured(GaussianDiagonal):
    """Gaussian columns whose predictives are known by their density and draws only."""

    def prior(self, values, encoding, table):
        """The same numbers."""
        return MeasuredPrior(*super().prior(values, encoding, table)[:4])

    def described_by(self, prior, encoding):
        """In the table's units."""
        return Measured(*vars(super().described_by(GaussianDiagonalPrior(*prior, np.zeros(1)), encoding)).values())


def check_real_numbers():
    """A family of real numbers without formulas for its quantiles: they come from draws, all else is exact."""
    rng = generator(11)
    values = rng.normal(4.0 * (np.arange(12) % 2)[:, None], 1.0, (12, 2))
    values[3, 0] = np.nan
    one, two = (Columns([kind(mean=2, strength=0.2, shape=3, rate=2)] * 2) for kind in (GaussianDiagonal, Measured))
    for estimator, settings in ((bg.BHCC, {}), (bg.CrossCat, CHAINS)):
        first, second = (estimator(own, hyper="fixed", **settings).fit(values) for own in (one, two))
        a, b = (model.impute(level=0.8) for model in (first, second))
        assert math.isclose(a.values[3, 0], b.values[3, 0], rel_tol=1e-6)
        assert math.isclose(a.sd[0], b.sd[0], rel_tol=1e-6)
        assert abs(a.low[0] - b.low[0]) + abs(a.high[0] - b.high[0]) < 0.3 * a.sd[0]
        np.testing.assert_allclose(first.score_samples(values), second.score_samples(values), atol=1e-8)
    learned = bg.CrossCat(Columns([Measured.learned()] * 2), **CHAINS).fit(values)
    assert np.isfinite(learned.posterior_.scalars["log_joint"]).all()


def check_default_parts():
    """Numbers of values and moments that the record leaves open are summed."""
    code, p = CODE_OF[Geometric], np.array([[A + 5.0, B, 0.0, 0.0]])
    prior = ColumnsPrior(np.array([code]), p, np.array([0, 2]))
    cell = CellMixtures(np.array([0]), np.array([0, 1]), np.zeros(1), np.zeros((1, 2)))
    mean, deviation = cell_mixtures.moments(prior, cell)
    a = p[0, 0]
    variance = B * (a + B - 1.0) * a / ((a - 2.0) * (a - 1.0) ** 2) - 0.0
    assert math.isclose(mean[0], B / (a - 1.0), rel_tol=1e-5)
    assert math.isclose(deviation[0] ** 2, variance, rel_tol=1e-2)


def check_late():
    """Kernels have been compiled or loaded by now: what they do not know is refused."""
    if not numba.config.DISABLE_JIT:
        with pytest.raises(InvalidLikelihoodError, match="before the first kernel is compiled or loaded"):
            register(replace(FAMILY, name="late", likelihood=type("Late", (Geometric,), {})))


def main() -> None:
    """All checks."""
    crosscat.MODELS["geometric"] = twins.geometric = geometric
    n_own = len(FAMILIES)
    code = register(FAMILY)
    register(replace(bernoulli.FAMILY, name="coin", likelihood=Coin, prior=CoinPrior))
    open_parts = dict.fromkeys(("student", "grained", "coordinates"))
    register(replace(gaussian_diagonal.FAMILY, name="measured", likelihood=Measured, prior=MeasuredPrior, **open_parts))
    assert (code, CODE_OF[Geometric], CODE_OF[Coin]) == (n_own, n_own, n_own + 1)
    for check in (
        check_marginals, check_gradient, check_trees, check_mixture, check_cross_trees, check_chains, check_nested,
        check_copy,
        check_real_numbers, check_default_parts, check_late,
    ):  # fmt: skip
        check()
        print(check.__name__, flush=True)


if __name__ == "__main__":
    main()

"""Randomized BHC against golden numbers, exact BHC and the enumerated evidence."""

import itertools
import math

import numpy as np
import pytest

from bayesgrove import BHC, RandomizedBHC
from bayesgrove.agglomeration.blocks import block_trees
from bayesgrove.agglomeration.filters import group_scores
from bayesgrove.agglomeration.learn import evidence_bound
from bayesgrove.agglomeration.randomized import grow
from bayesgrove.agglomeration.splits import (
    OpenSet,
    Problem,
    Settings,
    SplitTree,
    apply_division,
    divide_by,
)
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import Bernoulli, Binomial, Categorical, Columns, GaussianDiagonal, bind
from bayesgrove.likelihoods.bind import cluster_log_marginal
from bayesgrove.stats.partitions import all_partitions

pytestmark = pytest.mark.exact

FAMILIES = {
    "bern": lambda a, b: Bernoulli(a=a, b=b),
    "nig": lambda m, k, a, b: GaussianDiagonal(mean=m, strength=k, shape=a, rate=b),
    "cat": lambda k, a: Categorical(pseudo_count=a, n_categories=k),
    "binom": lambda n, a, b: Binomial(n_trials=n, a=a, b=b),
}
TABLES = ("bern_6x4", "nig_5x3", "mixed_5x4_missing")


def golden_problem(table):
    """The problem of a golden table, and what its encoding adds to log densities of the whole table and of rows."""
    likelihood = Columns([FAMILIES[kind](*numbers) for kind, *numbers in table["models"]])
    cells = np.array([[np.nan if cell is None else cell for cell in row] for row in table["X"]], float)
    bound = bind(likelihood, cells, "fixed")
    complete = not np.isnan(bound.values).any()
    problem = Problem(bound.prior, bound.values, math.log(table["alpha_rows"]), complete, 0, 1)
    return problem, bound.log_measure, bound.encoding.log_measure(cells)


@pytest.mark.parametrize("case", [0, 1])
@pytest.mark.parametrize("name", TABLES)
def test_golden_division(golden, name, case):
    table = golden("bhcc")["tables"][name]
    expected = table["randomized_rows"][case]
    problem, log_measure, row_measure = golden_problem(table)
    n = problem.values.shape[0]
    settings = Settings(split="root", filter_nodes=None, leaf_size=n + 1)
    division = divide_by(problem, settings, np.arange(n), np.array(expected["sample"]))
    sides = [np.flatnonzero(division.labels == side).tolist() for side in (0, 1)]
    assert sides == [expected["rows_a"], expected["rows_b"]]

    others = np.array([int(row) for row in expected["side_scores"]])
    scores = np.empty((2, others.size))
    groups = division.groups
    group_scores(groups.filter, groups.log_weight, groups.group_start, problem.values, others, 0, others.size, scores)
    np.testing.assert_allclose(
        scores.T + row_measure[others][:, None], list(expected["side_scores"].values()), rtol=0, atol=1e-8
    )

    order, splits = np.arange(n), SplitTree(n)
    open_sets = apply_division(splits, order, OpenSet(0, 0, n, 0, ()), division)
    if expected["below"] == "trunc":
        splits.truncated = {here.node for here in open_sets}
    forest, pieces = block_trees(problem, order, splits.plan())
    assert pieces.log_q[-1] + log_measure == pytest.approx(expected["q"], abs=1e-8)
    assert forest.log_odds[-1] == pytest.approx(expected["log_odds"], abs=1e-8)
    assert pieces.log_d[-1] == pytest.approx(expected["log_d"], abs=1e-8)
    bound = evidence_bound(pieces.log_q[-1], n, problem.log_concentration) + log_measure
    assert bound == pytest.approx(expected["log_lower_bound"], abs=1e-8)


def two_blobs(n, d, seed):
    rng = generator(seed)
    return rng.normal(size=(n, d)) + 5.0 * rng.integers(0, 3, (n, 1))


@pytest.mark.parametrize("likelihood", ["gaussian", "gaussian-full", "poisson", "auto"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("search", ["best", "greedy"])
def test_one_block_is_exact_bhc_to_the_bit(likelihood, missing, search):
    X = two_blobs(120, 3, seed=1)
    if likelihood == "poisson":
        X = np.floor(np.abs(X))
    if likelihood != "gaussian-full":
        X[generator(2).random(X.shape) < missing] = np.nan
    exact = BHC(likelihood=likelihood, search=search, random_state=0).fit(X)
    model = RandomizedBHC(likelihood=likelihood, search=search, leaf_size=121, sample_size=60, random_state=0).fit(X)
    np.testing.assert_array_equal(model.tree_.parent, exact.tree_.parent)
    for name, column in exact.tree_.columns.items():
        np.testing.assert_array_equal(model.tree_.columns[name], column)
    assert model.log_evidence_ == exact.log_evidence_
    np.testing.assert_array_equal(model.labels_, exact.labels_)
    assert model.depth_ == 0


@pytest.mark.parametrize("seed", range(6))
def test_no_step_lowers_the_bound(seed):
    X = generator(seed).normal(size=(400, 2)) * 2.0 + 3.0 * generator(seed, 1).integers(0, 4, (400, 1))
    settings = {"likelihood": "gaussian", "search": "greedy", "leaf_size": 16, "sample_size": 24, "random_state": seed}
    plain, grafted, refined = (
        RandomizedBHC(regraft=regraft, refine=refine, **settings).fit(X)
        for regraft, refine in ((False, 0), (True, 0), (True, 4))
    )
    assert plain.log_evidence_ <= grafted.log_evidence_ <= refined.log_evidence_
    steps = [value for name, value in refined.result_.details.items() if name not in ("depth", "check")]
    assert steps == sorted(steps)
    assert list(refined.result_.details)[:2] == ["depth", "joined"]
    assert len(steps) > 1  # otherwise nothing was tried here


# ---------------------------------------------------------------- the bound against all partitions of seven rows


def enumerated_evidence(prior, values, log_concentration):
    """Log evidence of the Dirichlet process mixture: the sum over all partitions."""
    n = values.shape[0]
    concentration = math.exp(log_concentration)
    log_marginal = {
        rows: cluster_log_marginal(prior, values[list(rows)])
        for size in range(1, n + 1)
        for rows in itertools.combinations(range(n), size)
    }
    terms = []
    for labels in all_partitions(n):
        blocks = [tuple(np.flatnonzero(np.asarray(labels) == k).tolist()) for k in np.unique(labels)]
        terms.append(sum(log_concentration + math.lgamma(len(block)) + log_marginal[block] for block in blocks))
    return np.logaddexp.reduce(terms) + math.lgamma(concentration) - math.lgamma(n + concentration)


OPTIONS = list(
    itertools.product(
        ("cut", "root", "skeleton"),
        ("halve", "truncate"),
        (("normalised", 4), ("normalised", None), ("paper", None)),
        ((False, 0), (True, 0), (True, 2)),
        (2, 3),
        (3, 4),
    )
)
"""216 ways to grow a tree of seven rows."""


@pytest.mark.parametrize("family", ["gaussian", "bernoulli"])
def test_bounds_of_tiny_trees_never_exceed_the_evidence(family):
    rng = generator(11)
    n_trees, n_deep, below = 0, 0, []
    for case in range(25):
        concentration = float(rng.choice([0.3, 1.0, 2.5]))
        cells = rng.normal(size=(7, 2)) + 3.0 * rng.integers(0, 3, (7, 1))
        cells = cells if family == "gaussian" else (cells > 2.0).astype(float)
        bound = bind(family, cells, "fixed")
        evidence = enumerated_evidence(bound.prior, bound.values, math.log(concentration))
        problem = Problem(bound.prior, bound.values, math.log(concentration), True, case, 1)
        for split, inner, (rule, nodes), (regraft, refine), leaf_size, sample in OPTIONS[case % 12 :: 12]:
            settings = Settings(leaf_size, sample, 6, split, 3, rule, nodes, inner)
            grown = grow(problem, settings, regraft=regraft, refine=refine)
            below.append(evidence - evidence_bound(grown.log_q, 7, problem.log_concentration))
            n_trees, n_deep = n_trees + 1, n_deep + (grown.depth > 0)
    assert n_trees == 450
    assert n_deep > 300
    assert min(below) >= -1e-10
    assert np.median(below) < 3.0  # a bound that is never near would pass as well

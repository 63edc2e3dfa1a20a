"""Insertion by predictive weights: the slow twin, and rebuilds whose evidence lies below the exact one."""

import math

import numpy as np
import pytest

from bayesgrove.agglomeration.learn import evidence_bound
from bayesgrove.core.errors import NumericalError
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from bayesgrove.models.bhc.basis import Basis, OpenColumns
from bayesgrove.models.bhc.rebuild import merges_inside, rebuilt
from bayesgrove.models.nrm import insertion
from bayesgrove.models.nrm.forest import forest_labels
from bayesgrove.models.nrm.insertion import NO_PAIRS, StreamState, insert_into, next_rebuild, streamed
from bayesgrove.models.nrm.joining import joined_tree
from bayesgrove.models.nrm.packing import unpack_forest
from bayesgrove.stats.processes import dirichlet_log_kappa
from reference import ibhc as twin
from reference.bhc import evidence_of
from reference.forests import check_forest, root_texts

pytestmark = pytest.mark.exact

CONCENTRATION = 0.1
QUICK = ("gaussian-known-variance", "gaussian", "columns")


def empty_state(prior):
    return StreamState(prior, math.log(CONCENTRATION), np.zeros(0), NO_PAIRS, 0)


def check_insertion(example, missing, *, noisy=False):
    for seed in range(3):
        values = example.data(seed, 14, missing)
        potentials = twin.Potentials(evidence_of(example.name, example.prior, values), twin.dp_log_kappa(CONCENTRATION))
        roots = twin.insert_by_weight(potentials, range(14), noisy=noisy)
        forest = insert_into(empty_state(example.prior), values, noisy=noisy)
        assert root_texts(forest) == [root.text for root in roots]
        check_forest(forest, 14)


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("name", QUICK)
def test_insertion_equals_twin(by_name, name, missing, noisy):
    check_insertion(by_name[name], missing, noisy=noisy)


@pytest.mark.slow
def test_insertion_equals_twin_for_every_likelihood(example):
    """Slow because every likelihood compiles its own kernels."""
    check_insertion(example, 0.0)
    check_insertion(example, 0.2)


def crowded(seed, n=24):
    """Clusters that touch."""
    values = generator(seed).normal(0, 2, (n, 1))
    return GaussianKnownVariancePrior(np.array([0.2]), np.array([0.0]), np.array([4.0])), values


def test_a_row_joins_where_its_weight_is_largest():
    """Known variance .2, prior N(0, 4): the larger cluster at 0 loses the row at 1.2 to the smaller one at 2."""
    prior, _ = crowded(0)
    values = np.array([[0.0]] * 6 + [[2.0]] * 3 + [[1.2], [40.0]])
    labels = forest_labels(insert_into(empty_state(prior), values))
    assert labels.tolist() == [0] * 6 + [1] * 4 + [2]


@pytest.mark.parametrize("n", [5, 7])
@pytest.mark.parametrize("name", ["gaussian-known-variance", "gaussian", "columns"])
def test_the_bound_of_a_rebuilt_forest_is_below_the_evidence(by_name, name, n):
    example = by_name[name]
    values = example.data(n, n)
    log_concentration, nothing = math.log(CONCENTRATION), (False,) * values.shape[1]
    basis = Basis(example.prior, log_concentration, (), False, OpenColumns(nothing, nothing, nothing))
    found = rebuilt(basis, values, None, None)
    assert (found.log_concentration, found.where.size) == (log_concentration, 0)
    log_kappa = dirichlet_log_kappa(log_concentration, n)
    forest = unpack_forest(found.prior, values, log_kappa, {"pairs": found.pairs})
    tree = joined_tree(found.prior, forest, log_kappa, n, tempered=True)
    potentials = twin.Potentials(evidence_of(name, example.prior, values), twin.dp_log_kappa(CONCENTRATION))
    joints = twin.all_log_joints(potentials, n)
    assert max(joints) - 5.0 < tree.log_tree[-1] <= np.logaddexp.reduce(joints) + 1e-9
    exact = np.logaddexp.reduce(joints) + math.lgamma(CONCENTRATION) - math.lgamma(n + CONCENTRATION)
    assert evidence_bound(float(tree.log_tree[-1]), n, log_concentration) <= exact + 1e-9


def test_merges_inside_clusters_are_those_of_one_label():
    children = np.array([[0, 1], [2, 3], [4, 6], [5, 7]])  # (((2, 3), 4), (0, 1)) over five rows
    np.testing.assert_array_equal(merges_inside(children, np.array([0, 0, 1, 1, 1])), [[0, 1], [2, 3], [4, 6]])
    np.testing.assert_array_equal(merges_inside(children, np.array([0, 1, 2, 2, 0])), [[2, 3]])
    np.testing.assert_array_equal(merges_inside(children, np.zeros(5, np.int64)), children)


def test_rebuilds_follow_the_number_of_rows_alone():
    points, n = [], 0
    while n < 200:
        n = next_rebuild(n)
        points.append(n)
    assert points == [16, 24, 36, 54, 81, 122, 183, 274]
    assert {next_rebuild(n) for n in range(54, 81)} == {81}


@pytest.mark.parametrize("cuts", [(60,), (20, 24, 25, 60), tuple(range(1, 61))], ids=len)
def test_streams_call_for_rebuilds_at_the_points_of_the_schedule(cuts):
    prior, values = crowded(3, 60)
    calls = []

    def rebuild(rows, labels, where):
        calls.append((len(rows), labels.size))
        return empty_state(prior)._replace(n_known=len(rows))  # all rows apart again

    state = empty_state(prior)
    for last in cuts:
        state = streamed(state, values[:last], rebuild)
    assert calls == [(n, n) for n in (16, 24, 36, 54)]
    assert state.n_known == 60
    streamed(empty_state(prior), values, rebuild, finish=True)
    assert calls[-1] == (60, 60)


def test_weights_that_are_no_numbers_stop_it():
    prior, values = crowded(10)
    with pytest.raises(NumericalError, match="not finite"):
        insert_into(empty_state(prior._replace(variance=np.array([np.nan]))), values)


def test_pieces_between_looks_at_the_keyboard_change_nothing(monkeypatch):
    prior, values = crowded(11)
    whole = root_texts(insert_into(empty_state(prior), values))
    monkeypatch.setattr(insertion, "ROWS_AT_ONCE", 5)
    assert root_texts(insert_into(empty_state(prior), values)) == whole

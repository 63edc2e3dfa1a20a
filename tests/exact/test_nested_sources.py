"""Exact test of the moves of nested hierarchies: the sources, run as plain Python, against the twin.

Continuous draws are replaced by their means and normal ones by a constant, in library and twin alike; every outcome of
the rest is followed (`reference.enumerate_rng`). The law of the whole state after a move, weights and means included,
must then be the twin's to the last digits. The test of planted errors runs this file.
"""

import itertools
import math
from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import pytest

from bayesgrove.models.nested import penalty_paths, weights
from bayesgrove.models.nested.packing import drawn, stream_to_array, unpacked
from bayesgrove.models.nested.paths import gibbs_paths, metropolis_paths
from bayesgrove.models.nested.penalty import PENALTIES, chance_table, penalty_of
from bayesgrove.models.nested.penalty_metropolis import penalised_metropolis_paths
from bayesgrove.models.nested.penalty_paths import penalised_gibbs_paths
from bayesgrove.models.nested.regraft import regraft_level
from bayesgrove.models.nested.split_merge import N_TALLIES, Numbers, make_sides, try_plain
from bayesgrove.models.nested.state import Mixture, Tree
from bayesgrove.models.nested.sweeps import draw_means
from bayesgrove.models.nested.tables import Tables, new_tables, nodes_at, seat_data
from bayesgrove.models.nested.target import NO_PENALTY, make_target, sampled_means
from bayesgrove.models.nested.weights_pass import pass_over_weights
from bayesgrove.stats.special import log_gamma_table
from reference import nested_moves, nested_paths
from reference.enumerate_moves import balance_gap, invariance_gap, law_of, transition_matrix
from reference.enumerate_rng import Draw, EnumeratingRng
from reference.nested import Model
from reference.nested_arrays import NUMBERS, arrays_of, key_of, state_of

pytestmark = [
    pytest.mark.exact,
    pytest.mark.skipif(
        not numba.config.DISABLE_JIT,
        reason="needs NUMBA_DISABLE_JIT=1; run so by statistical/mutants/test_mutants.py",
    ),
]
DATA = np.array([[1.9, -0.4], [0.7, 1.1], [-1.5, 0.6], [-0.2, -1.3]])
VALUES = {"alpha": 0.9, "gamma": 1.3, "gamma0": 0.8, "s2": 0.7, "h2": 1.6, "nu2": 1.4}
PRIORS = {"alpha": (2.0, 1.5), "gamma": (3.0, 2.0), "gamma0": (2.0, 1.1), "s2": (3.0, 2.0), "h2": (4.0, 2.5)}
NORMAL = 0.3


class MeanRng(EnumeratingRng):
    """Uniform and exponential draws are followed; others are their means, or a constant."""

    def standard_normal(self):
        return NORMAL

    def normal(self, size):
        return np.full(size, NORMAL)

    def standard_gamma(self, shape):
        return shape

    gamma = standard_gamma

    def beta(self, a, b):
        return a / (a + b)

    def choice(self, n, p):
        return self.choose(p)

    def permutation(self, n):
        left = list(range(n))
        return [left.pop(self.integers(0, len(left))) for _ in range(n)]


@pytest.fixture(autouse=True)
def means_instead_of_gammas(monkeypatch):
    """Dirichlet draws become their means in both."""
    monkeypatch.setattr(weights, "draw_log_gamma", lambda rng, shape: math.log(shape))
    monkeypatch.setattr(
        nested_paths, "log_gamma_draw", lambda rng, shape: math.log(shape) if shape > 0.0 else -math.inf
    )
    # log(1 - U) < log ratio, in a form that can be followed.
    monkeypatch.setattr(nested_paths, "accepts", lambda rng, log_ratio: -rng.standard_exponential() < log_ratio)
    monkeypatch.setattr(Draw, "__rsub__", lambda draw, number: -draw + number, raising=False)
    # int(U n), one of 0 .. n - 1
    monkeypatch.setattr(
        Draw, "__int__", lambda draw: draw.source.choose([1.0 / draw.scale] * round(draw.scale)), raising=False
    )


@cache
def starts(model_key, n_states):
    """A few different states that a chain of the twin visits."""
    model, rng = model_of(*model_key), np.random.default_rng(11)
    state, found = nested_moves.start(rng, model, **VALUES), []
    while len(found) < n_states:
        for _ in range(6):
            nested_moves.sweep(rng, model, state)
        found.append(arrays_of(model, state))
    return found


def model_of(n_rows=4, depth=2, penalty="", n_components=None, free=False, n_auxiliary=2):
    strength = 0.3 if penalty else 0.0
    return Model(
        DATA[:n_rows], depth, strength=strength, margin=0.8, penalty=penalty or "max", n_components=n_components,
        hyperpriors=PRIORS if free else {}, n_auxiliary=n_auxiliary,
    )  # fmt: skip


def target_of(model, penalty):
    hyperpriors = np.full((6, 2), np.nan)
    for name, numbers in model.hyperpriors.items():
        hyperpriors[NUMBERS.index(name)] = numbers
    return make_target(
        model.data, sampled_means(model.data), depth=model.depth, values=[VALUES[name] for name in NUMBERS],
        hyperpriors=hyperpriors, n_components=model.n_components or 0,
        penalty=PENALTIES[penalty] if penalty else NO_PENALTY, strength=model.strength, margin=model.margin,
        margin_data=model.data if penalty else None,
    )  # fmt: skip


STREAM = stream_to_array(np.random.Generator(np.random.Philox(1)))


def check_move(model, penalty, arrays, library, twin):
    """Both laws of the whole state after a move."""
    target = target_of(model, penalty)
    log_chance = chance_table(target, VALUES["nu2"]) if penalty else None
    arrays = {name: array for name, array in arrays.items() if penalty or name != "discriminants"}

    def by_library(choose):
        state = unpacked(target, {**arrays, "stream": STREAM}, log_chance)
        library(MeanRng(choose), target, state)
        return key_of(drawn(target, state))

    def by_twin(choose):
        state = state_of(arrays)
        if not penalty:
            for node in nested_moves.nodes_of(state.root):
                node.eta = np.zeros(2)
        twin(MeanRng(choose), model, state)
        return key_of(arrays_of(model, state))

    assert law_of(by_library) == pytest.approx(law_of(by_twin), abs=1e-10)


def visit_of(kernel, datum, *extra):
    def visit(rng, target, state):
        given = (rng, target.law, target.data, state.tree, state.mixture)
        if target.penalty:
            given = (*given, state.margins.eta, penalty_of(target, state))
        tallies = np.zeros(5, np.int64)
        order = np.array([datum])
        done = kernel(*given, state.values, target.depth, target.n_components, *extra, order, 0, tallies)
        assert done == 1

    return visit


PATHS = {"gibbs": (gibbs_paths, nested_paths.gibbs_path), "mh": (metropolis_paths, nested_paths.mh_path)}
COMPONENTS = pytest.mark.parametrize("n_components", [None, 3], ids=["infinite", "finite"])


@COMPONENTS
@pytest.mark.parametrize("path", PATHS)
def test_paths(path, n_components):
    key, (kernel, move) = (4, 2, "", n_components), PATHS[path]
    for arrays, datum in itertools.product(starts(key, 3), range(4)):
        check_move(model_of(*key), "", arrays, visit_of(kernel, datum), lambda *given, n=datum: move(*given, n))


@pytest.mark.parametrize("path", PATHS)
def test_paths_of_three_levels(path):
    key, (kernel, move) = (3, 3, ""), PATHS[path]
    for arrays, datum in itertools.product(starts(key, 3), range(3)):
        check_move(model_of(*key), "", arrays, visit_of(kernel, datum), lambda *given, n=datum: move(*given, n))


@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "full"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_penalised_gibbs_paths(penalty, lazy):
    """Three data, and one auxiliary discriminant, where rejections multiply the paths."""
    n_rows, n_auxiliary = (3, 1) if lazy else (4, 2)
    key = (n_rows, 2, penalty, None, False, n_auxiliary)
    for arrays, datum in itertools.product(starts(key, 2), range(n_rows)):
        visit = visit_of(penalised_gibbs_paths, datum, n_auxiliary, lazy)
        check_move(model_of(*key), penalty, arrays, visit, lambda *given, n=datum: nested_paths.gibbs_path(*given, n))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_gibbs_paths_that_stop_at_every_datum(penalty, monkeypatch):
    """A branch whose hinges are looked at after each datum comes out as often as one that is evaluated at once."""
    monkeypatch.setattr(penalty_paths, "ASKED", 1)
    key = (3, 2, penalty, None, False, 1)
    for arrays in starts(key, 2):
        visit = visit_of(penalised_gibbs_paths, 1, 1, True)
        check_move(model_of(*key), penalty, arrays, visit, lambda *given: nested_paths.gibbs_path(*given, 1))


@pytest.mark.parametrize("own_only", [False, True], ids=["exact", "printed"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_penalised_metropolis_paths(penalty, own_only):
    key = (4, 2, penalty)
    model = model_of(*key)._replace(sampler="paper" if own_only else "exact")
    for arrays, datum in itertools.product(starts(key, 2), range(4)):
        visit = visit_of(penalised_metropolis_paths, datum, own_only)
        check_move(model, penalty, arrays, visit, lambda *given, n=datum: nested_paths.mh_path(*given, n))


@pytest.mark.parametrize("free", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize("regraft", [False, True], ids=["plain", "regraft"])
@COMPONENTS
@pytest.mark.filterwarnings("ignore:divide by zero encountered in log")  # of plain Python, not of compiled code
def test_weights(n_components, regraft, free):
    """Three data where nodes are moved: the orders of a scan multiply the paths."""
    key = (3 if regraft else 4, 2, "", n_components, free)
    model = model_of(*key)._replace(regraft=regraft)

    def library(rng, target, state):
        pass_over_weights(
            rng, state.tree, state.mixture, state.values, target.hyperpriors, 2, target.n_components, regraft,
            np.zeros(2, np.int64),
        )  # fmt: skip

    for arrays in starts(key, 5):
        check_move(model, "", arrays, library, nested_moves.update_weights)


@COMPONENTS
def test_means_and_variances(n_components):
    key = (4, 2, "", n_components, True)

    def library(rng, target, state):
        draw_means(rng, target.law, target.data, state.mixture, state.values, target.hyperpriors)

    def twin(rng, model, state):
        nested_moves.draw_means(rng, model, state)
        nested_moves.draw_variances(rng, model, state)

    for arrays in starts(key, 4):
        check_move(model_of(*key), "", arrays, library, twin)


# Moves of nodes with their subtrees: four leaves of five data, all ways to hang them from level-1 nodes

LEAVES, LEAF_COMPONENTS = np.array([0, 0, 1, 2, 3]), np.array([0, 1, 0, 1, 1])
LEAF_TABLES = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
"""Of each leaf, by component; more than there are data, which nothing forbids here."""
ROOT_WEIGHTS = np.array([0.2, 0.5, 0.3])
"""Of the remainder and of two components."""
PARENTS = [(0, *rest) for rest in itertools.product(range(4), repeat=3)]
PARTITIONS = [p for p in PARENTS if all(p[i] <= max(p[:i]) + 1 for i in range(1, 4))]


def log_law(parents):
    """Of four leaves by parent: the nested process, and tables whose parents' weights are integrated out."""
    alpha, gamma, total = VALUES["alpha"], VALUES["gamma"], 0.0
    sizes = np.bincount(LEAVES)
    for parent in set(parents):
        below = np.array(parents) == parent
        n, t = int(sizes[below].sum()), LEAF_TABLES[below].sum(axis=0)
        total += math.log(alpha) + math.lgamma(n) + math.lgamma(alpha) - math.lgamma(n + alpha)
        total += math.lgamma(gamma) - math.lgamma(gamma + t.sum())
        for k, base in enumerate(gamma * ROOT_WEIGHTS[1:]):
            total += math.lgamma(base + t[k]) - math.lgamma(base)
    return total


class Hung(NamedTuple):
    """Leaves below their parents, tables seated, as a pass over the weights has them before it moves nodes."""

    tree: Tree
    mixture: Mixture
    values: np.ndarray
    tables: Tables
    nodes: np.ndarray
    n_nodes: int
    leaves: list[int]
    slots: list[int]

    def parents(self):
        """The partition of the leaves; counts and tables of their parents must be those of it."""
        tree, leaves = self.tree, self.leaves
        for parent in {int(tree.parent[node]) for node in leaves}:
            below = [leaf for leaf in range(4) if tree.parent[leaves[leaf]] == parent]
            np.testing.assert_allclose(self.tables.customers[parent, self.slots], LEAF_TABLES[below].sum(axis=0))
            assert tree.count[parent] == np.isin(LEAVES, below).sum()
        seen = {}
        return tuple(seen.setdefault(int(tree.parent[node]), len(seen)) for node in leaves)


def hang(parents):
    """The leaves hung as a partition of them says."""
    target = target_of(model_of()._replace(data=np.vstack([DATA, DATA[:1]])), "")
    paths = np.column_stack([np.array(parents)[LEAVES], LEAVES]).astype(np.int32)
    arrays = {
        "paths": paths, "components": LEAF_COMPONENTS.astype(np.int32), "means": np.zeros((2, 2)),
        "log_weights": np.log(np.tile(ROOT_WEIGHTS, (1 + len(set(parents)) + 4, 1))),
        "values": target.values.copy(), "stream": STREAM,
    }  # fmt: skip
    state = unpacked(target, arrays)
    tree, mixture = state.tree, state.mixture
    capacity = tree.parent.size
    tables, nodes = new_tables(capacity, mixture.size.size), np.empty(capacity, np.int64)
    seat_data(tree.leaf, mixture.component, tables)
    leaves = [int(tree.leaf[np.flatnonzero(leaf == LEAVES)[0]]) for leaf in range(4)]
    slots = [int(mixture.component[np.flatnonzero(k == LEAF_COMPONENTS)[0]]) for k in range(2)]
    for leaf, node in enumerate(leaves):
        tables.tables[node, slots] = LEAF_TABLES[leaf]
        tables.n_tables[node] = LEAF_TABLES[leaf].sum()
        tables.customers[tree.parent[node]] += tables.tables[node]
        tables.n_customers[tree.parent[node]] += tables.n_tables[node]
    return Hung(tree, mixture, state.values, tables, nodes, nodes_at(tree, 2, nodes), leaves, slots)


LOG_GAMMAS = log_gamma_table(0.0, 6), log_gamma_table(VALUES["alpha"], 6)


def try_once(parents, choose):
    """One try of a split or merge from a partition of the leaves; gives the next."""
    hung = hang(parents)
    numbers = Numbers(VALUES["alpha"], VALUES["gamma"], *LOG_GAMMAS)
    given = (numbers, hung.mixture, hung.tree, hung.tables, hung.nodes, hung.n_nodes)
    try_plain(MeanRng(choose), *given, make_sides(hung.tree.parent.size), np.zeros(N_TALLIES, np.int64))
    return hung.parents()


def regraft_all(parents, choose):
    """A whole scan of regrafts over the leaves; gives the next partition."""
    hung = hang(parents)
    given = (hung.tree, hung.mixture, hung.values, hung.tables, hung.nodes, hung.n_nodes)
    assert regraft_level(MeanRng(choose), *given, *LOG_GAMMAS, np.zeros(2, np.int64))
    return hung.parents()


def test_regrafts_of_a_level_leave_the_law():
    """Of all fifteen partitions of the leaves, to the last digits: the order of a scan knows nothing of the tree.

    In the order of the tree, which the scan changes, another law comes out, 3.4e-3 away.
    """
    law = np.exp([log_law(parents) for parents in PARTITIONS])
    matrix = transition_matrix(regraft_all, PARTITIONS)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    assert invariance_gap(matrix, law / law.sum()) < 1e-12
    assert (matrix > 0.0).all()


def test_split_merge():
    """Flows between any two of the fifteen partitions are equal."""
    law = np.exp([log_law(parents) for parents in PARTITIONS])
    matrix = transition_matrix(try_once, PARTITIONS)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    assert balance_gap(matrix, law / law.sum()) < 1e-12
    assert (np.linalg.matrix_power(matrix, 6) > 0.0).all()

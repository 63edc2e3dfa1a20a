"""Regrafts under a penalty: bounds of hinges from sums of rows, energies of places, sums that stop early."""

import copy

import numpy as np
import pytest

from bayesgrove.core.constants import NULL
from bayesgrove.core.rng import generator
from bayesgrove.models.nested.packing import packed, unpacked
from bayesgrove.models.nested.penalty import PENALTIES, energies, links_of, penalty_of
from bayesgrove.models.nested.penalty_bounds import (
    hinge_kind,
    least_hinges_beside,
    least_hinges_of_block,
    sum_rows,
)
from bayesgrove.models.nested.penalty_members import (
    fill_block,
    in_order_of_leaves,
    make_block,
    make_groups,
    make_members,
)
from bayesgrove.models.nested.penalty_regraft import group_hinges, known_energy, place_hinges
from bayesgrove.models.nested.penalty_sums import sum_chances
from bayesgrove.models.nested.regraft import attach, detach, is_fixed
from bayesgrove.models.nested.starts import first_state
from bayesgrove.models.nested.state import grow_nodes, nodes_in_use
from bayesgrove.models.nested.tables import new_tables
from bayesgrove.models.nested.target import make_target, sampled_means

pytestmark = pytest.mark.unit
DEPTH, N_ROWS = 3, 14


def make_state(kind, seed, *, two_sorts=False):
    """A state of few rows with room for new nodes; the rows are anyhow, or of two sorts, those of each nearly alike."""
    rng = generator(seed)
    data = rng.normal(size=(N_ROWS, 2)) * 2.0
    if two_sorts:
        data = np.where(np.arange(N_ROWS)[:, np.newaxis] % 2, (2.0, 0.0), (-1.0, 2.0)) + 0.001 * data
    target = make_target(
        data, sampled_means(data), depth=DEPTH, values=(1.5, 1.2, 0.8, 1.0, 1.0, 1.0), penalty=kind, strength=0.3,
        margin=0.5, margin_data=data,
    )  # fmt: skip
    state = first_state(rng, target)
    state = unpacked(target, packed(target, state), state.margins.log_chance)
    grow_nodes(state)
    return target, state, rng


def places_of(tree, node):
    """Nodes that may be a parent, and those below which a new parent may hang."""
    level = int(tree.level[node])
    return [int(place) for place in nodes_in_use(tree) if tree.level[place] in (level - 1, level - 2)]


def whole_energy(target, state, place, node, emptied, vector):
    """Energy of all data where the node hangs from a place, from scratch; the state is left as it is."""
    own = copy.deepcopy(state)
    tables = new_tables(own.tree.parent.size, own.mixture.size.size)
    attach(own.tree, tables, node, place, emptied, 1)
    if own.tree.parent[node] != place:
        own.margins.eta[own.tree.parent[node]] = vector
    return float(energies(penalty_of(target, own), links_of(own.tree), own.margins.eta, own.tree.leaf).sum())


def compared(kind, seed, *, two_sorts=False):
    """For all places of a node: energy from scratch, what is known, hinges, their bounds, and a stopped sum."""
    target, state, rng = make_state(kind, seed, two_sorts=two_sorts)
    tree, eta, penalty = state.tree, state.margins.eta, penalty_of(target, state)
    hinges = penalty._replace(kind=int(hinge_kind(kind)))
    nodes = [int(node) for node in nodes_in_use(tree) if tree.level[node] >= 2 and not is_fixed(tree, node)]
    if not nodes:
        return []
    node, members = nodes[seed % len(nodes)], make_members(tree.leaf, tree.parent.size)
    emptied = detach(tree, new_tables(tree.parent.size, state.mixture.size.size), node, 1)
    sums, rows = sum_chances(penalty, tree), sum_rows(penalty.data, tree)
    here = tree.parent[node]
    while here != NULL:  # the node is out, but its data still count as those of its former parents
        sums[here] -= sums[node]
        rows[here] -= rows[node]
        here = tree.parent[here]
    block = make_block(N_ROWS)
    n_block, inside = fill_block(penalty, links_of(tree), tree, eta, members, node, block)
    sort_of = np.arange(N_ROWS) % 2 if two_sorts else state.mixture.component
    groups, means = make_groups(members, sort_of, penalty.data, state.mixture.size.size)
    of_groups, group_block = hinges._replace(data=means), make_block(N_ROWS)
    n_groups, _ = fill_block(of_groups, links_of(tree), tree, eta, groups, node, group_block)
    found = []
    for place in places_of(tree, node):
        is_new = tree.level[place] == tree.level[node] - 2
        vector = rng.normal(size=2) if is_new else eta[node].copy()
        given = (hinges, links_of(tree), tree, eta, members, block, n_block, place, vector)
        paid, half = place_hinges(*given, np.inf), 0.5 * place_hinges(*given, np.inf)
        law = (hinges.kind, hinges.strength, hinges.margin, tree, eta)
        least = max(least_hinges_of_block(*law, rows[node], n_block, place, vector), inside)
        least += least_hinges_beside(*law, rows, place, vector)
        known = known_energy(penalty, tree, sums, node, place) if penalty.log_chance.shape[1] else 0.0
        whole = whole_energy(target, state, place, node, emptied, vector)
        close = group_hinges(of_groups, links_of(tree), tree, eta, groups, group_block, n_groups, place, vector)
        found.append((whole, known, paid, least, close, half, place_hinges(*given, half)))
    return found


@pytest.mark.parametrize("kind", PENALTIES.values(), ids=PENALTIES)
def test_places_cost_what_recomputation_says(kind):
    """Up to a constant; bounds are below, and not 0; a sum that stops is above its limit and below the whole."""
    n_places, n_bounds = 0, 0
    for seed in range(15):
        found = np.array(compared(kind, seed))
        if len(found) < 2:
            continue
        whole, known, paid, least, close, limit, stopped = found.T
        np.testing.assert_allclose(np.diff(whole), np.diff(known + paid), atol=1e-9)
        assert (least <= paid + 1e-9).all()
        assert (close <= paid + 1e-9).all()
        assert (stopped >= np.minimum(limit, paid)).all()
        assert (stopped <= paid + 1e-9).all()
        n_places, n_bounds = n_places + len(found), n_bounds + int((least > 0.1 * paid).sum())
    assert n_bounds > 0.3 * n_places > 3


@pytest.mark.parametrize("kind", PENALTIES.values(), ids=PENALTIES)
def test_groups_of_like_rows_cost_what_the_rows_do(kind):
    """But for what the data beside them pay, where that is not convex; sums of rows are further away."""
    found = np.concatenate([np.array(compared(kind, seed, two_sorts=True)).reshape(-1, 7) for seed in range(15)])
    paid, least, close = found[:, 2], found[:, 3], found[:, 4]
    assert (close <= paid + 1e-9).all()
    if kind in (PENALTIES["sum"], PENALTIES["chance"]):
        np.testing.assert_allclose(close, paid, rtol=1e-3, atol=1e-3)
    assert (close > least + 0.1).sum() > 10


def test_groups_are_data_of_one_leaf_and_one_component():
    rng = generator(0)
    leaf, component, data = rng.integers(3, 6, 40), rng.integers(0, 4, 40), rng.normal(size=(40, 2))
    groups, means = make_groups(make_members(leaf, 7), component, data, 5)
    for z in range(7):
        kinds = list(dict.fromkeys(component[leaf == z].tolist()))
        own = slice(groups.first[z], groups.first[z + 1])
        rows = [data[(leaf == z) & (component == k)] for k in kinds]
        assert groups.weight[own].tolist() == [len(own_rows) for own_rows in rows]
        np.testing.assert_allclose(means[own], np.reshape([own_rows.mean(axis=0) for own_rows in rows], (-1, 2)))
    assert groups.items.tolist() == list(range(len(means)))


def test_rows_in_order_of_leaves_are_those_of_the_members():
    rng = generator(1)
    leaf, data = rng.integers(0, 5, 30), rng.normal(size=(30, 2))
    members = make_members(leaf, 6)
    walked, rows = in_order_of_leaves(members, data)
    assert walked.items.tolist() == list(range(30))
    np.testing.assert_array_equal(walked.first, members.first)
    np.testing.assert_array_equal(rows, data[members.items])
    np.testing.assert_array_equal(leaf[members.items], np.repeat(np.arange(6), np.diff(members.first)))

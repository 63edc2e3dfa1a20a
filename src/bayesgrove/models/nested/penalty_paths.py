"""Path moves with a penalty: collapsed Gibbs with lazily tightened rejection."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.nodes import list_nodes, release
from bayesgrove.models.nested.paths import CHANGED, VISITS, first_above
from bayesgrove.models.nested.penalty import (
    Links,
    Penalty,
    gain_below,
    gain_of_some,
    join,
    level_energy,
    own_branch_energy,
    score,
)
from bayesgrove.models.nested.penalty_bounds import hinge_kind
from bayesgrove.models.nested.penalty_slice import draw_vector
from bayesgrove.models.nested.penalty_sums import (
    add_to_sums,
    clear_sums,
    count_children,
    log_chance_of_branch,
    most_children,
    sum_chances,
)
from bayesgrove.models.nested.state import ROOT
from bayesgrove.models.nested.target import ALPHA, CHANCE, CHANCE_MAXIMUM, DISCRIMINANT_VARIANCE, SUM
from bayesgrove.models.nested.visits import (
    LEAST_TOTAL,
    choose_component,
    fill_densities,
    has_room,
    log_mixed,
    mixed,
    place_datum,
    remove_datum,
)
from bayesgrove.stats.sampling import draw_log_categorical

MOST_TOTAL = 1e200
ASKED = 64
"""Data between two looks at what a branch costs so far."""
EVALUATED, N_TALLIES = 2, 3
"""Beside CHANGED and VISITS: auxiliary discriminants whose effect on other data was computed."""


class Work(NamedTuple):
    """Arrays of one visit: by node, by candidate (nodes in the order of a walk, then evaluated branches)."""

    prior: np.ndarray
    """(capacity,) probability of the nested process down to a node."""
    energy: np.ndarray
    """(capacity,) what the datum pays down to a node."""
    own: np.ndarray
    """(capacity,) score of the datum at a node."""
    node: np.ndarray
    """(n_candidates,) a leaf, or where a branch begins."""
    walk: np.ndarray
    """(n_candidates,) probability of the nested process to go there."""
    running: np.ndarray
    """(n_candidates,) weights, added up; bounds of them for branches."""
    log_weight: np.ndarray
    """(n_candidates,) logs of the weights, filled when they are needed; of bounds for what is left of a branch."""
    bound: np.ndarray
    """(n_candidates,) energy inside the bound of a branch."""
    left: np.ndarray
    """(n_candidates,) auxiliary discriminants inside the bound of a branch; 0 for others."""
    vector: np.ndarray
    """(n_branches, d') discriminants of the evaluated branches."""
    seen: np.ndarray
    """(n_branches,) how many data have been asked what the branch costs them."""
    former: np.ndarray
    """(d',) discriminant of the top of the branch that the datum had alone."""


@kernel
def make_work(capacity, width, n_auxiliary):
    """Empty arrays."""
    n_branches = n_auxiliary * capacity
    size = capacity + n_branches
    by_node, floats = np.empty((3, capacity)), np.empty((4, size))
    return Work(
        by_node[0], by_node[1], by_node[2], np.empty(size, np.int64), floats[0], floats[1], floats[2], floats[3],
        np.zeros(size, np.int64), np.empty((n_branches, width)), np.empty(n_branches, np.int64), np.empty(width),
    )  # fmt: skip


@borrower
def fill_scores_of_children(first_child, next_sibling, eta, data, n, above, own):
    """Scores of datum n at the children of a node; gives the best, the second and the number of children."""
    best, second, n_children = -np.inf, -np.inf, 0
    child = first_child[above]
    while child != NULL:
        value = score(eta, child, data, n)
        own[child] = value
        if value > best:
            best, second = value, best
        else:
            second = max(second, value)
        n_children += 1
        child = next_sibling[child]
    return best, second, n_children


@borrower
def sum_hinges(first_child, next_sibling, above, child, margin, own):
    """Sum of positive zetas of a child against its siblings."""
    total, threshold, sibling = 0.0, own[child] - margin, first_child[above]
    while sibling != NULL:
        if sibling != child and own[sibling] > threshold:
            total += own[sibling] - threshold
        sibling = next_sibling[sibling]
    return total


@borrower
def spread_energies(kind, strength, margin, log_chance, data, first_child, next_sibling, eta, n, above, energy, own):
    """What datum n pays down to each child of a node; gives the number of children."""
    best, second, n_children = fill_scores_of_children(first_child, next_sibling, eta, data, n, above, own)
    child = first_child[above]
    if n_children == 1:
        energy[child] = energy[above]
        return n_children
    while child != NULL:
        worst, total = margin - own[child] + (second if own[child] == best else best), 0.0
        if kind in (SUM, CHANCE):
            total = sum_hinges(first_child, next_sibling, above, child, margin, own)
        of_level = level_energy(kind, strength, log_chance, n, worst, total, n_children - 1)
        energy[child] = join(kind, energy[above], of_level)
        child = next_sibling[child]
    return n_children


@borrower
def weigh_candidates(penalty, tree, weight, densities, top, eta, n, alpha, depth, n_aux, sums, work):
    """Weights of all leaves, and bounds of the weights of a branch below each inner node; their number and sum.

    The bound of a branch leaves out what hinges it adds, its own and those of the data beside it; what margins cost by
    chance is inside. In linear space, densities divided by the largest.
    """
    kind, strength, margin, data, log_chance = penalty
    parent, first_child, next_sibling = tree.parent, tree.first_child, tree.next_sibling
    count, level, candidate, left, running = tree.count, tree.level, work.node, work.left, work.running
    prior, energy, own, bound, walk = work.prior, work.energy, work.own, work.bound, work.walk
    prior[ROOT], energy[ROOT] = 1.0, 0.0
    n_found, total = list_nodes(tree, depth, candidate), 0.0
    for i in range(n_found):
        node = candidate[i]
        here = 1.0 if node == ROOT else prior[parent[node]] * count[node]
        paid, n_slots = energy[node], 0
        if level[node] < depth:
            n_children = spread_energies(
                kind, strength, margin, log_chance, data, first_child, next_sibling, eta, n, node, energy, own
            )
            here /= count[node] + alpha
            prior[node] = here
            here *= alpha
            n_slots = n_aux
            if sums.shape[1] > 0:
                paid += log_chance_of_branch(kind, log_chance, sums, n, node, n_children)
        bound[i], left[i], walk[i] = paid, n_slots, here
        density = 0.0
        for k in range(top):
            density += weight[node, k] * densities[k]
        here *= density
        total += here if paid == 0.0 else here * math.exp(-paid)
        running[i] = total
    return n_found, total


@borrower
def fill_log_weights(mixture, scores, densities, work, n_found, scratch):
    """The same weights in logs."""
    top = mixture.numbers[0]
    for c in range(n_found):
        value = mixed(mixture.weight, work.node[c], densities, top)
        log_ell = math.log(value)
        if value <= LEAST_TOTAL:
            log_ell = log_mixed(mixture.log_weight, work.node[c], scores, top, scratch) - largest(scores, top)
        work.log_weight[c] = math.log(work.walk[c]) + log_ell - work.bound[c]


@borrower
def largest(scores, top):
    """The largest score, by which densities were divided."""
    highest = -np.inf
    for k in range(top):
        highest = max(highest, scores[k])
    return highest


@borrower
def fill_slot(rng, work, row, from_former, scale):
    """An auxiliary discriminant: the datum's own former one, or from the prior."""
    for i in range(work.former.size):
        work.vector[row, i] = work.former[i] if from_former else scale * rng.standard_normal()


@borrower
def excess_energy(penalty, tree, eta, n, work, candidate, row):
    """What a branch costs beyond its bound."""
    links, above = Links(tree.parent, tree.first_child, tree.next_sibling), work.node[candidate]
    vector = work.vector[row]
    own = own_branch_energy(penalty, links, eta, n, above, work.energy[above], vector)
    return own + gain_below(penalty, links, eta, tree.leaf, above, vector) - work.bound[candidate]


@borrower
def hinges_of_branch(hinges, tree, eta, n, work, candidate, row, limit):
    """Further hinges of a branch until they are above `limit`, looked at after ASKED data each, or all are seen."""
    links, above, leaf = Links(tree.parent, tree.first_child, tree.next_sibling), work.node[candidate], tree.leaf
    vector, m, more = work.vector[row], work.seen[row], 0.0
    if m == 0:
        paid = work.energy[above]
        more = own_branch_energy(hinges, links, eta, n, above, paid, vector) - paid
    while m < leaf.size:
        end = min(m + ASKED, leaf.size)
        more += gain_of_some(hinges, links, eta, leaf, above, vector, m, end)
        m = end
        if more > limit:
            break
    work.seen[row] = m
    return more


@borrower
def take_slot(work, candidate, n_total, excess):
    """Take one slot out of the bound of a branch and add it with its true weight as candidate `n_total`."""
    n_left = work.left[candidate] - 1
    log_slot = work.log_weight[candidate] - math.log(n_left + 1.0)
    work.left[candidate] = n_left
    work.log_weight[candidate] = log_slot + math.log(n_left) if n_left > 0 else -np.inf
    work.node[n_total], work.left[n_total] = work.node[candidate], 0
    work.log_weight[n_total] = log_slot - excess


@borrower
def evaluate_all(rng, penalty, tree, eta, n, work, n_found, hung_from, scale):
    """Replace all bounds by true weights; gives the number of candidates."""
    n_total = n_found
    for candidate in range(n_found):
        while work.left[candidate] > 0:
            row = n_total - n_found
            is_first = row == 0 or work.node[n_total - 1] != work.node[candidate]
            fill_slot(rng, work, row, is_first and work.node[candidate] == hung_from, scale)
            take_slot(work, candidate, n_total, excess_energy(penalty, tree, eta, n, work, candidate, row))
            work.seen[row] = tree.leaf.size
            n_total += 1
    return n_total


@borrower
def draw_branch(rng, penalty, tree, eta, n, work, n_found, n_total, chosen, hung_from, scale):
    """Draw candidates by their true weights, from logs, `chosen` (or NULL) drawn already; candidate and their number.

    Rejection from bounds that are tightened on the way: whatever happened, a candidate comes out with a probability
    proportional to its true weight, because the weights themselves never depend on what was drawn. A branch is rejected
    as soon as its hinges are above an exponential draw; those that were added stay in its bound.
    """
    former_left, n_data = hung_from != NULL, tree.leaf.size
    hinges = Penalty(hinge_kind(penalty.kind), penalty.strength, penalty.margin, penalty.data, penalty.log_chance)
    while True:
        if chosen == NULL:
            chosen = draw_log_categorical(rng, work.log_weight[:n_total])
        if chosen == NULL or (work.left[chosen] == 0 and (chosen < n_found or work.seen[chosen - n_found] == n_data)):
            return chosen, n_total
        if work.left[chosen] > 0:
            from_former = former_left and work.node[chosen] == hung_from and rng.random() * work.left[chosen] < 1.0
            former_left = former_left and not from_former
            fill_slot(rng, work, n_total - n_found, from_former, scale)
            take_slot(work, chosen, n_total, 0.0)
            work.seen[n_total - n_found] = 0
            chosen, n_total = n_total, n_total + 1
        limit = rng.standard_exponential()
        more = hinges_of_branch(hinges, tree, eta, n, work, chosen, chosen - n_found, limit)
        work.log_weight[chosen] -= more
        if limit > more:
            return chosen, n_total
        chosen = NULL


@borrower
def choose_penalised(
    rng, penalty, tree, mixture, eta, n, alpha, depth, n_auxiliary, lazy, sums, work, hung_from, scale, scores,
    densities, scratch,
):  # fmt: skip
    """Candidate drawn by its true weight, or NULL; numbers of nodes among the candidates and of all at the end."""
    top = mixture.numbers[0]
    n_found, total = weigh_candidates(
        penalty, tree, mixture.weight, densities, top, eta, n, alpha, depth, n_auxiliary, sums, work
    )  # fmt: skip
    chosen = NULL
    if lazy and LEAST_TOTAL < total < MOST_TOTAL:
        chosen = first_above(work.running, n_found, rng.random() * total)
        if work.left[chosen] == 0:
            return chosen, n_found, n_found
    fill_log_weights(mixture, scores, densities, work, n_found, scratch)
    n_total = n_found
    if not lazy:
        n_total = evaluate_all(rng, penalty, tree, eta, n, work, n_found, hung_from, scale)
    chosen, n_total = draw_branch(
        rng, penalty, tree, eta, n, work, n_found, n_total, chosen, hung_from, scale
    )  # fmt: skip
    return chosen, n_found, n_total


@borrower
def set_vectors(rng, tree, eta, leaf, above, vector, scale):
    """Discriminants of a new branch: that of its top is given, those below come from the prior."""
    node = leaf
    while node != above:
        draw_vector(rng, eta, node, scale)
        if tree.parent[node] == above:
            for i in range(vector.size):
                eta[node, i] = vector[i]
        node = tree.parent[node]


@borrower
def has_columns(penalty, widest):
    """Whether the table of "chance-max" knows what one more child costs at every node."""
    return penalty.kind != CHANCE_MAXIMUM or widest < penalty.log_chance.shape[1]


@kernel
def penalised_gibbs_paths(
    rng, law, data, tree, mixture, eta, penalty, values, depth, n_components, n_auxiliary, lazy, order, done, tallies
):
    """Visit the data `order[done:]` by collapsed Gibbs over paths; returns as `paths.gibbs_paths`.

    A branch is weighed with `n_auxiliary` discriminants (Neal's algorithm 8), drawn and evaluated when they are
    needed, or all at once where `lazy` is False.
    """
    capacity, n_slots = tree.parent.size, mixture.size.size
    scores, densities, scratch = np.empty(n_slots), np.empty(n_slots), np.empty((2, n_slots))
    counts, on_path, nodes = np.zeros((1, n_slots)), np.zeros(capacity, np.bool_), np.empty(capacity, np.int64)
    work, scale = make_work(capacity, eta.shape[1], n_auxiliary), math.sqrt(values[DISCRIMINANT_VARIANCE])
    sums, widest = sum_chances(penalty, tree), most_children(tree)
    while done < order.size and has_room(tree, mixture, depth, n_components) and has_columns(penalty, widest):
        datum = order[done]
        former, was_in = tree.leaf[datum], mixture.component[datum]
        add_to_sums(penalty, sums, tree.parent, datum, former, -1.0)
        top = remove_datum(law, data, tree, mixture, datum, n_components)
        tree.leaf[datum], hung_from = NULL, NULL
        if top != NULL:
            hung_from = tree.parent[top]
            for i in range(eta.shape[1]):
                work.former[i] = eta[top, i]
            release(tree, top)
        fill_densities(law, data, datum, values, mixture, n_components, scores, densities)
        chosen, n_found, n_total = choose_penalised(
            rng, penalty, tree, mixture, eta, datum, values[ALPHA], depth, n_auxiliary, lazy, sums, work, hung_from,
            scale, scores, densities, scratch[0],
        )  # fmt: skip
        node = NULL if chosen == NULL else work.node[chosen]
        slot = NULL if chosen == NULL else choose_component(rng, mixture, node, scores, densities, scratch[0])
        if slot == NULL:
            tree.leaf[datum], mixture.component[datum] = former, was_in
            return -1 - datum
        place_datum(rng, law, data, tree, mixture, values, datum, node, slot, depth, counts, scratch, on_path, nodes)
        if chosen >= n_found:
            set_vectors(rng, tree, eta, tree.leaf[datum], node, work.vector[chosen - n_found], scale)
            clear_sums(sums, tree.parent, tree.leaf[datum], node)
            widest = max(widest, count_children(tree, node))
        add_to_sums(penalty, sums, tree.parent, datum, tree.leaf[datum], 1.0)
        tallies[CHANGED] += node != hung_from and (top != NULL or node != former)
        tallies[VISITS] += 1
        tallies[EVALUATED] += n_total - n_found
        done += 1
    return done

"""Slow, clear twin of the hidden tree Markov model: one tree at a time, node by node, in plain NumPy.

Trees are `PlainTree` of `reference.tree_sets`. Modes are "bottom_prior", "bottom" and "renorm": what a place without a
child does. State C, the last row of `transition[l - 1]` and the last column of `initial`, is that of an absent child.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from reference.tree_sets import PlainTree

MODES = ("bottom_prior", "bottom", "renorm")


class Tables(NamedTuple):
    """Tables of one component, or counts of the same shapes."""

    initial: np.ndarray
    """(L + 1, C + 1): state of a place at the frontier by position; row 0: a root that is a leaf, its last cell 0."""
    emission: np.ndarray
    """(C, M): label by state."""
    switching: np.ndarray
    """(L,): which place a node takes its state from."""
    transition: np.ndarray
    """(L, C + 1, C): [position - 1, state of the child, state of the node]."""


class Choice(NamedTuple):
    """What the switch of a node may choose: a child, or an empty place (child None)."""

    child: int | None
    position: int
    share: float
    """One over the number of siblings at the position."""


class Upward(NamedTuple):
    """What the subtrees say."""

    log_likelihood: float
    beta: np.ndarray
    """(n, C): law of every node's state given its subtree."""
    inner: np.ndarray
    """(n, C): the same before its own label, not normalised."""
    present: np.ndarray
    """(n,): in "renorm" the switching weight of the places that have children, else 1."""


class Posterior(NamedTuple):
    """What the whole tree says."""

    log_likelihood: float
    states: np.ndarray
    """(n, C)"""
    switches: np.ndarray
    """(n, L): probability that the switch chose the position; 0 at leaves."""
    counts: Tables
    present: np.ndarray
    """(L,): sum of weight / present over the internal nodes that have the position; for "renorm"."""


# Trees and tables as they come


def plain_tree(tree):
    """A tree of the golden file."""
    has_children = [node in set(tree["parent"]) for node in range(len(tree["label"]))]
    return PlainTree(tree["label"], tree["parent"], tree["pos"], tree.get("internal", has_children))


def plain_trees(forest):
    """Every tree of a library's `Forest`."""
    found = []
    for first, last in zip(forest.offsets[:-1].tolist(), forest.offsets[1:].tolist(), strict=True):
        parents = forest.parents[first:last].astype(int)
        parents[1:] -= first
        fields = (forest.labels[first:last], parents, forest.positions[first:last], forest.internal[first:last])
        found.append(PlainTree(*(field.tolist() for field in fields)))
    return found


def golden_tables(case):
    """Tables or counts of the golden file."""
    return Tables(*(np.array(case[name], float) for name in ("pi", "b", "phi", "A")))


def row_masks(L, C, M, mode):
    """True at the cells a prior is on: where an absent child has no say they are fixed."""
    masks = Tables(*(np.ones(shape, bool) for shape in ((L + 1, C + 1), (C, M), (L,), (L, C + 1, C))))
    masks.initial[0 if mode == "bottom_prior" else slice(None), C] = False
    if mode == "renorm":
        masks.transition[:, C] = False
    return masks


def sizes_of(tables):
    """L, C, M."""
    return len(tables.switching), *tables.emission.shape


def uniform_tables(L, C, M, mode):
    """Every row uniform."""
    return normalised(Tables(*(mask.astype(float) for mask in row_masks(L, C, M, mode))), unused_rows(L, C, M))


def unused_rows(L, C, M):
    """What stands in rows without free cells: uniform, and never looked at."""
    shapes = ((L + 1, C + 1), (C, M), (L,), (L, C + 1, C))
    return Tables(*(np.full(shape, 1.0 / shape[-1]) for shape in shapes))


def random_tables(rng, L, C, M, mode, strengths=1.0):
    """Every row from its symmetric Dirichlet prior; four strengths or one for all tables."""
    masks = row_masks(L, C, M, mode)
    drawn = [
        np.where(mask, rng.gamma(strength, size=mask.shape) + 1e-300, 0.0)
        for mask, strength in zip(masks, np.broadcast_to(strengths, 4), strict=True)
    ]
    return normalised(Tables(*drawn), unused_rows(L, C, M))


def normalised(values, previous):
    """Every row divided by its sum; rows of zeros are those of `previous`."""
    totals = [table.sum(axis=-1, keepdims=True) for table in values]
    rows = zip(values, totals, previous, strict=True)
    return Tables(
        *(np.where(total > 0.0, table / np.where(total > 0.0, total, 1.0), old) for table, total, old in rows)
    )


# The tree


def choices(tree, L, mode):
    """For every node its children by position, then its empty places unless the mode leaves them out; leaves: none."""
    below = [[] for _ in tree.labels]
    for child, parent in enumerate(tree.parents):
        if parent != -1:
            below[parent].append(child)
    found = []
    for node, children in enumerate(below):
        taken = [tree.positions[child] for child in children]
        own = [Choice(child, place, 1.0 / taken.count(place)) for child, place in zip(children, taken, strict=True)]
        own.sort(key=lambda choice: choice.position)
        if mode != "renorm" and tree.internal[node]:
            own += [Choice(None, place, 1.0) for place in range(1, L + 1) if place not in taken]
        found.append(own)
    return found


def empty_places(tree, L):
    """Positions of all empty places of internal nodes."""
    return [choice.position for own in choices(tree, L, "bottom") for choice in own if choice.child is None]


def child_law(choice, beta, C):
    """Law of the chosen child's state over 0 .. C: an empty place is in state C."""
    return np.eye(C + 1)[C] if choice.child is None else np.append(beta[choice.child], 0.0)


def emission_of(tables, label):
    """Factor of a label in every state; 1 where the label is unknown."""
    return np.ones(len(tables.emission)) if label == -1 else tables.emission[:, label]


def upward(tree, tables, mode):
    """The upward pass; tables need not be normalised."""
    L, C, _ = sizes_of(tables)
    n, options = len(tree.labels), choices(tree, L, mode)
    beta, inner, present = np.zeros((n, C)), np.zeros((n, C)), np.ones(n)
    log_likelihood = 0.0
    for node in reversed(range(n)):
        if tree.internal[node]:
            if mode == "renorm":
                present[node] = sum(choice.share * tables.switching[choice.position - 1] for choice in options[node])
            for choice in options[node]:
                weight = choice.share * tables.switching[choice.position - 1] / present[node]
                inner[node] += weight * child_law(choice, beta, C) @ tables.transition[choice.position - 1]
        else:
            inner[node] = tables.initial[tree.positions[node], :C]
        weights = emission_of(tables, tree.labels[node]) * inner[node]
        if not weights.sum() > 0.0:
            return Upward(-np.inf, beta, inner, present)
        log_likelihood += np.log(weights.sum())
        beta[node] = weights / weights.sum()
    if mode == "bottom_prior":
        with np.errstate(divide="ignore"):
            log_likelihood += sum(np.log(tables.initial[place, C]) for place in empty_places(tree, L))
    return Upward(float(log_likelihood), beta, inner, present)


def posterior(tree, tables, mode, weight=1.0, *, paper=False):
    """Downward pass: posteriors of states and switches, expected counts; the paper's rule by option."""
    L, C, M = sizes_of(tables)
    log_likelihood, beta, inner, present = upward(tree, tables, mode)
    n, options = len(tree.labels), choices(tree, L, mode)
    states, switches = np.zeros((n, C)), np.zeros((n, L))
    counts = Tables(np.zeros((L + 1, C + 1)), np.zeros((C, M)), np.zeros(L), np.zeros((L, C + 1, C)))
    positions_present = np.zeros(L)
    states[0] = beta[0]
    for node in range(n):
        if tree.labels[node] != -1:
            counts.emission[:, tree.labels[node]] += weight * states[node]
        if not tree.internal[node]:
            counts.initial[tree.positions[node], :C] += weight * states[node]
            continue
        ratio = np.divide(states[node], inner[node], out=np.zeros(C), where=inner[node] > 0.0) / present[node]
        for choice in options[node]:
            place = choice.position - 1
            factor = choice.share * tables.switching[place]
            both = factor * child_law(choice, beta, C)[:, None] * tables.transition[place] * ratio
            chosen = both.sum()
            switches[node, place] += chosen
            counts.switching[place] += weight * chosen
            counts.transition[place] += weight * (both / chosen if paper and chosen > 0.0 else both)
            if choice.child is None:
                counts.initial[choice.position, C] += weight * (mode == "bottom_prior")
            elif paper:
                states[choice.child] = both.sum(axis=1)[:C] / chosen
            else:
                states[choice.child] = both.sum(axis=1)[:C] + (1.0 - chosen) * beta[choice.child]
            if choice.child is not None:
                positions_present[place] += weight * choice.share / present[node]
    return Posterior(log_likelihood, states, switches, counts, positions_present)


def expected_counts(trees, tables, mode, weights=None, *, paper=False):
    """Sums over trees: weighted log-likelihood, counts, and what "renorm" needs of present places."""
    weights = np.ones(len(trees)) if weights is None else weights
    parts = [posterior(tree, tables, mode, w, paper=paper) for tree, w in zip(trees, weights, strict=True)]
    total = sum(w * part.log_likelihood for w, part in zip(weights, parts, strict=True))
    counts = Tables(*(sum(tables) for tables in zip(*(part.counts for part in parts), strict=True)))
    return total, counts, sum(part.present for part in parts)


# Learning


def objective(trees, tables, mode, strengths):
    """Log-likelihood and log prior up to its constant: (strength - 1) log over all free cells."""
    with np.errstate(divide="ignore"):
        prior = [
            (strength - 1.0) * np.log(table[mask]).sum() if strength != 1.0 else 0.0
            for table, mask, strength in zip(
                tables, row_masks(*sizes_of(tables), mode), np.broadcast_to(strengths, 4), strict=True
            )
        ]
    return sum(upward(tree, tables, mode).log_likelihood for tree in trees) + sum(prior)


def m_step(counts, tables, mode, strengths, present):
    """Tables of the greatest expected log posterior; in "renorm" the minorise-maximise step for the switch."""
    strengths = np.broadcast_to(strengths, 4)
    masks = row_masks(*sizes_of(tables), mode)
    raised = [
        np.where(mask, np.maximum(table + strength - 1.0, 0.0), 0.0)
        for table, mask, strength in zip(counts, masks, strengths, strict=True)
    ]
    if mode == "renorm":
        bound = present + len(present) * (strengths[2] - 1.0)
        raised[2] = np.divide(raised[2], bound, out=np.zeros(len(bound)), where=bound > 0.0)
    return normalised(Tables(*raised), tables)


def em_step(trees, tables, mode, strengths, weights=None, *, paper=False):
    """One step of EM for the mode of the posterior."""
    _, counts, present = expected_counts(trees, tables, mode, weights, paper=paper)
    return m_step(counts, tables, mode, strengths, present)


def responsibilities(trees, components, log_weights, mode):
    """Log-likelihood of every tree under the mixture and (n, T) probabilities of its components."""
    logs = np.array([[upward(tree, tables, mode).log_likelihood for tables in components] for tree in trees])
    logs += log_weights
    total = np.logaddexp.reduce(logs, axis=1)
    return total, np.exp(logs - total[:, None])


def expected_log(counts, strengths, mode):
    """exp(E log table) under Dirichlet(strength + counts) rows: the tables variational inference passes upward."""
    found = []
    masks = row_masks(*sizes_of(counts), mode)
    for table, mask, strength in zip(counts, masks, np.broadcast_to(strengths, 4), strict=True):
        cells = np.where(mask, table + strength, 0.0)
        totals = cells.sum(axis=-1, keepdims=True)
        logs = digamma(np.where(mask, cells, 1.0)) - digamma(np.where(totals > 0.0, totals, 1.0))
        found.append(np.where(mask, np.exp(logs), 0.0))
    return Tables(*found)


# Drawing


def draw_frontier(rng, skeleton, tables):
    """Leaves at the free places of a skeleton of internal nodes, as "bottom_prior" has them; labels are unknown.

    Places are those no internal node stands at: each has a leaf unless its state is that of an absent child.
    """
    L, C, _ = sizes_of(tables)
    parents, positions = list(skeleton.parents), list(skeleton.positions)
    for node, options in enumerate(choices(skeleton, L, "bottom")):
        for choice in options:
            if choice.child is None and rng.random() >= tables.initial[choice.position, C]:
                parents.append(node)
                positions.append(choice.position)
    n, n_inner = len(parents), len(skeleton.parents)
    return PlainTree([-1] * n, parents, positions, [node < n_inner for node in range(n)])


def draw_labels(rng, tree, tables, mode):
    """Labels of a tree whose nodes are given, with the states and the chosen positions (0 at leaves) behind them."""
    L, C, M = sizes_of(tables)
    n, options = len(tree.labels), choices(tree, L, mode)
    labels, states, switches = [0] * n, [0] * n, [0] * n
    for node in reversed(range(n)):
        if tree.internal[node]:
            weights = np.array([choice.share * tables.switching[choice.position - 1] for choice in options[node]])
            choice = options[node][rng.choice(len(weights), p=weights / weights.sum())]
            switches[node] = choice.position
            child_state = C if choice.child is None else states[choice.child]
            law = tables.transition[choice.position - 1, child_state]
        else:
            law = tables.initial[tree.positions[node], :C]
        states[node] = int(rng.choice(C, p=law / law.sum()))
        labels[node] = int(rng.choice(M, p=tables.emission[states[node]]))
    return tree._replace(labels=labels), states, switches


def draw_states(rng, tree, tables, mode):
    """States, and number of the choice of every internal node among `choices` (-1 at leaves), given the tree."""
    L, C, _ = sizes_of(tables)
    n = len(tree.labels)
    beta = upward(tree, tables, mode).beta
    states, chosen = [-1] * n, [-1] * n
    states[0] = int(rng.choice(C, p=beta[0]))
    for node, options in enumerate(choices(tree, L, mode)):
        if not options:
            continue
        weights = np.array(
            [
                choice.share
                * tables.switching[choice.position - 1]
                * child_law(choice, beta, C)
                * tables.transition[choice.position - 1, :, states[node]]
                for choice in options
            ]
        )
        chosen[node], state = divmod(int(rng.choice(weights.size, p=weights.ravel() / weights.sum())), C + 1)
        for number, choice in enumerate(options):
            if choice.child is not None:
                states[choice.child] = state if number == chosen[node] else int(rng.choice(C, p=beta[choice.child]))
    return states, chosen

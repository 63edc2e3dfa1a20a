"""Exact laws of small trees by going through all states and switches, with the tables given or integrated out."""

import itertools
from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from reference.tree_hmm import Tables, choices, row_masks, sizes_of, uniform_tables


class Configurations(NamedTuple):
    """All states and switches of a tree."""

    states: np.ndarray
    """(n_configurations, n)"""
    choices: np.ndarray
    """(n_configurations, n): number of the switch's choice among `choices` of the twin, -1 at leaves."""
    weights: np.ndarray
    """(n_configurations,): probability together with the tree."""


# All states and switches


def switch_choices(tree, L, mode):
    """Every vector of choices of all nodes."""
    own = [range(len(options)) if options else (-1,) for options in choices(tree, L, mode)]
    return itertools.product(*own)


def complete_weights(tree, tables, mode, states, chosen):
    """Complete likelihood: weight of each row of states together with one vector of choices."""
    L, C, _ = sizes_of(tables)
    weight = np.ones(len(states))
    for node, options in enumerate(choices(tree, L, mode)):
        own = states[:, node]
        if tree.labels[node] != -1:
            weight = weight * tables.emission[own, tree.labels[node]]
        if not tree.internal[node]:
            weight = weight * tables.initial[tree.positions[node], own]
            continue
        choice = options[chosen[node]]
        child_states = C if choice.child is None else states[:, choice.child]
        weight = weight * choice.share * tables.switching[choice.position - 1]
        weight = weight * tables.transition[choice.position - 1, child_states, own]
        if mode == "renorm":
            weight = weight / sum(tables.switching[place - 1] for place in {option.position for option in options})
        if mode == "bottom_prior":
            weight = weight * np.prod([tables.initial[o.position, C] for o in options if o.child is None])
    return weight


def configurations(tree, tables, mode):
    """All of them; their number grows as (C L)^n."""
    L, C, _ = sizes_of(tables)
    n = len(tree.labels)
    states = np.array(list(itertools.product(range(C), repeat=n)))
    all_choices = list(switch_choices(tree, L, mode))
    weights = [complete_weights(tree, tables, mode, states, chosen) for chosen in all_choices]
    return Configurations(
        np.tile(states, (len(all_choices), 1)),
        np.repeat(np.array(all_choices), len(states), axis=0),
        np.concatenate(weights),
    )


class ExactPosterior(NamedTuple):
    """What all configurations together say."""

    log_likelihood: float
    states: np.ndarray
    """(n, C)"""
    switches: np.ndarray
    """(n, L)"""
    counts: Tables


def exact_posterior(tree, tables, mode):
    """Log-likelihood, laws of states and switches, and expected counts by enumeration."""
    L, C, M = sizes_of(tables)
    found = configurations(tree, tables, mode)
    total = found.weights.sum()
    law = found.weights / total
    states = np.array([np.bincount(own, law, C) for own in found.states.T])
    switches = np.zeros((len(tree.labels), L))
    counts = Tables(*(np.zeros(shape) for shape in ((L + 1, C + 1), (C, M), (L,), (L, C + 1, C))))
    for node, options in enumerate(choices(tree, L, mode)):
        if tree.labels[node] != -1:
            counts.emission[:, tree.labels[node]] += states[node]
        if not tree.internal[node]:
            counts.initial[tree.positions[node], :C] += states[node]
        for number, choice in enumerate(options):
            is_chosen = found.choices[:, node] == number
            switches[node, choice.position - 1] += law[is_chosen].sum()
            child_states = np.full(len(law), C) if choice.child is None else found.states[:, choice.child]
            both = (child_states * C + found.states[:, node])[is_chosen]
            counts.transition[choice.position - 1] += np.bincount(both, law[is_chosen], (C + 1) * C).reshape(C + 1, C)
            counts.initial[choice.position, C] += choice.child is None and mode == "bottom_prior"
    return ExactPosterior(float(np.log(total)), states, switches, counts._replace(switching=switches.sum(axis=0)))


# Counts of configurations, and the tables integrated out


def as_tables(cells, L, C, M):
    """Cells of all tables in one row, as tables."""
    shapes = ((L + 1, C + 1), (C, M), (L,), (L, C + 1, C))
    ends = np.cumsum([np.prod(shape) for shape in shapes])
    parts = zip(np.split(cells, ends[:-1]), shapes, strict=True)
    return Tables(*(part.reshape(shape) for part, shape in parts))


def hard_counts(tree, states, chosen, L, C, M, mode):
    """Counts of one configuration."""
    counts = Tables(*(np.zeros(shape) for shape in ((L + 1, C + 1), (C, M), (L,), (L, C + 1, C))))
    for node, options in enumerate(choices(tree, L, mode)):
        if tree.labels[node] != -1:
            counts.emission[states[node], tree.labels[node]] += 1
        if not tree.internal[node]:
            counts.initial[tree.positions[node], states[node]] += 1
            continue
        choice = options[chosen[node]]
        counts.switching[choice.position - 1] += 1
        child_state = C if choice.child is None else states[choice.child]
        counts.transition[choice.position - 1, child_state, states[node]] += 1
        for option in options:
            counts.initial[option.position, C] += option.child is None and mode == "bottom_prior"
    return counts


def log_shares(tree, chosen, L, mode):
    """Log of 1 / (siblings at the position) over all chosen children."""
    options = choices(tree, L, mode)
    return sum(np.log(own[number].share) for own, number in zip(options, chosen, strict=True) if own)


def configuration_counts(tree, L, C, M, mode):
    """(n_configurations, cells) counts in the order of `configurations`, and (n_configurations,) log shares."""
    states = list(itertools.product(range(C), repeat=len(tree.labels)))
    cells, shares = [], []
    for chosen in switch_choices(tree, L, mode):
        shares += [log_shares(tree, chosen, L, mode)] * len(states)
        for own in states:
            counts = hard_counts(tree, own, chosen, L, C, M, mode)
            cells.append(np.concatenate([table.ravel() for table in counts]))
    return np.array(cells), np.array(shares)


def log_dirichlet_multinomial(cells, L, C, M, mode, strengths):
    """Log probability of hard counts, one set in each row of `cells`, with the tables integrated out."""
    total = np.zeros(len(cells))
    masks = row_masks(L, C, M, mode)
    widths = Tables((L + 1, C + 1), (C, M), (1, L), (L * (C + 1), C))
    start = 0
    for mask, (n_rows, width), strength in zip(masks, widths, np.broadcast_to(strengths, 4), strict=True):
        counts = cells[:, start : start + n_rows * width].reshape(len(cells), n_rows, width)
        free = mask.reshape(n_rows, width)
        raised = np.where(free, gammaln(strength + counts) - gammaln(strength), 0.0).sum(axis=(1, 2))
        mass = free.sum(axis=1) * strength
        mass = np.where(mass > 0.0, mass, 1.0)
        total += raised - (gammaln(mass + counts.sum(axis=2)) - gammaln(mass)).sum(axis=1)
        start += n_rows * width
    return total


def merged(cells, log_weights):
    """Different rows of cells with the log of the sum of their weights."""
    rows, places = np.unique(cells, axis=0, return_inverse=True)
    sums = np.full(len(rows), -np.inf)
    np.logaddexp.at(sums, places.ravel(), log_weights)
    return rows, sums


def joined(one, other):
    """Every row of one with every row of the other."""
    cells = (one[0][:, None] + other[0][None]).reshape(-1, one[0].shape[1])
    return merged(cells, (one[1][:, None] + other[1][None]).ravel())


def log_integral(trees, L, C, M, mode, strengths):
    """Log of the integral over all tables of the product of the trees' likelihoods; not for "renorm"."""
    parts = [merged(*configuration_counts(tree, L, C, M, mode)) for tree in trees]
    cells, log_weights = reduce(joined, parts)
    return float(np.logaddexp.reduce(log_weights + log_dirichlet_multinomial(cells, L, C, M, mode, strengths)))


def log_uniform(tree, L, C, M, mode):
    """Log-likelihood under uniform tables by enumeration."""
    return float(np.log(configurations(tree, uniform_tables(L, C, M, mode), mode).weights.sum()))


# Partitions of trees


class PartitionPosterior(NamedTuple):
    """Exact law of the partition of a few trees under a Dirichlet process mixture."""

    probabilities: dict[str, float]
    """By restricted growth string, such as "010"."""
    log_evidence: float
    block_log_marginals: dict[tuple[int, ...], float]


def growth_strings(n):
    """Every partition of n things: labels by first appearance."""
    found = [(0,)]
    for _ in range(n - 1):
        found = [(*labels, new) for labels in found for new in range(max(labels) + 2)]
    return found


def blocks_of(labels):
    """Members of every block."""
    return [tuple(i for i, own in enumerate(labels) if own == block) for block in range(max(labels) + 1)]


def log_crp(sizes, concentration):
    """Log prior of a partition with these block sizes."""
    n = sum(sizes)
    total = gammaln(concentration) - gammaln(concentration + n) + len(sizes) * np.log(concentration)
    return float(total + sum(gammaln(size) for size in sizes))


def partition_posterior(trees, L, C, M, mode, strengths, concentration):
    """All partitions of the trees, their tables integrated out."""
    partitions = growth_strings(len(trees))
    blocks = sorted({block for labels in partitions for block in blocks_of(labels)})
    marginals = {block: log_integral([trees[i] for i in block], L, C, M, mode, strengths) for block in blocks}
    logs = [
        log_crp([len(block) for block in blocks_of(labels)], concentration)
        + sum(marginals[block] for block in blocks_of(labels))
        for labels in partitions
    ]
    evidence = float(np.logaddexp.reduce(logs))
    names = ["".join(map(str, labels)) for labels in partitions]
    probabilities = {name: float(np.exp(log - evidence)) for name, log in zip(names, logs, strict=True)}
    return PartitionPosterior(probabilities, evidence, marginals)

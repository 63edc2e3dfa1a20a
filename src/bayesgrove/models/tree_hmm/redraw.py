"""Tables given labels: drawn states and switches, summed over all trees, then rows given their counts."""

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.component import Uses, draw_component, draw_waits, row_of, score_trees
from bayesgrove.models.tree_hmm.links import part_of_links
from bayesgrove.models.tree_hmm.states import draw_hard_counts
from bayesgrove.models.tree_hmm.tables import RENORM
from bayesgrove.models.tree_hmm.upward import go_upward


@kernel
def uses_of(counts, k):
    """Views of the counts of one component."""
    return Uses(counts.initial[k], counts.emission[k], counts.switching[k], counts.transition[k], counts.present[k])


@kernel
def count_uses(rng, target, components, labels, counts):
    """Add hard counts of all components in use, drawn given their tables, to rows 0, 1, ... of `counts`.

    Where switching is renormalised `present` gets the waiting times that its draw needs.
    """
    n_nodes, n_states, order = target.links.labels.size, target.n_states, components.order
    beta, inner, log_likelihood = np.empty((n_nodes, n_states)), np.empty((n_nodes, n_states)), np.empty(n_nodes)
    for place in range(components.n_used[0]):
        row, uses = row_of(components, order[place]), uses_of(counts, place)
        links = part_of_links(target.links, np.flatnonzero(labels == order[place]))
        n_own = links.labels.size
        roots, drawn = np.zeros(n_own, np.int64), np.zeros((n_own, n_states), np.int64)
        for root in links.roots:
            roots[root] += 1
        go_upward(
            links, row.initial, row.emission, row.log_scale, row.switching, row.transition, target.mode, 0, n_own,
            beta[:n_own], inner[:n_own], log_likelihood[:n_own],
        )  # fmt: skip
        draw_hard_counts(
            rng, links, row.switching, row.transition, target.mode, beta[:n_own], roots, drawn,
            uses.initial, uses.emission, uses.switching, uses.transition,
        )  # fmt: skip
        if target.mode == RENORM:
            draw_waits(rng, links, row.switching, drawn, uses.present)


@kernel
def draw_all_tables(rng, target, components, values, counts):
    """Draw the tables of all components in use given their counts, and score all trees under them."""
    n_nodes, n_states = target.links.labels.size, target.n_states
    beta, inner, log_likelihood = np.empty((n_nodes, n_states)), np.empty((n_nodes, n_states)), np.empty(n_nodes)
    for place in range(components.n_used[0]):
        row = components.order[place]
        draw_component(rng, target, values, uses_of(counts, place), row_of(components, row))
        score_trees(
            target.links, target.mode, row_of(components, row), beta, inner, log_likelihood, components.scores[row]
        )


@kernel
def score_all(target, components):
    """Score all trees under all components in use."""
    n_nodes, n_states = target.links.labels.size, target.n_states
    beta, inner, log_likelihood = np.empty((n_nodes, n_states)), np.empty((n_nodes, n_states)), np.empty(n_nodes)
    for place in range(components.n_used[0]):
        row = components.order[place]
        score_trees(
            target.links, target.mode, row_of(components, row), beta, inner, log_likelihood, components.scores[row]
        )

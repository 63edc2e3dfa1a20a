"""Posterior of what each node looks at."""

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.downward import fill_ratio
from bayesgrove.models.tree_hmm.tables import RENORM
from bayesgrove.models.tree_hmm.upward import present_switching


@kernel
def fill_switches(links, switching, transition, mode, beta, inner, expected, switches):
    """Probability that each node looks at each position: (n, L), given posteriors of states; 0 at leaves."""
    start, ids, positions, shares = links.child_start, links.child_ids, links.child_positions, links.child_shares
    n_states, n_positions = beta.shape[1], switching.size
    ratio = np.empty(n_states)
    for node in range(beta.shape[0]):
        if links.leaf_positions[node] >= 0:
            continue
        place, last, scale = start[node], start[node + 1], 1.0
        if mode == RENORM:
            scale = 1.0 / present_switching(positions, place, last, switching)
        fill_ratio(expected[node], inner[node], scale, ratio)
        for position in range(n_positions):
            value = 0.0
            if place < last and positions[place] == position + 1:
                while place < last and positions[place] == position + 1:
                    for other in range(n_states):
                        factor = shares[place] * beta[ids[place], other]
                        for state in range(n_states):
                            value += ratio[state] * factor * transition[position, other, state]
                    place += 1
            elif mode != RENORM:
                for state in range(n_states):
                    value += ratio[state] * transition[position, n_states, state]
            switches[node, position] = value * switching[position]

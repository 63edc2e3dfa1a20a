"""Looking at forests in flat arrays: descriptions as in the golden file, and all that must hold."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.models.nrm.forest import N_FREE, N_ROOTS, sorted_roots


def texts_of(forest):
    """Description of every node, children before parents."""
    found = {}
    waiting = [int(root) for root in sorted_roots(forest)]
    while waiting:
        node = waiting.pop()
        a, b = (int(child) for child in forest.children[node])
        if a == NULL:
            found[node] = str(node)
        elif a in found and b in found:
            found[node] = f"({found[a]},{found[b]})"
        else:
            waiting += [node, a, b]
    return found


def root_texts(forest):
    found = texts_of(forest)
    return [found[int(root)] for root in sorted_roots(forest)]


def check_forest(forest, n_items):
    """Links agree both ways, sizes add up, free nodes and nodes in use are all there are."""
    roots = set(forest.roots[: forest.counters[N_ROOTS]].tolist())
    live = np.flatnonzero(forest.size > 0)
    free = forest.free[: forest.counters[N_FREE]]
    assert set(live.tolist()).isdisjoint(free.tolist())
    assert len(live) + len(free) == n_items + forest.roots.size - 1
    for node in live.tolist():
        a, b = forest.children[node].tolist()
        assert (forest.parent[node] == NULL) == (node in roots) == (forest.root_place[node] != NULL)
        if a != NULL:
            assert forest.parent[a] == forest.parent[b] == node
            assert forest.size[node] == forest.size[a] + forest.size[b]
            assert forest.first_item[node] == forest.first_item[a] < forest.first_item[b]

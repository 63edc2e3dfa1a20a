"""Trees from networkx graphs and back; networkx itself is only needed to make graphs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidTreeError, MissingExtraError


def from_graph(graph: Any, number: int, label: str, position: str) -> tuple[list[Any], list[int], list[int]]:
    """Labels, parents and positions of a directed graph that is a tree, in preorder."""
    labels: list[Any] = []
    parents: list[int] = []
    positions: list[int] = []
    stack = [(_root(graph, number), NULL, 0)]
    while stack:
        name, parent, place = stack.pop()
        here = len(labels)
        labels.append(graph.nodes[name].get(label, str(name)))
        parents.append(parent)
        positions.append(place)
        children = list(enumerate(graph.successors(name), 1))
        places = [(int(graph.nodes[child].get(position, count)), child) for count, child in children]
        stack += [(child, here, at) for at, child in sorted(places, key=lambda pair: pair[0], reverse=True)]
    return labels, parents, positions


def _root(graph: Any, number: int) -> Any:
    """The node without a parent; refuses graphs that are no trees before anything walks them."""
    if not graph.is_directed() or graph.is_multigraph():
        raise InvalidTreeError(f"graph {number} is not a networkx.DiGraph. Direct its edges from parents to children.")
    degrees = dict(graph.in_degree())
    roots = [name for name, degree in degrees.items() if degree == 0]
    several = next((name for name, degree in degrees.items() if degree > 1), None)
    if len(roots) != 1 or several is not None:
        raise InvalidTreeError(
            f"graph {number} is no tree: {len(roots)} nodes have no parent"
            + (f", node {several!r} has several" if several is not None else "")
            + ". A tree has one root, and one parent for every other node."
        )
    seen, stack = 0, list(roots)
    while stack:
        seen += 1
        stack += graph.successors(stack.pop())
    if seen != len(degrees):
        raise InvalidTreeError(f"graph {number} is no tree: {len(degrees) - seen} nodes lie on a circle. Cut it.")
    return roots[0]


def to_graph(labels: Sequence[Any], parents: np.ndarray, positions: np.ndarray) -> Any:
    """A networkx.DiGraph whose nodes 0, 1, ... carry `label` and `position`."""
    try:
        import networkx
    except ImportError as error:
        raise MissingExtraError("graphs need networkx; install it with: pip install networkx.") from error
    graph = networkx.DiGraph()
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    for node, (label, position) in enumerate(zip(plain, positions.tolist(), strict=True)):
        graph.add_node(node, label=label, position=position)
    graph.add_edges_from((parent, node) for node, parent in enumerate(parents.tolist()) if parent != NULL)
    return graph

"""Slow, clear twins of what is done with many trees in flat arrays, and random trees to try them on."""

import ast
import json
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np


class PlainTree(NamedTuple):
    """One tree by parents; positions may be shared."""

    labels: list[int]
    parents: list[int]
    positions: list[int]
    internal: list[bool]


def random_tree(rng, n_nodes, n_labels=3, max_outdegree=3, *, shared=True, empty_internal=True):
    """A tree in which every parent stands before its children, in no other order."""
    parents, positions = [-1], [0]
    taken = set()
    while len(parents) < n_nodes:
        place = (int(rng.integers(len(parents))), int(rng.integers(1, max_outdegree + 1)))
        if place not in taken or shared:
            taken.add(place)
            parents.append(place[0])
            positions.append(place[1])
    has_children = [node in set(parents) for node in range(n_nodes)]
    internal = [has or (empty_internal and bool(rng.random() < 0.2)) for has in has_children]
    return PlainTree(rng.integers(-1, n_labels, n_nodes).tolist(), parents, positions, internal)


def subtree_keys(tree):
    """What makes two subtrees the same, for every node: nested tuples."""
    keys = [None] * len(tree.labels)
    for node in reversed(range(len(tree.labels))):
        below = [child for child, parent in enumerate(tree.parents) if parent == node]
        children = tuple(sorted((tree.positions[child], keys[child]) for child in below))
        own = () if tree.internal[node] else (tree.positions[node],)
        keys[node] = (tree.labels[node], tree.internal[node], children, own)
    return keys


def nested(labels, parents, positions):
    """A tree as nested tuples (position, label, children sorted by position)."""
    built = [None] * len(labels)
    for node in reversed(range(len(labels))):
        below = [child for child, parent in enumerate(parents) if parent == node]
        children = tuple(sorted((built[child] for child in below), key=lambda part: part[0]))
        built[node] = (positions[node], labels[node], children)
    return built[0]


def lcrs(parents):
    """Parents and positions of the left-child right-sibling form."""
    new_parents, positions = [-1], [0]
    for node in range(1, len(parents)):
        before = [other for other in range(1, node) if parents[other] == parents[node]]
        new_parents.append(before[-1] if before else parents[node])
        positions.append(2 if before else 1)
    return new_parents, positions


def json_nodes(value, label="", depth=0):
    """Labels and depths of a value that Python's own decoder made."""
    words = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    found = [(label + words.get(type(value), "number"), depth)]
    if isinstance(value, dict):
        for key in sorted(value):
            found += json_nodes(value[key], f"{key}:", depth + 1)
    if isinstance(value, list):
        for part in value:
            found += json_nodes(part, "", depth + 1)
    return found


def random_json(rng, depth=4):
    """A random value."""
    kind = rng.integers(7 if depth else 5)
    if kind == 5:
        return [random_json(rng, depth - 1) for _ in range(rng.integers(5))]
    if kind == 6:
        keys = rng.choice(["a", "b", "é", "x y", 'q"', "\\", "\n", "😀", ""], rng.integers(6))
        return {str(key): random_json(rng, depth - 1) for key in keys}
    return [None, True, float(rng.normal()), int(rng.integers(-5, 1000)), 'te"x\\t é😀'][kind]


def xml_nodes(text):
    """Labels and depths of elements by Python's own tree of elements."""

    def walk(element, depth):
        yield element.tag.rpartition("}")[2], depth
        for child in element:
            yield from walk(child, depth + 1)

    return list(walk(ElementTree.fromstring(text), 0))


def random_xml(rng, depth=5):
    """A random element with attributes, texts and comments."""
    name = str(rng.choice(["a", "b", "n:c", "é"]))
    inside = "".join(
        random_xml(rng, depth - 1)
        if depth and rng.random() < 0.6
        else str(rng.choice(["text", " \n", "<!-- <x/> -->", "<![CDATA[<y>]]>", "&amp;"]))
        for _ in range(rng.integers(5))
    )
    return f'<{name} xmlns:n="u:v" k="1">{inside}</{name}>' if rng.random() < 0.9 else f'<{name} xmlns:n="u:v"/>'


def python_nodes(source):
    """Labels and depths of a syntax tree."""

    def walk(node, depth):
        yield type(node).__name__, depth
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr_context):
                yield from walk(child, depth + 1)

    return list(walk(ast.parse(source), 0))


def depths_of(parents):
    """Depth of every node."""
    depths = [0]
    for parent in parents[1:]:
        depths.append(depths[parent] + 1)
    return depths


def read_nodes(tree):
    """Labels and depths of a tree that was read."""
    return list(zip(tree.labels, depths_of(tree.parents.tolist()), strict=True))


def json_text(value, rng):
    """JSON text in one of several ways of writing."""
    indent = [None, 1][rng.integers(2)]
    return json.dumps(value, ensure_ascii=bool(rng.integers(2)), indent=indent)


def random_forest(rng, n_trees=30, **options):
    """Random trees of one to nine nodes."""
    return [random_tree(rng, int(rng.integers(1, 10)), **options) for _ in range(n_trees)]


def as_lists(trees):
    """Lists of labels, parents, positions and flags, one array per tree."""
    return [[np.array(tree[field]) for tree in trees] for field in range(4)]

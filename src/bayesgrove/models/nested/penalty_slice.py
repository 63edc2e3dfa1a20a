"""Elliptical slice move of all discriminants at once: no tuning, exact, and simply the prior at C = 0."""

import math

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.penalty import score
from bayesgrove.models.nested.target import CHANCE, MAXIMUM, SUM

MOST_SHRINKS = 200
"""A bracket of this many cuts is narrower than rounding: the current state, its last point, stays."""


@kernel
def linked_nodes(links):
    """Nodes of the tree without the root, parents before their children."""
    nodes = np.empty(len(links.parent), np.int64)
    n_nodes, place, above = 0, -1, 0
    while True:
        child = links.first_child[above]
        while child != NULL:
            nodes[n_nodes] = child
            n_nodes += 1
            child = links.next_sibling[child]
        place += 1
        if place >= n_nodes:
            return nodes[:n_nodes]
        above = nodes[place]


@borrower
def draw_vector(rng, eta, node, scale):
    """Give a node a discriminant from the prior."""
    for i in range(eta.shape[1]):
        eta[node, i] = scale * rng.standard_normal()


@kernel
def draw_discriminants(rng, links, eta, scale):
    """Give every node but the root a discriminant from the prior."""
    for node in linked_nodes(links):
        draw_vector(rng, eta, node, scale)


@kernel
def count_siblings(links, nodes):
    """Number of siblings of each node, by node."""
    n_children = np.zeros(len(links.parent), np.int64)
    for node in nodes:
        n_children[links.parent[node]] += 1
    n_siblings = np.zeros(len(links.parent), np.int64)
    for node in nodes:
        n_siblings[node] = n_children[links.parent[node]] - 1
    return n_siblings


@kernel
def find_spans(links, leaf, n_siblings, depth):
    """Where the constraints of datum n at the l-th step up its path begin: element n * depth + l."""
    spans = np.empty(len(leaf) * depth + 1, np.int64)
    filled, place = 0, 0
    for n in range(len(leaf)):
        node = leaf[n]
        for _ in range(depth):
            spans[place] = filled
            filled += n_siblings[node]
            node = links.parent[node]
            place += 1
    spans[place] = filled
    return spans


@borrower
def project_constraints(data, links, leaf, spans, depth, vectors, out):
    """(vector of sibling - vector of own node)'x_n of each constraint."""
    for n in range(len(leaf)):
        node = leaf[n]
        for step in range(depth):
            place, end = spans[n * depth + step], spans[n * depth + step + 1]
            if place < end:
                own = score(vectors, node, data, n)
                sibling = links.first_child[links.parent[node]]
                while sibling != NULL:
                    if sibling != node:
                        out[place] = score(vectors, sibling, data, n) - own
                        place += 1
                    sibling = links.next_sibling[sibling]
            node = links.parent[node]


@borrower
def hinges_exceed(kind, margin, spans, depth, along, across, angle, limit):
    """Sum of hinges at an angle of the ellipse, or the first partial sum above `limit`: hinges only add.

    What margins cost by chance does not depend on the discriminants and is left out.
    """
    by_cosine, by_sine = math.cos(angle), math.sin(angle)
    total, additive = 0.0, kind in (SUM, CHANCE)
    n_data = (len(spans) - 1) // depth
    for n in range(n_data):
        of_datum = 0.0
        for place in range(n * depth, (n + 1) * depth):
            of_level = 0.0
            for c in range(spans[place], spans[place + 1]):
                zeta = margin + along[c] * by_cosine + across[c] * by_sine
                if zeta > 0.0:
                    of_level = of_level + zeta if additive else max(of_level, zeta)
            of_datum = max(of_datum, of_level) if kind == MAXIMUM else of_datum + of_level
        total += of_datum
        if total > limit:
            break
    return total


@kernel
def slice_discriminants(rng, penalty, links, eta, leaf, depth, scale):
    """One elliptical slice step (Murray, Adams & MacKay 2010) of all discriminants, in place; angles tried.

    The state stays on the ellipse eta cos t + nu sin t, nu from the prior; the threshold is log R + log U.
    """
    nodes = linked_nodes(links)
    direction = np.zeros_like(eta)
    for node in nodes:
        draw_vector(rng, direction, node, scale)
    spans = find_spans(links, leaf, count_siblings(links, nodes), depth)
    along, across = np.empty(spans[-1]), np.empty(spans[-1])
    project_constraints(penalty.data, links, leaf, spans, depth, eta, along)
    project_constraints(penalty.data, links, leaf, spans, depth, direction, across)
    kind, margin, limit = penalty.kind, penalty.margin, np.inf
    if penalty.strength > 0.0:
        now = hinges_exceed(kind, margin, spans, depth, along, across, 0.0, np.inf)
        limit = now + rng.standard_exponential() / (2.0 * penalty.strength)
    angle = 2.0 * math.pi * rng.random()
    low, high, n_tried = angle - 2.0 * math.pi, angle, 1
    while hinges_exceed(kind, margin, spans, depth, along, across, angle, limit) > limit:
        if n_tried == MOST_SHRINKS:
            return n_tried
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * rng.random()
        n_tried += 1
    by_cosine, by_sine = math.cos(angle), math.sin(angle)
    for node in nodes:
        for i in range(eta.shape[1]):
            eta[node, i] = eta[node, i] * by_cosine + direction[node, i] * by_sine
    return n_tried

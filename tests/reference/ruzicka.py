"""Slow, clear twin of the distances between trees and of both silhouettes."""

from collections import Counter

import numpy as np


def label_table(labels, positions, root="own"):
    """How often each label stands at each position; the root has a row of its own or is left out."""
    pairs = list(zip(positions, labels, strict=True))
    return Counter(pairs if root == "own" else pairs[1:])


def ruzicka_distance(one, other):
    """1 - shared / all, two empty tables being equal."""
    shared = (one & other).total()
    whole = one.total() + other.total() - shared
    return 1.0 - shared / whole if whole else 0.0


def ruzicka_distances(tables):
    """Every pair."""
    return np.array([[ruzicka_distance(one, other) for other in tables] for one in tables])


def silhouettes(distances, clusters, definition="rousseeuw"):
    """Value of every tree: (b - a) / max(a, b)."""
    clusters = np.asarray(clusters)
    found = []
    for tree, own in enumerate(clusters):
        members = np.flatnonzero(clusters == own)
        others = [distances[tree, clusters == cluster].mean() for cluster in np.unique(clusters) if cluster != own]
        if definition == "rousseeuw" and len(members) == 1:
            found.append(0.0)
            continue
        within = distances[tree, members].sum() / (len(members) - (definition == "rousseeuw"))
        nearest = min(others)
        found.append((nearest - within) / max(nearest, within) if max(nearest, within) > 0.0 else 0.0)
    return np.array(found)

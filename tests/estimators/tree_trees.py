"""Small documents of two kinds that tests of tree models share."""

import numpy as np

from bayesgrove import TreeData

LETTERS = ["<letter><from/><to/><body>" + n * "<p/>" + "</body></letter>" for n in range(1, 5)]
BOOKS = ["<book><title/>" + n * "<chapter><p/><fig/></chapter>" + "</book>" for n in range(1, 5)]
KINDS = np.repeat(["letter", "book"], 12)


def documents() -> TreeData:
    """Twelve letters, then twelve books; each three times."""
    return TreeData.from_xml(3 * LETTERS + 3 * BOOKS)


def numbered_trees(rng: np.random.Generator) -> TreeData:
    """Twelve trees with numbers for labels: near -4 in the first six, near 4 in the others."""
    shapes = [[-1, 0, 0], [-1, 0, 0, 1]]
    parents = [shapes[i % 2] for i in range(12)]
    labels = [rng.normal(-4.0 if i < 6 else 4.0, 1.0, len(own)) for i, own in enumerate(parents)]
    return TreeData.from_parents(labels, parents)

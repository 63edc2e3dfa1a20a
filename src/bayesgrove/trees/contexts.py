"""Where each node of a forest stands: its label alone, below its parent's label, or at the end of its path."""

import itertools
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.trees.forest import Forest


class Contexts(NamedTuple):
    """A number for every node: nodes with the same label in the same context have the same number."""

    codes: np.ndarray
    """int64 (n_nodes,): numbers from 0; NULL at nodes whose label is unknown."""
    labels: np.ndarray
    """int64 (n_codes,): the label of each number."""
    above: np.ndarray
    """int64 (n_codes,): what each number stands below: a label (edges), another number (paths); NULL at roots."""

    @property
    def n_codes(self) -> int:
        """How many there are."""
        return int(self.labels.size)


def label_contexts(forest: Forest) -> Contexts:
    """The label alone."""
    found = np.arange(forest.n_labels)
    return Contexts(forest.labels.astype(np.int64), found, np.full(found.size, NULL))


def edge_contexts(forest: Forest) -> Contexts:
    """The label and that of the parent."""
    has_parent = forest.parents != NULL
    above = np.where(has_parent, forest.labels[forest.parents], NULL)
    return numbered(forest.labels.astype(np.int64), above.astype(np.int64))


def path_contexts(forest: Forest) -> Contexts:
    """All labels from the root down. A path through an unknown label begins anew below it."""
    codes, labels, above, n_found = np.full(forest.n_nodes, NULL), [], [], 0
    order = np.argsort(forest.depths, kind="stable")
    starts = np.searchsorted(forest.depths[order], np.arange(int(forest.depths.max(initial=-1)) + 2))
    for first, last in itertools.pairwise(starts):  # one depth after another
        nodes = order[first:last]
        parents = forest.parents[nodes]
        here = numbered(forest.labels[nodes].astype(np.int64), np.where(parents == NULL, NULL, codes[parents]))
        codes[nodes] = np.where(here.codes == NULL, NULL, here.codes + n_found)
        labels.append(here.labels)
        above.append(here.above)
        n_found += here.n_codes
    return Contexts(codes, np.concatenate([np.empty(0, np.int64), *labels]), np.concatenate([codes[:0], *above]))


def numbered(labels: np.ndarray, above: np.ndarray) -> Contexts:
    """A number for each different pair of a known label and what it stands below."""
    known = labels != NULL
    width = int(labels.max(initial=0)) + 1
    found, inverse = np.unique((above[known] + 1) * width + labels[known], return_inverse=True)
    codes = np.full(labels.size, NULL)
    codes[known] = inverse
    return Contexts(codes, found % width, found // width - 1)

"""Trees as tables of counts: how often each label, edge or path occurs in each tree."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.table import SparseTable
from bayesgrove.io.tree_labels import RARE
from bayesgrove.trees.contexts import Contexts, edge_contexts, label_contexts, path_contexts
from bayesgrove.trees.forest import Forest

ROOT = "(root)"
CONTEXTS: dict[str, Callable[[Forest], Contexts]] = {
    "labels": label_contexts,
    "edges": edge_contexts,
    "paths": path_contexts,
}


def count_table(forest: Forest, vocabulary: tuple[str, ...] | None, by: str, min_count: int) -> SparseTable:
    """A row per tree, a column per label, edge or path; those of fewer than `min_count` nodes are one column."""
    check_counting(forest, by, min_count)
    found = CONTEXTS[by](forest)
    totals = np.bincount(found.codes[found.codes != NULL], minlength=found.n_codes)
    kept = np.flatnonzero(totals >= max(min_count, 1))
    names = context_names(found, vocabulary, by)
    column = np.full(found.n_codes, kept.size)
    column[kept] = np.arange(kept.size)
    chosen = [names[code] for code in kept.tolist()]
    if ((totals > 0) & (totals < min_count)).any():
        chosen.append(RARE)
    return SparseTable(counted(forest, found.codes, column, len(chosen)), tuple(chosen))


def counted(forest: Forest, codes: np.ndarray, column: np.ndarray, n_columns: int) -> csr_array:
    """Counts of the columns of all known codes, tree by tree."""
    known = codes != NULL
    trees = np.repeat(np.arange(forest.n_trees), forest.sizes)[known]
    columns = column[codes[known]]
    shape = (forest.n_trees, n_columns)
    found = csr_array((np.ones(trees.size, np.int64), (trees, columns)), shape=shape)
    found.sum_duplicates()
    return found


def context_names(contexts: Contexts, vocabulary: tuple[str, ...] | None, by: str) -> list[str]:
    """Readable names: `label`, `parent > label`, or `root/.../label`."""
    texts = [str(label) if vocabulary is None else vocabulary[label] for label in contexts.labels.tolist()]
    if by == "labels":
        return texts
    above = contexts.above.tolist()
    if by == "edges":
        parents = [ROOT if a == NULL else str(a) if vocabulary is None else vocabulary[a] for a in above]
        return [f"{parent} > {text}" for parent, text in zip(parents, texts, strict=True)]
    for code, parent in enumerate(above):  # shorter paths have smaller numbers
        if parent != NULL:
            texts[code] = f"{texts[parent]}/{texts[code]}"
    return texts


def check_counting(forest: Forest, by: Any, min_count: Any) -> None:
    """Refuse what is no kind of table, no count, and labels that are numbers."""
    if by not in CONTEXTS:
        raise InvalidSettingError(f"a table counts one of {', '.join(CONTEXTS)}, got {by!r}. Choose one.")
    if isinstance(min_count, bool) or not isinstance(min_count, int | np.integer) or min_count < 1:
        raise InvalidSettingError(f"min_count must be a whole number of at least 1, got {min_count!r}.")
    if forest.values is not None:
        raise InvalidSettingError("labels of these trees are numbers, which cannot be counted. Code them first.")

"""Labels of trees as codes of a vocabulary, and from one vocabulary to another."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError, InvalidTreeError
from bayesgrove.trees.forest import Forest

RARE = "<rare>"
UNSEEN_RULES = ("marginal", "rare", "error")


def has_texts(labels: Any) -> bool:
    """Whether there is a text among a tree's labels."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind != "O":
        return labels.dtype.kind == "U"
    return any(isinstance(label, str) for label in labels)


def check_vocabulary(vocabulary: Any) -> None:
    """Refuse what is neither None nor texts."""
    is_listed = isinstance(vocabulary, Sequence | np.ndarray) and not isinstance(vocabulary, str | bytes)
    if vocabulary is not None and not (is_listed and all(isinstance(name, str) for name in vocabulary)):
        raise InvalidTreeError(f"a vocabulary is a list of texts, got {vocabulary!r:.80}. Convert it.")


def coded(
    labels: Sequence[Sequence[Any]], vocabulary: Sequence[str] | None
) -> tuple[list[np.ndarray], tuple[str, ...]]:
    """Codes of texts, and the vocabulary: the one given, else all labels sorted by code point."""
    for tree, node, label in _all_labels(labels):
        if not isinstance(label, str | None):
            raise InvalidTreeError(
                f"tree {tree}, node {node}: where some labels are texts all are (None: unknown), got {label!r}.",
                tree=tree,
                node=node,
            )
    names = sorted({label for _, _, label in _all_labels(labels) if label is not None})
    chosen = tuple(names if vocabulary is None else vocabulary)
    code_of: dict[str | None, int] = {None: NULL, **{name: code for code, name in enumerate(chosen)}}
    missing = next((name for name in names if name not in code_of), None)
    if missing is not None:
        raise InvalidTreeError(f"the label {missing!r} is not in the vocabulary. Add it, or give None.")
    return [np.array([code_of[label] for label in tree], np.int64) for tree in labels], chosen


def _all_labels(labels: Sequence[Sequence[Any]]) -> Any:
    return ((i, j, label) for i, tree in enumerate(labels) for j, label in enumerate(tree))


def reduced(
    labels: np.ndarray, vocabulary: tuple[str, ...], min_count: int, reserve_rare: bool
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes and vocabulary of the labels that occur often enough, the others being `<rare>`."""
    counts = np.bincount(labels[labels != NULL], minlength=len(vocabulary))
    kept = [name for name, count in zip(vocabulary, counts.tolist(), strict=True) if count >= max(min_count, 1)]
    is_rare_used = reserve_rare or bool(((counts > 0) & (counts < min_count)).any())
    names = sorted({*kept, RARE} if is_rare_used else kept)
    code_of = {name: code for code, name in enumerate(names)}
    other = code_of.get(RARE, NULL)
    new_code = np.array([code_of.get(name, other) for name in vocabulary] + [NULL], np.int32)
    return new_code[labels], tuple(names)


def translated(
    forest: Forest, own: tuple[str, ...] | None, vocabulary: Sequence[str] | int, unseen: str
) -> tuple[np.ndarray, int, int]:
    """Codes in another vocabulary, its size, and the number of nodes whose label it lacks."""
    if unseen not in UNSEEN_RULES:
        raise InvalidSettingError(f"unseen is one of {', '.join(UNSEEN_RULES)}, got {unseen!r}. Choose one.")
    is_number = isinstance(vocabulary, int | np.integer)
    if is_number != (own is None):
        kinds = ("codes", "texts") if own is None else ("texts", "codes")
        raise InvalidSettingError(
            f"the labels of these trees are {kinds[0]}, those of the model {kinds[1]}. Use one kind."
        )
    names: Sequence[Any] = range(forest.n_labels) if own is None else own
    known = {name: code for code, name in enumerate(range(vocabulary) if is_number else vocabulary)}  # type: ignore[arg-type]
    other = known.get(RARE, NULL) if unseen == "rare" else NULL
    if unseen == "rare" and other == NULL:
        raise InvalidSettingError(f'unseen="rare" needs the label {RARE!r} in the vocabulary. Fit with it reserved.')
    lacks = np.array([name not in known for name in names] + [False], np.bool_)[forest.labels]
    if unseen == "error" and lacks.any():
        flat = int(np.argmax(lacks))
        tree, node = forest.place_of(flat)
        raise InvalidTreeError(
            f"tree {tree}, node {node}: the label {names[forest.labels[flat]]!r} was never seen in fitting. "
            'Choose unseen="marginal", or leave the tree out.',
            tree=tree,
            node=node,
        )
    new_code = np.array([known.get(name, other) for name in names] + [NULL], np.int32)
    return new_code[forest.labels], len(known), int(np.count_nonzero(lacks))

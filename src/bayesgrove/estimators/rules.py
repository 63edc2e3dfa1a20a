"""What must hold in a model file before anything is computed from it."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError

Rules = tuple[tuple[str, Callable[[], bool]], ...]
"""What must hold, in words and as a test; later ones rely on earlier ones."""


def check_rules(rules: Rules) -> None:
    """Refuse what would make a kernel read out of bounds, or an answer that is no number."""
    for rule, holds in rules:
        if not holds():
            raise InvalidFileError(rule)


def fit_shapes(arrays: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[Any, tuple[int, ...]]]) -> Rules:
    """Rules that arrays have these types and shapes and finite numbers."""
    return (
        ("arrays do not fit together", lambda: all(is_array(arrays[k], *shapes[k]) for k in shapes)),
        ("a number is not finite", lambda: all(bool(np.isfinite(arrays[k]).all()) for k in shapes)),
    )


def is_array(array: np.ndarray, dtype: Any, shape: tuple[int, ...]) -> bool:
    """Whether an array has this type and shape."""
    return array.dtype == dtype and array.shape == shape


def are_consecutive(labels: np.ndarray) -> bool:
    """Whether labels are 0, 1, ... without a gap; needs no more memory than they do, however large one is."""
    different = np.unique(labels)
    return bool(different.size) and int(different[0]) == 0 and int(different[-1]) == different.size - 1

"""Matrices that users give as hyperparameters."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.likelihoods.base import Encoding, is_given


def scale_matrix(given: Any, default: np.ndarray, encoding: Encoding) -> np.ndarray:
    """The scale in encoded units: a symmetric positive definite matrix, or an error."""
    if not is_given(given):
        return default
    try:
        matrix = np.array(given, float)
    except (TypeError, ValueError):  # texts, ragged lists: no matrix
        matrix = np.empty(0)
    if matrix.ndim == 0:
        matrix = matrix * np.eye(len(default))
    if matrix.shape != default.shape or not np.array_equal(matrix, matrix.T):
        raise InvalidLikelihoodError(
            f"scale must be a number or a symmetric matrix of shape {default.shape}, got {given!r}.",
            parameter="scale",
        )
    with np.errstate(all="ignore"):
        encoded = np.ldexp(matrix, -(encoding.exponent + encoding.exponent[:, None]))
    try:
        definite = bool(np.all(np.isfinite(np.linalg.cholesky(encoded))))
    except np.linalg.LinAlgError:
        definite = False
    if not definite:
        raise InvalidLikelihoodError(
            f"scale must be positive definite, got {given!r}. Add a positive number to its diagonal.",
            parameter="scale",
        )
    return np.ascontiguousarray(encoded)

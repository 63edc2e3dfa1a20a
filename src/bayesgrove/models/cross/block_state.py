"""Numeric columns with linear dependence inside clusters: the model, its state and the draws that are kept.

Cluster k has weight w_k by stick-breaking (K sticks, v_k ~ Beta(1, concentration), concentration ~ Gamma(1, 1)); the d
numeric cells of a row, standardised, are Normal(mean_k, covariance_k); its categories are independent of them and of
each other given k, with probabilities ~ Dirichlet(1 / number of categories). The hierarchical prior shares what
clusters have in common:

    covariance_k ~ InverseWishart(dof, (dof - d - 1) scale), so that its prior mean is the scale,
    mean_k ~ Normal(centre, covariance_k / strength),
    scale ~ Wishart(d + 1, I / (2 (d + 1))), centre ~ Normal(0, I), strength and dof uniform on grids.

A missing cell of a row of cluster k is a linear regression on the cells that are there: see `block_cells`.
"""

from typing import NamedTuple

import numpy as np

N_COMPONENTS = 20
STRENGTHS = np.array([0.003, 0.01, 0.03, 0.1, 0.3, 1.0])
EXTRA_DOF = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0])
"""Degrees of freedom beyond d. Many: all clusters share one covariance."""


class BlockTable(NamedTuple):
    """The rows a sampler sees."""

    numeric: np.ndarray
    """(n_rows, d) standardised; NaN is a missing cell."""
    codes: np.ndarray
    """(n_rows, n_categorical) int; -1 is a missing cell."""
    n_codes: np.ndarray
    """(n_categorical,) categories of each."""
    grain: np.ndarray
    """(d,) variance of the rounding of each numeric column, in standardised units."""


class Hyper(NamedTuple):
    """What clusters share."""

    concentration: float
    strength: float
    dof: float
    scale: np.ndarray
    centre: np.ndarray


class Components(NamedTuple):
    """Parameters of the K clusters."""

    log_weight: np.ndarray
    """(K,)"""
    mean: np.ndarray
    """(K, d)"""
    covariance: np.ndarray
    """(K, d, d)"""
    log_chance: tuple[np.ndarray, ...]
    """Log probabilities of categories, (K, n_codes[j]) for each categorical column."""


def first_hyper(n_numeric: int) -> Hyper:
    """Where chains start."""
    return Hyper(1.0, 0.1, n_numeric + 16.0, 0.5 * np.eye(n_numeric), np.zeros(n_numeric))

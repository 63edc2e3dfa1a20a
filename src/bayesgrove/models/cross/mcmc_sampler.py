"""`CrossCatSampler`: cross-clusterings as the engine sees them."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def swap_chains(
    rng: np.random.Generator, betas: Sequence[float], log_joints: list[float], chains: list[Any]
) -> list[int]:
    """Propose to swap each pair of neighbours, in place; the places of the first of each pair that did.

    Accepted with probability min(1, exp[(beta_1 - beta_2) (log p(x_2) - log p(x_1))]).
    """
    accepted = []
    for k in range(len(chains) - 1):
        log_ratio = (betas[k] - betas[k + 1]) * (log_joints[k + 1] - log_joints[k])
        if -rng.standard_exponential() < log_ratio:
            chains[k], chains[k + 1] = chains[k + 1], chains[k]
            log_joints[k], log_joints[k + 1] = log_joints[k + 1], log_joints[k]
            accepted.append(k)
    return accepted

"""How scores of merges are compared: as multiples of 2^-30, so that ties are not decided by rounding."""

import numpy as np

from bayesgrove.core.jit import kernel

TIE_SCALE = 2.0**30


@kernel
def rounded(score):
    """The number scores are compared by: mathematically equal scores agree whatever the order of summation."""
    return np.rint(score * TIE_SCALE)

"""New rows of a cluster."""

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import draw_data, draw_params, n_params


@kernel
def draw_rows_of(prior, rng, row, out):
    """Rows of data from one cluster with statistics `row`, each with parameters of its own, to `out`."""
    params = np.empty(n_params(prior))
    for i in range(out.shape[0]):
        draw_params(prior, rng, row, params)
        draw_data(prior, rng, params, out[i])

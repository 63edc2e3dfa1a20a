"""Moves over whole states, and one sweep of all of them in one compiled call."""

from bayesgrove.core.constants import NEEDS_CAPACITY, NOT_FINITE, OK
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.component_models import draw_rows
from bayesgrove.models.nested.nodes import shuffle
from bayesgrove.models.nested.paths import gibbs_paths
from bayesgrove.models.nested.variances import draw_variances
from bayesgrove.models.nested.weights_pass import pass_over_weights

STAGE, DONE = 0, 1
"""Places in the progress of a sweep: what comes next, and how many data of the paths are done."""
SHUFFLE, PATHS, WEIGHTS, MEANS = range(4)


@borrower
def draw_means(rng, law, data, mixture, values, hyperpriors):
    """Parameters of the components, then the variances that are learned."""
    top = mixture.numbers[0]
    draw_rows(law, rng, data, values, mixture.component, mixture.size, mixture.in_use, top, mixture.rows)
    draw_variances(rng, data, values, hyperpriors, mixture.component, mixture.in_use, top, mixture.rows)


@kernel
def sweep_all(
    rng, law, data, tree, mixture, values, hyperpriors, depth, n_components, regrafts, order, progress, tallies
):
    """One sweep without penalty: Gibbs paths, the pass over the weights, means and variances.

    Where arrays are full it stops with NEEDS_CAPACITY and goes on from `progress` when it is called again. A datum
    without a possible path leaves -1 - datum in `progress[DONE]`.
    """
    if progress[STAGE] == SHUFFLE:
        shuffle(rng, order)
        progress[STAGE], progress[DONE] = PATHS, 0
    if progress[STAGE] == PATHS:
        progress[DONE] = gibbs_paths(
            rng, law, data, tree, mixture, values, depth, n_components, order, progress[DONE], tallies
        )
        if progress[DONE] < order.size:
            return NOT_FINITE if progress[DONE] < 0 else NEEDS_CAPACITY
        progress[STAGE] = WEIGHTS
    if progress[STAGE] == WEIGHTS:
        status = pass_over_weights(rng, tree, mixture, values, hyperpriors, depth, n_components, regrafts, tallies[2:])
        if status != OK:
            return status
        progress[STAGE] = MEANS
    draw_means(rng, law, data, mixture, values, hyperpriors)
    progress[STAGE] = SHUFFLE
    return OK

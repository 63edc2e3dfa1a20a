"""One sweep under a penalty in one compiled call: Gibbs paths, slice of the discriminants, weights, means."""

import math

from bayesgrove.core.constants import NEEDS_CAPACITY, NOT_FINITE, OK
from bayesgrove.core.jit import kernel
from bayesgrove.models.nested.nodes import shuffle
from bayesgrove.models.nested.penalty import Links
from bayesgrove.models.nested.penalty_paths import N_TALLIES, penalised_gibbs_paths
from bayesgrove.models.nested.penalty_regraft import penalised_pass_over_weights
from bayesgrove.models.nested.penalty_slice import slice_discriminants
from bayesgrove.models.nested.sweeps import DONE, MEANS, PATHS, SHUFFLE, STAGE, WEIGHTS, draw_means
from bayesgrove.models.nested.target import DISCRIMINANT_VARIANCE


@kernel
def penalised_sweep_all(
    rng, stream, law, data, tree, mixture, eta, penalty, values, hyperpriors, depth, n_components, n_auxiliary,
    n_slices, order, progress, tallies,
):  # fmt: skip
    """One sweep under a penalty; statuses and `progress` as `sweeps.sweep_all`."""
    if progress[STAGE] == SHUFFLE:
        shuffle(rng, order)
        progress[STAGE], progress[DONE] = PATHS, 0
    if progress[STAGE] == PATHS:
        progress[DONE] = penalised_gibbs_paths(
            rng, law, data, tree, mixture, eta, penalty, values, depth, n_components, n_auxiliary, True, order,
            progress[DONE], tallies,
        )  # fmt: skip
        if progress[DONE] < order.size:
            return NOT_FINITE if progress[DONE] < 0 else NEEDS_CAPACITY
        links, scale = (
            Links(tree.parent, tree.first_child, tree.next_sibling),
            math.sqrt(values[DISCRIMINANT_VARIANCE]),
        )
        for _ in range(n_slices):
            slice_discriminants(stream, penalty, links, eta, tree.leaf, depth, scale)
        progress[STAGE] = WEIGHTS
    if progress[STAGE] == WEIGHTS:
        status = penalised_pass_over_weights(
            rng, tree, mixture, eta, penalty, values, hyperpriors, depth, n_components, tallies[N_TALLIES:]
        )
        if status != OK:
            return status
        progress[STAGE] = MEANS
    draw_means(rng, law, data, mixture, values, hyperpriors)
    progress[STAGE] = SHUFFLE
    return OK

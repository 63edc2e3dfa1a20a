"""Components of mixtures as models of their own, and models as components."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators.tree_hmm import TreeHMM
from bayesgrove.estimators.tree_inputs import TreeSchema
from bayesgrove.models.tree_hmm.parameters import Parameters, TreePrior, select_parameters
from bayesgrove.models.tree_hmm.tables import stack


def component_models(model: Any) -> list[TreeHMM]:
    """A fitted `TreeHMM` for each component of a mixture."""
    settings = {name: getattr(model, name) for name in ("missing", "emission", "unseen", "overflow")}
    strength = 1.0 if isinstance(model.prior_strength, str | None) else model.prior_strength
    each = (select_parameters(model._parameters, np.array([k])) for k in range(model._parameters.n_components))
    shared = (model._prior, model._schema, model._seed)
    return [TreeHMM._of(own, *shared, prior_strength=strength, **settings) for own in each]


def joined_parameters(components: Sequence[TreeHMM]) -> tuple[Parameters, TreeSchema, TreePrior]:
    """Several models as the components of a mixture, if they speak of the same trees."""
    first = components[0]
    for number, component in enumerate(components):
        for name in ("_schema", "missing"):
            if getattr(component, name) != getattr(first, name):
                raise InvalidSettingError(
                    f"components of a mixture have the same labels, positions and missing; component {number} differs "
                    f"from the first: {getattr(component, name)} and {getattr(first, name)}."
                )
        if component._prior.shape != first._prior.shape:
            raise InvalidSettingError(
                f"components of a mixture have the same number of states, {first._prior.shape.n_states}, "
                f"got {component._prior.shape.n_states} of component {number}."
            )
    tables = stack([component._parameters.tables for component in components])
    moments = np.concatenate([component._parameters.moments for component in components])
    return Parameters(tables, moments), first._schema, first._prior

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
    found = []
    for k in range(len(model._parameters.tables.switching)):
        component = TreeHMM(
            model._prior.shape.n_states,
            model.missing,
            model.prior_strength if not isinstance(model.prior_strength, str) else 1.0,
            emission=model.emission,
            unseen=model.unseen,
            overflow=model.overflow,
        )
        component._schema, component._seed = model._schema, model._seed
        component._set_parameters(select_parameters(model._parameters, np.array([k])), model._prior)
        found.append(component)
    return found


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

"""States of nested hierarchies for tests: the golden one, and samplers of small tables."""

import numpy as np

from bayesgrove.models.nested.packing import unpacked
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.target import make_target, sampled_means


def golden_target(inputs, data=None):
    """The target of the golden state, without penalty."""
    data = np.array(inputs["X"], float) if data is None else data
    values = [inputs[name] for name in ("alpha", "gamma", "gamma0", "s2", "h2")] + [inputs["nu0"] ** 2]
    return make_target(data, sampled_means(data), depth=inputs["L"], values=values)


def golden_paths(levels):
    """Paths (n, L) of the golden file's strings."""
    return np.array([[int(character) for character in level] for level in levels], np.int32).T.copy()


def golden_state(inputs):
    """The golden state: node "l:i" has number `golden_node`, component k stands in slot k + 1."""
    weights = np.array(list(inputs["weights"].values()))
    arrays = {
        "paths": golden_paths(inputs["levels"]),
        "components": np.array(inputs["c"], np.int32),
        "log_weights": np.log(np.roll(weights, 1, axis=1)),
        "means": np.array(inputs["theta"]),
        "values": golden_target(inputs).values,
    }
    return unpacked(golden_target(inputs), arrays)


def golden_node(inputs, name):
    """Number of a node of the golden file."""
    return list(inputs["weights"]).index(name)


def gaussian_sampler(data, *, depth=2, values=(0.8, 1.2, 0.9, 1.0, 1.0, 1.0), **settings):
    """A sampler of Gaussian components with drawn means."""
    data = np.ascontiguousarray(data, float)
    return NestedSampler(make_target(data, sampled_means(data), depth=depth, values=values, **settings))

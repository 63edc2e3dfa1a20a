"""States of the twin of nested hierarchies as the arrays that the library packs, and back."""

import numpy as np

from reference.crosscat import relabel
from reference.nested import Model, State, levels_of, tree_from_levels
from reference.nested_exact import named_nodes

NUMBERS = ("alpha", "gamma", "gamma0", "s2", "h2", "nu2")
"""In the order of the library's values."""


def arrays_of(model: Model, state: State) -> dict[str, np.ndarray]:
    """Normal form: nodes by level and first appearance, components by first appearance, the remainder first."""
    order = list(dict.fromkeys(state.components))
    order += [k for k in range(state.n_components) if k not in order]
    nodes = list(named_nodes(state).values())
    arrays = {
        "paths": np.array(levels_of(state), np.int32).T.copy(),
        "components": np.array(relabel(state.components), np.int32),
        "log_weights": np.array([node.log_weights[[-1, *order]] for node in nodes]),
        "values": np.array([state.numbers[name] for name in NUMBERS]),
    }
    if model.log_marginal is None:
        arrays["means"] = np.array([state.theta[k] for k in order])
    if model.strength > 0.0:
        arrays["discriminants"] = np.array([node.eta for node in nodes[1:]])
    return arrays


def state_of(arrays: dict[str, np.ndarray]) -> State:
    """The twin's state of packed arrays."""
    root, leaves = tree_from_levels(arrays["paths"].T)
    numbers = dict(zip(NUMBERS, arrays["values"].tolist(), strict=True))
    theta = [row.copy() for row in arrays.get("means", ())]
    state = State(root, leaves, arrays["components"].tolist(), theta, **numbers)
    for place, node in enumerate(named_nodes(state).values()):
        node.log_weights = np.roll(arrays["log_weights"][place], -1)
        if "discriminants" in arrays and place:
            node.eta = arrays["discriminants"][place - 1].copy()
    return state


def key_of(arrays: dict[str, np.ndarray]) -> tuple:
    """The whole state as something that can be counted, weights rounded."""
    numbers = [np.exp(arrays["log_weights"])]
    numbers += [arrays[name] for name in ("values", "means", "discriminants") if name in arrays]
    rounded = [(np.round(array, 7) + 0.0).tobytes() for array in numbers]
    return (arrays["paths"].tobytes(), arrays["components"].tobytes(), *rounded)

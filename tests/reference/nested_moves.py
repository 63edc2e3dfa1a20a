"""Slow, clear twin of the passes over weights with regraft, of the hyperparameters, and whole sweeps."""

import math
from collections.abc import Callable

import numpy as np

from reference import nested_margins as margins
from reference.nested import Model, Node, State, at_level, link, nodes_of, tree_from_levels
from reference.nested_paths import accepts, draw_index, draw_theta, log_dirichlet_draw, sweep_paths

# Weights (docs/theory/nested-hierarchies.md, Tables and weights)


def draw_tables(rng: np.random.Generator, n_customers: int, concentration: float) -> int:
    """Number of tables of so many customers in a CRP."""
    if n_customers == 0:
        return 0
    return 1 + sum(rng.random() * (concentration + i) < concentration for i in range(1, int(n_customers)))


def seat_level(rng: np.random.Generator, state: State, level: int) -> None:
    """Tables of all nodes of a level, which are their parents' customers."""
    for node in at_level(state, level):
        concentrations = state.gamma * np.exp(node.parent.log_weights[:-1])
        node.tables = np.array(
            [draw_tables(rng, n, a) for n, a in zip(node.customers, concentrations, strict=True)], float
        )
        node.parent.customers = node.parent.customers + node.tables


def log_block(path: list[Node], n_moved: int, alpha: float) -> float:
    """Change of log p(V) where a block joins the children of the last node of a path; empty nodes are new."""
    total = 0.0
    for place, node in enumerate(path):
        total += math.lgamma(node.count + alpha) - math.lgamma(node.count + n_moved + alpha)
        child = path[place + 1] if place + 1 < len(path) else None
        if child is None or child.count == 0:
            total += math.log(alpha) + math.lgamma(n_moved)
        else:
            total += math.lgamma(child.count + n_moved) - math.lgamma(child.count)
    return total


def log_dirichlet_multinomial(params: np.ndarray, before: np.ndarray, tables: np.ndarray) -> float:
    """log p(tables | those that are there); components nobody uses are left out."""
    total = math.lgamma(params.sum() + before.sum()) - math.lgamma(params.sum() + before.sum() + tables.sum())
    for a, n, t in zip(params[:-1], before, tables, strict=True):
        if t > 0.0:
            total += math.lgamma(a + n + t) - math.lgamma(a + n)
    return total


def regraft_places(model: Model, state: State, node: Node, emptied: Node | None, draw: Callable[[], np.ndarray]):
    """Possible parents of an unlinked node: those of their level, and a new one under each node above."""
    existing = at_level(state, node.level - 1)
    fresh = []
    for above in at_level(state, node.level - 2):
        if emptied is not None and emptied.parent is above:
            fresh.append(emptied)
            continue
        new = Node(above, node.level - 1)
        new.eta = draw()
        new.customers = np.zeros(state.n_components)
        fresh.append(new)
    return [*existing, *fresh]


def unlink_block(node: Node) -> Node | None:
    """Take a node with all its data off its parent; the parent that is empty now and taken off too, or None."""
    parent = node.parent
    parent.children.remove(node)
    parent.customers = parent.customers - node.tables
    for above in parent.path():
        above.count -= node.count
    if parent.count == 0:
        parent.parent.children.remove(parent)
        return parent
    return None


def link_block(node: Node, parent: Node) -> None:
    """Hang a node with all its data below a parent."""
    node.parent = parent
    parent.customers = parent.customers + node.tables
    link(node)
    link(parent)
    for above in parent.path():
        above.count += node.count


def regraft_log_weights(model: Model, state: State, node: Node, places: list[Node]) -> list[float]:
    """Log weight of each possible parent of an unlinked node (docs/theory/nested-hierarchies.md, Regraft)."""
    found = []
    for parent in places:
        params = state.gamma * np.exp(parent.parent.log_weights)
        total = log_block(parent.path(), node.count, state.alpha)
        total += log_dirichlet_multinomial(params, parent.customers, node.tables)
        if model.strength > 0.0:
            link_block(node, parent)
            total -= margins.energy_of(model, state)
            unlink_block(node)
        found.append(total)
    return found


def can_regraft(node: Node) -> bool:
    """Whether the grandparent, if it is not the root, stays in use without the node."""
    above = node.parent.parent
    return above.parent is None or above.count > node.count


def regraft_node(rng: np.random.Generator, model: Model, state: State, node: Node) -> None:
    """Gibbs over the parent of a node of level 2 or deeper."""
    if not can_regraft(node):
        return
    emptied = unlink_block(node)
    places = regraft_places(model, state, node, emptied, lambda: margins.draw_eta(rng, model, state))
    link_block(node, places[draw_index(rng, regraft_log_weights(model, state, node, places))])


def count_leaves(state: State) -> None:
    """n_zk of the leaves, 0 elsewhere."""
    for node in nodes_of(state.root):
        node.customers = np.zeros(state.n_components)
    for leaf, c in zip(state.leaf, state.components, strict=True):
        leaf.customers[c] += 1.0


def draw_all_weights(rng: np.random.Generator, model: Model, state: State) -> None:
    """All weights from the root down, given tables."""
    for node in nodes_of(state.root):
        if node.parent is not None:
            params = state.gamma * np.exp(node.parent.log_weights) + np.append(node.customers, 0.0)
        elif model.n_components is None:
            params = np.append(node.customers, state.gamma0)
        else:
            params = np.append(node.customers + state.gamma0 / model.n_components, 0.0)
        node.log_weights = log_dirichlet_draw(rng, params)


def update_weights(rng: np.random.Generator, model: Model, state: State) -> None:
    """The whole pass: tables upwards with regraft, concentrations, weights downwards."""
    count_leaves(state)
    for level in range(model.depth, 0, -1):
        seat_level(rng, state, level)
        if level >= 2 and model.regraft and model.sampler == "exact":
            nodes = at_level(state, level)
            for place in rng.permutation(len(nodes)):  # an order that knows nothing of the tree, which the scan changes
                regraft_node(rng, model, state, nodes[place])
    draw_concentrations(rng, model, state)
    draw_all_weights(rng, model, state)


def draw_concentrations(rng: np.random.Generator, model: Model, state: State) -> None:
    """6.2, those that have hyperpriors; weights are integrated out."""
    nodes = nodes_of(state.root)
    internal = [node for node in nodes if node.level < model.depth and node.count > 1]
    below = nodes[1:]
    root, n_root = state.root.customers, state.n_components
    if model.n_components is not None:  # Dir(gamma0 / K): tables of the root count
        n_root = sum(draw_tables(rng, n, state.gamma0 / model.n_components) for n in root)
    groups = {
        "gamma": ([node.customers.sum() for node in below], sum(node.tables.sum() for node in below)),
        "gamma0": ([root.sum()], n_root),
        "alpha": ([node.count for node in internal], sum(len(node.children) for node in internal)),
    }
    for name, (sizes, n_blocks) in groups.items():
        if name in model.hyperpriors:
            shape, rate = model.hyperpriors[name]
            logs = math.fsum(math.log(rng.beta(state.numbers[name], size)) for size in sizes)
            state.numbers[name] = rng.gamma(shape + n_blocks) / (rate - logs)


# Means and variances


def draw_means(rng: np.random.Generator, model: Model, state: State) -> None:
    """Every component's mean given its data."""
    if model.log_marginal is None:
        for k in range(state.n_components):
            state.theta[k] = draw_theta(rng, model, state, [n for n, c in enumerate(state.components) if c == k])


def draw_variances(rng: np.random.Generator, model: Model, state: State) -> None:
    """s2, h2 and nu0^2, those that have hyperpriors."""
    gaps = [x - state.theta[c] for x, c in zip(model.data, state.components, strict=True)] if state.theta else []
    etas = [node.eta for node in nodes_of(state.root)[1:]]
    for name, vectors in (("s2", gaps), ("h2", state.theta), ("nu2", etas)):
        if name in model.hyperpriors:
            shape, rate = model.hyperpriors[name]
            squares = math.fsum(float(vector @ vector) for vector in vectors)
            size = sum(vector.size for vector in vectors)
            before, energy = state.numbers[name], margins.energy_of(model, state)
            state.numbers[name] = (rate + squares / 2.0) / rng.gamma(shape + size / 2.0)
            # Penalties that divide by what chance gives depend on nu0: there the draw is a proposal.
            if name == "nu2" and not accepts(rng, energy - margins.energy_of(model, state)):
                state.numbers[name] = before


# A sweep and a start


def sweep(rng: np.random.Generator, model: Model, state: State) -> None:
    """One sweep of the exact sampler, or of the printed one."""
    sweep_paths(rng, model, state)
    if model.strength == 0.0:
        for node in nodes_of(state.root)[1:]:
            node.eta = margins.draw_eta(rng, model, state)
    elif model.sampler == "paper":
        margins.printed_discriminants(rng, model, state)
    else:
        margins.slice_discriminants(rng, model, state)
    update_weights(rng, model, state)
    draw_means(rng, model, state)
    draw_variances(rng, model, state)


def start(rng: np.random.Generator, model: Model, **numbers: float) -> State:
    """Any state of the target: all data on one path in one component, weights and means given them."""
    n_rows = len(model.data)
    root, leaves = tree_from_levels([[0] * n_rows] * model.depth)
    n_components = model.n_components or 1
    theta = [] if model.log_marginal else [np.zeros(model.data.shape[1]) for _ in range(n_components)]
    state = State(root, leaves, [0] * n_rows, theta, **numbers)
    for node in nodes_of(root):
        node.log_weights = np.full(n_components + 1, -math.log(n_components + 1))
        node.eta = margins.draw_eta(rng, model, state)
    count_leaves(state)
    for node in nodes_of(root)[1:]:
        node.parent.customers = node.customers.copy()
    for node in nodes_of(root):
        node.customers = np.append(float(n_rows), np.zeros(n_components - 1))
    draw_all_weights(rng, model, state)
    draw_means(rng, model, state)
    return state

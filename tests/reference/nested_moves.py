"""Slow, clear twin of the moves of nested hierarchies: paths, components, weights with regraft, numbers (3, 4, 6, 7, 10).

Candidates of a Gibbs move and their log weights are functions of their own, so that tests can look at them.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reference import nested_margins as margins
from reference.crosscat import proportional
from reference.nested import (
    Model,
    Node,
    State,
    at_level,
    link,
    log_components,
    log_ell,
    log_sum_exp,
    nodes_of,
    tree_from_levels,
)

# Draws in logs


def log_gamma_draw(rng: np.random.Generator, a: float) -> float:
    """log of a Gamma(a) variate, right for small a."""
    if a == 0.0:
        return -math.inf
    return math.log(rng.gamma(a + 1.0)) + math.log(1.0 - rng.random()) / a


def log_dirichlet_draw(rng: np.random.Generator, params) -> np.ndarray:
    """log of a Dirichlet draw; coordinates of parameter 0 are -inf."""
    logs = np.array([log_gamma_draw(rng, float(a)) for a in params])
    return logs - log_sum_exp(logs.tolist())


def draw_index(rng: np.random.Generator, logs) -> int:
    """An index with probability proportional to exp(logs)."""
    return int(rng.choice(len(logs), p=proportional(list(logs))))


def draw_theta(rng: np.random.Generator, model: Model, state: State, rows) -> np.ndarray:
    """A component's mean given its data (section 7)."""
    precision = len(rows) / state.s2 + 1.0 / state.h2
    total = np.sum(model.data[list(rows)], axis=0) if len(rows) else np.zeros(model.data.shape[1])
    return total / state.s2 / precision + rng.normal(size=model.data.shape[1]) / math.sqrt(precision)


# Components (section 3)


def merge_component(state: State, k: int, aside=()) -> None:
    """An empty component goes into the remainder of every node, also of those set aside."""
    for node in (*nodes_of(state.root), *aside):
        total = np.logaddexp(node.log_weights[-1], node.log_weights[k])
        node.log_weights = np.append(np.delete(node.log_weights[:-1], k), total)
    if state.theta:
        del state.theta[k]
    state.components = [c - (c > k) for c in state.components]


def open_component(rng: np.random.Generator, model: Model, state: State, n: int, path: list[Node]) -> int:
    """A component of datum n leaves the remainder of every node; nodes on the path carry one observed atom."""
    new = state.n_components
    for node in nodes_of(state.root):
        if node.parent is None:
            share = log_dirichlet_draw(rng, [1.0, state.gamma0])
        else:
            # The parent is split already: its new component stands before its remainder.
            parent_new, parent_rest = np.exp(node.parent.log_weights[[-2, -1]])
            share = log_dirichlet_draw(rng, [state.gamma * parent_new + (node in path), state.gamma * parent_rest])
        rest = node.log_weights[-1]
        node.log_weights = np.append(node.log_weights[:-1], rest + share)
    if model.log_marginal is None:
        state.theta.append(draw_theta(rng, model, state, [n]))
    return new


# Paths (section 4)


class Removed(NamedTuple):
    """What a datum left behind."""

    path: list[Node]
    aside: list[Node]
    """Nodes it was alone in, top first."""


def remove_datum(model: Model, state: State, n: int) -> Removed:
    """Take a datum off its path and out of its component (step 1)."""
    path = state.leaf[n].path()
    for node in path:
        node.count -= 1
    aside = [node for node in path[1:] if node.count == 0]
    for node in aside:
        node.parent.children.remove(node)
    own = state.components[n]
    state.components[n] = -1
    if model.n_components is None and own not in state.components:
        merge_component(state, own, aside)
    return Removed(path, aside)


def place_datum(state: State, n: int, leaf: Node) -> None:
    """Put a datum on the path to a leaf, whose nodes are linked if they are not."""
    for node in leaf.path():
        link(node)
        node.count += 1
    state.leaf[n] = leaf


class Candidate(NamedTuple):
    """An existing leaf, or a new branch under an internal node."""

    node: Node
    is_new: bool
    eta_top: np.ndarray | None
    log_weight: float


def data_under(state: State, node: Node, besides: int = -1) -> list[int]:
    """Data whose path goes through a node."""
    return [m for m, leaf in enumerate(state.leaf) if m != besides and node in leaf.path()]


def branch_energy(model: Model, state: State, n: int, under: Node, eta_top: np.ndarray) -> float:
    """Energy that datum n in a new branch has, and what the branch adds to that of the data under its parent."""
    top = Node(under, under.level + 1)
    top.eta = eta_top
    total = margins.datum_energy(model, state, n, margins.gaps_by_level(model, n, [*under.path(), top]))
    for m in data_under(state, under, n):
        path = state.leaf[m].path()
        total += margins.datum_energy(model, state, m, margins.gaps_by_level(model, m, path, top))
        total -= margins.datum_energy(model, state, m, margins.gaps_by_level(model, m, path))
    return total


def path_candidates(model: Model, state: State, n: int, auxiliary: Callable[[Node], list]) -> list[Candidate]:
    """All candidates of the collapsed Gibbs move; `auxiliary` gives discriminants for a branch's top (4.1)."""
    log_f = log_components(model, state, n)
    found, reach = [], {state.root: 0.0}
    for node in nodes_of(state.root):
        log_here = reach[node] + log_ell(node.log_weights, log_f)
        if node.level == model.depth:
            gaps = margins.gaps_by_level(model, n, node.path())
            found.append(Candidate(node, False, None, log_here - margins.datum_energy(model, state, n, gaps)))
            continue
        log_total = math.log(node.count + state.alpha)
        for child in node.children:
            reach[child] = reach[node] + math.log(child.count) - log_total
        log_new = log_here + math.log(state.alpha) - log_total
        if model.strength == 0.0:
            found.append(Candidate(node, True, None, log_new))
            continue
        etas = auxiliary(node)
        for eta in etas:
            energy = branch_energy(model, state, n, node, eta)
            found.append(Candidate(node, True, eta, log_new - math.log(len(etas)) - energy))
    return found


def auxiliary_of(rng: np.random.Generator, model: Model, state: State, removed: Removed) -> Callable[[Node], list]:
    """Draws from the prior; the former top node fills one slot of its parent (Neal's algorithm 8)."""

    def auxiliary(node: Node) -> list:
        kept = [removed.aside[0].eta] if removed.aside and removed.aside[0].parent is node else []
        return kept + [margins.draw_eta(rng, model, state) for _ in range(model.n_auxiliary - len(kept))]

    return auxiliary


def draw_component(rng, model: Model, state: State, n: int, log_weights, log_f, path: list[Node]) -> int:
    """Step 4: the component of datum n, a new one if it is the remainder."""
    chosen = draw_index(rng, log_weights + log_f)
    if chosen == state.n_components:
        chosen = open_component(rng, model, state, n, path)
    state.components[n] = chosen
    return chosen


def gibbs_path(rng: np.random.Generator, model: Model, state: State, n: int) -> None:
    """4.1 and step 4."""
    removed = remove_datum(model, state, n)
    candidates = path_candidates(model, state, n, auxiliary_of(rng, model, state, removed))
    chosen = candidates[draw_index(rng, [candidate.log_weight for candidate in candidates])]
    log_f, node = log_components(model, state, n), chosen.node
    own = draw_component(rng, model, state, n, node.log_weights, log_f, node.path())
    eta_top = chosen.eta_top
    while node.level < model.depth:
        child = Node(node, node.level + 1)
        params = state.gamma * np.exp(node.log_weights)
        params[own] += 1.0
        child.log_weights = log_dirichlet_draw(rng, params)
        child.eta = margins.draw_eta(rng, model, state) if eta_top is None else eta_top
        node, eta_top = child, None
    place_datum(state, n, node)


def propose_path(rng: np.random.Generator, model: Model, state: State) -> Node:
    """A leaf by the nCRP; new nodes, not linked yet, have weights and discriminants from their prior (4.2)."""
    node = state.root
    while node.level < model.depth:
        chosen = draw_index(rng, [*(math.log(child.count) for child in node.children), math.log(state.alpha)])
        if chosen < len(node.children):
            node = node.children[chosen]
            continue
        child = Node(node, node.level + 1)
        child.log_weights = log_dirichlet_draw(rng, state.gamma * np.exp(node.log_weights))
        child.eta = margins.draw_eta(rng, model, state)
        node = child
    return node


def own_energy(model: Model, state: State, n: int) -> float:
    """Energy of one datum where it is."""
    return margins.datum_energy(model, state, n, margins.gaps_by_level(model, n, state.leaf[n].path()))


def lift_datum(state: State, n: int) -> None:
    """Take a datum off its path, nothing else."""
    for node in state.leaf[n].path():
        node.count -= 1
        if node.count == 0 and node.parent is not None:
            node.parent.children.remove(node)


def mh_log_ratio(model: Model, state: State, n: int, old: Node, new: Node) -> float:
    """Log acceptance ratio of a proposed path of a datum that is taken out; leaves it at the new one."""
    log_f = log_components(model, state, n)
    energy = (lambda: own_energy(model, state, n)) if model.sampler == "paper" else (
        lambda: margins.energy_of(model, state)
    )
    place_datum(state, n, old)
    before = energy()
    lift_datum(state, n)
    place_datum(state, n, new)
    return log_ell(new.log_weights, log_f) - log_ell(old.log_weights, log_f) - energy() + before


def mh_path(rng: np.random.Generator, model: Model, state: State, n: int) -> None:
    """4.2 and step 4; with `sampler="paper"` the ratio of section 10."""
    old = state.leaf[n]
    remove_datum(model, state, n)
    new = propose_path(rng, model, state)
    if math.log(1.0 - rng.random()) >= mh_log_ratio(model, state, n, old, new):
        lift_datum(state, n)
        place_datum(state, n, old)
    leaf = state.leaf[n]
    draw_component(rng, model, state, n, leaf.log_weights, log_components(model, state, n), leaf.path())


def sweep_paths(rng: np.random.Generator, model: Model, state: State) -> None:
    """Every datum once, in random order."""
    move = gibbs_path if model.path == "gibbs" and model.sampler == "exact" else mh_path
    for n in rng.permutation(len(state.leaf)):
        move(rng, model, state, int(n))


# Weights (section 6)


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
    """Change of log p(V) where a block joins the children of the last node of a path (6.1); empty nodes are new."""
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
    """Log weight of each possible parent of an unlinked node (6.1)."""
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
    """Step 4 of section 6."""
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
            for node in at_level(state, level):
                regraft_node(rng, model, state, node)
    draw_concentrations(rng, model, state)
    draw_all_weights(rng, model, state)


def draw_concentrations(rng: np.random.Generator, model: Model, state: State) -> None:
    """6.2, those that have hyperpriors; weights are integrated out."""
    nodes = nodes_of(state.root)
    internal = [node for node in nodes if node.level < model.depth and node.count > 1]
    below = nodes[1:]
    groups = {
        "gamma": ([node.customers.sum() for node in below], sum(node.tables.sum() for node in below)),
        "gamma0": ([state.root.customers.sum()], state.n_components),
        "alpha": ([node.count for node in internal], sum(len(node.children) for node in internal)),
    }
    for name, (sizes, n_blocks) in groups.items():
        if name in model.hyperpriors:
            shape, rate = model.hyperpriors[name]
            logs = math.fsum(math.log(rng.beta(state.numbers[name], size)) for size in sizes)
            state.numbers[name] = rng.gamma(shape + n_blocks) / (rate - logs)


# Means and variances (section 7)


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
            state.numbers[name] = (rate + squares / 2.0) / rng.gamma(shape + size / 2.0)


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

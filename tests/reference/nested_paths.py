"""Slow, clear twin of the moves of paths and components of nested hierarchies.

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
    link,
    log_components,
    log_ell,
    log_sum_exp,
    nodes_of,
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


def accepts(rng: np.random.Generator, log_ratio: float) -> bool:
    """True with probability min(1, exp(log_ratio))."""
    return math.log(1.0 - rng.random()) < log_ratio


def draw_theta(rng: np.random.Generator, model: Model, state: State, rows) -> np.ndarray:
    """A component's mean given its data."""
    precision = len(rows) / state.s2 + 1.0 / state.h2
    total = np.sum(model.data[list(rows)], axis=0) if len(rows) else np.zeros(model.data.shape[1])
    return total / state.s2 / precision + rng.normal(size=model.data.shape[1]) / math.sqrt(precision)


# Components (docs/theory/nested-hierarchies.md, Components)


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


# Paths (docs/theory/nested-hierarchies.md, Paths)


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
    """All candidates of the collapsed Gibbs move; `auxiliary` gives discriminants for a branch's top."""
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
    """A leaf by the nCRP; new nodes, not linked yet, have weights and discriminants from their prior."""
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
    energy = (
        (lambda: own_energy(model, state, n)) if model.sampler == "paper" else (lambda: margins.energy_of(model, state))
    )
    place_datum(state, n, old)
    before = energy()
    lift_datum(state, n)
    place_datum(state, n, new)
    return log_ell(new.log_weights, log_f) - log_ell(old.log_weights, log_f) - energy() + before


def mh_path(rng: np.random.Generator, model: Model, state: State, n: int) -> None:
    """Metropolis with the nCRP proposal, then a component; with `sampler="paper"` the printed ratio."""
    old = state.leaf[n]
    remove_datum(model, state, n)
    new = propose_path(rng, model, state)
    if not accepts(rng, mh_log_ratio(model, state, n, old, new)):
        lift_datum(state, n)
        place_datum(state, n, old)
    leaf = state.leaf[n]
    draw_component(rng, model, state, n, leaf.log_weights, log_components(model, state, n), leaf.path())


def sweep_paths(rng: np.random.Generator, model: Model, state: State) -> None:
    """Every datum once, in random order."""
    move = gibbs_path if model.path == "gibbs" and model.sampler == "exact" else mh_path
    for n in rng.permutation(len(state.leaf)):
        move(rng, model, state, int(n))

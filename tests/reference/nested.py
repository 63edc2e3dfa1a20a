"""Slow, clear twin of nested hierarchies (BHMC, RBHMC): nodes as objects, states, their joint density and scores.

Formulas: docs/theory/nested-hierarchies.md. Weights of a node are logs: components 0..K-1 first, then the remainder.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from reference.crosscat import relabel


class Model(NamedTuple):
    """Data and fixed settings; what can be learned stands in the state."""

    data: np.ndarray
    depth: int = 2
    strength: float = 0.0
    """C."""
    margin: float = 1.0
    """eps0."""
    penalty: str = "max"
    margin_data: np.ndarray | None = None
    """What zeta multiplies the discriminants with, where it is not the data."""
    n_components: int | None = None
    """Of the finite variant."""
    log_marginal: Callable[[np.ndarray], float] | None = None
    """Of a block of rows: the means are integrated out where it is given."""
    hyperpriors: dict[str, tuple[float, float]] = {}  # noqa: RUF012 (never changed)
    """(shape, rate) of alpha, gamma, gamma0 (Gamma) and s2, h2, nu2 (inverse gamma), of those that are learned."""
    n_auxiliary: int = 3
    regraft: bool = True
    path: str = "gibbs"
    sampler: str = "exact"

    @property
    def margin_rows(self) -> np.ndarray:
        """Rows of zeta."""
        return self.data if self.margin_data is None else self.margin_data


class Node:
    """A node of the tree."""

    def __init__(self, parent: "Node | None", level: int):
        self.parent, self.level = parent, level
        self.children: list[Node] = []
        self.count = 0
        self.log_weights = np.zeros(0)
        self.eta = np.zeros(0)
        self.customers = np.zeros(0)
        """n_zk, only during the pass over the weights."""
        self.tables = np.zeros(0)

    def path(self) -> list["Node"]:
        """From the root to this node."""
        found = [self]
        while found[-1].parent is not None:
            found.append(found[-1].parent)
        return found[::-1]


class State:
    """A tree with weights and discriminants, components of the data, and numbers."""

    def __init__(self, root: Node, leaf: list[Node], components: list[int], theta: list[np.ndarray], **numbers: float):
        self.root, self.leaf, self.components, self.theta = root, leaf, components, theta
        self.numbers = {"s2": 1.0, "h2": 1.0, "nu2": 1.0, **numbers}

    def __getattr__(self, name: str) -> float:
        if name == "numbers" or name not in self.numbers:
            raise AttributeError(name)
        return self.numbers[name]

    @property
    def n_components(self) -> int:
        """K, with the empty ones of the finite variant."""
        return len(self.root.log_weights) - 1


def nodes_of(root: Node) -> list[Node]:
    """All nodes, level by level."""
    found, level = [], [root]
    while level:
        found += level
        level = [child for node in level for child in node.children]
    return found


def at_level(state: State, level: int) -> list[Node]:
    """Nodes of one level."""
    return [node for node in nodes_of(state.root) if node.level == level]


def siblings(node: Node) -> list[Node]:
    """Other children of the parent."""
    return [] if node.parent is None else [other for other in node.parent.children if other is not node]


def link(node: Node) -> None:
    """Make a node a child of its parent."""
    if node.parent is not None and node not in node.parent.children:
        node.parent.children.append(node)


def tree_from_levels(levels: Sequence[Sequence[int]]) -> tuple[Node, list[Node]]:
    """Root, and the leaf of each datum, of labels given level by level."""
    root = Node(None, 0)
    made: dict[tuple[int, int], Node] = {}
    leaves = []
    for labels in zip(*levels, strict=True):
        node = root
        node.count += 1
        for level, label in enumerate(labels, start=1):
            child = made.setdefault((level, int(label)), Node(node, level))
            link(child)
            child.count += 1
            node = child
        leaves.append(node)
    return root, leaves


def levels_of(state: State) -> tuple[tuple[int, ...], ...]:
    """Labels of the data at levels 1..L, by first appearance."""
    paths = [[id(node) for node in leaf.path()[1:]] for leaf in state.leaf]
    return tuple(relabel(column) for column in zip(*paths, strict=True))


def tree_key(levels: Sequence[Sequence[int]]) -> str:
    """The golden file's name of a tree."""
    return "|".join("".join(map(str, labels)) for labels in levels)


# Densities


def log_sum_exp(values) -> float:
    """log of the sum of exponentials; -inf for none."""
    top = max(values, default=-math.inf)
    if top == -math.inf:
        return -math.inf
    return top + math.log(math.fsum(math.exp(value - top) for value in values))


def log_normal(x, mean, variance: float) -> float:
    """Isotropic Gaussian log density."""
    gap = np.asarray(x) - mean
    return -0.5 * (gap.size * math.log(2.0 * math.pi * variance) + float(gap @ gap) / variance)


def log_block_normal(rows: np.ndarray, s2: float, h2: float) -> float:
    """Log marginal of the rows of one component, its mean integrated out."""
    n, total = len(rows), 0.0
    for column in np.asarray(rows, float).T:
        covariance = s2 * np.eye(n) + h2
        distance = float(column @ np.linalg.solve(covariance, column))
        total -= 0.5 * (n * math.log(2.0 * math.pi) + float(np.linalg.slogdet(covariance)[1]) + distance)
    return total


def log_components(model: Model, state: State, n: int) -> np.ndarray:
    """log f_1..f_K and f_*: densities of datum n under each component, its own membership left out."""
    x, k_all = model.data[n], range(state.n_components)
    if model.log_marginal is None:
        known = [log_normal(x, state.theta[k], state.s2) for k in k_all]
        return np.array([*known, log_normal(x, 0.0, state.s2 + state.h2)])
    blocks = [[m for m, c in enumerate(state.components) if c == k and m != n] for k in k_all]
    found = []
    for block in [*blocks, []]:
        alone = model.log_marginal(model.data[block]) if block else 0.0
        found.append(model.log_marginal(model.data[[*block, n]]) - alone)
    return np.array(found)


def log_ell(log_weights: np.ndarray, log_f: np.ndarray) -> float:
    """log of sum_k b_k f_k + b* f_*."""
    return log_sum_exp((log_weights + log_f).tolist())


def log_p_tree(root: Node, depth: int, alpha: float) -> float:
    """log p(V)."""
    total = 0.0
    for node in nodes_of(root):
        if node.level < depth:
            total += math.lgamma(alpha) - math.lgamma(node.count + alpha) + len(node.children) * math.log(alpha)
            total += math.fsum(math.lgamma(child.count) for child in node.children)
    return total


def log_dirichlet_density(log_weights: np.ndarray, log_params: np.ndarray) -> float:
    """In d beta / beta, finite where weights underflow; coordinates without parameter or weight are left out."""
    total = math.lgamma(float(np.exp(log_params).sum()))
    for value, log_a in zip(log_weights.tolist(), log_params.tolist(), strict=True):
        if log_a > -math.inf and value > -math.inf:
            a = math.exp(log_a)
            total += a * value + (log_a if a < 1e-290 else -math.lgamma(a))  # Gamma(a) is 1 / a for tiny a
    return total


def log_weights_density(model: Model, state: State) -> float:
    """Density of all weights in d beta / beta; the root's is that of the components in use, their atoms not ordered.

    gamma0^K b*^gamma0 d b / b integrates, with the data's factors b_c, to Ewens' law of the partition.
    """
    root = state.root.log_weights
    if model.n_components is not None:
        log_share = math.log(state.gamma0 / model.n_components)
        total = log_dirichlet_density(root, np.append(np.full(model.n_components, log_share), -math.inf))
    else:
        total = (len(root) - 1) * math.log(state.gamma0) + state.gamma0 * root[-1]
    for node in nodes_of(state.root)[1:]:
        total += log_dirichlet_density(node.log_weights, math.log(state.gamma) + node.parent.log_weights)
    return total


def log_gamma_density(x: float, shape: float, rate: float) -> float:
    """Gamma log density."""
    return shape * math.log(rate) - math.lgamma(shape) + (shape - 1.0) * math.log(x) - rate * x


def log_hyperpriors(model: Model, state: State) -> float:
    """Gamma priors of concentrations, inverse gamma priors of variances."""
    total = 0.0
    for name, (shape, rate) in model.hyperpriors.items():
        value = state.numbers[name]
        if name in ("s2", "h2", "nu2"):
            total += log_gamma_density(1.0 / value, shape, rate) - 2.0 * math.log(value)
        else:
            total += log_gamma_density(value, shape, rate)
    return total


def log_data(model: Model, state: State) -> float:
    """log p(theta) p(X | c, theta), or the marginal of the blocks."""
    if model.log_marginal is not None:
        blocks = [[n for n, c in enumerate(state.components) if c == k] for k in sorted(set(state.components))]
        return math.fsum(model.log_marginal(model.data[block]) for block in blocks)
    total = math.fsum(log_normal(theta, 0.0, state.h2) for theta in state.theta)
    return total + math.fsum(
        log_normal(x, state.theta[c], state.s2) for x, c in zip(model.data, state.components, strict=True)
    )


def log_joint(model: Model, state: State, energy: float = 0.0, *, with_eta: bool = False) -> float:
    """Log of the target's density at a state, hyperpriors included; `energy` is -log R."""
    total = log_p_tree(state.root, model.depth, state.alpha) + log_weights_density(model, state)
    total += math.fsum(leaf.log_weights[c] for leaf, c in zip(state.leaf, state.components, strict=True))
    total += log_data(model, state) + log_hyperpriors(model, state) - energy
    if with_eta:
        total += math.fsum(log_normal(node.eta, 0.0, state.nu2) for node in nodes_of(state.root)[1:])
    return total


def log_complete_likelihood(model: Model, state: State) -> float:
    """log CDL."""
    total = log_p_tree(state.root, model.depth, state.alpha)
    for x, leaf, c in zip(model.data, state.leaf, state.components, strict=True):
        total += leaf.log_weights[c] + log_normal(x, state.theta[c], state.s2)
    return total


def log_predictive(model: Model, state: State, x: np.ndarray) -> float:
    """log p(x) of a new datum at C = 0, means as in the state."""
    known = [log_normal(x, theta, state.s2) for theta in state.theta]
    log_f = np.array([*known, log_normal(x, 0.0, state.s2 + state.h2)])
    terms = []
    reach = {state.root: 0.0}
    for node in nodes_of(state.root):
        if node.level == model.depth:
            terms.append(reach[node] + log_ell(node.log_weights, log_f))
            continue
        log_total = math.log(node.count + state.alpha)
        terms.append(reach[node] + math.log(state.alpha) - log_total + log_ell(node.log_weights, log_f))
        for child in node.children:
            reach[child] = reach[node] + math.log(child.count) - log_total
    return log_sum_exp(terms)


def faults(model: Model, state: State) -> str:
    """What is wrong with a state, or nothing."""
    nodes = nodes_of(state.root)
    for node in nodes:
        through = sum(node in leaf.path() for leaf in state.leaf)
        if node.count != through or through == 0:
            return f"node at level {node.level} counts {node.count}, {through} data pass"
        if abs(math.exp(log_sum_exp(node.log_weights.tolist())) - 1.0) > 1e-10:
            return f"weights sum to {np.exp(node.log_weights).sum()}"
        if len(node.log_weights) != state.n_components + 1:
            return "a node with another number of components"
    if model.n_components is None and sorted(set(state.components)) != list(range(state.n_components)):
        return f"components {state.components} of {state.n_components}"
    if any(leaf.level != model.depth or leaf not in nodes for leaf in state.leaf):
        return "a datum at a leaf that is not there"
    return ""

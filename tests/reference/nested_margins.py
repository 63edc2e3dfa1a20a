"""Slow, clear twin of the penalties of RBHMC and of the moves of the discriminants."""

import math
from functools import cache

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import log_ndtr
from scipy.stats import norm

from reference.nested import Model, Node, State, log_normal, nodes_of, siblings


def gaps_by_level(model: Model, n: int, path: list[Node], extra: Node | None = None) -> list[list[tuple]]:
    """(zeta, own node, sibling) of a datum with this path, level by level; `extra` is one more child of its parent."""
    x, found = model.margin_rows[n], []
    for node in path[1:]:
        others = siblings(node)
        if extra is not None and extra.parent is node.parent and extra not in (node, *others):
            others.append(extra)
        found.append([(model.margin - float((node.eta - other.eta) @ x), node, other) for other in others])
    return found


def log_chances(strength: float, margins: np.ndarray, spread: float) -> np.ndarray:
    """log E exp(-2C max(0, zeta)), zeta normal with mean eps0, one of `margins`, and standard deviation `spread`."""
    if spread == 0.0:
        return -2.0 * strength * np.maximum(0.0, margins)
    far = -2.0 * strength * margins + 2.0 * (strength * spread) ** 2
    return np.logaddexp(log_ndtr(-margins / spread), far + log_ndtr(margins / spread - 2.0 * strength * spread))


@cache
def log_chance(strength: float, margin: float, spread: float) -> float:
    """The same for one margin."""
    return float(log_chances(strength, np.float64(margin), spread))


@cache
def log_chance_max(strength: float, margin: float, spread: float, n_siblings: int) -> float:
    """log g of the largest of several gaps that share one's own discriminant: 401-point trapezium."""
    t = np.linspace(-7.0, 7.0, 401)
    inner = np.exp(log_chances(strength, margin + spread * t, spread))
    density = n_siblings * norm.pdf(t) * norm.cdf(t) ** (n_siblings - 1)
    return math.log(float(trapezoid(density * inner, t)))


def log_g(model: Model, state: State, n: int, n_siblings: int) -> float:
    """What a level with so many siblings adds to the energy of a datum besides its hinges."""
    if not model.penalty.startswith("chance"):
        return 0.0
    length = math.sqrt(state.nu2 * float(model.margin_rows[n] @ model.margin_rows[n]))
    if model.penalty == "chance":
        return n_siblings * log_chance(model.strength, model.margin, math.sqrt(2.0) * length)
    return log_chance_max(model.strength, model.margin, length, n_siblings)


def hinge(gaps: list[list[tuple]]) -> float:
    """h_n: the largest gap of all levels, or 0."""
    return max((gap for level in gaps for gap, *_ in level if gap > 0.0), default=0.0)


def datum_energy(model: Model, state: State, n: int, gaps: list[list[tuple]]) -> float:
    """-log of the factor of datum n in R or R~."""
    twice = 2.0 * model.strength
    if twice == 0.0:
        return 0.0
    if model.penalty == "max":
        return twice * hinge(gaps)
    total = 0.0
    for level in filter(None, gaps):
        total += log_g(model, state, n, len(level))
        if model.penalty in ("level-max", "chance-max"):
            total += twice * hinge([level])
        else:
            total += twice * math.fsum(max(0.0, gap) for gap, *_ in level)
    return total


def energy_of(model: Model, state: State, data=None) -> float:
    """-log R over all data, or over those named."""
    if model.strength == 0.0:
        return 0.0
    rows = range(len(state.leaf)) if data is None else data
    return math.fsum(datum_energy(model, state, n, gaps_by_level(model, n, state.leaf[n].path())) for n in rows)


def hinges(model: Model, state: State) -> list[float]:
    """h_n of every datum."""
    return [hinge(gaps_by_level(model, n, leaf.path())) for n, leaf in enumerate(state.leaf)]


def draw_eta(rng: np.random.Generator, model: Model, state: State) -> np.ndarray:
    """A discriminant from the prior."""
    return math.sqrt(state.nu2) * rng.normal(size=model.margin_rows.shape[1])


# 5.1


def slice_discriminants(rng: np.random.Generator, model: Model, state: State) -> None:
    """Elliptical slice sampling of all discriminants together."""
    nodes = nodes_of(state.root)[1:]
    now, other = [node.eta for node in nodes], [draw_eta(rng, model, state) for _ in nodes]
    bound = -energy_of(model, state) + math.log(1.0 - rng.random())
    angle = 2.0 * math.pi * rng.random()
    low, high = angle - 2.0 * math.pi, angle
    while True:
        for node, first, second in zip(nodes, now, other, strict=True):
            node.eta = math.cos(angle) * first + math.sin(angle) * second
        if -energy_of(model, state) > bound or high - low < 1e-12:
            return
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * rng.random()


# 5.2, 5.3, 10


def draw_lambda(rng: np.random.Generator, distance: float) -> float:
    """GIG(1/2, 1, d^2) without 1/d."""
    nu = rng.normal() ** 2
    big = distance + nu / 2.0 + math.sqrt(nu) * math.sqrt(distance + nu / 4.0)
    if distance == 0.0:
        return nu
    return big if rng.random() * (big + distance) < big else distance * (distance / big)


def active_constraint(model: Model, state: State, n: int) -> tuple | None:
    """(zeta, own node, sibling) of the largest gap, None without siblings."""
    gaps = [gap for level in gaps_by_level(model, n, state.leaf[n].path()) for gap in level]
    return max(gaps, key=lambda gap: gap[0], default=None)


def conditional_of_eta(model: Model, state: State, node: Node, constraints: list[tuple]) -> tuple:
    """Precision and mean of a discriminant given (n, own, sibling, lambda) of all constraints."""
    c, eps = model.strength, model.margin
    dimension = model.margin_rows.shape[1]
    precision, b = np.eye(dimension) / state.nu2, np.zeros(dimension)
    for n, own, other, lam in constraints:
        x = model.margin_rows[n]
        if node is own:
            b += c / lam * (lam + c * eps + c * float(other.eta @ x)) * x
        elif node is other:
            b -= c / lam * (lam + c * eps - c * float(own.eta @ x)) * x
        else:
            continue
        precision += c * c / lam * np.outer(x, x)
    return precision, np.linalg.solve(precision, b)


def draw_normal(rng: np.random.Generator, precision: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """N(mean, precision^-1)."""
    return mean + np.linalg.solve(np.linalg.cholesky(precision).T, rng.normal(size=len(mean)))


def log_proposal(precision: np.ndarray, mean: np.ndarray, value: np.ndarray) -> float:
    """Log density of N(mean, precision^-1) up to pi's."""
    gap = value - mean
    return 0.5 * float(np.linalg.slogdet(precision)[1]) - 0.5 * float(gap @ precision @ gap)


def augmented_constraints(model: Model, state: State, lambdas: dict[int, float]) -> list[tuple]:
    """Active constraints of the data that have a lambda."""
    found = []
    for n, lam in lambdas.items():
        _, own, other = active_constraint(model, state, n)
        found.append((n, own, other, lam))
    return found


def log_augmented(model: Model, state: State, lambdas: dict[int, float]) -> float:
    """log pi(eta | lambda) of 5.2."""
    total = math.fsum(log_normal(node.eta, 0.0, state.nu2) for node in nodes_of(state.root)[1:])
    for n, lam in lambdas.items():
        gap = active_constraint(model, state, n)[0]
        total -= (lam + model.strength * gap) ** 2 / (2.0 * lam)
    return total


def draw_lambdas(rng: np.random.Generator, model: Model, state: State) -> dict[int, float]:
    """One lambda for each datum that has a constraint."""
    found = {}
    for n in range(len(state.leaf)):
        active = active_constraint(model, state, n)
        if active is not None:
            found[n] = draw_lambda(rng, abs(model.strength * active[0]))
    return found


def augmented_discriminants(rng: np.random.Generator, model: Model, state: State, *, test: bool = True) -> int:
    """Data augmentation; without `test` the printed update. Gives the number of accepted proposals."""
    lambdas, accepted = draw_lambdas(rng, model, state), 0
    for node in nodes_of(state.root)[1:]:
        before = node.eta
        forward = conditional_of_eta(model, state, node, augmented_constraints(model, state, lambdas))
        log_before = log_augmented(model, state, lambdas)
        node.eta = draw_normal(rng, *forward)
        if test:
            backward = conditional_of_eta(model, state, node, augmented_constraints(model, state, lambdas))
            log_ratio = log_augmented(model, state, lambdas) - log_before
            log_ratio += log_proposal(*backward, before) - log_proposal(*forward, node.eta)
            if math.log(1.0 - rng.random()) >= log_ratio:
                node.eta = before
                continue
        accepted += 1
    return accepted


def printed_discriminants(rng: np.random.Generator, model: Model, state: State) -> None:
    """As printed: active constraints taken once from the state, then each discriminant from its Gaussian, untested."""
    constraints = augmented_constraints(model, state, draw_lambdas(rng, model, state))
    for node in nodes_of(state.root)[1:]:
        node.eta = draw_normal(rng, *conditional_of_eta(model, state, node, constraints))


def gibbs_discriminants(rng: np.random.Generator, model: Model, state: State) -> None:
    """Polson and Scott's Gibbs update, one lambda per constraint: exact for "sum" and "chance"."""
    constraints = []
    for n, leaf in enumerate(state.leaf):
        for gap, own, other in (gap for level in gaps_by_level(model, n, leaf.path()) for gap in level):
            constraints.append((n, own, other, draw_lambda(rng, abs(model.strength * gap))))
    for node in nodes_of(state.root)[1:]:
        node.eta = draw_normal(rng, *conditional_of_eta(model, state, node, constraints))

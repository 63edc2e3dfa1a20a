"""Nested hierarchies as generative models, for Geweke's test: truths by 80 sticks, data, functionals.

With a penalty the discriminants see fixed rows, not the data: the joint law is p(V, eta) R(V, eta) times the rest,
which rejection can draw from. Truths are arrays as the sampler packs them.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.bernoulli import BernoulliPrior
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.multinomial import MultinomialPrior
from bayesgrove.models.nested.component_models import collapsed
from bayesgrove.models.nested.packing import stream_to_array
from bayesgrove.models.nested.penalty import PENALTIES
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.target import NO_PENALTY, VALUE_NAMES, make_target, sampled_means
from reference.crosscat import relabel
from reference.nested import Model, State, nodes_of, tree_from_levels
from reference.nested_margins import energy_of, log_g

N_STICKS = 80
NUMBERS = {
    "alpha": 0.8,
    "gamma": 1.2,
    "gamma0": 0.9,
    "component_variance": 1.0,
    "base_variance": 1.0,
    "discriminant_variance": 1.0,
}
GAMMA_PRIORS = {"alpha": (2.0, 2.0), "gamma": (3.0, 2.0), "gamma0": (2.0, 1.5)}
VARIANCE_PRIORS = {"component_variance": (4.0, 3.0), "base_variance": (5.0, 4.0), "discriminant_variance": (6.0, 5.0)}
"""Shape 5 and more would not do for fourth moments of the data: functionals of them are drawn in."""
MARGIN_ROWS = np.array([[1.2, 0.3], [0.4, 1.0], [-1.1, 0.5], [-0.3, -0.9], [0.8, -0.7]])


VARIANCES_TRIED = (1e-3, 0.1, 1.0, 3.0, 10.0, 30.0)
"""Of the discriminants: what chance costs per sibling is least at an end, and draws are above 30 with 3e-8."""


@cache
def least_log_chance(n_rows: int, strength: float, margin: float, penalty: str, variances: tuple[float, ...]) -> float:
    """A bound below what all data pay by chance, whatever the tree and the variance.

    One number for all variances: a bound that follows a learned variance would give its draws another law.
    """
    model = Model(MARGIN_ROWS[:n_rows], 1, strength=strength, margin=margin, penalty=penalty)
    root, leaves = tree_from_levels([[0] * n_rows])
    states = [State(root, leaves, [], [], nu2=variance) for variance in variances]
    # A level with j siblings multiplies by 1 / g_nj at most, and a path has at most n - 1 siblings.
    per_sibling = [
        min(log_g(model, state, n, j) / j for j in range(1, n_rows) for state in states) for n in range(n_rows)
    ]
    return (n_rows - 1) * math.fsum(per_sibling)


class Truth(NamedTuple):
    """Arrays by name, as the sampler packs them."""

    arrays: dict[str, np.ndarray]


def draw_paths(rng: np.random.Generator, n_rows: int, depth: int, alpha: float) -> np.ndarray:
    """Paths by the nCRP, numbered by first appearance within each level."""
    counts: dict[tuple[int, ...], int] = {}
    paths = []
    for _ in range(n_rows):
        path: tuple[int, ...] = ()
        for _ in range(depth):
            options = [known for known in counts if known[:-1] == path and len(known) == len(path) + 1]
            weights = np.array([*(counts[known] for known in options), alpha], float)
            chosen = int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right"))
            path = options[chosen] if chosen < len(options) else (*path, len(options))
            counts.setdefault(path, 0)
        for level in range(1, depth + 1):
            counts[path[:level]] += 1
        paths.append(path)
    columns = [relabel([path[: level + 1] for path in paths]) for level in range(depth)]
    return np.array(columns, np.int32).T.reshape(n_rows, depth)


def parents_of(paths: np.ndarray) -> list[int]:
    """Parent of each node below the root, in normal order: root, then level by level by first appearance."""
    parents, first = [], 1
    above = np.zeros(len(paths), int)
    for labels in paths.T:
        n_here = int(labels.max()) + 1
        for label in range(n_here):
            parents.append(int(above[np.flatnonzero(labels == label)[0]]))
        above = first + labels
        first += n_here
    return parents


def draw_sticks(rng: np.random.Generator, gamma0: float, n_components: int) -> np.ndarray:
    """The root's weights: broken sticks, the last of which is all that is left, or a finite Dirichlet."""
    if n_components:
        return draw_dirichlet(rng, np.full(n_components, gamma0 / n_components))
    shares = rng.beta(1.0, gamma0, N_STICKS)
    shares[-1] = 1.0
    return shares * np.cumprod(np.concatenate([[1.0], 1.0 - shares[:-1]]))


def draw_dirichlet(rng: np.random.Generator, params: np.ndarray) -> np.ndarray:
    """A Dirichlet draw, right for tiny parameters, 0 for those that are 0."""
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.log(rng.standard_gamma(params + 1.0)) - rng.standard_exponential(params.size) / params
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


@dataclass(frozen=True)
class NestedModel:
    """A few data of one or two dimensions.

    Attributes
    ----------
    free : tuple of str
        Numbers that are learned.
    family : str
        "sampled" Gaussian means, or a likelihood whose parameters are integrated out.
    penalty : str
        "" for none.
    """

    free: tuple[str, ...] = ()
    depth: int = 2
    n_rows: int = 5
    family: str = "sampled"
    n_components: int = 0
    penalty: str = ""
    strength: float = 0.0
    margin: float = 0.5
    numbers: dict[str, float] = field(default_factory=lambda: dict(NUMBERS))
    sampler_options: dict = field(default_factory=dict)

    # ---- truths

    def draw_numbers(self, rng: np.random.Generator) -> dict[str, float]:
        """All numbers, those that are free from their priors."""
        numbers = dict(self.numbers)
        for name in self.free:
            if name in GAMMA_PRIORS:
                shape, rate = GAMMA_PRIORS[name]
                numbers[name] = rng.gamma(shape) / rate
            else:
                shape, rate = VARIANCE_PRIORS[name]
                numbers[name] = rate / rng.gamma(shape)
        return numbers

    def draw_tree(self, rng: np.random.Generator) -> tuple[dict[str, float], np.ndarray, np.ndarray]:
        """Numbers, paths and discriminants, by rejection where there is a penalty."""
        while True:
            numbers = self.draw_numbers(rng)
            paths = draw_paths(rng, self.n_rows, self.depth, numbers["alpha"])
            scale = math.sqrt(numbers["discriminant_variance"])
            etas = scale * rng.normal(size=(len(parents_of(paths)), MARGIN_ROWS.shape[1]))
            if self.strength == 0.0 or -rng.exponential() < self.log_penalty(numbers, paths, etas):
                return numbers, paths, etas

    def log_penalty(self, numbers: dict[str, float], paths: np.ndarray, etas: np.ndarray) -> float:
        """log R, less a bound of it over all trees where chance is divided out."""
        model = Model(
            MARGIN_ROWS[: self.n_rows], self.depth, strength=self.strength, margin=self.margin, penalty=self.penalty
        )
        root, leaves = tree_from_levels(paths.T)
        state = State(root, leaves, [], [], nu2=numbers["discriminant_variance"])
        for node, eta in zip(nodes_of(root)[1:], etas, strict=True):
            node.eta = eta  # any order will do: they are exchangeable
        energy = energy_of(model, state)
        if not self.penalty.startswith("chance"):
            return -energy
        variances = VARIANCES_TRIED if "discriminant_variance" in self.free else (numbers["discriminant_variance"],)
        return -energy + least_log_chance(self.n_rows, self.strength, self.margin, self.penalty, variances)

    def draw_prior(self, rng: np.random.Generator) -> Truth:
        """Everything but the data."""
        numbers, paths, etas = self.draw_tree(rng)
        weights = [draw_sticks(rng, numbers["gamma0"], self.n_components)]
        for parent in parents_of(paths):
            weights.append(draw_dirichlet(rng, numbers["gamma"] * weights[parent]))
        first_leaf = len(weights) - int(paths[:, -1].max()) - 1
        sticks = [
            int(np.searchsorted(np.cumsum(row := weights[first_leaf + leaf]), rng.random() * row.sum()))
            for leaf in paths[:, -1]
        ]
        components = np.array(relabel(sticks), np.int32)
        order = list(dict.fromkeys(sticks))
        if self.n_components:
            order += [k for k in range(self.n_components) if k not in order]
        arrays = {
            "paths": paths,
            "components": components,
            "log_weights": self.log_weights(np.array(weights), order),
            "values": np.array([numbers[name] for name in VALUE_NAMES]),
        }
        if self.family == "sampled":
            arrays["means"] = math.sqrt(numbers["base_variance"]) * rng.normal(size=(len(order), 1))
        if self.penalty:
            arrays["discriminants"] = self.in_normal_order(paths, etas)
            arrays["stream"] = stream_to_array(generator(int(rng.integers(2**63))))
        return Truth(arrays)

    def in_normal_order(self, paths: np.ndarray, etas: np.ndarray) -> np.ndarray:
        """Discriminants by level and first appearance; the tree's own order is that of a walk by levels."""
        root, leaves = tree_from_levels(paths.T)
        place = {node: row for row, node in enumerate(nodes_of(root)[1:])}
        found = [
            place[node]
            for level in range(1, self.depth + 1)
            for node in dict.fromkeys(leaf.path()[level] for leaf in leaves)
        ]
        return etas[found]

    def log_weights(self, weights: np.ndarray, order: list[int]) -> np.ndarray:
        """Remainder first, then the components in order."""
        rest = np.delete(weights, order, axis=1).sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.log(np.concatenate([rest, weights[:, order]], axis=1))

    # ---- data

    def draw_data(self, rng: np.random.Generator, truth: Truth) -> np.ndarray:
        """Data given the components, and given the means where they are part of the state."""
        components = truth.arrays["components"]
        if self.family == "sampled":
            deviation = math.sqrt(truth.arrays["values"][VALUE_NAMES.index("component_variance")])
            return truth.arrays["means"][components] + deviation * rng.normal(size=(self.n_rows, 1))
        draw = {"bernoulli": draw_bernoulli, "diagonal": draw_diagonal, "multinomial": draw_multinomial}[self.family]
        return draw(rng, components)

    def sampler(self, data: np.ndarray) -> NestedSampler:
        hyperpriors = np.full((len(VALUE_NAMES), 2), np.nan)
        for name in self.free:
            hyperpriors[VALUE_NAMES.index(name)] = (GAMMA_PRIORS | VARIANCE_PRIORS)[name]
        target = make_target(
            data,
            self.law(data),
            depth=self.depth,
            values=[self.numbers[name] for name in VALUE_NAMES],
            hyperpriors=hyperpriors,
            n_components=self.n_components,
            penalty=PENALTIES[self.penalty] if self.penalty else NO_PENALTY,
            strength=self.strength,
            margin=self.margin,
            margin_data=MARGIN_ROWS[: self.n_rows] if self.penalty else None,
        )
        return NestedSampler(target, **self.sampler_options)

    def law(self, data: np.ndarray):
        """What the components are."""
        return sampled_means(data) if self.family == "sampled" else collapsed(PRIORS[self.family], data)

    def state_from(self, sampler: NestedSampler, truth: Truth):
        return sampler.unpack(truth.arrays)

    def redraw_data(self, rng: np.random.Generator, sampler: NestedSampler, state):
        mixture = state.mixture
        truth = Truth({"components": mixture.component, "means": mixture.rows, "values": state.values})
        data = self.draw_data(rng, truth)  # slots as they are: labels do not matter
        sampler = replace(sampler, target=sampler.target._replace(data=data, law=self.law(data)))
        if self.family != "sampled":
            sampler.refresh(state)  # statistics of the components
        return sampler, state

    # ---- functionals

    def summarise(self, sampler: NestedSampler, state) -> dict[str, float]:
        """Means exist: heavy tails are drawn in."""
        drawn = sampler.draw(state)
        paths, components, weights = drawn["paths"], drawn["components"], np.exp(drawn["log_weights"])
        starts = np.cumsum([0, 1, *(paths.max(axis=0) + 1)])
        first, leaf = weights[starts[1] + paths[0, 0]], weights[starts[self.depth] + paths[0, -1]]
        other = weights[starts[self.depth] + paths[-1, -1]]
        data = sampler.target.data
        x, z = data[:, 0], data[:, -1]
        found = {
            "level-1 nodes": float(paths[:, 0].max() + 1),
            "leaves": float(paths[:, -1].max() + 1),
            "components": float(components.max() + 1),
            "largest component": float(np.bincount(components).max()),
            "largest level-1 node": float(np.bincount(paths[:, 0]).max()),
            "root's remainder": float(weights[0, 0]),
            "level 1's remainder": float(first[0]),
            "leaf's remainder": float(leaf[0]),
            "root's squares": float((weights[0, 1:] ** 2).sum()),
            "level 1's squares": float((first[1:] ** 2).sum()),
            "leaf's squares": float((leaf[1:] ** 2).sum()),
            "own weight": float(leaf[components[0] + 1]),
            "weight of another": float(other[components[0] + 1]),
            "root and leaf": float((weights[0] * leaf).sum()),
            "same leaf": float(paths[0, -1] == paths[1, -1]),
            "same component": float(components[0] == components[1]),
            "leaf and component": float((paths[0, -1] == paths[1, -1]) and components[0] == components[1]),
            "x squared": math.tanh(float((x**2).mean()) / 4.0),
            "mean of x": math.tanh(float(x.mean()) / 2.0),
            "first and last": math.tanh(float(x[0] * z[-1]) / 2.0),
            "x of components": math.tanh(float(x[0] * x[1]) / 2.0) * (components[0] == components[1]),
        }
        if self.family == "sampled":
            means = drawn["means"][:, 0]
            found["mean squared"] = math.tanh(float((means**2).mean()) / 4.0)
            found["mean and x"] = math.tanh(float(means[components[0]] * x[0]) / 2.0)
        for name in self.free:
            found[f"log {name}"] = math.log(float(drawn["values"][VALUE_NAMES.index(name)]))
        if self.penalty:
            eta = drawn["discriminants"]
            own, rows = eta[paths[:, 0]], sampler.target.margin_data
            found["eta squared"] = float((eta**2).mean())
            found["scores of level 1"] = float((own * rows).sum(axis=1).mean())
            found["scores of leaves"] = float((eta[starts[self.depth] - 1 + paths[:, -1]] * rows).sum(axis=1).mean())
        return found

    def with_(self, **changes) -> "NestedModel":
        """The same with other settings."""
        return replace(self, **changes)


PRIORS = {
    "bernoulli": BernoulliPrior(np.array([0.6, 1.2]), np.array([0.9, 0.5])),
    "diagonal": GaussianDiagonalPrior(np.array([0.2]), np.array([0.6]), np.array([3.0]), np.array([2.0]), np.zeros(1)),
    "multinomial": MultinomialPrior(np.array([0.6, 0.8, 1.1])),
}
N_WORDS = 4


def draw_bernoulli(rng: np.random.Generator, components: np.ndarray) -> np.ndarray:
    """Cells of components with chances from their prior."""
    a, b = PRIORS["bernoulli"]
    chances = rng.beta(a, b, (int(components.max()) + 1, a.size))
    return (rng.random((components.size, a.size)) < chances[components]).astype(float)


def draw_diagonal(rng: np.random.Generator, components: np.ndarray) -> np.ndarray:
    """Cells of Gaussian components with means and variances from their prior."""
    mean, strength, shape, rate = PRIORS["diagonal"]
    size = (int(components.max()) + 1, mean.size)
    variances = rate / rng.gamma(np.broadcast_to(shape, size))
    means = mean + np.sqrt(variances / strength) * rng.normal(size=size)
    return means[components] + np.sqrt(variances[components]) * rng.normal(size=(components.size, mean.size))


def draw_multinomial(rng: np.random.Generator, components: np.ndarray) -> np.ndarray:
    """Documents of N_WORDS words."""
    (pseudo_counts,) = PRIORS["multinomial"]
    chances = rng.dirichlet(pseudo_counts, int(components.max()) + 1)
    return np.array([rng.multinomial(N_WORDS, chances[c]) for c in components], float)

"""Mixtures of hidden tree Markov models as generative models, for Geweke's test.

Three trees with one or two internal nodes; in "bottom_prior" their leaves are drawn with the labels, in the other modes
the shapes are fixed. Truths are arrays as the sampler packs them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesgrove.models.tree_hmm.gaussian import Gaussians, NormalGamma, density_rows, draw_moments
from bayesgrove.models.tree_hmm.links import Links
from bayesgrove.models.tree_hmm.mixture_target import ALL_NAMES, N_VALUES, Target, renumberings
from bayesgrove.models.tree_hmm.sampler import TreeMixtureSampler
from bayesgrove.models.tree_hmm.starts import LabelsStart
from bayesgrove.models.tree_hmm.tables import MODES, make_tables, stack
from bayesgrove.stats.processes import draw_crp
from reference.tree_hmm import Tables, draw_frontier, draw_labels, random_tables
from reference.tree_sets import PlainTree

L = C = M = 2
SKELETONS = (
    PlainTree([-1], [-1], [0], [True]),
    PlainTree([-1, -1], [-1, 0], [0, 1], [True, True]),
    PlainTree([-1, -1], [-1, 0], [0, 2], [True, True]),
)
SHAPES = (
    PlainTree([-1] * 2, [-1, 0], [0, 1], [True, False]),
    PlainTree([-1] * 3, [-1, 0, 0], [0, 1, 2], [True, False, False]),
    PlainTree([-1] * 4, [-1, 0, 1, 1], [0, 2, 1, 2], [True, True, False, False]),
)
GAUSSIAN = np.array([[0.3], [0.8], [4.0], [3.0]])
"""Mean, strength, shape and rate: four moments exist."""


class Truth(NamedTuple):
    """Arrays by name, as the sampler packs them."""

    arrays: dict[str, np.ndarray]


def links_of(trees):
    """Every node of the trees, the last first."""
    n_nodes = sum(len(tree.labels) for tree in trees)
    labels, leaf_positions = np.empty(n_nodes, np.int32), np.full(n_nodes, -1, np.int32)
    children, roots, offset = [[] for _ in range(n_nodes)], [], 0
    for tree in trees:
        roots.append(n_nodes - 1 - offset)
        for node, (label, parent, position, internal) in enumerate(zip(*tree, strict=True)):
            number = n_nodes - 1 - offset - node
            labels[number] = label
            if not internal:
                leaf_positions[number] = position
            if parent >= 0:
                children[n_nodes - 1 - offset - parent].append((position, number))
        offset += len(tree.labels)
    lists = [sorted(own) for own in children]
    flat = [entry for own in lists for entry in own]
    start = np.cumsum([0, *map(len, lists)])
    shares = [1.0 / [place for place, _ in own].count(position) for own in lists for position, _ in own]
    return Links(
        labels,
        leaf_positions,
        start.astype(np.int32),
        np.array([number for _, number in flat], np.int32),
        np.array([position for position, _ in flat], np.int32),
        np.array(shares, float),
        np.array(roots, np.int32),
    )


def twin_tables(arrays, component):
    """Tables of one component of a truth, in the twin's shapes."""
    return Tables(
        arrays["initial"][component],
        arrays["emission"][component].T,
        arrays["switching"][component],
        arrays["transition"][component],
    )


@dataclass(frozen=True)
class TreeModel:
    """Prior, data and sampler of three small trees.

    Attributes
    ----------
    free : tuple of str
        Numbers that are learned, under Gamma(2, 2) priors.
    continuous : bool
        Gaussian labels.
    infinite : bool
        Weights of the states from a Dirichlet law, rows around them; strengths are concentrations.
    """

    mode: str = "bottom_prior"
    free: tuple[str, ...] = ()
    continuous: bool = False
    infinite: bool = False
    strength: float = 1.5
    concentration: float = 1.0
    hyperprior: tuple[float, float] = (4.0, 3.0)

    # ---- truths

    def draw_values(self, rng):
        """Concentration and strengths, those that are free from their priors."""
        values = np.array([self.concentration, *[self.strength] * 4, 1.5, 2.0, 3.0])
        for name in self.free:
            values[ALL_NAMES.index(name)] = rng.gamma(self.hyperprior[0]) / self.hyperprior[1]
        return values

    def draw_prior(self, rng):
        values = self.draw_values(rng)
        labels = draw_crp(rng, len(SKELETONS), values[0])
        n_used = int(labels.max()) + 1
        weights = np.ones((n_used, C))
        if self.infinite:
            weights = np.maximum(rng.dirichlet(np.full(C, values[5] / C), n_used), 1e-50)
        drawn = [self.draw_tables(rng, values, shares) for shares in weights]
        names = ("initial", "emission", "switching", "transition", "log_scale")
        arrays = {"labels": labels, "values": values, "moments": np.zeros((n_used, C, 0, 2))}
        arrays |= dict(zip(names, stack([make_tables(*tables) for tables in drawn]), strict=True))
        if self.infinite:
            arrays["weights"] = weights
        if self.continuous:
            prior = Gaussians(NormalGamma(*GAUSSIAN), np.zeros((1, 1)))
            arrays["moments"] = draw_moments(rng, prior, np.zeros((n_used, 1, C)))
        return Truth(arrays)

    def draw_tables(self, rng, values, shares):
        """Tables of a component."""
        drawn = random_tables(rng, L, C, M, self.mode, values[1:5])
        if self.infinite:
            drawn.transition[:] = rng.dirichlet(values[4] * shares, drawn.transition.shape[:2])
            drawn.initial[:, :C] = rng.dirichlet(values[1] * shares, L + 1)
            if self.mode == "bottom_prior":
                drawn.initial[1:, C] = rng.beta(values[6], values[7], L)
                drawn.initial[1:, :C] *= 1.0 - drawn.initial[1:, C:]
        return drawn

    # ---- data

    def draw_data(self, rng, truth):
        """Trees, and their values where labels are continuous."""
        trees = []
        for label, skeleton, shape in zip(truth.arrays["labels"], SKELETONS, SHAPES, strict=True):
            tables = twin_tables(truth.arrays, label)
            if self.continuous:
                tables = tables._replace(emission=np.eye(C))  # labels are the states themselves, for now
            tree = draw_frontier(rng, skeleton, tables) if self.mode == "bottom_prior" else shape
            trees.append(draw_labels(rng, tree, tables, self.mode)[0])
        if not self.continuous:
            return trees, np.empty((0, 0))
        points, numbered = [], []
        for label, tree in zip(truth.arrays["labels"], trees, strict=True):
            first = len(points)
            moments = truth.arrays["moments"][label, tree.labels, 0]
            points += (moments[:, 0] + np.sqrt(moments[:, 1]) * rng.normal(size=len(moments))).tolist()
            numbered.append(tree._replace(labels=list(range(first, len(points)))))
        return numbered, np.array(points)[:, None]

    def target(self, data):
        trees, points = data
        hyperpriors = np.full((N_VALUES, 2), np.nan)
        for name in self.free:
            hyperpriors[ALL_NAMES.index(name)] = self.hyperprior
        n_rows = len(points) if self.continuous else M
        gaussian = GAUSSIAN if self.continuous else np.empty((4, 0))
        values = np.array([self.concentration, *[self.strength] * 4, 1.5, 2.0, 3.0])
        return Target(
            links_of(trees),
            MODES[self.mode],
            C,
            n_rows,
            L,
            values,
            hyperpriors,
            renumberings(C, is_infinite=self.infinite),
            points,
            gaussian,
            self.infinite,
        )

    def sampler(self, data):
        return TreeMixtureSampler(self.target(data), LabelsStart())

    def state_from(self, sampler, truth):
        arrays = dict(truth.arrays)
        if self.continuous:
            gaussians = Gaussians(NormalGamma(*GAUSSIAN), sampler.target.points)
            arrays["emission"], arrays["log_scale"] = density_rows(gaussians, arrays["moments"])
        return sampler.unpack(arrays)

    def redraw_data(self, rng, sampler, state):
        truth = Truth(sampler.pack(state))
        sampler = self.sampler(self.draw_data(rng, truth))
        return sampler, self.state_from(sampler, truth)

    # ---- functionals

    def summarise(self, sampler, state):
        """Scalars that the test compares; tables are those of the first tree's component."""
        row, links, components = state.labels[0], sampler.target.links, state.components
        n_nodes = float(links.labels.size)
        same = float(state.labels[0] == state.labels[1])
        root_label = self.root_label(sampler.target)
        mean = np.tanh(components.moments[row, 0, 0, 0]) if self.continuous else components.emission[row, 0, 0]
        own = {
            "b00": float(mean),
            "phi1": float(components.switching[row, 0]),
            "pi1": float(components.initial[row, 1, -1 if self.mode == "bottom_prior" else 0]),
            "A100": float(components.transition[row, 0, 0, 0]),
        }
        found = {"clusters": float(state.n_clusters), "same 1 2": same}
        for name, value in own.items():
            found |= {name: value, f"{name} squared": value * value}
        first_nodes = float(links.roots[0] - links.roots[1])
        found |= {
            "A bottom phi": float(components.transition[row, 0, 1 if self.mode == "renorm" else C, 0]) * own["phi1"],
            "labels": self.label_sum(sampler.target),
            "nodes": n_nodes,
            "b00 root": own["b00"] * root_label,
            "same nodes": same * (first_nodes - 1.0),
            "pi1 nodes": own["pi1"] * n_nodes,
            "log joint": float(np.tanh(sampler.scalars(state)["log_joint"] / 20.0)),
        }
        if self.infinite:
            weight = float(components.weights[row, 0])
            found |= {"weight": weight, "weight squared": weight * weight, "weight label": weight * found["labels"]}
        for name in self.free:
            found[name] = float(np.log(state.values[ALL_NAMES.index(name)]))
        return found

    def root_label(self, target):
        label = target.links.labels[target.links.roots[0]]
        return float(np.tanh(target.points[label, 0])) if self.continuous else float(label)

    def label_sum(self, target):
        labels = target.links.labels
        return float(np.tanh(target.points[labels, 0]).sum()) if self.continuous else float(labels.sum())

"""Fits of the tree experiments: one model, finite and infinite mixtures as printed and exact, ours; their scores."""

import time
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bayesgrove import metrics
from bayesgrove.core.rng import generator
from bayesgrove.datasets.home import Dataset
from bayesgrove.estimators.infinite_tree_hmm_mixture import InfiniteTreeHMMMixture
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.component_tree import build_components_tree
from bayesgrove.models.tree_hmm.em import EMFit, EMSettings, assign, fit_em
from bayesgrove.models.tree_hmm.engine import log_likelihoods, make_scratch, upward
from bayesgrove.models.tree_hmm.links import plain_links, unique_links
from bayesgrove.models.tree_hmm.mixture_target import make_target
from bayesgrove.models.tree_hmm.paper import PaperSettings, fit_paper
from bayesgrove.models.tree_hmm.parameters import make_prior
from bayesgrove.models.tree_hmm.sampler import TreeMixtureSampler
from bayesgrove.models.tree_hmm.schedules import default_steps
from bayesgrove.models.tree_hmm.starts import LabelsStart
from bayesgrove.models.tree_hmm.tables import MODES, Shape, Strengths
from bayesgrove.models.tree_hmm.vb import VB_DEFAULTS, vb_start
from papers.htmm_test_trees import assign_test_trees

N_ITERATIONS = 30
PATHS = {"root": 1, "mix": 2, "inf": 3, "one": 5, "hierarchy": 6}
"""Of generators: kinds of fits do not share random numbers."""
HOW = ("printed", "exact")
"""The authors' E-step and quirks; or exact steps, normalised weights and tables from the prior."""


class TreeCase(NamedTuple):
    """Trees to fit and trees to test, with classes that no fit is told."""

    name: str
    train: TreeData
    test: TreeData
    train_classes: np.ndarray
    test_classes: np.ndarray

    def shape(self, n_states: int, missing: str = "bottom_prior") -> Shape:
        """Sizes of a component's tables."""
        forest = self.train.forest
        return Shape(forest.max_outdegree, n_states, forest.n_labels, MODES[missing])


class Method(NamedTuple):
    """One way to cluster trees.

    Attributes
    ----------
    kind : {"root", "mix", "inf"}
    how : {"printed", "exact"}
    n_states : int
    setting : float
        Components of "mix", strength of the prior of "inf".
    """

    kind: str
    how: str
    n_states: int
    setting: float
    missing: str = "bottom_prior"


class Run(NamedTuple):
    """What one fit gave."""

    train: np.ndarray
    """Cluster of every tree fitted."""
    test: np.ndarray
    trace: np.ndarray
    """Objective of EM, or clusters after each sweep."""
    seconds: float


class Scores(NamedTuple):
    """Numbers of several runs of a method, one entry a run."""

    train: np.ndarray
    """Silhouette, the paper's definition; nan for one cluster."""
    test: np.ndarray
    ari: np.ndarray
    """Adjusted Rand index of the trees fitted with their classes."""
    clusters: np.ndarray
    """That have trees fitted."""
    test_clusters: np.ndarray
    seconds: np.ndarray


def make_case(name: str, train: Dataset, test: Dataset) -> TreeCase:
    """A case from two data sets."""
    return TreeCase(name, train.data, test.data, np.asarray(train.target), np.asarray(test.target))


# Fits of the paper


def fit(case: TreeCase, method: Method, seed: int) -> Run:
    """One run."""
    rng, start = generator(seed, PATHS[method.kind]), time.process_time()
    train, test, trace = FITS[method.kind](rng, case, method)
    return Run(train, test, trace, time.process_time() - start)


Labels = tuple[np.ndarray, np.ndarray, np.ndarray]


def fit_components(rng: np.random.Generator, case: TreeCase, method: Method, n_components: int) -> EMFit:
    """Thirty iterations from one random start, towards maximum likelihood."""
    forest, is_printed = case.train.forest, method.how == "printed"
    links = plain_links(forest) if is_printed else unique_links(forest)
    prior = make_prior(forest, method.n_states, method.missing, 1.0)
    settings = EMSettings(max_iter=N_ITERATIONS, tol=0.0, estep="paper" if is_printed else "exact")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* trees are impossible", category=UserWarning)
        return fit_em(rng, links, prior, n_components, settings)


def fit_root(rng: np.random.Generator, case: TreeCase, method: Method) -> Labels:
    """One model; a tree's cluster is a draw of its root's state."""
    found = fit_components(rng, case, method, 1)
    tables, mode, labels = found.parameters.tables, MODES[method.missing], []
    for data in (case.train, case.test):
        links = unique_links(data.forest)
        scratch = make_scratch(links, tables)
        upward(links, tables, 0, mode, scratch)
        labels.append(draw_rows(rng, scratch.beta[links.roots]))
    return labels[0], labels[1], found.trace


def fit_mix(rng: np.random.Generator, case: TreeCase, method: Method) -> Labels:
    """A finite mixture; clusters of test trees are drawn by their responsibilities."""
    found = fit_components(rng, case, method, int(method.setting))
    scores = log_likelihoods(unique_links(case.test.forest), found.parameters.tables, MODES[method.missing])
    return found.labels, draw_rows(rng, assign(scores, found.weights).responsibilities.T), found.trace


def fit_inf(rng: np.random.Generator, case: TreeCase, method: Method) -> Labels:
    """The infinite mixture by the paper's procedure, with its rule for test trees."""
    shape = case.shape(method.n_states, method.missing)
    strengths = Strengths(*[method.setting] * 4)
    settings = PaperSettings(shape, strengths, n_sweeps=N_ITERATIONS, compat=method.how == "printed")
    found = fit_paper(rng, case.train.forest, settings)
    return found.labels, assign_test_trees(rng, found, case.test.forest), found.n_clusters


FITS = {"root": fit_root, "mix": fit_mix, "inf": fit_inf}


def draw_rows(rng: np.random.Generator, chances: np.ndarray) -> np.ndarray:
    """A column of each row, drawn with the probabilities in it."""
    steps = np.cumsum(chances, axis=1)
    drawn = (steps <= rng.random(len(steps))[:, None] * steps[:, -1:]).sum(axis=1)
    return np.minimum(drawn, chances.shape[1] - 1)


# Ours


def fit_ours(case: TreeCase, seed: int, **settings: Any) -> tuple[InfiniteTreeHMMMixture, Run]:
    """`InfiniteTreeHMMMixture` with its defaults but for the settings given."""
    start = time.process_time()
    model = InfiniteTreeHMMMixture(random_state=seed, **settings).fit(case.train)
    trace = np.asarray(model.posterior_.scalars["n_clusters"]).ravel()
    return model, Run(model.labels_, model.predict(case.test), trace, time.process_time() - start)


def from_one_cluster(case: TreeCase, n_states: int, n_sweeps: int, seed: int) -> np.ndarray:
    """Adjusted Rand index with the classes after every sweep of a chain that begins with all trees in one cluster."""
    rng = generator(seed, PATHS["one"])
    sampler = TreeMixtureSampler(make_target(case.train.forest, n_states=n_states), LabelsStart("one"))
    state, found = sampler.start(rng), []
    for _ in range(n_sweeps):
        for step in default_steps():
            sampler.move(rng, state, step)
        found.append(adjusted_rand_score(case.train_classes, sampler.labels(state)))
    return np.array(found)


class Hierarchy(NamedTuple):
    """Components of a start that was sparse at once, and what the hierarchy over them says."""

    components: np.ndarray
    """Component of every test tree."""
    by_size: dict[int, np.ndarray]
    """Clusters of the components by the number of clusters."""
    gap: np.ndarray
    """Clusters of the components by the largest gap."""
    log_ratios: np.ndarray


def sparse_hierarchy(case: TreeCase, n_states: int, strength: float, seed: int) -> Hierarchy:
    """A variational fit at a small strength from random responsibilities, which ends with too many clusters."""
    links, prior = unique_links(case.train.forest), make_prior(case.train.forest, n_states, prior_strength=strength)
    settings = VB_DEFAULTS._replace(continuation=(), n_init=1)
    found = vb_start(generator(seed, PATHS["hierarchy"]), links, prior, 1.0, settings)
    tree = build_components_tree(links, prior, found.counts, found.responsibilities)
    scores = log_likelihoods(unique_links(case.test.forest), found.tables, prior.mode) + found.log_weights[:, None]
    sizes = {size: tree.cut(size) for size in range(2, tree.n_leaves + 1)}
    return Hierarchy(scores.argmax(axis=0), sizes, tree.cut("gap"), tree.log_ratios)


# Scores


def silhouette(data: TreeData, labels: np.ndarray) -> float:
    """The paper's definition."""
    return metrics.tree_silhouette(data, labels, "paper")


def score(case: TreeCase, runs: Sequence[Run], classes: np.ndarray | None = None) -> Scores:
    """Scores of runs; `classes` in place of the case's own."""
    truth = case.train_classes if classes is None else classes
    return Scores(
        np.array([silhouette(case.train, run.train) for run in runs]),
        np.array([silhouette(case.test, run.test) for run in runs]),
        np.array([adjusted_rand_score(truth, run.train) for run in runs]),
        np.array([np.unique(run.train).size for run in runs]),
        np.array([np.unique(run.test).size for run in runs]),
        np.array([run.seconds for run in runs]),
    )


def mean_and_spread(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of the numbers that are known; nan where there are none, or one."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else np.nan, float(known.std(ddof=1)) if known.size > 1 else np.nan


def columns(prefix: str, scores: Scores) -> dict[str, Any]:
    """Means and spreads as cells of a table."""
    test, spread = mean_and_spread(scores.test)
    return {
        f"{prefix}": test,
        f"{prefix}_sd": spread,
        f"{prefix}_train": mean_and_spread(scores.train)[0],
        f"{prefix}_ari": float(scores.ari.mean()),
        f"{prefix}_clusters": " ".join(map(str, scores.clusters.tolist())),
    }

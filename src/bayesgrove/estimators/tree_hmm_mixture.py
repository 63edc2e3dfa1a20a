"""`TreeHMMMixture`: a finite mixture of hidden-tree Markov models."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.special import logit

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.estimators.clusterer import SAMPLING_PATH
from bayesgrove.estimators.settings import check_whole
from bayesgrove.estimators.tree_components import component_models, joined_parameters
from bayesgrove.estimators.tree_estimator import EMTreeEstimator
from bayesgrove.estimators.tree_hmm import TreeHMM
from bayesgrove.estimators.tree_layout import OBJECTIVE, RESPONSIBILITIES, TREES, has
from bayesgrove.io.schema import Part
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.em import EMFit, assign
from bayesgrove.models.tree_hmm.estimates import pair_probabilities
from bayesgrove.models.tree_hmm.parameters import TreePrior, select_parameters
from bayesgrove.stats.numbering import by_size
from bayesgrove.stats.partitions import relabel
from bayesgrove.trees.hanging import hang_at_root


class TreeHMMMixture(EMTreeEstimator):
    """Finite mixture of hidden-tree Markov models, fitted by expectation maximisation: clusters of trees.

    Every cluster is a `TreeHMM` of its own. The number of clusters is given; `InfiniteTreeHMMMixture` learns it and is
    less likely to end in a poor solution.

    Parameters
    ----------
    n_clusters : int, default=3
        Components (T in the paper); some may end without trees.
    n_states : int, default=4
        Hidden states of each component (C in the paper).
    prior_strength : float or dict, default=1.0
        Parameter of the symmetric Dirichlet priors of all tables (alpha); 1 is maximum likelihood. A dict gives values
        for "initial", "emission", "switching" and "transition".
    missing : {"bottom_prior", "bottom", "renorm"}, default="bottom_prior"
        How an absent child counts, as in `TreeHMM`.
    estep : {"exact", "paper"}, default="exact"
        "paper" uses the paper's downward pass, which takes conditional distributions for posteriors; it is not EM.
    emission : {"auto", "discrete", "gaussian"}, default="auto"
        Distribution of labels: tables for strings and codes, independent normal distributions for numbers.
    n_init : int, default=3
        Number of starts from random tables; the one with the best objective is kept.
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when the relative change of the objective is smaller than this.
    min_count, unseen, overflow
        Labels and positions of new trees, as in `TreeHMM`.
    random_state : int, optional
    n_jobs : int, optional
        Not used.
    verbose : int, default=0

    Attributes
    ----------
    labels_ : int64 array of shape (n_trees,)
        Most probable component of each tree, consecutive from 0.
    n_clusters_ : int
        Components that have trees; they come first in `weights_` and `components_`.
    weights_ : array of shape (n_clusters,)
    components_ : list of TreeHMM
    responsibilities_ : array of shape (n_trees, n_clusters)
    typical_trees_ : list of LabelledTree
        The most typical tree of each cluster.
    tree_ : Tree
        All trees below their clusters.
    objective_ : array
        Log posterior, up to a constant, at the start and after each step.
    converged_ : bool
    vocabulary_ : tuple of str or None
    max_outdegree_ : int
    result_ : Result

    Examples
    --------
    >>> import bayesgrove as bg
    >>> trees = bg.TreeData.from_newick(["((a,b)c,d)e;", "((a,b)c)e;", "(x,(y,y)x,x)z;", "(x,(y,y)x)z;"])
    >>> model = bg.TreeHMMMixture(n_clusters=2, n_states=2, n_init=5, random_state=0).fit(trees)
    >>> model.labels_.tolist()
    [0, 0, 1, 1]
    >>> model.predict_proba(trees).shape
    (4, 2)
    """

    responsibilities_: np.ndarray

    _layout = (*TREES, Part("converged", has("objective_"), (*OBJECTIVE, *RESPONSIBILITIES)))

    def __init__(
        self,
        n_clusters: int = 3,
        n_states: int = 4,
        prior_strength: Any = 1.0,
        missing: str = "bottom_prior",
        *,
        estep: str = "exact",
        emission: str = "auto",
        n_init: int = 3,
        max_iter: int = 100,
        tol: float = 1e-6,
        min_count: int = 1,
        unseen: str = "marginal",
        overflow: str = "share_last",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_states = n_states
        self.prior_strength = prior_strength
        self.missing = missing
        self.estep = estep
        self.emission = emission
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.min_count = min_count
        self.unseen = unseen
        self.overflow = overflow
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def from_parameters(cls, weights: Any, components: Sequence[TreeHMM]) -> Self:
        """A fitted mixture from its weights and components.

        Parameters
        ----------
        weights : array of shape (n_clusters,)
            Positive; they are normalised to sum to 1.
        components : sequence of TreeHMM
            Fitted, with the same labels, positions, states and `missing`.
        """
        given = np.asarray(weights, float)
        if given.shape != (len(components),) or not len(components) or not (given > 0.0).all():
            raise InvalidSettingError(
                f"weights are positive, one for each of the {len(components)} components, got {weights!r}."
            )
        first = components[0]
        model = cls(len(components), first._prior.shape.n_states, missing=first.missing)
        model._parameters, model._schema, model._prior = joined_parameters(components)
        model.weights_, model._seed = given / given.sum(), 0
        return model

    def _n_components(self) -> int:
        check_whole("n_clusters", self.n_clusters, 1)
        return self.n_clusters

    def _keep_fit(self, data: TreeData, prior: TreePrior, fitted: EMFit) -> None:
        """Components with trees come first, the largest before the others."""
        labels = by_size(relabel(fitted.labels))
        first = fitted.labels[np.unique(labels, return_index=True)[1]]
        order = np.concatenate([first, np.setdiff1d(np.arange(self.n_clusters), first)])
        self._prior, self._parameters = prior, select_parameters(fitted.parameters, order)
        self.weights_ = fitted.weights[order]
        self.responsibilities_ = np.ascontiguousarray(fitted.responsibilities[order].T)
        together = pair_probabilities(self.responsibilities_, labels)
        self._keep_clusters(data, labels, hang_at_root(labels, np.bincount(labels), logit(together)))

    @property
    def components_(self) -> list[TreeHMM]:
        """A `TreeHMM` for each component."""
        return component_models(self)

    # ---- answers

    def _probabilities(self, data: TreeData) -> np.ndarray:
        return assign(self._log_likelihoods(data), self.weights_).responsibilities.T

    def _log_density(self, data: TreeData) -> np.ndarray:
        return assign(self._log_likelihoods(data), self.weights_).log_densities

    def sample_labels(self, X: TreeData, random_state: Any = None) -> np.ndarray:
        """A cluster of each tree, drawn with the probabilities of `predict_proba`: the paper's rule for new trees.

        Parameters
        ----------
        X : TreeData
        random_state : int, optional
            None continues from the estimator's own seed.
        """
        steps = np.cumsum(self._probabilities(self.prepare(X)), axis=1)
        seed = self._seed if random_state is None else resolve_seed(random_state)
        chances = generator(seed, SAMPLING_PATH).random(len(steps)) * steps[:, -1]
        return np.minimum((steps <= chances[:, np.newaxis]).sum(axis=1), steps.shape[1] - 1)

"""`TreeHMM`: one hidden-tree Markov model."""

from typing import Any, NamedTuple, Self

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.estimators.clusterer import SAMPLING_PATH
from bayesgrove.estimators.settings import check_choice
from bayesgrove.estimators.tree_estimator import EMTreeEstimator
from bayesgrove.estimators.tree_inputs import (
    TreeSchema,
)
from bayesgrove.estimators.tree_layout import OBJECTIVE, TREES, has
from bayesgrove.io.schema import Part, Reading
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.em import EMFit
from bayesgrove.models.tree_hmm.engine import make_scratch, state_posteriors, upward
from bayesgrove.models.tree_hmm.links import Links, node_values, plain_links, unique_links
from bayesgrove.models.tree_hmm.parameters import Parameters, TreePrior, with_values
from bayesgrove.models.tree_hmm.states import draw_states
from bayesgrove.models.tree_hmm.tables import MODES, Shape, Strengths, Tables, make_tables
from bayesgrove.stats.numbering import by_size
from bayesgrove.stats.partitions import relabel
from bayesgrove.trees.hanging import hang_at_root


class StatePosterior(NamedTuple):
    """What is known of the hidden states of one tree."""

    states: np.ndarray
    """(n_nodes, n_states): probability of each state of each node."""
    switches: np.ndarray
    """(n_nodes, max_outdegree): probability that a node's state depends on its child (or its absence) at a position."""


class DrawnStates(NamedTuple):
    """Hidden states and switches of one tree, drawn."""

    states: np.ndarray
    """int64 (n_nodes,)"""
    switches: np.ndarray
    """int64 (n_nodes,): position that a node's state depends on; 0 at leaves."""


class TreeHMM(EMTreeEstimator):
    """Hidden-tree Markov model: each node's label depends on its hidden state, and each state on that of one child.

    Every node has a hidden state and a label drawn from its distribution. A leaf's state depends on its position. An
    internal node looks at one position (the switch) and draws its state given that of the child there, or given that
    there is none. A single model describes a set of trees; it does not cluster them well. For clusters use
    `InfiniteTreeHMMMixture`.

    Parameters
    ----------
    n_states : int, default=4
        Hidden states (C in the paper).
    missing : {"bottom_prior", "bottom", "renorm"}, default="bottom_prior"
        How an absent child counts: as a place that drew the state "bottom", so that the pattern of filled places is
        part of the model; as that state without its probability; or not at all, with switches renormalised over present
        children.
    prior_strength : float or dict, default=1.0
        Parameter of the symmetric Dirichlet priors of all tables (alpha); 1 is maximum likelihood. A dict gives values
        for "initial", "emission", "switching" and "transition".
    estep : {"exact", "paper"}, default="exact"
        "paper" uses the paper's downward pass, which takes conditional distributions for posteriors; it is not EM.
    emission : {"auto", "discrete", "gaussian"}, default="auto"
        Distribution of labels: tables for strings and codes, independent normal distributions for numbers.
    n_init : int, default=3
        Number of starts from random tables; the one with the best objective is kept.
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when the relative change of the objective is smaller than this.
    min_count : int, default=1
        Labels of fewer nodes are replaced by `<rare>`.
    unseen : {"marginal", "rare", "error"}, default="marginal"
        Labels of new trees that were not seen in `fit`: integrated out, taken as `<rare>`, or refused.
    overflow : {"share_last", "truncate", "error"}, default="share_last"
        Children of new trees at positions beyond the largest of `fit`.
    random_state : int, optional
    n_jobs : int, optional
        Not used.
    verbose : int, default=0

    Attributes
    ----------
    initial_ : array of shape (max_outdegree + 1, n_states + 1)
        State of a place by position (pi); the last state is "bottom", row 0 a root that is a leaf.
    emission_ : array of shape (n_states, n_labels), or None where labels are numbers
    means_, variances_ : arrays of shape (n_states, n_columns), or None where labels are texts or codes
    switching_ : array of shape (max_outdegree,)
    transition_ : array of shape (max_outdegree, n_states + 1, n_states)
        State of a node given the position it looks at and the state there (A).
    vocabulary_ : tuple of str or None
    max_outdegree_ : int
    objective_ : array
        Log posterior, up to a constant, at the start and after each step.
    converged_ : bool
    labels_ : int64 array of shape (n_trees,)
        Most probable state of each root, which is what `predict` gives. States are numbered so that those come first.
    typical_trees_ : list of LabelledTree
        The most typical tree of each label.
    tree_ : Tree
        All trees below the states of their roots.
    result_ : Result

    Examples
    --------
    >>> import bayesgrove as bg
    >>> trees = bg.TreeData.from_newick(["((a,b)c,d)e;", "(a,d)e;", "((a,b)c,(a,b)c)e;"])
    >>> model = bg.TreeHMM(n_states=2, random_state=0).fit(trees)
    >>> model.score_samples(trees).shape
    (3,)
    >>> model.state_posteriors(trees)[1].states.shape
    (3, 2)
    """

    _layout = (*TREES, Part("converged", has("objective_"), OBJECTIVE))
    _clusters_are = "states"

    def __init__(
        self,
        n_states: int = 4,
        missing: str = "bottom_prior",
        prior_strength: Any = 1.0,
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
        self.n_states = n_states
        self.missing = missing
        self.prior_strength = prior_strength
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
    def from_parameters(
        cls,
        initial: Any,
        emission: Any,
        switching: Any,
        transition: Any,
        missing: str = "bottom_prior",
        vocabulary: Any = None,
    ) -> Self:
        """A fitted model from its tables.

        Parameters
        ----------
        initial : array of shape (max_outdegree + 1, n_states + 1)
            pi; row 0 is a root that is a leaf, the last column the state "bottom".
        emission : array of shape (n_states, n_labels)
            b.
        switching : array of shape (max_outdegree,)
            phi.
        transition : array of shape (max_outdegree, n_states + 1, n_states)
            A.
        missing : {"bottom_prior", "bottom", "renorm"}
        vocabulary : sequence of str, optional
            Texts of the labels; without it labels are codes.
        """
        tables = make_tables(initial, emission, switching, transition)
        n_states, n_labels = check_tables(tables)
        names = None if vocabulary is None else tuple(str(name) for name in vocabulary)
        if names is not None and len(names) != n_labels:
            raise InvalidSettingError(f"vocabulary has a text per label, {n_labels}, got {len(names)}.")
        check_choice("missing", missing, tuple(MODES))
        n_positions = tables.switching.shape[1]
        prior = TreePrior(Shape(n_positions, n_states, n_labels, MODES[missing]), Strengths())
        parameters = Parameters(tables, np.zeros((1, n_states, 0, 2)))
        return cls._of(parameters, prior, TreeSchema(names, n_labels, n_positions, 0), 0, missing=missing)

    @classmethod
    def _of(cls, parameters: Parameters, prior: TreePrior, schema: TreeSchema, seed: int, **settings: Any) -> Self:
        """A fitted model of one component."""
        model = cls(prior.shape.n_states, **settings)
        model._schema, model._seed = schema, seed
        model._set_parameters(parameters, prior)
        return model

    def _keep_fit(self, data: TreeData, prior: TreePrior, fitted: EMFit) -> None:
        self._set_parameters(fitted.parameters, prior)
        roots = self._probabilities(data).argmax(axis=1)
        labels = by_size(relabel(roots))
        first = roots[np.unique(labels, return_index=True)[1]]
        order = np.concatenate([first, np.setdiff1d(np.arange(self.n_states), first)])
        self._set_parameters(with_states_in_order(fitted.parameters, order), prior)
        together = np.ones(int(labels.max()) + 1)
        self._keep_clusters(data, labels, hang_at_root(labels, np.bincount(labels), together * np.inf))

    def _set_parameters(self, parameters: Parameters, prior: TreePrior) -> None:
        self._parameters, self._prior, self.weights_ = parameters, prior, np.ones(1)
        tables = parameters.tables
        self.initial_, self.switching_ = tables.initial[0], tables.switching[0]
        self.transition_ = tables.transition[0]
        is_discrete = prior.gaussians is None
        self.emission_ = np.ascontiguousarray(tables.emission[0].T) if is_discrete else None
        self.means_ = None if is_discrete else parameters.moments[0, ..., 0]
        self.variances_ = None if is_discrete else parameters.moments[0, ..., 1]

    # ---- answers

    def _n_known(self) -> int:
        return int(self._prior.shape.n_states)

    def _tables_for(self, data: TreeData) -> Tables:
        values = node_values(data.forest)
        own = self._parameters if values is None else with_values(self._prior, self._parameters, values)
        return own.tables

    def _probabilities(self, data: TreeData) -> np.ndarray:
        links, tables = unique_links(data.forest), self._tables_for(data)
        scratch = make_scratch(links, tables)
        upward(links, tables, 0, self._prior.mode, scratch)
        return scratch.beta[links.roots]

    def _log_density(self, data: TreeData) -> np.ndarray:
        return self._log_likelihoods(data)[0]

    def predict_proba(self, X: TreeData, top_k: int | None = None) -> Any:
        """Probability of each hidden state of each tree's root; rows sum to 1.

        Parameters
        ----------
        X : TreeData
        top_k : int, optional
            Return a pair (states, probabilities) of the k most probable instead.
        """
        return super().predict_proba(X, top_k)

    def predict(self, X: TreeData) -> np.ndarray:
        """Most probable hidden state of each tree's root.

        Parameters
        ----------
        X : TreeData
        """
        return super().predict(X)

    def state_posteriors(self, X: TreeData) -> list[StatePosterior]:
        """Probabilities of the hidden states and switches of every node, tree by tree.

        Parameters
        ----------
        X : TreeData
        """
        data = self.prepare(X)
        states, switches = state_posteriors(plain_links(data.forest), self._tables_for(data), self._prior.mode)
        states, switches = states[::-1], switches[::-1]  # the passes number nodes from the last to the first
        spans = zip(data.forest.offsets[:-1], data.forest.offsets[1:], strict=True)
        return [StatePosterior(states[a:b].copy(), switches[a:b].copy()) for a, b in spans]

    def sample_states(self, X: TreeData, random_state: Any = None) -> list[DrawnStates]:
        """Hidden states and switches of every node drawn from their posterior, tree by tree.

        Parameters
        ----------
        X : TreeData
        random_state : int, optional
            None continues from the estimator's own seed.
        """
        data = self.prepare(X)
        seed = self._seed if random_state is None else resolve_seed(random_state)
        links = plain_links(data.forest)
        rng = generator(seed, SAMPLING_PATH)
        states, switches = draw_states(rng, links, self._tables_for(data), self._prior.mode)
        states, places = states[::-1], chosen_positions(links, switches)[::-1]
        spans = zip(data.forest.offsets[:-1], data.forest.offsets[1:], strict=True)
        return [DrawnStates(states[a:b].copy(), places[a:b].copy()) for a, b in spans]

    # ---- files

    def _restored(self, reading: Reading) -> None:
        super()._restored(reading)
        self._set_parameters(self._parameters, self._prior)


def chosen_positions(links: Links, switches: np.ndarray) -> np.ndarray:
    """Positions of switches that are entries of children, or -1 - l for an absent position l; 0 at leaves."""
    of_child = np.append(links.child_positions, 0)  # there may be no child at all
    places = of_child[np.where(links.leaf_positions >= 0, of_child.size - 1, np.maximum(switches, 0))]
    found = np.where(switches < 0, -1 - switches, places)
    return np.where(links.leaf_positions >= 0, 0, found).astype(np.int64)


def check_tables(tables: Tables) -> tuple[int, int]:
    """Numbers of states and labels of one component, if its tables fit together and hold probabilities."""
    n_positions, n_states = tables.switching.shape[-1], tables.emission.shape[-1]
    expected = {
        "initial": (n_positions + 1, n_states + 1),
        "switching": (n_positions,),
        "transition": (n_positions, n_states + 1, n_states),
    }
    for name, shape in expected.items():
        found = getattr(tables, name).shape[1:]
        if found != shape:
            raise InvalidSettingError(
                f"{name} has the shape {shape} for {n_positions} positions and {n_states} states, got {found}."
            )
    if not all(np.isfinite(part).all() and part.min() >= 0.0 for part in tables[:4]):
        raise InvalidSettingError("tables hold probabilities: finite, not negative. Check initial, emission, ....")
    return n_states, tables.emission.shape[1]


def with_states_in_order(parameters: Parameters, order: np.ndarray) -> Parameters:
    """The same component with its hidden states renumbered; `order` lists the old numbers."""
    tables = parameters.tables
    below = np.append(order, order.size)  # "bottom" stays the last
    return Parameters(
        Tables(
            np.ascontiguousarray(tables.initial[:, :, below]),
            np.ascontiguousarray(tables.emission[:, :, order]),
            tables.switching,
            np.ascontiguousarray(tables.transition[:, :, below][..., order]),
            tables.log_scale,
        ),
        np.ascontiguousarray(parameters.moments[:, order]),
    )

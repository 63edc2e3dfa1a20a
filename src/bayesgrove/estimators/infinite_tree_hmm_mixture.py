"""`InfiniteTreeHMMMixture`: a Dirichlet process mixture of hidden-tree Markov models."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators.chains import ChainEstimator
from bayesgrove.estimators.tree_components import component_models
from bayesgrove.estimators.tree_estimator import TreeEstimator
from bayesgrove.estimators.tree_hmm import TreeHMM
from bayesgrove.estimators.tree_inputs import (
    check_infinite_settings,
    check_tree_settings,
    fitting_trees,
    with_shared_positions,
)
from bayesgrove.estimators.tree_layout import INFINITE
from bayesgrove.estimators.tree_start import default_strength, edge_start, estimate_with_start, positions_of
from bayesgrove.inference.exhibits import Exhibit
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.tree_exhibits import count_lines
from bayesgrove.io.schema import Reading
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm import fit as fitting
from bayesgrove.models.tree_hmm.component_tree import ComponentsTree
from bayesgrove.models.tree_hmm.links import unique_links
from bayesgrove.models.tree_hmm.precompile import compile_kernels
from bayesgrove.models.tree_hmm.predictive import cluster_probabilities, log_density
from bayesgrove.models.tree_hmm.tables import Strengths
from bayesgrove.stats.numbering import by_size
from bayesgrove.stats.partitions import relabel

CONCENTRATION, PAPER_CONCENTRATION = 1.0, 10.0


class InfiniteTreeHMMMixture(ChainEstimator, TreeEstimator):
    """Dirichlet process mixture of hidden-tree Markov models: clusters of trees, whose number is learned.

    Every cluster is a `TreeHMM` of its own. By default several Markov chains are run, each from a variational fit; they
    redraw clusters and tables, and split and merge whole clusters. The draws follow the posterior, so that `posterior_`
    gives the uncertainty of the number of clusters and of which trees belong together.

    Parameters
    ----------
    n_states : int, "auto" or "infinite", default=4
        Hidden states of each cluster (C in the paper). "auto" chooses among 4, 8 and 16 by the variational bound;
        "infinite" lets every cluster have as many as it needs (a hierarchical Dirichlet process).
    concentration : float or "auto", optional
        gamma in the paper: larger values give more clusters. Default 1, or 10 for the paper's procedure. "auto" learns
        it under a Gamma(1, 1) prior.
    prior_strength : float, "auto" or dict, optional
        Parameter of the symmetric Dirichlet priors of all tables (alpha). Default 1, and 0.02 for emissions where
        positions are shared. "auto" learns one for each family of tables; a dict gives values for "initial",
        "emission", "switching" and "transition".
    missing : {"bottom_prior", "bottom", "renorm"}, default="bottom_prior"
        How an absent child counts, as in `TreeHMM`. The default makes the pattern of filled places part of the model.
    method : {"gibbs", "collapsed", "vb", "paper"}, default="gibbs"
        "collapsed" integrates tables out, an exact reference for few trees. "vb" is the variational fit alone: fast,
        but without draws. "paper" is the printed procedure, kept for reproduction: it has no stationary distribution,
        and its output is not a sample from a posterior.
    init : {"auto", "labels", "vb", "one", "random"} or array of labels, default="auto"
        Where chains begin. "labels" is the partition of a collapsed mixture of labels given their parents' labels, "vb"
        a variational fit; "auto" takes "labels" where positions are shared, else "vb". After "labels", `labels_` is
        that partition unless the chains find one that is more probable under the same mixture. "paper" begins with one
        cluster ("auto" or "one"; others are refused).
    positions : {"auto", "own", "shared"}, default="auto"
        Whether tables depend on a child's position. "auto" compares lower bounds on the evidence of both where there
        are at least 30 labels; `positions_` is the choice.
    split_merge : "auto", "retained", "sequential" or None, default="auto"
        Moves that split and merge clusters: "retained" with "gibbs", "sequential" with "collapsed", or none.
    estimate : {"vi", "binder", "map"}, default="vi"
        What `labels_` is: the partition of least expected variation of information or Binder loss, or the draw of
        largest log joint.
    emission : {"auto", "discrete", "gaussian"}, default="auto"
        Distribution of labels: tables for strings and codes, independent normal distributions for numbers.
    n_init : int, default=3
        Variational starts of each chain, the best of which is taken.
    max_iter : int, optional
        Iterations of "vb" (40), sweeps of "paper" (30).
    compat : bool, default=True
        With "paper": also reproduce the quirks of the authors' program (its E-step, its weight of a new cluster, its
        first tables).
    n_chains, n_tune, n_draws, thin : int
        Chains, sweeps of burn-in, stored draws of each chain, sweeps per draw.
    min_count, unseen, overflow
        Labels and positions of new trees, as in `TreeHMM`.
    run_dir : path, optional
        Folder that makes the run durable: every draw is appended to a log, and a killed run resumes where it was.
    resume : bool or "repair", default=False
        Resume the run in `run_dir`, if there is one.
    time_limit : float, optional
        Limit in seconds for the chains; the draws made by then are the result.
    random_state : int, optional
    n_jobs : int, optional
        Number of chains to run in parallel. The draws do not depend on it.
    verbose : int, default=0
        Show progress.

    Attributes
    ----------
    labels_ : int64 array of shape (n_trees,)
        The point estimate, consecutive from 0.
    n_clusters_ : int
    n_states_ : int
        Number of states; for "infinite" the truncation, 20; `posterior_.scalars["n_states"]` says how many are used.
    posterior_ : Posterior
        Draws of labels and parameters ("gibbs" and "collapsed").
    diagnostics_ : Diagnostics
        r_hat and effective sample sizes of label-free scalars, and a verdict in words ("gibbs" and "collapsed").
    converged_ : bool
    components_tree_ : ComponentsTree
        Clusters merged by their evidence; `cut(k)`, `cut("gap")`.
    components_ : list of TreeHMM
        A model of each cluster of `labels_`, at the posterior means of its tables.
    weights_ : array of shape (n_clusters,)
        Shares of the clusters.
    typical_trees_ : list of LabelledTree
        The most typical tree of each cluster.
    tree_ : Tree
        All trees below their clusters, which are merged as in `components_tree_`. Probabilities are shares of draws in
        which trees of a cluster, or of the two sides of a merge, share a cluster.
    concentration_ : float
        Posterior mean, or as given.
    prior_strength_ : Strengths
        The same of the four families of tables.
    responsibilities_ : array of shape (n_trees, n_clusters)
        Only with "vb".
    log_evidence_ : float
        Only with "vb": a lower bound on the log evidence.
    history_ : dict
        Only with "vb" and "paper": the bound, or the number of clusters and the log-likelihood, sweep by sweep.
    acceptance_ : dict
        How many splits and merges were proposed and accepted.
    result_ : Result

    Notes
    -----
    `c_n ~ CRP(concentration)`, tables of each component ~ Dirichlet(prior_strength) row by row.

    **Erratum** (Bacciu and Castellana): eq. (8) uses the likelihood under uniform tables in place of the integral over
    the prior, and Algorithm 2 contains EM steps; see docs/theory/tree-mixtures.md, Errata, and
    tests/exact/test_tree_hmm_golden.py.

    References
    ----------
    D. Bacciu and D. Castellana, Bayesian mixtures of hidden tree Markov models for structured data clustering, 2019.

    Examples
    --------
    >>> import bayesgrove as bg
    >>> trees = bg.TreeData.from_newick(5 * ["((a,b)c,d)e;", "((a,b)c)e;", "(x,(y,y)x,x)z;", "(x,(y,y)x)z;"])
    >>> model = bg.InfiniteTreeHMMMixture(n_states=2, n_chains=2, n_tune=20, n_draws=50, random_state=0).fit(trees)
    >>> model.labels_[:4].tolist()
    [0, 0, 1, 1]
    >>> model.predict_proba(trees).shape[1] == model.n_clusters_ + 1
    True
    """

    responsibilities_: np.ndarray
    log_evidence_: float
    history_: dict[str, np.ndarray]
    n_states_: int
    concentration_: float
    prior_strength_: Strengths
    components_tree_: ComponentsTree

    _shares_positions, _has_new_cluster = False, True
    _layout = INFINITE

    def __init__(
        self,
        n_states: Any = 4,
        concentration: Any = None,
        prior_strength: Any = None,
        missing: str = "bottom_prior",
        *,
        method: str = "gibbs",
        init: Any = "auto",
        positions: str = "auto",
        split_merge: str | None = "auto",
        estimate: str = "vi",
        emission: str = "auto",
        n_init: int = 3,
        max_iter: int | None = None,
        compat: bool = True,
        n_chains: int = 4,
        n_tune: int = 100,
        n_draws: int = 200,
        thin: int = 1,
        min_count: int = 1,
        unseen: str = "marginal",
        overflow: str = "share_last",
        run_dir: Any = None,
        resume: bool = False,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_states = n_states
        self.concentration = concentration
        self.prior_strength = prior_strength
        self.missing = missing
        self.method = method
        self.init = init
        self.positions = positions
        self.split_merge = split_merge
        self.estimate = estimate
        self.emission = emission
        self.n_init = n_init
        self.max_iter = max_iter
        self.compat = compat
        self.n_chains = n_chains
        self.n_tune = n_tune
        self.n_draws = n_draws
        self.thin = thin
        self.min_count = min_count
        self.unseen = unseen
        self.overflow = overflow
        self.run_dir = run_dir
        self.resume = resume
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: TreeData, y: Any = None) -> Self:
        """Run the method and find clusters.

        Parameters
        ----------
        X : TreeData
        y : ignored
            Present for API consistency.
        """
        self._check_settings()
        self._forget()
        self._data, self._schema = fitting_trees(X, self)
        self._seed = self._resolve_seed()
        self._about = self._describe()
        start = self._prepare_start()
        if self.method == "gibbs" and self._data.forest.values is None:
            compile_kernels(None if self.estimate == "map" else self.estimate)
        names = fitting.Settings._fields[:-1]
        settings = fitting.Settings(*(getattr(self, name) for name in names))._replace(start=start)
        self._problem = fitting.resolved(self._make_problem(), settings)
        self.n_states_ = fitting.number_of_states(self._problem)
        if self.method == "vb":
            self._keep_found(fitting.fit_by_vb(self._problem, settings, getattr(self, "_progress", None)))
        elif self.method == "paper":
            self._keep_found(fitting.fit_by_paper(self._problem, settings))
        else:
            self._plan: fitting.ChainPlan = fitting.plan_chains(self._problem, settings, type(self).__name__)
            self._run(self._plan.sampler, self._plan.schedule, self._about)
            self._summarise()
        return self

    def _prepare_start(self) -> np.ndarray | None:
        """Decide about positions; labels to begin with, unless chains find their own."""
        self._positions_choice = positions_of(self._data, self, self._seed)
        is_shared = self._shares_positions = bool(self._positions_choice.is_shared)
        self._start = edge_start(self._data, self, self._seed, is_shared=is_shared)
        if is_shared:
            self._data, self._schema = with_shared_positions(self._data), self._schema._replace(max_outdegree=1)
        return None if self._start is None else self._start.fit.labels

    @property
    def positions_(self) -> str:
        """Whether children have positions of their own or share one."""
        return "shared" if self._shares_positions else "own"

    def _make_problem(self) -> fitting.Problem:
        default = PAPER_CONCENTRATION if self.method == "paper" else CONCENTRATION
        return fitting.Problem(
            self._data.forest,
            unique_links(self._data.forest),
            self.missing,
            self.n_states,
            default if self.concentration is None else self.concentration,
            default_strength(self.prior_strength, is_shared=self._shares_positions),
            self._seed,
        )

    def _check_settings(self) -> None:
        self._check_chain_settings()
        check_tree_settings(self)
        check_infinite_settings(self, may_learn=self._is_sampled())

    def _is_sampled(self) -> bool:
        """Whether chains are run."""
        return self.method in ("gibbs", "collapsed")

    def _forget(self) -> None:
        """Another method has other attributes."""
        for name in ("posterior_", "diagnostics_", "converged_", "acceptance_", "responsibilities_", "log_evidence_"):
            self.__dict__.pop(name, None)

    # ---- summaries

    def _make_posterior(self, draws: list[dict[str, np.ndarray]], scalars: dict[str, np.ndarray]) -> Posterior:
        self._drawn = draws
        labels = np.stack([own["labels"] for own in draws])
        return Posterior(labels, scalars, {}, self._posterior_attributes())

    def _summarise(self) -> None:
        labels = self._point_estimate(self.posterior_)
        labels = by_size(estimate_with_start(self._start, labels, self.posterior_, self.estimate))
        self._keep_found(fitting.find_by_chains(self._problem, self._plan.target, self.posterior_, self._drawn, labels))
        self._drawn = []

    def _keep_found(self, found: fitting.Found) -> None:
        """Clusters, their components, and the hierarchy over them."""
        self._prior, self._parameters, self._kept = found.prior, found.parameters, found.kept
        self.concentration_, self.prior_strength_ = found.concentration, found.prior.strengths
        self.history_ = dict(found.history)
        if found.responsibilities is not None and found.log_evidence is not None:
            self.responsibilities_, self.log_evidence_ = found.responsibilities, found.log_evidence
        self.weights_ = np.bincount(found.labels) / found.labels.size
        hierarchy = fitting.hierarchy_of(self._problem, found)
        self.components_tree_ = hierarchy.components
        self._keep_clusters(self._data, found.labels, hierarchy.items)

    def cut(self, n_clusters: int | str | None = None, *, probability: float | None = None) -> np.ndarray:
        """Labels of the trees when clusters are merged as in `components_tree_`; nothing is fitted again.

        Parameters
        ----------
        n_clusters : int or "gap", optional
            Number of clusters; "gap": as many as there are before the merge that costs most.
        probability : float, optional
            Merge clusters that are one with at least this probability.
        """
        check_is_fitted(self, "components_tree_")
        merged = self.components_tree_.cut(n_clusters, probability=probability)
        return by_size(relabel(merged[self.labels_]))

    @property
    def components_(self) -> list[TreeHMM]:
        """A `TreeHMM` of each cluster."""
        return component_models(self)

    def _result_parts(self) -> dict[str, Any]:
        parts: dict[str, Any] = {"log_evidence": getattr(self, "log_evidence_", None)}
        details = {"positions": self._positions_choice.sentence} if hasattr(self, "_positions_choice") else {}
        if hasattr(self, "posterior_"):
            details["verdict"] = self.diagnostics_.verdict.sentence_for_readers
            parts |= {"posterior": self.posterior_, "diagnostics": self.diagnostics_}
        elif self.method == "paper":
            details["note"] = "the printed procedure: no draws of a posterior"
        return {**parts, "details": details}

    def _own_exhibits(self) -> list[Exhibit]:
        if hasattr(self, "posterior_"):
            return [count_lines(self.posterior_.scalars["n_clusters"])]
        if "n_clusters" in self.history_:
            return [count_lines(self.history_["n_clusters"][np.newaxis], "sweep")]
        return []

    # ---- new trees, averaged over draws

    def _probabilities(self, data: TreeData) -> np.ndarray:
        return cluster_probabilities(self._kept, self._prior, data.forest)

    def _log_density(self, data: TreeData) -> np.ndarray:
        return log_density(self._kept, self._prior, data.forest)

    def predict(self, X: TreeData) -> np.ndarray:
        """Most probable cluster of each tree among those of `labels_`.

        Parameters
        ----------
        X : TreeData
            Labels never seen and positions beyond the largest are treated as `unseen` and `overflow` say.
        """
        data = self.prepare(X)
        chances = cluster_probabilities(self._kept, self._prior, data.forest, with_new=False)
        return chances[:, :-1].argmax(axis=1)

    def predict_proba(self, X: TreeData, top_k: int | None = None) -> Any:
        """Probability that each tree joins each cluster of `labels_` or, in the last column, a new one; rows sum to 1.

        Averaged over draws. The mass of a new cluster is a lower bound: the integral over the prior is replaced by the
        variational bound of the tree alone.

        Parameters
        ----------
        X : TreeData
        top_k : int, optional
            Return a pair (clusters, probabilities) of the k most probable instead; a new cluster is `n_clusters_`.
        """
        return super().predict_proba(X, top_k)

    def continue_fit(self, n_draws: int) -> Self:
        """Continue the chains for more draws; the result is as if they had been longer from the start.

        Parameters
        ----------
        n_draws : int
            More draws of each chain.
        """
        check_is_fitted(self, "components_tree_")
        if not self._is_sampled():
            raise InvalidSettingError(f"method={self.method!r} has no chains to resume. Fit with method='gibbs'.")
        return super().continue_fit(n_draws)

    # ---- files

    def _restored(self, reading: Reading) -> None:
        self.prior_strength_ = Strengths(*self.prior_strength_)
        self.init = reading.values.get("init", self.init)
        self._sampler = None
        if reading["is_sampled"]:
            self._keep_read_posterior(Posterior, reading["draws"], reading)
        super()._restored(reading)

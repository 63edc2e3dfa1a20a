"""`CrossCat`: cross-categorisation by Markov chains."""

from functools import partial
from typing import Any, Self

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.estimators.chains import ChainEstimator
from bayesgrove.estimators.cross_cells import N_STARTS
from bayesgrove.estimators.cross_clusterer import CrossClusterer, Estimate, FittedView
from bayesgrove.estimators.cross_inputs import likelihood_per_column
from bayesgrove.estimators.cross_layout import CROSSCAT
from bayesgrove.estimators.settings import check_choice, check_whole
from bayesgrove.inference.cross_posterior import CrossPosterior, cross_posterior
from bayesgrove.inference.description import spread
from bayesgrove.inference.views import largest_first
from bayesgrove.io.schema import Reading
from bayesgrove.likelihoods import Bound
from bayesgrove.models.cross.draw_answers import DrawAnswers
from bayesgrove.models.cross.draw_growth import grown_rows
from bayesgrove.models.cross.draw_trees import view_tree
from bayesgrove.models.cross.mcmc_fit import answers_of_draws, learned_bound, learned_coordinates, make_sampler
from bayesgrove.models.cross.mcmc_precompile import compile_kernels
from bayesgrove.models.cross.mcmc_proposals import PROPOSALS
from bayesgrove.models.cross.mcmc_schedules import default_schedule

GROWING_PATH = 0x6409


class CrossCat(ChainEstimator, CrossClusterer):
    """Cross-categorisation: views of the columns and, in each view, clusters of the rows, sampled by Markov chains.

    The model is that of `BHCC`: a Dirichlet process divides the columns into views, and in each view another one
    divides the rows into clusters; cells of a cluster share the parameters of their column. `BHCC` searches for one
    good answer and its hierarchy; `CrossCat` also gives the uncertainty of the views, the clusters and all predictions.
    Missing cells need not be filled in.

    Parameters
    ----------
    likelihood : str or Likelihood, default="auto"
        "auto" chooses a family per column and learns its hyperparameters; a name such as "gaussian" sets sensible ones
        from the data; `Columns` of `bayesgrove.likelihoods` fixes them column by column.
    row_concentration, column_concentration : float or "auto", default="auto"
        Concentrations of rows in each view (one for all views) and of columns. "auto" learns them under a Gamma(1, 1)
        prior; a number stays fixed.
    new_view : {"sequential", "prior"}, default="sequential"
        How clusters of the rows are proposed for a column that may open a view: row by row from its own cells, or from
        the prior.
    n_temperatures : int, default=1
        Number of Metropolis-coupled chains, the first of them at the posterior, the k-th at its power 0.8^k.
    init : {"dependence", "random", "bhcc", "prior", "one_view"} or labels of the columns, default="dependence"
        Where chains begin: dependent columns share a view (each chain looks at four in five of the rows)
        and, in tables of up to 20,000 cells, views merged while that raises the log joint density; 20 random views (10
        of fewer than 50 columns); the views of a greedy search; a draw from the prior; or one view (slow to leave on
        mixed tables).
    n_chains, n_tune, thin : int
        Chains, sweeps of burn-in, sweeps per draw.
    n_draws : int or "auto", default="auto"
        Stored draws of each chain. "auto" continues until the verdict is "trusted" or `time_limit` is reached.
    estimate : {"vi", "binder", "map"}, default="vi"
        What `views_` are: views, and clusters in each, of least expected variation of information or Binder loss, or
        the draw of largest log joint.
    hyper : {"auto", "optimize", "fixed"}, default="auto"
        Learn the hyperparameters marked "auto", all that are not given, or none; column by column.
    unseen : {"error", "reserve"}, default="error"
        Labels of category columns not seen in training: refuse them, or count them in one extra category.
    run_dir : path, optional
        Folder that makes the run durable: every draw is appended to a log, and a killed run resumes where it was.
    resume : bool or "repair", default=False
        Resume the run in `run_dir`, if there is one.
    time_limit : float, None or "auto", default="auto"
        Limit in seconds for the chains; the draws made by then are the result. "auto" is 120 with `n_draws="auto"` and
        no limit otherwise.
    random_state : int, optional
    n_jobs : int, optional
        Number of chains to run in parallel. The draws do not depend on it. By default 1 or, with `n_draws="auto"`, the
        number of cores if the first draws take more than two seconds.
    verbose : int, default=0
        Show progress.

    Attributes
    ----------
    view_labels_ : int64 array of shape (n_columns,)
        Number of the view of each column in `views_`.
    views_ : list
        The largest view first; each has `columns`, `labels_`, `tree_` and `n_clusters_`. The tree has the clusters
        merged by their evidence and the rows below them; the probability of a cluster is how often its rows share a
        cluster in the draws.
    n_views_ : int
    column_tree_ : Tree
        Tree of the columns by how often they share a view.
    labels_, tree_, n_clusters_
        Those of the largest view, `views_[0]`.
    same_view_probability_ : array of shape (n_columns, n_columns)
        Share of the draws in which two columns are in one view.
    posterior_ : CrossPosterior
        `view_labels`, `row_labels[chain][draw]`, `of_view(columns)`, scalars, export to ArviZ.
    diagnostics_ : Diagnostics
        r_hat and effective sample sizes of label-free scalars, and a verdict in words.
    converged_ : bool
    stop_reason_ : str
        Why the chains ended: "trusted", "time limit", or "all draws made" where `n_draws` is a number.
    row_concentration_, column_concentration_ : float
        Posterior means, or as given.
    likelihood_ : Columns
        All hyperparameters; those learned are at their posterior medians.
    acceptance_ : dict
        How many splits, merges, new views and swaps were proposed and accepted.
    result_ : Result

    Notes
    -----
    With u the views of the columns and z_v the clusters of the rows in view v, the log joint is
    `log CRP(u; alpha_c) + sum_v [log CRP(z_v; alpha_r) + sum_c log m(cells of cluster c in the columns of v)]` plus log
    hyperpriors. A sweep moves every column among the existing views, and a quarter of them also to new ones; sometimes
    two views are merged or one is divided; then follow splits, merges and Gibbs moves of rows in each view, and updates
    of the hyperparameters of 30 % of the columns and of the concentrations. On a 1,000 x 100 mixed table, moves of
    single columns alone leave one chain in four in a state with one view in pieces, thousands of nats below the others;
    merging whole views avoids this.

    Queries are answered by averages over up to 500 draws (fewer, but at least 100, for tables above 20,000 cells).

    References
    ----------
    P. Shafto, C. Kemp, V. Mansinghka and J. Tenenbaum, A probabilistic model of cross-categorization, Cognition 2011.
    D. Li and P. Shafto, Bayesian hierarchical cross-clustering, AISTATS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove import CrossCat
    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.integers(0, 2, (2, 40))
    >>> centres = np.where(np.arange(6) < 3, first[:, None], second[:, None])
    >>> X = rng.normal(6.0 * centres, 1.0)
    >>> model = CrossCat(n_chains=2, n_tune=50, n_draws=100, random_state=0).fit(X)
    >>> model.view_labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> bool(model.same_view_probability_[0, 1] > 0.9)
    True
    >>> X[0, 5] = np.nan
    >>> bool(abs(model.impute(X)[0, 5] - 6.0 * second[0]) < 2.0)
    True
    """

    posterior_: CrossPosterior

    _layout = CROSSCAT
    _extra_draws = ("concentrations", "column_numbers")

    def __init__(
        self,
        likelihood: Any = "auto",
        row_concentration: Any = "auto",
        column_concentration: Any = "auto",
        *,
        new_view: str = "sequential",
        n_temperatures: int = 1,
        init: Any = "dependence",
        n_chains: int = 4,
        n_tune: int = 200,
        n_draws: Any = "auto",
        thin: int = 1,
        estimate: str = "vi",
        hyper: str = "auto",
        unseen: str = "error",
        run_dir: Any = None,
        resume: bool = False,
        time_limit: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.row_concentration = row_concentration
        self.column_concentration = column_concentration
        self.new_view = new_view
        self.n_temperatures = n_temperatures
        self.init = init
        self.n_chains = n_chains
        self.n_tune = n_tune
        self.n_draws = n_draws
        self.thin = thin
        self.estimate = estimate
        self.hyper = hyper
        self.unseen = unseen
        self.run_dir = run_dir
        self.resume = resume
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Run the chains and find the point estimate.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            NaN is a missing cell.
        y : ignored
            Present for API consistency.
        """
        self._check_settings()
        table, bound = self._bind_input(X)
        self._seed = self._resolve_seed()
        likelihood = likelihood_per_column(self.likelihood, table, self.unseen)
        learned = learned_coordinates(likelihood, bound.prior, table.names, self.hyper)
        self._bound, self._values = bound, bound.values
        given, name = (self.row_concentration, self.column_concentration), type(self).__name__
        sampler = make_sampler(bound, given, learned, self.init, self.n_temperatures, name)
        compile_kernels(None if self.estimate == "map" else self.estimate)  # the table and all settings are right
        self._run(sampler, self._make_schedule(), self._describe())
        self._summarise()
        return self

    def _check_settings(self) -> None:
        super()._check_settings()
        self._check_chain_settings()
        check_choice("new_view", self.new_view, tuple(PROPOSALS))
        check_whole("n_temperatures", self.n_temperatures, 1)

    def _make_schedule(self) -> Any:
        return default_schedule(self.n_tune, n_chains=self.n_temperatures, thin=self.thin, new_view=self.new_view)

    def _make_posterior(self, draws: list[dict[str, np.ndarray]], scalars: dict[str, np.ndarray]) -> CrossPosterior:
        return cross_posterior(draws, scalars, self._posterior_attributes())

    def _summarise(self) -> None:
        """Point estimate, trees, numbers, what prediction needs."""
        alphas = self.posterior_.extra["concentrations"].mean(axis=(0, 1))
        given = self.row_concentration, self.column_concentration
        self.row_concentration_, self.column_concentration_ = (
            float(learned if isinstance(alpha, str) else alpha) for alpha, learned in zip(given, alphas, strict=True)
        )
        bound = learned_bound(self._bound._replace(values=self._values), self.posterior_)
        views = self._estimate_views(bound)
        column_tree = self.posterior_.consensus_tree(self._schema[0])
        details = {"verdict": self.diagnostics_.verdict.sentence_for_readers}
        self._keep(bound, Estimate(views, column_tree, details, self._about), self._make_answers(bound, views))

    def _estimate_views(self, bound: Bound) -> list[FittedView]:
        """Views of the estimate, the largest first, and the clusters of each."""
        labels = self._point_estimate(self.posterior_, 0)
        views = [np.flatnonzero(labels == k) for k in range(int(labels.max()) + 1)]
        found = []
        for number in largest_first(views):
            columns = views[number]
            rows = self.posterior_.of_view(columns)
            clusters, draws = self._point_estimate(rows, 1 + number), rows.labels.reshape(-1, rows.n_items)
            tree = view_tree(bound.prior, bound.values, columns, clusters, draws, self.row_concentration_)
            found.append(FittedView(columns, clusters, tree))
        return found

    def _make_answers(self, bound: Bound, views: list[FittedView]) -> DrawAnswers:
        return answers_of_draws(bound, self.posterior_, [(view.columns, view.labels_) for view in views])

    def _block_starts(self) -> list[np.ndarray]:
        """The largest view of three draws, evenly spread."""
        views = self.posterior_.view_labels
        pairs = [divmod(place, views.shape[1]) for place in spread(views.shape[0] * views.shape[1], N_STARTS)]
        return [self.posterior_.row_labels[c][d][np.bincount(views[c, d]).argmax()] for c, d in pairs]

    def _certainty(self) -> np.ndarray:
        return self.posterior_.of_view(self.views_[0].columns).certainty(self.labels_).own

    def _with_rows(self, values: np.ndarray) -> None:
        """Every draw takes the rows in, each to a cluster by its probability given those before; then a new estimate.

        What is said of convergence stays, and the chains cannot be continued: they know the first rows only.
        """
        every = np.vstack([self._values, values])
        rng = generator(self._seed, GROWING_PATH, len(every))
        rows = grown_rows(rng, self._bound.prior, every, self.posterior_, len(self._values))
        before = self.posterior_
        self.posterior_ = CrossPosterior(before.labels, before.scalars, before.extra, before.attributes, rows=rows)
        log_measure = float(np.sum(self._bound.encoding.log_measure(every)))
        self._values, self._bound = every, self._bound._replace(log_measure=log_measure)
        self.__dict__.pop("_sampler", None)
        self._summarise()

    def _restored(self, reading: Reading) -> None:
        """Predictions are computed as `fit` computes them."""
        super()._restored(reading)
        self.init = reading.values.get("init", self.init)
        self._keep_read_posterior(partial(CrossPosterior, rows=reading["row_draws"]), reading["draws"], reading)
        clusters = zip(reading["view_rows"], reading["view_trees"], strict=True)
        views = [
            FittedView(np.flatnonzero(self.view_labels_ == k), own, tree) for k, (own, tree) in enumerate(clusters)
        ]
        self._answers = self._make_answers(self._bound._replace(values=self._values), views)
        self._keep_views(views, self.column_tree_)
        self._set_read_result(reading)

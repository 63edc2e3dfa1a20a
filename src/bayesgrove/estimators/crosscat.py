"""`CrossCat`: cross-categorisation by Markov chains."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from bayesgrove.core import provenance
from bayesgrove.core.rng import generator
from bayesgrove.estimators.chains import ChainEstimator
from bayesgrove.estimators.cross_clusterer import CrossClusterer, Estimate, FittedView
from bayesgrove.estimators.cross_inputs import likelihood_per_column
from bayesgrove.estimators.crosscat_files import crosscat_file_parts, restore_crosscat
from bayesgrove.estimators.crosscat_starts import first_views, learned_coordinates, name_of_init
from bayesgrove.estimators.settings import check_choice, check_whole
from bayesgrove.inference.cross_posterior import CrossPosterior, cross_posterior
from bayesgrove.inference.views import largest_first
from bayesgrove.likelihoods import Bound, relearned
from bayesgrove.models.cross.draw_answers import DrawAnswers
from bayesgrove.models.cross.draw_growth import grown_rows
from bayesgrove.models.cross.draw_tables import choose_draws, make_draws
from bayesgrove.models.cross.draw_trees import view_tree
from bayesgrove.models.cross.mcmc_coordinates import default_hyperpriors
from bayesgrove.models.cross.mcmc_proposals import PROPOSALS
from bayesgrove.models.cross.mcmc_sampler import CrossCatSampler
from bayesgrove.models.cross.mcmc_schedules import default_schedule
from bayesgrove.models.cross.mcmc_target import make_target
from bayesgrove.models.cross.mcmc_warm import compile_kernels
from bayesgrove.stats.partitions import relabel

ESTIMATE_PATH, GROWING_PATH = 0xE571, 0x6409
COOLING = 0.8
"""Each coupled chain has the power of the one before it times this."""
ESTIMATES = ("vi", "binder", "map")
FIRST_CONCENTRATION = 1.0


class CrossCat(ChainEstimator, CrossClusterer):
    """Cross-categorisation: views of the columns and, in each, clusters of the rows, sampled by Markov chains.

    The model is that of `BHCC`: a Dirichlet process divides the columns into views, and in each view another one
    divides the rows into clusters; cells of a cluster share the parameters of their column. `BHCC` searches for one
    good answer and its hierarchy; here numbers of views and clusters, and everything predicted, come with their
    uncertainty. Missing cells need no filling in.

    Parameters
    ----------
    likelihood : str or Likelihood, default="auto"
        "auto" chooses a family per column and learns its numbers; a name such as "gaussian" takes sensible numbers
        from the data; `Columns` of `bayesgrove.likelihoods` fixes them column by column.
    row_concentration, column_concentration : float or "auto", default="auto"
        Concentrations of rows in each view (one for all views) and of columns. "auto" learns them under a Gamma(1, 1)
        prior; a number stays fixed.
    new_view : {"sequential", "prior"}, default="sequential"
        How clusters of the rows are proposed for a column that may open a view: row by row by its own cells, or from
        the prior.
    n_temperatures : int, default=1
        Metropolis-coupled chains: so many, the first of them at the posterior, the k-th at its power 0.8^k.
    init : {"dependence", "random", "bhcc", "prior", "one_view"} or labels of the columns, default="dependence"
        Where chains begin: columns that depend on each other together (each chain looks at four in five of the rows),
        20 random views (10 of fewer than 50 columns), the views of a greedy search, a draw from the prior, or one view
        (slow to leave on mixed tables).
    n_chains, n_tune, n_draws, thin : int
        Chains, sweeps of burn-in, stored draws of each chain, sweeps per draw.
    estimate : {"vi", "binder", "map"}, default="vi"
        What `views_` are: views, and clusters in each, of least expected variation of information or Binder loss, or
        the draw of largest log joint.
    hyper : {"auto", "optimize", "fixed"}, default="auto"
        Learn the likelihood's numbers that are marked "auto", all that are not given, or none; column by column.
    unseen : {"error", "reserve"}, default="error"
        Labels of category columns met after training: refuse them, or count them in one extra category.
    run_dir : path, optional
        Folder that makes the run durable: every draw is appended to a log, and a killed run goes on where it was.
    resume : bool, default=False
        Go on with the run in `run_dir`, if there is one.
    time_limit : float, optional
        Seconds for the chains; what was drawn until then is the result.
    random_state : int, optional
    n_jobs : int, optional
        Chains at a time. The draws do not depend on it.
    verbose : int, default=0
        Show progress.

    Attributes
    ----------
    view_labels_ : int64 array of shape (n_columns,)
        Number of the view of each column in `views_`.
    views_ : list
        The largest view first; each has `columns`, `labels_`, `tree_` and `n_clusters_`. The tree has the clusters
        merged by their evidence and the rows below them; the probability of a cluster is how often its rows are
        together in the draws.
    n_views_ : int
    column_tree_ : Tree
        Columns by how often they share a view.
    labels_, tree_, n_clusters_
        Those of the largest view, `views_[0]`.
    same_view_probability_ : array of shape (n_columns, n_columns)
        Share of the draws with two columns in one view.
    posterior_ : CrossPosterior
        `view_labels`, `row_labels[chain][draw]`, `of_view(columns)`, scalars, export to ArviZ.
    diagnostics_ : Diagnostics
        r_hat and effective sample sizes of label-free scalars, and a verdict in words.
    converged_ : bool
    row_concentration_, column_concentration_ : float
        Posterior means, or as given.
    likelihood_ : Columns
        All numbers, at the posterior medians of those learned.
    acceptance_ : dict
        How many splits, merges, new views and swaps were proposed and accepted.
    result_ : Result

    Notes
    -----
    With u the views of the columns and z_v the clusters of the rows in view v, the log joint is
    `log CRP(u; alpha_c) + sum_v [log CRP(z_v; alpha_r) + sum_c log m(cells of cluster c in the columns of v)]` plus log
    hyper-priors. A sweep moves every column among the views there are, and a quarter of them also to new ones; then,
    at times, two views are merged or one is divided; splits, merges and Gibbs moves of rows in each view, numbers of a
    tenth of the columns, concentrations. Moves of single columns alone leave one chain in four of a 1,000 x 100 mixed
    table in a state with one view in pieces, thousands of nats below the others; merging whole views mends that.

    Questions are answered by averages over up to 500 draws (fewer, at least 100, of tables above 20,000 cells).

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
        n_draws: int = 500,
        thin: int = 1,
        estimate: str = "vi",
        hyper: str = "auto",
        unseen: str = "error",
        run_dir: Any = None,
        resume: bool = False,
        time_limit: float | None = None,
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
            For scikit-learn's sake.
        """
        self._check_settings()
        compile_kernels(None if self.estimate == "map" else self.estimate)
        table, bound = self._bind_input(X)
        self._seed = self._resolve_seed()
        likelihood = likelihood_per_column(self.likelihood, table, self.unseen)
        learned = learned_coordinates(likelihood, bound.prior, table.names, self.hyper)
        self._bound, self._values = bound, bound.values
        sampler, schedule = self._make_sampler(bound, learned), self._make_schedule()
        self._run(sampler, schedule, self._describe())
        self._summarise()
        return self

    def _check_settings(self) -> None:
        super()._check_settings()
        self._check_chain_settings()
        check_choice("new_view", self.new_view, tuple(PROPOSALS))
        check_choice("estimate", self.estimate, ESTIMATES)
        check_whole("n_temperatures", self.n_temperatures, 1)

    def _make_sampler(self, bound: Bound, learned: np.ndarray) -> CrossCatSampler:
        target = make_target(bound.prior, bound.values)
        given = self.row_concentration, self.column_concentration
        free = np.array([isinstance(alpha, str) for alpha in given])
        rows, columns = (FIRST_CONCENTRATION if isinstance(alpha, str) else float(alpha) for alpha in given)
        return CrossCatSampler(
            target,
            bound.prior.params,
            (rows, columns),
            default_hyperpriors(target)._replace(free=free, learned=learned),
            first_views(self.init, bound.prior, bound.values),
            tuple(COOLING**k for k in range(self.n_temperatures)),
            None,
            bound.log_measure,
            {"model": type(self).__name__, "init": name_of_init(self.init)},
        )

    def _make_schedule(self) -> Any:
        return default_schedule(self.n_tune, n_chains=self.n_temperatures, thin=self.thin, new_view=self.new_view)

    def _describe(self) -> dict[str, Any]:
        settings = {name: value for name, value in self.get_params(deep=False).items() if name != "run_dir"}
        return provenance.record(type(self).__name__, settings, self._seed)

    def _make_posterior(self, draws: list[dict[str, np.ndarray]], scalars: dict[str, np.ndarray]) -> CrossPosterior:
        return cross_posterior(draws, scalars, self._posterior_attributes())

    def _summarise(self) -> None:
        """Point estimate, trees, numbers, what prediction needs."""
        alphas = self.posterior_.extra["concentrations"].mean(axis=(0, 1))
        given = self.row_concentration, self.column_concentration
        self.row_concentration_, self.column_concentration_ = (
            float(learned if isinstance(alpha, str) else alpha) for alpha, learned in zip(given, alphas, strict=True)
        )
        bound = self._learned_bound()
        views = self._estimate_views(bound)
        column_tree = self.posterior_.consensus_tree(self._schema[0])
        details = {"verdict": self.diagnostics_.verdict.sentence_for_readers}
        estimate = Estimate(views, column_tree, None, details, self.posterior_, self.diagnostics_)
        self._keep(bound, estimate, self._make_answers(bound, views))
        self.result_ = replace(self.result_, provenance=self._about)  # it names no folder

    def _learned_bound(self) -> Bound:
        """The bound table, the likelihood at the medians of the numbers that were learned."""
        bound = self._bound._replace(values=self._values)
        numbers = self.posterior_.extra.get("column_numbers")
        if numbers is None:
            return bound
        return relearned(bound, bound.prior._replace(params=np.median(numbers, axis=(0, 1))))

    def _estimate_views(self, bound: Bound) -> list[FittedView]:
        """Views of the estimate, the largest first, and the clusters of each."""
        posterior, best = self.posterior_, self._best_draw()
        if self.estimate == "map":
            labels = relabel(posterior.view_labels[best])
        else:
            labels = self._partition_of(posterior, 0)
        views = [np.flatnonzero(labels == k) for k in range(int(labels.max()) + 1)]
        found = []
        for number in largest_first(views):
            columns = views[number]
            rows = posterior.of_view(columns)
            clusters = relabel(rows.labels[best]) if self.estimate == "map" else self._partition_of(rows, 1 + number)
            draws = rows.labels.reshape(-1, rows.n_items)
            tree = view_tree(bound.prior, bound.values, columns, clusters, draws, self.row_concentration_)
            found.append(FittedView(columns, clusters, tree))
        return found

    def _best_draw(self) -> tuple[int, int]:
        """Chain and number of the draw of largest log joint."""
        log_joint = self.posterior_.scalars["log_joint"]
        chain, draw = np.unravel_index(np.argmax(log_joint), log_joint.shape)
        return int(chain), int(draw)

    def _partition_of(self, posterior: Any, path: int) -> np.ndarray:
        found = posterior.point_estimate(
            self.estimate, random_state=generator(self._seed, ESTIMATE_PATH, path), n_jobs=self.n_jobs
        )
        return found.labels

    def _make_answers(self, bound: Bound, views: list[FittedView]) -> DrawAnswers:
        """What prediction needs of some draws."""
        posterior = self.posterior_
        n_draws, numbers = posterior.n_chains * posterior.n_draws, posterior.extra.get("column_numbers")
        most_clusters = float(posterior.rows.max()) + 1.0
        n_rows, n_columns = bound.values.shape
        size = 8.0 * most_clusters * float(bound.prior.start[-1]) + 4.0 * n_rows * float(posterior.n_views.mean())
        chosen = choose_draws(n_draws, n_rows, n_columns, size)
        first = posterior.first_views
        draws = make_draws(
            bound.prior,
            bound.values,
            posterior.view_labels.reshape(n_draws, -1)[chosen],
            [posterior.rows[first[t] : first[t + 1]] for t in chosen],
            None if numbers is None else numbers.reshape(n_draws, n_columns, -1)[chosen],
            posterior.extra["concentrations"].reshape(n_draws, 2)[chosen],
        )
        estimate = [(view.columns, view.labels_) for view in views]
        return DrawAnswers(
            bound.prior, bound.values, draws, posterior.similarity(), estimate, learned=numbers is not None
        )

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

    def _file_parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return crosscat_file_parts(self)

    def _restore(self, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        restore_crosscat(self, document, arrays)

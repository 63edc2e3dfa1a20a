"""`NRMMixture`: flat mixtures under normalised random measures."""

from typing import Any, Self

import numpy as np

from bayesgrove.agglomeration.estimates import estimate_tree
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.estimators.chains import ChainEstimator
from bayesgrove.estimators.clusterer import Clusterer, typical_row
from bayesgrove.estimators.constraints import about_links, check_sampler, nearest_draw, read_links
from bayesgrove.estimators.mixture_clusters import (
    cluster_posterior,
    diagnose_both,
    posterior_of,
    probability_apart,
    united,
)
from bayesgrove.estimators.mixture_layout import MIXTURE
from bayesgrove.estimators.mixture_likelihood import at_medians, covariances_by_evidence, log_factors_of
from bayesgrove.estimators.mixture_processes import IN_PAPER, numbers_of_draws, refuse_as_likelihood, resolve_process
from bayesgrove.estimators.mixture_starts import checked_moves, first_labels, name_of_start
from bayesgrove.estimators.settings import check_choice
from bayesgrove.inference.diagnostics import Diagnostics
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.run import ChainResult
from bayesgrove.inference.similarity import cohesion
from bayesgrove.inference.verdict import Verdict
from bayesgrove.io.schema import Reading
from bayesgrove.likelihoods import Bound, bind
from bayesgrove.likelihoods.base import LEARN
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.nrm.guide import make_guide
from bayesgrove.models.nrm.linked import linked
from bayesgrove.models.nrm.paper_global import VARIANTS
from bayesgrove.models.nrm.paper_sampler import PaperSampler
from bayesgrove.models.nrm.points import euclidean_points
from bayesgrove.models.nrm.precompile import compile_kernels
from bayesgrove.models.nrm.predictive import (
    choose_draws,
    cluster_probabilities,
    draw_rows,
    keep_draws,
    log_density,
)
from bayesgrove.models.nrm.process import Process, log_kappa_table
from bayesgrove.models.nrm.sampler import make_sampler
from bayesgrove.models.nrm.schedules import SAMPLERS, schedule_of
from bayesgrove.models.nrm.starts import SampleStart
from bayesgrove.stats.links import Links
from bayesgrove.stats.numbering import by_size

GUIDE_PATH = 0x6D1D


class NRMMixture(ChainEstimator, Clusterer):
    """Mixture with a normalised random measure prior, sampled by Markov chains: clusters with their uncertainty.

    The number of components of the mixture is part of the posterior. A cluster is a union of components that no valley
    of the density separates; the components of each draw are united, so that clusters have a posterior as well. The
    Dirichlet process ("dp") expects the number of components to grow with log n; the normalised generalised gamma
    process ("nggp"), the normalised inverse Gaussian process ("nig") and the Pitman-Yor process ("pitman-yor") allow
    many small components beside large ones; in a mixture of finite mixtures ("mfm") the number stays bounded as n
    grows. The default sampler splits and merges components along a guide tree; unlike the published tree-guided
    sampler, it leaves the posterior invariant.

    Parameters
    ----------
    likelihood : str or Likelihood, default="auto"
        "auto" chooses a family per column and learns its hyperparameters; for 2 to 40 complete Gaussian columns it
        chooses diagonal or full covariances by the evidence of trees of the rows, as `BHC` does, and learns the scale
        matrix from them before the chains begin. A name such as "gaussian" sets sensible hyperparameters from the data;
        an object of `bayesgrove.likelihoods` fixes them.
    process : {"dp", "nggp", "nig", "pitman-yor", "mfm"}, default="dp"
        The prior over partitions; `bayesgrove.prior_clusters` shows the number of clusters that it implies.
    concentration : float or "auto", default="auto"
        alpha in the papers; for "mfm" the parameter of the symmetric Dirichlet weights, at least 0.001. "auto" learns
        it under a Gamma(1, 1) prior; a number stays fixed. For "pitman-yor" a number above -sigma.
    sigma : float or "auto", default="auto"
        For "nggp", and as the discount of "pitman-yor": between 0 and 1; "auto" learns it under a Beta(1.5, 1.5) or
        Beta(1, 4) prior. For "nig" it is 1/2.
    clusters : {"unions", "components"}, default="unions"
        "unions": components of a draw that no valley of the density separates are one cluster, if all columns are
        Gaussian and there are at least 50 rows. Otherwise, and with "components", each component of the mixture is a
        cluster.
    sampler : {"tree-guided", "split-merge", "gibbs", "paper"}, default="tree-guided"
        "paper" is the printed sampler of Lee and Choi (2015), kept for reproduction: it does *not* leave the posterior
        invariant and finds too few clusters.
    n_global, n_local : int, optional
        For "tree-guided" and "paper": split or merge moves per sweep (10), draws of a node in the local move (2).
    components : str or tuple, default="beta-negative-binomial"
        For "mfm" only: the prior of the number of components minus one, ("beta-negative-binomial", 1, 4, 3),
        ("geometric", 0.1) or ("poisson", 1); a name alone takes these numbers.
    init : {"guide", "bhc", "one", "singletons", "ibhc", "randomized-bhc"} or array of labels, default="guide"
        Where chains begin, such as a partition drawn from the guide tree, or greedy clustering of a random sample
        ("bhc"); each chain has its own.
    n_chains, n_tune, thin : int
        Chains, sweeps of burn-in, sweeps per draw.
    n_draws : int or "auto", default="auto"
        Stored draws of each chain. "auto" continues until the verdict is "trusted" or `time_limit` is reached.
    estimate : {"vi", "binder", "map"}, default="vi"
        What `labels_` is: the partition of least expected variation of information or Binder loss, or the draw of
        largest log joint.
    hyper : {"auto", "optimize", "fixed"}, default="auto"
        Learn the hyperparameters marked "auto", all that are not given, or none.
    partial_labels : bool, default=False
        Whether `y` of `fit` contains labels of some rows, and -1 for all others; otherwise `y` is ignored.
    paper_variant : {"code", "mended", "printed"}, default="code"
        For `sampler="paper"`: what the authors' program does, the printed formulas corrected, or as printed. The
        hyperparameters stay fixed.
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
    labels_ : int64 array of shape (n_rows,)
        Clusters: the point estimate from their draws, consecutive from 0.
    n_clusters_ : int
    component_labels_ : int64 array of shape (n_rows,)
        The point estimate of the components, from their own draws; it need not be nested in the clusters.
    n_components_ : int
    posterior_ : Posterior
        Draws of components and hyperparameters, similarity, credible balls, export to ArviZ.
    cluster_posterior_ : Posterior
        Draws of clusters: the united components of up to 1,000 draws; with clusters="components", and where the rule
        does not apply, the same as `posterior_`.
    apart_ : array of shape (n_clusters, n_clusters)
        Probability that a row of one cluster and a row of another are in different clusters.
    diagnostics_ : Diagnostics
        r_hat and effective sample sizes of label-free scalars, and a verdict in words.
    converged_ : bool
    stop_reason_ : str
        Why the chains ended: "trusted", "time limit", or "all draws made" where `n_draws` is a number.
    tree_ : Tree
        The clusters of the estimate, merged by their evidence; the rows below them. The probability of a cluster is how
        often its rows share a cluster in the draws. Where clusters are unions, the probability of a merge is how often
        the rows of both sides are in one cluster, 1 - P(apart).
    concentration_, sigma_ : float
        Posterior means, or as given.
    likelihood_ : Likelihood
        With the learned hyperparameters at their posterior medians.
    acceptance_ : dict
        How many splits and merges were proposed and accepted.
    result_ : Result

    Notes
    -----
    With u = Gamma(n, 1) / total mass, the joint distribution is
    `p(X, partition, u) = u^(n-1) / Gamma(n) exp(-psi(u)) prod_c kappa(|c|, u) p(X_c)`.

    **Erratum** (Lee and Choi, NIPS 2015): trees are part of the printed sampler's state but have no density, and its
    local moves choose points by the current partition; the stationary distribution is off by .1 to .3 in total
    variation (tests/exact/test_paper_sampler.py). Here trees are drawn inside the move and cancel.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove import NRMMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(c, 1, (30, 2)) for c in (0, 8)])
    >>> model = NRMMixture(n_chains=2, n_draws=200, random_state=0).fit(X)
    >>> model.n_clusters_
    2
    >>> model.predict([[8.0, 8.0]]).tolist()
    [1]
    >>> bool(model.posterior_.similarity()[0, 1] > 0.95)
    True
    """

    _layout = (*Clusterer._layout, *MIXTURE)
    _links: Links | None = None  # constraints of the fit

    def __init__(
        self,
        likelihood: Any = "auto",
        process: str = "dp",
        concentration: Any = "auto",
        sigma: Any = "auto",
        sampler: str = "tree-guided",
        *,
        clusters: str = "unions",
        n_global: int | None = None,
        n_local: int | None = None,
        components: Any = "beta-negative-binomial",
        init: Any = "guide",
        n_chains: int = 4,
        n_tune: int = 200,
        n_draws: Any = "auto",
        thin: int = 1,
        estimate: str = "vi",
        hyper: str = "auto",
        partial_labels: bool = False,
        paper_variant: str = "code",
        run_dir: Any = None,
        resume: bool = False,
        time_limit: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.process = process
        self.concentration = concentration
        self.sigma = sigma
        self.sampler = sampler
        self.clusters = clusters
        self.n_global = n_global
        self.n_local = n_local
        self.components = components
        self.init = init
        self.n_chains = n_chains
        self.n_tune = n_tune
        self.n_draws = n_draws
        self.thin = thin
        self.estimate = estimate
        self.hyper = hyper
        self.partial_labels = partial_labels
        self.paper_variant = paper_variant
        self.run_dir = run_dir
        self.resume = resume
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None) -> Self:
        """Run the chains and find the point estimate.

        With constraints the posterior covers only the partitions that satisfy them, and no cluster unites rows that
        must be apart.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_columns)
            NaN is a missing cell where the likelihood allows it.
        y : int array of shape (n_rows,), optional
            With `partial_labels=True`: rows with the same label are in one cluster, rows with different labels in
            different ones; -1 is unknown. Otherwise ignored, present for API consistency.
        must_link : sequence of sequences of int, optional
            Groups of rows (numbers from 0); the rows of each group are in one cluster.
        cannot_link : sequence of pairs of int, optional
            Pairs of rows that are in different clusters.
        """
        self._check_chain_settings()
        process = self._resolve_process()
        table = self._read_input(X, reset=True)
        self._links = read_links(self, table.n_rows, y, must_link, cannot_link)
        check_sampler(self.sampler, self._links)
        self._seed = self._resolve_seed()
        bound = bind(self.likelihood, table, "fixed" if self.sampler == "paper" else self.hyper)
        if self.sampler != "paper" and isinstance(self.likelihood, str) and self.likelihood == LEARN:
            bound = covariances_by_evidence(bound, self.hyper)
        bound = self._without_labels(bound)
        self._bound, self._process, self._template = bound, process, typical_row(bound.values)
        self._united: dict[int, Posterior | None] = {}
        schedule = self._make_schedule(table.n_rows)
        if self.sampler != "paper" and self._links is None:
            compile_kernels(bound, process, schedule, loss=None if self.estimate == "map" else self.estimate)
        self._run(self._make_sampler(bound, process), schedule, self._describe())
        self._summarise()
        return self

    def _describe(self) -> dict[str, Any]:
        return {**super()._describe(), **about_links(self._links)}

    def _resolve_process(self) -> Process:
        refuse_as_likelihood(self.likelihood)
        check_choice("sampler", self.sampler, (*SAMPLERS, "paper"))
        check_choice("clusters", self.clusters, ("unions", "components"))
        check_choice("paper_variant", self.paper_variant, tuple(VARIANTS))
        process = resolve_process(self.process, self.concentration, self.sigma, self.components)
        if self.sampler == "paper" and self.process not in IN_PAPER:
            raise InvalidSettingError(
                f"sampler='paper' knows the processes {', '.join(IN_PAPER)}, got process={self.process!r}. "
                "Leave sampler at its default.",
                setting="sampler",
            )
        return process

    def _make_sampler(self, bound: Bound, process: Process) -> Any:
        start, about = first_labels(self.init, bound, process), self._fingerprint()
        if self.sampler == "paper":
            start = start or SampleStart(bound.prior, bound.values, process)  # it has no guide
            return PaperSampler(bound.prior, bound.values, process, bound.log_measure, start, about)
        guide = make_guide(generator(self._seed, GUIDE_PATH), euclidean_points(bound.prior, bound.values))
        rows = (bound.prior, bound.values, guide, process, bound.free, bound.log_measure)
        sampler = make_sampler(*rows, start, about)
        return sampler if self._links is None else linked(sampler, self._links)

    def _fingerprint(self) -> dict[str, Any]:
        return {"model": type(self).__name__, "sampler": self.sampler, "init": name_of_start(self.init)}

    def _make_schedule(self, n_rows: int) -> Any:
        name = f"paper:{self.paper_variant}" if self.sampler == "paper" else self.sampler
        moves = checked_moves(self.sampler, n_global=self.n_global, n_local=self.n_local)
        return schedule_of(name, n_rows, n_tune=self.n_tune, thin=self.thin, **moves)

    def _clusters_of(self, posterior: Posterior) -> Posterior | None:
        """Draws of clusters, made once for each number of draws; None where components are the clusters."""
        if self.clusters != "unions":
            return None
        if posterior.n_draws not in self._united:
            log_factors = log_factors_of(self._bound, posterior)
            self._united = {posterior.n_draws: cluster_posterior(self._bound, posterior, log_factors, self._links)}
        return self._united[posterior.n_draws]

    def _diagnose(self, posterior: Posterior) -> Diagnostics:
        return diagnose_both(posterior, self._clusters_of(posterior), self.estimate)

    def _verdict_on(self, chains: list[ChainResult]) -> Verdict:
        """Components are united, which takes a while, only once their own draws can be trusted."""
        posterior = self._posterior_of(chains)
        verdict = posterior.diagnostics().verdict
        return self._diagnose(posterior).verdict if verdict.converged else verdict

    def _summarise(self) -> None:
        """Point estimate, tree, numbers, what prediction needs."""
        bound, posterior = self._bound, self.posterior_
        numbers, log_factors = numbers_of_draws(self._process, posterior), log_factors_of(bound, posterior)
        found = self._clusters_of(posterior)
        self.component_labels_ = self._point_estimate(posterior)
        self.cluster_posterior_ = posterior if found is None else found
        self.labels_ = self.component_labels_ if found is None else self._cluster_estimate(found)
        self.n_clusters_ = int(self.labels_.max()) + 1
        _, alpha, sigma = numbers.mean(axis=0)
        self.concentration_, self.sigma_ = float(alpha), float(sigma)
        learned = self._learn_likelihood()
        log_kappa = log_kappa_table(self._process, numbers.mean(axis=0), self.labels_.size)
        draws = posterior.labels.reshape(-1, posterior.n_items)
        together = cohesion(self.cluster_posterior_.labels.reshape(-1, posterior.n_items), self.labels_)
        between = None if found is None else 1.0 - self.apart_
        self.tree_ = self._named(estimate_tree(learned.prior, bound.values, self.labels_, log_kappa, together, between))
        chosen = choose_draws(len(draws), float(posterior.scalars["n_clusters"].mean()), n_stats(bound.prior))
        self._kept = keep_draws(
            bound.prior,
            bound.values,
            self._process.kind,
            draws[chosen],
            numbers[chosen],
            log_factors[chosen],
            self.labels_,
            self._process.components,
        )
        details = {"verdict": self.diagnostics_.verdict.sentence_for_readers, "n_components": self.n_components_}
        self._set_result(self._about, details, self._describe_rows(bound.values))

    def _point_estimate(self, posterior: Posterior, *path: int) -> np.ndarray:
        """Under constraints the best draw, where a partition between the draws breaks one."""
        labels = super()._point_estimate(posterior, *path)
        if self._links is None or self._links.allows(labels):
            return labels
        return by_size(nearest_draw(posterior.labels, self.estimate, self.n_jobs))

    def _cluster_estimate(self, draws: Posterior) -> np.ndarray:
        """Clusters of least expected loss; or those of the draw of largest log joint."""
        if self.estimate != "map":
            return self._point_estimate(draws)
        best = int(np.argmax(self.posterior_.scalars["log_joint"]))
        log_factors = log_factors_of(self._bound, self.posterior_)[[best]]
        return by_size(united(self._bound, self.component_labels_[np.newaxis], log_factors, self._links)[0])

    @property
    def n_components_(self) -> int:
        """Number of components of the mixture."""
        return int(self.component_labels_.max()) + 1

    @property
    def apart_(self) -> np.ndarray:
        """Probability that a row of one cluster and a row of another are in different clusters."""
        return probability_apart(self.cluster_posterior_, self.labels_)

    def _result_parts(self) -> dict[str, Any]:
        is_united = self.cluster_posterior_ is not self.posterior_
        return {**super()._result_parts(), "cluster_posterior": self.cluster_posterior_ if is_united else None}

    def _learn_likelihood(self) -> Bound:
        """The likelihood at the medians of the numbers that were learned."""
        learned = at_medians(self._bound, log_factors_of(self._bound, self.posterior_))
        self.likelihood_ = learned.likelihood
        return learned

    # ---- prediction, averaged over draws: a cluster of a draw counts for those of the estimate that have its members

    def _probabilities(self, values: np.ndarray) -> np.ndarray:
        return cluster_probabilities(self._kept, self._bound.prior, self._bound.free, self.labels_.size, values)

    def _certainty(self) -> np.ndarray:
        return self.cluster_posterior_.certainty(self.labels_).own

    def _log_density(self, values: np.ndarray) -> np.ndarray:
        return log_density(self._kept, self._bound.prior, self._bound.free, self.labels_.size, values)

    def _draw_rows(self, rng: np.random.Generator, n_samples: int) -> np.ndarray:
        return draw_rows(self._kept, self._bound.prior, self._bound.free, rng, self._template, n_samples)

    def _restored(self, reading: Reading) -> None:
        super()._restored(reading)
        self.init = reading.values.get("init", self.init)
        united = None
        if "cluster_draws" in reading.values:
            united = posterior_of(reading["cluster_draws"], self._posterior_attributes())
        self._united = {reading["draws"].shape[1]: united}
        self._keep_read_posterior(Posterior, reading["draws"], reading)
        self.cluster_posterior_ = self.posterior_ if united is None else united
        if united is None:
            self.component_labels_ = self.labels_
        self._learn_likelihood()
        self._set_read_result(reading)

"""`BHMC`: Bayesian hierarchical mixture clustering."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.estimators.nested import NestedEstimator
from bayesgrove.estimators.settings import check_choice
from bayesgrove.inference.diagnostics import Diagnostics
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.verdict import Verdict
from bayesgrove.likelihoods import Bound
from bayesgrove.models.nested.hyperparameters import Numbers
from bayesgrove.models.nested.target import Target
from bayesgrove.models.nested.variational_sampler import VariationalSampler, draw_schedule
from bayesgrove.models.nested.variational_search import search

METHODS = ("mcmc", "variational")
APPROXIMATE = (
    "Independent draws from a variational approximation, which understates how uncertain rows, nodes and components are"
)


class BHMC(NestedEstimator):
    """Bayesian hierarchical mixture clustering: trees of fixed depth whose nodes are mixtures, sampled by MCMC.

    A nested Chinese restaurant process puts the rows on the leaves of a tree. Every node has weights of mixture
    components, drawn around those of its parent; all nodes share the components. The numbers of nodes and components
    are part of the posterior.

    Parameters
    ----------
    likelihood : None, str or Likelihood, default=None
        None: Gaussian components with the two variances below. Otherwise any conjugate likelihood with fixed
        hyperparameters, such as "bernoulli" or `GaussianDiagonal(...)`; its parameters are integrated out.
    depth : int, default=3
        Levels below the root (L in the paper).
    alpha : float or "auto", default=0.4
        Concentration of the paths: larger values give more children.
    gamma : float or "auto", default=1.0
        Concentration of nodes: larger values keep their weights closer to their parent's.
    gamma0 : float or "auto", default=0.85
        Concentration of the root: larger values give more components.
    component_variance, base_variance : float or "auto", default="auto"
        Variance of rows around the mean of their component, and of these means around 0, in every column of the data
        sampled (after `center`, `n_pca` and `scale`). They set the scale of clusters. "auto" estimates them from the
        rows and, with sampled means, learns them from there; with a `likelihood` they are not used.
    n_components : int, optional
        A finite number of components instead of countably many.
    path : {"gibbs", "mh"}, default="gibbs"
        How paths are moved: drawn exactly from their conditional distribution, or proposed from the prior (slow).
    regraft : bool, default=True
        Also move whole subtrees. Chains mix far better.
    split_merge : bool, default=False
        Also split and merge siblings together with their subtrees.
    method : {"mcmc", "variational"}, default="mcmc"
        "variational" maximises a bound on the evidence from several deterministic starts; the draws are independent
        draws from the approximation. It requires spherical Gaussian components and complete rows; parameters that are
        "auto" are set to the values of highest bound. See Notes.
    sampler : {"exact", "paper"}, default="exact"
        "paper" is the printed sampler: `path="mh"` without regraft. Without a penalty it is valid but slow.
    means : {"sampled", "collapsed"}, default="sampled"
        With `likelihood=None`: sample the components' means, or integrate them out (missing cells are then allowed).
    center : bool, default=False
        Subtract the columns' means.
    scale : None, "unit" or float, default=None
        Divide all cells by this number; "unit": by the number that makes the mean variance of the columns 1.
    n_pca : int, optional
        Use this many leading principal components of the centred rows.
    select : {"central", "best", "frequent", "consensus"}, default="central"
        Which tree is shown: the draw nearest to all others (least mean squared distance of path overlaps), the draw of
        the largest complete-data likelihood (small and unrepresentative, as a rule), the most frequent tree, or the
        partitions of least expected loss, level by level.
    n_chains, n_tune, n_draws, thin : int
        Chains, sweeps of burn-in, stored draws of each chain, sweeps per draw.
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
    level_labels_ : int64 array of shape (n_rows, depth)
        Node of each row at each level of the tree shown, including only children; 0, 1, ... within each level.
    labels_ : int64 array of shape (n_rows,)
        Its leaves: the last column of `level_labels_`.
    n_clusters_ : int
        Number of leaves.
    tree_ : Tree
        The tree without only children, rows below its leaves. Columns of its nodes: `level`, `credibility` (share of
        draws in which exactly these rows are a node) and `log_merge_odds` (log odds that two of its rows share a leaf).
    scores_ : dict
        "cdl" and "rcdl", log complete-data likelihood of the draw shown, without and with the penalty (nan for a
        consensus); "aid" and "aod", inner and outer distance of the tree shown.
    selected_draw_ : DrawPlace or None
        Chain and index of the draw shown; None for a consensus.
    posterior_ : PathPosterior
        `paths` (chain, draw, row, level), partitions of each level, overlaps, scalars, export to ArviZ.
    diagnostics_ : Diagnostics
        r_hat and effective sample sizes of label-free scalars, and a verdict in words.
    converged_ : bool
    alpha_, gamma_, gamma0_, component_variance_, base_variance_ : float
        Posterior means, or as given.
    likelihood_ : Likelihood
    acceptance_ : dict
        How many paths changed and how many subtrees moved.
    log_evidence_ : float
        With `method="variational"`: the bound on the log evidence given the parameters above. It can be compared with
        that of other variational fits to the same rows, with other depths or concentrations.
    bound_trace_ : array
        With `method="variational"`: the bound plus the log prior density of learned parameters, round by round. Not
        stored in model files.
    result_ : Result

    Notes
    -----
    A row at node z takes child z' with probability N_z' / (N_z + alpha), a new one with alpha / (N_z + alpha).
    Weights: beta_root ~ GEM(gamma0), beta_z ~ DP(gamma, beta_parent); c_n ~ beta_leaf, x_n ~ N(theta_c, s2 I),
    theta ~ N(0, h2 I). "auto" puts Gamma(1, 1) priors on concentrations, and inverse Gamma priors of shape 2 on the
    variances, whose means are the values that raise the evidence bound of a tree of the rows (of many, of 400); chains
    begin there, and collapsed components (`means="collapsed"`) keep these values.

    In the variational approximation rows choose components independently of one another, each component has one leaf
    and one table per node, and weights and means have the best distributions given that. Neither the tree nor the
    number of components varies, and the component probabilities of rows are too close to 0 and 1, as is usual for
    mean-field approximations.

    A new row joins a leaf or branches off below an inner node; `predict_proba` gives the probability of the leaves of
    the tree shown and, last, of all new branches.

    References
    ----------
    W. Huang, T. L. J. Ng, N. Laitonjam and N. J. Hurley, Posterior regularisation on Bayesian hierarchical mixture
    clustering, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesgrove as bg
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(centre, 0.3, (15, 2)) for centre in ((-3, -3), (-3, -1), (4, 0))])
    >>> model = bg.BHMC(depth=2, component_variance=0.1, base_variance=9.0, n_chains=2, n_draws=300, random_state=0)
    >>> model.fit(X).level_labels_.shape
    (45, 2)
    >>> model.predict_proba([[4.0, 0.0]]).shape[1] == model.n_clusters_ + 1
    True
    >>> overlap = model.posterior_.path_overlap()  # nodes below the root that two paths share, of 2
    >>> bool(overlap[0, 1] > overlap[0, 40])
    True
    """

    def __init__(
        self,
        likelihood: Any = None,
        depth: int = 3,
        alpha: Any = 0.4,
        gamma: Any = 1.0,
        gamma0: Any = 0.85,
        component_variance: Any = "auto",
        base_variance: Any = "auto",
        *,
        n_components: int | None = None,
        path: str = "gibbs",
        regraft: bool = True,
        split_merge: bool = False,
        method: str = "mcmc",
        sampler: str = "exact",
        means: str = "sampled",
        center: bool = False,
        scale: Any = None,
        n_pca: int | None = None,
        select: str = "central",
        n_chains: int = 4,
        n_tune: int = 500,
        n_draws: int = 1000,
        thin: int = 1,
        run_dir: Any = None,
        resume: bool = False,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.depth = depth
        self.alpha = alpha
        self.gamma = gamma
        self.gamma0 = gamma0
        self.component_variance = component_variance
        self.base_variance = base_variance
        self.n_components = n_components
        self.path = path
        self.regraft = regraft
        self.split_merge = split_merge
        self.method = method
        self.sampler = sampler
        self.means = means
        self.center = center
        self.scale = scale
        self.n_pca = n_pca
        self.select = select
        self.n_chains = n_chains
        self.n_tune = n_tune
        self.n_draws = n_draws
        self.thin = thin
        self.run_dir = run_dir
        self.resume = resume
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _is_variational(self) -> bool:
        return self.method == "variational"

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("method", self.method, METHODS)
        if not self._is_variational:
            return
        if not self._is_sampled() or self.n_components is not None or self.sampler != "exact":
            raise InvalidSettingError(
                'method="variational" takes spherical Gaussian components, countably many, with complete rows: leave '
                'likelihood, n_components, means and sampler as they are, or take method="mcmc".',
                setting="method",
            )

    def _make_target(self, bound: Bound, numbers: Numbers) -> Target:
        target = super()._make_target(bound, numbers)
        if not self._is_variational:
            return target
        found = search(bound.values, self.depth, numbers.values, numbers.hyperpriors)
        self._approximation, self.bound_trace_ = found.approximation, np.array(found.trace)
        self.log_evidence_ = (
            found.log_evidence + bound.log_measure + self._preparation.log_measure() * len(bound.values)
        )
        fixed = np.full_like(target.hyperpriors, np.nan)
        return target._replace(values=found.approximation.values, hyperpriors=fixed)

    def _make_sampler(self, target: Target) -> Any:
        if not self._is_variational:
            return super()._make_sampler(target)
        about = {**self._fingerprint(), "method": self.method}
        return VariationalSampler(target, self._bound.log_measure, about, self._approximation)

    def _make_schedule(self) -> Any:
        return draw_schedule(self.thin) if self._is_variational else super()._make_schedule()

    def _diagnose(self, posterior: Posterior) -> Diagnostics:
        found = super()._diagnose(posterior)
        return replace(found, verdict=Verdict(True, APPROXIMATE, posterior.n_draws)) if self._is_variational else found

    def _extra_numbers(self) -> dict[str, float]:
        return {"log_evidence": self.log_evidence_} if self._is_variational else {}

    def _restore_numbers(self, numbers: dict[str, float]) -> None:
        if self._is_variational:
            self.log_evidence_ = numbers["log_evidence"]
            if not np.isfinite(self.log_evidence_):
                raise InvalidFileError("the bound on the evidence is not finite")

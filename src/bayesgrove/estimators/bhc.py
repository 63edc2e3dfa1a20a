"""`BHC`: exact greedy Bayesian hierarchical clustering."""

from typing import Any

from joblib import effective_n_jobs

from bayesgrove.agglomeration.exact import SCORES
from bayesgrove.estimators.settings import check_choice, check_positive, check_whole
from bayesgrove.estimators.tree_clusterer import TreeClusterer
from bayesgrove.likelihoods import Bound
from bayesgrove.models.bhc.fit import ExactOptions, Fitted, fit_exact


class BHC(TreeClusterer):
    """Bayesian hierarchical clustering of rows: a binary tree with the probability of every merge.

    Rows that probably come from one mixture component of a Dirichlet process mixture are merged first. Every
    node carries the log odds that its rows are one cluster; cutting where they turn negative gives clusters
    whose number need not be chosen. About n^2 pair scores: some 20,000 rows in seconds.

    Parameters
    ----------
    likelihood : str or Likelihood, default="auto"
        "auto" chooses a family per column and learns its numbers; a name such as "gaussian" takes sensible
        numbers from the data; an object of `bayesgrove.likelihoods` fixes them.
    concentration : float or "auto", default=1.0
        Concentration of the Dirichlet process (alpha in the papers); "auto" learns it.
    cut : {"half", "map"} or float, default="half"
        Where the tree becomes clusters: from the root down, the first node that is one cluster with at least
        this probability ("half": 0.5), or the most probable partition consistent with the tree.
    hyper : {"auto", "optimize", "fixed"}, default="auto"
        Learn the likelihood's numbers that are marked "auto", all that are not given, or none.
    refine : int, default=0
        Rounds of reassigning rows to the clusters and building again; kept where the evidence bound rises.
    duplicates : {"exact", "merge_first"}, default="exact"
        "merge_first" joins identical rows before all others: quicker on data with many of them.
    scores : {"light", "matrix", "matrix32"}, default="light"
        Compute pair scores again at need, or store them all in double or single precision; the tree is the same.
    memory_limit : float, default=2**30
        Bytes; more is refused before anything is allocated.
    random_state : int, optional
        Only learning from a sample of a large table and `sample` draw numbers.
    n_jobs : int or None, default=2
        Threads for the first round of scores. The tree does not depend on it.
    verbose : int, default=0
        Log more with larger numbers (logger "bayesgrove").

    Attributes
    ----------
    labels_ : int64 array of shape (n_rows,)
        Clusters of the cut, consecutive from 0.
    n_clusters_ : int
    tree_ : Tree
        With columns `log_merge_odds`, `log_q` and `log_d`.
    linkage_matrix_ : array of shape (n_rows - 1, 4)
    log_evidence_ : float
        Lower bound on the log evidence of the Dirichlet process mixture.
    likelihood_ : Likelihood
        All numbers as used.
    concentration_ : float
    result_ : Result

    Notes
    -----
    g_k = log alpha + lgamma(n_k) + log marginal of the rows below k; q_k = log(exp(g_k) + exp(q_a + q_b)); the
    log odds of a merge are g_k - q_a - q_b. The largest is merged first. The bound is
    q_root + lgamma(alpha) - lgamma(n + alpha).

    **Erratum** (Heller and Ghahramani 2005, eq. 4): the merge prior pi_k computed by subtraction is lost to
    rounding from about 500 rows on; log odds need no pi_k at all (tests/exact/test_bhc_exact.py).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove import BHC
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(c, 1, (20, 2)) for c in (0, 8)])
    >>> model = BHC(random_state=0).fit(X)
    >>> model.n_clusters_
    2
    >>> model.predict([[8.0, 8.0]]).tolist()
    [1]
    """

    def __init__(
        self,
        likelihood: Any = "auto",
        concentration: Any = 1.0,
        cut: Any = "half",
        *,
        hyper: str = "auto",
        refine: int = 0,
        duplicates: str = "exact",
        scores: str = "light",
        memory_limit: float = 2.0**30,
        random_state: Any = None,
        n_jobs: int | None = 2,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.concentration = concentration
        self.cut = cut
        self.hyper = hyper
        self.refine = refine
        self.duplicates = duplicates
        self.scores = scores
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_settings(self) -> None:
        super()._check_settings()
        check_whole("refine", self.refine, 0)
        check_choice("duplicates", self.duplicates, ("exact", "merge_first"))
        check_choice("scores", self.scores, SCORES)
        check_positive("memory_limit", self.memory_limit)

    def _build(self, bound: Bound) -> Fitted:
        options = ExactOptions(self.duplicates, self.scores, self.memory_limit, self.refine)
        n_threads = effective_n_jobs(self.n_jobs)
        return fit_exact(bound, self.concentration, options, self._seed, n_threads, self._progress_callback())

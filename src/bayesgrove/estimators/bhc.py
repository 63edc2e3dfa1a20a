"""`BHC`: Bayesian hierarchical clustering of rows."""

from typing import Any, Self

from joblib import effective_n_jobs

from bayesgrove.agglomeration.exact import SCORES
from bayesgrove.agglomeration.splits import Settings, default_leaf_size
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators.constraints import read_links
from bayesgrove.estimators.settings import check_choice, check_positive, check_whole
from bayesgrove.estimators.tree_clusterer import TreeClusterer
from bayesgrove.likelihoods import Bound, GaussianFull
from bayesgrove.likelihoods.base import LEARN
from bayesgrove.models.bhc.fit import ExactOptions, Fitted, fit_exact
from bayesgrove.models.bhc.fit_randomized import fit_randomized_best
from bayesgrove.stats.links import Links

MOST_FULL_ROWS = 2_000
"""With more rows, "auto" searches for trees of full covariances by samples, as `RandomizedBHC` does."""
TREE_SEED = 0
"""Of these samples: the tree does not depend on `random_state`."""


class BHC(TreeClusterer):
    """Bayesian hierarchical clustering of rows: a binary tree with the probability of every merge.

    The model is a Dirichlet process mixture. Every node has the log odds that its rows are one cluster, given this
    tree; cutting where they turn negative gives components of the mixture, whose number need not be chosen. A cluster
    is a union of components that no valley of the density separates. A fit computes about n^2 pair scores and takes
    seconds for 20,000 rows.

    Parameters
    ----------
    likelihood : str or Likelihood, default="auto"
        "auto" chooses a family per column and learns its hyperparameters; a name such as "gaussian" sets sensible
        hyperparameters from the data; an object of `bayesgrove.likelihoods` fixes them.
    concentration : float or "auto", default=1.0
        Concentration of the Dirichlet process (alpha in the papers); "auto" learns it.
    cut : {"half", "map"} or float, default="half"
        How the tree is cut into clusters: from the root down, at the first node that is one cluster with at least this
        probability ("half": 0.5), or at the most probable partition consistent with the tree.
    search : {"best", "greedy"}, default="best"
        "best" searches for the tree and the hyperparameters of highest evidence bound, as described in the notes.
        "greedy" merges in the published order of Heller and Ghahramani, which chains where clusters are large and
        columns few.
    clusters : {"unions", "components"}, default="unions"
        "unions": components that no valley of the density separates are one cluster, if search="best", cut="half" and
        there are at least 50 rows. Otherwise, for documents, and with "components", each component of the mixture is a
        cluster.
    hyper : {"auto", "optimize", "fixed"}, default="auto"
        Learn the hyperparameters marked "auto", all that are not given, or none. Where any are learned, constant
        columns are left out, and Gaussian cells are known to within their rounding (see `GaussianDiagonal`).
    refine : int, default=0
        With search="greedy": rounds of reassigning rows to the clusters and rebuilding the tree; kept if the evidence
        bound rises.
    duplicates : {"exact", "merge_first"}, default="exact"
        With search="greedy": "merge_first" joins identical rows before all others, which is faster if there are many.
    scores : {"light", "matrix", "matrix32"}, default="light"
        Recompute pair scores when needed, or store them all in double or single precision; the tree is the same.
    partial_labels : bool, default=False
        Whether `y` of `fit` contains labels of some rows, and -1 for all others; otherwise `y` is ignored.
    memory_limit : float, default=2**30
        In bytes; a fit that needs more is refused before anything is allocated.
    random_state : int, optional
        Only learning from a sample of a large table and `sample` use random numbers.
    n_jobs : int or None, default=2
        Threads for the first round of scores. The tree does not depend on it.
    verbose : int, default=0
        Log more with larger numbers (logger "bayesgrove").

    Attributes
    ----------
    labels_ : int64 array of shape (n_rows,)
        Clusters, consecutive from 0.
    n_clusters_ : int
    component_labels_ : int64 array of shape (n_rows,)
        Components of the mixture: the cut of the tree.
    n_components_ : int
    tree_ : Tree
        With columns `log_merge_odds`, `log_q` and `log_d`.
    linkage_matrix_ : array of shape (n_rows - 1, 4)
    log_evidence_ : float
        Lower bound on the log evidence of the Dirichlet process mixture.
    likelihood_ : Likelihood
        With all hyperparameters as used, and the grain of Gaussian columns.
    concentration_ : float
    result_ : Result

    Notes
    -----
    g_k = log alpha + lgamma(n_k) + log marginal of the rows below k; q_k = log(exp(g_k) + exp(q_a + q_b)); the
    log odds of a merge are g_k - q_a - q_b. The bound is q_root + lgamma(alpha) - lgamma(n + alpha). It holds for any
    binary tree and any hyperparameters, so that two of them can be compared without labels.

    search="best" builds a start tree by the largest [log p(ab) - log p(a) - log p(b)] sqrt((n_a + n_b) / (n_a n_b)) and
    learns hyperparameters from partitions of it into 2, 4, 8, ... clusters. The best of these is improved by rounds of
    reassigning rows, merging and splitting clusters, learning and regrowing the tree while the bound rises. This is a
    heuristic: the bound is exact, the tree need not be the best one. search="greedy" merges the pair with the largest
    log odds first.

    Families that "auto" chose for the columns of a mixed table are compared once more inside the components; if others
    fit better there, the table is fitted again, and the fit of higher evidence is kept. The same is done where another
    column explains a column better than the clusters do: the explained column is left out, and a line in the log says
    so.

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
        search: str = "best",
        clusters: str = "unions",
        hyper: str = "auto",
        refine: int = 0,
        duplicates: str = "exact",
        scores: str = "light",
        partial_labels: bool = False,
        memory_limit: float = 2.0**30,
        random_state: Any = None,
        n_jobs: int | None = 2,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.concentration = concentration
        self.cut = cut
        self.search = search
        self.clusters = clusters
        self.hyper = hyper
        self.refine = refine
        self.duplicates = duplicates
        self.scores = scores
        self.partial_labels = partial_labels
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None) -> Self:
        """Build the tree and cut it.

        With constraints, partitions that break one have no weight, and no cluster unites rows that must be apart.

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

        def links_of(n_rows: int) -> Links | None:
            links = read_links(self, n_rows, y, must_link, cannot_link)
            if links is not None:
                self._check_constraints()
            return links

        return self._fit(X, links_of)

    def _check_constraints(self) -> None:
        """Refuse settings that know no constraints."""
        wanted = {"refine": 0, "duplicates": "exact"}
        other = [name for name, value in wanted.items() if getattr(self, name) != value]
        if isinstance(self.concentration, str):
            other.append("concentration")
        if other:
            raise InvalidSettingError(
                f"BHC with constraints takes no {other[0]}={getattr(self, other[0])!r}. "
                + ("Give a number." if other[0] == "concentration" else "Leave it at its default."),
                setting=other[0],
            )

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("clusters", self.clusters, ("unions", "components"))
        check_whole("refine", self.refine, 0)
        check_choice("duplicates", self.duplicates, ("exact", "merge_first"))
        if self.search == "best" and (self.refine != 0 or self.duplicates != "exact"):
            raise InvalidSettingError(
                "refine and duplicates belong to the greedy tree, the search does without them; got "
                f"refine={self.refine!r}, duplicates={self.duplicates!r}. Leave them out, or set search='greedy'."
            )
        check_choice("scores", self.scores, SCORES)
        check_positive("memory_limit", self.memory_limit)

    def _searches(self) -> bool:
        return self.search == "best"

    def _revises(self) -> bool:
        return self._searches() and self.hyper != "fixed"

    def _unites(self) -> bool:
        return self.clusters == "unions" and self.cut == "half" and self._searches()

    def _build(self, bound: Bound) -> Fitted:
        links = self._links if self._links is not None and self._links.item.size == len(bound.values) else None
        options = ExactOptions(self.duplicates, self.scores, self.memory_limit, self.refine, self.search, links)
        n_threads = effective_n_jobs(self.n_jobs)
        if (
            links is None
            and self.likelihood == LEARN
            and isinstance(bound.likelihood, GaussianFull)
            and len(bound.values) > MOST_FULL_ROWS
        ):
            shared = (
                self.concentration,
                Settings(default_leaf_size(bound.prior)),
                TREE_SEED,
                n_threads,
                self._progress_callback(),
            )
            return fit_randomized_best(bound, *shared)
        return fit_exact(bound, self.concentration, options, self._seed, n_threads, self._progress_callback())

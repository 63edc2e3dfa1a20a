"""`RandomizedBHC`: Bayesian hierarchical clustering of up to millions of rows."""

from functools import partial
from typing import Any, Self

from joblib import effective_n_jobs

from bayesgrove.agglomeration.dask_rows import DaskRows
from bayesgrove.agglomeration.randomized import default_max_depth
from bayesgrove.agglomeration.splits import Settings, default_leaf_size
from bayesgrove.core.rng import resolve_seed
from bayesgrove.estimators.dask_input import Source, bind_on_cluster, cluster_source
from bayesgrove.estimators.settings import check_choice, check_whole
from bayesgrove.estimators.tree_clusterer import TreeClusterer
from bayesgrove.io.blocks import gather_blocks, is_block_source
from bayesgrove.io.schema import Reading
from bayesgrove.likelihoods import Bound
from bayesgrove.models.bhc.covariance import fit_either
from bayesgrove.models.bhc.fit import Fitted
from bayesgrove.models.bhc.fit_randomized import fit_randomized, fit_randomized_best

CHOICES = {
    "clusters": ("unions", "components"),
    "split": ("cut", "root", "skeleton"),
    "filter_rule": ("normalised", "paper"),
    "inner": ("halve", "truncate"),
    "regraft": (False, True),
}
DIVISION = {
    "max_levels": None,
    "split": "cut",
    "fanout": 64,
    "filter_rule": "normalised",
    "filter_nodes": 4,
    "regraft": True,
    "refine": 1,
}
"""Options of the division by samples with their defaults; the search has none of them."""
LEAST = {"leaf_size": 2, "sample_size": 2, "fanout": 2, "filter_nodes": 1, "max_levels": 0}
OPTIONAL = ("leaf_size", "sample_size", "filter_nodes", "max_levels")


class RandomizedBHC(TreeClusterer):
    """Bayesian hierarchical clustering in about n log n: a million rows in seconds.

    The search of `BHC` runs on a sample of the rows, which gives hyperparameters and clusters. Every row joins the
    cluster that explains it best. Each cluster is then examined by a sample of its own rows and split where its parts
    are clearly apart; rows are reassigned, clusters that are one are merged, and the hyperparameters are learned again
    from all rows. The tree consists of small blocks inside the clusters and a tree over the clusters. Its evidence
    bound is valid for any tree. Tables of at most `sample_size` rows are clustered as by `BHC`, but families of mixed
    columns are not chosen again.

    Parameters
    ----------
    likelihood, concentration, cut, hyper
        As in `BHC`.
    search : {"best", "greedy"}, default="best"
        "best" searches as described above. "greedy" is the published algorithm: the greedy tree of a sample divides
        the rows into groups, every group is divided again until it is one cluster, and hyperparameters are learned
        from a sample. Changing any option that is marked "division" below implies "greedy".
    clusters : {"unions", "components"}, default="unions"
        As for `BHC`.
    sample_size : int, optional
        Rows of the sample; samples of clusters have half as many. Default 1,000; with "greedy" 8 sqrt(n) between 512
        and 4,096.
    leaf_size : int, optional
        Sets of fewer rows are clustered exactly; a value above the number of rows gives exact BHC. Default 256, with
        full covariances 32.
    max_levels : int, optional
        Division: levels before a set is halved; default 4 + 2 log2(n / leaf_size).
    split : {"cut", "root", "skeleton"}, default="cut"
        Division: groups of a sample are its clusters; the two children of its root (the published algorithm); or
        `fanout` nodes whatever their probability.
    fanout : int, default=64
        Division: largest number of groups per division.
    filter_rule : {"normalised", "paper"}, default="normalised"
        Division: how a row chooses its group.
    filter_nodes : int or None, default=4
        Division: nodes of a group that attract rows; None: all.
    inner : {"halve", "truncate"}, default="halve"
        Build trees inside clusters, or take each as one for certain (faster).
    regraft : bool, default=True
        Division: merge the clusters found again, exactly.
    refine : int, default=1
        Division: rounds of reassigning rows and rebuilding the tree.
    random_state : int, optional
    n_jobs : int, default=2
        Threads. The tree does not depend on it.
    verbose : int, default=0

    Attributes
    ----------
    labels_, n_clusters_, tree_, linkage_matrix_, log_evidence_, likelihood_, concentration_, result_
        As in `BHC`.
    depth_ : int
        Divisions by samples on the longest path; 0 if all rows were clustered exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove import RandomizedBHC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2)) + 10.0 * rng.integers(0, 3, (3000, 1))
    >>> RandomizedBHC(random_state=0).fit(X).n_clusters_
    3
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
        sample_size: int | None = None,
        leaf_size: int | None = None,
        max_levels: int | None = None,
        split: str = "cut",
        fanout: int = 64,
        filter_rule: str = "normalised",
        filter_nodes: int | None = 4,
        inner: str = "halve",
        regraft: bool = True,
        refine: int = 1,
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
        self.sample_size = sample_size
        self.leaf_size = leaf_size
        self.max_levels = max_levels
        self.split = split
        self.fanout = fanout
        self.filter_rule = filter_rule
        self.filter_nodes = filter_nodes
        self.inner = inner
        self.regraft = regraft
        self.refine = refine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the tree and cut it.

        Parameters
        ----------
        X : array, data frame, memmap, dask array, list of 2-d blocks, or path to a .npy or .parquet file or a folder
            Blocks and files are read piece by piece. NaN is a missing cell. With a Dask cluster (`distributed.Client`)
            a dask array, or Parquet files that all workers see, stays in parts on its workers; the tree is the same.
        y : ignored
        """
        source = cluster_source(X)
        if source is not None:
            return self._fit_on_cluster(source)
        return super().fit(gather_blocks(X) if is_block_source(X) else X, y)

    def _fit_on_cluster(self, source: Source) -> Self:
        """Build the tree of rows that are on a Dask cluster."""
        self._check_settings()
        self._read_names(source.names, source.kinds, are_default=source.has_default_names)
        self._seed = resolve_seed(self.random_state)
        bound, rows = bind_on_cluster(source, self.likelihood, self.hyper)
        full = self._with_covariances(bound, rows)
        on_cluster = partial(self._grow, remote=rows)
        fitted = on_cluster(bound) if full is None else fit_either(bound, full, rows, self._build, on_cluster)
        self._keep(fitted, source.names)
        return self

    def _check_settings(self) -> None:
        super()._check_settings()
        check_whole("refine", self.refine, 0)
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        for name, least in LEAST.items():
            value = getattr(self, name)
            if value is not None or name not in OPTIONAL:
                check_whole(name, value, least)

    def _searches(self) -> bool:
        return self.search == "best" and not self._divides()

    def _unites(self) -> bool:
        return self.clusters == "unions" and self.cut == "half" and self._searches()

    def _build(self, bound: Bound) -> Fitted:
        return self._grow(bound)

    def _grow(self, bound: Bound, remote: DaskRows | None = None) -> Fitted:
        settings = self._settings(bound, bound.values.shape[0] if remote is None else remote.n_rows)
        n_threads, progress = effective_n_jobs(self.n_jobs), self._progress_callback()
        shared = (bound, self.concentration, settings, self._seed, n_threads, progress)
        if self._searches():
            fitted = fit_randomized_best(*shared, remote=remote)
        else:
            fitted = fit_randomized(*shared, regraft=self.regraft, refine=self.refine, remote=remote)
        self.depth_ = fitted.depth
        return fitted

    def _divides(self) -> bool:
        """Whether any option of the division by samples was changed."""
        return any(getattr(self, name) != default for name, default in DIVISION.items())

    def _settings(self, bound: Bound, n_rows: int) -> Settings:
        """Settings of the splits."""
        leaf_size = default_leaf_size(bound.prior) if self.leaf_size is None else self.leaf_size
        levels = default_max_depth(n_rows, leaf_size) if self.max_levels is None else self.max_levels
        return Settings(
            leaf_size=leaf_size,
            sample_size=self.sample_size,
            max_depth=levels,
            split=self.split,
            fanout=self.fanout,
            filter_rule=self.filter_rule,
            filter_nodes=self.filter_nodes,
            inner=self.inner,
        )

    def _restored(self, reading: Reading) -> None:
        super()._restored(reading)
        self.depth_ = int(reading["details"]["depth"])

"""`RandomizedBHC`: Bayesian hierarchical clustering of up to millions of rows."""

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from bayesgrove.agglomeration.cluster_rows import ClusterRows
from bayesgrove.agglomeration.randomized import default_max_depth
from bayesgrove.agglomeration.splits import Settings
from bayesgrove.core.rng import resolve_seed
from bayesgrove.estimators.cluster_input import Source, bind_on_cluster, cluster_source, read_schema
from bayesgrove.estimators.settings import check_choice, check_whole
from bayesgrove.estimators.tree_clusterer import TreeClusterer
from bayesgrove.io.blocks import gather_blocks, is_block_source
from bayesgrove.likelihoods import Bound
from bayesgrove.models.bhc.fit import Fitted, fit_randomized

CHOICES = {
    "split": ("cut", "root", "skeleton"),
    "filter_rule": ("normalised", "paper"),
    "inner": ("halve", "truncate"),
    "regraft": (False, True),
}
LEAST = {"leaf_size": 2, "sample_size": 2, "fanout": 2, "filter_nodes": 1, "max_levels": 0}
OPTIONAL = ("sample_size", "filter_nodes", "max_levels")


class RandomizedBHC(TreeClusterer):
    """Bayesian hierarchical clustering in about n log n: a million rows in seconds.

    A sample's exact tree divides the rows into groups; every group is divided again until it is one cluster,
    which is halved into small blocks for exact BHC. The clusters found are then merged exactly (regraft), rows
    are reassigned once and the tree is built again (refine). Every step gives a binary tree over all rows, so
    its evidence bound is valid throughout, and a step is kept only where it raises the bound.

    Parameters
    ----------
    likelihood, concentration, cut, hyper
        As in `BHC`; learning takes place on a sample of rows.
    sample_size : int, optional
        Rows of each sample; default 8 sqrt(n) between 512 and 4,096.
    leaf_size : int, default=256
        Sets of fewer rows are clustered exactly; more than all rows: exact BHC.
    max_levels : int, optional
        Divisions by samples before a set is halved; default 4 + 2 log2(n / leaf_size).
    split : {"cut", "root", "skeleton"}, default="cut"
        Groups of a sample: its clusters; the two children of its root (the published algorithm); `fanout` nodes
        whatever their probability.
    fanout : int, default=64
        Most groups of one division.
    filter_rule : {"normalised", "paper"}, default="normalised"
        How a row chooses its group.
    filter_nodes : int or None, default=4
        Nodes of a group that attract rows; None: all.
    inner : {"halve", "truncate"}, default="halve"
        Look inside clusters, or take them as one for certain (quicker).
    regraft : bool, default=True
        Merge the clusters found once more, exactly.
    refine : int, default=1
        Rounds of reassigning rows and building again.
    random_state : int, optional
    n_jobs : int, default=2
        Threads. The tree does not depend on it.
    verbose : int, default=0

    Attributes
    ----------
    labels_, n_clusters_, tree_, linkage_matrix_, log_evidence_, likelihood_, concentration_, result_
        As in `BHC`.
    depth_ : int
        Divisions by samples on the longest path.

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
        hyper: str = "auto",
        sample_size: int | None = None,
        leaf_size: int = 256,
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
        """Build the tree of rows that stand on a cluster."""
        self._check_settings()
        read_schema(self, source)
        self._seed = resolve_seed(self.random_state)
        bound, rows = bind_on_cluster(source, self.likelihood, self.hyper)
        self._keep(self._grow(bound, rows), source.names)
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

    def _build(self, bound: Bound) -> Fitted:
        return self._grow(bound)

    def _grow(self, bound: Bound, remote: ClusterRows | None = None) -> Fitted:
        n_rows = bound.values.shape[0] if remote is None else remote.n_rows
        fitted = fit_randomized(
            bound,
            self.concentration,
            self._settings(n_rows),
            self._seed,
            effective_n_jobs(self.n_jobs),
            self._progress_callback(),
            regraft=self.regraft,
            refine=self.refine,
            remote=remote,
        )
        self.depth_ = fitted.depth
        return fitted

    def _settings(self, n_rows: int) -> Settings:
        """Settings of the splits."""
        levels = default_max_depth(n_rows, self.leaf_size) if self.max_levels is None else self.max_levels
        return Settings(
            leaf_size=self.leaf_size,
            sample_size=self.sample_size,
            max_depth=levels,
            split=self.split,
            fanout=self.fanout,
            filter_rule=self.filter_rule,
            filter_nodes=self.filter_nodes,
            inner=self.inner,
        )

    def _restore(self, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._restore(document, arrays)
        self.depth_ = int(document["details"]["depth"])

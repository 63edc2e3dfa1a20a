"""`RandomizedBHCC`: cross-clustering of wide and long tables."""

from typing import Any, Self

from bayesgrove.estimators.cross_inputs import per_column
from bayesgrove.estimators.cross_trees import CrossTreeClusterer
from bayesgrove.estimators.dask_input import Source, bind_on_cluster, cluster_source
from bayesgrove.estimators.settings import check_choice, check_whole
from bayesgrove.io.blocks import gather_blocks, is_block_source
from bayesgrove.likelihoods import Bound
from bayesgrove.models.cross.dask_table import CrossRows
from bayesgrove.models.cross.fit import Fitted
from bayesgrove.models.cross.randomized import RULES, RandomizedSettings
from bayesgrove.models.cross.search import SearchSettings


class RandomizedBHCC(CrossTreeClusterer):
    """Cross-clustering in time that is about linear in the columns and, for large tables, in the rows.

    The exact tree of a sample of columns divides all columns in two; both sides are divided again until they are small
    or `max_levels` deep, where a set is taken as one view. Columns are then moved between the views found, and between
    views at random, while the bound rises (polish); the better result is kept. Every step gives a tree of all columns,
    so its bound is valid throughout.

    Parameters
    ----------
    likelihood, row_concentration, column_concentration, evidence, cut, hyper, unseen, row_search
        As in `BHCC`.
    max_levels : int, default=6
        Divisions on one path; a set at this depth is taken as one view.
    sample_size : int, default=20
        Columns of each sample.
    leaf_size : int, default=6
        Sets of fewer columns are searched exactly.
    filter_rule : {"mass", "paper"}, default="mass"
        How a column chooses its side.
    polish : bool, default=True
        Whether columns are afterwards moved between the views of the cut, and between forty random views.
    row_method : {"auto", "exact", "randomized"}, default="auto"
        Build row trees from all pairs, or from samples; "auto": from samples above 2,000 rows.
    row_sample : int, default=500
        Number of rows from which views are found if row trees are built from samples.
    random_state : int, optional
    n_jobs : int or None, default=2
        Threads. The result does not depend on it.
    verbose : int, default=0

    Attributes
    ----------
    view_labels_, views_, n_views_, column_tree_, labels_, tree_, n_clusters_, log_evidence_, same_view_probability_
        As in `BHCC`.
    likelihood_, row_concentration_, column_concentration_, search_, result_
        As in `BHCC`.

    Notes
    -----
    A column y goes to the side s with the largest lse over the nodes k of s of log omega_k + log N_k + log p(y | k),
    with omega_k the probability that k is exactly one view and N_k its columns. A truncated set has q = g.

    **Erratum** (Li and Shafto 2011, algorithm 2, line 8): pi is the prior of merging inside a subtree, 1 for a leaf,
    and not the weight of joining that side; filter_rule="paper" uses it as printed (tests/exact/test_bhcc_searches.py,
    test_golden_filter).

    With many rows the views, the column tree and the hyperparameters come from `row_sample` rows; the row trees of the
    views are then grown over all rows by the algorithm of `RandomizedBHC`, columns are moved against them, and the
    evidence of every node of the column tree is computed over all rows on the best of these trees: a valid bound, as it
    is for any tree.

    Examples
    --------
    >>> from bayesgrove import RandomizedBHCC
    >>> from bayesgrove.datasets import make_cross_table
    >>> from bayesgrove.likelihoods import Binomial
    >>> table = make_cross_table(n_rows=60, view_columns=(12, 18), view_clusters=(3, 4), random_state=0)
    >>> RandomizedBHCC(Binomial(n_trials=50), random_state=0).fit(table.X).n_views_
    2
    """

    def __init__(
        self,
        likelihood: Any = "auto",
        row_concentration: Any = 1.0,
        column_concentration: Any = 1.0,
        *,
        max_levels: int = 6,
        sample_size: int = 20,
        leaf_size: int = 6,
        filter_rule: str = "mass",
        evidence: str = "bound",
        polish: bool = True,
        cut: Any = "half",
        hyper: str = "auto",
        unseen: str = "error",
        row_search: str = "best",
        row_method: str = "auto",
        row_sample: int = 500,
        random_state: Any = None,
        n_jobs: int | None = 2,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.row_concentration = row_concentration
        self.column_concentration = column_concentration
        self.max_levels = max_levels
        self.sample_size = sample_size
        self.leaf_size = leaf_size
        self.filter_rule = filter_rule
        self.evidence = evidence
        self.polish = polish
        self.cut = cut
        self.hyper = hyper
        self.unseen = unseen
        self.row_search = row_search
        self.row_method = row_method
        self.row_sample = row_sample
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_settings(self) -> None:
        super()._check_settings()
        for name, least in (("max_levels", 0), ("sample_size", 2), ("leaf_size", 3)):
            check_whole(name, getattr(self, name), least)
        check_choice("filter_rule", self.filter_rule, RULES)
        check_choice("polish", self.polish, (True, False))

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find views of the columns and a hierarchy of rows in each.

        Parameters
        ----------
        X : array, data frame, dask array, list of 2-d blocks, or path to a .npy or .parquet file or a folder of them
            Blocks and files are read piece by piece into one table of this process. NaN is a missing cell. With a Dask
            cluster (`distributed.Client`), a dask array, or Parquet files that all workers see, with more rows than are
            searched exactly, stays on the workers; the views and trees are the same.
        y : ignored
        """
        source = cluster_source(X)
        if source is not None and not self._grows_exactly(int(source.edges[-1])):
            return self._fit_on_cluster(source)
        return super().fit(gather_blocks(X) if is_block_source(X) else X, y)

    def _fit_on_cluster(self, source: Source) -> Self:
        """Find views of a table whose rows stand on a cluster."""
        self._check_settings()
        self._read_names(source.names, source.kinds, are_default=source.has_default_names)
        self._given_as, self._kinds = "array", source.kinds
        n_columns, unseen = len(source.names), self.unseen
        bound, rows = bind_on_cluster(
            source, self.likelihood, self.hyper, lambda found: per_column(found, n_columns, unseen)
        )
        cells: Any = CrossRows(rows.client, rows.values, rows.edges, rows.complete)
        self._fit_bound(bound._replace(values=cells))
        self._answers.prepare()
        return self

    def _build(self, bound: Bound, n_threads: int) -> Fitted:
        how = RandomizedSettings(self.sample_size, self.leaf_size, self.max_levels, self.filter_rule)
        settings = SearchSettings("randomized", self.polish, n_starts=1, randomized=how, seed=self._seed)
        return self._search(bound, settings, n_threads)

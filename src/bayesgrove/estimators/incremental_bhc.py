"""`IncrementalBHC`: Bayesian hierarchical clustering of rows that arrive one after another."""

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from bayesgrove.agglomeration.learn import evidence_bound
from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidFileError, InvalidTableError
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.core.table import table_from_array
from bayesgrove.estimators.inputs import read_input
from bayesgrove.estimators.settings import check_choice, check_positive, check_whole
from bayesgrove.estimators.tree_clusterer import TreeClusterer
from bayesgrove.io.frames import joined_names, row_names
from bayesgrove.likelihoods import Bound, bind, encode
from bayesgrove.models.bhc.fit import Fitted, new_problem
from bayesgrove.models.nrm.incremental import IncrementalForest, best_forest, stream_into
from bayesgrove.models.nrm.joining import joined_tree, log_prior_weights
from bayesgrove.models.nrm.packing import check_pairs, pack_forest
from bayesgrove.stats.processes import dirichlet_log_kappa
from bayesgrove.trees import Tree

SHUFFLE_PATH = 0x1B4C


class IncrementalBHC(TreeClusterer):
    """Bayesian hierarchical clustering of a stream: rows are inserted into a forest, one after another.

    Every row joins the nearest tree of the forest if the two are one cluster with probability at least 1/2, else it
    becomes a tree of its own; inside the tree it goes down to where it belongs, and a tree that is no longer one
    cluster is split again. `partial_fit` takes rows as they arrive. The trees are at last joined into one.

    Parameters
    ----------
    likelihood : str or Likelihood, default="auto"
        As in `BHC`. The first rows fix it: numbers learned, columns, categories.
    concentration : float or "auto", default=1.0
        Concentration of the Dirichlet process; "auto" learns it from the first rows.
    cut : {"roots", "half", "map"} or float, default="roots"
        The clusters: the trees of the forest, or a cut of the joined tree as in `BHC`. "half" also unites trees that
        have grown alike since they were founded.
    hyper : {"auto", "optimize", "fixed"}, default="auto"
        As in `BHC`; learning takes place on a sample of the first rows.
    n_init : int, default=1
        Orders tried by `fit`; the clusters of the highest joint probability are kept.
    shuffle : bool, default=True
        `fit` inserts in random orders, else (with one order) in that of the rows. `partial_fit` never shuffles.
    noisy : bool, default=False
        Join the nearest tree at its top, without looking for the right place and without splits: much quicker, poorer.
    memory_limit : float, default=2**31
        Bytes for forests; more is refused before anything is allocated.
    random_state : int, optional
    n_jobs : int or None, default=2
        Threads for several orders. The result does not depend on it.
    verbose : int, default=0
        Log more with larger numbers (logger "bayesgrove").

    Attributes
    ----------
    labels_, n_clusters_, tree_, linkage_matrix_, log_evidence_, likelihood_, concentration_, result_
        As in `BHC`, for all rows seen so far. The column `in_forest` of the tree is 0 where trees were joined.
    n_rows_seen_ : int

    Notes
    -----
    About n (trees + 3 depth) marginals; depth grows with the largest cluster. Rows seen are kept, encoded, because
    trees may be split at any time; so memory grows with the stream. How a stream is divided into calls of
    `partial_fit` after the first changes nothing, but each call ends with work proportional to the rows seen.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove import IncrementalBHC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) + 9.0 * rng.integers(0, 3, (300, 1))
    >>> model = IncrementalBHC(random_state=0).partial_fit(X[:100])
    >>> for batch in np.split(X[100:], 10):
    ...     model = model.partial_fit(batch)
    >>> model.n_rows_seen_, model.n_clusters_
    (300, 3)
    """

    n_rows_seen_: int

    def __init__(
        self,
        likelihood: Any = "auto",
        concentration: Any = 1.0,
        cut: Any = "roots",
        *,
        hyper: str = "auto",
        n_init: int = 1,
        shuffle: bool = True,
        noisy: bool = False,
        memory_limit: float = 2.0**31,
        random_state: Any = None,
        n_jobs: int | None = 2,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.concentration = concentration
        self.cut = cut
        self.hyper = hyper
        self.n_init = n_init
        self.shuffle = shuffle
        self.noisy = noisy
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_settings(self) -> None:
        super()._check_settings()
        check_whole("n_init", self.n_init, 1)
        check_choice("shuffle", self.shuffle, (False, True))
        check_choice("noisy", self.noisy, (False, True))
        check_positive("memory_limit", self.memory_limit)

    def _front(self, tree: Tree) -> np.ndarray:
        """The roots of the forest, or a cut of the joined tree."""
        if self.__dict__["cut"] != "roots":
            return super()._front(tree)
        in_forest = tree.columns.get("in_forest", np.ones(tree.n_nodes)) > 0.0
        is_root = in_forest & ((tree.parent == NULL) | ~in_forest[tree.parent])
        return np.flatnonzero(is_root)

    def _build(self, bound: Bound) -> Fitted:
        n = bound.values.shape[0]
        n_threads = effective_n_jobs(self.n_jobs)
        problem, bound = new_problem(bound, self.concentration, self._seed, n_threads)
        orders = [generator(self._seed, SHUFFLE_PATH, s).permutation(n) for s in range(self.n_init)]
        found = best_forest(
            bound.prior,
            bound.values,
            dirichlet_log_kappa(problem.log_concentration, n),
            orders if self.shuffle else [np.arange(n)],
            noisy=self.noisy,
            n_threads=n_threads,
            memory_limit=self.memory_limit,
            progress=self._progress_callback(),
        )
        return self._finished(bound, problem.log_concentration, found)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Insert more rows, in their order, into the forest so far; the first ones fix the likelihood.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_columns)
            Columns and categories of the first rows. NaN is a missing cell where the likelihood allows it.
        y : ignored
            For scikit-learn's sake.
        """
        self._check_settings()
        is_first = not hasattr(self, "tree_")
        bound, log_concentration = self._first_rows(X) if is_first else self._more_rows(X)
        try:
            found = stream_into(
                bound.prior,
                bound.values,
                np.empty((0, 2), np.int64) if is_first else self._pairs,
                dirichlet_log_kappa(log_concentration, bound.values.shape[0]),
                0 if is_first else self.n_rows_seen_,
                noisy=self.noisy,
                memory_limit=self.memory_limit,
                progress=self._progress_callback(),
            )
        except KeyboardInterrupt:
            raise KeyboardInterrupt("partial_fit was interrupted; none of its rows was kept") from None
        if not is_first:
            n_new = bound.values.shape[0] - self.n_rows_seen_
            self._row_names = joined_names(self._row_names, self.n_rows_seen_, row_names(X), n_new)
        self._keep(self._finished(bound, log_concentration, found), self._schema[0])
        return self

    def _first_rows(self, X: Any) -> tuple[Bound, float]:
        """Likelihood and concentration from the first rows."""
        table = read_input(self, X, reset=True)
        self._seed = resolve_seed(self.random_state)
        bound = bind(self.likelihood, table, self.hyper)
        problem, bound = new_problem(bound, self.concentration, self._seed, effective_n_jobs(self.n_jobs))
        return bound, problem.log_concentration

    def _more_rows(self, X: Any) -> tuple[Bound, float]:
        """The known rows and the new ones under the likelihood there is."""
        values, log_measure = self._encoded(X)
        if values.shape[0] == 0:
            raise InvalidTableError("partial_fit needs at least one row, got none. Skip empty batches.")
        bound = self._bound._replace(
            values=np.concatenate([self._values, values]),
            log_measure=self._bound.log_measure + float(np.sum(log_measure)),
        )
        return bound, self._predictive.log_concentration

    def _finished(self, bound: Bound, log_concentration: float, found: IncrementalForest) -> Fitted:
        """The joined tree and its evidence bound; the forest's shape is kept for more rows."""
        n = bound.values.shape[0]
        log_kappa = dirichlet_log_kappa(log_concentration, n)
        joined = joined_tree(bound.prior, found.forest, log_kappa, n)
        in_forest = np.ones(2 * n - 1)
        in_forest[2 * n - 1 - joined.n_joins :] = 0.0
        columns = {
            "log_q": joined.log_tree,
            "log_d": log_prior_weights(joined.children, log_kappa),
            "in_forest": in_forest,
        }
        tree = Tree.from_merges(joined.children, log_merge_odds=-joined.log_d, columns=columns)
        evidence = evidence_bound(float(joined.log_tree[-1]), n, log_concentration) + bound.log_measure
        self._pairs = pack_forest(found.forest)["pairs"]
        steps = {"n_roots": float(joined.n_joins + 1), "n_placed": float(found.n_pops)}
        return Fitted(bound, log_concentration, tree, evidence, 0, steps, bound.values)

    def _keep(self, fitted: Fitted, names: tuple[str, ...]) -> None:
        super()._keep(fitted, names)
        self._values = fitted.bound.values
        self.n_rows_seen_ = self._values.shape[0]

    def _file_parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """With what more rows need: the rows so far and the shape of the forest."""
        document, arrays = super()._file_parts()
        return document, {**arrays, "stream_values": self._values, "stream_pairs": self._pairs}

    def _restore(self, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._restore(document, arrays)
        n, values = self.labels_.size, np.ascontiguousarray(arrays["stream_values"])
        if values.dtype != np.float64 or values.shape != (n, self.n_features_in_):
            raise InvalidFileError("the rows of the stream do not fit the tree")
        again, _ = encode(self._bound, table_from_array(self._bound.encoding.undo(values)))
        if not np.allclose(again, values, rtol=1e-6, atol=1e-9, equal_nan=True):
            raise InvalidFileError("the rows of the stream do not fit the likelihood")
        self._values, self._pairs, self.n_rows_seen_ = values, check_pairs(arrays["stream_pairs"], n), n

"""`IncrementalBHC`: Bayesian hierarchical clustering of rows that arrive one after another."""

from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs

from bayesgrove.agglomeration.learn import evidence_bound
from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidFileError, InvalidTableError
from bayesgrove.core.rng import generator, resolve_seed
from bayesgrove.core.table import table_from_array
from bayesgrove.estimators.settings import check_choice, check_positive, check_whole
from bayesgrove.estimators.tree_clusterer import TreeClusterer
from bayesgrove.io.frames import joined_names, row_names
from bayesgrove.io.schema import Field, Part, Reading, array, floats, json_value
from bayesgrove.likelihoods import Bound, bind, encode, relearned
from bayesgrove.likelihoods.bind import decode
from bayesgrove.models.bhc.basis import Basis, basis_from_document, basis_to_document, first_basis
from bayesgrove.models.bhc.fit import Fitted, new_problem
from bayesgrove.models.bhc.rebuild import most_searched, rebuilt
from bayesgrove.models.nrm.forest import Forest, refuse_too_large
from bayesgrove.models.nrm.incremental import best_forest, stream_into
from bayesgrove.models.nrm.insertion import NO_PAIRS, StreamState, streamed
from bayesgrove.models.nrm.joining import joined_tree, log_prior_weights
from bayesgrove.models.nrm.packing import check_pairs, pack_forest, unpack_forest
from bayesgrove.stats.processes import dirichlet_log_kappa
from bayesgrove.trees import Tree

SHUFFLE_PATH = 0x1B4C


class Found(NamedTuple):
    """A fit, and what more rows need besides."""

    fitted: Fitted
    pairs: np.ndarray
    """Shape of the forest."""
    basis: Basis | None = None
    """What rebuilds start from; None where there are none."""
    where: np.ndarray = np.zeros(0)

    @property
    def log_evidence(self) -> float:
        """Lower bound."""
        return self.fitted.log_evidence


def finished(
    bound: Bound, log_concentration: float, forest: Forest, steps: dict[str, float], *, tempered: bool
) -> Found:
    """The joined tree of a forest and its evidence bound."""
    n, complete = bound.values.shape[0], not bool(np.isnan(bound.values).any())
    log_kappa = dirichlet_log_kappa(log_concentration, n)
    joined = joined_tree(bound.prior, forest, log_kappa, n, tempered=tempered, complete=complete)
    in_forest = np.ones(2 * n - 1)
    in_forest[2 * n - 1 - joined.n_joins :] = 0.0
    columns = {
        "log_q": joined.log_tree,
        "log_d": log_prior_weights(joined.children, log_kappa),
        "in_forest": in_forest,
    }
    tree = Tree.from_merges(joined.children, log_merge_odds=-joined.log_d, columns=columns)
    evidence = evidence_bound(float(joined.log_tree[-1]), n, log_concentration) + bound.log_measure
    steps = {"n_roots": float(joined.n_joins + 1), **steps}
    fitted = Fitted(bound, log_concentration, tree, evidence, 0, steps, bound.values, complete)
    return Found(fitted, pack_forest(forest)["pairs"])


class IncrementalBHC(TreeClusterer):
    """Bayesian hierarchical clustering of a stream: rows are inserted into a forest, one after another.

    Every row joins the cluster that explains it best, or becomes a cluster of its own; it then descends the tree of its
    cluster to the place where it belongs. `partial_fit` takes rows as they arrive. Whenever the number of rows has
    grown by half, clusters, trees and hyperparameters are rebuilt from all rows seen. The trees are finally joined into
    one.

    Parameters
    ----------
    likelihood : str or Likelihood, default="auto"
        As in `BHC`. The first rows fix its families, columns, encoding and categories.
    concentration : float or "auto", default=1.0
        Concentration of the Dirichlet process; "auto" learns it.
    cut : {"roots", "half", "map"} or float, default="roots"
        The clusters: the trees of the forest, or a cut of the joined tree as in `BHC`. "half" also unites trees that
        have become similar since they were started.
    search : {"best", "greedy"}, default="best"
        "best" inserts by predictive weights and rebuilds as described in the notes. "greedy" is the published IBHC:
        rows are inserted by merge odds, trees that are no longer one cluster are split, and hyperparameters are
        learned from the first rows only. It is known to build chains in few dimensions.
    hyper : {"auto", "optimize", "fixed"}, default="auto"
        As in `BHC`. Hyperparameters are learned again at every rebuild; with `search="greedy"`, only from a sample of
        the first rows.
    n_init : int, default=1
        Number of insertion orders tried by `fit`; the one of highest evidence is kept (`search="greedy"`: of highest
        joint probability). Tables that are searched as a whole need no order.
    shuffle : bool, default=True
        Whether `fit` inserts rows in random order; if False (with one order), in the order given. `partial_fit` never
        shuffles.
    noisy : bool, default=False
        Join a tree at its top, without searching for the right place, and without splits if `search="greedy"`: faster,
        but the trees are poorer.
    memory_limit : float, default=2**31
        Bytes for forests; a fit that needs more is refused before anything is allocated.
    random_state : int, optional
    n_jobs : int or None, default=2
        Number of threads. The result does not depend on it.
    verbose : int, default=0
        Log more with larger numbers (logger "bayesgrove").

    Attributes
    ----------
    labels_, n_clusters_, tree_, linkage_matrix_, log_evidence_, likelihood_, concentration_, result_
        As in `BHC`, for all rows seen so far. `likelihood_` and `concentration_` are those of the last rebuild; the
        evidence is that of all rows under them. The column `in_forest` of the tree is 0 where trees were joined.
    n_rows_seen_ : int

    Notes
    -----
    A new row x joins the tree of largest m p(x | its m rows), unless the concentration times p(x) is larger: about
    n (trees + 3 depth) marginals for n rows.

    Rebuilds take place at 16, 24, 36, 54, ... rows, and after the rows of `fit` or of the first `partial_fit`. Up
    to 2,000 rows (500 where cells are missing or columns are mixed) they are searched as `BHC` searches them, but
    with independent columns and without unions of components. More rows are reassigned, clusters merged and
    reopened, hyperparameters learned from the partition and trees built from blocks, which takes time proportional
    to rows times clusters. Labels and hyperparameters change at a rebuild. The schedule depends only on the number
    of rows: how a stream is divided into calls of `partial_fit` after the first does not change the result, but
    each call ends with work proportional to the rows seen, so prefer batches to single rows.

    All rows are stored, encoded, because rebuilds need them; memory grows with the stream. A column that is constant in
    the first rows is left out for good where hyperparameters are learned: give a first batch that shows all columns.

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
    _pairs: np.ndarray
    _basis: Basis | None
    _where: np.ndarray

    _layout = (
        *TreeClusterer._layout,
        Field("stream_values", floats("rows", "columns", finite=False), "_values"),
        Field("stream_pairs", array(np.int64, "joins", 2), "_pairs"),
        Part(
            "stream_basis",
            lambda model: model._basis is not None,
            (
                Field("stream_basis", json_value(dict), lambda model: basis_to_document(model._basis, model._bound)),
                Field("stream_where", floats("learned"), "_where"),
            ),
        ),
    )

    def __init__(
        self,
        likelihood: Any = "auto",
        concentration: Any = 1.0,
        cut: Any = "roots",
        *,
        search: str = "best",
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
        self.search = search
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
        found = self._best_of_orders(bound) if self.search == "best" else self._greedy_of_orders(bound)
        return self._accepted(found)

    def _greedy_of_orders(self, bound: Bound) -> Found:
        """All rows inserted as published, in the best of several orders."""
        n_threads = effective_n_jobs(self.n_jobs)
        problem, bound = new_problem(bound, self.concentration, self._seed, n_threads)
        found = best_forest(
            bound.prior,
            bound.values,
            dirichlet_log_kappa(problem.log_concentration, bound.values.shape[0]),
            self._orders(bound.values.shape[0]),
            noisy=self.noisy,
            n_threads=n_threads,
            memory_limit=self.memory_limit,
            progress=self._progress_callback(),
        )
        steps = {"n_placed": float(found.n_pops)}
        return finished(bound, problem.log_concentration, found.forest, steps, tempered=False)

    def _best_of_orders(self, bound: Bound) -> Found:
        """Few rows searched as a whole; many inserted in several orders, and the clusters of highest evidence."""
        n = bound.values.shape[0]
        orders = [np.arange(n)] if n <= most_searched(bound.prior, bound.values) else self._orders(n)
        return max((self._from_the_first_row(bound, order) for order in orders), key=lambda found: found.log_evidence)

    def _orders(self, n: int) -> list[np.ndarray]:
        """Orders in which `fit` inserts."""
        if not self.shuffle:
            return [np.arange(n)]
        return [generator(self._seed, SHUFFLE_PATH, s).permutation(n) for s in range(self.n_init)]

    def _from_the_first_row(self, bound: Bound, order: np.ndarray) -> Found:
        """A search of the first rows of an order, the others inserted, and all of them rebuilt at last."""
        refuse_too_large(bound.prior, order.size, 1, self.memory_limit)
        basis = first_basis(bound, self.concentration)
        rebuild = self._rebuild(basis)
        values = np.ascontiguousarray(bound.values[order])
        state = rebuild(values[: most_searched(bound.prior, values)], None, None)
        return self._streamed(bound, basis, state, order, finish=True)

    def _streamed(
        self, bound: Bound, basis: Basis, state: StreamState, order: np.ndarray, *, finish: bool = False
    ) -> Found:
        """Rows that a state does not know inserted, rebuilds on the way; back in the order of the table."""
        n, progress = order.size, self._progress_callback()
        values = np.ascontiguousarray(bound.values[order])
        state = streamed(
            state,
            values,
            self._rebuild(basis),
            finish=finish,
            noisy=self.noisy,
            memory_limit=self.memory_limit,
            progress=progress,
        )
        if progress is not None:
            progress(n, n)
        pairs = np.concatenate([order, np.arange(n, 2 * n)])[state.pairs]
        log_kappa = dirichlet_log_kappa(state.log_concentration, n)
        forest = unpack_forest(state.prior, bound.values, log_kappa, {"pairs": pairs}, memory_limit=self.memory_limit)
        found = finished(relearned(bound, state.prior), state.log_concentration, forest, {}, tempered=True)
        return found._replace(basis=basis, where=state.where)

    def _rebuild(self, basis: Basis) -> Any:
        """How the forest of a stream is rebuilt."""
        n_threads = effective_n_jobs(self.n_jobs)

        def rebuild(values: np.ndarray, labels: np.ndarray | None, where: np.ndarray | None) -> StreamState:
            return StreamState(*rebuilt(basis, values, labels, where, n_threads), values.shape[0])

        return rebuild

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Insert more rows into the forest, in their order; the first ones fix the likelihood.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_columns)
            The columns and categories must be those of the first rows. NaN is a missing cell where the likelihood
            allows it.
        y : ignored
            Present for API consistency.
        """
        self._check_settings()
        is_first = not hasattr(self, "tree_")
        bound = self._first_rows(X) if is_first else self._more_rows(X)
        try:
            found = self._insert_best(bound) if self.search == "best" else self._insert_greedily(bound)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("partial_fit was interrupted; none of its rows was kept") from None
        if not is_first:
            n_new = bound.values.shape[0] - self.n_rows_seen_
            self._row_names = joined_names(self._row_names, self.n_rows_seen_, row_names(X), n_new)
        self._keep(self._accepted(found), self._schema[0])
        return self

    def _insert_best(self, bound: Bound) -> Found:
        """New rows by their predictive weights, with rebuilds on the schedule; after the first rows, too."""
        order = np.arange(bound.values.shape[0])
        if not hasattr(self, "tree_"):
            return self._from_the_first_row(bound, order)
        log_concentration = self._predictive.log_concentration
        state = StreamState(bound.prior, log_concentration, self._where, self._pairs, self.n_rows_seen_)
        basis = first_basis(bound, self.concentration) if self._basis is None else self._basis
        return self._streamed(bound, basis, state, order)

    def _insert_greedily(self, bound: Bound) -> Found:
        """New rows as published."""
        pairs, n_known = NO_PAIRS, 0
        if hasattr(self, "tree_"):
            log_concentration, pairs, n_known = self._predictive.log_concentration, self._pairs, self.n_rows_seen_
        else:
            problem, bound = new_problem(bound, self.concentration, self._seed, effective_n_jobs(self.n_jobs))
            log_concentration = problem.log_concentration
        found = stream_into(
            bound.prior,
            bound.values,
            pairs,
            dirichlet_log_kappa(log_concentration, bound.values.shape[0]),
            n_known,
            noisy=self.noisy,
            memory_limit=self.memory_limit,
            progress=self._progress_callback(),
        )
        return finished(bound, log_concentration, found.forest, {"n_placed": float(found.n_pops)}, tempered=False)

    def _first_rows(self, X: Any) -> Bound:
        """The likelihood from the first rows."""
        table = self._read_input(X, reset=True)
        self._seed = resolve_seed(self.random_state)
        # the first rows of a stream cannot tell that two columns will always agree
        return self._without_labels(bind(self.likelihood, table, self.hyper, with_repeats=True))

    def _more_rows(self, X: Any) -> Bound:
        """The known rows and the new ones under the likelihood there is."""
        values, log_measure = self._encoded(X)
        if values.shape[0] == 0:
            raise InvalidTableError("partial_fit needs at least one row, got none. Skip empty batches.")
        return self._bound._replace(
            values=np.concatenate([self._values, values]),
            log_measure=self._bound.log_measure + float(np.sum(log_measure)),
        )

    def _accepted(self, found: Found) -> Fitted:
        """Keep what more rows need; the tree, for all else."""
        self._pairs, self._basis, self._where = found.pairs, found.basis, found.where
        return found.fitted

    def _keep(self, fitted: Fitted, names: tuple[str, ...]) -> None:
        super()._keep(fitted, names)
        self._values = fitted.bound.values
        self.n_rows_seen_ = self._values.shape[0]

    def _restored(self, reading: Reading) -> None:
        super()._restored(reading)
        self._pairs, self.n_rows_seen_ = check_pairs(self._pairs, self.labels_.size), self.labels_.size
        again, _ = encode(self._bound, table_from_array(decode(self._bound, self._values)))
        if not np.allclose(again, self._values, rtol=1e-6, atol=1e-9, equal_nan=True):
            raise InvalidFileError("the rows of the stream do not fit the likelihood")
        self._basis = None
        if reading.has("stream_basis"):
            self._basis = basis_from_document(reading["stream_basis"], self._bound, self.concentration)
        else:
            self._where = np.zeros(0)

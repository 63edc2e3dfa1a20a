"""What BHCC and RandomizedBHCC share: trees of columns and rows, which answer all questions."""

import logging
import math
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from bayesgrove.core.rng import resolve_seed
from bayesgrove.estimators.cross_clusterer import CrossClusterer, Estimate, FittedView
from bayesgrove.estimators.cross_layout import CROSS_TREES, restored_search
from bayesgrove.estimators.cross_queries import FORMS
from bayesgrove.estimators.cut import CutParameter, one_leaf
from bayesgrove.estimators.membership import own_probabilities
from bayesgrove.estimators.settings import check_choice, check_whole
from bayesgrove.io.schema import Reading, require
from bayesgrove.likelihoods import Bound
from bayesgrove.models.cross.evidence import EVIDENCES, ROW_SEARCHES
from bayesgrove.models.cross.fit import Fitted, cut_again, fit_views, problem_of
from bayesgrove.models.cross.large import fit_large, more_rows
from bayesgrove.models.cross.learning import Numbers
from bayesgrove.models.cross.refit import MOST_EXACT_ROWS
from bayesgrove.models.cross.search import CrossFit, SearchSettings
from bayesgrove.models.cross.tree_answers import TreeAnswers, make_tree_answers
from bayesgrove.stats.numbering import by_size
from bayesgrove.trees.cuts import find_front, labels_of_front

ROW_METHODS = ("auto", "exact", "randomized")


class CrossTreeClusterer(CutParameter, CrossClusterer):
    """Base of estimators that end in a tree of columns, each node of which has a tree of rows."""

    evidence: str
    row_search: str
    row_method: str
    row_sample: int

    log_evidence_: float
    search_: str

    _answers: TreeAnswers
    _fit: CrossFit
    _logs: tuple[float, float]
    """Log concentrations of rows and columns, to the last bit."""
    _layout = CROSS_TREES

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find views of the columns and a hierarchy of rows in each.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            NaN is a missing cell.
        y : ignored
            Present for API consistency.
        """
        self._check_settings()
        _, bound = self._bind_input(X)
        return self._fit_bound(bound)

    def _fit_bound(self, bound: Bound) -> Self:
        """Search the views of a bound table."""
        self._seed = resolve_seed(self.random_state)
        try:
            fitted = self._build(bound, effective_n_jobs(self.n_jobs))
        except KeyboardInterrupt:
            raise KeyboardInterrupt("fit was interrupted before the views were found; nothing was kept") from None
        self._keep_fit(fitted)
        return self

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("evidence", self.evidence, EVIDENCES)
        check_choice("row_search", self.row_search, ROW_SEARCHES)
        check_choice("row_method", self.row_method, ROW_METHODS)
        check_whole("row_sample", self.row_sample, 2)
        find_front(one_leaf(), *self._cut_rule())

    def _build(self, bound: Bound, n_threads: int) -> Fitted:
        """The search."""
        raise NotImplementedError

    def _grows_exactly(self, n_rows: int) -> bool:
        """Whether row trees are grown from all pairs of rows; otherwise by samples."""
        if self.row_method == "auto":
            return n_rows <= MOST_EXACT_ROWS
        return self.row_method == "exact"

    def _how(self, n_threads: int) -> dict[str, Any]:
        """Fields of the problem that are settings of the estimator."""
        return {"evidence": self.evidence, "n_threads": n_threads, "row_search": self.row_search}

    def _search(self, bound: Bound, settings: SearchSettings, n_threads: int) -> Fitted:
        """Search on all rows, or on a sample of many."""
        how = self._how(n_threads)
        concentrations = self.row_concentration, self.column_concentration
        if self._grows_exactly(bound.values.shape[0]):
            return fit_views(bound, concentrations, settings, **how)
        return fit_large(bound, concentrations, settings, self.row_sample, **how)

    def _keep_fit(self, fitted: Fitted, *, cut: bool = True) -> None:
        """Cut the columns where asked, and set the fitted attributes."""
        rule, fit = self._cut_rule(), fitted.fit
        if cut and rule[0] != "half":
            fit = cut_again(fitted.problem, fit, *rule)
        self._logs = fitted.numbers.log_rows, fitted.numbers.log_columns
        self.row_concentration_ = as_number(self.row_concentration, self._logs[0])
        self.column_concentration_ = as_number(self.column_concentration, self._logs[1])
        self.log_evidence_, self.search_, self._fit = fit.log_evidence_bound, fit.method, fit
        logging.getLogger("bayesgrove").info("%d views found by the search %r", len(fit.views), fit.method)
        views = self._views_of(fit)
        details = {
            "search": fit.method,
            "evidence": fit.evidence,
            "n_row_trees": fit.n_row_trees,
            "flat_bound": fit.flat_bound,
            "bound after": dict(fit.bounds),
        }
        answers = self._make_answers(fitted.bound, fit, views)
        self._keep(fitted.bound, Estimate(views, fit.column_tree, details, self._describe()), answers)

    def _views_of(self, fit: CrossFit) -> list[FittedView]:
        """The views with their rows cut into clusters."""
        rule = self._cut_rule()
        return [
            FittedView(columns, by_size(labels_of_front(tree, find_front(tree, *rule))), tree)
            for columns, tree in zip(fit.views, fit.row_trees, strict=True)
        ]

    def _make_answers(self, bound: Bound, fit: CrossFit, views: list[FittedView]) -> TreeAnswers:
        """What prediction needs."""
        labels = [view.labels_ for view in views]
        return make_tree_answers(bound.prior, bound.values, fit, *self._logs, view_labels_per_view=labels)

    def score_samples(self, X: Any, form: str = "normalised") -> np.ndarray:
        """Log predictive density of each new row, in the data's own units.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            Missing cells are left out.
        form : {"normalised", "paper"}
            "paper" is the published sum, whose mass in one view is the expected number of clusters.
        """
        check_is_fitted(self, "tree_")
        check_choice("form", form, FORMS)
        values, log_measure = self._encoded(X)
        return self._answers.row_log_density(values, form=form) + log_measure

    def _certainty(self) -> np.ndarray:
        return own_probabilities(self._probabilities, self._values, self.labels_)

    def _with_rows(self, values: np.ndarray) -> None:
        """The same tree of columns with row trees grown over all rows."""
        every = np.vstack([self._values, values])
        bound = self._bound._replace(values=every)
        bound = bound._replace(log_measure=float(np.sum(bound.encoding.log_measure(every))))
        numbers = Numbers(bound.prior, *self._logs)
        problem = problem_of(bound, numbers, **self._how(effective_n_jobs(self.n_jobs)))
        fit = more_rows(problem, bound.prior, self._fit, self._seed, exactly=self._grows_exactly(len(every)))
        self._keep_fit(Fitted(bound, numbers, problem, fit), cut=False)

    def _restored(self, reading: Reading) -> None:
        """Rows of views are weighed again, bit by bit as `fit` weighs them, and so are predictions."""
        super()._restored(reading)
        self._check_settings()
        log_rows, log_columns = self._logs
        bound = self._bound._replace(values=self._values)
        problem = problem_of(bound, Numbers(bound.prior, log_rows, log_columns), evidence=reading["evidence"])
        self._fit = restored_search(reading, problem)
        self.log_evidence_, self.search_ = self._fit.log_evidence_bound, self._fit.method
        views = self._views_of(self._fit)
        require(np.array_equal(views[0].labels_, by_size(self.labels_)), "labels are not those of the cut")
        self._answers = self._make_answers(bound, self._fit, views)
        self._keep_views(views, self.column_tree_)
        self._set_read_result(reading)


def as_number(given: Any, log_used: float) -> float:
    """A concentration as it was given, or as it was learned."""
    return math.exp(log_used) if isinstance(given, str) else float(given)

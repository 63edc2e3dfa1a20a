"""Imputers for scikit-learn pipelines: missing cells filled by models of views, with several draws where wanted."""

from typing import Any, Self

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayesgrove.estimators.bhcc import BHCC
from bayesgrove.estimators.cross_clusterer import CrossClusterer
from bayesgrove.estimators.crosscat import CrossCat
from bayesgrove.estimators.settings import refuses_others

__all__ = ["BHCCImputer", "CrossCatImputer"]


class _ViewImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """What the imputers share: a model of views that is asked for missing cells."""

    dependence: str
    model_: CrossClusterer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _model(self) -> CrossClusterer:
        """The model, not yet fitted."""
        raise NotImplementedError

    @refuses_others
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model of views to a table with missing cells.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            NaN, None or a frame's own missing value is a missing cell.
        y : ignored
        """
        self.model_ = self._model().fit(X)
        self.n_features_in_ = self.model_.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.model_, "feature_names_in_"):
            self.feature_names_in_ = self.model_.feature_names_in_
        return self

    @refuses_others
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and fill the missing cells of the same table.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
        y : ignored

        Returns
        -------
        array or data frame
            Of the kind given.
        """
        model = self.fit(X).model_
        given, filled = model._fill(X, None, None, self.dependence, is_trained=True)
        return model._completed(X, given, filled.estimate)

    def transform(self, X: Any) -> Any:
        """Fill missing cells: measurements by their predictive mean, others by their most probable value.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            New rows, or those of the fit.

        Returns
        -------
        array or data frame
            Of the kind given, or as `set_output` says. Observed cells are returned unchanged. Columns that the model
            leaves out, such as identifiers, keep their missing cells.
        """
        check_is_fitted(self, "model_")
        return self.model_.impute(X, dependence=self.dependence)

    def sample(self, n_draws: int = 5, X: Any = None) -> list[Any]:
        """Several completed tables for multiple imputation.

        Missing cells are drawn from their predictive distribution, so that the tables differ by as much as the cells
        are uncertain. Analyse each table by itself and pool the answers, for instance by Rubin's rules.

        Parameters
        ----------
        n_draws : int, default=5
        X : array or data frame of shape (n_rows, n_columns), optional
            New rows; None fills the table of the fit.

        Returns
        -------
        list of arrays or data frames
        """
        check_is_fitted(self, "model_")
        return self.model_.impute_draws(n_draws, X, self.dependence)

    def intervals(self, X: Any = None, level: float = 0.9) -> Any:
        """Predictive intervals of the missing cells.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns), optional
            New rows; None is the table of the fit.
        level : float, default=0.9
            Probability of each interval.

        Returns
        -------
        Imputation
            `rows`, `columns`, `low`, `high` and `sd` of each filled cell, `probabilities` of categories, and the
            completed table as `values`.
        """
        check_is_fitted(self, "model_")
        return self.model_.impute(X, level=level, dependence=self.dependence)


class CrossCatImputer(_ViewImputer):
    """Fill missing cells by `CrossCat`: Markov chains over views of the columns and clusters of the rows.

    Numbers, counts, yes/no, ordinal and category columns are imputed together; families are chosen column by column.

    Parameters
    ----------
    likelihood : str, mapping or Likelihood, default="auto"
        As for `CrossCat`.
    dependence : {"linear", "none"}, default="linear"
        How measurements of a row depend on its other cells inside clusters: linearly, with a full covariance matrix for
        each cluster, or not at all, as in `CrossCat` itself. See `CrossCat.impute`.
    n_chains, n_tune, n_draws : int, default=2, 200 and 200
        Chains, sweeps of each before draws are kept, and draws of each. `n_draws="auto"` runs chains until they can be
        trusted.
    random_state : int, optional
    n_jobs : int, optional
        Number of chains to run in parallel. The result does not depend on it.
    verbose : int, default=0

    Attributes
    ----------
    model_ : CrossCat
        The fitted model: views, draws, diagnostics, report.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X had names.

    See Also
    --------
    BHCCImputer : A search instead of Markov chains: quicker, and less careful about uncertainty.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove.impute import CrossCatImputer
    >>> rng = np.random.default_rng(0)
    >>> size = rng.normal(size=100)
    >>> X = size[:, None] + 0.1 * rng.normal(size=(100, 3))
    >>> truth, X[0, 2] = X[0, 2], np.nan
    >>> imputer = CrossCatImputer(n_tune=50, n_draws=50, random_state=0).fit(X)
    >>> bool(abs(imputer.transform(X)[0, 2] - truth) < 0.5)
    True
    >>> [table.shape for table in imputer.sample(2)]
    [(100, 3), (100, 3)]
    """

    def __init__(
        self,
        likelihood: Any = "auto",
        *,
        dependence: str = "linear",
        n_chains: int = 2,
        n_tune: int = 200,
        n_draws: Any = 200,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.dependence = dependence
        self.n_chains = n_chains
        self.n_tune = n_tune
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _model(self) -> CrossClusterer:
        own = self.get_params(deep=False)
        del own["dependence"]
        return CrossCat(**own)


class BHCCImputer(_ViewImputer):
    """Fill missing cells by `BHCC`: the best views of the columns found, and a hierarchy of the rows in each.

    Parameters
    ----------
    likelihood : str, mapping or Likelihood, default="auto"
        As for `BHCC`.
    dependence : {"linear", "none"}, default="linear"
        How measurements of a row depend on its other cells inside clusters: linearly, with a full covariance matrix for
        each cluster, or not at all, as in `BHCC` itself. See `BHCC.impute`.
    random_state : int, optional
    n_jobs : int or None, default=2
        Threads. The result does not depend on it.
    verbose : int, default=0

    Attributes
    ----------
    model_ : BHCC
        The fitted model: views, trees, report.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X had names.

    See Also
    --------
    CrossCatImputer : The same by Markov chains, averaged over views and clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgrove.impute import BHCCImputer
    >>> rng = np.random.default_rng(0)
    >>> size = rng.normal(size=100)
    >>> X = size[:, None] + 0.1 * rng.normal(size=(100, 3))
    >>> truth, X[0, 2] = X[0, 2], np.nan
    >>> imputer = BHCCImputer(random_state=0).fit(X)
    >>> bool(abs(imputer.transform(X)[0, 2] - truth) < 0.5)
    True
    >>> found = imputer.intervals(level=0.9)
    >>> bool(found.low[0] < truth < found.high[0])
    True
    """

    def __init__(
        self,
        likelihood: Any = "auto",
        *,
        dependence: str = "linear",
        random_state: Any = None,
        n_jobs: int | None = 2,
        verbose: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.dependence = dependence
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _model(self) -> CrossClusterer:
        own = self.get_params(deep=False)
        del own["dependence"]
        return BHCC(**own)

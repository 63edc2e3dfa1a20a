"""What pictures are drawn of: results, fitted estimators and trees, and what a picture needs of them."""

from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidInputError
from bayesgrove.inference.description import Description
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.result import Result
from bayesgrove.inference.views import view_result
from bayesgrove.trees import Tree


def as_result(subject: Any) -> Result:
    """The result itself, or that of a fitted estimator."""
    result = getattr(subject, "result_", subject)
    if isinstance(result, Result):
        return result
    if hasattr(subject, "fit"):
        raise InvalidInputError(f"a picture needs a fitted model, got a {type(subject).__name__} before fit().")
    raise InvalidInputError(
        f"a picture is drawn of a Result or a fitted estimator, got {type(subject).__name__}. Give model.result_."
    )


def as_result_of_rows(subject: Any) -> Result:
    """The same, of several views the largest: draws of views are of the columns, those of one view of the rows."""
    result = as_result(subject)
    return view_result(result, 0) if result.views else result


def tree_and_labels(subject: Any, labels: Any) -> tuple[Tree, Any]:
    """A tree as it is, or the tree of a result, whose own labels colour it unless others are given."""
    if isinstance(subject, Tree):
        return subject, labels
    result = as_result(subject)
    return result.tree, result.labels if labels is None else labels


def needed_description(result: Result, picture: str) -> Description:
    """The description, or an error that says what to do."""
    if result.description is None:
        raise InvalidInputError(
            f"{picture} shows the rows of the table, and this {result.model} result has no description of them: it "
            "comes from a file of an older version or from a model without a table. Fit the model again."
        )
    return result.description


def needed_posterior(result: Result, picture: str) -> Posterior:
    """The draws, or an error that says what to do."""
    if result.posterior is None:
        raise InvalidInputError(
            f"{picture} shows draws of a chain, and {result.model} finds one tree without sampling. "
            "Fit a sampled model, such as NRMMixture, or draw dendrogram(result)."
        )
    return result.posterior


def needed_views(subject: Any, picture: str) -> Result:
    """The result, if it has views."""
    result = as_result(subject)
    if not result.views:
        raise InvalidInputError(
            f"{picture} shows views, and {result.model} does not divide the columns. Fit BHCC or CrossCat, or "
            "draw data_heatmap(result)."
        )
    return result


def no_probabilities(picture: str) -> InvalidInputError:
    """The error for a tree that knows neither odds nor draws."""
    return InvalidInputError(
        f"{picture} needs draws or a tree with log_merge_odds, and this result has neither. "
        "Draw dendrogram(result), which needs heights only."
    )


def cluster_sizes(result: Result) -> np.ndarray:
    """Number of rows of each cluster."""
    return np.bincount(result.labels, minlength=result.n_clusters)

"""Tables of the golden file as the library takes them."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove import likelihoods

FAMILIES = {
    "bern": likelihoods.Bernoulli,
    "binom": likelihoods.Binomial,
    "pois": likelihoods.Poisson,
    "nig": likelihoods.GaussianDiagonal,
    "niw": likelihoods.GaussianFull,
}


class GoldenTable(NamedTuple):
    """Data, likelihood and concentration of a golden table, and all the numbers of the file."""

    values: np.ndarray
    likelihood: Any
    concentration: float
    numbers: dict[str, Any]


def golden_likelihood(model):
    """The likelihood of one column of the file."""
    kind, *numbers = model
    if kind == "cat":
        return likelihoods.Categorical(pseudo_count=numbers[1], n_categories=numbers[0])
    return FAMILIES[kind](*numbers)


def golden_table(table, *, as_columns=False):
    """One family for the whole table where it has only one, unless each column is to have its own."""
    values = np.array([[np.nan if x is None else x for x in row] for row in table["X"]], float)
    models = table["models"]
    if as_columns or len({model[0] for model in models}) > 1:
        likelihood = likelihoods.Columns([golden_likelihood(model) for model in models])
    else:
        kind, *numbers = zip(*models, strict=True)
        likelihood = golden_likelihood([kind[0], *map(list, numbers)])
    return GoldenTable(values, likelihood, table["alpha_rows"], table)

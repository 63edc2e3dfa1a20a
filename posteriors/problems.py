"""The exact problems: data and numbers, chosen so that many partitions have some probability."""

from collections.abc import Sequence
from typing import Any, NamedTuple

BY_HAND = "chosen by hand"


class Problem(NamedTuple):
    """What is to be solved."""

    title: str
    family: str
    """How it is solved: "mixture", "views", "nested" or "trees"."""
    data: dict[str, Any]
    parameters: dict[str, Any]
    columns: Sequence[dict[str, Any]] = ()
    """Likelihoods of the columns, where there are any."""


def table(rows: list[list[Any]], origin: str = BY_HAND) -> dict[str, Any]:
    """A table with its values."""
    return {"kind": "table", "origin": origin, "rows": rows}


def trees(
    n_labels: int, max_outdegree: int, *found: tuple[list[int], list[int], list[int]], origin: str = BY_HAND
) -> dict[str, Any]:
    """Trees by labels, parents (-1 for the root) and positions among the siblings (0 for the root)."""
    named = [dict(zip(("labels", "parents", "positions"), tree, strict=True)) for tree in found]
    return {
        "kind": "trees", "origin": origin, "n_labels": n_labels, "max_outdegree": max_outdegree, "trees": named,
    }  # fmt: skip


def bernoulli(a: float, b: float) -> dict[str, Any]:
    """A column of zeros and ones."""
    return {"family": "Bernoulli", "a": a, "b": b}


def categorical(n_categories: int, pseudo_count: float) -> dict[str, Any]:
    """A column of categories."""
    return {"family": "Categorical", "pseudo_count": pseudo_count, "n_categories": n_categories}


def gaussian(mean: float, strength: float, shape: float, rate: float) -> dict[str, Any]:
    """A column of numbers whose variance is unknown."""
    return {"family": "GaussianDiagonal", "mean": mean, "strength": strength, "shape": shape, "rate": rate}


def known(variance: float, prior_variance: float, prior_mean: float = 0.0) -> dict[str, Any]:
    """A column of numbers whose variance is known."""
    return {
        "family": "GaussianKnownVariance",
        "variance": variance,
        "prior_mean": prior_mean,
        "prior_variance": prior_variance,
    }


def poisson(shape: float, rate: float) -> dict[str, Any]:
    """A column of counts."""
    return {"family": "Poisson", "shape": shape, "rate": rate}


PLANE = [[-2.3, 0.4], [-1.6, 1.1], [-1.2, -0.3], [-0.1, 0.8], [0.6, -1.4], [1.3, -0.9], [2.2, 0.2], [2.6, 1.5]]
BITS = [
    [1, 1, 0, 1, None], [1, 1, 0, 0, 0], [1, None, 0, 1, 0], [0, 1, 1, 0, 1], [0, 0, 1, None, 1], [0, 0, 1, 1, 1],
    [1, 0, 0, 0, 1],
]  # fmt: skip
LINE = [[-2.7], [-1.9], [-0.4], [0.3], [1.0], [2.9], [3.4]]

EXACT = {
    "dp-gaussian-8": Problem(
        "Dirichlet process mixture of normal columns, unknown variances",
        "mixture",
        table(PLANE),
        {"process": "dp", "concentration": 0.8},
        [gaussian(0.0, 0.4, 1.5, 0.7), gaussian(0.2, 0.6, 2.0, 0.9)],
    ),
    "dp-bernoulli-7": Problem(
        "Dirichlet process mixture of zeros and ones with missing cells",
        "mixture",
        table(BITS),
        {"process": "dp", "concentration": 1.2},
        [bernoulli(0.6, 0.6), bernoulli(0.8, 0.5), bernoulli(0.5, 0.7), bernoulli(1.0, 1.0), bernoulli(0.7, 0.9)],
    ),
    "dp-categorical-7": Problem(
        "Dirichlet process mixture of categories with missing cells",
        "mixture",
        table([[0, 2, 1], [0, 2, 0], [1, 2, None], [1, 0, 3], [2, 0, 3], [2, 1, 2], [None, 1, 2]]),
        {"process": "dp", "concentration": 0.7},
        [categorical(3, 0.4), categorical(3, 0.3), categorical(4, 0.5)],
    ),
    "dp-mixed-7": Problem(
        "Dirichlet process mixture of columns of five kinds with missing cells",
        "mixture",
        table(
            [
                [-1.4, 0.3, 1, 0, 2], [-0.9, None, 1, 0, 3], [-0.2, -0.6, 1, 1, None], [0.5, 1.9, 0, 1, 7],
                [1.1, 2.4, 0, 2, 5], [1.8, 1.2, None, 2, 9], [0.1, 0.9, 0, None, 4],
            ]
        ),
        {"process": "dp", "concentration": 1.0},
        [
            gaussian(0.0, 0.5, 1.5, 0.8), known(0.7, 2.0, 0.5), bernoulli(0.7, 0.7), categorical(3, 0.5),
            poisson(1.6, 0.4),
        ],
    ),
    "dp-random-concentration-6": Problem(
        "Dirichlet process mixture whose concentration has a Gamma(1, 1) prior",
        "mixture",
        table(LINE[:6]),
        {"process": "dp", "concentration": "Gamma(1, 1)"},
        [known(0.9, 5.0)],
    ),
    "nggp-gaussian-7": Problem(
        "Mixture under a normalised generalised gamma process",
        "mixture",
        table(LINE),
        {"process": "nggp", "concentration": 0.9, "sigma": 0.3},
        [known(0.8, 6.0)],
    ),
    "pitman-yor-gaussian-7": Problem(
        "Mixture under a Pitman-Yor process",
        "mixture",
        table(LINE),
        {"process": "pitman-yor", "concentration": 0.6, "sigma": 0.35},
        [known(0.8, 6.0)],
    ),
    "mfm-gaussian-7": Problem(
        "Mixture of finite mixtures",
        "mixture",
        table(LINE),
        {"process": "mfm", "concentration": 0.8, "components": ["poisson", 2.0]},
        [known(0.8, 6.0)],
    ),
    "nig-gaussian-6": Problem(
        "Mixture under a normalised inverse Gaussian process",
        "mixture",
        table([row for row in PLANE if row[0] > -2.0 and row[0] < 2.5]),
        {"process": "nig", "concentration": 1.1, "sigma": 0.5},
        [gaussian(0.0, 0.5, 2.0, 0.8), gaussian(0.0, 0.5, 2.0, 0.8)],
    ),
    "nggp-random-6": Problem(
        "Mixture under a normalised generalised gamma process whose numbers have priors",
        "mixture",
        table([[-2.2], [-1.1], [0.0], [0.7], [1.5], [3.1]]),
        {"process": "nggp", "concentration": "Gamma(1, 1)", "sigma": "Beta(1.5, 1.5)"},
        [known(1.0, 6.0)],
    ),
    "views-binary-5x4": Problem(
        "Views of four binary columns and their row partitions",
        "views",
        table([[1, 1, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, None], [1, 0, 0, 1]]),
        {"row_concentration": 0.9, "column_concentration": 0.8},
        [bernoulli(0.3, 0.3), bernoulli(0.4, 0.4), bernoulli(0.5, 0.4), bernoulli(0.6, 0.5)],
    ),
    "views-mixed-4x3": Problem(
        "Views of a normal, a categorical and a binary column, all states",
        "views",
        table([[-1.2, 0, 1], [-0.8, 0, None], [0.9, 2, 1], [1.4, 1, 0]]),
        {"row_concentration": 1.1, "column_concentration": 1.3},
        [gaussian(0.0, 0.5, 1.5, 0.5), categorical(3, 0.4), bernoulli(0.5, 0.5)],
    ),
    "bhmc-5-levels-2": Problem(
        "Hierarchies of five rows and two levels",
        "nested",
        table([[-2.1, 0.3], [-1.4, 0.9], [0.2, -1.1], [1.6, 0.4], [2.3, -0.2]]),
        {"depth": 2, "alpha": 0.7, "gamma": 1.4, "gamma0": 1.1, "component_variance": 0.8, "base_variance": 2.5},
    ),
    "bhmc-4-levels-3": Problem(
        "Hierarchies of four rows and three levels",
        "nested",
        table([[-1.7], [-0.6], [0.5], [1.9]]),
        {"depth": 3, "alpha": 0.6, "gamma": 0.9, "gamma0": 1.3, "component_variance": 0.5, "base_variance": 2.0},
    ),
    "rbhmc-max-4-levels-2": Problem(
        "Hierarchies of four rows and two levels under the published penalty",
        "nested",
        table([[1.8, -0.3], [0.9, 0.7], [-1.2, 0.8], [-1.5, -1.2]]),
        {
            "depth": 2, "alpha": 0.9, "gamma": 1.2, "gamma0": 0.8, "component_variance": 0.9, "base_variance": 2.0,
            "penalty": "max", "C": 0.2, "margin": 0.8, "discriminant_scale": 1.3,
        },
    ),
    "rbhmc-chance-4-levels-2": Problem(
        "Hierarchies of four rows and two levels under the chance-normalised penalty",
        "nested",
        table([[1.8, -0.3], [0.9, 0.7], [-1.2, 0.8], [-1.5, -1.2]]),
        {
            "depth": 2, "alpha": 0.9, "gamma": 1.2, "gamma0": 0.8, "component_variance": 0.9, "base_variance": 2.0,
            "penalty": "chance", "C": 0.3, "margin": 0.5, "discriminant_scale": 1.0,
        },
    ),
    "trees-4": Problem(
        "Mixture of hidden-tree Markov models, four trees",
        "trees",
        trees(
            2, 2,
            ([0, 0, 0], [-1, 0, 0], [0, 1, 2]),
            ([0, 0], [-1, 0], [0, 1]),
            ([1, 1, 0], [-1, 0, 1], [0, 2, 1]),
            ([1, 1], [-1, 0], [0, 2]),
        ),
        {"concentration": 1.2, "n_states": 2, "prior_strength": 0.6, "missing": "bottom_prior"},
    ),
    "trees-5-bottom": Problem(
        "Mixture of hidden-tree Markov models without a say of absent children, five trees",
        "trees",
        trees(
            3, 2,
            ([0, 1], [-1, 0], [0, 1]),
            ([0, 1], [-1, 0], [0, 2]),
            ([2], [-1], [0]),
            ([2, 2], [-1, 0], [0, 1]),
            ([1], [-1], [0]),
        ),
        {"concentration": 0.9, "n_states": 2, "prior_strength": 0.5, "missing": "bottom"},
    ),
}  # fmt: skip

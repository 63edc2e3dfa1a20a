"""The problems that are too large for enumeration, with data by rules without a seed or from scikit-learn."""

from statistics import NormalDist
from typing import Any, NamedTuple

from sklearn.datasets import load_iris

from posteriors.problems import Problem, categorical, gaussian, known, table, trees

GOLDEN_RATIO = 0.618_033_988_749_894_9
RULE = (
    "e(i, j) = standard normal quantile of frac(0.5 + g^j i) with g = 0.6180339887498949; all numbers rounded to two "
    "decimals"
)


class LongRun(NamedTuple):
    """A problem and the two samplers that must agree on it."""

    problem: Problem
    first: dict[str, Any]
    """Settings of the sampler whose means are the document's."""
    second: dict[str, Any]
    """Settings of the one that checks them."""


def noise(i: int, j: int) -> float:
    """e(i, j) of RULE."""
    return NormalDist().inv_cdf((0.5 + GOLDEN_RATIO ** (j + 1) * (i + 1)) % 1.0)


def blobs(centres: list[tuple[float, ...]], n_rows: int, spread: float) -> list[list[float]]:
    """Row i lies around centre i mod the number of centres."""
    found = []
    for i in range(n_rows):
        centre = centres[i % len(centres)]
        found.append([round(value + spread * noise(i, j), 2) for j, value in enumerate(centre)])
    return found


def blobs_origin(centres: list[tuple[float, ...]], spread: float) -> str:
    """How the numbers of `blobs` came about, in words."""
    return (
        f"row i = 1, 2, ... is centre i (in turn, from {centres}) plus {spread} e(i, j) in column j = 1, 2, ...; {RULE}"
    )


def iris() -> Problem:
    """Every third flower, lengths and widths of the petals."""
    values = [[round(float(x), 2) for x in row] for row in load_iris().data[::3, 2:]]
    origin = "scikit-learn's load_iris, rows 0, 3, 6, ..., columns 2 and 3 (petal length and width in cm)"
    return Problem(
        "Petals of 50 irises under a Dirichlet process with random concentration",
        "mixture",
        table(values, origin),
        {"process": "dp", "concentration": "Gamma(1, 1)"},
        [gaussian(3.7, 0.1, 2.0, 0.2), gaussian(1.2, 0.1, 2.0, 0.1)],
    )


CORNERS = [(-1.6, 0.0), (0.4, 1.2), (1.5, -0.9)]
LEVELS = [(-2.6, -0.7), (-2.4, 0.9), (2.3, 0.2), (2.9, 1.6)]


def views_table() -> list[list[float]]:
    """Two views of 24 rows: columns 0 to 2 follow i mod 2, columns 3 to 5 i mod 3; column 6 nothing."""
    found = []
    for i in range(24):
        first = [round(1.6 * (-1) ** i + 0.6 * noise(i, j), 2) for j in range(2)]
        second = [round(1.8 * (i % 3 - 1) + 0.5 * noise(i, j + 2), 2) for j in range(2)]
        coded = [int(noise(i, 4) > (0.6 if i % 2 else -0.6)), (i % 3) if noise(i, 5) < 0.7 else (i + 1) % 3]
        found.append([*first, coded[0], *second, coded[1], round(noise(i, 6), 2)])
    return found


VIEWS_ORIGIN = (
    "i = 0 .. 23, e(i + 1, j) as below: columns 0, 1 are 1.6 (-1)^i + 0.6 e(., 1 and 2); column 2 is 1 where e(., 5) > "
    "0.6 for odd, -0.6 for even i; columns 3, 4 are 1.8 (i mod 3 - 1) + 0.5 e(., 3 and 4); column 5 is i mod 3, where "
    f"e(., 6) >= 0.7 (i + 1) mod 3; column 6 is e(., 7); {RULE}"
)


def small_trees(n_trees: int) -> dict[str, Any]:
    """Trees of 2 to 5 nodes of three kinds, which differ in labels and in which places are filled."""
    found = []
    for i in range(n_trees):
        kind = i % 3
        places = ([1, 2], [1], [2])[kind if noise(i, 7) < 0.8 else (kind + 1) % 3]
        parents, positions = [-1, *(0 for _ in places)], [0, *places]
        if noise(i, 8) > -0.3:  # one more level below the first child
            parents, positions = [*parents, 1], [*positions, 1 + i % 2]
        labels = [int(noise(i, node) > (0.8, -0.8, 0.0)[kind]) for node in range(len(parents))]
        found.append((labels, parents, positions))
    origin = (
        "tree i = 0, 1, ... of kind k = i mod 3, e(i + 1, j) as below: children of the root at positions 1 and 2, 1, "
        "or 2 for k = 0, 1, 2 (for the next kind where e(., 8) >= 0.8); a child of the first child at position "
        "1 + i mod 2 where e(., 9) > -0.3; label of node n is 1 where e(., n + 1) > 0.8, -0.8, 0 for k = 0, 1, 2; "
        f"{RULE}"
    )
    return trees(2, 2, *found, origin=origin)


NESTED_NUMBERS = {
    "depth": 3, "alpha": 0.5, "gamma": 1.2, "gamma0": 0.9, "component_variance": 0.5, "base_variance": 4.0,
}  # fmt: skip

LONG = {
    "dp-iris-50": LongRun(iris(), {"sampler": "tree-guided"}, {"sampler": "gibbs", "init": "one"}),
    "nggp-40": LongRun(
        Problem(
            "40 points in the plane under a normalised generalised gamma process with random numbers",
            "mixture",
            table(blobs(CORNERS, 40, 0.75), blobs_origin(CORNERS, 0.75)),
            {"process": "nggp", "concentration": "Gamma(1, 1)", "sigma": "Beta(1.5, 1.5)"},
            [known(0.5, 3.0), known(0.5, 3.0)],
        ),
        {"sampler": "tree-guided"},
        {"sampler": "gibbs", "init": "singletons"},
    ),
    "views-24x7": LongRun(
        Problem(
            "Views of seven columns and 24 rows",
            "views",
            table(views_table(), VIEWS_ORIGIN),
            {"row_concentration": 1.0, "column_concentration": 1.0},
            [
                *[gaussian(0.0, 0.3, 2.0, 1.0)] * 2, categorical(2, 0.6), *[gaussian(0.0, 0.3, 2.0, 0.8)] * 2,
                categorical(3, 0.6), gaussian(0.0, 0.3, 2.0, 1.0),
            ],
        ),
        {"new_view": "sequential"},
        {"new_view": "prior", "init": "random"},
    ),
    "bhmc-20": LongRun(
        Problem(
            "Hierarchies of 20 rows and three levels",
            "nested",
            table(blobs(LEVELS, 20, 0.6), blobs_origin(LEVELS, 0.6)),
            NESTED_NUMBERS,
        ),
        {"path": "gibbs", "regraft": True, "split_merge": True},
        {"path": "mh", "regraft": False},
    ),
    "rbhmc-chance-16": LongRun(
        Problem(
            "Hierarchies of 16 rows and two levels under the chance-normalised penalty",
            "nested",
            table(blobs(LEVELS, 16, 0.6), blobs_origin(LEVELS, 0.6)),
            {**NESTED_NUMBERS, "depth": 2, "penalty": "chance", "C": 0.03, "margin": 0.5, "discriminant_scale": 1.0},
        ),
        {"path": "gibbs", "regraft": True, "discriminants": "slice"},
        {"path": "mh", "regraft": False, "discriminants": "gibbs"},
    ),
    "trees-30": LongRun(
        Problem(
            "Mixture of hidden-tree Markov models, 30 trees",
            "trees",
            small_trees(30),
            {"concentration": 1.0, "n_states": 2, "prior_strength": 1.0, "missing": "bottom_prior"},
        ),
        {"method": "gibbs"},
        {"method": "collapsed", "init": "one"},
    ),
}  # fmt: skip

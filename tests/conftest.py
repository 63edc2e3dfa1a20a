"""Fixtures shared by all tests: an example of every likelihood, shared files, a deterministic profile; `--fast`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import settings

import selection
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.bernoulli import BernoulliPrior
from bayesgrove.likelihoods.binomial import BinomialPrior
from bayesgrove.likelihoods.categorical import CategoricalPrior
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import full_prior
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from bayesgrove.likelihoods.multinomial import MultinomialPrior
from bayesgrove.likelihoods.poisson import PoissonPrior

settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")


def pytest_addoption(parser):
    selection.add_options(parser)


def pytest_configure(config):
    selection.configure(config)


def pytest_collection_modifyitems(config, items):
    selection.select(config, items)


class Example(NamedTuple):
    """A prior and a generator of data it can describe."""

    name: str
    prior: Any
    draw: Callable[[np.random.Generator, int], np.ndarray]
    whole_rows: bool = False

    def data(self, seed: int, n: int, missing: float = 0.0) -> np.ndarray:
        """`n` rows with a share of missing cells (missing rows where a row is one datum)."""
        rng = generator(seed)
        values = np.ascontiguousarray(self.draw(rng, n), float)
        shape = (n, 1) if self.whole_rows else values.shape
        return np.where(rng.random(shape) < missing, np.nan, values)


def draw_mixed(rng: np.random.Generator, n: int) -> np.ndarray:
    """One column of each family of COLUMNS."""
    return np.column_stack(
        [
            rng.normal(0.5, 1, n),
            rng.integers(0, 4, n),
            rng.normal(-1, 2, n),
            rng.integers(0, 2, n),
            rng.integers(0, 8, n),
            rng.poisson(3, n),
            rng.integers(0, 2, n),
        ]
    )


COLUMNS = ColumnsPrior(
    family=np.array([0, 4, 1, 2, 3, 5, 2]),
    params=np.array(
        [
            [0.7, 0.2, 1.5, 0.0],
            [0.6, 0.0, 0.0, 0.0],
            [0.1, 0.4, 2.5, 1.2],
            [0.5, 1.2, 0.0, 0.0],
            [7.0, 0.8, 1.1, 0.0],
            [1.2, 0.4, 0.0, 0.0],
            [2.0, 0.3, 0.0, 0.0],
        ]
    ),
    start=np.array([0, 3, 7, 10, 12, 15, 18, 20]),
)


def two_columns(code: int, numbers: list[list[float]], width: int, grain: float = 0.0) -> ColumnsPrior:
    """Two columns of one family, statistics of `width` each; the first may be rounded."""
    params = np.array([own + [0.0] * (4 - len(own)) for own in numbers])
    return ColumnsPrior(np.array([code, code]), params, np.arange(3) * width, np.array([grain, 0.0]))


ALL_LIKELIHOODS = (
    Example(
        "gaussian-known-variance",
        GaussianKnownVariancePrior(np.array([0.5, 2.0]), np.array([0.3, -1.0]), np.array([1.5, 0.2])),
        lambda rng, n: rng.normal([0.5, -1], [1, 2], (n, 2)),
    ),
    Example(
        "gaussian",
        GaussianDiagonalPrior(
            np.array([0.2, -0.5]), np.array([0.3, 1.4]), np.array([2.0, 3.1]), np.array([0.8, 2.5]), np.zeros(2)
        ),
        lambda rng, n: rng.normal([0.5, -1], [1, 2], (n, 2)),
    ),
    Example(
        "gaussian-rounded",
        GaussianDiagonalPrior(
            np.array([0.2, -0.5]),
            np.array([0.3, 1.4]),
            np.array([2.0, 3.1]),
            np.array([0.8, 2.5]),
            np.array([1.0, 0.0]) / 12.0,
        ),
        lambda rng, n: np.column_stack([rng.normal(0.5, 1, n).round(), rng.normal(-1, 2, n)]),
    ),
    Example(
        "gaussian-full",
        full_prior(np.array([0.4, -0.3]), 0.6, 3.5, np.array([[1.4, 0.3], [0.3, 0.9]])),
        lambda rng, n: rng.normal(0, 1, (n, 2)) @ np.array([[1.0, 0.5], [0.0, 0.7]]),
        whole_rows=True,
    ),
    Example(
        "gaussian-full-rounded",
        full_prior(np.array([0.4, -0.3]), 0.6, 3.5, np.array([[1.4, 0.3], [0.3, 0.9]]), np.array([1.0, 0.0]) / 12.0),
        lambda rng, n: np.column_stack([rng.normal(0.5, 1, n).round(), rng.normal(-1, 2, n)]),
        whole_rows=True,
    ),
    Example(
        "bernoulli",
        BernoulliPrior(np.array([0.5, 2.0, 0.3]), np.array([0.7, 0.4, 1.0])),
        lambda rng, n: rng.integers(0, 2, (n, 3)),
    ),
    Example(
        "binomial",
        BinomialPrior(np.array([5.0, 12.0]), np.array([0.5, 1.7]), np.array([0.8, 0.6])),
        lambda rng, n: rng.integers(0, [6, 13], (n, 2)),
    ),
    Example(
        "categorical",
        CategoricalPrior(np.array([0.5, 1.3]), np.array([0, 3, 8])),
        lambda rng, n: rng.integers(0, [3, 5], (n, 2)),
    ),
    Example(
        "multinomial",
        MultinomialPrior(np.array([0.5, 0.5, 0.5, 0.5])),
        lambda rng, n: rng.poisson(1.5, (n, 4)),
        whole_rows=True,
    ),
    Example(
        "poisson",
        PoissonPrior(np.array([1.0, 2.3]), np.array([0.5, 0.2])),
        lambda rng, n: rng.poisson([2, 9], (n, 2)),
    ),
    Example("columns", COLUMNS, draw_mixed),
    Example("columns-rounded", COLUMNS._replace(grain=np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 0.0])), draw_mixed),
    Example(
        "columns-negative-binomial",
        two_columns(6, [[0.7, 1.6, 0.9], [12.0, 4.0, 2.5]], 3),
        lambda rng, n: rng.negative_binomial([0.7, 12], [0.2, 0.6], (n, 2)),
    ),
    Example(
        "columns-log-gaussian",
        two_columns(7, [[0.2, 0.3, 2.0, 0.8], [-0.5, 1.4, 3.1, 2.5]], 4, grain=0.25 / 12.0),
        lambda rng, n: np.column_stack([0.5 * rng.poisson(2.0, n) + 0.5, np.exp(rng.normal(-1, 2, n))]),
    ),
    Example(
        "columns-zero-inflated",
        two_columns(8, [[0.2, 0.3, 2.0, 0.8], [-0.5, 1.4, 3.1, 2.5]], 5, grain=1.0 / 12.0),
        lambda rng, n: np.column_stack([rng.poisson(1.5, n), np.exp(rng.normal(-1, 2, n)) * rng.integers(0, 2, n)]),
    ),
    Example(
        "columns-ordinal",
        ColumnsPrior(np.array([9, 9]), np.array([[0.5, 0.1, 0, 0], [1.2, 2.0, 0, 0]]), np.array([0, 5, 12])),
        lambda rng, n: np.column_stack([rng.binomial(4, 0.4, n), rng.integers(0, 7, n)]),
    ),
)
BY_NAME = {example.name: example for example in ALL_LIKELIHOODS}


@pytest.fixture(params=ALL_LIKELIHOODS, ids=lambda example: example.name)
def example(request) -> Example:
    """Each likelihood in turn."""
    return request.param


def find_shared_file(name: str) -> Path:
    """A file of the folder `shared` beside the project; the test is skipped where it is absent."""
    path = Path(__file__).resolve().parents[2] / "shared" / name
    if not path.exists():
        pytest.skip(f"needs the shared file {name}, which is not beside this project")
    return path


@pytest.fixture
def shared_file() -> Callable[[str], Path]:
    """`shared_file("golden/bhcc.json")` gives a path or skips."""
    return find_shared_file


@pytest.fixture
def golden(shared_file) -> Callable[[str], Any]:
    """`golden("bhcc")` gives the parsed golden file or skips."""
    return lambda name: json.loads(shared_file(f"golden/{name}.json").read_text())


@pytest.fixture
def by_name() -> dict[str, Example]:
    """All likelihood examples by their names."""
    return BY_NAME

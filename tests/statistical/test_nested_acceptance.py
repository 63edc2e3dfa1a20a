"""Posteriors of Animals and of 100 images of Fashion-MNIST, and few evaluations: acceptance 17 to 20 of the model.

Means over the draws of ten chains against the specification's figures and tolerances, which come from long runs of
another implementation. Fixed seeds, no retries. Laws of both ways to evaluate (19, 20) are in `test_nested_laws`,
chances by Monte Carlo (19) in `unit/test_nested_margins`, times (16) in `python -m benchmarks nested`.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from papers.nested_cases import animals, fashion
from papers.nested_runs import Length, Method, chain_means, fit, score_draws
from papers.nested_stages import CHANCE_DEFAULT

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.models.nested.penalty import PENALTIES
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.target import make_target, sampled_means
from conftest import find_shared_file

pytestmark = [pytest.mark.statistical, pytest.mark.slow]
TABLES = {
    "animals": (animals, "data/animals/animals.csv", Length(10, 500, 150, 10)),
    "fashion": (fashion, "data/fashion/fashion_mnist_1000.npz", Length(10, 500, 100, 10)),
}
"""500 sweeps and 1,500 or 1,000 more, of which every tenth is looked at."""
SEED = 17


@cache
def means_of(table, method):
    """Means over draws and chains, by name; of distances over the trees that have siblings."""
    make, path, length = TABLES[table]
    case = make(find_shared_file(path).parents[1])
    posterior = fit(case, method, length, SEED).posterior_
    scores = {**score_draws(case, posterior.paths), "components": posterior.scalars["n_components"]}
    return {name: float(np.nanmean(chain_means(values))) for name, values in scores.items()}


class Bound(NamedTuple):
    """A number lies between two."""

    name: str
    low: float = -math.inf
    high: float = math.inf


def near(name, expected, tolerance):
    return Bound(name, expected - tolerance, expected + tolerance)


MAX_01, MAX_03 = Method("max", "exact", 0.01, 1.0), Method("max", "exact", 0.03, 1.0)
WANTED = {
    ("animals", Method()): [
        near("leaves", 11.26, 0.4), near("level_1", 4.10, 0.15), near("components", 5.63, 0.15),
        near("aid", 13.2, 0.7), near("aod", 13.4, 0.6), near("f1", 0.56, 0.03), near("f2", 0.63, 0.03),
        near("f3", 0.64, 0.03),
    ],
    ("fashion", Method()): [
        near("leaves", 20.7, 0.8), near("level_1", 5.63, 0.25), near("components", 11.6, 0.6), near("aid", 48.6, 2.0),
        near("aod", 47.7, 2.5),
    ],
    ("animals", MAX_03): [near("leaves", 8.2, 1.2)],
    ("animals", MAX_01): [near("leaves", 10.4, 0.5)],
    ("fashion", MAX_01): [near("leaves", 15.2, 1.5)],
    ("animals", Method("chance-max", "exact", 0.3, 0.1)): [
        near("leaves", 11.5, 0.6), Bound("aid", high=12.4), Bound("f2", 0.65), Bound("f3", 0.65),
    ],
    ("animals", CHANCE_DEFAULT): [
        near("leaves", 11.8, 0.7), Bound("aid", high=13.1), Bound("aod", 13.6), Bound("f1", 0.565),
    ],
    ("fashion", CHANCE_DEFAULT): [
        Bound("aid", high=42.0), Bound("aod", 56.0), Bound("f1", 0.44), near("level_1", 12.0, 2.0),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("table", "method"), list(WANTED), ids=[f"{table}-{method.words}" for table, method in WANTED])
def test_posteriors(table, method):
    """17 to 19."""
    found = means_of(table, method)
    missed = [bound for bound in WANTED[table, method] if not bound.low <= found[bound.name] <= bound.high]
    assert not missed, (missed, found)


N_ROWS, N_COLUMNS = 1_000, 10


def test_few_branches_are_evaluated():
    """20: at 1,000 rows and C = .001 at most .05 a visit."""
    rng = generator(SEED)
    centres = 3.0 * rng.standard_normal((12, N_COLUMNS))
    data = centres[np.arange(N_ROWS) % 12] + rng.standard_normal((N_ROWS, N_COLUMNS))
    target = make_target(
        data, sampled_means(data), depth=4, values=[0.2, 1.5, 0.85, 1.0, 9.0, 1.0], penalty=PENALTIES["max"],
        strength=0.001, margin=1.0, margin_data=data,
    )  # fmt: skip
    sampler = NestedSampler(target)
    state = sampler.start(rng)
    sampler.move(rng, state, Step("sweep", 100))
    counts = sampler.move(rng, state, Step("sweep", 100))
    assert counts["visits"] == 100 * N_ROWS
    assert counts["branches_evaluated"] / counts["visits"] <= 0.05, counts

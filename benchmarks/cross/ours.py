"""Our chains sweep by sweep, as the estimator puts them together, and their scores on hidden cells."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.estimators.cross_inputs import likelihood_per_column
from bayesgrove.estimators.crosscat import CrossCat
from bayesgrove.inference.chain import REFRESHED, Position, begin, walk
from bayesgrove.likelihoods import Bernoulli, Categorical, Columns, GaussianDiagonal
from bayesgrove.models.cross.cell_mixtures import log_density, probabilities
from bayesgrove.models.cross.draw_answers import DrawAnswers
from bayesgrove.models.cross.draw_tables import make_draws
from bayesgrove.models.cross.mcmc_fit import learned_coordinates
from bayesgrove.models.cross.mcmc_sampler import CrossCatSampler
from bayesgrove.stats.partitions import adjusted_rand
from benchmarks.cross.data import Hidden

FOREVER = 10**9


def likelihood_of(table: Hidden) -> Columns:
    """One family per column, all numbers learned."""
    families = {0: GaussianDiagonal(), 2: Bernoulli()}
    return Columns([families.get(int(k), Categorical(n_categories=int(k))).learned() for k in table.n_categories])


class Chain:
    """A state whose sweeps are timed; looking at it is not."""

    def __init__(self, table: Hidden, seed: int, number: int, **settings: Any) -> None:
        start = time.process_time()
        model = CrossCat(
            likelihood=likelihood_of(table), row_concentration="auto", column_concentration="auto", **settings
        )
        read, self.bound = model._bind_input(table.X)
        families = likelihood_per_column(model.likelihood, read, "error")
        learned = learned_coordinates(families, self.bound.prior, read.names, "auto")
        self.sampler: CrossCatSampler = model._make_sampler(self.bound, learned)
        self.position: Position = begin(self.sampler, generator(seed, number))
        self._walk: Iterator[Any] = walk(self.sampler, model._make_schedule(), self.position, FOREVER)
        self.seconds, self.n_sweeps = time.process_time() - start, 0

    def step(self, n: int = 1) -> None:
        """Some sweeps."""
        start = time.process_time()
        while n > 0:
            if next(self._walk) is not REFRESHED:
                n -= 1
                self.n_sweeps += 1
        self.seconds += time.process_time() - start

    @property
    def log_joint(self) -> float:
        """Of the state."""
        return float(self.sampler.scalars(self.position.state)["log_joint"])

    def agreement(self, views: np.ndarray) -> float:
        """ARI of the views with the truth."""
        return float(adjusted_rand(views, self.draw["view_labels"]))

    @property
    def draw(self) -> dict[str, np.ndarray]:
        """What would be stored."""
        return self.sampler.draw(self.position.state)


def time_to_views(chain: Chain, views: np.ndarray, wanted: float, cap_seconds: float) -> float | None:
    """CPU seconds until the views agree with the truth for the first time."""
    while chain.agreement(views) < wanted:
        if chain.seconds >= cap_seconds:
            return None
        chain.step()
    return chain.seconds


def answers_of(chain: Chain) -> DrawAnswers:
    """Predictions of the present state alone."""
    draw, bound = chain.draw, chain.bound
    views, rows = draw["view_labels"], draw["row_labels"]
    numbers, concentrations = draw["column_numbers"], draw["concentrations"]
    kept = make_draws(
        bound.prior, bound.values, views[np.newaxis], [rows], numbers[np.newaxis], concentrations[np.newaxis]
    )
    return DrawAnswers(bound.prior, bound.values, kept, np.eye(views.size), [], learned=True)


def draw_probabilities(chain: Chain, table: Hidden) -> tuple[np.ndarray, np.ndarray]:
    """For each hidden cell of the truth (in the table's own units), and of each category."""
    mixtures = answers_of(chain).cell_mixtures(table.rows, table.columns)
    encoding, prior = chain.bound.encoding, chain.bound.prior
    raw = np.full((table.values.size, table.X.shape[1]), np.nan)
    places = np.arange(table.values.size)
    raw[places, table.columns] = table.values
    values = encoding.apply(raw)[places, table.columns]
    truth = np.exp(log_density(prior, mixtures, values) + encoding.log_measure(raw))
    width = max(1, int(table.n_categories.max()))
    by_category = np.full((table.values.size, width), np.nan)
    start, chances = probabilities(prior, mixtures)
    for cell in np.flatnonzero(table.n_categories[table.columns] > 0):
        own = chances[start[cell] : start[cell + 1]]
        by_category[cell, : own.size] = own
    return truth, by_category

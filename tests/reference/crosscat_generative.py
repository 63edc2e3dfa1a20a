"""CrossCat on a small mixed table as a generative model, for Geweke's test: everything that can be learned is free."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior, column_draw_cell, column_draw_params
from bayesgrove.likelihoods.families import BERNOULLI, BINOMIAL, CATEGORICAL, GAUSSIAN, N_PARAMS, POISSON
from bayesgrove.models.cross.mcmc_coordinates import Hyperpriors, coordinate_of, n_coordinates, set_coordinate
from bayesgrove.models.cross.mcmc_sampler import CrossCatSampler
from bayesgrove.models.cross.mcmc_starts import STARTS
from bayesgrove.models.cross.mcmc_target import make_target
from bayesgrove.stats.processes import draw_crp

N_ROWS = 5
FAMILIES = np.array([BERNOULLI, GAUSSIAN, CATEGORICAL, BERNOULLI, POISSON, BINOMIAL])
WIDTHS = np.array([2, 3, 3, 2, 3, 3])
PARAMS = np.array(
    [
        [0.7, 0.9, 0.0, 0.0],
        [0.0, 0.5, 3.0, 2.0],
        [0.8, 0.0, 0.0, 0.0],
        [1.5, 0.6, 0.0, 0.0],
        [2.0, 1.0, 0.0, 0.0],
        [4.0, 1.0, 1.2, 0.0],
    ]
)
CENTRE = np.array(
    [
        [0.0, math.log(2.0), 0.0, 0.0],
        [0.2, math.log(0.5), math.log(3.0), math.log(2.0)],
        [0.1, 0.0, 0.0, 0.0],
        [0.0, math.log(2.0), 0.0, 0.0],
        [0.5, 0.4, 0.0, 0.0],
        [0.0, math.log(2.0), 0.0, 0.0],
    ]
)
SPREAD = np.full((6, 4), 0.5)
MISSING = np.zeros((N_ROWS, 6), bool)
MISSING[[1, 3, 0, 4, 2], [0, 1, 2, 1, 4]] = True
"""The mask is fixed: cells are missing at random."""
CONCENTRATIONS = (1.2, 0.8)


@kernel
def draw_cells(rng, views, rows, params, families, widths, cells):
    """Parameters of each cluster and column from their prior, and all cells given them."""
    n_rows, n_columns = cells.shape
    for j in range(n_columns):
        labels, width = rows[views[j]], widths[j]
        drawn = np.empty((n_rows, width))
        for k in range(labels.max() + 1):
            column_draw_params(rng, families[j], np.zeros(width), 0, width, params[j], drawn[k])
        for i in range(n_rows):
            cells[i, j] = column_draw_cell(rng, families[j], drawn[labels[i]], 0, width, params[j])


class Truth(NamedTuple):
    """Labels of columns, of rows by view, numbers of columns, both concentrations."""

    views: np.ndarray
    rows: np.ndarray
    params: np.ndarray
    concentrations: np.ndarray


class CrossModel(NamedTuple):
    """The first so many columns; numbers of columns and concentrations free or fixed."""

    n_columns: int = 4
    free_numbers: bool = True
    free_concentrations: bool = True
    tied: bool = False

    def hyperpriors(self):
        gamma = np.array([[2.0, 1.5], [1.5, 1.5]])
        learned = np.full((self.n_columns, N_PARAMS), self.free_numbers)
        free = np.full(2, self.free_concentrations)
        return Hyperpriors(gamma, free, self.tied, CENTRE[: self.n_columns], SPREAD[: self.n_columns], learned)

    def draw_params(self, rng):
        params = PARAMS[: self.n_columns].copy()
        if not self.free_numbers:
            return params
        for j, family in enumerate(FAMILIES[: self.n_columns]):
            for which in range(n_coordinates(family)):
                value = CENTRE[j, which] + SPREAD[j, which] * rng.normal()
                if which == 0 and family in (BERNOULLI, BINOMIAL):
                    mean = rng.random()
                    value = math.log(mean) - math.log1p(-mean)
                set_coordinate(family, params[j], which, value)
        return params

    def draw_prior(self, rng):
        concentrations = np.array(CONCENTRATIONS)
        if self.free_concentrations:
            gamma = self.hyperpriors().gamma
            concentrations = np.array([rng.gamma(shape) / rate for shape, rate in gamma])
        if self.tied:
            concentrations[1] = concentrations[0]
        views = draw_crp(rng, self.n_columns, concentrations[1])
        rows = np.array([draw_crp(rng, N_ROWS, concentrations[0]) for _ in range(int(views.max()) + 1)])
        return Truth(views, rows, self.draw_params(rng), concentrations)

    def draw_data(self, rng, truth):
        cells = np.empty((N_ROWS, self.n_columns))
        draw_cells(rng, truth.views, truth.rows, truth.params, FAMILIES, WIDTHS, cells)
        cells[MISSING[:, : self.n_columns]] = np.nan
        return cells

    def sampler(self, data):
        start = np.concatenate([[0], np.cumsum(WIDTHS[: self.n_columns])])
        prior = ColumnsPrior(FAMILIES[: self.n_columns], PARAMS[: self.n_columns], start)
        target = make_target(prior, data)
        return CrossCatSampler(target, PARAMS[: self.n_columns], CONCENTRATIONS, self.hyperpriors(), STARTS["prior"])

    def state_from(self, sampler, truth):
        return sampler.unpack(
            {
                "view_labels_0": truth.views,
                "row_labels_0": truth.rows,
                "params_0": truth.params,
                "concentrations_0": truth.concentrations,
            }
        )

    def redraw_data(self, rng, sampler, state):
        chain = state.chains[0]
        views, rows = sampler.labels(chain)
        truth = Truth(views.astype(np.int64), rows.astype(np.int64), chain.params, chain.concentrations)
        sampler = self.sampler(self.draw_data(rng, truth))
        return sampler, self.state_from(sampler, truth)

    def summarise(self, sampler, state):
        """Means exist: heavy tails are drawn in."""
        chain = state.chains[0]
        views, rows = sampler.labels(chain)
        views, rows = views.tolist(), rows.tolist()
        cells = np.where(np.isnan(sampler.target.by_row), 0.0, sampler.target.by_row)
        first, last = rows[views[0]], rows[views[-1]]
        found = {
            "n_views": float(len(rows)),
            "n_clusters": float(sum(max(row) + 1 for row in rows)),
            "columns 0 1": float(views[0] == views[1]),
            "columns 2 3": float(views[2] == views[-1]),
            "rows 0 1": float(first[0] == first[1]),
            "rows 2 4": float(last[2] == last[4]),
            "largest": float(max(first.count(k) for k in first)),
            "cells 0": float(cells[0, 0] * cells[4, 0]),
            "cells 1": math.tanh(0.3 * cells[0, 1] * cells[2, 1]),
            "cells 2": float(cells[1, 2] == cells[3, 2]),
            "cells 0 1": math.tanh(0.5 * (cells[0, 0] - cells[3, 0]) * (cells[0, 1] - cells[2, 1])),
            "same and rows": float((views[0] == views[1]) * (first[0] == first[2])),
            "log joint": 30.0 * math.tanh(sampler.scalars(state)["log_joint"] / 30.0),
        }
        if self.free_concentrations:
            found["log alpha rows"] = math.log(chain.concentrations[0])
            found["log alpha columns"] = math.log(chain.concentrations[1])
        if self.free_numbers:
            for j, family in enumerate(FAMILIES[: self.n_columns]):
                for which in range(n_coordinates(family)):
                    found[f"number {j} {which}"] = float(coordinate_of(family, chain.params[j], which))
        return found

"""Predictive distributions of single cells: mixtures over the components a cell may belong to.

A term of a mixture is the statistics of one column in one component; its predictive is that of the column's family: a
normal, Student-t, beta-binomial, negative binomial or categorical distribution, or another. What a tree or a chain says
about a cell comes as such a mixture, and everything asked about it (density, moments, quantiles, mode, entropy, draws)
is computed here.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.columns import (
    ColumnsPrior,
    column_draw_cell,
    column_draw_params,
    column_log_predictive,
)
from bayesgrove.likelihoods.families import IS_REAL, IS_STUDENT, N_PARAMS, by_family
from bayesgrove.models.cross.cell_gaussians import (
    gaussian_entropies,
    gaussian_quantiles,
    gaussian_terms,
    numbers_of,
)
from bayesgrove.stats.sampling import draw_log_categorical
from bayesgrove.stats.special import log_sum

N_DRAWN = 4_096
"""Draws that stand for a cell of real numbers whose predictive has no formula."""
OF_THE_COLUMN = np.empty((0, N_PARAMS))


class CellMixtures(NamedTuple):
    """A predictive mixture for each of some cells."""

    column: np.ndarray
    """(n_cells,) column of each cell."""
    start: np.ndarray
    """(n_cells + 1,) the terms of cell c are start[c] .. start[c + 1] - 1."""
    log_weight: np.ndarray
    """(n_terms,) normalised in each cell."""
    stats: np.ndarray
    """(n_terms, width of the widest column) statistics of the cell's column in the term's component."""
    numbers: np.ndarray = OF_THE_COLUMN
    """(n_terms, 4) the prior's numbers in each term, where they differ; none where they are the column's own."""

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.column.size)


def widest(prior: ColumnsPrior) -> int:
    """Numbers that the statistics of any one column need."""
    return int(np.diff(prior.start).max())


def normalised(log_weight: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Log weights of the terms of each cell that sum to 1; every cell has at least one term."""
    out = log_weight.copy()
    normalise(out, start)
    return out


@kernel
def normalise(log_weight, start):
    """Let the weights of each cell sum to 1, in place."""
    for cell in range(start.size - 1):
        total = log_sum(log_weight[start[cell] : start[cell + 1]])
        for term in range(start[cell], start[cell + 1]):
            log_weight[term] -= total


def log_density(prior: ColumnsPrior, mixtures: CellMixtures, values: np.ndarray) -> np.ndarray:
    """Log density of one value for each cell; 0 for NaN."""
    return mixture_log_density(prior, *mixtures, np.asarray(values, np.float64))


@kernel
def mixture_log_density(prior, column, start, log_weight, stats, numbers, values):
    """`log_density` on the arrays of the mixtures."""
    family, params, first = prior.family, prior.params, prior.start
    out, most = np.zeros(column.size), 1
    for cell in range(column.size):
        most = max(most, start[cell + 1] - start[cell])
    terms = np.empty(most)
    for cell in range(column.size):
        if math.isnan(values[cell]):
            continue
        j, n = column[cell], start[cell + 1] - start[cell]
        width = first[j + 1] - first[j]
        for t in range(n):
            at = start[cell] + t
            p = numbers_of(params, j, numbers, at)
            terms[t] = log_weight[at] + column_log_predictive(family[j], stats[at], 0, width, values[cell], p)
        out[cell] = log_sum(terms[:n])
    return out


@by_family("moments", unknown="(math.nan, math.nan)")
def term_moments(family, row, width, p):
    """Mean and variance of one term; NaN for categories, which have none."""


@by_family("n_values", unknown="0")
def term_values(family, log_weight, row, width, p):
    """Number of values 0, 1, ... of one term that hold its mass; none where they are real numbers."""


def moments(prior: ColumnsPrior, mixtures: CellMixtures) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each cell; NaN for categories, an infinite deviation where there is none."""
    mean, variance = mixture_moments(prior, *mixtures)
    return mean, np.sqrt(variance)


@kernel
def mixture_moments(prior, column, start, log_weight, stats, numbers):
    """Mean and variance of each cell: the mean variance plus the variance of the means."""
    family, params, first = prior.family, prior.params, prior.start
    means, variances = np.zeros(column.size), np.zeros(column.size)
    for cell in range(column.size):
        j, weights, mean, spread = column[cell], 0.0, 0.0, 0.0
        width = first[j + 1] - first[j]
        for at in range(start[cell], start[cell + 1]):
            weight = math.exp(log_weight[at])
            if weight == 0.0:
                continue
            own, variance = term_moments(family[j], stats[at], width, numbers_of(params, j, numbers, at))
            gap = own - mean
            mean += gap * weight / (weights + weight)
            spread += weight * variance + gap * gap * weights * weight / (weights + weight)
            weights += weight
        means[cell], variances[cell] = mean, spread / weights
    return means, variances


@kernel
def support_sizes(prior, column, start, log_weight, stats, numbers):
    """Number of values 0, 1, ... of each cell, those of counts up to a negligible rest; 0 for real numbers."""
    family, params, first = prior.family, prior.params, prior.start
    out = np.zeros(column.size, np.int64)
    for cell in range(column.size):
        j = column[cell]
        for at in range(start[cell], start[cell + 1]):
            p, width = numbers_of(params, j, numbers, at), first[j + 1] - first[j]
            out[cell] = max(out[cell], term_values(family[j], log_weight[at], stats[at], width, p))
    return out


@kernel
def fill_probabilities(prior, j, size, log_weight, stats, numbers, out):
    """Probabilities of the values 0 .. size - 1 of column j under one mixture, summing to 1."""
    family, width = prior.family[j], prior.start[j + 1] - prior.start[j]
    total = 0.0
    for x in range(size):
        out[x] = 0.0
        for at in range(log_weight.size):
            p = numbers_of(prior.params, j, numbers, at)
            own = column_log_predictive(family, stats[at], 0, width, float(x), p)
            out[x] += math.exp(log_weight[at] + own)
        total += out[x]
    for x in range(size):
        out[x] /= total


def probabilities(prior: ColumnsPrior, mixtures: CellMixtures) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the values 0, 1, ... of discrete cells: those of cell c are flat[start[c]:start[c + 1]]."""
    sizes = support_sizes(prior, *mixtures)
    place = np.concatenate([[0], np.cumsum(sizes)])
    return place, all_probabilities(prior, *mixtures, place)


@kernel
def all_probabilities(prior, column, start, log_weight, stats, numbers, place):
    """Probabilities of all cells one after another."""
    out = np.empty(place[place.size - 1])
    for cell in range(column.size):
        j, low, high = column[cell], start[cell], start[cell + 1]
        size, own = place[cell + 1] - place[cell], out[place[cell] : place[cell + 1]]
        fill_probabilities(prior, j, size, log_weight[low:high], stats[low:high], numbers[low:high], own)
    return out


@kernel
def discrete_summaries(prior, column, start, log_weight, stats, numbers, sizes, levels):
    """Mode, entropy and quantiles of discrete cells; zeros for others. One cell's probabilities at a time."""
    modes, entropies = np.zeros(column.size), np.zeros(column.size)
    quantile = np.zeros((column.size, levels.size))
    room = np.empty(sizes.max() if sizes.size else 0)
    for cell in range(column.size):
        j, low, high, size = column[cell], start[cell], start[cell + 1], sizes[cell]
        fill_probabilities(prior, j, size, log_weight[low:high], stats[low:high], numbers[low:high], room)
        best = 0
        for x in range(size):
            best = x if room[x] > room[best] else best
            entropies[cell] -= room[x] * math.log(room[x]) if room[x] > 0.0 else 0.0
        modes[cell] = best
        for k in range(levels.size if size else 0):
            quantile[cell, k] = smallest_reaching(room, size, levels[k])
    return modes, entropies, quantile


@kernel
def smallest_reaching(chances, size, level):
    """Smallest value whose distribution function is at least `level`, up to rounding."""
    total = 0.0
    for x in range(size):
        total += chances[x]
        if total >= level - 1e-14:
            return x
    return size - 1


def is_real(prior: ColumnsPrior, mixtures: CellMixtures) -> np.ndarray:
    """Whether each cell stands in a column of real numbers."""
    return IS_REAL[prior.family[mixtures.column]]


def is_student(prior: ColumnsPrior, mixtures: CellMixtures) -> np.ndarray:
    """Whether the terms of each cell are Student-t or normal distributions."""
    return IS_STUDENT[prior.family[mixtures.column]]


def drawn_cells(prior: ColumnsPrior, mixtures: CellMixtures) -> tuple[CellMixtures, np.ndarray]:
    """Each cell many times, and a draw of each; always the same."""
    many = chosen_cells(mixtures, np.repeat(np.arange(mixtures.n_cells), N_DRAWN))
    return many, draw(generator(0), prior, many)


def quantiles(prior: ColumnsPrior, mixtures: CellMixtures, levels: np.ndarray) -> np.ndarray:
    """Quantiles of each cell, (n_cells, n_levels); a discrete one is the smallest value that reaches the level."""
    wanted = np.atleast_1d(np.asarray(levels, np.float64))
    sizes = support_sizes(prior, *mixtures)
    _, _, out = discrete_summaries(prior, *mixtures, sizes, wanted)
    known = is_student(prior, mixtures)
    if known.any():
        some = chosen_cells(mixtures, np.flatnonzero(known))
        terms = gaussian_terms(prior, *some)
        out[known] = np.column_stack(
            [gaussian_quantiles(some.start, some.log_weight, terms, level) for level in wanted]
        )
    for cell in np.flatnonzero(is_real(prior, mixtures) & ~known):
        _, drawn = drawn_cells(prior, chosen_cells(mixtures, np.array([cell])))
        out[cell] = np.quantile(drawn, wanted)
    return out


def chosen_cells(mixtures: CellMixtures, cells: np.ndarray) -> CellMixtures:
    """The mixtures of some of the cells."""
    counts = np.diff(mixtures.start)[cells]
    start = np.concatenate([[0], np.cumsum(counts)])
    terms = np.arange(start[-1]) + np.repeat(mixtures.start[cells] - start[:-1], counts)
    numbers = mixtures.numbers[terms] if len(mixtures.numbers) else mixtures.numbers
    return CellMixtures(mixtures.column[cells], start, mixtures.log_weight[terms], mixtures.stats[terms], numbers)


def modes(prior: ColumnsPrior, mixtures: CellMixtures) -> np.ndarray:
    """Most probable value of discrete cells, the mean of real ones."""
    sizes = support_sizes(prior, *mixtures)
    most, _, _ = discrete_summaries(prior, *mixtures, sizes, np.empty(0))
    mean, _ = moments(prior, mixtures)
    return np.where(is_real(prior, mixtures), mean, most)


def entropies(prior: ColumnsPrior, mixtures: CellMixtures) -> np.ndarray:
    """Entropy of each cell in nats: a sum for discrete ones, differential and by quadrature (or draws) for others."""
    sizes = support_sizes(prior, *mixtures)
    _, out, _ = discrete_summaries(prior, *mixtures, sizes, np.empty(0))
    known = is_student(prior, mixtures)
    if known.any():
        some = chosen_cells(mixtures, np.flatnonzero(known))
        out[known] = gaussian_entropies(prior, *some, gaussian_terms(prior, *some))
    for cell in np.flatnonzero(is_real(prior, mixtures) & ~known):
        many, drawn = drawn_cells(prior, chosen_cells(mixtures, np.array([cell])))
        out[cell] = -log_density(prior, many, drawn).mean()
    return out


def draw(rng: np.random.Generator, prior: ColumnsPrior, mixtures: CellMixtures) -> np.ndarray:
    """One draw of every cell, independent of each other."""
    return draw_cells(rng, prior, *mixtures)


@kernel
def draw_cells(rng, prior, column, start, log_weight, stats, numbers):
    """A term by its weight, its parameters from their posterior, a cell."""
    out, params = np.empty(column.size), np.empty(stats.shape[1])
    for cell in range(column.size):
        j = column[cell]
        family, width = prior.family[j], prior.start[j + 1] - prior.start[j]
        at = start[cell] + draw_log_categorical(rng, log_weight[start[cell] : start[cell + 1]])
        p = numbers_of(prior.params, j, numbers, at)
        column_draw_params(rng, family, stats[at], 0, width, p, params)
        out[cell] = column_draw_cell(rng, family, params, 0, width, p)
    return out

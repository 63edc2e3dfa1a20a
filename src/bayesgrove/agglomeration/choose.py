"""Which scorer serves a likelihood best."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesgrove.agglomeration.full_scorer import FullScorer
from bayesgrove.agglomeration.scorers import CountScorer, GaussianScorer, RowScorer
from bayesgrove.likelihoods.bernoulli import BernoulliPrior
from bayesgrove.likelihoods.binomial import BinomialPrior
from bayesgrove.likelihoods.categorical import CategoricalPrior
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior
from bayesgrove.likelihoods.multinomial import MultinomialPrior

LARGEST_TABLE = 1 << 22
"""Entries (32 MiB); longer tables of lgamma do not pay."""

PIECE = 1 << 16
"""Entries of a table that are made at once, so that what is between stays in the cache."""


def choose_scorer(
    prior: Any,
    totals: np.ndarray,
    n_rows: float,
    log_concentration: float,
    *,
    complete: bool,
    tempered: bool = False,
) -> Any:
    """The fastest scorer that is exact for this prior and these statistics.

    `totals` (n_stats,) are the largest values that counts among the statistics can reach, `n_rows` the largest number
    of rows of a cluster; `complete` says that no cell is missing, `tempered` that the size-tempered order replaces the
    log odds.
    """
    # A tile may hold the owner itself, whose score with itself is computed and not used: tables reach twice as far.
    length = 2 * int(n_rows) + 1

    def log_weight_of(n: np.ndarray) -> np.ndarray:
        return np.zeros(n.size) if tempered else log_concentration + gammaln(np.maximum(n, 1.0))

    if isinstance(prior, GaussianDiagonalPrior) and is_fast(prior, complete=complete):
        return gaussian_scorer(prior, length, log_weight_of, tempered=tempered)
    if isinstance(prior, GaussianFullPrior) and has_lanes(prior, complete=complete):
        return full_scorer(prior, length, log_weight_of, tempered=tempered)
    log_weight = table_of(log_weight_of, length)
    blocks = count_blocks(prior)
    if blocks is not None:
        longest = count_lengths(blocks, totals)
        if longest.sum() <= LARGEST_TABLE:
            return count_scorer(blocks, longest, log_weight, tempered=tempered)
    return RowScorer(prior, log_weight, tempered)


def is_fast(prior: Any, *, complete: bool) -> bool:
    """Whether a faster scorer than `RowScorer` serves this prior."""
    if isinstance(prior, GaussianDiagonalPrior):
        return complete and has_one_shape(prior)
    return count_blocks(prior) is not None


def has_lanes(prior: GaussianFullPrior, *, complete: bool) -> bool:
    """Whether pairs are scored many at a time; determinants still take too long to call it fast."""
    return complete


def has_one_shape(prior: GaussianDiagonalPrior) -> bool:
    """Whether the shape is the same in all columns."""
    return bool(np.ptp(prior.shape) == 0.0)


def table_of(function: Callable[[np.ndarray], np.ndarray], length: int) -> np.ndarray:
    """A function of 0, 1, ..., piece by piece."""
    table = np.empty(length)
    for low in range(0, length, PIECE):
        high = min(low + PIECE, length)
        table[low:high] = function(np.arange(low, high, dtype=float))
    return table


def gaussian_scorer(
    prior: GaussianDiagonalPrior,
    length: int,
    log_weight_of: Callable[[np.ndarray], np.ndarray],
    *,
    tempered: bool,
) -> GaussianScorer:
    """All terms that depend on n only stand in the table of weights."""
    shape, d = float(prior.shape[0]), prior.rate.size
    constant = shape * np.log(prior.rate).sum()
    strengths, times = np.unique(prior.strength, return_counts=True)

    def of_size(n: np.ndarray) -> np.ndarray:
        per_column = gammaln(shape + 0.5 * n) - math.lgamma(shape) - 0.5 * n * math.log(2.0 * math.pi)
        by_strength = sum(k * 0.5 * (math.log(s) - np.log(s + n)) for s, k in zip(strengths, times, strict=True))
        return log_weight_of(n) + d * per_column + by_strength + constant

    one_strength = strengths.size == 1
    return GaussianScorer(
        prior.mean, prior.strength, shape, prior.rate, table_of(of_size, length), tempered, one_strength
    )


def full_scorer(
    prior: GaussianFullPrior, length: int, log_weight_of: Callable[[np.ndarray], np.ndarray], *, tempered: bool
) -> FullScorer:
    """As `gaussian_scorer`."""
    d = prior.mean.size
    constant = 0.5 * prior.dof * prior.log_determinant - sum(math.lgamma(0.5 * (prior.dof - j)) for j in range(d))

    def of_size(n: np.ndarray) -> np.ndarray:  # of consecutive numbers: all columns take from one row of log gammas
        each = gammaln(0.5 * (prior.dof + np.arange(n[0] - d + 1, n[-1] + 1)))
        gammas = sum(each[d - 1 - j : each.size - j] for j in range(d))
        powers = n * math.log(math.pi) + np.log1p(n / prior.strength)
        return log_weight_of(n) + gammas - 0.5 * d * powers + constant

    return FullScorer(prior.mean, prior.strength, prior.dof, prior.scale, table_of(of_size, length), tempered)


def count_blocks(prior: Any) -> list[tuple[np.ndarray, np.ndarray, int]] | None:
    """Groups of counts under one Dirichlet: places in a row, weights, place of the coefficients; None: no counts."""
    if isinstance(prior, BernoulliPrior):
        return [
            (np.array([2 * j, 2 * j + 1]), np.array([b, a]), -1) for j, (a, b) in enumerate(zip(*prior, strict=True))
        ]
    if isinstance(prior, BinomialPrior):
        pairs = enumerate(zip(prior.a, prior.b, strict=True))
        return [(np.array([3 * j, 3 * j + 1]), np.array([b, a]), 3 * j + 2) for j, (a, b) in pairs]
    if isinstance(prior, CategoricalPrior):
        ranges = zip(prior.start[:-1], prior.start[1:], prior.pseudo_count, strict=True)
        return [(np.arange(low, high), np.full(high - low, weight), -1) for low, high, weight in ranges]
    if isinstance(prior, MultinomialPrior):
        size = prior.pseudo_count.size
        return [(np.arange(size), prior.pseudo_count, size)]
    return None


def count_lengths(blocks: list[tuple[np.ndarray, np.ndarray, int]], totals: np.ndarray) -> np.ndarray:
    """Length of the table each block needs for its counts and their total."""
    return np.array([2 * totals[places].sum() + 1 for places, _, _ in blocks])


def count_scorer(
    blocks: list[tuple[np.ndarray, np.ndarray, int]], longest: np.ndarray, log_weight: np.ndarray, *, tempered: bool
) -> CountScorer:
    """Tables of log rising factorials, shared by equal weights."""
    length = int(longest.max())
    tables: dict[float, int] = {}

    def table_start(weight: float) -> int:
        return tables.setdefault(weight, len(tables)) * length

    start = [table_start(float(weight)) for _, weights, _ in blocks for weight in weights]
    total_start = [table_start(-float(weights.sum())) for _, weights, _ in blocks]
    table = np.concatenate(
        [math.copysign(1.0, w) * (gammaln(abs(w) + np.arange(length)) - gammaln(abs(w))) for w in tables]
    )
    places = np.concatenate([places for places, _, _ in blocks])
    coefficients = [place for _, _, place in blocks if place >= 0]
    block = np.cumsum([0] + [places.size for places, _, _ in blocks])
    return CountScorer(
        places,
        np.array(coefficients, np.int64),
        np.array(start),
        block,
        np.array(total_start),
        table,
        log_weight,
        tempered,
    )

"""What groups of rows look like, column by column, and which columns tell a group from the rest."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, stdtrit, xlogy

from bayesgrove.core.table import Table

MOST_CATEGORIES = 12
"""Of a column with more categories only the most frequent are features of their own."""
CELLS_AT_ONCE = 1 << 17
LEVEL = 0.95
ROUNDING = 1e-13


class Feature(NamedTuple):
    """A number that a group of rows has a mean of: a column, or the rate of one of its categories."""

    name: str
    column: int
    is_rate: bool
    """Whether the mean is a share between 0 and 1."""
    category: int
    """Code of the category whose rate it is; -1 for a column of numbers."""


@dataclass(frozen=True, eq=False)
class Profile:
    """Means and rates of groups of rows, with intervals, and how much each feature tells about membership."""

    features: tuple[Feature, ...]
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    """`mean`, `low` and `high`, (n_groups, n_features): mean of the group's cells and its 95 % interval: Student's
    for numbers, Jeffreys' for rates. nan where a group has no cells; a single number has no interval."""
    telling: np.ndarray
    """(n_groups, n_features): bits per row that are gained by describing the group and the rest each by its own normal
    distribution (or its own rate) instead of all rows by one; moments are shrunk towards those of all rows by one row's
    worth. Of a rate it is the mutual information with membership; of numbers it can be more, as all rows together are
    seldom
    normal. 0 for a feature that is the same everywhere."""
    overall: np.ndarray
    """(n_features,): mean over all rows."""

    def strongest(self, most: int) -> np.ndarray:
        """Numbers of each group's most telling features, the strongest first; shape (n_groups, most or fewer)."""
        return np.argsort(-self.telling, axis=1, kind="stable")[:, :most]


def features_of(table: Table) -> tuple[Feature, ...]:
    """A feature for every column of numbers and for the frequent categories of the others."""
    found: list[Feature] = []
    for j, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True)):
        cells = table.values[:, j]
        if j in table.categories or kind == "category":
            found.extend(_category_features(name, j, cells, table.categories.get(j, ())))
        else:
            seen = cells[~np.isnan(cells)]
            found.append(Feature(name, j, bool(seen.size and np.all((seen == 0.0) | (seen == 1.0))), -1))
    return tuple(found)


def _category_features(name: str, column: int, cells: np.ndarray, labels: tuple) -> list[Feature]:
    codes, counts = np.unique(cells[~np.isnan(cells)].astype(np.int64), return_counts=True)
    frequent = np.sort(codes[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])
    return [
        Feature(f"{name} = {labels[code] if code < len(labels) else code}", column, True, int(code))
        for code in frequent.tolist()
    ]


def profile_groups(
    table: Table, start: np.ndarray, stop: np.ndarray, features: tuple[Feature, ...] | None = None
) -> Profile:
    """The profile of groups of neighbouring rows, group g being `start[g] .. stop[g] - 1`; groups may overlap.

    Each feature costs one pass over the rows, whatever the number of groups; of short tables many features at once.
    """
    features = features_of(table) if features is None else features
    shape = (len(features), start.size)
    described = tuple(np.full(shape, np.nan) for _ in range(4))
    overall = np.full(len(features), np.nan)
    at_once = max(1, CELLS_AT_ONCE // max(1, len(table.values)))
    for first in range(0, len(features), at_once):
        some = features[first : first + at_once]
        cells, seen = _numbers_of(table, some)
        centre = cells.sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
        sums = _group_sums(np.where(seen, cells - centre, 0.0), seen, start, stop)
        overall[first : first + len(some)] = np.where(seen.any(axis=1), centre[:, 0], np.nan)
        is_rate = np.array([feature.is_rate for feature in some])
        for describe, which in ((_describe_rates, is_rate), (_describe_means, ~is_rate)):
            if which.any():
                own = _Sums(*(part[which] for part in sums))
                for out, part in zip(described, describe(own, centre[which]), strict=True):
                    out[first + np.flatnonzero(which)] = part
    mean, low, high, telling = (np.ascontiguousarray(part.T) for part in described)
    return Profile(features, mean, low, high, np.nan_to_num(telling), overall)


def _numbers_of(table: Table, features: tuple[Feature, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The numbers whose means are wanted, 0 where cells are missing, and where they are seen: a row per feature."""
    cells = np.ascontiguousarray(table.values[:, [feature.column for feature in features]].T)
    seen = ~np.isnan(cells)
    category = np.array([feature.category for feature in features])[:, np.newaxis]
    numbers = cells if (category < 0).all() else np.where(category >= 0, cells == category, cells)
    return np.where(seen, numbers, 0.0), seen


class _Sums(NamedTuple):
    """Count, sum and sum of squares of centred cells by feature and group, and in all."""

    n: np.ndarray
    first: np.ndarray
    second: np.ndarray
    n_all: np.ndarray
    second_all: np.ndarray


def _group_sums(centred: np.ndarray, seen: np.ndarray, start: np.ndarray, stop: np.ndarray) -> _Sums:
    def between(cells: np.ndarray) -> np.ndarray:
        total = np.zeros((cells.shape[0], cells.shape[1] + 1))
        np.cumsum(cells, axis=1, out=total[:, 1:])
        return total[:, stop] - total[:, start]

    n_all = seen.sum(axis=1, keepdims=True).astype(np.float64)
    is_whole = bool((n_all == seen.shape[1]).all())
    n = np.broadcast_to((stop - start).astype(np.float64), (len(seen), start.size)) if is_whole else between(seen)
    squares = centred**2
    return _Sums(n, between(centred), between(squares), n_all, squares.sum(axis=1, keepdims=True))


def _describe_means(sums: _Sums, centre: np.ndarray) -> tuple[np.ndarray, ...]:
    n, all_variance = sums.n, sums.second_all / np.maximum(sums.n_all, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums.first / n
        squares = np.maximum(sums.second - n * mean**2, 0.0)
        half = _student_edge(n) * np.sqrt(squares / (n - 1.0) / n)
        half = np.where(n > 1.0, half, np.nan)
        rest = np.maximum(sums.n_all - n, 0.0)
        # The centred first moments of a group and of the rest cancel.
        rest_squares = np.maximum(
            sums.second_all - sums.second - np.where(rest > 0, sums.first**2 / np.maximum(rest, 1.0), 0.0), 0.0
        )
        own, other = ((part + all_variance) / (size + 1.0) for part, size in ((squares, n), (rest_squares, rest)))
        share = n / sums.n_all
        bits = 0.5 * (np.log2(all_variance) - share * np.log2(own) - (1.0 - share) * np.log2(other))
    telling = np.where((all_variance > 0.0) & (n > 0.0) & (rest > 0.0), np.maximum(bits, 0.0), 0.0)
    whole = mean + centre
    whole = np.where(np.abs(whole) < ROUNDING * np.abs(centre), 0.0, whole)  # cells of 0 only, centred before
    return whole, whole - half, whole + half, telling


def _describe_rates(sums: _Sums, centre: np.ndarray) -> tuple[np.ndarray, ...]:
    n = sums.n
    yes = np.clip(np.rint(sums.first + n * centre), 0.0, n)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = yes / n
        low, high = _jeffreys_edges(yes, n)
        rest = np.maximum(sums.n_all - n, 0.0)
        rest_yes = np.clip(sums.n_all * centre - yes, 0.0, rest)
        own, other = ((part + centre) / (size + 1.0) for part, size in ((yes, n), (rest_yes, rest)))
        share = n / sums.n_all
        bits = _entropy(centre) - share * _entropy(own) - (1.0 - share) * _entropy(other)
    telling = np.where((n > 0.0) & (rest > 0.0), np.maximum(bits, 0.0), 0.0)
    empty = np.where(n > 0.0, 0.0, np.nan)
    # Jeffreys' interval may leave out a rate of 0 or 1; then it reaches that end.
    return rate, np.minimum(low, rate) + empty, np.maximum(high, rate) + empty, telling


def _student_edge(n: np.ndarray) -> np.ndarray:
    """Upper end of Student's interval for each number of cells; groups are many, numbers of cells few."""
    given = n[:1] if (n == n[:1]).all() else n  # where no cell is missing, all features have the same
    sizes, place = np.unique(given, return_inverse=True)
    edge: np.ndarray = stdtrit(np.maximum(sizes - 1.0, 1.0), 0.5 + LEVEL / 2)[place.reshape(given.shape)]
    return edge


def _jeffreys_edges(yes: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of Jeffreys' interval, of pairs that differ only."""
    pairs, place = np.unique(yes + 1j * n, return_inverse=True)
    a, b = pairs.real + 0.5, pairs.imag - pairs.real + 0.5
    place = place.reshape(n.shape)
    return betaincinv(a, b, 0.5 - LEVEL / 2)[place], betaincinv(a, b, 0.5 + LEVEL / 2)[place]


def _entropy(rate: np.ndarray) -> np.ndarray:
    """In bits, of a yes/no variable."""
    entropy: np.ndarray = -(xlogy(rate, rate) + xlogy(1.0 - rate, 1.0 - rate)) / np.log(2.0)
    return entropy

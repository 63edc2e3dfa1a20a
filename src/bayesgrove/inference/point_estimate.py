"""The partition of least posterior expected loss, searched among all partitions and not only among the draws."""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError, MemoryLimitError
from bayesgrove.core.rng import generator
from bayesgrove.inference.partition_search import search_from
from bayesgrove.inference.sweetening import sweeten_from
from bayesgrove.stats.partition_losses import Loss, block_costs, distances_to_draws, named_loss
from bayesgrove.stats.partitions import relabel

MIN_SEARCHED_DRAWS, MAX_SEARCHED_DRAWS = 100, 500
MAX_SEARCHED_LABELS = 2_000_000
"""Items times draws of a search; beyond it, fewer draws are searched."""
MAX_SCAN = 100_000_000
"""Items times draws times clusters, the steps of one scan; beyond it, fewer draws are searched."""
MIN_STARTS, MAX_STARTS = 4, 16
STEPS_OF_STARTS = 4 * MAX_SCAN
"""Steps of one scan in each start; beyond it, fewer starts are made."""
N_ATTEMPTS = 10
MAX_TABLE_CELLS = 200_000_000
ROWS_PER_JOB = 25


@dataclass(frozen=True, eq=False)
class PointEstimate:
    """A partition and how far, on average, the draws are from it.

    Attributes
    ----------
    labels : int64 array of shape (n_items,)
        Consecutive from 0 in the order of each cluster's first item.
    expected_loss : float
        Mean loss over all draws; of the variation of information in nats, of Binder's loss as a share of the pairs.
    loss : str
        Its name.
    n_draws_searched, n_starts : int
        How wide the search was.
    """

    labels: np.ndarray
    expected_loss: float
    loss: str
    n_draws_searched: int
    n_starts: int

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    def __repr__(self) -> str:
        return (
            f"PointEstimate(n_clusters={self.n_clusters}, expected_loss={self.expected_loss:.4g}, loss={self.loss!r})"
        )


def estimate_partition(
    seed: int,
    draws: np.ndarray,
    loss: str,
    *,
    n_starts: int | None = None,
    max_clusters: int | None = None,
    n_jobs: int | None = None,
    a: float = 1.0,
) -> PointEstimate:
    """The partition of least expected loss that a stochastic search finds; options as in `Posterior.point_estimate`.

    Draws (n_draws, n_items) are as `stats.partitions.relabel_draws` gives them.
    """
    measure = named_loss(loss, draws.shape[1], a)
    searched = spread_draws(draws)
    n_starts = affordable_starts(searched) if n_starts is None else n_starts
    check_search(n_starts, max_clusters)
    good_draws = best_draw(searched, measure, max_clusters, n_jobs)
    run = run_starts if measure.is_plain else run_sweetening
    found = run(seed, searched, measure, good_draws, n_starts, max_clusters, n_jobs)
    candidates = np.unique(np.array([relabel(labels) for labels in (*good_draws, *found)], np.int32), axis=0)
    expected = distances_to_draws(candidates, draws, measure).mean(axis=1)
    best = int(np.argmin(expected))
    return PointEstimate(candidates[best].astype(np.int64), float(expected[best]), loss, len(searched), n_starts)


def check_search(n_starts: int, max_clusters: int | None) -> None:
    """Refuse numbers of starts or clusters that no search can have."""
    for name, value in (("n_starts", n_starts), ("max_clusters", max_clusters)):
        if value is not None and value < 1:
            raise InvalidSettingError(f"{name} must be at least 1, got {value}. Leave it out for the default.")


def spread_draws(draws: np.ndarray) -> np.ndarray:
    """As many draws as a search can afford, evenly spread over all of them."""
    n_draws, n_items = draws.shape
    affordable = min(MAX_SEARCHED_LABELS // n_items, MAX_SCAN // (n_items * mean_clusters(draws)))
    affordable = min(max(affordable, MIN_SEARCHED_DRAWS), MAX_SEARCHED_DRAWS)
    if n_draws <= affordable:
        return draws
    return np.ascontiguousarray(draws[np.linspace(0, n_draws - 1, affordable).round().astype(np.int64)])


def affordable_starts(draws: np.ndarray) -> int:
    """16 starts, or fewer where scans are long."""
    return min(max(STEPS_OF_STARTS // (draws.size * mean_clusters(draws)), MIN_STARTS), MAX_STARTS)


def mean_clusters(draws: np.ndarray) -> int:
    """Mean number of clusters of draws, rounded up."""
    return int(np.ceil(draws.max(axis=1).mean() + 1.0))


def best_draw(draws: np.ndarray, measure: Loss, max_clusters: int | None, n_jobs: int | None) -> list[np.ndarray]:
    """The draw nearest to all draws, of those with no more than `max_clusters`; an empty list when there is none."""
    n_draws = len(draws)
    if not measure.is_plain:  # may differ from one direction to the other
        totals = distances_to_draws(draws, draws, measure).sum(axis=1)
        return least_draw(draws, totals, max_clusters)
    blocks = range(0, n_draws, ROWS_PER_JOB)
    # A distance serves both of its draws: block after block looks only at draws that come after it.
    parts = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(distances_to_draws)(draws[first : first + ROWS_PER_JOB], draws[first:], measure) for first in blocks
    )
    totals = np.zeros(n_draws)
    for first, part in zip(blocks, parts, strict=True):
        totals[first : first + len(part)] += part.sum(axis=1)
        totals[first + len(part) :] += part[:, len(part) :].sum(axis=0)
    return least_draw(draws, totals, max_clusters)


def least_draw(draws: np.ndarray, totals: np.ndarray, max_clusters: int | None) -> list[np.ndarray]:
    """The draw of least total among those with no more than `max_clusters`."""
    if max_clusters is not None:
        totals[draws.max(axis=1) >= max_clusters] = np.inf
    best = int(np.argmin(totals))
    return [draws[best]] if np.isfinite(totals[best]) else []


def run_starts(
    seed: int,
    draws: np.ndarray,
    measure: Loss,
    good_draws: list[np.ndarray],
    n_starts: int,
    max_clusters: int | None,
    n_jobs: int | None,
) -> list[np.ndarray]:
    """One local minimum per start."""
    cells, n_cells, limit = block_cells(draws, max_clusters, good_draws)
    most_clusters = min(limit, 2 * (int(draws.max()) + 1))
    starts = first_partitions(seed, draws.shape[1], most_clusters, good_draws, n_starts)
    results: list[np.ndarray] = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(search_from)(generator(seed, number), start, cells, n_cells, measure.step, limit, N_ATTEMPTS)
        for number, start in enumerate(starts)
    )
    return results


def run_sweetening(
    seed: int,
    draws: np.ndarray,
    measure: Loss,
    good_draws: list[np.ndarray],
    n_starts: int,
    max_clusters: int | None,
    n_jobs: int | None,
) -> list[np.ndarray]:
    """One local minimum per start of a loss that is no plain sum; the first starts are estimates under one that is."""
    n_items = draws.shape[1]
    plain = named_loss("binder" if measure.name in ("binder", "omari") else "vi", n_items)
    known = run_starts(seed, draws, plain, good_draws, min(n_starts, MIN_STARTS), max_clusters, n_jobs)
    cells, n_cells, limit = block_cells(draws, max_clusters, good_draws)
    starts = known + first_partitions(seed, n_items, min(limit, 2 * mean_clusters(draws)), good_draws, n_starts)
    starts = [relabel(start) for start in starts if start[0] != NULL] + [relabel(np.arange(n_items) % limit)]
    n_attempts = N_ATTEMPTS if draws.size * mean_clusters(draws) < MAX_SCAN // 100 else 1
    arguments = (block_costs(draws, measure.step), measure.step, measure.code, measure.a, measure.scale, limit)
    results: list[np.ndarray] = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(sweeten_from)(generator(seed, number), start, cells, n_cells, *arguments, n_attempts)
        for number, start in enumerate(starts)
    )
    return results


def block_cells(
    draws: np.ndarray, max_clusters: int | None, good_draws: list[np.ndarray]
) -> tuple[np.ndarray, int, int]:
    """The block of each item in each draw (n_items, n_draws), numbered through all draws; their number; the limit."""
    offsets = np.concatenate([[0], np.cumsum(draws.max(axis=1).astype(np.int64) + 1)])
    n_cells = int(offsets[-1])
    limit = cluster_limit(n_cells, draws.shape[1], max_clusters, good_draws)
    return np.ascontiguousarray((draws + offsets[:-1, np.newaxis]).T), n_cells, limit


def first_partitions(
    seed: int, n_items: int, most_clusters: int, good_draws: list[np.ndarray], n_starts: int
) -> list[np.ndarray]:
    """Where searches start: a good draw, one cluster; then by turns nothing (items come one by one) and chance."""
    starts = [labels.astype(np.int64) for labels in good_draws] + [np.zeros(n_items, np.int64)]
    rng = generator(seed, n_starts)
    while len(starts) < n_starts:
        n_clusters = rng.integers(1, most_clusters, endpoint=True)
        starts += [np.full(n_items, NULL), relabel(rng.integers(0, n_clusters, n_items))]
    return starts[:n_starts]


def cluster_limit(n_cells: int, n_items: int, max_clusters: int | None, good_draws: list[np.ndarray]) -> int:
    """The most clusters a search may open: what was asked for, and what its tables have room for."""
    limit = min(n_items, max_clusters or n_items, MAX_TABLE_CELLS // n_cells)
    needed = max((int(labels.max()) + 1 for labels in good_draws), default=1)
    if limit < needed:
        raise MemoryLimitError(
            f"the search needs a table of {n_cells} blocks of draws by {needed} clusters "
            f"({4e-9 * n_cells * needed:.1f} GB), the limit is {4e-9 * MAX_TABLE_CELLS:.1f} GB. "
            "Give fewer draws with thin(), or set max_clusters.",
            n_cells=n_cells,
        )
    return limit

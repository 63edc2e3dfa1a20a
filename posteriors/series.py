"""Series of numbers behind draws: features of partitions, pairs in one block, states; and means with their errors."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.stats.testing import autocorrelation_time
from posteriors.codes import code_of
from posteriors.quantities import FEATURES

N_BATCHES = 40
CHUNK = 1_000


class Estimate(NamedTuple):
    """Means of chains, with standard errors by batch means."""

    value: np.ndarray
    error: np.ndarray
    degrees: int


def estimate(values: np.ndarray) -> Estimate:
    """Mean over chains and draws, shape (n_chains, n_draws, ...), with its error from `N_BATCHES` batches in all."""
    batches = in_batches(values)
    error = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    return Estimate(batches.mean(axis=0), error, len(batches) - 1)


def in_batches(values: np.ndarray) -> np.ndarray:
    """Means of batches of neighbouring draws; the first few draws of a chain may be left out."""
    n_chains, n_draws = values.shape[:2]
    per_chain = max(2, N_BATCHES // n_chains)
    length = n_draws // per_chain
    if length < 1:
        raise ValueError(f"a chain has at least {per_chain} draws, got {n_draws}. Run longer.")
    kept = values[:, n_draws - per_chain * length :]
    return kept.reshape(n_chains * per_chain, length, *values.shape[2:]).mean(axis=1)


def same_block(labels: np.ndarray) -> np.ndarray:
    """(n_draws, n_items, n_items): whether two items share a block."""
    return labels[:, :, None] == labels[:, None, :]


def features(labels: np.ndarray) -> dict[str, np.ndarray]:
    """Every feature of every draw, (n_chains, n_draws); `quantities.FEATURES` says what they are."""
    n_chains, n_draws, n_items = labels.shape
    rows = labels.reshape(-1, n_items)
    found: dict[str, list[np.ndarray]] = {name: [] for name in FEATURES}
    for start in range(0, len(rows), CHUNK):
        alike = same_block(rows[start : start + CHUNK])
        sizes = alike.sum(axis=2)
        found["n_blocks"].append((alike.argmax(axis=2) == np.arange(n_items)).sum(axis=1))
        found["largest"].append(sizes.max(axis=1))
        found["n_singletons"].append((sizes == 1).sum(axis=1))
        found["entropy"].append(-np.log(np.sort(sizes, axis=1) / n_items).mean(axis=1))
    return {name: np.concatenate(parts).astype(float).reshape(n_chains, n_draws) for name, parts in found.items()}


def pair_batches(labels: np.ndarray) -> np.ndarray:
    """Shares of draws in which items are together, batch by batch: (n_batches, n_pairs), pairs i > j row by row."""
    n_items = labels.shape[2]
    lower = np.tril_indices(n_items, -1)
    rows = [in_batches((labels[:, :, i] == labels[:, :, j]).astype(float)) for i, j in zip(*lower, strict=True)]
    return np.array(rows).T


def pair_estimate(labels: np.ndarray) -> Estimate:
    """Of all pairs i > j, row by row."""
    batches = pair_batches(labels)
    return Estimate(batches.mean(axis=0), batches.std(axis=0, ddof=1) / np.sqrt(len(batches)), len(batches) - 1)


def state_codes(partitions: Sequence[np.ndarray]) -> np.ndarray:
    """Code of every draw's partitions together, (n_chains, n_draws) strings."""
    shape = partitions[0].shape[:2]
    flat = [labels.reshape(-1, labels.shape[2]) for labels in partitions]
    first = [
        np.concatenate([same_block(x[i : i + CHUNK]).argmax(axis=2) for i in range(0, len(x), CHUNK)]) for x in flat
    ]
    rows, places = np.unique(np.concatenate(first, axis=1), axis=0, return_inverse=True)
    ends = np.cumsum([x.shape[1] for x in flat])[:-1]
    codes = ["|".join(code_of(part.tolist()) for part in np.split(row, ends)) for row in rows]
    return np.array(codes)[places.ravel()].reshape(shape)


def slowest_time(series: Sequence[np.ndarray]) -> float:
    """Largest integrated autocorrelation time of any chain of any series that varies; at least 1."""
    chains = [chain for values in series for chain in values if np.ptp(chain) > 0.0]
    return max([1.0, *(autocorrelation_time(chain) for chain in chains)])

"""Has a run converged? Label-free scalars, their r_hat and effective sample sizes, and a plain sentence."""

import html
import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgrove.core.errors import MissingExtraError
from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.inference.similarity import (
    SAMPLE_SEED,
    ChainDistance,
    chain_distance,
    half_similarities,
    matrix_error,
    sample_items,
)
from bayesgrove.inference.verdict import (
    CONSTANT,
    NOT_FINITE,
    OF_CLUSTERS,
    TOO_SHORT,
    VARYING,
    Verdict,
    judge,
    least_draws,
    r_hat_bounds,
    shown,
)

N_PAIRS = 20
MOST_REFERENCES = 8
UNDECIDED = (0.02, 0.98)
"""Pairs whose similarity lies between these carry information; the others are nearly constant."""
FIELDS = ("mean", "sd", "r_hat", "ess_bulk", "ess_tail", "mcse")
ROUNDING = 1e-12
"""Relative differences up to this are rounding: a scalar that varies no more is constant."""


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics:
    """Convergence of a run: one row per label-free scalar, the distance of chains and a verdict.

    Attributes
    ----------
    table : structured array
        name, mean, sd, r_hat (rank-normalised, of split chains), ess_bulk, ess_tail, mcse (Monte Carlo standard error
        of the mean), ess_within (bulk ESS of single chains, summed), r_hat_bound (what chance explains, given all
        rows) and state: "" for a scalar that varies, else "constant", "not finite" or "too short", whose other numbers
        are nan. "together[i,j]" is 1 where two items are in one cluster; "distance[c]" is the share of pairs on which a
        draw differs from the last draw of chain c. Where clusters are unions of components, plain names are of the
        components and "clusters.n_clusters" and so on of the unions.
    n_chains, n_draws : int
        Draws per chain.
    chain_distance : ChainDistance or None
        None for a single chain, or where there are too few draws.
    verdict : Verdict
    """

    table: np.ndarray
    n_chains: int
    n_draws: int
    chain_distance: ChainDistance | None
    verdict: Verdict

    @property
    def converged(self) -> bool:
        """Whether every scalar that varies keeps the rules."""
        return self.verdict.converged

    def __getitem__(self, name: str) -> np.void:
        """The row of a scalar."""
        found = np.flatnonzero(self.table["name"] == name)
        if not found.size:
            raise KeyError(name)
        row: np.void = self.table[found[0]]
        return row

    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame` indexed by name."""
        try:
            frame: Any = importlib.import_module("pandas").DataFrame
        except ImportError as error:
            raise MissingExtraError("to_pandas needs pandas; pip install 'bayesgrove[tables]'.") from error
        return frame(self.table).set_index("name")

    def __repr__(self) -> str:
        rows = [("", *FIELDS), *(_cells(row) for row in self.table)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
            for row in rows
        ]
        return "\n".join([*(line.rstrip() for line in lines), *self._remarks()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("", *FIELDS))
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(row)) + "</tr>" for row in self.table
        )
        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self._remarks())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{remarks}"

    def _remarks(self) -> list[str]:
        return [*([] if self.chain_distance is None else [str(self.chain_distance)]), self.verdict.sentence]


def diagnose(labels: np.ndarray, scalars: Mapping[str, np.ndarray], clusters: np.ndarray | None = None) -> Diagnostics:
    """Diagnostics of draws.

    Parameters
    ----------
    labels : int32 array of shape (n_chains, n_draws, n_items)
        Every draw's labels 0, 1, ... by first appearance.
    scalars : mapping of str to float array of shape (n_chains, n_draws)
        Further label-free numbers, such as the log joint density.
    clusters : int32 array of shape (n_chains, n_fewer, n_items), optional
        Where labels are of components: clusters of some draws, evenly spread, which are unions of them.
    """
    n_chains, n_draws, _ = labels.shape
    found, distance, error = partition_scalars(labels)
    watched = {**scalars, **{name: x for name, x in found.items() if name not in scalars}}
    of_clusters = None
    if clusters is not None:
        found, distance, of_clusters = partition_scalars(clusters)
        watched |= {f"{OF_CLUSTERS}{name}": x for name, x in found.items()}
    table = _table(watched, n_chains)
    return Diagnostics(table, n_chains, n_draws, distance, judge(table, n_chains, n_draws, error, of_clusters))


def partition_scalars(labels: np.ndarray) -> tuple[dict[str, np.ndarray], ChainDistance | None, float | None]:
    """What is watched of draws of partitions, the distance of chains, and that of two such runs."""
    n_items = labels.shape[2]
    watched = label_scalars(labels)
    if labels.shape[1] < least_draws(2) or n_items < 2:
        return watched, None, None
    sample = sample_items(n_items)
    sampled = np.ascontiguousarray(labels[:, :, sample])
    halves = half_similarities(sampled)
    watched |= distance_scalars(sampled)
    watched |= pair_scalars(labels, sample[undecided_pairs(halves.mean(axis=(0, 1)))])
    return watched, chain_distance(halves), matrix_error(halves)


def _table(watched: Mapping[str, np.ndarray], n_chains: int) -> np.ndarray:
    """One row per scalar, with the bound of each r_hat that all together give."""
    numbers = ((name, "f8") for name in (*FIELDS, "ess_within", "r_hat_bound"))
    row = [("name", f"U{max(map(len, watched))}"), *numbers, ("state", "U10")]
    found = (summarise(name, np.asarray(x, np.float64)) for name, x in watched.items())
    table = np.array([(*numbers, math.nan, state) for *numbers, state in found], np.dtype(row))
    varying = table["state"] == VARYING
    table["r_hat_bound"][varying] = r_hat_bounds(table["ess_within"][varying], 2 * max(2, n_chains))
    return table


def label_scalars(labels: np.ndarray) -> dict[str, np.ndarray]:
    """Number of clusters, largest share, entropy of sizes, number of singletons, each (n_chains, n_draws)."""
    n_chains, n_draws, n_items = labels.shape
    # Rounded, as sums of the same shares in another order must be ties.
    values = size_summaries(labels.reshape(-1, n_items)).reshape(n_chains, n_draws, 4).round(12)
    names = ("n_clusters", "largest_share", "entropy", "n_singletons")
    return {name: values[:, :, column] for column, name in enumerate(names)}


@kernel
def size_summaries(draws: np.ndarray) -> np.ndarray:
    """Per draw: clusters, share of the largest, entropy of sizes in nats, clusters of one item."""
    n_draws, n_items = draws.shape
    out = np.zeros((n_draws, 4))
    for draw in range(n_draws):
        sizes = np.zeros(n_items, np.int64)
        for label in draws[draw]:
            sizes[label] += 1
        for size in sizes:
            if size == 0:  # labels are consecutive
                break
            share = size / n_items
            out[draw, 0] += 1.0
            out[draw, 1] = max(out[draw, 1], share)
            out[draw, 2] -= share * np.log(share)
            out[draw, 3] += size == 1
    return out


def undecided_pairs(similarity: np.ndarray) -> np.ndarray:
    """Up to 20 pairs (i, j), i < j, of similarity between .02 and .98, chosen by a fixed seed: shape (n_pairs, 2)."""
    low, high = UNDECIDED
    later, earlier = np.nonzero(np.tril((similarity > low) & (similarity < high), -1))
    chosen = np.sort(generator(SAMPLE_SEED, 1).permutation(later.size)[:N_PAIRS])
    return np.column_stack([earlier[chosen], later[chosen]])


def pair_scalars(labels: np.ndarray, pairs: np.ndarray) -> dict[str, np.ndarray]:
    """For each pair, 1 in the draws in which both have one label."""
    return {f"together[{i},{j}]": (labels[:, :, i] == labels[:, :, j]).astype(np.float64) for i, j in pairs}


def distance_scalars(labels: np.ndarray) -> dict[str, np.ndarray]:
    """Share of pairs of items on which each draw differs from a reference: the last draw of each chain.

    Chains in different places are nearer to their own last draw than to those of others, also where clusters have
    equal numbers and sizes. A single chain has two references, the last draws of its halves.
    """
    n_chains, n_draws, n_items = labels.shape
    ends = [(chain, -1) for chain in range(min(n_chains, MOST_REFERENCES))]
    references = ends if n_chains > 1 else [(0, n_draws // 2 - 1), *ends]
    draws = labels.reshape(-1, n_items)
    return {
        f"distance[{number}]": rand_distances(draws, np.ascontiguousarray(labels[place])).reshape(n_chains, n_draws)
        for number, place in enumerate(references)
    }


def row_scalars(column: int, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Entropy of the rows' clusters as a column sees them, and distances to the last draws of two chains."""
    sampled = np.ascontiguousarray(labels[:, :, sample_items(labels.shape[2])])
    found = {f"row_entropy[{column}]": label_scalars(labels)["entropy"]}
    if sampled.shape[2] > 1:
        first, *_, last = distance_scalars(sampled).values()  # at least two
        found |= {f"row_distance[{column},0]": first, f"row_distance[{column},1]": last}
    return found


# Plain loops: numba takes two seconds to compile the sums and maxima of arrays that are used here.


@kernel
def rand_distances(draws: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Share of pairs of items that are together in one of two partitions only, for each draw; labels 0, 1, ...."""
    n_draws, n_items = draws.shape
    n_groups, own = 0, 0.0
    for label in reference:
        n_groups = max(n_groups, label + 1)
    of_reference = np.zeros(n_groups)
    for label in reference:
        own += 1.0 + 2.0 * of_reference[label]  # (m + 1)^2 - m^2
        of_reference[label] += 1.0
    found = np.empty(n_draws)
    for draw in range(n_draws):
        n_labels, total = 0, own
        for label in draws[draw]:
            n_labels = max(n_labels, label + 1)
        met, of_draw = np.zeros((n_labels, n_groups)), np.zeros(n_labels)
        for i in range(n_items):
            label, group = draws[draw, i], reference[i]
            total += 1.0 + 2.0 * of_draw[label] - 2.0 * (1.0 + 2.0 * met[label, group])
            of_draw[label] += 1.0
            met[label, group] += 1.0
        found[draw] = total / (n_items * (n_items - 1.0))
    return found


def summarise(name: str, values: np.ndarray) -> tuple[Any, ...]:
    """One row of the table: name, the numbers of `FIELDS`, effective draws within chains, state."""
    nothing = (math.nan,) * 5
    if not np.isfinite(values).all():
        return name, math.nan, math.nan, *nothing, NOT_FINITE
    # Of one value many times, the mean and deviation would show rounding.
    is_constant = bool(np.ptp(values) <= ROUNDING * np.abs(values).max())
    mean, sd = (float(values.flat[0]), 0.0) if is_constant else (float(values.mean()), float(values.std(ddof=1)))
    if values.shape[1] < least_draws(values.shape[0]):
        return name, mean, sd, *nothing, TOO_SHORT
    if is_constant:
        return name, mean, sd, *nothing, CONSTANT
    return name, mean, sd, *mixing(values), VARYING


def mixing(values: np.ndarray) -> tuple[float, float, float, float, float]:
    """r_hat, bulk and tail ESS, Monte Carlo standard error, and the bulk ESS of single chains, summed.

    `values` vary and have the shape (n_chains, n_draws).
    """
    stats: Any = importlib.import_module("arviz_stats.base").array_stats  # 1.5 s: only when asked for
    n_chains, n_draws = values.shape
    axes = {"chain_axis": 0, "draw_axis": 1}
    # arviz has no r_hat for a single chain: its halves are compared, which arviz splits once more.
    parts = values if n_chains > 1 else values[:, n_draws % 2 :].reshape(2, -1)
    with np.errstate(all="ignore"):  # a folded or a chain's own variance may be 0
        r_hat = float(stats.rhat(parts, **axes))
        bulk = float(stats.ess(values, method="bulk", **axes))
        tail = float(stats.ess(values, method="tail", prob=(0.05, 0.95), **axes))
        mcse = float(stats.mcse(values, method="mean", **axes))
        within = float(np.sum(stats.ess(parts, method="bulk", chain_axis=None, draw_axis=1)))
    if (parts == parts[:, :1]).all():  # no chain moves, and they differ: 0 within, up to rounding
        r_hat = math.inf
    return r_hat, bulk, tail, mcse, within


def _cells(row: np.void) -> tuple[str, ...]:
    """A row of the table as texts."""
    start = (str(row["name"]), shown(row["mean"]), shown(row["sd"]))
    if row["state"] != VARYING:
        return *start, str(row["state"]), "", "", ""
    r_hat = ">100" if row["r_hat"] > 100 else f"{row['r_hat']:.3f}"
    return *start, r_hat, f"{row['ess_bulk']:.0f}", f"{row['ess_tail']:.0f}", shown(row["mcse"])

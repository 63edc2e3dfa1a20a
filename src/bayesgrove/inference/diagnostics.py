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
    sample_items,
)

MAX_R_HAT = 1.01
MIN_ESS_PER_CHAIN = 100
MIN_DRAWS = 4
N_PAIRS = 20
UNDECIDED = (0.02, 0.98)
"""Pairs whose similarity lies between these carry information; the others are nearly constant."""
MAX_FACTOR = 20.0
"""No more than so many times the draws are advised: beyond that, something else is wrong."""
FIELDS = ("mean", "sd", "r_hat", "ess_bulk", "ess_tail", "mcse")
ROUNDING = 1e-12
"""Relative differences up to this are rounding: a scalar that varies no more is constant."""
VARYING, CONSTANT, NOT_FINITE, TOO_SHORT = "", "constant", "not finite", "too short"


@dataclass(frozen=True)
class Verdict:
    """Whether a run may be trusted, why, and what to do.

    Attributes
    ----------
    converged : bool
    finding : str
        Why, without a full stop.
    n_draws : int
        Draws per chain that were looked at.
    n_more_draws : int or None
        Draws per chain that should be added; None where that would not help.
    remark : str
        A sentence more, or nothing.
    """

    converged: bool
    finding: str
    n_draws: int
    n_more_draws: int | None = None
    remark: str = ""

    @property
    def sentence(self) -> str:
        """The whole, with the call in Python that does what is advised."""
        return self.advising(f"continue_fit(n_draws={self.n_more_draws})")

    @property
    def sentence_for_readers(self) -> str:
        """The whole for those of whom nobody knows how the chains were run: the call and the command."""
        n_all = self.n_draws + (self.n_more_draws or 0)
        return self.advising(
            f"continue_fit(n_draws={self.n_more_draws}) in Python, bayesgrove resume RUN --draws {n_all} in a shell"
        )

    def advising(self, how: str) -> str:
        """The whole, with these words for how to add draws."""
        advice = "" if self.n_more_draws is None else f"; run longer: {how}"
        return " ".join(filter(None, (f"{self.finding}{advice}.", self.remark)))


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics:
    """Convergence of a run: one row per label-free scalar, the distance of chains and a verdict.

    Attributes
    ----------
    table : structured array
        name, mean, sd, r_hat (rank-normalised, of split chains), ess_bulk, ess_tail, mcse (Monte Carlo standard error
        of the mean) and state: "" for a scalar that varies, else "constant", "not finite" or "too short", whose
        other numbers are nan.
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


def diagnose(labels: np.ndarray, scalars: Mapping[str, np.ndarray]) -> Diagnostics:
    """Diagnostics of draws.

    Parameters
    ----------
    labels : int32 array of shape (n_chains, n_draws, n_items)
        Every draw's labels 0, 1, ... by first appearance.
    scalars : mapping of str to float array of shape (n_chains, n_draws)
        Further label-free numbers, such as the log joint density.
    """
    n_chains, n_draws, n_items = labels.shape
    watched = {**scalars, **{name: x for name, x in label_scalars(labels).items() if name not in scalars}}
    distance = None
    if n_draws >= MIN_DRAWS:
        sample = sample_items(n_items)
        halves = half_similarities(np.ascontiguousarray(labels[:, :, sample]))
        distance = chain_distance(halves)
        watched |= pair_scalars(labels, sample[undecided_pairs(halves.mean(axis=(0, 1)))])
    row = [("name", f"U{max(map(len, watched))}"), *((name, "f8") for name in FIELDS), ("state", "U10")]
    table = np.array([summarise(name, np.asarray(x, np.float64)) for name, x in watched.items()], np.dtype(row))
    return Diagnostics(table, n_chains, n_draws, distance, judge(table, n_chains, n_draws))


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


def summarise(name: str, values: np.ndarray) -> tuple[Any, ...]:
    """One row of the table."""
    nothing = (math.nan,) * 4
    if not np.isfinite(values).all():
        return name, math.nan, math.nan, *nothing, NOT_FINITE
    # Of one value many times, the mean and deviation would show rounding.
    is_constant = bool(np.ptp(values) <= ROUNDING * np.abs(values).max())
    mean, sd = (float(values.flat[0]), 0.0) if is_constant else (float(values.mean()), float(values.std(ddof=1)))
    if values.shape[1] < _least_draws(values.shape[0]):
        return name, mean, sd, *nothing, TOO_SHORT
    if is_constant:
        return name, mean, sd, *nothing, CONSTANT
    return name, mean, sd, *mixing(values), VARYING


def mixing(values: np.ndarray) -> tuple[float, float, float, float]:
    """r_hat, bulk and tail ESS, Monte Carlo standard error of a scalar that varies, shape (n_chains, n_draws)."""
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
    if (parts == parts[:, :1]).all():  # no chain moves, and they differ: 0 within, up to rounding
        r_hat = math.inf
    return r_hat, bulk, tail, mcse


def judge(table: np.ndarray, n_chains: int, n_draws: int) -> Verdict:
    """The verdict: r_hat below 1.01 and a bulk ESS of 100 per chain for every scalar that varies."""
    broken = table[table["state"] == NOT_FINITE]
    if broken.size:
        words = f"Not converged: {_list(broken['name'])} took values that are not finite numbers"
        return Verdict(False, words, n_draws)
    least = _least_draws(n_chains)
    if n_draws < least:
        chains = "one chain" if n_chains == 1 else f"{n_chains} chains"
        words = f"Too short to tell: {n_draws} draws of {chains}, at least {least} are needed"
        return Verdict(False, words, n_draws, 1000 - n_draws)
    rows = table[table["state"] == VARYING]
    if not rows.size:
        words = "Converged, or never moved: every scalar is constant over all draws and chains"
        return Verdict(True, words, n_draws)
    wanted = MIN_ESS_PER_CHAIN * n_chains
    # Comparisons with nan are false: what cannot be computed does not pass.
    apart = rows[~(rows["r_hat"] < MAX_R_HAT)]
    scarce = rows[~(rows["ess_bulk"] >= wanted)]
    lone = "One chain only: r_hat compares its parts; several chains would show more." if n_chains == 1 else ""
    if not (apart.size or scarce.size):
        return Verdict(True, _praise(rows, wanted), n_draws, remark=lone)
    words = f"Not converged: {'; '.join(_complaints(apart, scarce, wanted))}"
    return Verdict(False, words, n_draws, _more_draws(scarce, wanted, n_draws), lone)


def _least_draws(n_chains: int) -> int:
    return MIN_DRAWS if n_chains > 1 else 2 * MIN_DRAWS


def _praise(rows: np.ndarray, wanted: int) -> str:
    worst, scarcest = rows[np.argmax(rows["r_hat"])], rows[np.argmin(rows["ess_bulk"])]
    return (
        f"Converged: r_hat of all {rows.size} scalars is below {MAX_R_HAT} (largest {worst['r_hat']:.3f}, "
        f"{worst['name']}) and bulk ESS at least {wanted} (least {scarcest['ess_bulk']:.0f}, {scarcest['name']})"
    )


def _complaints(apart: np.ndarray, scarce: np.ndarray, wanted: int) -> list[str]:
    found = []
    if apart.size:
        worst = apart[np.argmax(apart["r_hat"])]  # nan counts as the largest
        found.append(
            f"r_hat of {worst['name']} is {_number(worst['r_hat'])} (should be below {MAX_R_HAT}){_others(apart.size)}"
        )
    if scarce.size:
        worst = scarce[np.argmin(scarce["ess_bulk"])]
        have = f"bulk ESS of {worst['name']} is {worst['ess_bulk']:.0f}"
        found.append(f"{have} (should be at least {wanted}){_others(scarce.size)}")
    return found


def _others(count: int) -> str:
    return f", and {count - 1} more" if count > 1 else ""


def _more_draws(scarce: np.ndarray, wanted: int, n_draws: int) -> int:
    """Draws per chain to add so that the scarcest ESS would be enough, at least as many as there are."""
    factor = max([2.0, *(wanted / np.maximum(scarce["ess_bulk"], 1.0)).tolist()])
    more = (min(factor, MAX_FACTOR) - 1.0) * n_draws
    return 100 * math.ceil(more / 100) if n_draws >= 100 else math.ceil(more)


def _list(names: np.ndarray) -> str:
    return ", ".join(names[:3].tolist()) + _others(max(1, names.size - 2))


def _cells(row: np.void) -> tuple[str, ...]:
    """A row of the table as texts."""
    start = (str(row["name"]), _number(row["mean"]), _number(row["sd"]))
    if row["state"] != VARYING:
        return *start, str(row["state"]), "", "", ""
    r_hat = ">100" if row["r_hat"] > 100 else f"{row['r_hat']:.3f}"
    return *start, r_hat, f"{row['ess_bulk']:.0f}", f"{row['ess_tail']:.0f}", _number(row["mcse"])


def _number(value: float) -> str:
    return "-" if math.isnan(value) else "infinite" if math.isinf(value) else f"{value:.4g}"

"""`CrossCatSampler`: cross-clusterings as the engine sees them, with Metropolis-coupled chains."""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesgrove.core.errors import InvalidSettingError, NumericalError
from bayesgrove.core.jit import kernel
from bayesgrove.inference.schedule import Step, chosen_move
from bayesgrove.models.cross import mcmc_columns, mcmc_split_merge, mcmc_views
from bayesgrove.models.cross.mcmc_columns import move_columns
from bayesgrove.models.cross.mcmc_coordinates import Hyperpriors
from bayesgrove.models.cross.mcmc_hyper import escobar_west, slice_columns, slice_concentration
from bayesgrove.models.cross.mcmc_proposals import PROPOSALS
from bayesgrove.models.cross.mcmc_rows import gibbs_rows
from bayesgrove.models.cross.mcmc_split_merge import split_merge
from bayesgrove.models.cross.mcmc_starts import Start
from bayesgrove.models.cross.mcmc_state import COLUMNS, ROWS, State, log_joint, make_state, with_arrays
from bayesgrove.models.cross.mcmc_target import Target
from bayesgrove.models.cross.mcmc_views import split_merge_views

SPLIT_MERGE_NAMES = ("splits", "splits_accepted", "merges", "merges_accepted")
COLUMN_NAMES = ("moved", "proposed", "opened")
METHODS = ("escobar-west", "slice")


@dataclasses.dataclass(slots=True)
class Coupled:
    """Chains by falling beta; draws are taken from the first."""

    chains: list[State]


@kernel
def sweep_rows(rng, target, views, params, tables, alpha, beta, share):
    """Gibbs scans of all rows in each view, or in a random share of the views; gives the row that failed or -1."""
    rows, failed = np.arange(views.labels.shape[1]), -1
    for view in range(views.n_views[0]):
        if share >= 1.0 or rng.random() < share:
            sizes, stats, failed = gibbs_rows(rng, target, views, params, tables, alpha, beta, view, rows)
            views = with_arrays(views, sizes, stats)
            if failed >= 0:
                break
    return views.sizes, views.stats, failed


@kernel
def sweep_split_merge(rng, target, views, params, tables, alpha, beta, times, tallies):
    """Split-merge moves in each view."""
    for view in range(views.n_views[0]):
        sizes, stats = split_merge(rng, target, views, params, tables, alpha, beta, view, times, tallies)
        views = with_arrays(views, sizes, stats)
    return views.sizes, views.stats


@kernel
def normal_form(of_column, labels, n_views, columns_out, rows_out):
    """Labels of columns, and of rows by view, numbered by first appearance."""
    number, n_seen = np.full(n_views, -1), 0
    clusters = np.empty(labels.shape[1] + 1, np.int64)
    for j in range(of_column.size):
        v = of_column[j]
        if number[v] < 0:
            number[v] = n_seen
            n_seen += 1
            clusters[:] = -1
            n_clusters = 0
            for i in range(labels.shape[1]):
                k = labels[v, i]
                if clusters[k] < 0:
                    clusters[k] = n_clusters
                    n_clusters += 1
                rows_out[number[v], i] = clusters[k]
        columns_out[j] = number[v]


def swap_chains(
    rng: np.random.Generator, betas: Sequence[float], log_joints: list[float], chains: list[Any]
) -> list[int]:
    """Propose to swap each pair of neighbours, in place; the places of the first of each pair that did.

    Accepted with probability min(1, exp[(beta_1 - beta_2) (log p(x_2) - log p(x_1))]).
    """
    accepted = []
    for k in range(len(chains) - 1):
        log_ratio = (betas[k] - betas[k + 1]) * (log_joints[k + 1] - log_joints[k])
        if -rng.standard_exponential() < log_ratio:
            chains[k], chains[k + 1] = chains[k + 1], chains[k]
            log_joints[k], log_joints[k + 1] = log_joints[k + 1], log_joints[k]
            accepted.append(k)
    return accepted


@dataclasses.dataclass(frozen=True, eq=False)
class CrossCatSampler:
    """Cross-clusterings of one table: see `inference.sampler.Sampler` for the methods."""

    target: Target
    params: np.ndarray
    """(n_columns, 4): numbers of the columns' priors, as chains begin."""
    concentrations: tuple[float, float]
    """Of rows and of columns, as chains begin."""
    hyperpriors: Hyperpriors
    first: Start
    """One of `mcmc_starts`."""
    betas: tuple[float, ...] = (1.0,)
    """1 and falling: powers of the target that coupled chains sample."""
    log_measure: float = 0.0
    """From encoded densities to those of the raw cells."""
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What else tells this model from others, in JSON's types."""

    def __post_init__(self) -> None:
        betas = np.asarray(self.betas, float)
        if betas.size == 0 or betas[0] != 1.0 or (np.diff(betas) >= 0.0).any() or not betas[-1] > 0.0:
            raise InvalidSettingError(
                f"temperatures begin with 1, fall and stay above 0, got {self.betas}. Try (1.0, 0.8)."
            )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.target.by_row.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.target.by_row.shape[1])

    @property
    def parallel(self) -> str:
        """Threads share the table; sweeps of a few cells are mostly Python, which processes run side by side."""
        return "processes" if self.target.by_row.size < 5_000 else "threads"

    def fingerprint(self) -> dict[str, Any]:
        """Settings, and hashes of the cells and of the numbers that came from them."""
        cells, numbers = hashlib.sha256(self.target.by_row.tobytes()), hashlib.sha256()
        for field in (self.target.family, self.target.start, self.params, *self.hyperpriors):
            numbers.update(np.ascontiguousarray(field, float).tobytes())
        return {
            **self.about,
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "betas": list(self.betas),
            "concentrations": list(self.concentrations),
            "data": cells.hexdigest()[:16],
            "numbers": numbers.hexdigest()[:16],
        }

    def start(self, rng: np.random.Generator) -> Coupled:
        """Each chain from a start of its own."""
        concentrations = np.array(self.concentrations, float)
        chains = []
        for _ in self.betas:
            of_column, rows = self.first(rng, self.target, self.params, concentrations)
            chains.append(make_state(self.target, of_column, rows, self.params, concentrations))
        return Coupled(chains)

    # ---- moves

    def move(self, rng: np.random.Generator, state: Coupled, step: Step) -> Mapping[str, int]:
        """One of "columns", "views", "rows", "split-merge", "numbers", "concentrations", "swap"."""
        return chosen_move(MOVES, step)(self, rng, state, step)

    def _columns(self, rng: np.random.Generator, state: Coupled, step: Step) -> Mapping[str, int]:
        """Column moves, `times` scans."""
        given = step.options
        kind = given.get("new_view", "sequential")
        if kind not in PROPOSALS:
            raise InvalidSettingError(f"new_view is one of {', '.join(PROPOSALS)}, got {kind!r}.")
        options = mcmc_columns.Options(
            PROPOSALS[kind], int(given.get("n_proposals", 1)), float(given.get("share", 1.0))
        )
        tallies, columns = np.zeros(mcmc_columns.N_TALLIES, np.int64), np.arange(self.n_columns)
        for chain, beta in zip(state.chains, self.betas, strict=True):
            for _ in range(step.times):
                sizes, stats, failed = move_columns(
                    rng, self.target, chain.views, chain.params, chain.tables, chain.concentrations, beta, options,
                    columns, tallies,
                )  # fmt: skip
                chain.views = chain.views._replace(sizes=sizes, stats=stats)
                if failed >= 0:
                    raise NumericalError(
                        f"no view, old or new, is possible for column {failed}: its densities are not finite. "
                        "Look for extreme cells.",
                        column=failed,
                    )
        return dict(zip(COLUMN_NAMES, tallies.tolist(), strict=True))

    def _rows(self, rng: np.random.Generator, state: Coupled, step: Step) -> Mapping[str, int]:
        """Gibbs scans of the rows in each view, or in a random share of the views."""
        share = float(step.options.get("share", 1.0))
        for chain, beta in zip(state.chains, self.betas, strict=True):
            for _ in range(step.times):
                sizes, stats, failed = sweep_rows(
                    rng, self.target, chain.views, chain.params, chain.tables, chain.concentrations[ROWS], beta, share
                )
                chain.views = chain.views._replace(sizes=sizes, stats=stats)
                if failed >= 0:
                    raise NumericalError(
                        f"no cluster, old or new, is possible for row {failed}: its densities are not finite. "
                        "Look for extreme cells.",
                        row=failed,
                    )
        return {}

    def _split_merge(self, rng: np.random.Generator, state: Coupled, step: Step) -> Mapping[str, int]:
        """`times` moves in each view."""
        tallies = np.zeros(mcmc_split_merge.N_TALLIES, np.int64)
        for chain, beta in zip(state.chains, self.betas, strict=True):
            sizes, stats = sweep_split_merge(
                rng, self.target, chain.views, chain.params, chain.tables, chain.concentrations[ROWS], beta,
                step.times, tallies,
            )  # fmt: skip
            chain.views = chain.views._replace(sizes=sizes, stats=stats)
        return dict(zip(SPLIT_MERGE_NAMES, tallies.tolist(), strict=True))

    def _views(self, rng: np.random.Generator, state: Coupled, step: Step) -> Mapping[str, int]:
        """`times` proposals to merge two views or to divide one, each made with probability `share`."""
        tallies, share = np.zeros(mcmc_views.N_TALLIES, np.int64), float(step.options.get("share", 1.0))
        for chain, beta in zip(state.chains, self.betas, strict=True):
            for _ in range(step.times):
                if share < 1.0 and rng.random() >= share:
                    continue  # before the way into the kernel, which costs more than many a proposal
                sizes, stats = split_merge_views(
                    rng, self.target, chain.views, chain.params, chain.tables, chain.concentrations, beta, 1, 1.0,
                    tallies,
                )  # fmt: skip
                chain.views = chain.views._replace(sizes=sizes, stats=stats)
        return dict(zip(SPLIT_MERGE_NAMES, tallies.tolist(), strict=True))

    def _numbers(self, rng: np.random.Generator, state: Coupled, step: Step) -> Mapping[str, int]:
        """Slices of the columns' numbers, of a random share of the columns."""
        share = float(step.options.get("share", 1.0))
        if self.hyperpriors.learned.any():
            for chain, beta in zip(state.chains, self.betas, strict=True):
                for _ in range(step.times):
                    slice_columns(
                        rng, self.target, self.hyperpriors, chain.views, chain.params, chain.tables, beta, share
                    )
        return {}

    def _concentrations(self, rng: np.random.Generator, state: Coupled, step: Step) -> Mapping[str, int]:
        """Those that are free; chains with beta below 1 always use slices."""
        method = step.options.get("method", METHODS[0])
        if method not in METHODS:
            raise InvalidSettingError(f"method is one of {', '.join(METHODS)}, got {method!r}.")
        for chain, beta in zip(state.chains, self.betas, strict=True):
            for _ in range(step.times):
                draw_concentrations(rng, self.hyperpriors, chain, beta, use_slices=beta != 1.0 or method == "slice")
        return {}

    def _swap(self, rng: np.random.Generator, state: Coupled, step: Step) -> Mapping[str, int]:
        """Neighbouring chains exchange their states."""
        counts: dict[str, int] = {}
        log_joints = [log_joint(self.target, self.hyperpriors, chain) for chain in state.chains]
        for _ in range(step.times):
            accepted = swap_chains(rng, self.betas, log_joints, state.chains)
            for k in range(len(self.betas) - 1):
                for name, n in ((f"swaps_{k}", 1), (f"swaps_{k}_accepted", accepted.count(k))):
                    counts[name] = counts.get(name, 0) + n
        return counts

    # ---- what is stored

    def refresh(self, state: Coupled) -> None:
        """Number views and clusters by first appearance and compute all statistics again from the data.

        Tables stay: they are filled anew whenever the numbers change, with the same bits as here.
        """
        for k, chain in enumerate(state.chains):
            state.chains[k] = make_state(
                self.target, chain.views.of_column, chain.row_labels(), chain.params, chain.concentrations, chain.tables
            )

    def pack(self, state: Coupled) -> dict[str, np.ndarray]:
        """Labels and numbers of each chain."""
        packed = {}
        for k, chain in enumerate(state.chains):
            packed[f"view_labels_{k}"], packed[f"row_labels_{k}"] = self.labels(chain)
            packed[f"params_{k}"], packed[f"concentrations_{k}"] = chain.params.copy(), chain.concentrations.copy()
        return packed

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> Coupled:
        """The state of labels and numbers."""
        chains = []
        for k in range(len(self.betas)):
            names = ("view_labels", "row_labels", "params", "concentrations")
            columns, rows, params, concentrations = (arrays[f"{name}_{k}"] for name in names)
            chains.append(
                make_state(self.target, columns.astype(np.int64), rows.astype(np.int64), params, concentrations)
            )
        return Coupled(chains)

    def labels(self, chain: State) -> tuple[np.ndarray, np.ndarray]:
        """Labels of the columns and of the rows in each view (view, row), by first appearance, in small types."""
        columns = np.empty(self.n_columns, np.min_scalar_type(self.n_columns - 1))
        rows = np.empty((chain.n_views, self.n_rows), np.min_scalar_type(self.n_rows - 1))
        normal_form(chain.views.of_column, chain.views.labels, chain.n_views, columns, rows)
        return columns, rows

    def draw(self, state: Coupled) -> dict[str, np.ndarray]:
        """Labels of columns, of rows by view (as many as there are), concentrations and, where learned, numbers."""
        chain = state.chains[0]
        columns, rows = self.labels(chain)
        drawn = {"view_labels": columns, "row_labels": rows, "concentrations": chain.concentrations}
        if self.hyperpriors.learned.any():
            drawn["column_numbers"] = chain.params
        return drawn

    def scalars(self, state: Coupled) -> dict[str, float]:
        """Log joint, numbers of views and of clusters in all views, concentrations."""
        chain = state.chains[0]
        n_views = chain.n_views
        return {
            "log_joint": log_joint(self.target, self.hyperpriors, chain) + self.log_measure,
            "n_clusters": float(chain.views.n_clusters[:n_views].sum()),
            "n_views": float(n_views),
            "concentration_rows": float(chain.concentrations[ROWS]),
            "concentration_columns": float(chain.concentrations[COLUMNS]),
        }


MOVES: dict[str, Callable[[CrossCatSampler, np.random.Generator, Coupled, Step], Mapping[str, int]]] = {
    "columns": CrossCatSampler._columns,
    "views": CrossCatSampler._views,
    "rows": CrossCatSampler._rows,
    "split-merge": CrossCatSampler._split_merge,
    "numbers": CrossCatSampler._numbers,
    "concentrations": CrossCatSampler._concentrations,
    "swap": CrossCatSampler._swap,
}


def draw_concentrations(
    rng: np.random.Generator, hyperpriors: Hyperpriors, chain: State, beta: float, *, use_slices: bool
) -> None:
    """Both concentrations, those that are free, in place; one for both where they are tied."""
    n_columns, n_rows = chain.views.of_column.size, chain.views.labels.shape[1]
    n_views = chain.n_views
    by_rows = (int(chain.views.n_clusters[:n_views].sum()), np.full(n_views, float(n_rows)))
    by_columns = (n_views, np.array([float(n_columns)]))
    if hyperpriors.tied:
        by_rows = (by_rows[0] + n_views, np.concatenate([by_rows[1], by_columns[1]]))
    for which, (n_blocks, n_items) in ((ROWS, by_rows), (COLUMNS, by_columns)):
        if not hyperpriors.free[which] or (hyperpriors.tied and which == COLUMNS):
            continue
        shape, rate = hyperpriors.gamma[which].tolist()
        alpha = float(chain.concentrations[which])
        if use_slices:
            alpha = slice_concentration(rng, alpha, beta, shape, rate, n_blocks, n_items)
        else:
            alpha = escobar_west(rng, alpha, shape, rate, n_blocks, n_items)
        chain.concentrations[which] = alpha
        if hyperpriors.tied:
            chain.concentrations[COLUMNS] = alpha

"""`BlockAnswers`: missing measurements of rows, from all other cells of the row, by the model of `block_state`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import GAUSSIAN_KNOWN, IS_LISTED, IS_NOMINAL, IS_STUDENT, ON_LOGS
from bayesgrove.models.cross.block_cells import CellTerms, cell_terms, draw_missing, row_scores
from bayesgrove.models.cross.block_sampler import sample_blocks
from bayesgrove.models.cross.block_state import BlockTable, Components
from bayesgrove.models.cross.cell_gaussians import gaussian_quantiles
from bayesgrove.stats.sampling import draw_log_categorical

FEWEST_ROWS = 20
MOST_COLUMNS = 50
"""Covariances of more numeric columns are not modelled."""
MOST_ROWS = 3_000
"""Rows, at random, that the sampler sees; all are predicted."""
N_TUNE, N_KEPT = 50, 60
"""Sweeps of each chain before draws are kept, and draws of all chains together."""
ROWS_AT_ONCE = 1_000
LARGEST_LOG = 700.0


@dataclass(frozen=True, eq=False)
class BlockSummary:
    """Estimates of cells, encoded, in the order of `rows` and `columns`, row by row."""

    rows: np.ndarray
    columns: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    quantiles: np.ndarray
    """(n_cells, n_levels)"""


@dataclass(frozen=True, eq=False)
class BlockAnswers:
    """Draws of the model and how a table's encoded cells become its standardised ones.

    Attributes
    ----------
    numeric, categorical : int arrays
        Columns of the table that the model sees.
    is_target : bool array of shape (n_numeric,)
        Numeric columns whose cells are predicted: measurements.
    on_logs : bool array of shape (n_numeric,)
    centre, scale : float arrays of shape (n_numeric,)
    n_codes : int array of shape (n_categorical,)
    draws : list of Components
    """

    numeric: np.ndarray
    categorical: np.ndarray
    is_target: np.ndarray
    on_logs: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    grain: np.ndarray
    n_codes: np.ndarray
    draws: list[Components]

    def table(self, values: np.ndarray) -> BlockTable:
        """Encoded rows as the model sees them; a category that training had not is taken as missing."""
        cells = values[:, self.numeric]
        numeric = (np.where(self.on_logs, np.log(np.where(self.on_logs, cells, 1.0)), cells) - self.centre) / self.scale
        codes = values[:, self.categorical]
        known = codes < self.n_codes  # NaN is not
        return BlockTable(
            np.ascontiguousarray(numeric), np.where(known, codes, -1.0).astype(np.int64), self.n_codes, self.grain
        )

    def summary(self, values: np.ndarray, levels: Sequence[float]) -> BlockSummary:
        """Mean, standard deviation and quantiles of all missing measurements of encoded rows."""
        firsts = range(0, len(values), ROWS_AT_ONCE)
        parts = [self._summary(low, values[low : low + ROWS_AT_ONCE], levels) for low in firsts]
        pairs = zip(*((part.rows, part.columns, part.mean, part.sd, part.quantiles) for part in parts), strict=True)
        return BlockSummary(*(np.concatenate(pair) for pair in pairs))

    def _summary(self, first: int, values: np.ndarray, levels: Sequence[float]) -> BlockSummary:
        table = self.table(values)
        rows, which = np.nonzero(np.isnan(table.numeric))
        terms = cell_terms(self.draws, table)
        mean, sd, quantiles = self._own_units(terms, which, levels)
        wanted = self.is_target[which]
        columns = self.numeric[which]
        return BlockSummary(first + rows[wanted], columns[wanted], mean[wanted], sd[wanted], quantiles[wanted])

    def _own_units(
        self, terms: CellTerms, which: np.ndarray, levels: Sequence[float]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Moments and quantiles of mixtures of normal or log-normal distributions in encoded units."""
        if not which.size:
            return np.empty(0), np.empty(0), np.empty((0, len(levels)))
        owner = np.repeat(which, np.diff(terms.start))
        means = self.centre[owner] + self.scale[owner] * terms.mean
        scales, logs = self.scale[owner] * terms.scale, self.on_logs[owner]
        free = np.stack([means, scales, np.full(means.size, np.inf)])
        found = np.stack([gaussian_quantiles(terms.start, terms.log_weight, free, level) for level in levels], axis=1)
        quantiles = np.where(self.on_logs[which][:, np.newaxis], np.exp(np.minimum(found, LARGEST_LOG)), found)
        grown = np.exp(np.minimum(means + 0.5 * scales**2, LARGEST_LOG / 2))
        first = np.where(logs, grown, means)
        second = np.where(logs, grown**2 * np.expm1(np.minimum(scales**2, LARGEST_LOG / 2)), scales**2)
        weight, start = np.exp(terms.log_weight), terms.start[:-1]
        mean = np.add.reduceat(weight * first, start)
        apart = (first - np.repeat(mean, np.diff(terms.start))) ** 2
        return mean, np.sqrt(np.add.reduceat(weight * (second + apart), start)), quantiles

    def drawn(self, rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
        """Encoded rows with their missing measurements drawn together, given the other cells; others stay missing."""
        table = self.table(values)
        components = self.draws[int(rng.integers(len(self.draws)))]
        scores = row_scores(components, table)
        labels = np.array([draw_log_categorical(rng, own) for own in scores], np.int64)
        cells = self.centre + self.scale * draw_missing(rng, components, table.numeric, labels)
        cells = np.where(self.on_logs, np.exp(np.where(self.on_logs, np.minimum(cells, LARGEST_LOG), 0.0)), cells)
        out = values.copy()
        wanted = np.isnan(values[:, self.numeric]) & self.is_target
        out[:, self.numeric] = np.where(wanted, cells, values[:, self.numeric])
        return out


def make_block_answers(
    prior: ColumnsPrior, values: np.ndarray, used: np.ndarray, starts: Sequence[np.ndarray], seed: Sequence[int]
) -> BlockAnswers | None:
    """Fit the model to encoded rows; None where it has nothing to say: it needs two numeric columns and some rows.

    Parameters
    ----------
    prior : ColumnsPrior
    values : ndarray of shape (n_rows, n_columns)
    used : int array
        Columns that are not left out.
    starts : sequence of int arrays of shape (n_rows,)
        Clusters of the rows in which chains begin.
    seed : sequence of int
        Seed and path of the generator.
    """
    listed, family = IS_LISTED[prior.family[used]], prior.family[used]
    n_values = np.array([np.unique(values[~np.isnan(values[:, j]), j]).size for j in used], np.int64)
    is_categorical = listed & (IS_NOMINAL[family] | (n_values <= 2))
    is_numeric = ~is_categorical & (n_values > 1)
    numeric = used[is_numeric]
    is_target = (IS_STUDENT | ON_LOGS)[family[is_numeric]] & (family[is_numeric] != GAUSSIAN_KNOWN)
    if len(values) < FEWEST_ROWS or not 2 <= numeric.size <= MOST_COLUMNS or not is_target.any():
        return None
    logs, categorical = ON_LOGS[family[is_numeric]], used[is_categorical]
    cells = np.where(logs, np.log(np.where(logs, values[:, numeric], 1.0)), values[:, numeric])
    centre, scale = np.nanmean(cells, axis=0), np.nanstd(cells, axis=0)
    steps = [np.median(np.diff(np.unique(own[~np.isnan(own)]))) for own in cells.T]
    n_codes = np.array([int(np.nanmax(values[:, j], initial=0.0)) + 1 for j in categorical], np.int64)
    grain = (np.array(steps) / scale) ** 2 / 12.0
    empty = BlockAnswers(numeric, categorical, is_target, logs, centre, scale, grain, n_codes, [])
    rng = generator(*seed)
    rows = np.sort(rng.permutation(len(values))[:MOST_ROWS])
    begun = [np.unique(start[rows], return_inverse=True)[1] for start in starts]
    n_kept = max(1, N_KEPT // len(begun))
    empty.draws.extend(sample_blocks(rng, empty.table(values[rows]), begun, N_TUNE, n_kept))
    return empty

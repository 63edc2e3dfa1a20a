"""Which symbols groups use more than others: smoothed log odds ratios with their standard errors."""

from typing import NamedTuple

import numpy as np

SMOOTHING = 0.5
"""Added to every count (Haldane and Anscombe): ratios stay finite, and their variance is nearly unbiased."""


class LogOdds(NamedTuple):
    """How much more often each group uses each symbol than all other groups together."""

    log_ratio: np.ndarray
    """(n_groups, n_symbols): log of the odds in the group over the odds elsewhere."""
    error: np.ndarray
    """(n_groups, n_symbols): standard error of it."""
    share: np.ndarray
    """(n_groups, n_symbols): share of the group's trials with this symbol."""
    elsewhere: np.ndarray
    """(n_groups, n_symbols): the same of all other groups together."""

    def strongest(self, most: int) -> np.ndarray:
        """Symbols of each group with the largest ratios in units of their errors; (n_groups, most or fewer).

        Symbols that a group lacks count half: what it has tells more than what it has not.
        """
        ratio = self.log_ratio / self.error
        return np.argsort(-np.where(ratio > 0.0, ratio, -0.5 * ratio), axis=1, kind="stable")[:, :most]


def log_odds(counts: np.ndarray, trials: np.ndarray) -> LogOdds:
    """Log odds ratios of counts among trials, group by group.

    Parameters
    ----------
    counts : array of shape (n_groups, n_symbols)
        How often each group has each symbol.
    trials : array of shape (n_groups,) or (n_groups, n_symbols)
        How often it could have.

    Examples
    --------
    >>> found = log_odds(np.array([[90, 10], [10, 90]]), np.array([100, 100]))
    >>> found.log_ratio.round(2).tolist()
    [[4.31, -4.31], [-4.31, 4.31]]
    """
    own = np.asarray(counts, np.float64)
    tried = np.broadcast_to(np.asarray(trials, np.float64).reshape(len(own), -1), own.shape)
    other, other_tried = own.sum(axis=0) - own, tried.sum(axis=0) - tried
    cells = [part + SMOOTHING for part in (own, tried - own, other, other_tried - other)]
    log_ratio = np.log(cells[0]) - np.log(cells[1]) - np.log(cells[2]) + np.log(cells[3])
    error = np.sqrt(sum(1.0 / cell for cell in cells))
    share, elsewhere = own / np.maximum(tried, 1.0), other / np.maximum(other_tried, 1.0)
    return LogOdds(log_ratio, error, share, elsewhere)

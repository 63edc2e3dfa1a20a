"""Numbers of Bacciu and Castellana, Bayesian mixtures of hidden tree Markov models: mean and spread of five runs."""

from typing import NamedTuple


class Printed(NamedTuple):
    """A cell of a table."""

    mean: float
    spread: float

    def __str__(self) -> str:
        # a hyphen in front would be a formula to spreadsheets
        return f"{self.mean:.2f} ({self.spread:.2f})".replace("-", "\N{MINUS SIGN}")


Grid = dict[tuple[int, float], Printed]
"""By the number of hidden states, and components (MIX) or strength of the prior (INF)."""


def grid(states: tuple[int, ...], settings: tuple[float, ...], cells: tuple[tuple[float, float], ...]) -> Grid:
    """Cells in the order in which they are printed, row by row."""
    places = [(n_states, setting) for n_states in states for setting in settings]
    return {place: Printed(*cell) for place, cell in zip(places, cells, strict=True)}


TRUTH_SYNTHETIC = 0.51
"""Silhouette of the three true classes as printed."""
ROOT = grid((3, 5, 7), (1,), ((0.03, 0.00), (-0.02, 0.03), (-0.08, 0.02)))
"""Table 1: one model, trees clustered by a draw of the root's state."""
MIX_SYNTHETIC = grid(
    (2, 4, 6),
    (3, 5, 7),
    ((0.41, 0.01), (0.43, 0.03), (0.46, 0.05), (0.45, 0.05), (0.47, 0.08), (0.47, 0.05), (0.46, 0.05), (0.45, 0.05),
     (0.47, 0.06)),
)  # fmt: skip
INF_SYNTHETIC = grid(
    (2, 4, 8),
    (1.0, 1.5, 2.0),
    ((0.36, 0.23), (0.45, 0.08), (0.45, 0.07), (0.43, 0.08), (0.51, 0.00), (0.51, 0.00), (0.33, 0.00), (0.51, 0.00),
     (0.51, 0.00)),
)  # fmt: skip
MIX_INEX = grid(
    (2, 4, 8),
    (6, 11, 22),
    ((0.12, 0.01), (0.13, 0.07), (0.20, 0.04), (0.13, 0.09), (0.17, 0.02), (0.15, 0.02), (0.08, 0.00), (0.11, 0.05),
     (0.17, 0.06)),
)  # fmt: skip
INF_INEX = grid(
    (2, 4, 8),
    (1.0, 1.2, 1.5, 2.0),
    ((0.15, 0.02), (0.15, 0.05), (0.19, 0.02), (0.21, 0.04), (0.07, 0.04), (0.20, 0.04), (0.16, 0.07), (0.18, 0.03),
     (0.05, 0.10), (0.15, 0.05), (0.13, 0.02), (0.15, 0.06)),
)  # fmt: skip
MIX_CLUSTERS = grid(
    (2, 4, 8),
    (6, 11, 22),
    ((1.60, 0.55), (2.00, 0.71), (3.40, 0.55), (2.00, 1.00), (2.20, 0.84), (1.80, 0.45), (1.20, 0.45), (2.00, 0.00),
     (2.80, 0.45)),
)  # fmt: skip
"""Table 3: clusters that are not empty."""
INF_CLUSTERS = grid(
    (2, 4, 8),
    (1.0, 1.2, 1.5, 2.0),
    ((44.20, 14.79), (33.00, 13.69), (8.80, 3.11), (4.60, 1.95), (23.80, 26.36), (11.60, 4.83), (3.20, 1.30),
     (2.40, 1.67), (45.80, 35.81), (5.80, 3.03), (2.40, 0.55), (1.80, 0.84)),
)  # fmt: skip
BEST_INEX = 0.21
BLOCKS = ((1,), (2, 3), (4, 5), (6, 8, 10, 11), (7, 9))
"""Classes of INEX05 whose trees are alike; the paper prints the fourth as {6, 8, 9, 11}."""

"""Calibration of P(apart): `python -m benchmarks.scorecard.calibration [--sets N] [--rows 200,800] [--out FILE]`.

Simulated sets with known saddle ratios are fitted by `NRMMixture`. P(apart) is the share of draws with more than one
cluster, each of at least a tenth of the rows. In every bin of P(apart) the share of sets whose saddle ratio lies below
that of the rule is compared with the mean of P(apart), by a 99 % binomial interval.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from bayesgrove import NRMMixture
from bayesgrove.agglomeration.unions import RULE
from bayesgrove.datasets import make_shapes

CELLS: dict[str, dict[str, Any]] = {
    **{f"two Gaussians {d} sd apart": {"kind": "two gaussians", "separation": float(d)} for d in (3, 4, 5)},
    **{f"two skewed {d} apart": {"kind": "two skewed", "separation": float(d)} for d in (3, 6)},
    **{kind: {"kind": kind} for kind in ("uniform", "banana", "t3", "ring")},
}
BINS = np.array([0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0])
FEWEST_SETS = 50
"""In a bin that is judged."""
LEAST_SHARE = 0.1
CHAINS = {"n_chains": 2, "n_tune": 60, "n_draws": 60}


def probability_apart(X: np.ndarray, seed: int) -> float:
    """Share of draws in which the second largest cluster has at least a tenth of the rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such short chains rarely converge
        draws = NRMMixture(random_state=seed, n_jobs=1, **CHAINS).fit(X).cluster_posterior_.labels
    sizes = [np.sort(np.bincount(labels, minlength=2))[-2] for labels in draws.reshape(-1, len(X))]
    return float(np.mean(np.array(sizes) >= LEAST_SHARE * len(X)))


def measured(name: str, n_rows: int, n_sets: int) -> list[dict[str, Any]]:
    """A line per set of one cell."""
    rows = []
    for seed in range(n_sets):
        shapes = make_shapes(n_samples=n_rows, random_state=seed, **CELLS[name])
        found = probability_apart(shapes.X, seed)
        is_apart = shapes.saddle_ratio < RULE.saddle_ratio
        rows.append({"cell": name, "rows": n_rows, "probability": found, "is_apart": is_apart})
    return rows


def calibration(probability: np.ndarray, is_apart: np.ndarray) -> list[dict[str, Any]]:
    """A line per bin: sets, mean probability, share that is apart, and whether that is within its 99 % interval."""
    lines = []
    places = np.clip(np.searchsorted(BINS, probability, side="right") - 1, 0, BINS.size - 2)
    for place in range(BINS.size - 1):
        own = places == place
        n = int(own.sum())
        if n == 0:
            continue
        told, count = float(probability[own].mean()), int(is_apart[own].sum())
        low, high = binom.interval(0.99, n, told)
        verdict = "too few sets" if n < FEWEST_SETS else "within" if low <= count <= high else "outside"
        share = count / n
        interval = f"{BINS[place]:.2f} to {BINS[place + 1]:.2f}"
        lines.append({"P(apart)": interval, "sets": n, "mean": told, "share apart": share, "verdict": verdict})
    return lines


def main() -> None:
    """Print a line for each cell, then the bins; also written to a file, cell by cell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--rows", default="200,800")
    parser.add_argument("--out", type=Path, help="CSV file of all sets")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for n_rows in (int(text) for text in arguments.rows.split(",")):
        for name in CELLS:
            start = time.process_time()
            own = measured(name, n_rows, arguments.sets)
            rows += own
            told, seconds = np.array([row["probability"] for row in own]), time.process_time() - start
            print(f"{n_rows} rows, {name}: apart {own[0]['is_apart']}, mean {told.mean():.2f}, CPU {seconds:.0f} s")
            if arguments.out:
                np.savetxt(arguments.out, [list(row.values()) for row in rows], fmt="%s", delimiter=",")
    for line in calibration(*(np.array([row[key] for row in rows]) for key in ("probability", "is_apart"))):
        print(
            ", ".join(f"{key} {value:.3f}" if isinstance(value, float) else f"{value}" for key, value in line.items())
        )


if __name__ == "__main__":
    main()

"""Calibration of P(apart): `python -m benchmarks.scorecard.calibration`.

    [--model BHC] [--sets N] [--rows 200,800] [--out FILE]

Simulated sets with known saddle ratios are fitted. P(apart) of a set is

- for `NRMMixture` the share of draws with more than one cluster, each of at least a tenth of the rows;
- for `BHC` the largest P(apart) at a branch of its tree with at least a tenth of the rows on either side.

In every bin of P(apart) the share of sets whose saddle ratio lies below that of the rule is compared with the mean of
P(apart), by a 99 % binomial interval. Beside it stands the share of sets that have a valley at all. Each set is written
to the file as soon as it is fitted, and what is in the file is not fitted again.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from bayesgrove import BHC, NRMMixture
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
KEY = ("model", "cell", "rows", "seed")
Row = dict[str, Any]


def apart_in_draws(X: np.ndarray, seed: int) -> float:
    """Share of draws in which the second largest cluster has at least a tenth of the rows."""
    draws = NRMMixture(random_state=seed, n_jobs=1, **CHAINS).fit(X).cluster_posterior_.labels
    sizes = [np.sort(np.bincount(labels, minlength=2))[-2] for labels in draws.reshape(-1, len(X))]
    return float(np.mean(np.array(sizes) >= LEAST_SHARE * len(X)))


def apart_in_tree(X: np.ndarray, seed: int) -> float:
    """Largest P(apart) of a branch with at least a tenth of the rows on either side."""
    tree = BHC(random_state=seed, n_jobs=1).fit(X).tree_
    least = np.full(tree.n_nodes, len(X))
    np.minimum.at(least, tree.parent[: tree.root], tree.size[: tree.root])
    apart = tree.columns.get("apart", np.zeros(tree.n_nodes))
    return float(apart[(least >= LEAST_SHARE * len(X)) & (tree.item < 0)].max(initial=0.0))


MODELS: dict[str, Callable[[np.ndarray, int], float]] = {"NRMMixture": apart_in_draws, "BHC": apart_in_tree}


def finished(path: Path | None) -> dict[tuple[str, ...], Row]:
    """Sets in a file, by model, cell, rows and seed."""
    if path is None or not path.exists():
        return {}
    with path.open(newline="") as stream:
        return {tuple(row[name] for name in KEY): row for row in csv.DictReader(stream)}


def measured(key: tuple[str, ...]) -> Row:
    """P(apart) of one set, and its saddle ratio."""
    model, cell, n_rows, seed = key
    shapes = make_shapes(n_samples=int(n_rows), random_state=int(seed), **CELLS[cell])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such short chains rarely converge
        probability = MODELS[model](shapes.X, int(seed))
    return dict(zip(KEY, key, strict=True)) | {"probability": probability, "saddle_ratio": shapes.saddle_ratio}


def measured_cell(model: str, cell: str, n_rows: str, n_sets: int, path: Path | None) -> list[Row]:
    """All sets of a cell: from the file, or fitted now and added to it."""
    known, rows = finished(path), []
    for seed in range(n_sets):
        key = (model, cell, n_rows, str(seed))
        if key not in known:
            known[key] = measured(key)
            if path is not None:
                append(path, known[key])
        rows.append(known[key])
    return rows


def append(path: Path, row: Row) -> None:
    """A further line of the file, below its heading."""
    is_new = not path.exists()
    with path.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, row, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def calibration(probability: np.ndarray, ratio: np.ndarray) -> list[Row]:
    """A line per bin: sets, mean probability, share that is apart, and whether that is within its 99 % interval."""
    lines = []
    places = np.clip(np.searchsorted(BINS, probability, side="right") - 1, 0, BINS.size - 2)
    for place in np.unique(places):
        own = places == place
        n, told, count = int(own.sum()), float(probability[own].mean()), int((ratio[own] < RULE.saddle_ratio).sum())
        low, high = binom.interval(0.99, n, told)
        verdict = "too few sets" if n < FEWEST_SETS else "within" if low <= count <= high else "outside"
        shares = {"share apart": count / n, "share with a valley": float(np.mean(ratio[own] < RULE.shallow_ratio))}
        interval = f"{BINS[place]:.2f} to {BINS[place + 1]:.2f}"
        lines.append({"P(apart)": interval, "sets": n, "mean": told, **shares, "verdict": verdict})
    return lines


def numbers(rows: list[Row], name: str) -> np.ndarray:
    """A column of some rows, which may have been read from a file."""
    return np.array([float(row[name]) for row in rows])


def main() -> None:
    """Print a line for each cell, then the bins."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=MODELS, default="NRMMixture")
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--rows", default="200,800")
    parser.add_argument("--out", type=Path, help="CSV file of all sets; those in it are not fitted again")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for n_rows in arguments.rows.split(","):
        for cell in CELLS:
            start = time.process_time()
            own = measured_cell(arguments.model, cell, n_rows, arguments.sets, arguments.out)
            rows += own
            told, seconds = numbers(own, "probability"), time.process_time() - start
            ratio, above = float(own[0]["saddle_ratio"]), np.mean(told > 0.5)
            print(f"{n_rows} rows, {cell}: saddle ratio {ratio:.2f}, mean {told.mean():.2f}, "
                  f"above one half {above:.2f}, CPU {seconds:.0f} s", flush=True)  # fmt: skip
    for line in calibration(numbers(rows, "probability"), numbers(rows, "saddle_ratio")):
        print(
            *(f"{key} {value:.3f}" if isinstance(value, float) else str(value) for key, value in line.items()), sep=", "
        )


if __name__ == "__main__":
    main()

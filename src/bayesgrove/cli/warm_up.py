"""`bayesgrove warm-up`: compile models ahead of their first fit, by fitting them to small data."""

import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bayesgrove.cli import models
from bayesgrove.datasets.asymmetric_trees import make_asymmetric_trees
from bayesgrove.io.tables import read_table

FEW_DRAWS = {"n_chains": 2, "n_tune": 4, "n_draws": 8}
N_ROWS = 60


def warm_up(names: list[str], console: Console) -> None:
    """Fit each model to small data of each kind and say how long that took."""
    for name in names:
        estimator = models.model_class(name)
        for kind, data in small_data(takes_trees=models.takes_trees(name)):
            few = FEW_DRAWS if "n_draws" in estimator().get_params() else {}
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                estimator(random_state=0, **few).fit(data)
            console.print(f"{name}: {kind}, {time.perf_counter() - start:.1f} s")


def small_data(*, takes_trees: bool) -> Iterator[tuple[str, Any]]:
    """Trees; or measurements, the same with missing cells, and a mixed table."""
    if takes_trees:
        yield "trees", make_asymmetric_trees(10, random_state=0)
        return
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(0.0, 5.0, (3, 4)), N_ROWS // 3, axis=0) + rng.normal(size=(N_ROWS, 4))
    yield "measurements", rows
    gaps = rows.copy()
    gaps[::7, 0] = np.nan
    yield "measurements with missing cells", gaps
    yield "a mixed table", mixed_table(rng, gaps)


def mixed_table(rng: np.random.Generator, rows: np.ndarray) -> Any:
    """Measurements beside categories, flags and counts, as read from a file."""
    words, flags, counts = (
        rng.choice(["a", "b", "c"], N_ROWS),
        rng.choice(["yes", "no"], N_ROWS),
        rng.poisson(3, N_ROWS),
    )
    lines = ["x,y,word,flag,count"]
    for k in range(N_ROWS):
        cells = ("" if np.isnan(cell) else f"{cell:.4f}" for cell in rows[k, :2])
        lines.append(",".join((*cells, words[k], flags[k], str(counts[k]))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mixed.csv"
        path.write_text("\n".join(lines) + "\n")
        return read_table(path)

"""`bayesgrove warm-up`: compile models ahead of their first fit, by fitting them to small data."""

import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bayesgrove.cli import models
from bayesgrove.datasets.asymmetric_trees import make_asymmetric_trees
from bayesgrove.io.tables import read_table

FEW_DRAWS = {"n_chains": 2, "n_tune": 4, "n_draws": 8}
N_ROWS = 60
TREES, MEASUREMENTS, WITH_GAPS, MIXED = "trees", "measurements", "measurements with missing cells", "a mixed table"


def warm_up(names: list[str], console: Console) -> None:
    """Fit each model to small data of each kind it takes and say how long that took."""
    for name in names:
        estimator = models.model_class(name)
        for kind, data in data_for(name).items():
            few = FEW_DRAWS if "n_draws" in estimator().get_params() else {}
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                estimator(random_state=0, **few).fit(data)
            console.print(f"{name}: {kind}, {time.perf_counter() - start:.1f} s")


def data_for(name: str) -> dict[str, Any]:
    """Small data of each kind that a model takes by default; the mixed table has missing cells, too."""
    if models.takes_trees(name):
        return {TREES: make_asymmetric_trees(10, random_state=0)}
    model = models.model_class(name)()
    has_gaps = model.__sklearn_tags__().input_tags.allow_nan
    takes = {MEASUREMENTS: True, WITH_GAPS: has_gaps, MIXED: has_gaps and model._takes_mixed_tables()}
    return {kind: data for kind, data in small_tables().items() if takes[kind]}


def small_tables() -> dict[str, Any]:
    """Measurements, the same with missing cells, and a mixed table."""
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.normal(0.0, 5.0, (3, 4)), N_ROWS // 3, axis=0) + rng.normal(size=(N_ROWS, 4))
    gaps = rows.copy()
    gaps[::7, 0] = np.nan
    return {MEASUREMENTS: rows, WITH_GAPS: gaps, MIXED: mixed_table(rng, gaps)}


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

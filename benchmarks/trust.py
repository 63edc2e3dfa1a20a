"""Time to trust: default `NRMMixture` and `CrossCat` on real tables, seed by seed, until the verdict or the limit."""

import sys
import time
import warnings
from typing import Any

import numpy as np

import bayesgrove as bg
from bayesgrove.inference.verdict import are_pairs
from benchmarks.scorecard import DATA
from benchmarks.scorecard.sets import available, read

SECONDS = {"NRMMixture": 60.0, "CrossCat": 120.0}
"""Within which defaults are to be trusted on two cores."""
SETS = {
    "NRMMixture": ("iris", "wine", "breast_cancer", "penguins", "pbmc68k_reduced"),
    "CrossCat": ("wine", "penguins", "mpg", "lace-animals"),
}
PARTS = tuple(SETS)
N_COMPONENTS = 15
"""Principal components taken of cells that come as such."""
MOST_ROWS = 2_000


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    """Default chains until they are trusted, on each table and seed; a quick run takes one table for twenty seconds."""
    first = 0 if arguments.seed is None else arguments.seed
    rows = []
    for model in arguments.parts or PARTS:
        here = available(DATA)
        for name in arguments.kinds or (SETS[model][:1] if arguments.quick else SETS[model]):
            if name not in here:
                print(f"Skipped {name!r}: it is not in {DATA}.", file=sys.stderr)
                continue
            data = read(name, DATA, MOST_ROWS).ours
            data = data[:, :N_COMPONENTS] if name == "pbmc68k_reduced" else data
            for seed in range(first, first + (1 if arguments.quick else arguments.repeats)):
                seconds = 20.0 if arguments.quick else SECONDS[model]
                rows.append({"part": model, "data": name, "seed": seed, **time_to_trust(model, data, seed, seconds)})
    return {"rows": rows}


def time_to_trust(model: str, data: Any, seed: int, seconds: float) -> dict[str, Any]:
    """One fit: its verdict, what it took, and the scalar that was slowest to mix."""
    kind = getattr(bg, model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the verdict is a column
        kind(n_chains=2, n_tune=2, n_draws=4, random_state=seed).fit(data)  # compiled ahead of the clock
        start, begun = time.perf_counter(), time.process_time()
        found = kind(random_state=seed, n_jobs=2, time_limit=seconds).fit(data)
    wall, cpu = time.perf_counter() - start, time.process_time() - begun
    table = found.diagnostics_.table
    scalars = table[(table["state"] == "") & ~are_pairs(table["name"])]
    row = {"verdict": found.diagnostics_.verdict.status, "stopped": found.stop_reason_,
           "draws": found.posterior_.n_draws, "wall_seconds": wall, "main_cpu_seconds": cpu}  # fmt: skip
    if scalars.size:
        slowest = scalars[np.argmin(scalars["ess_bulk"])]
        row |= {"slowest": str(slowest["name"]), "ess": float(slowest["ess_bulk"])}
        row["ess_per_second"] = row["ess"] / wall
    return row

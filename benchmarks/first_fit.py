"""The first fit of an estimator in a new process: `python -m benchmarks.first_fit NAME` prints its times as JSON."""

import json
import sys
import time
from typing import Any

# few sweeps and starts: what is measured is the wait before the work, not the work
FEW_SWEEPS = {"n_chains": 2, "n_tune": 10, "n_draws": 20}
MODELS: dict[str, dict[str, Any]] = {
    "BHC": {},
    "RandomizedBHC": {},
    "IncrementalBHC": {},
    "BHCC": {},
    "RandomizedBHCC": {},
    "CrossCat": FEW_SWEEPS,
    "NRMMixture": FEW_SWEEPS,
    "BHMC": FEW_SWEEPS,
    "RBHMC": FEW_SWEEPS,
    "TreeHMM": {},
    "TreeHMMMixture": {},
    "InfiniteTreeHMMMixture": FEW_SWEEPS,
}


def small_data(model: str) -> Any:
    """400 rows of 10 columns, or 30 trees."""
    import numpy as np

    from bayesgrove.datasets import make_asymmetric_trees

    if "TreeHMM" in model:
        return make_asymmetric_trees(10, random_state=0)
    return np.random.default_rng(0).normal(size=(400, 10))


def fit(model: str) -> dict[str, float]:
    """Seconds of the imports, of the fit by the clock, and CPU seconds of this process, whatever its helpers used."""
    start = time.perf_counter()
    import bayesgrove

    estimator, X = getattr(bayesgrove, model), small_data(model)
    imported = time.perf_counter()
    estimator(random_state=0, **MODELS[model]).fit(X)
    return {
        "import_seconds": imported - start,
        "fit_seconds": time.perf_counter() - imported,
        "main_cpu_seconds": time.process_time(),
    }


if __name__ == "__main__":
    print(json.dumps(fit(sys.argv[1])))

"""What a page shows of Markov chains: verdict, table, traces and ranks."""

from typing import Any

import numpy as np

from bayesgrove.inference.description import spread
from bayesgrove.inference.overview import rank_counts
from bayesgrove.inference.result import Result
from bayesgrove.inference.verdict import VARYING, row_faults
from bayesgrove.report.encode import number, pack

MOST_DRAWS = 400
MOST_SCALARS = 12
NUMBERS = ("mean", "sd", "r_hat", "ess_bulk", "ess_tail", "mcse")


def chains_document(result: Result) -> dict[str, Any] | None:
    """Diagnostics and traces; None for a model that was not sampled."""
    posterior, found = result.posterior, result.diagnostics
    if posterior is None or found is None:
        return None
    item, group = result.drawn
    return {
        "item": item,
        "group": group,
        "n_chains": found.n_chains,
        "n_draws": found.n_draws,
        "converged": bool(found.converged),
        "status": found.verdict.status,
        "verdict": found.verdict.sentence_for_readers,
        "distance": None if found.chain_distance is None else str(found.chain_distance),
        "table": [
            {
                "name": str(row["name"]),
                "state": str(row["state"]),
                "pair": result.pair_names(str(row["name"])),
                "faults": list(row_faults(row)),
                **{name: number(row[name]) for name in NUMBERS},
            }
            for row in found.table
        ],
        "scalars": [
            _scalar(name, np.asarray(values)) for name, values in list(posterior.scalars.items())[:MOST_SCALARS]
        ],
        "varying": VARYING,
    }


def _scalar(name: str, values: np.ndarray) -> dict[str, Any]:
    kept = spread(values.shape[1], MOST_DRAWS)
    finite = np.where(np.isfinite(values), values, np.nan)
    return {
        "name": name,
        "draws": pack(kept, "i4"),
        "values": pack(finite[:, kept], "f4"),
        "ranks": pack(rank_counts(values), "i4"),
    }

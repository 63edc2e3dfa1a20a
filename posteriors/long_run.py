"""From a problem to its document by long runs: one sampler gives the means, another one must agree."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import bayesgrove
from bayesgrove.inference.diagnostics import mixing
from posteriors.compare import compare
from posteriors.draws import Draws
from posteriors.exact import fit_of, head
from posteriors.long_problems import LONG
from posteriors.quantities import rounded
from posteriors.samplers import draw
from posteriors.series import estimate, features, pair_estimate

N_CHAINS, SEED = 4, 1
LENGTHS = {
    "dp-iris-50": (10_000, 10_000),
    "nggp-40": (10_000, 20_000),
    "views-24x7": (6_000, 6_000),
    "bhmc-20": (20_000, 40_000),
    "rbhmc-chance-16": (4_000, 8_000),
    "trees-30": (5_000, 10_000),
}
"""Draws of each chain by the first and the second sampler."""


def long_document(name: str, lengths: tuple[int, int] | None = None) -> dict[str, Any]:
    """The whole document of a problem solved by long runs; it is an error if the two samplers disagree."""
    run = LONG[name]
    n_first, n_second = lengths or LENGTHS[name]
    plain = {"fit": fit_of(run.problem), "data": run.problem.data, "model": {"columns": run.problem.columns}}
    if not run.problem.columns:
        plain["model"] = {}
    chains = {"n_chains": N_CHAINS, "n_tune": max(500, n_first // 20)}
    first = draw(plain, **chains, n_draws=n_first, random_state=SEED, **run.first)
    quantities = long_quantities(first)
    document = {
        **head(name, run.problem, "long-run", list(first.partitions)),
        "quantities": quantities,
        "fit": plain["fit"],
    }
    second = draw(
        plain, **{**chains, "n_tune": 2 * chains["n_tune"]}, n_draws=n_second, random_state=SEED + 1, **run.second
    )
    return {**document, "made": provenance(name, document, (first, second), chains)}


def provenance(name: str, document: Mapping[str, Any], draws: tuple[Draws, Draws], chains: Mapping[str, int]):
    """How the document was made, and how the second sampler agrees."""
    run, agreement = LONG[name], compare(document, draws[1])
    if not agreement.agrees:
        raise ValueError(
            f"two samplers of {name} agree, but the largest |z| is {agreement.worst.z:.2f} at {agreement.worst.name}, "
            f"the limit {agreement.largest_z:.2f}. One of them is wrong, or both are too short."
        )
    squares = [score.z**2 for score in agreement.scores]
    numbers = [entry for entry in document["quantities"]["expectations"].values() if "r_hat" in entry]
    return {
        "command": f"python -m posteriors make {name}",
        "version": bayesgrove.__version__,
        "method": "Markov chains; means over all draws, errors by batch means, ess and r_hat as in ArviZ",
        "sampler": {**run.first, **chains, "n_draws": draws[0].shape[1], "random_state": SEED},
        "largest_r_hat": max(entry["r_hat"] for entry in numbers),
        "least_ess": min(entry["ess"] for entry in numbers),
        "check": {
            "method": "another sampler from another start, compared with the first",
            "sampler": {
                **run.second, **chains, "n_tune": 2 * chains["n_tune"], "n_draws": draws[1].shape[1],
                "random_state": SEED + 1,
            },
            "n_compared": len(squares),
            "largest_z": round(abs(agreement.worst.z), 2),
            "largest_z_at": agreement.worst.name,
            "limit": round(agreement.largest_z, 2),
            "rms_z": round(math.sqrt(sum(squares) / len(squares)), 2),
            "autocorrelation_time": round(agreement.time, 1),
        },
    }  # fmt: skip


def long_quantities(draws: Draws) -> dict[str, Any]:
    """Means of everything, with errors."""
    series = {
        f"{name}.{feature}": values
        for name, labels in draws.partitions.items()
        for feature, values in features(labels).items()
    } | draws.scalars
    counts = {name: count_law(series[f"{name}.n_blocks"]) for name in draws.partitions}
    if "n_components" in series:
        counts["components"] = count_law(series["n_components"])
    return {
        "laws": {},
        "counts": counts,
        "expectations": {name: mean_of(values) for name, values in series.items()},
        "together": {name: pairs_of(labels) for name, labels in draws.partitions.items()},
    }


def mean_of(values: np.ndarray) -> dict[str, float]:
    """Mean, error, standard deviation, and how well chains mixed."""
    found = estimate(values)
    entry = {"value": rounded(found.value, 6), "error": rounded(found.error, 2), "sd": rounded(values.std(), 4)}
    if np.ptp(values) == 0.0:
        return entry
    r_hat, bulk, _, _ = mixing(values)
    return {**entry, "r_hat": round(r_hat, 4), "ess": round(bulk)}


def count_law(values: np.ndarray) -> dict[str, Any]:
    """Frequencies of whole numbers, with errors."""
    seen = np.unique(values)
    found = [estimate((values == value).astype(float)) for value in seen]
    return {
        "values": [int(value) for value in seen],
        "probabilities": [rounded(own.value, 5) for own in found],
        "errors": [rounded(own.error, 2) for own in found],
    }


def pairs_of(labels: np.ndarray) -> dict[str, Any]:
    """Frequencies of two items together, with errors, below the diagonal."""
    found = pair_estimate(labels)
    rows = np.split(np.column_stack([found.value, found.error]), np.cumsum(np.arange(labels.shape[2]))[:-1])
    return {
        "value": [[rounded(value, 4) for value in row[:, 0]] for row in rows],
        "error": [[rounded(error, 2) for error in row[:, 1]] for row in rows],
    }

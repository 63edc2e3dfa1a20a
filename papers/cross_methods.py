"""The methods that are compared on hidden cells: one view or many, a tree or Markov chains."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.estimators.bhcc import BHCC
from bayesgrove.estimators.crosscat import CrossCat
from bayesgrove.estimators.randomized_bhcc import RandomizedBHCC
from papers.cross_tables import CellTable, Fold, folds
from papers.one_view import OneViewChain, OneViewTree

BHC, DPM, TREES, RANDOMIZED, CHAINS = "BHC", "DPM MCMC", "BHCC", "RBHCC", "CDPM MCMC"
SINGLE, CROSS = (BHC, DPM), (TREES, RANDOMIZED, CHAINS)
N_TUNE, N_DRAWS, THIN = 50, 10, 5
"""Of the chains, as in the paper: 100 sweeps, half of them burn-in, every fifth kept."""

Maker = Callable[[CellTable, int], Any]


def fixed(table: CellTable) -> dict[str, Any]:
    """What all methods of the paper have in common: nothing is learned."""
    return {"likelihood": table.likelihood, "row_concentration": 1.0, "column_concentration": 1.0}


def greedy_trees(table: CellTable) -> dict[str, Any]:
    """The same for trees, whose rows are merged in the published order; the search for views is ours unless named."""
    return {**fixed(table), "row_search": "greedy"}


def chain_settings(seed: int) -> dict[str, Any]:
    """One chain of the paper's length."""
    return {"n_chains": 1, "n_tune": N_TUNE, "n_draws": N_DRAWS, "thin": THIN, "random_state": seed}


def randomized(levels: int) -> Maker:
    """The randomized search with so many levels, and our polish after it."""
    return lambda table, seed: RandomizedBHCC(**greedy_trees(table), max_levels=levels, random_state=seed)


def unpolished(levels: int) -> Maker:
    """The same without our polish; columns choose their sides by our rule, not by the one in print."""
    return lambda table, seed: RandomizedBHCC(**greedy_trees(table), max_levels=levels, polish=False, random_state=seed)


def exact_search(table: CellTable, seed: int) -> BHCC:
    """Every pair of views compared."""
    return BHCC(**greedy_trees(table), search="exact", random_state=seed)


METHODS: dict[str, Maker] = {
    BHC: lambda table, seed: OneViewTree(**fixed(table), random_state=seed),
    DPM: lambda table, seed: OneViewChain(**fixed(table), init="one_view", **chain_settings(seed)),
    TREES: lambda table, seed: BHCC(**greedy_trees(table), random_state=seed),
    RANDOMIZED: randomized(6),
    CHAINS: lambda table, seed: CrossCat(**fixed(table), **chain_settings(seed)),
}


class Score(NamedTuple):
    """How hidden cells were predicted."""

    log_score: float
    """Mean log probability (or density)."""
    median: float
    """The median of the same, which a few outlying cells do not move."""
    accuracy: float
    """Share of cells that equal the most probable value; NaN for real numbers."""
    rmse: float
    """Of the predicted mean or mode."""
    seconds: float
    bound: float


def predict_fold(make: Maker, table: CellTable, fold: Fold, seed: int) -> Score:
    """Fit without the cells of a fold and predict them."""
    start = time.process_time()
    model = make(table, seed).fit(fold.shown)
    seconds = time.process_time() - start
    log_density = model.cell_log_density(fold.rows, fold.columns, fold.values)
    guess = np.asarray(model.impute(), float)[fold.rows, fold.columns]
    accuracy = float(np.mean(guess == fold.values)) if table.is_binary else float("nan")
    rmse = float(np.sqrt(np.mean((guess - fold.values) ** 2)))
    mean, median = float(np.mean(log_density)), float(np.median(log_density))
    return Score(mean, median, accuracy, rmse, seconds, float(getattr(model, "log_evidence_", np.nan)))


def cross_validate(make: Maker, table: CellTable, seed: int, n_folds: int) -> Score:
    """The mean over folds."""
    scores = [predict_fold(make, table, fold, seed) for fold in folds(table, seed, n_folds)]
    return Score(*np.mean(np.array(scores), axis=0).tolist())

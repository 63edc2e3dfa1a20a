"""Every public estimator, found from the package, with small data it takes and settings that make it quick."""

import inspect
from typing import Any

import numpy as np

import bayesgrove as bg
from bayesgrove.core.rng import generator
from bayesgrove.estimators.bhmc import METHODS as METHODS_OF_BHMC
from bayesgrove.estimators.chains import ChainEstimator
from bayesgrove.estimators.mixture_processes import KINDS
from bayesgrove.estimators.nested import MEANS, SAMPLERS
from bayesgrove.estimators.rbhmc import DISCRIMINANTS, PENALTIES
from bayesgrove.estimators.registry import MODELS
from bayesgrove.models.cross.mcmc_proposals import PROPOSALS
from bayesgrove.models.nested.schedules import PATHS
from bayesgrove.models.nrm.schedules import SAMPLERS as NRM_SAMPLERS
from bayesgrove.models.tree_hmm.fit import METHODS

CHAINS = {"n_chains": 2, "n_tune": 4, "n_draws": 8}
PENALISED = {"depth": 2, "C": 0.1, "margin": 0.2}
WITHOUT_DRAWS = ("vb", "paper")
"""Methods of `InfiniteTreeHMMMixture` that run no chains."""
CASES: dict[str, dict[str, Any]] = {
    "BHC": {"likelihood": "gaussian"},
    "RandomizedBHC": {"likelihood": "gaussian", "leaf_size": 8, "sample_size": 10},
    "IncrementalBHC": {"likelihood": "gaussian", "n_init": 2},
    "BHCC": {},
    "RandomizedBHCC": {},
    "CrossCat": CHAINS,
    "NRMMixture": CHAINS,
    "BHMC": {"depth": 2, **CHAINS},
    "RBHMC": {**PENALISED, **CHAINS},
    "TreeHMM": {"n_states": 2, "n_init": 2},
    "TreeHMMMixture": {"n_clusters": 2, "n_states": 2, "n_init": 2},
    "InfiniteTreeHMMMixture": {"n_states": 2, **CHAINS},
}
"""Settings that make each estimator quick to fit."""
CHOICES: dict[str, dict[str, tuple[Any, ...]]] = {
    "CrossCat": {"new_view": tuple(PROPOSALS), "n_temperatures": (1, 2)},
    "NRMMixture": {"process": tuple(KINDS), "sampler": (*NRM_SAMPLERS, "paper")},
    "BHMC": {"method": METHODS_OF_BHMC, "sampler": SAMPLERS, "means": MEANS, "path": PATHS},
    "RBHMC": {
        "penalty": tuple(PENALTIES),
        "sampler": SAMPLERS,
        "discriminants": DISCRIMINANTS,
        "n_temperatures": (1, 2),
    },
    "InfiniteTreeHMMMixture": {
        "method": tuple(method for method in METHODS if method not in WITHOUT_DRAWS),
        "n_states": (2, "infinite"),
        "prior_strength": (1.0, "auto"),
    },
}
"""Settings that choose what draws, with all their values, of the estimators that run chains."""
COMPANIONS = {("discriminants", "gibbs"): {"penalty": "chance"}}
"""What a choice cannot do without."""


def public_estimators() -> dict[str, type]:
    """All classes among the public names that can be fitted."""
    public = {name: getattr(bg, name) for name in bg.__all__}
    return {name: found for name, found in public.items() if inspect.isclass(found) and hasattr(found, "fit")}


def chain_estimators() -> list[str]:
    """Names of the public estimators that run chains."""
    return [name for name, kind in public_estimators().items() if issubclass(kind, ChainEstimator)]


def make(name: str, **settings: Any) -> Any:
    """An estimator that has not been fitted, quick to fit."""
    return getattr(bg, name)(**{"random_state": 3, **CASES[name], **settings})


def data_for(name: str) -> Any:
    """What the estimator is fitted to."""
    return trees() if MODELS[name].takes_trees else rows()


def rows() -> np.ndarray:
    """Forty rows, three columns, two clusters."""
    rng = generator(0)
    return np.vstack([rng.normal(centre, 1.0, (20, 3)) for centre in (0.0, 6.0)])


def trees() -> Any:
    """Twenty trees of two kinds."""
    return bg.TreeData.from_newick(5 * ["((a,b)c,d)e;", "((a,b)c)e;", "(x,(y,y)x,x)z;", "(x,(y,y)x)z;"])


def variants(name: str) -> list[dict[str, Any]]:
    """The settings of a quick fit, then each choice of what draws by itself."""
    others = [(key, value) for key, values in CHOICES[name].items() for value in values[1:]]
    return [{}, *({key: value, **COMPANIONS.get((key, value), {})} for key, value in others)]


def draws_of(model: Any) -> dict[str, np.ndarray]:
    """All that a fitted estimator has drawn: arrays by name, scalars among them."""
    posterior = model.posterior_
    drawn = {key: np.asarray(values) for key, values in posterior.scalars.items()}
    for name in ("labels", "paths", "view_labels"):
        if hasattr(posterior, name):
            drawn[name] = np.asarray(getattr(posterior, name))
    if hasattr(posterior, "rows"):
        drawn["rows"] = np.asarray(posterior.rows)
    return drawn


def same_draws(model: Any, other: Any) -> bool:
    """Whether two fitted estimators have drawn the same bits."""
    one, two = draws_of(model), draws_of(other)
    return one.keys() == two.keys() and all(one[name].tobytes() == two[name].tobytes() for name in one)

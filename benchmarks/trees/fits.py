"""CPU seconds of whole fits of both published sets, against what is wanted."""

from collections.abc import Callable
from typing import Any

from bayesgrove import metrics
from bayesgrove.core.rng import generator
from bayesgrove.estimators.infinite_tree_hmm_mixture import InfiniteTreeHMMMixture
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.em import EMSettings, fit_em
from bayesgrove.models.tree_hmm.links import unique_links
from bayesgrove.models.tree_hmm.mixture_target import make_target
from bayesgrove.models.tree_hmm.paper import PaperSettings, fit_paper
from bayesgrove.models.tree_hmm.parameters import make_prior
from bayesgrove.models.tree_hmm.sampler import TreeMixtureSampler
from bayesgrove.models.tree_hmm.schedules import default_steps
from bayesgrove.models.tree_hmm.starts import LabelsStart
from bayesgrove.models.tree_hmm.vb import VB_DEFAULTS, vb_start
from benchmarks.trees.data import MISSING, cpu_seconds, inex05, synthetic

N_WARM = 40
"""Trees of the fits before the clock, which compile."""
Work = tuple[str, Callable[[], Any], float]


def measure(seed: int, *, quick: bool) -> list[dict[str, Any]]:
    """A row for each fit; `quick` takes a tenth of the trees, which says nothing of what is wanted."""
    data, test, small = inex05(), inex05("test"), synthetic()
    if data is None or test is None:
        works, missing = synthetic_works(small, seed), [{"part": "fit", "data": "INEX05", **MISSING}]
    else:
        every = 10 if quick else 1
        warm_up(data[:N_WARM], seed)
        works, missing = inex_works(data[::every], test[::every], seed) + synthetic_works(small[::every], seed), []
    warm_up(small[::15], seed)
    return [timed(*work, quick) for work in works] + missing


def warm_up(data: TreeData, seed: int) -> None:
    """Compile everything on a few trees."""
    for _, work, _ in (*inex_works(data, data, seed), *synthetic_works(data, seed)):
        work()


def timed(name: str, work: Callable[[], Any], wanted: float, quick: bool) -> dict[str, Any]:
    """CPU seconds of one fit."""
    seconds = cpu_seconds(work)
    row = {"part": "fit", "what": name, "seconds": seconds}
    return row if quick else {**row, "wanted": f"<= {wanted:g}", "holds": seconds <= wanted}


def start(data: TreeData, n_states: int, seed: int) -> Callable[[], Any]:
    """One variational start of 40 iterations, 30 components."""
    links, prior = unique_links(data.forest), make_prior(data.forest, n_states)
    return lambda: vb_start(generator(seed), links, prior, settings=VB_DEFAULTS._replace(n_init=1))


def chain(data: TreeData, n_states: int, n_sweeps: int, seed: int) -> Callable[[], Any]:
    """A whole fit: one variational start, one chain with two split-merge moves a sweep, the hierarchy, descriptions."""
    settings = {"n_states": n_states, "n_init": 1, "n_chains": 1, "n_tune": n_sweeps // 5, "random_state": seed}
    model = InfiniteTreeHMMMixture(n_draws=n_sweeps - n_sweeps // 5, **settings)
    return lambda: model.fit(data)


def sweeps(data: TreeData, n_states: int, n_sweeps: int, seed: int) -> None:
    """A chain from one cluster with one split-merge move a sweep."""
    sampler = TreeMixtureSampler(make_target(data.forest, n_states=n_states), LabelsStart("one"))
    rng = generator(seed)
    state = sampler.start(rng)
    for _ in range(n_sweeps):
        for step in default_steps(n_moves=1):
            sampler.move(rng, state, step)


def inex_works(data: TreeData, test: TreeData, seed: int) -> list[Work]:
    """Name, work, seconds wanted."""
    forest = data.forest
    em = EMSettings(max_iter=30, tol=0.0)
    paper = PaperSettings(make_prior(forest, 2).shape, 2.0)
    return [
        ("INEX05: variational start, C=8, T=30, 40 iterations", start(data, 8, seed), 10.0),
        ("INEX05: whole infinite fit, C=8, 50 sweeps, hierarchy", chain(data, 8, 50, seed), 60.0),
        (
            "INEX05: 30 iterations of EM, T=22, C=4",
            lambda: fit_em(generator(seed), unique_links(forest), make_prior(forest, 4), 22, em),
            30.0,
        ),
        ("INEX05: the paper's procedure, C=2, 30 sweeps", lambda: fit_paper(generator(seed), forest, paper), 60.0),
        ("INEX05: distances and silhouette of the test set", lambda: distances_and_silhouette(test), 10.0),
    ]


def synthetic_works(data: TreeData, seed: int) -> list[Work]:
    """Name, work, seconds wanted."""
    return [
        ("synthetic: variational start, C=4, T=30, 40 iterations", start(data, 4, seed), 2.0),
        ("synthetic: 100 sweeps with 100 moves, C=4", lambda: sweeps(data, 4, 100, seed), 10.0),
    ]


def distances_and_silhouette(data: TreeData) -> float:
    """All distances, then the silhouette of groups of the same sizes of trees."""
    metrics.ruzicka_distances(data)
    return metrics.tree_silhouette(data, data.forest.sizes > data.forest.sizes.mean(), "paper")

"""Chains of tree mixtures on a few trees, and how their partitions agree with an exact law."""

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.collapsed_sampler import CollapsedTreeSampler, with_plain_links
from bayesgrove.models.tree_hmm.mixture_target import make_target
from bayesgrove.models.tree_hmm.sampler import TreeMixtureSampler
from bayesgrove.models.tree_hmm.starts import LabelsStart
from bayesgrove.stats.testing import mean_z


def forest_of(trees, L, M):
    """Trees of the golden file as a forest."""
    lists = [[tree[name] for tree in trees] for name in ("label", "parent", "pos")]
    return TreeData.from_parents(*lists, max_outdegree=L, n_labels=M).forest


def golden_sampler(case, method="gibbs"):
    """The sampler of a partition posterior of the golden file."""
    forest = forest_of(case["trees"], case["L"], case["M"])
    target = make_target(
        forest,
        n_states=case["C"],
        missing=case["mode"],
        concentration=case["gamma"],
        prior_strength=case["alpha"],
    )
    if method == "collapsed":
        return CollapsedTreeSampler(with_plain_links(target, forest), LabelsStart())
    return TreeMixtureSampler(target, LabelsStart())


def run_chain(sampler, steps, n_sweeps, seed, refresh=20):
    """Labels after every sweep."""
    rng = generator(seed)
    state = sampler.start(rng)
    found = np.empty((n_sweeps, sampler.n_items), np.int64)
    for sweep in range(n_sweeps):
        for step in steps:
            sampler.move(rng, state, step)
        found[sweep] = sampler.labels(state)
        if sweep % refresh == 0:
            sampler.refresh(state)
    return found


def partition_scores(labels, posterior):
    """z of the frequency of every partition by batch means; partitions are named by restricted growth strings."""
    names = np.array(["".join(map(str, row)) for row in labels])
    return {name: mean_z((names == name).astype(float), share) for name, share in posterior.items()}

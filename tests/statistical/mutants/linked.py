"""Planted errors of constraints on mixtures and trees, killed by exact laws over the allowed partitions."""

from statistical.mutants.runner import Family, Mutant

LINKED, SAMPLER, LINKS = "likelihoods/linked.py", "models/nrm/linked.py", "stats/links.py"
TREES = "models/bhc/linked.py"
SUMS = "tests/exact/test_bhc_linked.py::test_sums_over_the_allowed_partitions_of_every_node"
MIXTURES = "tests/exact/test_nrm_linked.py::"

MUTANTS = (
    Mutant(
        "the size of an item ignored by the process",
        LINKED,
        "sizes = at_size(prior.log_size, row[width]) -",
        "sizes = at_size(prior.log_size, row[width + 1]) -",
        MIXTURES + "test_split_merge[dp-uniform]",
    ),
    Mutant(
        "the size of an item ignored by Gibbs steps",
        LINKED,
        "at_size(prior.log_size, n_rows + n_more)",
        "at_size(prior.log_size, n_rows + 1)",
        MIXTURES + "test_gibbs[nggp-links]",
    ),
    Mutant(
        "one row of an item only",
        LINKED,
        "        add(prior.prior, union, prior.values[prior.members[at]])\n    return",
        "        add(prior.prior, union, prior.values[prior.members[prior.start[item]]])\n    return",
        MIXTURES + "test_gibbs[dp-links]",
    ),
    Mutant(
        "forbidden pairs merged",
        LINKED,
        "+ sizes - FORBIDDEN * n_pairs",
        "+ sizes",
        MIXTURES + "test_split_merge[dp-uniform]",
    ),
    Mutant(
        "forbidden pairs joined by Gibbs steps",
        LINKED,
        "- at_size(prior.log_size, n_rows) - FORBIDDEN * n_pairs",
        "- at_size(prior.log_size, n_rows)",
        MIXTURES + "test_gibbs[dp-links]",
    ),
    Mutant(
        "items counted instead of rows where numbers are learned",
        SAMPLER,
        "return state.clusters.rows[:n_clusters, n_stats(self.prior.prior)].astype(np.int64)",
        "return state.clusters.sizes[:n_clusters]",
        MIXTURES + "test_log_joint[dp]",
    ),
    Mutant(
        "the process twice",
        SAMPLER,
        "tables = np.zeros(self.n_items + 2), log_v",
        "tables = log_size[: self.n_items + 2], log_v",
        MIXTURES + "test_log_joint[dp]",
    ),
    Mutant(
        "items counted instead of rows in trees",
        TREES,
        "log_gamma, log_gamma)",
        "log_gamma * 0.0, log_gamma * 0.0)",
        SUMS + "[together-best]",
    ),
    Mutant(
        "prior weights of items by their numbers",
        TREES,
        "np.bincount(links.item), problem",
        "np.ones(links.n_items, np.int64), problem",
        SUMS + "[together-greedy]",
    ),
    Mutant(
        "items split by the tree",
        TREES,
        "[log_q[n:], forest.log_q]",
        "[inside.log_q[n:], forest.log_q]",
        SUMS + "[together-best]",
    ),
    Mutant(
        "forbidden merges certain",
        TREES,
        "np.where(is_forbidden, -np.inf, forest.log_odds)",
        "np.where(is_forbidden, np.inf, forest.log_odds)",
        SUMS + "[links-best]",
    ),
)
FAMILY = Family(
    "linked",
    MUTANTS,
    ignored_warnings=("ignore:overflow:RuntimeWarning",),
    whole_files=("tests/exact/test_nrm_linked.py", "tests/exact/test_bhc_linked.py"),
)

"""Planted errors of the sampler of nested hierarchies, killed by exact laws of its sources.

The missing +1 of an opened component, the own-datum ratio of the paper, Dirichlet draws without gamma and a regraft
without its block factor are those the specification asks for (acceptance 8 and 9).
"""

from statistical.mutants.runner import Family, Mutant

SOURCES = "tests/exact/test_nested_sources.py::"
WEIGHTS, PATHS, NODES = "models/nested/weights.py", "models/nested/paths.py", "models/nested/nodes.py"
REGRAFT, CONCENTRATIONS, LAWS = "models/nested/regraft.py", "models/nested/concentrations.py", "models/nested/laws.py"
PENALTY, PENALTY_PATHS = "models/nested/penalty.py", "models/nested/penalty_paths.py"
GIBBS, METROPOLIS = SOURCES + "test_paths[gibbs-infinite]", SOURCES + "test_paths[mh-infinite]"
PASS, REGRAFTS = SOURCES + "test_weights[infinite-plain-fixed]", SOURCES + "test_weights[infinite-regraft-fixed]"
LEARNED = SOURCES + "test_weights[infinite-plain-free]"
MEANS = SOURCES + "test_means_and_variances[infinite]"
SCAN = SOURCES + "test_regrafts_of_a_level_leave_the_law"
SPLIT_MERGE = SOURCES + "test_split_merge"


def gibbs(penalty, kind="full"):
    return SOURCES + f"test_penalised_gibbs_paths[{penalty}-{kind}]"


def metropolis(penalty):
    return SOURCES + f"test_penalised_metropolis_paths[{penalty}-exact]"


MUTANTS = (
    Mutant("regrafts in the order of the tree", REGRAFT, "    shuffle(rng, nodes[:n_nodes])\n", "", SCAN),
    Mutant("the +1 of an opened component forgotten", WEIGHTS, "a += 1.0", "a += 0.0", GIBBS),
    Mutant(
        "own-datum ratio, as printed",
        "models/nested/penalty_metropolis.py",
        "return energy if own_only else energy + gain_below(",
        "return energy if n >= 0 else energy + gain_below(",
        metropolis("max"),
    ),
    Mutant(
        "Dirichlet without gamma",
        WEIGHTS,
        "scratch[0, k] = gamma * weight[parent, k] + counts[row, k]",
        "scratch[0, k] = weight[parent, k] + counts[row, k]",
        PASS,
    ),
    Mutant(
        "regraft without the block factor",
        REGRAFT,
        "log_prior = base[here] + log_new_child + (0.0 if is_parent else log_new_parent)",
        "log_prior = 0.0",
        REGRAFTS,
    ),
    Mutant(
        "a datum counted where it leaves",
        PATHS,
        "here /= count[node] + alpha",
        "here /= count[node] + 1.0 + alpha",
        GIBBS,
    ),
    Mutant("alpha missing for new branches", PATHS, "            here *= alpha\n", "", GIBBS),
    Mutant(
        "auxiliary weight alpha instead of alpha / m",
        PENALTY_PATHS,
        "log_slot = work.log_weight[candidate] - math.log(n_left + 1.0)",
        "log_slot = work.log_weight[candidate]",
        gibbs("max"),
    ),
    Mutant(
        "log g missing for created nodes",
        PENALTY,
        "return level_energy(kind, strength, log_chance, m, zeta, max(0.0, zeta), 1)",
        "return 2.0 * strength * max(0.0, zeta)",
        metropolis("chance"),
    ),
    Mutant(
        "concentration counts nodes of one datum",
        CONCENTRATIONS,
        "tree.level[node] < depth and tree.count[node] > 1",
        "tree.level[node] < depth",
        LEARNED,
    ),
    Mutant(
        "variance of a mean wrong",
        LAWS,
        "rng.standard_normal() / math.sqrt(precision)",
        "rng.standard_normal() / precision",
        MEANS,
    ),
    Mutant(
        "variance of an opened component's mean wrong",
        LAWS,
        "deviation = math.sqrt(variance * shrink)",
        "deviation = math.sqrt(variance)",
        GIBBS,
    ),
    Mutant("every node carries the observed atom", WEIGHTS, "if on_path[node]:", "if node >= 0:", GIBBS),
    Mutant(
        "former discriminant not among the auxiliary ones",
        PENALTY_PATHS,
        "is_first and work.node[candidate] == hung_from, scale",
        "False, scale",
        gibbs("max"),
    ),
    Mutant(
        "a bound taken for the weight",
        PENALTY_PATHS,
        "if limit > more:",
        "if limit > 0.0:",
        gibbs("sum", "lazy"),
    ),
    Mutant(
        "tables by the node's own weights",
        "models/nested/tables.py",
        "gamma * weight[parent, k]",
        "gamma * weight[node, k]",
        PASS,
    ),
    Mutant(
        "regraft without the total of the Dirichlet-multinomial",
        REGRAFT,
        "return total - log_rising_factorial(gamma + n_there, tables.n_tables[node])",
        "return total",
        REGRAFTS,
    ),
    Mutant(
        "concentration counts customers, not tables",
        CONCENTRATIONS,
        "shape += tables.n_tables[node]",
        "shape += tables.n_customers[node]",
        LEARNED,
    ),
    Mutant(
        "half of the data's dimensions forgotten in their variance",
        "models/nested/variances.py",
        "hyperpriors[COMPONENT_VARIANCE, 0] + 0.5 * data.size",
        "hyperpriors[COMPONENT_VARIANCE, 0] + data.size",
        MEANS,
    ),
    Mutant(
        "a new sibling costs as many as there were",
        PENALTY,
        "max(worst, zeta), total, n_siblings + 1) - before",
        "max(worst, zeta), total, max(1, n_siblings)) - before",
        metropolis("chance-max"),
    ),
    Mutant(
        "a proposal always accepted",
        PATHS,
        "if -rng.standard_exponential() < log_ratio:",
        "if log_ratio < 1e9:",
        METROPOLIS,
    ),
    Mutant(
        "a split forgets how its sides were proposed",
        "models/nested/split_merge.py",
        "log_ratio += log_sum ",
        "log_ratio += stays if sides.side[i] == STAYS else leaves ",
        SPLIT_MERGE,
    ),
    Mutant(
        "a sibling of a split costs nothing",
        "models/nested/split_merge.py",
        "step = math.log(numbers.alpha) + log_gamma_n[n_more]",
        "step = log_gamma_n[n_more]",
        SPLIT_MERGE,
    ),
)

FAMILY = Family("nested", MUTANTS, whole_files=("tests/exact/test_nested_sources.py",))

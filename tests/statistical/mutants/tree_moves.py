"""Planted errors of the samplers and fits of tree mixtures, killed by exact laws of their pieces or by one move.

Rows drawn from alpha + 2 + counts and a split-merge step without G0 / g are those the specification asks for
(acceptance 8 and 14).
"""

from statistical.mutants.runner import Mutant

SOURCES, MOVES = "tests/exact/test_tree_mixture_sources.py::", "tests/statistical/test_tree_mixture_moves.py::"
INFINITE, HDP = "tests/exact/test_tree_hdp_sources.py::", "models/tree_hmm/hdp.py"
EM, VB = "tests/unit/test_tree_em.py::", "tests/unit/test_tree_vb.py::"
COMPONENT, ASSIGN, SPLIT = (f"models/tree_hmm/{name}.py" for name in ("component", "assignments", "split_merge"))
PROPOSALS, HYPER, CELLS = (f"models/tree_hmm/{name}.py" for name in ("proposals", "hyper", "cells"))
COLLAPSED, SEQUENTIAL = (f"models/tree_hmm/{name}.py" for name in ("collapsed", "sequential"))
PARAMETERS, VARIATIONAL = (f"models/tree_hmm/{name}.py" for name in ("parameters", "vb"))
DENSITY, RATIO = SOURCES + "test_density_of_proposed_tables[bottom_prior]", SOURCES + "test_ratio_of_a_split"
DRAWN = SOURCES + "test_tables_are_drawn_from_strengths_and_counts[bottom_prior]"
BY_SIZES = SOURCES + "test_a_tree_goes_by_sizes_and_the_concentration"
ALONE = SOURCES + "test_a_tree_alone_takes_its_component_into_the_pool"
SUMMED_OUT = SOURCES + "test_uses_with_tables_summed_out[bottom_prior]"


def moved(name, mode="bottom_prior"):
    return MOVES + f"test_a_move_keeps_the_joint_law[{name}-{mode}]"


def collapsed(name):
    return MOVES + f"test_a_collapsed_move_keeps_the_joint_law[{name}]"


MUTANTS = (
    Mutant(
        "rows drawn from alpha + 2 + counts",
        COMPONENT,
        "out[cell] = rng.standard_gamma(strength + counts[cell])",
        "out[cell] = rng.standard_gamma(strength + 2.0 + counts[cell])",
        DRAWN,
    ),
    Mutant(
        "split-merge without G0 / g",
        SPLIT,
        "+ log_sizes + log_density_ratio",
        "+ log_sizes",
        RATIO,
    ),
    Mutant(
        "gamma instead of gamma / m",
        ASSIGN,
        "math.log(values[CONCENTRATION] / n_auxiliary)",
        "math.log(values[CONCENTRATION])",
        BY_SIZES,
    ),
    Mutant(
        "clusters weighed without their sizes",
        ASSIGN,
        "math.log(sizes[order[place]]) + scores[order[place], tree]",
        "scores[order[place], tree]",
        ALONE,
    ),
    Mutant(
        "a split without the chance of its division",
        SPLIT,
        "total += softplus(-(gain + log_odds))",
        "total += 0.0",
        RATIO,
    ),
    Mutant(
        "a split without the gain of likelihood",
        SPLIT,
        "            total += gain\n",
        "",
        RATIO,
    ),
    Mutant(
        "merges accepted as splits are",
        SPLIT,
        "(log_ratio if is_split else -log_ratio)",
        "log_ratio",
        SOURCES + "test_a_merge_undoes_a_split",
    ),
    Mutant(
        "proposals from the prior more often than their density says",
        SPLIT,
        "if rng.random() >= PRIOR_SHARE:",
        "if rng.random() >= 2.0 * PRIOR_SHARE:",
        SOURCES + "test_proposals_come_from_the_prior_one_time_in_twenty",
    ),
    Mutant(
        "renumberings summed, not averaged",
        PROPOSALS,
        " - math.log(permutations.shape[0])",
        "",
        DENSITY,
    ),
    Mutant(
        "density of proposals without its prior part",
        PROPOSALS,
        " + PRIOR_SHARE * math.exp(-top)",
        "",
        DENSITY,
    ),
    Mutant(
        "renumbered transitions by the node's state only",
        PROPOSALS,
        "uses.transition[position, source, permutation[state]], row.transition[position, other, state]",
        "uses.transition[position, other, permutation[state]], row.transition[position, other, state]",
        DENSITY,
    ),
    Mutant(
        "waiting times of one occurrence for all",
        COMPONENT,
        "rng.standard_gamma(float(mass)) / present_switching",
        "rng.standard_gamma(4.0 * mass) / present_switching",
        moved("tables", "renorm"),
    ),
    Mutant(
        "strengths without the Jacobian",
        HYPER,
        "shape * log_strength - rate * strength",
        "(shape - 2.0) * log_strength - rate * strength",
        moved("strengths"),
    ),
    Mutant(
        "concentration with one cluster too many",
        HYPER,
        "else n_clusters - 1.0",
        "else n_clusters",
        SOURCES + "test_concentration_given_the_number_of_clusters",
    ),
    Mutant(
        "summed out: totals stay",
        CELLS,
        "        totals[row] += 1.0\n",
        "",
        SUMMED_OUT,
    ),
    Mutant(
        "summed out: empty places not used",
        CELLS,
        "                    used[n] = slot * (n_states + 1) + n_states\n                    n += 1",
        "                    used[n] = slot * (n_states + 1) + n_states",
        SUMMED_OUT,
    ),
    Mutant(
        "summed out: proposals always accepted",
        COLLAPSED,
        "if -rng.standard_exponential() < log_new - log_old:",
        "if log_new - log_old < 1e9:",
        SOURCES + "test_ratio_of_a_collapsed_step[bottom_prior]",
    ),
    Mutant(
        "summed out: a new cluster for nothing",
        COLLAPSED,
        "else values[CONCENTRATION]",
        "else 4.0 * values[CONCENTRATION]",
        collapsed("collapsed"),
    ),
    Mutant(
        "sequential split-merge without the reverse proposal",
        SEQUENTIAL,
        " + log_merge - log_split",
        " - log_split",
        collapsed("split-merge"),
    ),
    Mutant(
        "weights of states with a concentration for each",
        HDP,
        "concentration / n_states + tables[state]",
        "concentration + tables[state]",
        INFINITE + "test_weights_are_drawn_from_the_concentration_and_tables",
    ),
    Mutant(
        "a customer more at every table",
        HDP,
        "rng.random() * (mass + seated) < mass",
        "rng.random() * (mass + seated + 1.0) < mass",
        INFINITE + "test_numbers_of_tables",
    ),
    Mutant(
        "proposed weights without their normaliser",
        HDP,
        "        found -= math.lgamma(alone + tables[state]) - math.lgamma(alone)\n",
        "",
        INFINITE + "test_density_of_proposed_weights_and_tables[bottom]",
    ),
    Mutant(
        "concentration of rows counts those without data",
        HDP,
        "prior[0] + n_tables - n_kept",
        "prior[0] + n_tables",
        INFINITE + "test_concentration_of_rows_given_tables",
    ),
    Mutant(
        "EM: the mode without the prior's - 1",
        PARAMETERS,
        "Strengths(*(strength - 1.0 for strength in strengths))",
        "Strengths(*(strength - 0.5 for strength in strengths))",
        EM + "test_golden_runs[unique_links]",
    ),
    Mutant(
        "EM: counts normalised where switching is renormalised",
        PARAMETERS,
        "    if prior.mode == RENORM:\n        exposure",
        "    if prior.mode == RENORM + 1:\n        exposure",
        EM + "test_steps_equal_the_twins[renorm]",
    ),
    Mutant(
        "bound without the divergence of the sticks",
        VARIATIONAL,
        " - stick_divergence(laws.sizes, concentration)",
        "",
        "tests/exact/test_tree_vb_bound.py::test_all_terms[bottom]",
    ),
    Mutant(
        "bound without the divergence of the tables",
        VARIATIONAL,
        " - divergence(prior, counts).sum()",
        "",
        "tests/exact/test_tree_vb_bound.py::test_all_terms[bottom_prior]",
    ),
    Mutant(
        "sticks that forget the concentration",
        VARIATIONAL,
        "concentration + after[1:]",
        "1.0 + after[1:]",
        VB + "test_sticks_equal_draws",
    ),
    Mutant(
        "hierarchy without the concentration",
        "models/tree_hmm/component_tree.py",
        " - np.log(concentration)",
        "",
        "tests/exact/test_tree_vb_bound.py::test_log_ratio_of_a_merge_where_nothing_is_hidden",
    ),
)

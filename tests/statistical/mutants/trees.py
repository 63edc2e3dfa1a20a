"""Planted errors of the engine of tree models, killed by golden numbers, enumeration and the twin.

The missing term of children that were not chosen, the missing share of siblings at one position and the forgotten
factor of empty places are those the specification warns of. Errors of moves and fits stand in `tree_moves`.
"""

from statistical.mutants.runner import Family, Mutant
from statistical.mutants.tree_moves import MUTANTS as MOVES

GOLDEN, DRAWS = "tests/exact/test_tree_hmm_golden.py::", "tests/exact/test_tree_hmm_draws.py::"
UPWARD, DOWNWARD, STATES = (f"models/tree_hmm/{name}.py" for name in ("upward", "downward", "states"))
TABLES, LINKS, PRINTED = (f"models/tree_hmm/{name}.py" for name in ("tables", "links", "printed"))
CASES, SHARED_CASES = GOLDEN + "test_cases[plain]", GOLDEN + "test_cases[unique]"


def hard_counts(mode, kind="unique"):
    return DRAWS + f"test_hard_counts_have_their_exact_means_and_covariances[{mode}-{kind}]"


ENGINE = (
    Mutant(
        "a child that was not chosen has no state",
        DOWNWARD,
        "expected[other] += chosen[other] + rest * beta[other]",
        "expected[other] += chosen[other]",
        CASES,
    ),
    Mutant(
        "siblings at one position count in full",
        UPWARD,
        "factor = share * beta[child, other]",
        "factor = beta[child, other]",
        CASES,
    ),
    Mutant(
        "the factor of empty places forgotten",
        UPWARD,
        "total_log = log_absent_of(",
        "total_log = 0.0 * log_absent_of(",
        CASES,
    ),
    Mutant(
        "empty places not taken from the sum",
        UPWARD,
        "row[state] -= weighted[position - 1, n_states, state]",
        "row[state] -= 0.0",
        CASES,
    ),
    Mutant(
        "switching not renormalised",
        UPWARD,
        "if mode == RENORM and last > first:",
        "if mode == RENORM and last > last:",
        SHARED_CASES,
    ),
    Mutant(
        "a place that is never empty is empty",
        UPWARD,
        "return total if left == 0 else -math.inf",
        "return total",
        GOLDEN + "test_what_is_impossible[unique]",
    ),
    Mutant(
        "differences that are rounding are kept",
        UPWARD,
        "    if is_rounded:\n",
        "    if False:\n",
        GOLDEN + "test_sums_less_what_is_present_keep_what_is_small[bottom_prior-plain]",
    ),
    Mutant(
        "large ratios summed with small ones",
        DOWNWARD,
        "LARGEST_RATIO = 1e6",
        "LARGEST_RATIO = 1e300",
        GOLDEN + "test_sums_less_what_is_present_keep_what_is_small[bottom-plain]",
    ),
    Mutant(
        "an unknown label counted",
        DOWNWARD,
        "    if label >= 0:\n        for state in range(row.size):",
        "    if label >= -1:\n        for state in range(row.size):",
        CASES,
    ),
    Mutant(
        "places present counted without their scale",
        DOWNWARD,
        "n_present[previous - 1] += mass * scale",
        "n_present[previous - 1] += mass",
        GOLDEN + "test_weighted_trees_count_as_in_the_twin[renorm-unique]",
    ),
    Mutant(
        "shared subtrees counted once",
        "models/tree_hmm/engine.py",
        "mass = np.bincount(links.roots, weights, links.labels.size)",
        "mass = np.zeros(links.labels.size); mass[links.roots] = weights",
        GOLDEN + "test_weighted_trees_count_as_in_the_twin[bottom_prior-unique]",
    ),
    Mutant(
        "the paper's rule without its division",
        PRINTED,
        "factor = share * beta[other] * mass / total",
        "factor = share * beta[other]",
        GOLDEN + "test_the_papers_rule",
    ),
    Mutant(
        "plain nodes without their children's shares",
        LINKS,
        "forest.child_shares[entries],",
        "np.ones(entries.size),",
        CASES,
    ),
    Mutant(
        "prior of rows that are never used",
        TABLES,
        "    if shape.mode == RENORM:\n        used[:, -1] = False",
        "    if shape.mode == RENORM:\n        used[:, -1] = True",
        GOLDEN + "test_laws_of_rows[renorm]",
    ),
    Mutant(
        "children that were not chosen are not drawn",
        STATES,
        "            if mass > chosen[place - first]:",
        "            if mass > mass:",
        hard_counts("bottom"),
    ),
    Mutant(
        "drawn switches forget the shares",
        STATES,
        "options[n_options] = share * weighted[position, other, state] * beta[child, other]",
        "options[n_options] = weighted[position, other, state] * beta[child, other]",
        hard_counts("renorm"),
    ),
    Mutant(
        "drawn switches choose empty places where children stand",
        STATES,
        "options[n_options + positions[place] - 1] = 0.0",
        "options[n_options + positions[place] - 1] += 0.0",
        hard_counts("bottom_prior"),
    ),
    Mutant(
        "empty places drawn without being counted",
        STATES,
        "            n_initial[position, bottom] += mass",
        "            n_initial[position, bottom] += 0",
        hard_counts("bottom_prior"),
    ),
    Mutant(
        "multinomial draws with the odds of the first part",
        STATES,
        "            rest -= weights[index]",
        "            rest -= 0.0",
        hard_counts("bottom"),
    ),
    Mutant(
        "the state of a chosen child drawn again",
        STATES,
        "            states[ids[switches[node]]] = option % n_states\n",
        "",
        DRAWS + "test_states_are_drawn_by_their_law[bottom]",
    ),
)

FAMILY = Family(
    "trees",
    (*ENGINE, *MOVES),
    needs=("golden/htmm.json",),
    whole_files=("tests/exact/test_tree_mixture_sources.py", "tests/exact/test_tree_hdp_sources.py"),
)

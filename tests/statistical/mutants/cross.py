"""Planted errors of the CrossCat sampler and of the answers of trees of views.

The sampler's are killed by exact laws of its sources and by deterministic comparisons, those of the trees by
enumeration of all partitions that the trees allow.
"""

from statistical.mutants.runner import Family, Mutant

SOURCES, STATES = "tests/exact/test_crosscat_sources.py::", "tests/unit/test_crosscat_states.py::"
COLUMNS, ROWS, STATE = "models/cross/mcmc_columns.py", "models/cross/mcmc_rows.py", "models/cross/mcmc_state.py"
SPLIT_MERGE, HYPER = "models/cross/mcmc_split_merge.py", "models/cross/mcmc_hyper.py"
ANSWERS = "tests/exact/test_draw_answers.py::"
VIEWS = "models/cross/mcmc_views.py"
SEQUENTIAL = SOURCES + "test_columns[sequential-1-1.0]"
TREES = "tests/exact/test_tree_answers.py::"
NEW_VIEW = "beta * log_new - log_q - math.log(n_fresh)"

MUTANTS = (
    Mutant("-log Q forgotten", COLUMNS, NEW_VIEW, "beta * log_new - math.log(n_fresh)", SEQUENTIAL),
    Mutant(
        "-log M forgotten",
        COLUMNS,
        NEW_VIEW,
        "beta * log_new - log_q",
        SOURCES + "test_columns[sequential-2-1.0]",
    ),
    Mutant(
        "new view not tempered",
        COLUMNS,
        NEW_VIEW,
        "log_new - log_q - math.log(n_fresh)",
        SOURCES + "test_columns[prior-1-0.8]",
    ),
    Mutant("lgamma(n) forgotten", STATE, "total += log_gamma_n[sizes[k]]", "pass", SEQUENTIAL),
    Mutant(
        "missing cell counted",
        "models/cross/mcmc_target.py",
        "codes = np.where(np.isnan(values), 0.0, ",
        "codes = np.where(np.isnan(values), 1.0, ",
        SOURCES + "test_discrete_columns[2]",
    ),
    Mutant(
        "missing Gaussian cell counted in the score of a view",
        COLUMNS,
        "        if not math.isnan(gap):\n",
        "        sums[0, labels[i]] += math.isnan(gap)\n        if not math.isnan(gap):\n",
        STATES + "test_scores_of_a_column_under_labels",
    ),
    Mutant(
        "concentrations swapped",
        COLUMNS,
        "concentrations[ROWS], math.log(concentrations[COLUMNS])",
        "concentrations[COLUMNS], math.log(concentrations[ROWS])",
        SEQUENTIAL,
    ),
    Mutant(
        "column counted in its own view",
        COLUMNS,
        "n_others = widths[v] - 1 if v == own else widths[v]",
        "n_others = widths[v] - (widths[v] == 1 and v == own)",
        SEQUENTIAL,
    ),
    Mutant(
        "own labels not among the proposals",
        COLUMNS,
        "is_own = is_alone and m == 0",
        "is_own = False",
        SEQUENTIAL,
    ),
    Mutant(
        "a column alone moves without a proposal",
        COLUMNS,
        "        if is_alone and not with_new:\n            continue\n",
        "",
        SOURCES + "test_columns_among_existing_views_only",
    ),
    Mutant(
        "swap with the wrong sign",
        "models/cross/mcmc_sampler.py",
        "(betas[k] - betas[k + 1]) * (log_joints[k + 1] - log_joints[k])",
        "(betas[k] - betas[k + 1]) * (log_joints[k] - log_joints[k + 1])",
        SOURCES + "test_swaps",
    ),
    Mutant(
        "Escobar and West without s",
        HYPER,
        "shape + n_blocks - n_fewer",
        "shape + n_blocks",
        STATES + "test_escobar_and_west[0.0-2]",
    ),
    Mutant(
        "slice of a concentration without its Jacobian",
        HYPER,
        "- rate * alpha + groups) + log_alpha",
        "- rate * alpha + groups)",
        STATES + "test_the_density_of_a_concentration",
    ),
    Mutant(
        "hyperprior not tempered",
        HYPER,
        "beta * (log_p + log_prior) + log_jacobian",
        "beta * log_p + log_prior + log_jacobian",
        STATES + "test_the_density_of_a_slice[1-3]",
    ),
    Mutant(
        "row not removed from its own cluster",
        "models/cross/mcmc_lanes.py",
        "stats[cluster, first] - 1.0 + weights",
        "stats[cluster, first] + weights",
        SOURCES + "test_rows[1.0]",
    ),
    Mutant(
        "rows not tempered",
        ROWS,
        "out[k] = beta * (log_n[sizes[view, k]] + out[k])",
        "out[k] = log_n[sizes[view, k]] + out[k]",
        SOURCES + "test_rows[0.8]",
    ),
    Mutant(
        "a row alone cannot stay",
        ROWS,
        "out[own] = out[n_open]  # to stay",
        "out[own] = -np.inf  # to stay",
        SOURCES + "test_rows[1.0]",
    ),
    Mutant(
        "a dropped cluster's number is not given on",
        ROWS,
        "            labels[i] = gone\n",
        "            labels[i] = last\n",
        SOURCES + "test_rows[1.0]",
    ),
    Mutant(
        "proposal ratio of a split with the wrong sign",
        SPLIT_MERGE,
        "law.beta * log_ratio - log_q",
        "law.beta * log_ratio + log_q",
        SOURCES + "test_split_merge[1.0]",
    ),
    Mutant(
        "allocation of a merge drawn, not forced",
        SPLIT_MERGE,
        "law.beta, labels, one, n_rows",
        "law.beta, labels, -1, n_rows",
        SOURCES + "test_split_merge_of_four_rows",
    ),
    Mutant(
        "eq. 11 unweighted",
        "models/cross/tree_answers.py",
        '(math.log(members.size) if form != "paper" else 0.0)',
        "0.0",
        TREES + "test_new_columns[1]",
    ),
    Mutant(
        "a merge of rows as in print, sizes forgotten",
        "models/cross/tree_rows.py",
        "np.append(own, log_rows) - total",
        "np.append(own - np.log(tree.size[kept]), log_rows) - total",
        TREES + "test_new_rows[1]",
    ),
    Mutant(
        "missing cell of a new row counted",
        "models/cross/tree_rows.py",
        "codes = np.where(np.isnan(values), NULL, 0)",
        "codes, values = np.zeros(values.shape, np.int64), np.nan_to_num(values)",
        TREES + "test_new_rows[1]",
    ),
    Mutant(
        "missing cell counted in the trees of rows",
        "models/cross/view_table.py",
        "codes = seen * (most + 1) + successes",
        "codes = (most + 1) + successes",
        TREES + "test_information_of_discrete_pairs",
    ),
    Mutant(
        "cell not left out of its own component",
        "models/cross/tree_cells.py",
        "            column_remove(family, stats[at], 0, own_cells[i], params[0])\n",
        "",
        TREES + "test_cells_of_the_table[1]",
    ),
    Mutant(
        "views of new cells not weighed by what is observed",
        "models/cross/tree_rows.py",
        "return log_one, reach + log_one",
        "return log_one, np.repeat(skeleton.log_weight[:, np.newaxis], log_one.shape[1], axis=1)",
        TREES + "test_missing_cells_of_new_rows_follow_the_conditional_density[1]",
    ),
    Mutant(
        "children of a new column added, not multiplied",
        "models/cross/tree_columns.py",
        "out[children[t, 0]] + out[children[t, 1]] - np",
        "np.logaddexp(out[children[t, 0]], out[children[t, 1]]) - np",
        TREES + "test_new_columns[1]",
    ),
    Mutant(
        "a cell predicted from its own cluster with itself in it",
        "models/cross/draw_cells.py",
        "    if not np.isnan(x):\n        column_remove(",
        "    if np.isnan(x):\n        column_remove(",
        ANSWERS + "test_an_observed_cell_is_left_out_of_its_cluster[categories]",
    ),
    Mutant(
        "draws of a new row's cells not weighed by its density",
        "models/cross/draw_rows.py",
        "    log_draws = draw_log_densities(prior, draws, values) + draws.log_weight[:, None]\n    log_draws -=",
        "    log_draws = np.zeros((1, len(values))) + draws.log_weight[:, None]\n    log_draws -=",
        ANSWERS + "test_missing_cells_of_new_rows[categories]",
    ),
    Mutant(
        "views of a draw not weighed by their columns",
        "models/cross/draw_columns.py",
        "np.logaddexp.reduceat(log_p + np.log(widths), first)",
        "np.logaddexp.reduceat(log_p, first)",
        ANSWERS + "test_a_new_column[categories]",
    ),
    Mutant(
        "views merged without the probability of the rows' allocation",
        VIEWS,
        "beta, log_p, -whole.log_q, widths[a]",
        "beta, log_p, 0.0, widths[a]",
        SOURCES + "test_whole_views[1.0]",
    ),
    Mutant(
        "views that can be divided counted before the merge",
        VIEWS,
        "n_wide = wide_views(widths, n_views) - (widths[a] > 1) - (widths[b] > 1) + 1",
        "n_wide = max(1, wide_views(widths, n_views))",
        SOURCES + "test_whole_views[1.0]",
    ),
    Mutant(
        "pair of views drawn by agreement, weighed as if all were alike",
        VIEWS,
        "math.log(weights[new * (new - 1) // 2 + view] / total)",
        "math.log(1.0 / weights.size)",
        SOURCES + "test_whole_views[0.8]",
    ),
    Mutant(
        "allocation of rows forgets the sizes of clusters",
        "models/cross/mcmc_allocation.py",
        "out[k] = beta * (out[k] + log_n[sizes[k]])",
        "out[k] = beta * out[k]",
        SOURCES + "test_whole_views[1.0]",
    ),
)

FAMILY = Family("cross", MUTANTS, whole_files=("tests/exact/test_crosscat_sources.py",))

"""Planted errors of Bayesian hierarchical clustering."""

from statistical.mutants.runner import Family, Mutant

EXACT, BOUND = "tests/exact/test_bhc_exact.py::", "tests/exact/test_bhc_bound.py::"
SEARCH = "tests/exact/test_bhc_search.py::"
PREDICTIVE, FILTER = "tests/exact/test_bhc_predictive.py::", "tests/exact/test_bhc_filter.py::"
BY_SUBTRACTION = """\
    log_split_prior = state.log_d[id_a] + state.log_d[id_b]
    log_d = log_add(log_prior_one, log_split_prior)
    pi = math.exp(log_prior_one - log_d)
    one = math.log(pi) + log_one - log_prior_one
    split = math.log(1.0 - pi) + apart - log_split_prior if pi < 1.0 else -np.inf
    log_q[id_c] = log_d + log_add(one, split)
"""
MERGED_Q = "    log_q[id_c] = log_add(log_one, apart)\n"
AGGLOMERATE, CELLS = (
    "agglomeration/agglomerate.py",
    "    if math.isnan(x):\n        return n, mean, spread\n    delta = x",
)

MUTANTS = (
    Mutant(
        "1 - pi by subtraction (E4)",
        AGGLOMERATE,
        MERGED_Q,
        BY_SUBTRACTION,
        EXACT + "test_the_weight_of_a_split_is_not_lost_to_rounding",
    ),
    Mutant(
        "lgamma(n) forgotten",
        AGGLOMERATE,
        "log_prior_one, log_union = log_concentration + math.lgamma(sizes[c])",
        "log_prior_one, log_union = log_concentration",
        EXACT + "test_golden_merges[nig_5x3-family]",
    ),
    Mutant(
        "lgamma(n) forgotten in the table of weights",
        "agglomeration/choose.py",
        "log_concentration + gammaln(np.maximum(n, 1.0))",
        "log_concentration + 0.0 * n",
        EXACT + "test_each_merge_has_the_highest_score_on_tied_data[bernoulli]",
    ),
    Mutant(
        "missing cell counted",
        "likelihoods/moments.py",
        CELLS + " - mean\n    mean +=",
        CELLS.replace("return n,", "return n + 1.0,") + " - mean\n    mean +=",
        EXACT + "test_golden_merges[mixed_5x4_missing-family]",
    ),
    Mutant(
        "merged q without the sum",
        AGGLOMERATE,
        MERGED_Q,
        "    log_q[c] = log_one\n",
        EXACT + "test_golden_merges[nig_5x3-family]",
    ),
    Mutant(
        "log d of a merge without the split",
        AGGLOMERATE,
        "log_add(log_prior_one, state.log_d[id_a] + state.log_d[id_b])",
        "log_prior_one",
        EXACT + "test_golden_merges[nig_5x3-family]",
    ),
    Mutant(
        "concentration forgotten at leaves",
        "agglomeration/exact.py",
        "log_q[i] = log_concentration + log_marginal(prior, rows[i])",
        "log_q[i] = log_marginal(prior, rows[i])",
        EXACT + "test_golden_merges[mixed_5x4_missing-family]",
    ),
    Mutant(
        "ties to the largest id",
        AGGLOMERATE,
        "best[p] < best[winner]",
        "best[p] > best[winner]",
        EXACT + "test_golden_merges[bern_6x4-family]",
    ),
    Mutant(
        "constant of the bound with the wrong sign",
        "agglomeration/learn.py",
        "log_q_root + math.lgamma(concentration) - math.lgamma(n + concentration)",
        "log_q_root - math.lgamma(concentration) + math.lgamma(n + concentration)",
        EXACT + "test_golden_fit[bern_6x4]",
    ),
    Mutant(
        "measure of the encoding forgotten in the evidence",
        "models/bhc/fit.py",
        " + bound.log_measure",
        "",
        EXACT + "test_golden_estimator[nig_5x3]",
    ),
    Mutant(
        "measure of the encoding forgotten in the density",
        "estimators/clusterer.py",
        "self._log_density(values) + log_measure",
        "self._log_density(values)",
        PREDICTIVE + "test_golden_new_row[nig_5x3]",
    ),
    Mutant(
        "predictive without n_k",
        "agglomeration/predictive.py",
        "weight = log_open[node] + math.log(size[node])",
        "weight = log_open[node]",
        PREDICTIVE + "test_golden_new_row[bern_6x4]",
    ),
    Mutant(
        "new cluster left out of the probabilities",
        "agglomeration/predictive.py",
        "scores = np.column_stack([inside, new])",
        "scores = np.column_stack([inside, new - 700.0])",
        PREDICTIVE + "test_cluster_probabilities_equal_the_twin[bern_6x4]",
    ),
    Mutant(
        "residual dropped from the filter",
        "agglomeration/splits.py",
        'residual = settings.split == "cut" and settings.filter_rule != "paper"',
        "residual = False",
        FILTER + "test_rows_go_to_the_best_group_or_to_the_residual[0.5]",
    ),
    Mutant(
        "filter without n_k",
        "agglomeration/splits.py",
        "log_omega[below] - log_open + np.log(tree.size[below])",
        "log_omega[below] - log_open",
        FILTER + "test_weights_inside_a_group_sum_to_its_size",
    ),
    Mutant(
        "prior forgotten in the gradient by the concentration",
        "agglomeration/learn.py",
        "total += concentration / (concentration + i)",
        "pass",
        BOUND + "test_golden_derivative_by_the_concentration[bern_6x4]",
    ),
    Mutant(
        "sizes forgotten in the tempered order",
        "agglomeration/scorers.py",
        "score *= math.sqrt((n_a + n_b) / (n_a * n_b))",
        "pass",
        SEARCH + "test_tempered_merges_are_the_twins[light-0.2-gaussian]",
    ),
    Mutant(
        "row not taken out of its cluster before it is reassigned",
        "agglomeration/reassign.py",
        "top = log_size[sizes[own] - 1] + score[n_used]",
        "top = log_size[sizes[own]] + score[own]",
        SEARCH + "test_a_row_ends_where_no_other_cluster_explains_it_better",
    ),
    Mutant(
        "only one end of a range looked at for the merge between two rows",
        "agglomeration/regrow.py",
        "np.maximum(layout.latest[level, first], layout.latest[level, last - (1 << level)])",
        "layout.latest[level, first]",
        SEARCH + "test_induced_trees_keep_the_order_in_which_rows_met",
    ),
)

FAMILY = Family(
    "bhc",
    MUTANTS,
    needs=("golden/bhcc.json",),
    # Scores of empty places overflow on purpose; only plain Python says so.
    ignored_warnings=("ignore:overflow:RuntimeWarning",),
)

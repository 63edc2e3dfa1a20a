"""Planted errors of the mixture's sampler, killed by exact laws of its sources and by deterministic comparisons."""

from statistical.mutants.runner import Family, Mutant

SOURCES = "tests/exact/test_nrm_sources.py::"
STATES = "tests/unit/test_nrm_states.py::"
GIBBS, ANCHORS, LAUNCH = "models/nrm/gibbs.py", "models/nrm/anchors.py", "models/nrm/launch.py"
SPLIT_MERGE, PROCESS = "models/nrm/split_merge.py", "models/nrm/process.py"
HYPER, HYPER_TEST = "models/nrm/hyper.py", "tests/unit/test_nrm_hyper.py::"
SLICE_TEST = HYPER_TEST + "test_compiled_slice_steps_draw_what_plain_python_draws"
FACTOR_TEST = SOURCES + "test_priors_with_a_factor_of_the_number_of_clusters"
GIBBS_TEST = SOURCES + "test_gibbs_of_one_point[nggp-1]"


def split_merge_test(law):
    return SOURCES + f"test_split_merge[{law}-nggp-near-0]"


MUTANTS = (
    Mutant(
        "count not removed",
        GIBBS,
        "without_point + log_kappa[sizes[own]] - log_kappa[sizes[own] - 1]",
        "without_point + log_kappa[sizes[own] + 1] - log_kappa[sizes[own]]",
        GIBBS_TEST,
    ),
    Mutant(
        "point not removed",
        GIBBS,
        "fill_lane_without(scorer, rows, lanes, own, n_clusters, x)",
        "fill_lane(scorer, rows[own], lanes, n_clusters)",
        GIBBS_TEST,
    ),
    Mutant("new-cluster term forgotten", GIBBS, "opening = log_kappa[1] + alone[i]", "opening = alone[i]", GIBBS_TEST),
    Mutant(
        "factor of the number of clusters forgotten",
        GIBBS,
        "opening + log_v[n_clusters + 1] - log_v[n_clusters]",
        "opening",
        FACTOR_TEST + "[mfm-gibbs]",
    ),
    Mutant(
        "factor of a point alone forgotten",
        GIBBS,
        "            opening += log_v[n_clusters] - log_v[n_clusters - 1]\n",
        "",
        FACTOR_TEST + "[negative-gibbs]",
    ),
    Mutant(
        "factor of a split forgotten",
        ANCHORS,
        " + weights.log_v[n_merged + 1] - weights.log_v[n_merged]",
        "",
        FACTOR_TEST + "[negative-uniform]",
    ),
    Mutant(
        "a point alone cannot stay",
        GIBBS,
        "scores[own] = opening  # to stay",
        "scores[own] = -np.inf  # to stay",
        GIBBS_TEST,
    ),
    Mutant(
        "a dropped cluster's number is not given on",
        GIBBS,
        "            labels[i] = gone\n",
        "            labels[i] = last\n",
        STATES + "test_very_few_rows[3]",
    ),
    Mutant(
        "proposal ratio with the wrong sign",
        ANCHORS,
        "log_r = log_ratio - log_cut - log_q",
        "log_r = log_ratio - log_cut + log_q",
        split_merge_test("uniform"),
    ),
    Mutant(
        "log q left out",
        ANCHORS,
        "log_r = log_ratio - log_cut - log_q",
        "log_r = log_ratio - log_cut",
        split_merge_test("tree"),
    ),
    Mutant(
        "one picker only",
        SPLIT_MERGE,
        "        total = log_add(total, together -",
        "        total = (together -",
        split_merge_test("cluster"),
    ),
    Mutant(
        "one picker only in V1",
        SPLIT_MERGE,
        "        total = log_add(total, together -",
        "        total = (together -",
        split_merge_test("v1"),
    ),
    Mutant(
        "term of `balanced` dropped",
        ANCHORS,
        "    if law == BALANCED:\n",
        "    if False:\n",
        split_merge_test("balanced"),
    ),
    Mutant(
        "choice of the cut dropped",
        ANCHORS,
        "return log_cut_choice(log_d, first, last, keys, n_members, low, high)",
        "return 0.0",
        split_merge_test("cluster"),
    ),
    Mutant(
        "leaves below the cut forgotten",
        SPLIT_MERGE,
        " / total) - math.log(float(n_left * n_right))",
        " / total)",
        split_merge_test("cluster"),
    ),
    Mutant(
        "anchors of a merge forgotten",
        ANCHORS,
        "log_r -= math.log(float(part_sizes[0] * part_sizes[1]))",
        "log_r -= 0.0",
        split_merge_test("cluster"),
    ),
    Mutant(
        "one cluster is always split, not in the ratio",
        ANCHORS,
        "(0.0 if n_merged == 1 else math.log(options.p_split))",
        "math.log(options.p_split)",
        split_merge_test("v1"),
    ),
    Mutant(
        "launch looks at labels",
        ANCHORS,
        "    lanes = side_lanes(scorer, rows)\n",
        "    for at in range(0 if is_split else n_members):\n"
        "        clear_side = labels[members[at]] != labels[members[anchors[0]]]\n"
        "        if (sides[at] == 1) != clear_side:\n"
        "            old, new = sides[at], 1 if clear_side else 0\n"
        "            for s in range(rows.shape[1]):\n"
        "                rows[2, s] = rows[old, s]\n"
        "            from bayesgrove.likelihoods.contract import add, remove\n"
        "            remove(scorer.prior, rows[old], values[members[at]])\n"
        "            add(scorer.prior, rows[new], values[members[at]])\n"
        "            sizes[old] -= 1\n"
        "            sizes[new] += 1\n"
        "            sides[at] = new\n"
        "    lanes = side_lanes(scorer, rows)\n",
        split_merge_test("uniform"),
    ),
    Mutant(
        "wrong side's size in a step of kappa",
        LAUNCH,
        "leave = out[0, other] + log_kappa[sizes[other] + 1] - log_kappa[sizes[other]]",
        "leave = out[0, other] + log_kappa[sizes[own] + 1] - log_kappa[sizes[own]]",
        split_merge_test("uniform"),
    ),
    Mutant(
        "early rejection by the wrong bound",
        ANCHORS,
        "if -log_ratio < log_t:",
        "if log_ratio < log_t:",
        split_merge_test("uniform"),
    ),
    Mutant(
        "rejection inside the scan by the wrong bound",
        ANCHORS,
        "else log_t + log_ratio - log_cut\n",
        "else log_t - log_ratio + log_cut\n",
        split_merge_test("cluster"),
    ),
    Mutant(
        "forced side wrong",
        ANCHORS,
        "forced[at] = 0 if labels[members[at]] == first_cluster else 1",
        "forced[at] = 1 if labels[members[at]] == first_cluster else 0",
        split_merge_test("uniform"),
    ),
    Mutant(
        "merge not forced",
        ANCHORS,
        "if is_recorded and not is_split:",
        "if is_recorded and is_split and not is_split:",
        split_merge_test("jain-neal"),
    ),
    Mutant(
        "partner drawn evenly",
        SPLIT_MERGE,
        "            out[k] -= log_phi + ",
        "            out[k] = 0.0 * ",
        split_merge_test("v1"),
    ),
    Mutant(
        "Jacobian missing in v",
        PROCESS,
        "return n_items * v - (n_items",
        "return (n_items - 1) * v - (n_items",
        STATES + "test_log_kappa_and_densities_of_the_generalised_gamma[0.5-5.0]",
    ),
    Mutant(
        "sigma's term missing in the density of v",
        PROCESS,
        "(n_items - n_clusters * sigma) * plus",
        "n_items * plus",
        STATES + "test_log_kappa_and_densities_of_the_generalised_gamma[0.5-5.0]",
    ),
    Mutant(
        "alpha forgets K",
        PROCESS,
        "rng.gamma(process.alpha_shape + sizes.size) / (process.alpha_rate + math.expm1",
        "rng.gamma(process.alpha_shape) / (process.alpha_rate + math.expm1",
        STATES + "test_alpha_is_drawn_from_its_gamma_conditional[nggp]",
    ),
    Mutant(
        "alpha of the Dirichlet process forgets w",
        PROCESS,
        "(process.alpha_rate - log_w)",
        "process.alpha_rate",
        STATES + "test_alpha_is_drawn_from_its_gamma_conditional[dp]",
    ),
    Mutant(
        "sigma's hyperprior forgotten",
        PROCESS,
        "(process.sigma_a + n_clusters - 1.0)",
        "(n_clusters - 0.0)",
        STATES + "test_density_of_sigma_equals_the_twin",
    ),
    Mutant(
        "union's log marginal not kept after a merge",
        SPLIT_MERGE,
        "    log_marginals[one] = log_marginal_union\n",
        "",
        SOURCES + "test_split_merge[uniform-dp-near-0]",
    ),
    Mutant(
        "a slice shrinks on the wrong side",
        HYPER,
        "(step, high) if step < 0.0 else (low, step)",
        "(step, high) if step > 0.0 else (low, step)",
        SLICE_TEST + "[diagonal]",
    ),
    Mutant("log factors without a hyperprior", HYPER, " - 0.5 * squares / PRIOR_SD**2", "", SLICE_TEST + "[words]"),
    Mutant(
        "a factor goes to another number of its family",
        "likelihoods/columns.py",
        "HYPER_PLACES[family, k]",
        "k",
        SLICE_TEST + "[mixed]",
    ),
)

FAMILY = Family("nrm", MUTANTS, whole_files=("tests/exact/test_nrm_sources.py",))

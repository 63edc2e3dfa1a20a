"""Every figure on speed, memory, growth and mixing that was asked for, as data: what, where said, how it is read."""

from benchmarks.figures import AT_LEAST, AT_MOST, Figure
from benchmarks.first_fit import MODELS

BHC, NRM = "specification of BHC, 13", "issue 3"
CROSS, NESTED, TREES = "issue 5", "specification of BHMC, 15.6, item 16", "specification of tree mixtures, 9"
HOUSE = "the house's bar"
BINARY, MIXED, ZOO = "100 x 200 binary", "1,000 x 100 mixed", "zoo, 101 x 16"
LACE = "pylace, its best schedule"
TWENTY, FIFTY = "10000 x 10, 20 clusters", "10000 x 10, 50 clusters"
ALIKE = ("separated", "outliers", "skewed")
MILLION = {"who": "ours", "n": 1_000_000}

EXACT = (
    Figure("BHC, 2,000 x 10, over fastcluster's average linkage", "issue 2", "bhc",
           {"who": "fastcluster average", "n": 2_000}, "ours_over_this", AT_MOST, 1.0),
    Figure("BHC, 10,000 x 10, over fastcluster's average linkage", "issue 2", "bhc",
           {"who": "fastcluster average", "n": 10_000}, "ours_over_this", AT_MOST, 0.5),
    Figure("BHC, 2,000 x 10", BHC, "bhc", {"who": "ours", "n": 2_000}, "cpu_seconds", AT_MOST, 0.04, "CPU s",
           beside="over_floor"),
    Figure("BHC, 20,000 x 10, one core", "issue 2", "bhc", {"n": 20_000}, "cpu_seconds", AT_MOST, 5.0, "CPU s",
           beside="over_floor"),
    Figure("BHC, 20,000 x 10, memory above the data", "issue 2", "bhc", {"n": 20_000}, "megabytes_above_data",
           AT_MOST, 100.0, "MB"),
    Figure("BHC, growth from 10,000 to 20,000 rows", "issue 2", "bhc", {"n": 20_000}, "exponent", AT_MOST, 2.1,
           "(power)"),
)  # fmt: skip
RANDOMIZED = (
    *(
        Figure(f"RandomizedBHC, a million rows, {kind}", BHC, "randomized-bhc", {**MILLION, "kind": kind}, "seconds",
               AT_MOST, 15.0 if kind == "overlapping" else 10.0, "s", beside="cpu_seconds")
        for kind in (*ALIKE, "overlapping")
    ),
    *(
        Figure(f"RandomizedBHC, a million rows, {kind}, over the floor", "issue 2", "randomized-bhc",
               {**MILLION, "kind": kind}, "over_floor", AT_MOST, 4.0)
        for kind in (*ALIKE, "nested", "overlapping")
    ),
    Figure("RandomizedBHC, a million rows, most memory above the data", "issue 2", "randomized-bhc", MILLION,
           "megabytes_above_data", AT_MOST, 400.0, "MB"),
    Figure("RandomizedBHC, largest growth from 1e4 to 1e6 rows", "issue 2", "randomized-bhc", MILLION, "exponent",
           AT_MOST, 1.10, "(power)"),
    Figure("RandomizedBHC, depth", "issue 2", "randomized-bhc", MILLION, "depth", AT_MOST, 6.0),
    Figure("RandomizedBHC, 10,000 rows, least ARI with exact BHC", "issue 2", "randomized-bhc",
           {"who": "ours", "n": 10_000, "kind": ALIKE}, "ari_with_exact", AT_LEAST, 0.99),
    Figure("RandomizedBHC, 10,000 rows, bound per row above exact BHC's", "issue 2", "randomized-bhc",
           {"who": "ours", "n": 10_000, "kind": ALIKE}, "bound_per_row_above_exact", AT_LEAST, -0.01, "nats"),
    Figure("RandomizedBHC, 10,000 nested rows, the same, rounding aside", "issue 2", "randomized-bhc",
           {"who": "ours", "n": 10_000, "kind": "nested"}, "bound_per_row_above_exact", AT_LEAST, -1e-9, "nats"),
    Figure("RandomizedBHC on two Dask workers, 5,000,000 x 10, time per core over one process", "issue 8",
           "cluster", {"n": 5_000_000}, "clock_per_core_over_one", AT_MOST, 1.3, beside="cpu_over_one"),
)  # fmt: skip
WAITING = (
    Figure("import bayesgrove", "issue 2", "startup", {"what": "import bayesgrove"}, "cpu_seconds", AT_MOST, 0.5,
           "CPU s", beside="wall_seconds"),
    Figure("first fit of BHC and RandomizedBHC, warm cache, without imports", "issue 2", "startup",
           {"model": ("BHC", "RandomizedBHC"), "cache": "warm"}, "fit_seconds", AT_MOST, 1.0, "s"),
    *(
        Figure(f"first fit of {model}, nothing compiled", HOUSE, "startup", {"model": model, "cache": "cold"},
               "wall_seconds", AT_MOST, 30.0, "s", beside="main_cpu_seconds")
        for model in MODELS
    ),
    Figure("bayesgrove demo, nothing compiled", HOUSE, "startup", {"part": "demo"}, "wall_seconds", AT_MOST, 180.0,
           "s", beside="cpu_seconds"),
    Figure("python -m papers --all --quick", "issue 8", "startup", {"part": "papers"}, "wall_seconds", AT_MOST,
           900.0, "s", beside="cpu_seconds"),
    Figure("page of a fit of 1,000 rows", "issue 4", "report", {"n": 1_000}, "megabytes", AT_MOST, 1.5, "MB"),
    Figure("page of 20,000 leaves ready in a browser", "issue 4", "report", {"n": 20_000}, "browser_cpu_seconds",
           AT_MOST, 1.0, "CPU s"),
)  # fmt: skip
MIXTURES = (
    *(
        Figure(f"time to target, {count} {kind} clusters, {peer} over ours", NRM, "mixtures",
               {"part": "target", "data": f"10000 x 10 {kind}", "clusters": count, "who": peer}, "this_over_ours",
               AT_LEAST, limit)
        for peer, count, limit in (
            (LACE, 20, 20.0), (LACE, 50, 20.0),
            ("BayesianGaussianMixture(100)", 20, 10.0), ("BayesianGaussianMixture(100)", 50, 5.0),
        )
        for kind in ("separated", "overlapping")
    ),
    Figure("Gibbs sweep, largest ratio to the floor", NRM, "mixtures", {"part": "sweep"}, "over_floor", AT_MOST, 2.5),
    Figure("Gibbs sweep, 10,000 x 10, 50 clusters", BHC, "mixtures",
           {"part": "sweep", "data": FIFTY, "who": "our Gibbs sweep"}, "cpu_seconds", AT_MOST, 0.010, "CPU s",
           beside="over_floor"),
    *(
        Figure(f"Gibbs sweep, 10,000 x 10, 50 clusters, pylace's {kernel} over it", BHC, "mixtures",
               {"part": "sweep", "data": FIFTY, "who": f"pylace's {kernel} sweep"}, "this_over_ours", AT_LEAST, limit,
               beside="clusters")
        for kernel, limit in (("gibbs", 15.0), ("slice", 3.0))
    ),
    Figure("effective draws of the log joint per second on toy1300, tree-guided over Gibbs", NRM, "mixtures",
           {"part": "mixing", "who": "tree-guided", "scalar": "log_joint", "start": "burnt in"}, "this_over_gibbs",
           AT_LEAST, 3.0),
    Figure("share of storing in the time of sweeps", NRM, "mixtures", {"part": "store"}, "share_of_sweep_time",
           AT_MOST, 0.03),
    Figure("growth of memory over 100,000 draws", NRM, "mixtures", {"part": "store", "sweeps": 100_000}, "growth",
           AT_MOST, 0.05),
)  # fmt: skip
VIEWS = (
    *(
        Figure(f"time to views, {data}, pylace's best schedule over ours", CROSS, "cross",
               {"part": "cells", "data": data, "who": LACE}, "time_over_ours", AT_LEAST, limit)
        for data, limit in ((BINARY, 5.0), (MIXED, 3.0))
    ),
    *(
        Figure(f"score of hidden cells, {data}, least lead over pylace", CROSS, "cross",
               {"part": "cells", "data": data, "who": LACE}, "least_ahead_per_cell", AT_LEAST, -0.003, "nats per cell")
        for data in (BINARY, MIXED, ZOO)
    ),
    *(
        Figure(f"accuracy of hidden cells, {data}, lead over pylace", "specification of BHC, 9.6", "cross",
               {"part": "cells", "data": data, "who": LACE}, "ours_ahead_in_accuracy", AT_LEAST, -0.01)
        for data in (BINARY, MIXED, ZOO)
    ),
    *(
        Figure(f"states near the best log joint, {data}", CROSS, "cross",
               {"part": "cells", "data": data, "who": "CrossCat"}, "near_best", AT_LEAST, 0.95, "of them")
        for data in (BINARY, MIXED, ZOO)
    ),
    *(
        Figure(f"CrossCat sweep, {data}", BHC, "cross", {"part": "cells", "data": data, "who": "CrossCat"},
               "ms_per_sweep", AT_MOST, limit, "ms")
        for data, limit in ((BINARY, 1.0), (MIXED, 8.0))
    ),
    *(
        Figure(f"CrossCat sweep, {data}, pylace's {schedule} over ours", "specification of BHC, 9.6", "cross",
               {"part": "cells", "data": data, "who": f"pylace, {schedule}"}, "sweep_over_ours", AT_LEAST, limit)
        for data, schedule, limit in (
            (BINARY, "slice + sams", 5.0), (MIXED, "slice + sams", 2.0), (MIXED, "gibbs + sams", 8.0)
        )
    ),
)  # fmt: skip
SEARCHES = (
    Figure("exact search for views, 100 x 200, over the floor", CROSS, "cross",
           {"part": "searches", "data": "100 x 200 Binomial(50)", "search": "exact"}, "over_floor", AT_MOST, 2.0),
    Figure("exact search for views, 100 x 200", BHC, "cross",
           {"part": "searches", "data": "100 x 200 Binomial(50)", "search": "exact"}, "cpu_seconds", AT_MOST, 5.0,
           "CPU s"),
    Figure("screening, 100 x 200", BHC, "cross", {"part": "searches", "search": "screen"}, "cpu_seconds", AT_MOST, 1.0,
           "CPU s"),
    *(
        figure
        for kind, seconds, agreement in (("Binomial(50)", 0.6, 1.0), ("Bernoulli", 0.3, 0.93))
        for where in [{"part": "searches", "data": f"100 x 200 {kind}", "search": "polish"}]
        for figure in (
            Figure(f"many starts, 100 x 200 {kind}, exact search over it", CROSS, "cross", where, "exact_over_this",
                   AT_LEAST, 8.0),
            Figure(f"many starts, 100 x 200 {kind}", BHC, "cross", where, "cpu_seconds", AT_MOST, seconds, "CPU s"),
            Figure(f"many starts, 100 x 200 {kind}, within 1 nat of exact", CROSS, "cross", where, "within_1_nat",
                   AT_LEAST, 0.8, "of tables"),
            Figure(f"many starts, 100 x 200 {kind}, least ARI of views", CROSS, "cross", where, "least_ari", AT_LEAST,
                   agreement),
        )
    ),
    Figure("many starts, growth with the columns", BHC, "cross", {"part": "growth"}, "exponent", AT_MOST, 1.1,
           "(power)"),
    Figure("many starts, Arcene 200 x 10,000", BHC, "cross",
           {"part": "wide", "data": "Arcene 200 x 10000, median split"}, "cpu_seconds", AT_MOST, 60.0, "CPU s"),
    Figure("RandomizedBHCC, 20,000 x 50 mixed, a fifth missing, memory", CROSS, "cross",
           {"part": "long", "data": "20000 x 50 mixed, a fifth missing"}, "peak_megabytes", AT_MOST, 2_000.0, "MB",
           beside="cpu_seconds"),
)  # fmt: skip
HIERARCHIES = (
    *(
        figure
        for strength, seconds, ratio, rate in ((0.0, 5.0, 80.0, 1_000.0), (0.01, 8.0, 200.0, 600.0))
        for figure in (
            Figure(f"15,000 sweeps on Animals, C = {strength:g}", NESTED, "nested",
                   {"part": "sweeps", "data": "Animals 33 x 7", "C": strength}, "seconds_of_15000", AT_MOST, seconds,
                   "CPU s", beside="over_floor"),
            Figure(f"sweeps on Animals, C = {strength:g}, the slow twin over ours", NESTED, "nested",
                   {"part": "sweeps", "data": "Animals 33 x 7", "C": strength}, "twin_over_ours", AT_LEAST, ratio),
            Figure(f"sweeps on Fashion, C = {strength:g}", NESTED, "nested",
                   {"part": "sweeps", "data": "Fashion 100 x 10", "C": strength}, "sweeps_per_second", AT_LEAST, rate,
                   "per CPU s"),
        )
    ),
    *(
        figure
        for n, limit in ((1_000, 10.0), (10_000, 100.0))
        for figure in (
            Figure(f"BHMC sweep, {n} rows, C = 0", NESTED, "nested", {"part": "rows", "rows": n, "C": 0.0},
                   "ms_per_sweep", AT_MOST, limit, "ms"),
            Figure(f"RBHMC sweep, {n} rows, C = .001 over C = 0", NESTED, "nested",
                   {"part": "rows", "rows": n, "C": 0.001}, "ms_per_sweep", AT_MOST, 4.0, over={"C": 0.0}),
        )
    ),
    Figure("BHMC, time per row, 10,000 over 1,000 rows", NESTED, "nested", {"part": "rows", "rows": 10_000, "C": 0.0},
           "us_per_row", AT_MOST, 2.0, over={"rows": 1_000}),
    *(
        Figure(f"growth of a sweep to 100,000 rows, C = {strength:g}", "issue 6", "nested",
               {"part": "rows", "rows": 100_000, "C": strength}, "exponent", AT_MOST, 1.1, "(power)")
        for strength in (0.0, 0.001)
    ),
    Figure("effective draws of level 1 per second, Gibbs and regraft over the paper's move", "issue 6", "nested",
           {"part": "mixing", "who": "Gibbs + regraft", "scalar": "n_level_1"}, "over_paper_move", AT_LEAST, 10.0),
)  # fmt: skip
FORESTS = (
    Figure("E-step, the per-node NumPy twin over ours, least", "issue 7", "trees", {"part": "estep"}, "twin_over_ours",
           AT_LEAST, 100.0),
    Figure("E-step over the floor, largest", "issue 7", "trees", {"part": "estep"}, "over_floor", AT_MOST, 2.5,
           beside="over_arithmetic"),
    Figure("E-step on INEX05, C = 4", TREES, "trees", {"part": "estep", "data": "INEX05", "C": 4},
           "million_nodes_per_s", AT_LEAST, 3.0, "million nodes per CPU s"),
    Figure("E-step on INEX05, plain over shared subtrees, least", "issue 7", "trees",
           {"part": "dag", "data": "INEX05"}, "plain_over_dag", AT_LEAST, 2.0),
    Figure("E-step, growth to 10,000,000 nodes", "issue 7", "trees", {"part": "growth", "C": 4}, "exponent", AT_MOST,
           1.1, "(power)", beside="bytes_per_node"),
    *(
        Figure(what, said, "trees", {"part": "fit", "what": what}, "seconds", AT_MOST, limit, "CPU s")
        for what, said, limit in (
            ("INEX05: variational start, C=8, T=30, 40 iterations", "issue 7", 10.0),
            ("INEX05: whole infinite fit, C=8, 50 sweeps, hierarchy", "issue 7", 60.0),
            ("INEX05: 30 iterations of EM, T=22, C=4", TREES, 30.0),
            ("INEX05: the paper's procedure, C=2, 30 sweeps", TREES, 60.0),
            ("INEX05: distances and silhouette of the test set", TREES, 10.0),
        )
    ),
)  # fmt: skip
FIGURES = (*EXACT, *RANDOMIZED, *WAITING, *MIXTURES, *VIEWS, *SEARCHES, *HIERARCHIES, *FORESTS)

"""Parts of the tree experiments: settings, scores, tables, verdicts; fits on a few small trees."""

import numpy as np
import pytest
from papers import htmm_claims as judge
from papers import htmm_inex05, htmm_synthetic
from papers import htmm_published as published
from papers import htmm_runs as runs
from papers import htmm_tables as tables
from papers.htmm_runs import HOW, Method, Run

from bayesgrove import metrics
from bayesgrove.core.rng import generator
from bayesgrove.datasets import make_asymmetric_trees

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def case():
    train, test = (make_asymmetric_trees(n, random_state=seed) for n, seed in ((8, 1), (4, 2)))
    return runs.TreeCase("small", train, test, train.targets, test.targets)


def scores(test=0.5, clusters=3, ari=1.0, n_runs=5, spread=0.0):
    """Made-up numbers of some runs."""
    values = np.asarray(test, float) + spread * np.arange(n_runs)
    return runs.Scores(
        values, values, np.full(n_runs, ari), np.full(n_runs, clusters), np.full(n_runs, clusters), np.ones(n_runs)
    )


def trials(kinds, value):
    """Trials whose scores a function gives for each method."""
    methods = tables.methods_of(kinds, range(10), (1, 1.2, 1.5, 2, 3, 5, 6, 7, 11, 22))
    return tables.Trials({}, {method: value(method) for method in methods})


def verdicts(*claims):
    return [claim.verdict for claim in claims]


# Published numbers


def test_published_cells_stand_where_they_are_printed():
    assert published.INF_SYNTHETIC[4, 1.5] == (0.51, 0.0)
    assert published.MIX_SYNTHETIC[6, 7] == (0.47, 0.06)
    assert published.MIX_INEX[2, 22] == (0.20, 0.04)
    assert published.INF_INEX[4, 1.2] == (0.20, 0.04)
    assert published.INF_CLUSTERS[8, 1.0] == (45.80, 35.81)
    assert published.MIX_CLUSTERS[8, 22] == (2.80, 0.45)
    assert str(published.ROOT[5, 1]) == "\N{MINUS SIGN}0.02 (0.03)"
    assert max(published.INF_INEX.values()).mean == published.BEST_INEX


def test_methods_are_those_of_the_tables_as_printed_and_exact():
    full = htmm_synthetic.FULL
    found = tables.methods_of(htmm_synthetic.PUBLISHED, full.states, full.settings)
    assert len(found) == 2 * (3 + 9 + 9)
    assert found.count(htmm_synthetic.BEST) == 1
    inex = tables.methods_of(htmm_inex05.SILHOUETTES, htmm_inex05.FULL.states, htmm_inex05.FULL.settings)
    assert len(inex) == 2 * (9 + 12)
    quick = tables.methods_of(htmm_synthetic.PUBLISHED, htmm_synthetic.QUICK.states, htmm_synthetic.QUICK.settings)
    assert {method.kind for method in quick} == {"root", "mix", "inf"}
    assert htmm_synthetic.BEST in quick


def test_blocks_of_similar_classes():
    assert htmm_inex05.blocks_of(np.arange(1, 12)).tolist() == [0, 1, 1, 2, 2, 3, 4, 3, 4, 3, 3]


# Fits


def test_draws_by_rows():
    drawn = runs.draw_rows(generator(0), np.tile([[0.2, 0.0, 0.8], [1.0, 0.0, 0.0]], (500, 1)))
    assert drawn[1::2].max() == 0
    assert 1 not in drawn
    assert np.mean(drawn[::2] == 2) == pytest.approx(0.8, abs=0.08)


@pytest.mark.parametrize("kind", ["root", "mix", "inf"])
@pytest.mark.parametrize("how", HOW)
def test_fits_of_the_paper(case, kind, how):
    found = runs.fit(case, Method(kind, how, 2, 1.5 if kind == "inf" else 3), 0)
    assert (found.train.size, found.test.size) == (24, 12)
    assert found.trace.size == runs.N_ITERATIONS + (kind != "inf")
    again = runs.fit(case, Method(kind, how, 2, 1.5 if kind == "inf" else 3), 0)
    assert np.array_equal(found.test, again.test)
    own = runs.score(case, [found])
    assert own.clusters[0] == np.unique(found.train).size
    if own.test_clusters[0] > 1:
        assert own.test[0] == metrics.tree_silhouette(case.test, found.test, "paper")


@pytest.mark.slow
def test_our_chains_leave_one_cluster(case):
    trace = runs.from_one_cluster(case, 2, 6, 0)
    assert trace.shape == (6,)
    assert trace.max() > 0.5


def test_hierarchy_of_a_sparse_start(case):
    found = runs.sparse_hierarchy(case, 2, 0.1, 0)
    assert found.components.shape == (12,)
    assert sorted(found.by_size) == list(range(2, found.log_ratios.size + 2))
    rows = htmm_inex05.cut_rows(case, found, 0)
    assert rows[0]["log_ratio"] is None
    assert [row["clusters"] for row in rows] == sorted(found.by_size, reverse=True)


# Tables


def test_rows_beside_the_paper():
    found = trials(htmm_synthetic.PUBLISHED, lambda method: scores(0.4, spread=0.01))
    rows = tables.silhouette_rows(htmm_synthetic.PUBLISHED, found)
    assert len(rows) == 21
    cell = next(row for row in rows if (row["model"], row["C"], row["setting"]) == ("INF", 4, "alpha=1.5"))
    assert cell["paper"] == "0.51 (0.00)"
    assert cell["printed"] == pytest.approx(0.42)
    assert cell["exact_sd"] == pytest.approx(0.01 * np.sqrt(2.5))
    assert cell["exact_clusters"] == "3 3 3 3 3"
    counted = tables.cluster_rows(htmm_inex05.CLUSTERS, trials(htmm_inex05.CLUSTERS, lambda method: scores()))
    assert (len(counted), counted[0]["paper"], counted[0]["printed"]) == (21, "1.60 (0.55)", 3.0)


def test_runs_with_one_cluster_are_left_out_of_means():
    assert runs.mean_and_spread(np.array([0.2, np.nan, 0.4])) == (pytest.approx(0.3), pytest.approx(np.sqrt(0.02)))
    assert np.isnan(runs.mean_and_spread(np.array([np.nan]))).all()
    found = trials(htmm_inex05.SILHOUETTES, lambda method: scores(np.nan))
    assert tables.best_run(found, "inf", "printed") is None


def run_of(labels):
    return Run(labels, labels, np.array([5, 4, 3, 3]), 1.0)


def test_the_best_run_is_that_of_the_best_setting():
    good, bad = Method("inf", "printed", 4, 1.5), Method("inf", "printed", 4, 2.0)
    runs_of = [run_of(np.array([k, 0])) for k in range(2)]
    own = {good: scores(0.3, n_runs=2, spread=0.1), bad: scores(0.2, n_runs=2, spread=0.2)}
    method, best = tables.best_run(tables.Trials({good: runs_of, bad: runs_of}, own), "inf", "printed")
    assert (method, best.test.tolist()) == (good, [1, 0])
    rows = tables.class_rows("x", np.array([0, 0, 1]), np.array([1, 2, 2]))
    assert rows == [
        {"model": "x", "cluster": 0, "class 1": 1, "class 2": 1},
        {"model": "x", "cluster": 1, "class 1": 0, "class 2": 1},
    ]
    swept = tables.sweep_rows(tables.Trials({good: runs_of}, {}), [good])
    assert [row["INF printed C=4 alpha=1.5"] for row in swept] == [5.0, 4.0, 3.0, 3.0]


def test_pictures():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    method = Method("inf", "printed", 4, 1.5)
    found = tables.Trials({method: [run_of(np.array([0, 1, 1]))]}, {})
    ax = Figure().subplots()
    tables.trace_figure(found, [method], "title", "components")(ax=ax)
    assert ax.get_legend().get_texts()[0].get_text() == "INF printed C=4 alpha=1.5"
    ax = Figure().subplots()
    tables.class_figure("title", np.array([0, 1, 1]), np.array([1, 1, 2]))(ax=ax)
    assert {text.get_text() for text in ax.texts} >= {"1"}


# Verdicts


def by_kind(root, mix, inf):
    """Trials of Table 1 with values by kind; `mix` and `inf` may be functions of the method."""
    values = {"root": root, "mix": mix, "inf": inf}

    def value(method):
        own = values[method.kind]
        return scores(own(method) if callable(own) else own)

    return trials(htmm_synthetic.PUBLISHED, value)


def test_single_models_and_mixtures():
    good, bad = by_kind(0.03, 0.45, 0.5), by_kind(0.3, 0.35, 0.5)
    assert verdicts(judge.judge_single(good, "exact"), judge.judge_single(bad, "exact")) == ["holds", "fails"]
    assert verdicts(judge.judge_mixtures(good, "exact"), judge.judge_mixtures(bad, "exact")) == ["holds", "fails"]
    assert "[as printed]" in judge.judge_single(good, "printed").paper


def test_strengths_and_components():
    good = by_kind(0.0, 0.45, lambda method: 0.4 if method.setting == 1 else 0.51)
    bad = by_kind(0.0, lambda method: 0.53 - 0.02 * method.setting, lambda method: 0.5 - 0.1 * method.setting)
    for claim in (judge.judge_weak_prior, judge.judge_spare, judge.judge_infinite):
        assert verdicts(claim(good, "printed"), claim(bad, "printed")) == ["holds", "fails"]
    truth = [judge.judge_truth(own, "exact", published.INF_SYNTHETIC, 0.51) for own in (good, bad)]
    assert verdicts(*truth) == ["holds", "fails"]
    assert truth[0].ours.count("alpha") == 4
    few = tables.Trials(
        {}, {method: scores() for method in (Method("mix", "exact", 4, 3), Method("inf", "exact", 4, 2))}
    )
    assert verdicts(judge.judge_weak_prior(few, "exact"), judge.judge_spare(few, "exact")) == ["undecided"] * 2


def test_components_peak_early():
    method = Method("inf", "printed", 4, 1.5)

    def claim(*traces):
        made = [Run(np.zeros(1), np.zeros(1), np.array(trace), 0.0) for trace in traces]
        return judge.judge_peak(tables.Trials({method: made}, {}), method, 3)

    assert claim([9, 5, 3, 3]).verdict == "holds"
    assert claim([9, 5, 3, 3]).ours == "peaks of 9, ends 3, the end reached in sweep 3"
    assert claim([2, 2, 3, 3, 8, 3]).verdict == "fails"
    assert claim([9, 5, 2, 2]).verdict == "fails"


def test_the_specification():
    assert verdicts(
        judge.judge_procedure(scores(0.51, n_runs=30), 3, 0.5, 0.95),
        judge.judge_procedure(scores(0.49, n_runs=30), 3, 0.5, 0.95),
        judge.judge_procedure(scores(0.51, clusters=2), 3, 0.5, 0.95),
        judge.judge_procedure(scores(0.51, ari=0.9), 3, 0.5, 0.95),
    ) == ["holds", "fails", "fails", "fails"]
    one = {"bottom": scores(np.nan), "renorm": scores(0.2)}
    assert verdicts(judge.judge_absent(one, 0.35), judge.judge_absent({"bottom": scores(0.4)}, 0.35)) == [
        "holds",
        "fails",
    ]


def test_ours():
    wanted = (3, 3), 0.51, 0.98
    assert (
        verdicts(
            judge.judge_ours("", scores(0.52), *wanted),
            judge.judge_ours("", scores(0.50), *wanted),
            judge.judge_ours("", scores(0.52, ari=0.97), *wanted),
            judge.judge_ours("", scores(0.52, clusters=4), *wanted),
            judge.judge_recovery("", scores(0.5), 3, 0.9, 0.97),
            judge.judge_recovery("", scores(0.5, clusters=2), 3, 0.9, 0.97),
            judge.judge_from_one([np.array([0.0, 0.99])] * 9 + [np.zeros(2)], 0.98, 0.9),
            judge.judge_from_one([np.array([0.0, 0.99])] * 8 + [np.zeros(2)] * 2, 0.98, 0.9),
            judge.judge_gap([0.305], [5], [0.144], 0.3),
            judge.judge_gap([0.305, 0.25], [5, 8], [0.144, 0.1], 0.3),
            htmm_inex05.judge_above_paper({8: scores(0.3), 4: scores(0.25)}),
            htmm_inex05.judge_above_paper({8: scores(0.3), 4: scores(0.2)}),
        )
        == ["holds", "fails", "fails", "fails"] + ["holds", "fails"] * 4
    )


def test_inex_tables():
    def falling(method):
        value = 0.2 if method.kind == "mix" else 0.21
        return scores(value, clusters=int(20 / method.setting / method.n_states) if method.kind == "inf" else 4)

    good, flat = (
        trials(htmm_inex05.SILHOUETTES, falling),
        trials(htmm_inex05.SILHOUETTES, lambda method: scores(0.4, 9)),
    )
    for how in HOW:
        for claim in (
            lambda own, how=how: judge.judge_best(own, "mix", how, published.MIX_INEX),
            lambda own, how=how: judge.judge_best(own, "inf", how, published.INF_INEX),
            lambda own, how=how: judge.judge_falls(own, how, "alpha"),
            lambda own, how=how: judge.judge_falls(own, how, "C"),
            lambda own, how=how: judge.judge_active(own, how, 5),
        ):
            assert verdicts(claim(good), claim(flat)) == ["holds", "fails"]
    none = tables.Trials({}, {Method("inf", "exact", 2, 1.0): scores()})
    assert (
        verdicts(
            judge.judge_best(none, "mix", "exact", published.MIX_INEX),
            judge.judge_falls(none, "exact", "C"),
            judge.judge_active(none, "exact", 5),
            judge.judge_split_class("exact", None, np.ones(3)),
        )
        == ["undecided"] * 4
    )


def test_class_one_in_two_of_six_clusters():
    labels, classes = np.repeat(np.arange(6), 10), np.repeat([1, 1, 2, 3, 4, 5], 10)
    best = Method("inf", "printed", 2, 2.0), run_of(labels)
    assert judge.judge_split_class("printed", best, classes).verdict == "holds"
    assert judge.judge_split_class("printed", best, np.repeat([1, 2, 2, 3, 4, 5], 10)).verdict == "fails"


# Whole experiments


def small_study(case, module):
    """Made-up fits of a whole experiment; verdicts mean nothing."""
    kinds = htmm_synthetic.PUBLISHED if module is htmm_synthetic else htmm_inex05.SILHOUETTES
    made = trials(kinds, lambda method: scores())
    own = Run(case.train_classes, case.test_classes, np.array([4, 3, 3]), 1.0)
    made = tables.Trials(dict.fromkeys(made.scores, [own] * 5), made.scores)
    if module is htmm_synthetic:
        ours = {(4, 1.0): scores(0.52), (8, 1.0): scores(0.52), (2, 1.0): scores(0.4)}
        return htmm_synthetic.Study(made, scores(), {"bottom": scores(0.1)}, ours, [own], [np.array([0.0, 1.0])])
    hierarchy = runs.Hierarchy(case.test_classes, {2: np.array([0, 0, 1])}, np.arange(3), np.array([-1.0, -9.0]))
    return htmm_inex05.Study(made, {8: [own], 4: [own]}, {8: scores(0.305), 4: scores(0.29)}, [hierarchy])


def test_synthetic_outcome(case):
    found = small_study(case, htmm_synthetic)
    claims = htmm_synthetic.claims(found)
    assert sum("[as printed]" in claim.paper for claim in claims) == sum(
        "[exact steps]" in claim.paper for claim in claims
    )
    assert [claim.paper.split(":")[0] for claim in claims].count("specification") == 2
    assert sum(claim.paper.startswith("ours") for claim in claims) == 3
    shown = htmm_synthetic.tables(case, found)
    assert list(shown) == ["table 1", "ours", "absent children", "components by sweep", "clusters by class"]
    assert list(htmm_synthetic.figures(case, found)) == ["objective of mix", "components of inf", "clusters by class"]
    assert "Quick" in htmm_synthetic.notes(case, True)[-1]


def test_inex_outcome(case, monkeypatch):
    monkeypatch.setattr(htmm_inex05, "BLOCKS", ((0,), (1, 2)))
    found = small_study(case, htmm_inex05)
    claims = htmm_inex05.claims(case, found)
    assert sum("[as printed]" in claim.paper for claim in claims) == 6
    assert sum(claim.paper.startswith("ours") for claim in claims) == 4
    shown = htmm_inex05.tables(case, found)
    assert list(shown) == ["table 2", "table 3", "ours", "hierarchy", "components by sweep", "clusters by class"]
    assert shown["hierarchy"] == [
        {"start": 0, "clusters": 2, "silhouette": pytest.approx(shown["hierarchy"][0]["silhouette"])}
        | {"log_ratio": -1.0, "gap": ""}
    ]
    assert "components of inf" in htmm_inex05.figures(case, found)
    assert "blocks" in htmm_inex05.notes(case, False)[0]

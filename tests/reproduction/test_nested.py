"""Parts of the nested experiments: tables, scores over chains, matching by nodes, verdicts."""

from types import SimpleNamespace

import numpy as np
import pytest
from papers import nested_claims as judge
from papers import nested_runs as runs
from papers import nested_stages as stages
from papers import rbhmc_animals, rbhmc_fashion, rbhmc_penalties
from papers.nested_cases import ANIMALS, Case, digits, wine
from papers.nested_runs import SAMPLERS, Method

from bayesgrove import metrics
from bayesgrove.core.rng import generator

pytestmark = pytest.mark.unit
N_CHAINS = 10


def near(mean, spread=0.01, seed=0):
    """(chain, draw) numbers around a mean."""
    return generator(seed).normal(mean, spread, (N_CHAINS, 8))


def scores(depth=3, seed=0, **means):
    """Scores around given means, 0.5 for those that are not given."""
    names = runs.score_names(depth)
    return {name: near(means.get(name, 0.5), seed=seed + place) for place, name in enumerate(names)}


# Tables


@pytest.mark.parametrize(("make", "shape", "n_each"), [(wine, (99, 7), 33), (digits, (100, 10), 10)])
def test_tables_nobody_tuned_on(make, shape, n_each):
    case = make()
    assert case.X.shape == shape
    assert np.abs(case.X.mean(axis=0)).max() < 1e-9
    assert case.X.var(axis=0).mean() == pytest.approx(2.0)
    assert np.unique(case.classes, return_counts=True)[1].tolist() == [n_each] * (shape[0] // n_each)
    assert np.array_equal(make().X, case.X)


# Scores


def test_scores_of_a_tree_are_those_of_the_metrics():
    rng = generator(1)
    rows, classes = rng.normal(size=(30, 3)), rng.integers(0, 4, 30)
    levels = np.column_stack([rng.integers(0, 3, 30), rng.integers(0, 2, 30)])
    found = dict(zip(runs.score_names(2), runs.score_tree(rows, classes, levels), strict=True))
    assert found["aid"] == pytest.approx(metrics.aid(rows, levels))
    assert found["aod"] == pytest.approx(metrics.aod(rows, levels))
    assert [found["f1"], found["f2"]] == pytest.approx(metrics.level_f_measure(levels, classes).tolist())
    assert (found["level_1"], found["leaves"], found["nodes"]) == (3, 6, 9)
    assert found["largest"] == pytest.approx(np.bincount(levels[:, 0]).max() / 30)


def test_a_tree_without_siblings_has_no_distances():
    found = runs.score_tree(np.eye(3), np.array([0, 1, 1]), np.zeros((3, 2), int))
    assert found[:4] == [0.0, 1.0, 1.0, 1.0]
    assert np.isnan(found[4:6]).all()


def test_means_leave_out_what_is_unknown():
    values = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])
    assert runs.chain_means(values)[0] == 2.0
    assert np.isnan(runs.chain_means(values)[1])
    assert runs.mean_and_spread(np.array([1.0, np.nan, 3.0])) == (2.0, pytest.approx(np.sqrt(2.0)))
    assert runs.mean_and_error(np.array([1.0, np.nan, 3.0])) == (2.0, pytest.approx(1.0))
    assert np.isnan(runs.mean_and_spread(np.array([np.nan]))).all()
    assert np.isnan(runs.mean_and_error(np.array([1.0]))[1])


def test_draws_are_compared_with_those_of_as_many_nodes():
    pool = {"nodes": np.array([[2.0] * 5 + [4.0] * 5 + [6.0]]), "aid": np.array([[10.0] * 5 + [20.0] * 5 + [99.0]])}
    means = runs.pool_means([pool])
    assert means["aid"][[2, 4]].tolist() == [10.0, 20.0]
    assert np.isnan(means["aid"][[0, 3, 6]]).all()  # one draw of six nodes is too few
    own = {
        "nodes": np.array([[2.0, 4.0], [4.0, 6.0], [9.0, 9.0]]),
        "aid": np.array([[9.0, 18.0], [19.0, 1.0], [1.0, 1.0]]),
    }
    found = runs.matched(own, means, "aid")
    assert found[:2].tolist() == [-1.5, -1.0]
    assert np.isnan(found[2])
    assert runs.matched_share(own, means) == pytest.approx(0.5)


def test_rows_of_tables_have_no_nan():
    own = scores(aid=np.nan)
    row = runs.score_row(Method("max", "exact", 1.0, 1.0), own, runs.score_names(3))
    assert row["aid"] is None
    assert row["f1"] == pytest.approx(0.5, abs=0.02)
    assert "leaves_sd" not in row
    assert runs.matched_row(Method(), own, runs.pool_means([own]))["d_aid"] is None


# Verdicts


def verdicts(*claims):
    return [claim.verdict for claim in claims]


def test_plateau():
    rising = near(5.0)
    rising[:, 0] = -50.0
    long = np.tile(rising[:, 1:], 8)
    start = np.column_stack([rising[:, 0], long])
    drifting = np.linspace(0.0, 1.0, 40) + near(0.0)[:, :1]
    assert verdicts(
        judge.judge_plateau("1", "exact", {"cdl": start, "rcdl": start}),
        judge.judge_plateau("1", "exact", {"cdl": -start, "rcdl": -start}),
        judge.judge_plateau("1", "exact", {"cdl": drifting, "rcdl": start}),
    ) == ["holds", "fails", "undecided"]
    assert "[printed sampler]" in judge.judge_plateau("1", "paper", {"cdl": start}).paper


def test_likeness_and_fluctuation():
    cdl, calm, wild = near(0.0, 1.0), near(0.0, 1.0, seed=1), near(0.0, 30.0, seed=2)
    assert verdicts(
        judge.judge_likeness("1", "exact", cdl, cdl - 0.1),
        judge.judge_likeness("1", "exact", cdl, cdl - 5.0),
        judge.judge_fluctuation("", "exact", calm, wild, 2.0),
        judge.judge_fluctuation("", "exact", wild, calm, 2.0),
        judge.judge_fluctuation("", "exact", calm, cdl, 1.0),
    ) == ["holds", "fails", "holds", "fails", "undecided"]


def test_steadiness():
    calm, wild = near(-100.0, 1.0), near(-100.0, 20.0)
    assert verdicts(
        judge.judge_steadiness("exact", calm, wild),
        judge.judge_steadiness("exact", wild, calm),
        judge.judge_steadiness("exact", calm, None),
    ) == ["holds", "fails", "undecided"]


def small_grid(aid, aod=None, sampler="exact"):
    """A grid whose AID, and AOD, are given by strength and margin."""
    found = {}
    for row, strength in enumerate((0.01, 0.1, 1.0, 3.0)[: len(aid)]):
        for column, margin in enumerate((0.1, 1.0)):
            far = 10.0 if aod is None else aod[row][column]
            found[Method("max", sampler, strength, margin)] = scores(seed=row + column, aid=aid[row][column], aod=far)
    return found


def test_settings_that_separate():
    base = scores(aid=10.0, aod=10.0)
    two = small_grid([[9, 9], [10, 11], [12, 12]], [[11, 11], [11, 11], [9, 9]])
    one = small_grid([[9, 10], [10, 11], [12, 12]], [[11, 11], [11, 11], [9, 9]])
    claim = judge.judge_settings("exact", two, base)
    assert claim.verdict == "holds"
    assert claim.ours == "2 of 6 settings (0.01, 0.1) (0.01, 1)"
    assert judge.judge_settings("exact", one, base).verdict == "fails"
    assert verdicts(
        judge.judge_setting("", "exact", scores(aid=9.0, aod=11.0), base),
        judge.judge_setting("", "exact", scores(aid=11.0, aod=11.0), base),
        judge.judge_setting("", "exact", scores(aid=10.0, aod=11.0), base),
    ) == ["holds", "fails", "undecided"]


def test_shape_of_the_grid():
    assert np.allclose(judge.grid_of(small_grid([[1, 2], [3, 4], [5, 6]]), "aid"), [[1, 2], [3, 4], [5, 6]], atol=0.1)
    by_strength, by_margin = small_grid([[1, 1], [5, 5], [9, 9]]), small_grid([[1, 9], [1, 9], [1, 9]])
    assert verdicts(judge.judge_influence("exact", by_strength), judge.judge_influence("exact", by_margin)) == [
        "holds",
        "fails",
    ]
    line, bend = small_grid([[1, 1], [1.9, 1.9], [10.9, 10.9]]), small_grid([[5, 5], [0, 0], [6, 6]])
    assert verdicts(judge.judge_bend("exact", bend), judge.judge_bend("exact", line)) == ["holds", "fails"]
    smooth, jump = small_grid([[1, 1], [3, 3], [5, 5], [7, 7]]), small_grid([[1, 1], [1, 1], [1, 1], [9, 9]])
    assert verdicts(judge.judge_smoothness("exact", smooth), judge.judge_smoothness("exact", jump)) == [
        "holds",
        "fails",
    ]
    lost = small_grid([[1, 1], [np.nan] * 2, [np.nan] * 2])
    assert verdicts(judge.judge_smoothness("exact", lost), judge.judge_bend("exact", lost)) == ["undecided"] * 2


def test_classes():
    base, better, worse = scores(), scores(f1=0.7, f2=0.7, f3=0.7), scores(f1=0.3, f2=0.3, f3=0.3, largest=0.9)
    for claim in (judge.judge_first_level, lambda *a: judge.judge_levels("", *a, ("f1", "f2", "f3"))):
        assert verdicts(claim("exact", better, base), claim("exact", worse, base)) == ["holds", "fails"]
        assert claim("exact", scores(seed=40), base).verdict == "undecided"
    assert verdicts(judge.judge_poor("exact", worse, base), judge.judge_poor("exact", better, base)) == [
        "holds",
        "fails",
    ]
    assert judge.judge_poor("exact", scores(f1=0.3, f2=0.3, f3=0.3), base).verdict == "undecided"


def with_nodes(found):
    """The same with six nodes in every draw."""
    return {**found, "nodes": np.full((N_CHAINS, 8), 6.0)}


def test_the_chance_normalised_penalty_is_judged_at_equal_nodes():
    pool = runs.pool_means([with_nodes(scores(aid=10.0, aod=10.0))])
    good, bad = with_nodes(scores(aid=9.0, aod=11.0, f1=0.6)), with_nodes(scores(aid=11.0, aod=11.0, f2=0.3))
    assert verdicts(*judge.judge_chance("wine", good, pool)) == ["holds", "holds"]
    assert verdicts(*judge.judge_chance("wine", bad, pool)) == ["fails", "fails"]
    alone = judge.judge_chance("wine", {**good, "nodes": good["nodes"] + 9.0}, pool)
    assert verdicts(*alone) == ["undecided", "undecided"]
    assert alone[0].ours == "AID unknown, AOD unknown"


def test_trees_that_outgrow_those_of_bhmc():
    small, large = scores(leaves=20.0), scores(leaves=40.0)
    claim = judge.judge_growth("", {100: (small, small), 200: (large, small)})
    assert claim.verdict == "fails"
    assert claim.ours == "leaves: 20 against 20 at 100 rows; 40 against 20 at 200 rows"
    assert judge.judge_growth("", {100: (small, small), 200: (small, large)}).verdict == "holds"


# Whole experiments


@pytest.mark.parametrize("module", [rbhmc_animals, rbhmc_fashion])
@pytest.mark.parametrize("plan", ["FULL", "QUICK"])
def test_every_claim_has_its_settings(module, plan):
    """Both samplers, all items; numbers are made up, so that verdicts mean nothing."""
    depth = 3 if module is rbhmc_animals else 4
    made = with_nodes(scores(depth))
    posterior = SimpleNamespace(scalars={"cdl": near(-9.0), "rcdl": near(-10.0)})
    result = SimpleNamespace(posterior=posterior)
    traces = {Method("max", sampler, c, 1.0): result for sampler in SAMPLERS for c in stages.TRACED}
    grid = dict.fromkeys(stages.grid_methods(getattr(module, plan)), made)
    cases = dict.fromkeys(module.case_methods(), stages.CaseFit(result, np.zeros((3, depth), int), 0.0, made, made))
    steady = () if module is rbhmc_animals else (dict.fromkeys(SAMPLERS, near(-9.0)),)
    pool = stages.Pool(made, runs.pool_means([made]), [])
    found = module.claims(stages.Study(pool, traces, grid, cases, {}, {}), *steady)
    items = {claim.paper[0] for claim in found}
    assert items == ({"1", "2", "3", "4", "o"} if module is rbhmc_animals else {"5", "6", "7", "o"})
    by_sampler = [sum(f"[{judge.WHO[sampler]}]" in claim.paper for claim in found) for sampler in SAMPLERS]
    assert by_sampler[0] == by_sampler[1] > 0
    assert len(stages.trace_rows(traces)) == len(traces)


def test_full_plans_have_ten_chains():
    for module in (rbhmc_animals, rbhmc_fashion):
        lengths = (module.FULL.pool, module.FULL.traces, module.FULL.grid, module.FULL.chance, module.FULL.cases)
        assert {length.n_chains for length in lengths} == {N_CHAINS}
        assert stages.CHANCE_DEFAULT in stages.grid_methods(module.FULL)
    assert rbhmc_penalties.FULL.pool.n_chains == rbhmc_penalties.FULL.own.n_chains == N_CHAINS


def blobs():
    """Two groups of six rows."""
    rng = generator(4)
    rows = np.concatenate([rng.normal(centre, 0.4, (6, 2)) for centre in (-3.0, 3.0)])
    return Case("blobs", rows, np.repeat(["a", "b"], 6), ANIMALS, tuple(f"row {i}" for i in range(12)))


def test_a_small_experiment():
    """Every stage but the grid, on few rows."""
    case = blobs()
    length, told = runs.Length(2, 5, 6, 1), []
    pool = stages.fit_pool(case, length, 0, told.append)
    methods = [Method("max", "paper", 0.1, 1.0), stages.CHANCE_DEFAULT]
    cases = stages.fit_cases(case, methods, length, 0, told.append)
    assert [row["alpha_factor"] for row in pool.rows] == list(stages.POOL_FACTORS)
    assert told[0] == "blobs: BHMC, alpha x 0.01"
    tables = stages.grid_tables(case, {method: found.draws for method, found in cases.items()}, pool)
    assert [row["penalty"] for row in tables["settings"]] == ["max", "chance"]
    assert tables["matched"][0]["sampler"] == "paper"
    assert [row["level"] for row in stages.level_rows(cases)] == [1, 2, 3] * 2
    shown = stages.case_rows(case, cases)[1]
    assert shown["model"] == "chance (0.03, 0.2)"
    assert shown["leaves"] == cases[stages.CHANCE_DEFAULT].levels[:, -1].max() + 1
    figures = stages.pictures(case, pool, {}, {}, cases)
    assert list(figures) == ["levels", "tree max (0.1, 1), printed sampler", "tree chance (0.03, 0.2)"]


def test_a_small_comparison_of_penalties(tmp_path):
    """Both stages on few rows; all tables nobody tuned on are at hand."""
    length, told = runs.Length(2, 5, 6, 1), []
    plan = rbhmc_penalties.Plan(length, length, length, length, (10,))
    own, equal, claims = rbhmc_penalties.compare(blobs(), plan, 0, told.append)
    assert [row["penalty"] for row in own[-4:]] == ["max", "chance", "chance", "chance-max"]
    assert len(own) == len(stages.POOL_FACTORS) + len(equal)
    assert told[-1] == "blobs: chance-max (0.1, 0.1)"
    assert len(claims) == 2
    grown = rbhmc_penalties.grow(blobs(), plan, 0, told.append)
    assert [row.get("C") for row in grown.rows] == [None, 0.03, pytest.approx(0.25)]
    assert [row["rows"] for row in grown.rows] == [12] * 3
    assert "at C = 3 / rows" in rbhmc_penalties.growth_claims([grown])[1].paper
    assert [case.name for case in rbhmc_penalties.tables_at_hand(tmp_path)] == ["wine", "digits"]

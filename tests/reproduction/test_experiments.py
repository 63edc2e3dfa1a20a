"""Parts of the papers' experiments: folds, verdicts, tables, what single-view methods are."""

import numpy as np
import pytest
from papers import bhc_purity, bhcc_levels, bhcc_views, rbhmc_animals
from papers.cross_methods import METHODS, cross_validate
from papers.cross_tables import FOLDS, CellTable, equal_views, folds, real_table, yes_no
from papers.experiments import EXPERIMENTS, as_quick, reproduce
from papers.outcome import Claim, Outcome, sign_test

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator

pytestmark = pytest.mark.unit


def test_every_cell_is_hidden_once():
    table = equal_views(2, 1, n_columns=12)
    hidden = np.zeros(table.X.shape, int)
    for fold in folds(table, 5):
        hidden[fold.rows, fold.columns] += 1
        assert np.isnan(fold.shown).sum() == fold.rows.size
        assert np.array_equal(table.X[fold.rows, fold.columns], fold.values)
    assert (hidden == 1).all()
    assert sum(1 for _ in folds(table, 5)) == FOLDS


def test_sign_test():
    assert sign_test([1.0, 1.0, -1.0, -1.0]) == pytest.approx(11 / 16)
    assert sign_test([-1.0]) == 1.0
    assert sign_test([0.0, 0.0]) == pytest.approx(0.75)


@pytest.mark.parametrize(("holds", "verdict"), [(True, "holds"), (False, "fails"), (None, "undecided")])
def test_verdicts(holds, verdict):
    assert Claim("it is so", "it was so", holds).verdict == verdict


def test_unknown_experiment():
    with pytest.raises(InvalidSettingError, match=r"NAME is one of bhc-purity, .*, got 'bhcc'"):
        reproduce("bhcc")


def test_sets_that_are_absent_are_left_out(tmp_path):
    assert real_table("Sonar", "Gaussian", 10, 0, tmp_path) is None


@pytest.fixture(scope="module")
def small():
    """Two views of six columns, each the halves of the rows with one cell in twenty turned."""
    rng = generator(3)
    halves = np.repeat(rng.integers(0, 2, (40, 2)), 6, axis=1).astype(float)
    return CellTable("small", np.abs(halves - (rng.random(halves.shape) < 0.05)), yes_no(12), is_binary=True)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_predicts_hidden_cells(small, name):
    score = cross_validate(METHODS[name], small, 0, 1)
    assert score.accuracy > 0.8
    assert score.log_score > np.log(0.6)
    assert score.rmse == pytest.approx(np.sqrt(1.0 - score.accuracy))


@pytest.mark.parametrize("name", ["BHC", "DPM MCMC"])
def test_single_view_methods_have_one_view(small, name):
    assert METHODS[name](small, 0).fit(small.X).n_views_ == 1


def test_an_experiment_judges_what_it_saw():
    rows = [{"data": "Binomial(50)", "ari": 1.0, "bound_above_truth": 0.0}]
    rows += [{"data": "Bernoulli", "ari": 0.9, "bound_above_truth": -1.0}]
    assert [claim.verdict for claim in bhcc_views.claims(rows)] == ["holds", "fails", "fails"]
    rising, falling = (level_rows(*accuracy) for accuracy in ((0.6, 0.7, 0.704), (0.7, 0.65, 0.6)))
    assert bhcc_levels.judge_real(rising).verdict == "holds"
    assert bhcc_levels.judge_real(falling).verdict == "fails"
    assert bhcc_levels.judge_synthetic([rising] * 5).verdict == "holds"
    assert bhcc_levels.judge_synthetic([rising] * 4 + [falling]).verdict == "fails"


def test_two_tables_decide_nothing():
    assert bhcc_levels.judge_synthetic([level_rows(0.6, 0.7, 0.704)] * 2).verdict == "undecided"


@pytest.mark.parametrize(
    ("decides", "verdicts"),
    [
        ("all", ["holds", "fails"]),
        ("ours", ["undecided", "fails"]),
        ("none", ["undecided", "undecided"]),
    ],
)
def test_quick_runs_judge_only_what_they_can(decides, verdicts):
    outcome = Outcome("x", {}, [Claim("it is so", "yes", True), Claim("ours: it is so", "no", False)], ["a note"])
    found = as_quick(outcome, decides)
    assert [claim.verdict for claim in found.claims] == verdicts
    assert (found.notes[-1] == "a note") == (decides == "all")


def test_a_full_run_keeps_its_verdicts(monkeypatch):
    claim = Claim("it is so", "yes", True)
    for quick, verdict in ((True, "undecided"), (False, "holds")):
        monkeypatch.setattr(rbhmc_animals, "run", lambda **options: Outcome("x", {}, [claim]))
        assert reproduce("rbhmc-animals", quick=quick).claims[0].verdict == verdict


def test_purity_is_that_of_all_pairs():
    """Against its definition on a random tree: every pair of a class, its smallest common subtree."""
    rng = generator(8)
    n, classes = 12, rng.integers(0, 3, 12)
    members, merges, alive = {k: {k} for k in range(n)}, [], list(range(n))
    while len(alive) > 1:
        a, b = (alive.pop(int(rng.integers(len(alive)))) for _ in range(2))
        members[n + len(merges)] = members[a] | members[b]
        alive.append(n + len(merges))
        merges.append((a, b))
    shares = []
    for i in range(n):
        for j in range(i):
            if classes[i] == classes[j]:
                smallest = min((own for own in members.values() if {i, j} <= own), key=len)
                shares.append(np.mean(classes[list(smallest)] == classes[i]))
    assert bhc_purity.purity(np.array(merges), classes) == pytest.approx(np.mean(shares))


def test_purity_is_judged_against_every_linkage():
    def rows(single, n_draws=5):
        own = {"BHC": 0.8, "BHC, fixed": 0.1, "complete": 0.7, "average": 0.75, "single": single}
        return [own | {"data": name} for name in bhc_purity.SETS for _ in range(n_draws)]

    assert bhc_purity.judge("3 digits", rows(0.5), "single").verdict == "holds"
    assert bhc_purity.judge("3 digits", rows(0.9), "single").verdict == "fails"
    assert bhc_purity.judge("3 digits", rows(0.5, 4), "single").verdict == "undecided"
    assert bhc_purity.mean_rows(rows(0.5))[0]["single"] == 0.5


def test_digits_are_drawn_in_equal_numbers():
    X, classes = bhc_purity.draw_images((0, 2, 4), 3)
    assert np.unique(classes, return_counts=True)[1].tolist() == [20, 20, 20]
    assert X.shape == (60, 64)
    assert set(np.unique(X)) == {0.0, 1.0}


def level_rows(*accuracy):
    return [{"data": "x", "levels": 2 + k, "accuracy": value} for k, value in enumerate(accuracy)]


def test_every_experiment_has_a_module():
    for name, experiment in EXPERIMENTS.items():
        assert experiment.place == name.replace("-", "_")
        assert experiment.about
        assert experiment.quick_decides in ("all", "ours", "none")

"""Diagnostics: arviz's numbers, honest words for scalars that do not vary, verdicts that name the culprit."""

import math
import sys

import numpy as np
import pytest
from arviz_stats.base import array_stats
from scipy import stats

from bayesgrove.core.errors import MissingExtraError
from bayesgrove.inference.diagnostics import diagnose, distance_scalars, label_scalars, undecided_pairs
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.similarity import half_similarities, sample_items
from bayesgrove.inference.verdict import r_hat_bounds
from bayesgrove.stats.partitions import co_clustering, relabel, relabel_draws

pytestmark = pytest.mark.unit
AXES = {"chain_axis": 0, "draw_axis": 1}


def moving_chains(seed, n_chains=4, n_draws=500, n_items=12):
    """Independent draws of one law: three clusters and some noise."""
    rng = np.random.default_rng(seed)
    labels = np.tile(np.arange(n_items) % 3, (n_chains, n_draws, 1))
    moved = rng.random(labels.shape) < 0.1
    labels[moved] = rng.integers(0, 4, moved.sum())
    return labels


def stuck_chains():
    """Two chains that never move, with clusters of the same sizes and other members."""
    return np.stack([np.tile([0, 0, 1, 1, 1], (200, 1)), np.tile([0, 0, 0, 1, 1], (200, 1))])


@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_those_of_arviz(seed):
    rng = np.random.default_rng(seed)
    log_joint = np.cumsum(rng.normal(size=(4, 500)), axis=1) * 0.1 + rng.normal(size=(4, 500))
    labels = moving_chains(seed)
    found = Posterior(labels, {"log_joint": log_joint}).diagnostics()
    n_clusters = np.array([[len(set(draw)) for draw in chain] for chain in labels], float)
    for name, values in (("log_joint", log_joint), ("n_clusters", n_clusters)):
        row = found[name]
        assert row["mean"] == pytest.approx(values.mean())
        assert row["sd"] == pytest.approx(values.std(ddof=1))
        assert row["r_hat"] == pytest.approx(array_stats.rhat(values, method="rank", **AXES))
        assert row["ess_bulk"] == pytest.approx(array_stats.ess(values, method="bulk", **AXES))
        assert row["ess_tail"] == pytest.approx(array_stats.ess(values, method="tail", prob=(0.05, 0.95), **AXES))
        assert row["mcse"] == pytest.approx(array_stats.mcse(values, method="mean", **AXES))
        assert row["state"] == ""


def test_label_scalars_equal_their_definitions():
    labels = moving_chains(0, 2, 20)
    found = label_scalars(relabel_draws(labels).reshape(labels.shape))
    for chain in range(2):
        for draw in range(20):
            sizes = np.bincount(relabel(labels[chain, draw]))
            share = sizes / sizes.sum()
            assert found["n_clusters"][chain, draw] == sizes.size
            assert found["largest_share"][chain, draw] == pytest.approx(share.max())
            assert found["entropy"][chain, draw] == pytest.approx(-(share * np.log(share)).sum())
            assert found["n_singletons"][chain, draw] == (sizes == 1).sum()


def test_equal_sizes_in_another_order_are_the_same_entropy():
    sizes = np.array([3, 5, 7, 11, 13])
    rng = np.random.default_rng(0)
    labels = np.array([[np.repeat(np.arange(5), rng.permutation(sizes)) for _ in range(50)] for _ in range(2)])
    row = Posterior(labels).diagnostics()["entropy"]
    assert row["state"] == "constant"


def test_good_chains_converge_and_the_sentence_gives_the_worst_numbers():
    found = Posterior(moving_chains(1)).diagnostics()
    assert found.converged
    varying = found.table[found.table["state"] == ""]
    worst = varying["name"][np.argmax(varying["r_hat"] - varying["r_hat_bound"])]
    means = varying[~np.char.startswith(varying["name"], "together")]
    scarcest = means["name"][np.argmin(means["ess_bulk"])]
    assert found.verdict.sentence.startswith(f"Trusted: the chains agree on all {varying.size} quantities (nearest to ")
    assert f"its bound: r_hat of {worst}, " in found.verdict.sentence
    assert found.verdict.sentence.endswith(f", {scarcest}).")
    assert found.verdict.status == "trusted"
    assert found.verdict.doubtful == ()


def test_stuck_chains_are_caught_by_pairs_alone():
    found = Posterior(stuck_chains()).diagnostics()
    assert not found.converged
    assert {found[name]["state"].item() for name in ("n_clusters", "entropy")} == {"constant"}
    assert "r_hat of distance[0] is infinite (should be below 1.022), and 5 more" in found.verdict.sentence
    assert "bulk ESS of distance[0] is 2 (should be at least 400), and 1 more" in found.verdict.sentence
    assert found.verdict.n_more_draws is None
    assert "More draws will hardly help: the chains are in different places." in found.verdict.sentence
    assert found.verdict.status == "not trusted"
    assert found.verdict.trusted == ()
    assert found.chain_distance.largest == 1.0
    assert found.chain_distance.mean == pytest.approx(0.4)
    assert found.chain_distance.expected_largest == 0.0
    assert math.isinf(found["together[0,2]"]["r_hat"])


def test_a_scalar_that_drifts_is_named():
    drift = np.random.default_rng(0).normal(size=(4, 500)) + np.arange(4)[:, np.newaxis]
    sentence = Posterior(moving_chains(1), {"concentration": drift}).diagnostics().verdict.sentence
    assert sentence.startswith("Not trusted: r_hat of concentration is 1.")
    assert "(should be below 1.0" in sentence
    assert "; bulk ESS of concentration is " in sentence


def test_statements_are_trusted_one_by_one():
    """A hyperparameter that mixes slowly leaves the clusters as they are."""
    labels, rng = moving_chains(1), np.random.default_rng(0)
    slow = np.zeros((4, 500))
    for t in range(1, 500):
        slow[:, t] = 0.8 * slow[:, t - 1] + rng.normal(size=4)
    verdict = Posterior(labels, {"concentration": slow}).diagnostics().verdict
    assert verdict.status == "partly trusted"
    assert verdict.doubtful == ("the log joint and hyperparameters",)
    assert verdict.trusted == ("the number of clusters", "cluster sizes", "which items belong together")
    assert verdict.sentence.startswith(
        "Trusted for the number of clusters, cluster sizes and which items belong together, not for the log joint and "
        "hyperparameters: bulk ESS of concentration is "
    )
    assert not verdict.converged


def drawn(labels):
    """Draws numbered by first appearance, as diagnostics take them."""
    return relabel_draws(labels.reshape(-1, labels.shape[2])).reshape(labels.shape)


def sticky_chains(seed):
    """One cluster is whole for some twenty draws, then two halves for as many, and so on."""
    labels, rng = moving_chains(seed), np.random.default_rng(seed)
    side = (rng.random((4, 500)) < 0.05).cumsum(axis=1) % 2
    labels[:, :, ::3] = np.where(side[:, :, np.newaxis] * np.array([0, 0, 1, 1]), 5, 4)
    return labels


def test_clusters_that_are_unions_are_judged_beside_their_components():
    clusters = drawn(moving_chains(2))
    found = diagnose(drawn(sticky_chains(1)), {}, clusters)
    names = set(found.table["name"])
    assert {"n_clusters", "clusters.n_clusters", "clusters.distance[0]"} <= names
    assert found["clusters.entropy"]["mean"] == diagnose(clusters, {})["entropy"]["mean"]
    assert found.verdict.trusted == ("the number of clusters", "cluster sizes", "which items belong together")
    assert found.verdict.doubtful[-1] == "which items share a component"
    assert "not for the number of components" in found.verdict.sentence


def test_clusters_that_differ_are_not_trusted_for_good_components():
    labels, clusters = drawn(moving_chains(1)), moving_chains(2)
    clusters[0, :, 0] = 3
    verdict = diagnose(labels, {}, drawn(clusters)).verdict
    assert diagnose(labels, {}).converged
    assert "which items belong together" in verdict.doubtful or verdict.trusted == ()
    assert "r_hat of clusters.distance[" in verdict.sentence or "r_hat of clusters.together[" in verdict.sentence


def test_chains_whose_log_joints_differ_are_trusted_in_nothing():
    log_joint = np.random.default_rng(0).normal(size=(4, 500))
    log_joint[0] += 0.6
    verdict = Posterior(moving_chains(1), {"log_joint": log_joint}).diagnostics().verdict
    assert verdict.status == "not trusted"
    assert verdict.trusted == ()


def test_a_chain_elsewhere_with_clusters_of_equal_sizes_is_seen_by_its_distance():
    labels = moving_chains(1, n_items=40)
    labels[3] = np.roll(labels[3], 5, axis=1)
    labels[3, :, :5], labels[3, :, 20:25] = labels[3, :, 20:25].copy(), labels[3, :, :5].copy()
    found = Posterior(labels).diagnostics()
    assert found["n_clusters"]["r_hat"] < found["n_clusters"]["r_hat_bound"]
    assert found["distance[0]"]["r_hat"] > 1.2
    assert found.verdict.status == "not trusted"


def test_bounds_of_r_hat_grow_with_the_family_and_shrink_with_effective_draws():
    one, many = r_hat_bounds(np.full(1, 1000.0), 8), r_hat_bounds(np.full(30, 1000.0), 8)
    assert one[0] < many[0] < 1.02
    assert r_hat_bounds(np.array([50.0]), 8)[0] == 1.05
    quantile = stats.chi2.isf(0.05 / 60, 7)
    assert many[0] == pytest.approx(1 + 8 / 2000 * quantile / 7)


def test_distances_equal_their_definition():
    labels = relabel_draws(moving_chains(0, 2, 6)).reshape(2, 6, 12)
    found = distance_scalars(labels)
    below = np.tril_indices(12, -1)
    together = labels[..., :, None] == labels[..., None, :]
    for number in range(2):
        differ = together != together[number, -1]
        np.testing.assert_allclose(
            found[f"distance[{number}]"], differ[..., below[0], below[1]].mean(axis=2), atol=1e-15
        )
    assert list(distance_scalars(labels[:1])) == ["distance[0]", "distance[1]"]


def test_pairs_and_the_whole_matrix_must_be_precise():
    found = Posterior(moving_chains(2, n_draws=30, n_items=40)).diagnostics()
    assert (
        "standard error of together[" in found.verdict.sentence
        or "co-clustering probabilities of two such runs" in (found.verdict.sentence)
    )


def test_few_draws_ask_for_as_many_as_the_ess_needs():
    found = Posterior(moving_chains(2, n_draws=60)).diagnostics()
    assert not found.converged
    assert "bulk ESS of " in found.verdict.sentence
    assert "continue_fit(n_draws=940)" in found.verdict.sentence  # to 1,000 at least
    longer = Posterior(moving_chains(2, n_draws=101)).diagnostics()
    rows = longer.table[(longer.table["state"] == "") & ~np.char.startswith(longer.table["name"], "together")]
    factor = max(1.25, 2 * 400 / rows["ess_bulk"][~(rows["ess_bulk"] >= 400)].min())
    assert f"continue_fit(n_draws={100 * math.ceil((factor - 1) * 101 / 100)})" in longer.verdict.sentence


def test_constant_scalars_say_so_without_a_warning():
    found = Posterior(moving_chains(0), {"sigma": np.full((4, 500), 0.1)}).diagnostics()
    row = found["sigma"]
    assert row["state"] == "constant"
    assert row["mean"] == 0.1
    assert row["sd"] == 0.0
    assert math.isnan(row["r_hat"])
    assert found.converged
    line = next(line for line in repr(found).splitlines() if line.startswith("sigma"))
    assert line.split() == ["sigma", "0.1", "0", "constant"]


def test_a_posterior_that_never_moves_is_described():
    found = Posterior(np.zeros((3, 20, 4), int)).diagnostics()
    assert found.converged
    assert found.verdict.sentence == ("Trusted, or never moved: all quantities are constant over all draws and chains.")


def test_scalars_that_are_not_finite_are_named():
    values = {name: np.zeros((4, 500)) for name in ("a", "b", "c", "d", "log_joint")}
    for array in values.values():
        array[1, 7] = -np.inf
    assert Posterior(moving_chains(0), {"a": values["a"]}).diagnostics().verdict.sentence == (
        "Not trusted: a took values that are not finite numbers."
    )
    found = Posterior(moving_chains(0), values).diagnostics()
    assert found.verdict.sentence == "Not trusted: a, b, c, and 2 more took values that are not finite numbers."
    assert found["log_joint"]["state"] == "not finite"
    assert "not finite" in repr(found)


def test_a_single_chain_is_split_and_says_so():
    labels = moving_chains(3, n_chains=1, n_draws=1001)
    log_joint = np.random.default_rng(0).normal(size=(1, 1001))
    found = Posterior(labels, {"log_joint": log_joint}).diagnostics()
    assert found.chain_distance is None
    wanted = array_stats.rhat(log_joint[:, 1:].reshape(2, 500), method="rank", **AXES)
    assert found["log_joint"]["r_hat"] == pytest.approx(wanted)
    assert found.verdict.sentence.endswith("One chain only: r_hat compares its parts; several chains would show more.")
    assert found.converged


@pytest.mark.parametrize(
    ("n_chains", "n_draws", "words"),
    [
        (2, 3, "3 draws of 2 chains, at least 4 are needed; run longer: continue_fit(n_draws=997)."),
        (
            1,
            7,
            "7 draws of one chain, at least 8 are needed; run longer: continue_fit(n_draws=993).",
        ),
        (
            1,
            1,
            "1 draws of one chain, at least 8 are needed; run longer: continue_fit(n_draws=999).",
        ),
    ],
)
def test_short_runs_are_not_judged(n_chains, n_draws, words):
    found = Posterior(moving_chains(0, n_chains, n_draws)).diagnostics()
    assert found.verdict.sentence == f"Too short to tell: {words}"
    assert not found.converged
    assert set(found.table["state"]) == {"too short"}


def test_watched_pairs_are_undecided_and_the_same_each_time():
    labels = moving_chains(4)
    similarity = co_clustering(labels)
    names = [name for name in Posterior(labels).diagnostics().table["name"] if name.startswith("together")]
    assert len(names) == 20
    assert names == [name for name in Posterior(labels).diagnostics().table["name"] if name.startswith("together")]
    for i, j in undecided_pairs(similarity):
        assert i < j
        assert 0.02 < similarity[i, j] < 0.98
    assert undecided_pairs(np.eye(5)).shape == (0, 2)


def test_pairs_are_named_by_item_above_500_items():
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 2, (2, 40, 1)), 700, axis=2)
    labels[:, :, 350:] = rng.integers(0, 2, (2, 40, 350))
    found = Posterior(labels).diagnostics()
    sample = set(sample_items(700).tolist())
    assert len(sample) == 500
    names = [name for name in found.table["name"] if name.startswith("together")]
    pairs = [tuple(map(int, name[9:-1].split(","))) for name in names]
    assert {item for pair in pairs for item in pair} <= sample
    i, j = pairs[0]
    assert found[names[0]]["mean"] == pytest.approx((labels[:, :, i] == labels[:, :, j]).mean())
    assert found.chain_distance.n_items == 500


def test_chain_distance_is_what_chance_gives_for_good_chains():
    """Differences of independent chains are a few percent of the halves' prediction: 20 seeds, all within 30 %."""
    for seed in range(20):
        distance = Posterior(moving_chains(seed)).diagnostics().chain_distance
        assert distance.mean == pytest.approx(distance.expected_mean, rel=0.3)


def test_chain_distance_compares_whole_chains():
    labels = moving_chains(5, n_chains=3, n_draws=10)
    distance = Posterior(labels).diagnostics().chain_distance
    matrices = [co_clustering(chain) for chain in labels]
    below = np.tril_indices(12, -1)
    differences = [np.abs(matrices[a] - matrices[b])[below] for a, b in ((0, 1), (0, 2), (1, 2))]
    assert distance.mean == pytest.approx(np.mean(differences))
    assert distance.largest == pytest.approx(np.max(differences))
    halves = half_similarities(labels)
    np.testing.assert_allclose(halves[2, 1], co_clustering(labels[2, 5:]))


def test_table_as_text_html_and_frame():
    found = Posterior(moving_chains(0), {"<b>": np.random.default_rng(0).normal(size=(4, 500))}).diagnostics()
    lines = repr(found).splitlines()
    assert lines[0].split() == ["mean", "sd", "r_hat", "ess_bulk", "ess_tail", "mcse"]
    assert lines[-1] == found.verdict.sentence
    assert "Similarities of two chains differ by " in lines[-2]
    html = found._repr_html_()
    assert "<b>" not in html
    assert "<td>&lt;b&gt;</td>" in html
    frame = found.to_pandas()
    assert frame.loc["n_clusters", "r_hat"] == found["n_clusters"]["r_hat"]
    with pytest.raises(KeyError, match="nothing"):
        found["nothing"]


def test_huge_r_hat_is_shortened():
    assert ">100" in repr(Posterior(stuck_chains()).diagnostics())


def test_to_pandas_without_pandas_says_how_to_get_it(monkeypatch):
    found = Posterior(stuck_chains()).diagnostics()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"needs pandas; pip install 'bayesgrove\[tables\]'"):
        found.to_pandas()

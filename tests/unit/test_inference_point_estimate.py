"""Point estimates are the minimum over all partitions; credible balls and certainties equal their definitions."""

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError, MemoryLimitError
from bayesgrove.core.rng import generator
from bayesgrove.inference import partition_search, point_estimate
from bayesgrove.inference.posterior import Posterior
from bayesgrove.stats.partition_losses import distances_to_draws, named_loss
from bayesgrove.stats.partitions import all_partitions, binder_loss, relabel, relabel_draws, variation_of_information
from reference import point_estimate as twin

pytestmark = pytest.mark.unit
LOSSES = ("vi", "binder")
EVERY = {n: relabel_draws(np.array(list(all_partitions(n)))) for n in range(1, 8)}


def small_draws(seed, smallest=1, largest=7):
    """Draws without any structure: the hardest case for a search, as everything is nearly as good."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(smallest, largest + 1))
    return rng.integers(0, int(rng.integers(1, n + 1)), (int(rng.integers(1, 30)), n))


def noisy_draws(seed, n_draws, n_items, n_clusters, noise=0.1):
    rng = np.random.default_rng(seed)
    draws = np.tile(rng.integers(0, n_clusters, n_items), (n_draws, 1))
    moved = rng.random(draws.shape) < noise
    draws[moved] = rng.integers(0, n_clusters + 1, moved.sum())
    return draws


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(20))
def test_distances_equal_the_twin_and_the_plain_functions(seed, loss):
    draws = small_draws(seed)
    plain = {"vi": variation_of_information, "binder": binder_loss}[loss]
    rows = relabel_draws(draws)
    found = distances_to_draws(rows[:3], rows, named_loss(loss, rows.shape[1]))
    wanted = [[twin.distance(list(a), list(b), loss) for b in draws] for a in draws[:3]]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_allclose(found, [[plain(a, b) for b in draws] for a in draws[:3]], atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(150))
def test_the_estimate_is_the_minimum_over_all_partitions(seed, loss):
    draws = relabel_draws(small_draws(seed))
    n_items = draws.shape[1]
    expected = distances_to_draws(EVERY[n_items], draws, named_loss(loss, n_items)).mean(axis=1)
    estimate = Posterior(draws[np.newaxis]).point_estimate(loss, random_state=seed)
    assert estimate.expected_loss == pytest.approx(expected.min(), abs=1e-10)
    assert estimate.n_clusters == len(set(estimate.labels.tolist()))
    assert estimate.labels.tolist() == relabel(estimate.labels).tolist()
    assert estimate.labels.dtype == np.int64


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_the_estimate_equals_the_slow_twin(seed, loss):
    draws = small_draws(seed, 3, 5)
    estimate = Posterior(draws[np.newaxis]).point_estimate(loss, random_state=0)
    assert estimate.expected_loss == pytest.approx(twin.expected_loss(estimate.labels, draws, loss), abs=1e-12)
    assert estimate.expected_loss == pytest.approx(twin.least_expected_loss(draws, loss), abs=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("max_clusters", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_no_more_clusters_than_allowed(seed, loss, max_clusters):
    draws = small_draws(seed, 4, 5)
    estimate = Posterior(draws[np.newaxis]).point_estimate(loss, random_state=0, max_clusters=max_clusters)
    assert estimate.n_clusters <= max_clusters
    assert estimate.expected_loss == pytest.approx(twin.least_expected_loss(draws, loss, max_clusters), abs=1e-10)


def test_the_estimate_may_be_a_partition_that_was_never_drawn():
    draws = np.array([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 1, 0, 1, 1], [0, 0, 1, 1, 0]])
    estimate = Posterior(draws[np.newaxis]).point_estimate("binder", random_state=0)
    drawn = {tuple(relabel(draw)) for draw in draws}
    assert tuple(estimate.labels) not in drawn
    assert estimate.expected_loss < min(twin.expected_loss(draw, draws, "binder") for draw in draws)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_never_worse_than_the_best_draw(seed, loss):
    draws = relabel_draws(noisy_draws(seed, 60, 40, 5, noise=0.5))
    measure = named_loss(loss, 40)
    best = distances_to_draws(draws, draws, measure).mean(axis=1).min()
    estimate = Posterior(draws[np.newaxis]).point_estimate(loss, random_state=0, n_starts=1)
    assert estimate.expected_loss <= best + 1e-12


@pytest.mark.parametrize("loss", LOSSES)
def test_clusters_are_found_again_under_noise(loss):
    truth = relabel(noisy_draws(3, 1, 300, 12, noise=0.0)[0])
    estimate = Posterior(noisy_draws(3, 80, 300, 12)[np.newaxis]).point_estimate(loss, random_state=0)
    assert estimate.labels.tolist() == truth.tolist()


def test_more_clusters_than_the_first_tables_have_room_for():
    draws = np.tile(np.arange(60), (3, 1))
    estimate = Posterior(draws[np.newaxis]).point_estimate("vi", random_state=0)
    assert estimate.n_clusters == 60
    assert estimate.expected_loss == 0.0


def test_tables_grow_while_items_come_one_by_one():
    rows = relabel_draws(np.tile(np.arange(60), (3, 1)))
    found = point_estimate.run_starts(0, rows, named_loss("vi", 60), [], 3, None, 1)
    assert [len(set(labels.tolist())) for labels in found] == [60, 60, 60]


def test_the_result_depends_on_the_seed_only():
    posterior = Posterior(noisy_draws(1, 50, 120, 6, noise=0.6)[np.newaxis])
    found = [posterior.point_estimate(random_state=5, n_jobs=n_jobs, n_starts=6) for n_jobs in (1, 1, 2, 3)]
    assert len({tuple(estimate.labels) for estimate in found}) == 1
    assert len({estimate.expected_loss for estimate in found}) == 1


def test_many_draws_are_searched_in_part_and_judged_in_full(monkeypatch):
    monkeypatch.setattr(point_estimate, "MAX_SEARCHED_DRAWS", 20)
    draws = noisy_draws(2, 90, 30, 4, noise=0.3)
    estimate = Posterior(draws.reshape(3, 30, 30)).point_estimate(random_state=0)
    assert estimate.n_draws_searched == 20
    assert estimate.expected_loss == pytest.approx(twin.expected_loss(estimate.labels, draws, "vi"), abs=1e-10)


def test_draws_are_spread_evenly_and_fewer_for_many_items():
    draws = np.zeros((1000, 10), np.int32)
    draws[:, 1] = np.arange(1000)
    spread = point_estimate.spread_draws(draws)
    assert len(spread) == 500
    assert spread[0, 1] == 0
    assert spread[-1, 1] == 999
    assert set(np.diff(spread[:, 1])) <= {2, 3}
    assert len(point_estimate.spread_draws(np.zeros((300, 10_000), np.int32))) == 200
    assert len(point_estimate.spread_draws(np.zeros((300, 50_000), np.int32))) == 100
    assert len(point_estimate.spread_draws(np.tile(np.arange(1000, dtype=np.int32), (300, 1)))) == 100
    assert len(point_estimate.spread_draws(np.tile(np.arange(1000, dtype=np.int32) % 500, (300, 1)))) == 200


def test_fewer_starts_where_scans_are_long():
    assert point_estimate.affordable_starts(np.zeros((100, 10), np.int32)) == 16
    assert point_estimate.affordable_starts(np.tile(np.arange(1000, dtype=np.int32) % 400, (100, 1))) == 10
    assert point_estimate.affordable_starts(np.tile(np.arange(1000, dtype=np.int32), (200, 1))) == 4


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("level", [0.05, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_credible_ball_equals_its_definition(seed, level, loss):
    draws = small_draws(seed, 3, 6)
    posterior = Posterior(draws[np.newaxis])
    ball = posterior.credible_ball(level, loss, random_state=0)
    far = np.array([twin.distance(list(ball.center), list(draw), loss) for draw in draws])
    assert ball.radius == pytest.approx(twin.radius(ball.center, draws, level, loss), abs=1e-10)
    inside = far <= ball.radius + 1e-9
    assert ball.share_inside == pytest.approx(inside.mean())
    assert ball.share_inside >= level - 1e-12
    n_clusters = np.array([len(set(draw)) for draw in draws])
    fewest, most = n_clusters[inside].min(), n_clusters[inside].max()
    for bounds, among in (
        (ball.horizontal, inside),
        (ball.upper, inside & (n_clusters == fewest)),
        (ball.lower, inside & (n_clusters == most)),
    ):
        rim = among & (far >= far[among].max() - 1e-9)
        assert {tuple(labels) for labels in bounds} == {tuple(relabel(draw)) for draw in draws[rim]}


def test_credible_ball_takes_a_center():
    posterior = Posterior([[[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 2]]])
    ball = posterior.credible_ball(0.5, center=[7, 7, 3])
    assert ball.center.tolist() == [0, 0, 1]
    assert ball.radius == 0.0
    assert ball.share_inside == 0.5
    assert repr(ball) == "CredibleBall(level=0.5, radius=0, share_inside=0.5, n_clusters=2..2, loss='vi')"


@pytest.mark.parametrize("seed", range(10))
def test_certainty_equals_its_definition(seed):
    draws = small_draws(seed, 4, 7)
    labels = relabel(np.random.default_rng(seed).integers(0, 3, draws.shape[1]))
    certainty = Posterior(draws[np.newaxis]).certainty(labels)
    for i, label in enumerate(labels):
        own = [j for j in np.flatnonzero(labels == label) if j != i]
        alone = np.mean([list(draw).count(draw[i]) == 1 for draw in draws])
        assert certainty.own[i] == pytest.approx(twin.mean_similarity(draws, i, own) if own else alone, abs=1e-12)
        others = {
            k: twin.mean_similarity(draws, i, np.flatnonzero(labels == k)) for k in set(labels.tolist()) - {label}
        }
        assert certainty.alternative_similarity[i] == pytest.approx(max(others.values(), default=0.0), abs=1e-12)
        if others:
            assert others[certainty.alternative[i]] == pytest.approx(max(others.values()), abs=1e-12)
        else:
            assert certainty.alternative[i] == -1


def test_certainty_of_one_cluster_has_no_alternative():
    certainty = Posterior([[[0, 0, 0], [0, 0, 1]]]).certainty([4, 4, 4])
    assert certainty.own.tolist() == [0.75, 0.75, 0.5]
    assert certainty.alternative.tolist() == [-1, -1, -1]
    assert certainty.alternative_similarity.tolist() == [0.0, 0.0, 0.0]


def test_bad_settings_are_named(monkeypatch):
    posterior = Posterior([[[0, 0, 1], [0, 1, 2]]])
    with pytest.raises(InvalidSettingError, match="loss is one of vi, binder, omari, nvi, nid, got 'rand'"):
        posterior.point_estimate("rand")
    with pytest.raises(InvalidSettingError, match="n_starts must be at least 1, got 0"):
        posterior.point_estimate(n_starts=0)
    with pytest.raises(InvalidSettingError, match="max_clusters must be at least 1, got -1"):
        posterior.point_estimate(max_clusters=-1)
    with pytest.raises(InvalidSettingError, match=r"share of the draws above 0 and at most 1, got 95. Try 0.95"):
        posterior.credible_ball(95)
    with pytest.raises(InvalidInputError, match="one label per item, got 2 for 3"):
        posterior.certainty([0, 1])
    with pytest.raises(InvalidInputError, match="one label per item, got 4 for 3"):
        posterior.credible_ball(center=[0, 1, 2, 3])
    monkeypatch.setattr(point_estimate, "MAX_TABLE_CELLS", 5)
    with pytest.raises(MemoryLimitError, match=r"table of 5 blocks of draws by 2 clusters .* thin\(\), or set"):
        posterior.point_estimate(random_state=0)


def cells_of(draws):
    """Every item's cells, and their number."""
    widths = draws.max(axis=1) + 1
    offsets = np.concatenate([[0], np.cumsum(widths)])
    return np.ascontiguousarray((draws + offsets[:-1, np.newaxis]).T), int(offsets[-1])


def recount(labels, cells, n_cells, n_clusters):
    counts = np.zeros((n_cells, n_clusters), int)
    for i, label in enumerate(labels):
        if label >= 0:
            counts[cells[i], label] += 1
    return counts, np.bincount(labels[labels >= 0], minlength=n_clusters)


@pytest.mark.parametrize("seed", range(10))
def test_tables_agree_with_the_labels_after_every_move(seed):
    draws = relabel_draws(noisy_draws(seed, 8, 25, 5, noise=0.5))
    cells, n_cells = cells_of(draws)
    step = named_loss("vi", 25).step
    rng = generator(seed)
    labels = relabel(draws[0])
    counts, sizes = np.zeros((n_cells, 8), np.uint32), np.zeros(8, np.int64)
    n_clusters = partition_search.count_cells(labels, cells, counts, sizes)
    for _ in range(6):
        items = partition_search.destroy(rng, labels, cells, n_clusters, counts, sizes)
        n_clusters -= 1
        for part in (items, np.arange(25)):
            expected = recount(labels, cells, n_cells, n_clusters)
            np.testing.assert_array_equal(counts[:, :n_clusters], expected[0])
            np.testing.assert_array_equal(sizes[:n_clusters], expected[1])
            assert (sizes[:n_clusters] > 0).all()
            assert not counts[:, n_clusters:].any()
            assert not sizes[n_clusters:].any()
            _, n_clusters, counts, sizes = partition_search.reallocate(
                part, labels, cells, n_clusters, counts, sizes, step, 25
            )


@pytest.mark.parametrize("loss", LOSSES)
def test_the_sum_of_costs_is_the_loss_up_to_a_constant(loss):
    draws = relabel_draws(noisy_draws(0, 12, 20, 4, noise=0.4))
    measure = named_loss(loss, 20)
    cells, n_cells = cells_of(draws)
    differences = []
    for seed in range(5):
        labels = relabel(np.random.default_rng(seed).integers(0, 5, 20))
        counts, sizes = np.zeros((n_cells, 6), np.uint32), np.zeros(6, np.int64)
        n_clusters = partition_search.count_cells(labels, cells, counts, sizes)
        cost = partition_search.sum_of_costs(n_clusters, 12, counts, sizes, measure.step)
        differences.append(twin.expected_loss(labels, draws, loss) - cost / measure.scale)
    assert np.ptp(differences) < 1e-10


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_every_start_ends_where_no_single_move_helps(seed, loss):
    draws = relabel_draws(noisy_draws(seed, 10, 14, 3, noise=0.5))
    measure = named_loss(loss, 14)
    for labels in point_estimate.run_starts(seed, draws, measure, [draws[0]], 6, None, 1):
        moves = np.tile(labels, (14 * (labels.max() + 2), 1))
        for row, (item, cluster) in enumerate(np.ndindex(14, labels.max() + 2)):
            moves[row, item] = cluster
        expected = distances_to_draws(relabel_draws(np.vstack([labels, moves])), draws, measure).mean(axis=1)
        assert expected.min() >= expected[0] - 1e-10

"""The mixture's process and states: tables, conditionals, what is kept through moves, packing, extremes."""

import math

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError, NumericalError
from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.likelihoods.contract import hyper
from bayesgrove.models.nrm import guide, process, starts
from bayesgrove.models.nrm.split_merge import LAWS
from conftest import BY_NAME
from reference import nrm, nrm_hyper
from reference.mixtures import (
    DP,
    EVERY_MOVE,
    FREE_DP,
    FREE_NGGP,
    GIBBS,
    LIKELIHOOD,
    LOCAL,
    NGGP,
    PROCESS,
    SCHEDULES,
    anchors,
    build,
    faults,
    known_variance,
    log_kappa,
    state_of,
    sweep,
)
from reference.state_checks import check_nrm

pytestmark = pytest.mark.unit
ROWS = np.array([-2.1, -1.3, 0.4, 0.9, 3.2, 0.1, -0.4])


# The process


@pytest.mark.parametrize("v", [-30.0, 0.0, 5.0, 800.0])
@pytest.mark.parametrize("sigma", [1e-3, 0.5, 1 - 1e-3])
def test_log_kappa_and_densities_of_the_generalised_gamma(sigma, v):
    own, twin = NGGP._replace(alpha=0.7, sigma=sigma), nrm.GeneralisedGamma(0.7, sigma)
    table = log_kappa(own, v, 200)
    wanted = [nrm.log_kappa(twin, m, v) for m in range(1, 201)]
    np.testing.assert_allclose(table[1:201], wanted, rtol=1e-10, atol=1e-10)
    numbers, n = np.array([v, 0.7, sigma]), 6
    constant = process.log_constant(own.kind, numbers, n)
    assert constant == pytest.approx(nrm.log_constant(twin, n, v), rel=1e-10)
    if sigma * v < 700.0:
        found, at_zero = (process.log_density_v(at, n, 3, 0.7, sigma) for at in (v, 0.1))
        assert found - at_zero == pytest.approx(
            nrm.log_u_density(v, n, 3, twin) - nrm.log_u_density(0.1, n, 3, twin), rel=1e-9, abs=1e-9
        )


def test_log_kappa_of_the_dirichlet_process():
    table = log_kappa(DP._replace(alpha=2.5), 800.0, 50)
    wanted = [nrm.log_kappa(nrm.Dirichlet(2.5), m) for m in range(1, 51)]
    np.testing.assert_allclose(table[1:51], wanted, rtol=1e-12, atol=1e-12)


def test_density_of_sigma_equals_the_twin():
    own = FREE_NGGP._replace(sigma_a=1.4, sigma_b=2.3)
    law, sizes = nrm_hyper.RandomGeneralisedGamma(1.0, 1.0, 1.4, 2.3), np.array([2, 1, 3])
    for v, alpha in ((-2.0, 0.5), (1.3, 2.0)):
        gaps = [
            process.log_density_sigma(sigma, nrm.softplus(v), alpha, own, sizes)
            - nrm_hyper.log_sigma_density(law, (2, 1, 3), alpha, v, sigma)
            for sigma in (0.01, 0.3, 0.7, 0.99)
        ]
        assert max(gaps) - min(gaps) < 1e-9
    assert process.log_density_sigma(0.0, 1.0, 1.0, own, sizes) == -math.inf
    assert process.log_density_sigma(1.0, 1.0, 1.0, own, sizes) == -math.inf


class FixedRng:
    """Draws that show their parameters: gammas are 1, exponentials 1."""

    def __init__(self):
        self.shapes = []

    def gamma(self, shape):
        self.shapes.append(shape)
        return 1.0

    standard_gamma = gamma

    def standard_exponential(self):
        return 1.0

    def random(self):
        return 0.5


@pytest.mark.parametrize("kind", ["dp", "nggp"])
def test_alpha_is_drawn_from_its_gamma_conditional(kind):
    own = (FREE_DP if kind == "dp" else FREE_NGGP)._replace(alpha_shape=1.3, alpha_rate=0.8, free_sigma=False)
    numbers, rng, sizes = np.array([0.4, 0.9, 0.5]), FixedRng(), np.array([2, 1, 3])
    process.draw_process(rng, own, numbers, sizes, 6)
    assert rng.shapes[-1] == 1.3 + 3
    if kind == "nggp":
        law = nrm_hyper.RandomGeneralisedGamma(1.3, 0.8, 1.5, 1.5)
        wanted = nrm_hyper.alpha_given_rest(law, 3, 0.5, numbers[process.V])
    else:  # w = 1 with the tail, over itself and 1
        assert rng.shapes[:2] == [0.9 + 1.0, 6]
        tail = math.exp(-1.0 / 0.9)
        wanted = nrm_hyper.dirichlet_alpha_given_rest(nrm_hyper.RandomDirichlet(1.3, 0.8), 3, tail / (tail + 1.0))
    assert rng.shapes[-1] == pytest.approx(wanted.shape)
    assert numbers[process.ALPHA] == pytest.approx(1.0 / wanted.rate, rel=1e-12)


@pytest.mark.parametrize(("sigma", "v"), [(1e-3, 800.0), (1e-3, 3_000.0), (1 - 1e-3, 8.0), (0.5, -700.0)])
def test_updates_of_extreme_numbers_stay_finite(sigma, v):
    """With a small sigma log u has the scale 1 / sigma."""
    numbers, rng = np.array([v, 1.0, sigma]), generator(3)
    for _ in range(200):
        process.draw_process(rng, FREE_NGGP, numbers, np.array([4, 1, 1]), 6)
        assert np.isfinite(numbers).all()
        assert 0.0 < numbers[process.SIGMA] < 1.0
        assert numbers[process.ALPHA] > 0.0
        assert math.isfinite(process.log_constant(FREE_NGGP.kind, numbers, 6))


def test_a_sigma_far_too_large_for_u_is_impossible_not_an_error():
    """(1 + u)^sigma beyond all floats: slice sampling looks there when sigma is small and log u in the thousands."""
    assert process.log_density_sigma(0.3, 3_000.0, 1.0, FREE_NGGP, np.array([4, 1, 1])) < -1e300
    assert process.log_density_v(3_000.0, 6, 3, 1.0, 0.3) < -1e300


@pytest.mark.parametrize("v", [5.0, 800.0, 5_000.0])
def test_log_u_under_a_tiny_sigma(v):
    rng, values = generator(4), []
    for _ in range(500):
        v = process.draw_v(rng, v, 20, 5, 1.0, 1e-3)
        values.append(v)
    assert np.isfinite(values).all()
    assert max(values) > 1_000.0


# States


def learned(prior):
    """Names of the numbers of the likelihood that can be learned."""
    return tuple(name for name, _, _ in hyper(prior))


@pytest.mark.parametrize(
    ("name", "missing"),
    [*((name, 0.0) for name in BY_NAME), ("gaussian", 0.2), ("columns", 0.2), ("multinomial", 0.2)],
)
def test_what_is_kept_stays_true_through_all_moves(by_name, name, missing):
    """A thousand moves; with missing cells all likelihoods have one scorer, so that three are enough."""
    example = by_name[name]
    values = example.data(5, 40, missing)
    sampler = build(example.prior, values, FREE_NGGP, free=learned(example.prior)[:1])
    rng = generator(6)
    own = sampler.start(rng)
    seen, splits, merges = set(), 0, 0
    for _ in range(70):  # of 15 moves
        for step in EVERY_MOVE:
            tallies = sampler.move(rng, own, step)
            splits, merges = splits + tallies.get("splits_accepted", 0), merges + tallies.get("merges_accepted", 0)
            assert faults(own, sampler.values) == ""
        seen.add(sampler.labels(own).tobytes())
        assert np.isfinite(list(sampler.scalars(own).values())).all()
    assert min(splits, merges) > 0
    assert len(seen) > 10


def test_check_names_what_is_wrong():
    sampler = build(known_variance(1), ROWS[:, None], DP)
    for spoil, message in (
        (lambda own: own.clusters.labels.__setitem__(0, 2), r"labels are not 0 \.\. 1"),
        (lambda own: own.clusters.sizes.__setitem__(0, 9), "sizes .* are not"),
        (lambda own: own.clusters.rows.__setitem__((0, 1), 99.0), "rows are off by"),
        (lambda own: own.clusters.log_marginal.__setitem__(0, 1.0), "log marginals are off by"),
    ):
        own = state_of(sampler, [0, 0, 0, 1, 1, 1, 1])
        check_nrm(own, sampler.values)
        spoil(own)
        with pytest.raises(ValueError, match=message):
            check_nrm(own, sampler.values)


@pytest.mark.parametrize("step", [GIBBS, anchors("uniform", "tree", times=400)], ids=["gibbs", "anchors"])
def test_room_for_clusters_grows(step):
    """So many clusters are wanted that a start from one must grow several times."""
    values = generator(2).normal(0, 50, (300, 1))
    sampler = build(known_variance(1, 1.0, 2500.0), values, DP._replace(alpha=500.0))
    rng = generator(3)
    own = sampler.start(rng)
    capacity = own.clusters.sizes.size
    assert capacity == 16
    for _ in range(4):
        sampler.move(rng, own, step)
        assert faults(own, sampler.values) == ""
    assert own.clusters.n_clusters[0] > 4 * capacity
    assert own.clusters.sizes.size > own.clusters.n_clusters[0]


def test_singletons_come_together():
    values = generator(2).normal(0, 1, (300, 1))
    sampler = build(known_variance(1), values, DP, start=starts.Singletons(300))
    rng = generator(3)
    own = sampler.start(rng)
    assert own.clusters.n_clusters[0] == 300
    for _ in range(15):
        sweep(sampler, rng, own, SCHEDULES["tree-guided"])
    assert faults(own, sampler.values) == ""
    assert own.clusters.n_clusters[0] < 30


ALL_STEPS = (GIBBS, LOCAL, PROCESS, LIKELIHOOD, *(anchors(law, times=5) for law in LAWS))


def small_sampler(process=FREE_NGGP):
    """Forty points in two columns, one number of the likelihood learned."""
    values = generator(8).normal(0, 3, (40, 2))
    return build(known_variance(2), values, process, free=("variance",), start=starts.Singletons(40))


def snapshot(sampler, own):
    """All bits of what is stored, and the scalars."""
    packed = sampler.pack(own)
    return [packed[name].tobytes() for name in sorted(packed)], sampler.scalars(own)


@pytest.mark.parametrize("step", ALL_STEPS, ids=lambda step: "-".join([step.move, *step.options.get("laws", ())]))
def test_a_refreshed_state_and_its_copy_go_on_alike(step):
    """To the last bit, each move alone and then all together."""
    sampler, rng = small_sampler(), generator(9)
    own = sampler.start(rng)
    for _ in range(3):
        sweep(sampler, rng, own, EVERY_MOVE)
    sampler.refresh(own)
    other = sampler.unpack(sampler.pack(own))
    assert snapshot(sampler, own) == snapshot(sampler, other)
    for steps in ((step,) * 5, EVERY_MOVE * 3):
        for each in (own, other):
            sweep(sampler, generator(10), each, steps)
        assert snapshot(sampler, own) == snapshot(sampler, other)


def test_refresh_changes_nothing_but_rounding():
    sampler, rng = small_sampler(), generator(9)
    own = sampler.start(rng)
    for _ in range(5):
        sweep(sampler, rng, own, EVERY_MOVE)
    before = sampler.pack(own), sampler.scalars(own)
    sampler.refresh(own)
    assert faults(own, sampler.values) == ""
    after = sampler.pack(own), sampler.scalars(own)
    for name, array in before[0].items():
        np.testing.assert_array_equal(array, after[0][name])
    for name, value in before[1].items():
        assert value == pytest.approx(after[1][name], rel=1e-10)
    first_seen = np.unique(sampler.labels(own), return_index=True)[1]
    assert (np.diff(first_seen) > 0).all()


def test_same_seed_same_draws_and_other_seed_others():
    sampler = small_sampler()
    found = []
    for seed in (1, 1, 2):
        rng = generator(seed)
        own = sampler.start(rng)
        for _ in range(5):
            sweep(sampler, rng, own, EVERY_MOVE)
        found.append(snapshot(sampler, own))
    assert found[0] == found[1] != found[2]


def test_log_joint_equals_the_twin():
    values, labels = ROWS[:5], (0, 0, 1, 2, 1)
    evidence = nrm.gaussian_evidence(values, 1.0, 9.0)
    for own, twin in ((DP, nrm.Dirichlet(1.0)), (NGGP, nrm.GeneralisedGamma(1.0, 0.5))):
        sampler = build(known_variance(1), values[:, None], own)
        found = sampler.scalars(state_of(sampler, labels, log_u=1.3))
        assert found["log_joint"] == pytest.approx(nrm.log_joint(labels, evidence, twin, 1.3), rel=1e-10)
        assert found["n_clusters"] == 3.0
        assert found.get("log_u", 1.3) == 1.3


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_rows(n):
    sampler = build(known_variance(1), ROWS[:n, None], FREE_NGGP, free=("variance",))
    rng = generator(1)
    own = sampler.start(rng)
    for _ in range(50):
        sweep(sampler, rng, own, EVERY_MOVE)
        assert faults(own, sampler.values) == ""
    assert np.isfinite(list(sampler.scalars(own).values())).all()


def test_duplicated_and_constant_rows():
    for values in (np.repeat(ROWS[:3], 20)[:, None], np.ones((30, 2))):
        sampler = build(known_variance(values.shape[1]), values, FREE_NGGP)
        rng = generator(1)
        own = sampler.start(rng)
        for _ in range(20):
            sweep(sampler, rng, own, EVERY_MOVE)
        assert faults(own, sampler.values) == ""


@pytest.mark.parametrize(("own", "log_u"), [(DP, 0.0), (NGGP._replace(sigma=1e-3), 800.0), (NGGP, 20.0)])
def test_a_hundred_thousand_rows_as_large_as_10000(own, log_u):
    n, rng = 100_000, generator(2)
    values = np.clip(rng.normal(0, 5_000, (n, 1)), -1e4, 1e4)
    values[:2] = [[-1e4], [1e4]]
    sampler = build(known_variance(1), values, own)
    log_d, first, last = np.empty(n - 1), np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    kappa = log_kappa(own, log_u, n)
    key = sampler.guide.key
    log_t = guide.tree_potentials(sampler.prior, sampler.values, np.arange(n), key, kappa, log_d, first, last)
    assert np.isfinite(log_d).all()
    assert math.isfinite(log_t)
    assert np.isfinite(sampler.guide.cumulative).all()
    current = state_of(sampler, np.zeros(n, np.int64), log_u=log_u)
    steps = (anchors("uniform", "tree", "balanced", "cluster", "v1", times=10), Step("gibbs", 1, {"n_points": 200}))
    sweep(sampler, rng, current, (*steps, Step("local", 1, {"most": 100}), PROCESS))
    assert faults(current, sampler.values) == ""
    assert current.clusters.n_clusters[0] > 1
    assert np.isfinite(list(sampler.scalars(current).values())).all()


def test_subsets_of_points_and_their_settings():
    sampler, rng = small_sampler(), generator(1)
    own = sampler.start(rng)
    before = sampler.labels(own)
    sampler.move(rng, own, Step("gibbs", 1, {"n_points": 3}))
    assert faults(own, sampler.values) == ""
    still_alone = np.bincount(sampler.labels(own))[sampler.labels(own)] == 1
    assert still_alone.sum() >= before.size - 2 * 3
    with pytest.raises(InvalidSettingError, match=r"a move is one of gibbs, anchors, local.* got 'jump'"):
        sampler.move(rng, own, Step("jump"))


def test_a_row_without_a_finite_density_is_named():
    sampler = build(known_variance(1), np.array([[0.0], [1.0], [2.0]]), DP)
    place = int(np.flatnonzero(sampler.guide.order == 2)[0])
    sampler.values[place] = 1e200
    own = state_of(sampler, [0, 1, 2])
    with pytest.raises(NumericalError, match="no cluster, old or new, is possible for row 2"):
        sampler.move(generator(1), own, GIBBS)


def test_fingerprint_tells_models_apart():
    base = small_sampler()
    assert base.fingerprint() == small_sampler().fingerprint()
    assert base.fingerprint() != small_sampler(FREE_DP).fingerprint()
    other = build(known_variance(2), base.values + 1e-9, FREE_NGGP, free=("variance",))
    assert base.fingerprint()["data"] != other.fingerprint()["data"]


# Where chains begin


def test_starts():
    rng = generator(1)
    assert starts.OneCluster(4)(rng).tolist() == [0] * 4
    assert starts.Singletons(3)(rng).tolist() == [0, 1, 2]
    assert starts.GivenLabels(np.array([7, 7, 2]))(rng).tolist() == [0, 0, 1]


@pytest.mark.parametrize("n", [60, 1_300])
def test_start_from_a_clustered_sample_finds_groups_far_apart(n):
    """All rows where they are few; more are put to the clusters of 500."""
    rng = generator(3)
    truth = rng.integers(0, 4, n)
    values = rng.normal(20.0 * truth, 1.0)[:, None]
    own = build(known_variance(1, 1.0, 400.0), values, DP)
    start = starts.SampleStart(own.prior, values, DP)
    labels = start(generator(4))
    joint = np.unique(np.column_stack([truth, labels]), axis=0)
    assert len(joint) == labels.max() + 1 == len(np.unique(labels))  # each cluster lies in one group
    assert labels.max() < 12
    np.testing.assert_array_equal(labels, start(generator(4)))

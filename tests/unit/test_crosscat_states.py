"""CrossCat's states and sampler: what is kept through moves, densities of numbers, packing, resuming, refusals."""

import dataclasses
import math

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError, NumericalError
from bayesgrove.core.rng import generator
from bayesgrove.inference.run import RunSettings, continue_chains, run_chains
from bayesgrove.inference.schedule import Schedule, Step
from bayesgrove.likelihoods.columns import ColumnsPrior, column_log_marginal
from bayesgrove.likelihoods.families import BERNOULLI, GAUSSIAN, POISSON
from bayesgrove.models.cross import mcmc_coordinates, mcmc_hyper, mcmc_starts
from bayesgrove.models.cross.mcmc_columns import make_work, score_labels
from bayesgrove.models.cross.mcmc_sampler import CrossCatSampler
from bayesgrove.models.cross.mcmc_schedules import default_schedule, default_steps
from bayesgrove.models.cross.mcmc_state import column_score, log_joint, make_state
from bayesgrove.models.cross.mcmc_target import make_target
from bayesgrove.stats.partitions import relabel
from conftest import COLUMNS, draw_mixed
from reference.crosscat_tables import faults
from reference.state_checks import check_cross
from reference.toy_sampler import digest

pytestmark = pytest.mark.unit
EVERY_MOVE = (
    Step("columns"),
    Step("columns", 1, {"new_view": "prior", "n_proposals": 2, "share": 0.5}),
    Step("rows", 1, {"share": 0.7}),
    Step("rows"),
    Step("split-merge", 5),
    Step("numbers", 1, {"share": 0.5}),
    Step("concentrations"),
)


def mixed_sampler(n_rows=30, *, missing=0.15, betas=(1.0,), start="random", seed=3):
    """Three times the columns of all families that tests of likelihoods use, with missing cells."""
    rng = generator(seed)
    values = np.concatenate([draw_mixed(rng, n_rows) for _ in range(3)], axis=1).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    family, params = np.tile(COLUMNS.family, 3), np.tile(COLUMNS.params, (3, 1))
    starts = np.concatenate([[0], np.cumsum(np.tile(np.diff(COLUMNS.start), 3))])
    target = make_target(ColumnsPrior(family, params, starts), values)
    hyperpriors = mcmc_coordinates.default_hyperpriors(target)
    return CrossCatSampler(target, params, (1.0, 1.0), hyperpriors, mcmc_starts.STARTS[start], betas)


def sweep(sampler, rng, state, steps):
    for step in steps:
        sampler.move(rng, state, step)


@pytest.mark.parametrize("betas", [(1.0,), (1.0, 0.6)], ids=str)
def test_what_is_kept_stays_true_through_all_moves(betas):
    sampler, rng = mixed_sampler(betas=betas), generator(4)
    state, seen, totals = sampler.start(rng), set(), {}
    for _ in range(15):
        for step in (*EVERY_MOVE, Step("swap")):
            for name, n in sampler.move(rng, state, step).items():
                totals[name] = totals.get(name, 0) + n
            for chain in state.chains:
                assert faults(sampler.target, chain) == ""
        seen.add(sampler.labels(state.chains[0])[0].tobytes())
        assert np.isfinite(list(sampler.scalars(state).values())).all()
    assert len(seen) > 5
    assert min(totals[name] for name in ("moved", "opened", "splits_accepted", "merges_accepted")) > 0
    if len(betas) > 1:
        assert 0 < totals["swaps_0"] == 15


@pytest.mark.parametrize("start", mcmc_starts.STARTS)
def test_starts(start):
    sampler = mixed_sampler(start=start)
    state = sampler.start(generator(1))
    assert faults(sampler.target, state.chains[0]) == ""
    n_views = {"one_view": 1, "apart": sampler.n_columns}.get(start)
    assert n_views is None or state.chains[0].n_views == n_views


def test_a_given_start():
    sampler = mixed_sampler()
    views = np.arange(sampler.n_columns) % 2
    for rows in (None, np.arange(2 * sampler.n_rows).reshape(2, -1) % 3):
        chain = dataclasses.replace(sampler, first=mcmc_starts.Given(views, rows)).start(generator(1)).chains[0]
        assert faults(sampler.target, chain) == ""
        assert sampler.labels(chain)[0].tolist() == views.tolist()
    assert sampler.labels(chain)[1].max() == 2
    with pytest.raises(InvalidSettingError, match=r"row labels are given for each view, .* got 3 rows for 2 views"):
        mcmc_starts.Given(views, np.zeros((3, 4)))
    with pytest.raises(InvalidSettingError, match=r"a view for each of \d+ columns, got 2 labels"):
        dataclasses.replace(sampler, first=mcmc_starts.Given([0, 1])).start(generator(1))


def test_room_for_clusters_grows():
    rng = generator(2)
    prior = ColumnsPrior(np.array([GAUSSIAN] * 2), np.array([[0.0, 1e-4, 2.0, 1e-4]] * 2), np.array([0, 3, 6]))
    target = make_target(prior, rng.normal(0, 1, (80, 2)))
    hyperpriors = mcmc_coordinates.default_hyperpriors(target, concentrations=False, columns=False)
    sampler = CrossCatSampler(target, prior.params, (200.0, 1.0), hyperpriors, mcmc_starts.Given([0, 0], [[0] * 80]))
    for step in (Step("rows"), Step("split-merge", 400), Step("columns", 5)):
        state = sampler.start(rng)
        for _ in range(3):
            sampler.move(rng, state, step)
            assert faults(target, state.chains[0]) == ""
        assert state.chains[0].views.stats.shape[0] > 16


def test_check_names_what_is_wrong():
    sampler = mixed_sampler()
    for spoil, message in (
        (lambda views: views.of_column.__setitem__(0, 99), r"views are not 0 \.\. "),
        (lambda views: views.labels.__setitem__((0, 0), 25), r"labels of view 0 are not 0 \.\. "),
        (lambda views: views.sizes.__setitem__((0, 0), 99), "sizes .* of view 0 are not"),
        (lambda views: views.widths.__setitem__(0, 99), r"view 0 has \d+ columns, not 99"),
        (lambda views: views.stats.__setitem__((0, 1), 99.0), r"statistics of column 0 are off by"),
    ):
        chain = sampler.start(generator(1)).chains[0]
        check_cross(sampler.target, chain)
        spoil(chain.views)
        with pytest.raises(ValueError, match=message):
            check_cross(sampler.target, chain)
    chain = sampler.start(generator(1)).chains[0]
    chain.tables += 1.0
    with pytest.raises(ValueError, match="tables are not those of the numbers"):
        check_cross(sampler.target, chain)


def test_scores_of_a_column_under_labels():
    """What the column move computes equals the statistics a state keeps, with many clusters and with few."""
    sampler, rng = mixed_sampler(), generator(8)
    work = make_work(sampler.target)
    for n_clusters in (1, 3, 25):
        labels = np.concatenate([np.arange(n_clusters), rng.integers(0, n_clusters, sampler.n_rows - n_clusters)])
        chain = make_state(
            sampler.target, np.zeros(sampler.n_columns, int), [relabel(labels)], sampler.params, (1.0, 1.0)
        )
        for j in range(sampler.n_columns):
            found = score_labels(sampler.target, chain.params, chain.tables, j, relabel(labels), n_clusters, work)
            kept = column_score(sampler.target, chain.params, chain.tables, chain.views, j)
            assert found == pytest.approx(kept, rel=1e-9, abs=1e-9)
            plain = sum(
                column_log_marginal(
                    sampler.target.family[j], chain.views.stats[k], sampler.target.start[j],
                    sampler.target.start[j + 1], chain.params[j],
                )
                for k in range(n_clusters)
            )  # fmt: skip
            assert kept == pytest.approx(plain, rel=1e-9, abs=1e-9)


# Numbers


def test_coordinates_go_there_and_back():
    rng = generator(5)
    for family in range(6):
        n = mcmc_coordinates.n_coordinates(family)
        for which in range(n):
            p = rng.gamma(2.0, size=4)
            values = [mcmc_coordinates.coordinate_of(family, p, k) for k in range(n)]
            values[which] += 0.7
            mcmc_coordinates.set_coordinate(family, p, which, values[which])
            found = [mcmc_coordinates.coordinate_of(family, p, k) for k in range(n)]
            assert found == pytest.approx(values, abs=1e-12)


@pytest.mark.parametrize(("family", "which"), [(BERNOULLI, 0), (BERNOULLI, 1), (POISSON, 0), (GAUSSIAN, 3)])
def test_the_density_of_a_slice(family, which):
    """beta times log joint, plus the log Jacobian of the logit, which is not tempered."""
    rng, beta = generator(6), 0.7
    prior = ColumnsPrior(np.array([family]), np.array([[1.3, 0.8, 2.0, 0.5]]), np.array([0, 2 if family == 2 else 3]))
    target = make_target(prior, rng.integers(0, 2, (6, 1)).astype(float))
    hyperpriors = mcmc_coordinates.default_hyperpriors(target, concentrations=False)
    state = make_state(target, [0], [[0, 0, 1, 1, 1, 2]], prior.params, (1.0, 1.0))
    centre, spread = hyperpriors.centre[0, which], hyperpriors.spread[0, which]
    gaps, counts = [], mcmc_hyper.make_counts(3)
    mcmc_hyper.gather_counts(family, state.views.stats, 3, 0, counts)
    for value in (-1.1, 0.2, 0.9):
        found = mcmc_hyper.log_slice_density(
            family, state.views.stats, 3, 0, target.start[1], state.params[0], which, value, centre, spread, beta,
            counts,
        )  # fmt: skip
        fresh = make_state(target, [0], [[0, 0, 1, 1, 1, 2]], state.params, (1.0, 1.0))
        mean = 1.0 / (1.0 + math.exp(-value))
        log_jacobian = math.log(mean * (1.0 - mean)) if family == BERNOULLI and which == 0 else 0.0
        gaps.append(found - beta * log_joint(target, hyperpriors, fresh) - log_jacobian)
    assert max(gaps) - min(gaps) < 1e-9


def test_the_density_of_a_concentration():
    """beta times log joint plus log alpha: the slice is taken on the log scale."""
    sampler = mixed_sampler()
    chain, beta = sampler.start(generator(1)).chains[0], 0.6
    n_views = chain.n_views
    n_blocks, n_items = int(chain.views.n_clusters[:n_views].sum()), np.full(n_views, float(sampler.n_rows))
    gaps = []
    for alpha in (0.3, 1.0, 4.0):
        chain.concentrations[0] = alpha
        found = mcmc_hyper.log_concentration_density(math.log(alpha), beta, 1.0, 1.0, n_blocks, n_items)
        gaps.append(found - beta * log_joint(sampler.target, sampler.hyperpriors, chain) - math.log(alpha))
    assert max(gaps) - min(gaps) < 1e-9


class ShowingRng:
    """Draws that show their parameters: betas are 1/e, gammas their shape."""

    def __init__(self, uniform):
        self.uniform, self.betas = uniform, []

    def beta(self, a, b):
        self.betas.append((a, b))
        return math.exp(-1.0)

    def random(self):
        return self.uniform

    def gamma(self, shape, scale):
        return shape * scale


@pytest.mark.parametrize(("uniform", "n_fewer"), [(0.0, 2), (0.999, 0)])
def test_escobar_and_west(uniform, n_fewer):
    """Gamma(shape + K - s, rate - sum of log eta); a group's s is 1 with probability n / (n + alpha)."""
    step, rng = getattr(mcmc_hyper.escobar_west, "py_func", mcmc_hyper.escobar_west), ShowingRng(uniform)
    found = step(rng, 0.9, 1.3, 0.8, 7, np.array([6.0, 4.0]))
    assert rng.betas == [(1.9, 6.0), (1.9, 4.0)]
    assert found == pytest.approx((1.3 + 7 - n_fewer) / (0.8 + 2.0), rel=1e-12)


# The engine


def test_chains_resume_with_the_same_bits(tmp_path):
    sampler = mixed_sampler(betas=(1.0, 0.7))
    schedule = default_schedule(5, n_chains=2, refresh=4)
    settings = RunSettings(n_chains=2, n_draws=30, seed=7, n_jobs=1, backend="threads")
    whole = run_chains(sampler, schedule, settings)
    part = run_chains(sampler, schedule, dataclasses.replace(settings, n_draws=13, run_dir=tmp_path / "run"))
    more = continue_chains(
        sampler, schedule, part, 17, dataclasses.replace(settings, n_draws=13, run_dir=tmp_path / "run")
    )
    assert digest(more) == digest(whole)
    assert digest(run_chains(sampler, schedule, settings)) == digest(whole)
    for result in whole:
        views, rows = result.draws["view_labels"], result.draws["row_labels"]
        assert views.shape == (30, sampler.n_columns)
        for labels, by_view, n_views in zip(views, rows, result.scalars["n_views"], strict=True):
            assert by_view.shape == (labels.max() + 1, sampler.n_rows) == (n_views, sampler.n_rows)
        assert result.counts["swap"]["swaps_0"] == 35


def test_a_fingerprint_tells_tables_and_settings_apart():
    sampler = mixed_sampler()
    assert sampler.fingerprint() == mixed_sampler().fingerprint()
    others = [mixed_sampler(seed=4), mixed_sampler(betas=(1.0, 0.5))]
    others.append(dataclasses.replace(sampler, concentrations=(1.0, 2.0)))
    assert all(other.fingerprint() != sampler.fingerprint() for other in others)


def test_small_tables_with_nothing_in_them():
    """One row, one column, a column without a cell."""
    for values in ([[1.0]], [[1.0], [0.0]], [[math.nan, 1.0], [math.nan, 0.0], [math.nan, 1.0]]):
        n_columns = len(values[0])
        prior = ColumnsPrior(np.full(n_columns, BERNOULLI), np.full((n_columns, 4), 0.5), 2 * np.arange(n_columns + 1))
        target = make_target(prior, np.array(values))
        sampler = CrossCatSampler(
            target, prior.params, (1.0, 1.0), mcmc_coordinates.default_hyperpriors(target), mcmc_starts.random_views
        )
        rng = generator(3)
        state = sampler.start(rng)
        for _ in range(20):
            sweep(sampler, rng, state, default_steps())
        assert faults(target, state.chains[0]) == ""


def test_schedules():
    names = [step.move for step in default_steps(n_chains=2, split_merge=0)]
    assert names == ["columns", "views", "rows", "numbers", "concentrations", "swap"]
    assert "views" not in [step.move for step in default_steps(view_share=0.0)]
    schedule = default_schedule(10, new_view="prior")
    assert Schedule.from_json(schedule.to_json()) == schedule
    shares = [{step.move: step.options.get("share") for step in steps} for steps in (schedule.tune, schedule.draw)]
    assert shares[0]["views"] > shares[1]["views"]


# Refusals


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Step("gibbs"), "a move is one of columns, views, rows, .* got 'gibbs'"),
        (Step("columns", 1, {"new_view": "magic"}), "new_view is one of sequential, prior, got 'magic'"),
        (Step("concentrations", 1, {"method": "magic"}), "method is one of escobar-west, slice, got 'magic'"),
    ],
    ids=lambda value: getattr(value, "move", ""),
)
def test_moves_that_are_refused(step, message):
    sampler = mixed_sampler()
    with pytest.raises(InvalidSettingError, match=message):
        sampler.move(generator(1), sampler.start(generator(1)), step)


@pytest.mark.parametrize("betas", [(), (0.9,), (1.0, 1.0), (1.0, 0.0)], ids=str)
def test_temperatures_that_are_refused(betas):
    with pytest.raises(InvalidSettingError, match="temperatures begin with 1, fall and stay above 0"):
        mixed_sampler(betas=betas)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Step("rows"), r"no cluster, old or new, is possible for row \d+"),
        (Step("columns"), r"no view, old or new, is possible for column \d+"),
    ],
    ids=["rows", "columns"],
)
def test_numbers_that_are_none_stop_the_chain(step, message):
    sampler = mixed_sampler()
    state = sampler.start(generator(1))
    state.chains[0].params[:] = math.nan
    state.chains[0].tables[:] = math.nan
    with pytest.raises(NumericalError, match=message):
        sampler.move(generator(2), state, step)

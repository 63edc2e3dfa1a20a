"""Densities, ratios and draws inside the moves of tree mixtures, against the same written out.

The sources are run as plain Python: the test of planted errors runs this file.
"""

import copy
import itertools
import math

import numba
import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import dirichlet

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.models.tree_hmm import assignments, cells, collapsed, hyper, proposals, split_merge
from bayesgrove.models.tree_hmm.collapsed_sampler import CollapsedTreeSampler
from bayesgrove.models.tree_hmm.component import Row, Uses, draw_component, expect_component, new_row
from bayesgrove.models.tree_hmm.starts import LabelsStart
from bayesgrove.models.tree_hmm.tables import make_tables, stack
from reference import tree_hmm as twin
from reference import tree_hmm_exact as exact
from reference.tree_hmm_generative import SHAPES, TreeModel

pytestmark = [
    pytest.mark.exact,
    pytest.mark.skipif(
        not numba.config.DISABLE_JIT,
        reason="needs NUMBA_DISABLE_JIT=1; run so by statistical/mutants/test_mutants.py",
    ),
]

L = C = M = 2
STRENGTHS = np.array([1.5, 0.6, 2.0, 0.7])
"""Of initial states, emissions, switching and transitions."""
VALUES = np.array([0.8, *STRENGTHS, 1.5, 2.0, 3.0])
"""The concentration stands first; the last three belong to infinitely many states."""


def target_of(mode):
    return TreeModel(mode).target(([tree._replace(labels=[0] * len(tree.labels)) for tree in SHAPES], np.empty((0, 0))))


def random_uses(rng, mode):
    """Counts as a weighted pass leaves them."""
    masks = twin.row_masks(L, C, M, mode)
    initial, emission, switching, transition = (np.where(mask, rng.gamma(1.5, size=mask.shape), 0.0) for mask in masks)
    return Uses(initial, np.ascontiguousarray(emission.T), switching, transition, np.zeros(L))


def as_row(tables):
    emission = np.ascontiguousarray(tables.emission.T)
    return Row(
        tables.initial, emission, tables.switching, tables.transition, np.zeros(M), np.zeros((C, 0, 2)), np.ones(C)
    )


def log_density(tables, uses, mode):
    """Of tables given counts: all free rows."""
    counts = twin.Tables(uses.initial, uses.emission.T, uses.switching, uses.transition)
    total = 0.0
    for table, count, mask, strength in zip(tables, counts, twin.row_masks(L, C, M, mode), STRENGTHS, strict=True):
        width = table.shape[-1]
        for row, own, free in zip(
            table.reshape(-1, width), count.reshape(-1, width), mask.reshape(-1, width), strict=True
        ):
            if free.any():
                total += dirichlet.logpdf(row[free] / row[free].sum(), strength + own[free])
    return total


def renumbered(tables, order):
    """The same tables with states under other numbers."""
    whole = [*order, C]
    return twin.Tables(
        tables.initial[:, whole],
        tables.emission[list(order)],
        tables.switching,
        tables.transition[:, whole][:, :, list(order)],
    )


@pytest.mark.parametrize("mode", twin.MODES)
def test_density_of_proposed_tables(mode):
    rng = np.random.default_rng(1)
    target = target_of(mode)
    for scale in (0.1, 1.0, 5.0):
        uses = Uses(*(scale * part for part in random_uses(rng, mode)))
        tables = twin.random_tables(rng, L, C, M, mode, STRENGTHS)
        nothing = Uses(*(np.zeros_like(part) for part in uses))
        given = [log_density(renumbered(tables, order), uses, mode) for order in itertools.permutations(range(C))]
        log_prior = log_density(tables, nothing, mode)
        log_mixed = np.logaddexp(
            math.log(0.95) + np.logaddexp.reduce(given) - math.log(math.factorial(C)), math.log(0.05) + log_prior
        )
        found = proposals.log_prior_ratio(target, VALUES, np.ones(C), uses, as_row(tables))
        assert found == pytest.approx(log_prior - log_mixed, abs=1e-9)


def test_ratio_of_a_split():
    rng = np.random.default_rng(2)
    kept, leaving = rng.normal(-5.0, 2.0, (2, 9))
    members, first, anchor = np.array([0, 2, 3, 5, 6, 8]), 3, 6
    is_leaving = np.array([True, False, False, True, True, False])
    share, log_density_ratio = 0.37, -1.3
    weight_a, weight_b = (1.0 - share) * np.exp(kept), share * np.exp(leaving)
    chance = weight_b / (weight_a + weight_b)
    wanted = math.log(VALUES[0]) + math.lgamma(3) + math.lgamma(3) - math.lgamma(6) + log_density_ratio
    for tree, leaves in zip(members, is_leaving, strict=True):
        wanted += leaving[tree] - kept[tree] if leaves else 0.0
        if tree not in (first, anchor):
            wanted -= math.log(chance[tree] if leaves else 1.0 - chance[tree])
    log_odds = math.log(share / (1.0 - share))
    found = split_merge.log_split_ratio(
        VALUES, log_density_ratio, log_odds, kept, leaving, members, is_leaving, first, anchor
    )
    assert found == pytest.approx(wanted, abs=1e-12)


class Accepting:
    """A generator that accepts every step, and remembers its log ratio: what minus an exponential is compared with."""

    def __init__(self, rng):
        self.rng, self.log_ratio = rng, math.nan

    def __getattr__(self, name):
        return getattr(self.rng, name)

    def standard_exponential(self):
        drawn = Exponential(self.rng.standard_exponential())
        drawn.owner = self
        return drawn

    def __lt__(self, log_ratio):
        self.log_ratio = float(log_ratio)
        return True


class Exponential(float):
    """A number whose negative is its generator."""

    def __neg__(self):
        return self.owner


def one_cluster(seed):
    """A sampler of drawn trees, and a state that has them all in one cluster."""
    model, rng = TreeModel(), np.random.default_rng(seed)
    truth = model.draw_prior(rng)
    sampler = model.sampler(model.draw_data(rng, truth))
    arrays = {name: part[:1] for name, part in truth.arrays.items()} | {"values": VALUES.copy()}
    return sampler, sampler.unpack(arrays | {"labels": np.zeros(sampler.n_items, np.int64)})


def test_a_merge_undoes_a_split():
    """With the same random numbers the launch is the same, and the merge has the inverse of the split's ratio."""
    for seed in range(8):
        sampler, state = one_cluster(seed)
        log_ratios = []
        for _ in range(2):
            rng, tallies = Accepting(generator(30, seed)), np.zeros(4, np.int64)
            split_merge.split_or_merge(rng, sampler.target, state.components, state.labels, state.values, tallies)
            log_ratios.append(rng.log_ratio)
        assert tallies.tolist() == [0, 0, 1, 1]
        assert log_ratios[0] == pytest.approx(-log_ratios[1], abs=1e-9)
        assert (state.labels == state.labels[0]).all()


def test_proposals_come_from_the_prior_one_time_in_twenty():
    """Counts so large that tables given them are hardly random."""
    target, n_draws = target_of("bottom_prior"), 4000
    uses = Uses(*(1e6 * part for part in random_uses(np.random.default_rng(4), "bottom_prior")))
    permuted, row, rng = Uses(*(np.zeros_like(part) for part in uses)), new_row(target), generator(6)
    mean, n_far = uses.switching / uses.switching.sum(), 0
    for _ in range(n_draws):
        split_merge.propose_tables(rng, target, VALUES, np.ones(C), uses, permuted, row)
        n_far += abs(row.switching[0] - mean[0]) > 0.01
    assert n_far / n_draws == pytest.approx(0.05 * 0.985, abs=4.5 * math.sqrt(0.05 * 0.95 / n_draws))


@pytest.mark.parametrize("mode", twin.MODES)
def test_tables_are_drawn_from_strengths_and_counts(mode):
    """Means of 2,000 draws within 4.5 standard errors: a row's law is Dirichlet(strength + counts)."""
    target, uses, n_draws = target_of(mode), random_uses(np.random.default_rng(3), mode), 2000
    rng, row = generator(5), new_row(target)
    sums = [np.zeros_like(part) for part in row[:4]]
    for _ in range(n_draws):
        draw_component(rng, target, VALUES, uses, row)
        for part, drawn in zip(sums, row, strict=False):
            part += drawn
    found = twin.Tables(sums[0], sums[1].T, sums[2], sums[3])
    counts = twin.Tables(uses.initial, uses.emission.T, uses.switching, uses.transition)
    for total, count, mask, strength in zip(found, counts, twin.row_masks(L, C, M, mode), STRENGTHS, strict=True):
        cells = np.where(mask, strength + count, 0.0)
        mass = np.maximum(cells.sum(axis=-1, keepdims=True), 1e-300)
        mean = cells / mass
        error = np.sqrt(mean * (1.0 - mean) / (mass + 1.0) / n_draws)
        assert (np.abs(total / n_draws - mean) <= 4.5 * error + 1e-12)[mask].all()


@pytest.mark.parametrize("mode", twin.MODES)
def test_tables_of_variational_passes(mode):
    target, uses = target_of(mode), random_uses(np.random.default_rng(6), mode)
    row = new_row(target)
    expect_component(target, VALUES, np.ones(C), uses, row)
    counts = twin.Tables(uses.initial, uses.emission.T, uses.switching, uses.transition)
    wanted = twin.expected_log(counts, STRENGTHS, mode)
    found = twin.Tables(row.initial, row.emission.T, row.switching, row.transition)
    for ours, theirs, mask in zip(found, wanted, twin.row_masks(L, C, M, mode), strict=True):
        np.testing.assert_allclose(ours[mask], theirs[mask], rtol=1e-11)


def test_probability_of_counts_given_a_strength():
    """Up to a constant, and the same for every family of rows: section 8.6."""
    rng = np.random.default_rng(7)
    counts = rng.integers(0, 4, (5, 3)).astype(float)
    counts[0] = 0.0
    used = counts.sum(axis=1) > 0.0

    def written_out(strength):
        total = 0.0
        for row in counts:
            total += math.lgamma(3 * strength) - math.lgamma(3 * strength + row.sum())
            total += sum(math.lgamma(strength + cell) - math.lgamma(strength) for cell in row)
        return total

    for strength in (0.3, 1.7):
        found = hyper.log_marginal(strength, counts[counts > 0.0], counts.sum(axis=1)[used], np.full(used.sum(), 3.0))
        assert found == pytest.approx(written_out(strength), abs=1e-11)


def test_concentration_given_the_number_of_clusters():
    """Mean of 20,000 draws against quadrature, within 4.5 batch-means standard errors."""
    target = TreeModel(free=("concentration",), hyperprior=(2.0, 1.5)).target((SHAPES, np.empty((0, 0))))
    grid = np.linspace(1e-4, 40.0, 200_001)
    log_density = 2 * np.log(grid) - 1.5 * grid + np.log(grid) + gammaln(grid) - gammaln(grid + len(SHAPES))
    weights = np.exp(log_density - log_density.max())
    wanted = (weights * np.log(grid)).sum() / weights.sum()
    rng, values, draws = generator(8), VALUES.copy(), []
    for _ in range(20_000):
        hyper.draw_concentration(rng, target, 2, values)
        draws.append(math.log(values[0]))
    batches = np.array(draws).reshape(40, -1).mean(axis=1)
    assert abs(batches.mean() - wanted) < 4.5 * batches.std() / math.sqrt(40)


# ---- labels of one tree


def state_with_pool(labels):
    """A state of three trees in rows 0 and 1, and a pool of two components in rows 2 and 3."""
    model = TreeModel()
    rng = np.random.default_rng(8)
    truth = model.draw_prior(rng)
    sampler = model.sampler(model.draw_data(rng, truth))
    drawn = [make_tables(*twin.random_tables(rng, L, C, M, "bottom_prior")) for _ in range(2)]
    names = ("initial", "emission", "switching", "transition", "log_scale")
    arrays = {**truth.arrays, "labels": np.array(labels), "moments": np.zeros((2, C, 0, 2))}
    state = sampler.unpack(arrays | dict(zip(names, stack(drawn), strict=True)))
    state.values[:] = VALUES
    state.components.scores[:4] = rng.normal(0.0, 1.0, (4, 3))
    return sampler, state


def drawn_labels(labels, n_draws):
    """How often the last tree goes to each of the rows 0 .. 3, and the rows' scores."""
    sampler, start = state_with_pool(labels)
    rng, seen = generator(9), np.zeros(4)
    for _ in range(n_draws):
        state = copy.deepcopy(start)
        assignments.assign_trees(rng, sampler.target, state.components, state.labels, state.values, 2, 2)
        seen[state.labels[2]] += 1
    return seen / n_draws, np.exp(start.components.scores[:4, 2])


def check_frequencies(seen, law, n_draws):
    """Within 4.5 standard errors each."""
    assert (np.abs(seen - law) <= 4.5 * np.sqrt(law * (1.0 - law) / n_draws)).all()


def test_a_tree_goes_by_sizes_and_the_concentration():
    seen, likelihoods = drawn_labels([0, 1, 1], 3000)
    weights = np.array([1.0, 1.0, VALUES[0] / 2, VALUES[0] / 2]) * likelihoods
    check_frequencies(seen, weights / weights.sum(), 3000)


def test_a_tree_alone_takes_its_component_into_the_pool():
    seen, likelihoods = drawn_labels([0, 0, 1], 3000)
    law = np.zeros(4)
    for dropped in (2, 3):
        weights = np.array([2.0, *[VALUES[0] / 2] * 3]) * likelihoods
        weights[dropped] = 0.0
        law += 0.5 * weights / weights.sum()
    check_frequencies(seen, law, 3000)


# ---- tables summed out


@pytest.mark.parametrize("mode", ["bottom_prior", "bottom"])
def test_uses_with_tables_summed_out(mode):
    """One tree after another, and all at once as in section 8.4."""
    target = target_of(mode)
    own = cells.make_cells(target)
    counts, totals = np.zeros(own.row.size), np.zeros(own.size.size)
    rng, found, hard = np.random.default_rng(10), 0.0, np.zeros((1, own.row.size))
    last = sum(len(tree.labels) for tree in SHAPES) - 1
    for number, shape in enumerate(SHAPES):
        tree = shape._replace(labels=[0] * len(shape.labels))
        states, chosen = twin.draw_states(rng, tree, twin.random_tables(rng, L, C, M, mode), mode)
        hard[0] += np.concatenate([t.ravel() for t in exact.hard_counts(tree, states, chosen, L, C, M, mode)])
        first = last + 1 - len(tree.labels)
        all_states, switches = np.zeros((2, target.links.labels.size), np.int64)
        all_states[first : last + 1] = states[::-1]
        for node, options in enumerate(twin.choices(tree, L, mode)):
            if options:
                choice = options[chosen[node]]
                switches[last - node] = -1 - choice.position
                if choice.child is not None:
                    switches[last - node] = np.flatnonzero(target.links.child_ids == last - choice.child)[0]
        used = np.empty(40, np.int64)
        n_used = collapsed.cells_of_tree(target, own, number, all_states, switches, used)
        found += cells.add_cells(own, VALUES, used, n_used, counts, totals)
        last = first - 1
    np.testing.assert_array_equal(counts, hard[0])
    wanted = exact.log_dirichlet_multinomial(hard, L, C, M, mode, STRENGTHS)[0]
    assert found == pytest.approx(wanted, abs=1e-10)
    mean = collapsed.room_for_tables(target)
    cells.fill_mean_tables(own, VALUES, counts, totals, target.mode, mean)
    masks = twin.row_masks(L, C, M, mode)
    cells_of = exact.as_tables(hard[0], L, C, M)
    raised = [np.where(m, t + s, 0.0) for t, m, s in zip(cells_of, masks, STRENGTHS, strict=True)]
    wanted_tables = twin.normalised(twin.Tables(*raised), twin.unused_rows(L, C, M))
    for ours, theirs in zip(
        (mean.initial, mean.emission.T, mean.switching, mean.transition), wanted_tables, strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def complete_cells(tree, state, links, mode):
    """Cells that the hidden states of a collapsed state's one tree use, and their log weight under uniform tables."""
    last = len(tree.labels) - 1
    chosen = []
    for node, options in enumerate(twin.choices(tree, L, mode)):
        entry = int(state.switches[last - node])
        key = (
            (last - int(links.child_ids[entry]), int(links.child_positions[entry]))
            if entry >= 0
            else (None, -1 - entry)
        )
        chosen.append([(option.child, option.position) for option in options].index(key) if options else -1)
    states = state.states[::-1]
    hard = exact.hard_counts(tree, states, chosen, L, C, M, mode)
    uniform = twin.uniform_tables(L, C, M, mode)
    weight = exact.complete_weights(tree, uniform, mode, states[None], chosen)[0]
    return np.concatenate([table.ravel() for table in hard])[None], math.log(weight)


@pytest.mark.parametrize("mode", ["bottom_prior", "bottom"])
def test_ratio_of_a_collapsed_step(mode):
    """One tree: the proposal is under uniform tables, and Delta of section 8.4 corrects it."""
    tree = SHAPES[2]._replace(labels=[0, 1, 0, 0])
    target = TreeModel(mode).target(([tree], np.empty((0, 0))))
    sampler = CollapsedTreeSampler(target._replace(values=VALUES), LabelsStart())
    for seed in range(5):
        state = sampler.start(generator(40, seed))
        deltas = []
        for _ in range(2):
            used, log_weight = complete_cells(tree, state, target.links, mode)
            deltas.append(exact.log_dirichlet_multinomial(used, L, C, M, mode, STRENGTHS)[0] - log_weight)
            if len(deltas) == 1:
                rng = Accepting(generator(41, seed))
                sampler.move(rng, state, Step("collapsed"))
        assert rng.log_ratio == pytest.approx(deltas[1] - deltas[0], abs=1e-10)

"""Penalties of nested hierarchies and the moves of their discriminants, against golden numbers and plain twins."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.models.nested.penalty import (
    Links,
    Penalty,
    energies,
    gain_below,
    margin_rows,
    own_branch_energy,
    path_energy,
)
from bayesgrove.models.nested.penalty_chance import log_chance_of_levels, log_chance_of_pairs, log_mean_discount
from bayesgrove.models.nested.penalty_gaussian import (
    augment_discriminants,
    draw_hinge_scale,
    fill_gaussian,
    find_worst,
    gibbs_discriminants,
    print_discriminants,
)
from bayesgrove.models.nested.penalty_slice import draw_discriminants, linked_nodes, slice_discriminants
from bayesgrove.models.nested.target import CHANCE, CHANCE_MAXIMUM, LEVEL_MAXIMUM, MAXIMUM, SUM

pytestmark = pytest.mark.unit
KINDS = (MAXIMUM, LEVEL_MAXIMUM, SUM, CHANCE, CHANCE_MAXIMUM)


def grow_links(levels, capacity=64):
    """Links, leaves and node numbers {(level, label): node} of one label per datum and level."""
    links = Links(*(np.full(capacity, NULL) for _ in range(3)))
    names, leaf = {(0, 0): 0}, []
    for path in zip(*levels, strict=True):
        above = 0
        for level, label in enumerate(path, 1):
            if (level, label) not in names:
                node = names[level, label] = len(names)
                links.parent[node] = above
                links.next_sibling[node] = links.first_child[above]
                links.first_child[above] = node
            above = names[level, label]
        leaf.append(above)
    return links, np.array(leaf), names


def read_levels(strings):
    """Labels from restricted growth strings."""
    return [[int(label) for label in string] for string in strings]


def make_penalty(kind, strength, margin, data, scale=1.0):
    """A penalty with its table."""
    data = np.ascontiguousarray(data, float)
    log_chance = np.empty((len(data), 0))
    if kind == CHANCE:
        log_chance = log_chance_of_pairs(data, strength, margin, scale)[:, None]
    if kind == CHANCE_MAXIMUM:
        log_chance = log_chance_of_levels(data, strength, margin, scale, 16)
    return Penalty(kind, strength, margin, data, log_chance)


def plain_energies(penalty, links, eta, leaf):
    """The table of `penalty.py`, word for word."""
    out = []
    for n, end in enumerate(leaf.tolist()):
        zetas, node = [], end
        while node != 0:
            siblings = [z for z in linked_nodes(links).tolist() if links.parent[z] == links.parent[node] and z != node]
            zetas.append([penalty.margin - (eta[node] - eta[z]) @ penalty.data[n] for z in siblings])
            node = int(links.parent[node])
        flat = [max(0.0, zeta) for level in zetas for zeta in level]
        if penalty.kind == MAXIMUM:
            energy = 2 * penalty.strength * max(flat, default=0.0)
        else:
            energy = 2 * penalty.strength * sum(flat)
        if penalty.kind == CHANCE:
            energy += len(flat) * penalty.log_chance[n, 0]
        if penalty.kind in (LEVEL_MAXIMUM, CHANCE_MAXIMUM):
            energy = 2 * penalty.strength * sum(max(0.0, *level) for level in zetas if level)
        if penalty.kind == CHANCE_MAXIMUM:
            energy += sum(penalty.log_chance[n, len(level)] for level in zetas)
        out.append(energy)
    return np.array(out)


def random_case(seed, kind):
    """A random tree with data, penalty and discriminants."""
    rng = generator(seed)
    n, depth = int(rng.integers(2, 12)), int(rng.integers(1, 4))
    levels, labels = [], np.zeros(n, int)
    for _ in range(depth):
        labels = np.unique(labels * 4 + rng.integers(0, 3, n), return_inverse=True)[1]
        levels.append(labels.tolist())
    links, leaf, _ = grow_links(levels)
    penalty = make_penalty(kind, float(rng.gamma(1.0)), float(rng.gamma(1.0)), rng.normal(size=(n, 2)))
    eta = np.zeros((64, 2))
    draw_discriminants(rng, links, eta, 1.0)
    return rng, penalty, links, eta, leaf, depth


# ---- energies


@pytest.mark.parametrize("kind", KINDS)
def test_energies_equal_the_definition(kind):
    """Compiled and plain energies agree on 50 random trees."""
    for seed in range(50):
        _, penalty, links, eta, leaf, _ = random_case(seed, kind)
        np.testing.assert_allclose(
            energies(penalty, links, eta, leaf), plain_energies(penalty, links, eta, leaf), rtol=0, atol=1e-9
        )


@pytest.mark.parametrize("kind", KINDS)
def test_new_sibling_costs_what_recomputation_says(kind):
    """Energy of a branch and what it adds to others equal the difference of whole energies, 200 states in all."""
    for seed in range(50):
        rng, penalty, links, eta, leaf, depth = random_case(seed, kind)
        n = int(rng.integers(len(leaf)))
        inner = [0, *(z for z in linked_nodes(links).tolist() if links.first_child[z] != NULL)]
        above = int(rng.choice(inner))
        others = leaf.copy()
        others[n] = NULL
        keep = others != NULL
        shrunk = penalty._replace(data=penalty.data[keep], log_chance=penalty.log_chance[keep])
        before = plain_energies(shrunk, links, eta, others[keep]).sum()
        vector = rng.normal(size=2)
        carried = path_energy(penalty, links, eta, n, above)
        claimed = own_branch_energy(penalty, links, eta, n, above, carried, vector)
        claimed += gain_below(penalty, links, eta, others, above, vector)
        top = NULL
        while above != NULL and top != above and depth > 0:
            node = int(np.flatnonzero(links.parent == NULL)[1])
            links.parent[node], links.next_sibling[node] = above, links.first_child[above]
            links.first_child[above] = node
            eta[node] = vector if top == NULL else rng.normal(size=2)
            top, above, others[n] = node, node, node
            break  # nodes below the top of the branch have no siblings and cost nothing
        after = plain_energies(penalty, links, eta, others).sum()
        assert claimed == pytest.approx(after - before, abs=1e-9)


def golden_state(golden):
    """Inputs of the golden state with links, discriminants and the penalty "max"."""
    numbers = golden("bhmc")["state"]
    given = numbers["inputs"]
    links, leaf, names = grow_links(read_levels(given["levels"]))
    eta = np.zeros((64, 2))
    for name, vector in given["eta"].items():
        level, label = name.split(":")
        eta[names[int(level), int(label)]] = vector
    return numbers, links, leaf, names, eta, make_penalty(MAXIMUM, given["C"], given["eps0"], given["X"])


def test_golden_hinges(golden):
    """h of the golden state, and log RCDL - log CDL = -2C sum h."""
    numbers, links, leaf, _, eta, penalty = golden_state(golden)
    found = energies(penalty, links, eta, leaf)
    np.testing.assert_allclose(found / (2 * penalty.strength), numbers["h"], atol=1e-8)
    assert -found.sum() == pytest.approx(numbers["log_RCDL"] - numbers["log_CDL"], abs=1e-8)


def test_golden_metropolis_hinges(golden):
    """Both ratios of the golden Metropolis proposal from energies: own hinge only as printed, all data as is right."""
    numbers, links, leaf, names, eta, penalty = golden_state(golden)
    move = numbers["path_mh"]
    n, old = move["datum"], int(leaf[move["datum"]])
    log_ell = move["log_ell_new"] - move["log_ell_old"]
    unlink(links, old)
    others = leaf.copy()
    others[n] = NULL
    above = names[1, 1]
    own_old = own_branch_energy(penalty, links, eta, n, above, path_energy(penalty, links, eta, n, above), eta[old])
    all_old = own_old + gain_below(penalty, links, eta, others, above, eta[old])
    vector = np.array(move["new_level1_eta"])
    own_new = own_branch_energy(penalty, links, eta, n, 0, 0.0, vector)
    all_new = own_new + gain_below(penalty, links, eta, others, 0, vector)
    assert log_ell + own_old - own_new == pytest.approx(move["log_ratio_printed"], abs=1e-8)
    assert log_ell + all_old - all_new == pytest.approx(move["log_ratio_correct"], abs=1e-8)


def unlink(links, node):
    """Take a node out of its parent's list."""
    above = links.parent[node]
    if links.first_child[above] == node:
        links.first_child[above] = links.next_sibling[node]
        return
    elder = int(links.first_child[above])
    while links.next_sibling[elder] != node:
        elder = int(links.next_sibling[elder])
    links.next_sibling[elder] = links.next_sibling[node]


def test_margin_rows():
    """Scaling to a root mean squared norm of 1, a column of ones, constant rows of 0."""
    values = generator(1).normal(size=(7, 3))
    rows = margin_rows(values, scale="rms", intercept=True)
    assert (rows[:, :3] ** 2).sum() == pytest.approx(7.0)
    assert (rows[:, 3] == 1.0).all()
    assert not margin_rows(np.zeros((2, 2)), scale="rms").any()
    with pytest.raises(InvalidSettingError, match='margin_scale is None or "rms"'):
        margin_rows(values, scale="norm")


# ---- what margins cost by chance


@pytest.mark.parametrize(("strength", "margin", "scale"), [(0.4, 1.0, 1.0), (3.0, 0.1, 2.0), (0.01, 1.0, 0.5)])
def test_chance_against_monte_carlo(strength, margin, scale):
    """g_n and g_{n,j} to 1e-3 (spec 15.2): 4e5 draws, a standard error below 2.5e-4 times 4."""
    rng, data = generator(5), np.array([[0.9, -1.2], [0.2, 0.1]])
    scores = scale * rng.normal(size=(400_000, 4))
    pairs, levels = (
        np.exp(log_chance_of_pairs(data, strength, margin, scale)),
        np.exp(log_chance_of_levels(data, strength, margin, scale, 3)),
    )
    for n, row in enumerate(data):
        own, *others = (np.linalg.norm(row) * scores).T
        for j in (1, 2, 3):
            worst = margin - own + np.max(others[:j], axis=0)
            expected = np.exp(-2 * strength * np.maximum(0.0, worst))
            error = 4.4 * expected.std() / math.sqrt(expected.size)
            assert levels[n, j] == pytest.approx(expected.mean(), abs=max(error, 1e-3))
        assert pairs[n] == pytest.approx(levels[n, 1], rel=1e-6)
    assert (levels[:, 0] == 1.0).all()


def test_chance_is_finite_at_extremes():
    """No nan or infinity for vanishing rows, large C, huge spread, no margin; C = 0 costs nothing."""
    spread = np.array([0.0, 1e-300, 1e-8, 1.0, 1e3, 1e8])
    for strength in (1e-12, 1.0, 100.0):
        for mean in (0.0, 1e-9, 1.0, 50.0):
            found = log_mean_discount(strength, np.full(6, mean), spread)
            assert np.isfinite(found).all()
            assert (found <= 1e-12).all()
    np.testing.assert_allclose(log_mean_discount(0.0, np.ones(6), spread), 0.0, atol=1e-12)
    assert np.isfinite(log_chance_of_levels(np.array([[10.0], [0.0]]), 100.0, 1.0, 3.0, 40)).all()


# ---- augmentation


def test_augmentation_identity(golden):
    """exp(-2 max(0, u)) is the integral over lambda, to 1e-10."""
    for u in golden("bhmc")["augmentation"]["u"]:
        # lambda = s^2 takes the singularity at 0 away
        def density(s, u=u):
            return 2.0 / math.sqrt(2 * math.pi) * math.exp(-((s * s + u) ** 2) / (2 * s * s)) if s > 0 else 0.0

        value = sum(integrate.quad(density, *span, epsabs=1e-13, limit=400)[0] for span in [(0, 1), (1, 5), (5, 40)])
        assert value == pytest.approx(math.exp(-2 * max(0.0, u)), abs=1e-10)


@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-6, 0.01, 0.5, 3.0, 50.0])
def test_hinge_scales_follow_their_law(distance):
    """Kolmogorov-Smirnov p > 1e-4, all positive, mean 1 + d; 1 / lambda is inverse Gaussian of mean 1 / d."""
    rng = generator(12)
    drawn = np.array([draw_hinge_scale.py_func(rng, distance) for _ in range(20_000)])
    assert (drawn > 0.0).all()
    error = drawn.std() / math.sqrt(drawn.size)
    assert abs(drawn.mean() - 1 - distance) < 4.4 * error
    law = stats.geninvgauss(0.5, distance, scale=distance) if distance > 1e-5 else stats.chi2(1)
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-4


def test_golden_augmented_gaussian(golden):
    """Worst constraints, precision and mean of the golden update."""
    numbers, links, leaf, names, eta, penalty = golden_state(golden)
    expected = numbers["eta_augmented"]
    own, rival, zeta = np.full(6, NULL), np.full(6, NULL), np.empty(6)
    find_worst(penalty, links, eta, leaf, 0, own, rival, zeta)
    nodes = {node: f"{level}:{label}" for (level, label), node in names.items()}
    for n, (node, sibling, value) in enumerate(expected["s"]):
        assert (nodes[int(own[n])], nodes[int(rival[n])]) == (node, sibling)
        assert zeta[n] == pytest.approx(value, abs=1e-8)
    precision, shift = np.empty((2, 2)), np.empty(2)
    fill_gaussian(penalty, eta, own, rival, np.array(expected["lam"]), names[1, 0], 1.0, precision, shift)
    whole = np.tril(precision) + np.tril(precision, -1).T
    np.testing.assert_allclose(whole, expected["precision"], atol=1e-8)
    np.testing.assert_allclose(np.linalg.solve(whole, shift), expected["mean"], atol=1e-8)


# ---- moves of the discriminants at a fixed tree


def fixed_tree(golden):
    """Golden tree of the test of 14.11."""
    numbers = golden("bhmc")["eta_fixed_tree"]
    given = numbers["inputs"]
    links, leaf, _ = grow_links(read_levels(given["levels"]))
    return numbers, links, leaf, make_penalty(MAXIMUM, given["C"], given["eps0"], given["X"])


def run_moves(move, seed, links, leaf, penalty, n_sweeps, scale=1.0):
    """Sum of hinges, squared length of level 1, mean score of level 1 after each of `n_sweeps` moves."""
    rng, eta = generator(seed), np.zeros((64, penalty.data.shape[1]))
    draw_discriminants(rng, links, eta, scale)
    top = np.flatnonzero(links.parent == 0)
    of_datum = leaf.copy()
    while (links.parent[of_datum] != 0).any():
        of_datum = np.where(links.parent[of_datum] != 0, links.parent[of_datum], of_datum)
    out = np.empty((n_sweeps, 3))
    for i in range(n_sweeps):
        move(rng, eta)
        out[i, 0] = energies(penalty, links, eta, leaf).sum() / (2 * penalty.strength)
        out[i, 1] = (eta[top] ** 2).sum()
        out[i, 2] = (eta[of_datum] * penalty.data).sum(axis=1).mean()
    return out


def batch_z(draws, expectation, errors):
    """z of means by 40 batches, with the error of the expectation."""
    means = draws[: len(draws) // 40 * 40].reshape(40, -1, draws.shape[1]).mean(axis=1)
    own = means.std(axis=0, ddof=1) / math.sqrt(40)
    return (means.mean(axis=0) - expectation) / np.hypot(own, errors), own


def test_slice_at_a_fixed_tree(golden):
    """Three golden statistics, 2e4 slice moves, |z| <= 4.4."""
    numbers, links, leaf, penalty = fixed_tree(golden)
    draws = run_moves(
        lambda rng, eta: slice_discriminants(rng, penalty, links, eta, leaf, 2, 1.0), 3, links, leaf, penalty, 20_000
    )
    z, _ = batch_z(draws, numbers["expectation"], numbers["se"])
    assert (np.abs(z) <= 4.4).all(), z


def test_augmented_at_a_fixed_tree(golden):
    """The same for the tested Gaussian proposal."""
    numbers, links, leaf, penalty = fixed_tree(golden)
    draws = run_moves(
        lambda rng, eta: augment_discriminants(rng, penalty, links, eta, leaf, 1.0), 4, links, leaf, penalty, 20_000
    )
    z, _ = batch_z(draws, numbers["expectation"], numbers["se"])
    assert (np.abs(z) <= 4.4).all(), z


def test_printed_update_misses(golden):
    """Erratum E2: without the test of acceptance the sum of hinges is off by more than 20 standard errors."""
    numbers, links, leaf, penalty = fixed_tree(golden)
    draws = run_moves(
        lambda rng, eta: print_discriminants(rng, penalty, links, eta, leaf, 1.0), 5, links, leaf, penalty, 20_000
    )
    z, _ = batch_z(draws, numbers["expectation"], numbers["se"])
    assert z[0] > 20.0


@pytest.mark.parametrize("kind", [SUM, CHANCE])
def test_gibbs_agrees_with_the_slice(golden, kind):
    """Exact Gibbs and slice have the same means; nu0 = 1.5."""
    _, links, leaf, given = fixed_tree(golden)
    penalty, scale = make_penalty(kind, 0.2, 0.7, given.data, 1.5), 1.5
    by_slice = run_moves(
        lambda rng, eta: slice_discriminants(rng, penalty, links, eta, leaf, 2, scale),
        6, links, leaf, penalty, 20_000, scale,
    )  # fmt: skip
    by_gibbs = run_moves(
        lambda rng, eta: gibbs_discriminants(rng, penalty, links, eta, leaf, scale),
        7, links, leaf, penalty, 20_000, scale,
    )  # fmt: skip
    means = by_slice.reshape(40, -1, 3).mean(axis=1)
    z, _ = batch_z(by_gibbs, means.mean(axis=0), means.std(axis=0, ddof=1) / math.sqrt(40))
    assert (np.abs(z) <= 4.4).all(), z


@pytest.mark.parametrize("kind", [SUM, CHANCE_MAXIMUM])
def test_slice_against_importance_sampling(golden, kind):
    """Means under the other penalties by weighting draws from the prior, nu0 = 2."""
    _, links, leaf, given = fixed_tree(golden)
    penalty, scale = make_penalty(kind, 0.15, 0.5, given.data, 2.0), 2.0
    draws = run_moves(
        lambda rng, eta: slice_discriminants(rng, penalty, links, eta, leaf, 2, scale),
        8, links, leaf, penalty, 20_000, scale,
    )  # fmt: skip
    prior = run_moves(
        lambda rng, eta: draw_discriminants(rng, links, eta, scale), 9, links, leaf, penalty, 30_000, scale
    )
    weights = np.exp(-2 * penalty.strength * (prior[:, 0] - prior[:, 0].min()))
    weights /= weights.sum()
    means = weights @ prior
    errors = np.sqrt((weights[:, None] ** 2 * (prior - means) ** 2).sum(axis=0))
    z, _ = batch_z(draws, means, errors)
    assert (np.abs(z) <= 4.4).all(), z


def test_slice_without_penalty_is_the_prior():
    """At C = 0 one angle is tried and the draw is from the prior."""
    rng, penalty, links, eta, leaf, depth = random_case(3, MAXIMUM)
    penalty = penalty._replace(strength=0.0)
    drawn = []
    for _ in range(4_000):
        assert slice_discriminants(rng, penalty, links, eta, leaf, depth, 2.0) == 1
        drawn.append(eta[linked_nodes(links)[0], 0])
    assert stats.kstest(drawn[::2], stats.norm(0, 2).cdf).pvalue > 1e-4

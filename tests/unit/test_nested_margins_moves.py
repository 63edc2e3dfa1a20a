"""Path moves, regrafts and sweeps of nested hierarchies under a penalty."""

import math

import numpy as np
import pytest

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.models.nested.log_joint import log_cdl
from bayesgrove.models.nested.nodes import all_nodes
from bayesgrove.models.nested.packing import drawn, packed, stream_to_array, unpacked
from bayesgrove.models.nested.penalty import PENALTIES, chance_table, energies, links_of, log_penalty, penalty_of
from bayesgrove.models.nested.penalty_metropolis import branch_energy
from bayesgrove.models.nested.penalty_moves import (
    draw_discriminant_variance,
    move_discriminants,
    penalised_paths,
    penalised_sweep,
    penalised_weights,
)
from bayesgrove.models.nested.penalty_paths import (
    Work,
    excess_energy,
    fill_log_weights,
    take_slot,
    weigh_candidates,
)
from bayesgrove.models.nested.penalty_sums import add_to_sums, sum_chances
from bayesgrove.models.nested.starts import first_state
from bayesgrove.models.nested.sweeps import draw_means
from bayesgrove.models.nested.target import (
    CHANCE_MAXIMUM,
    DISCRIMINANT_VARIANCE,
    MAXIMUM,
    make_target,
    sampled_means,
)
from bayesgrove.models.nested.visits import fill_densities, remove_datum
from reference.state_checks import check_nested

pytestmark = pytest.mark.unit
KINDS = tuple(PENALTIES.values())


def make_case(data, kind, *, depth=3, strength=0.1, margin=0.5, values=(0.9, 1.2, 0.8, 1.0, 1.0, 1.0), **more):
    """Target of Gaussian components under a penalty."""
    data = np.ascontiguousarray(data, float)
    return make_target(
        data, sampled_means(data), depth=depth, values=values, penalty=kind, strength=strength, margin=margin,
        margin_data=data, **more,
    )  # fmt: skip


def golden_state(golden):
    """The golden state as a state of the library; nodes are numbered 0:0, 1:0, 1:1, .., 2:3."""
    numbers = golden("bhmc")["state"]
    given = numbers["inputs"]
    values = [given[name] for name in ("alpha", "gamma", "gamma0", "s2", "h2")] + [given["nu0"] ** 2]
    target = make_case(given["X"], MAXIMUM, depth=2, strength=given["C"], margin=given["eps0"], values=values)
    weights = np.array(list(given["weights"].values()))
    arrays = {
        "paths": np.array([[int(label) for label in level] for level in given["levels"]], np.int32).T.copy(),
        "components": np.array(given["c"], np.int32),
        "log_weights": np.log(np.column_stack([weights[:, -1], weights[:, :-1]])),
        "means": np.array(given["theta"]),
        "discriminants": np.array(list(given["eta"].values())),
        "values": np.array(values),
        "stream": stream_to_array(generator(0)),
    }
    return numbers, target, unpacked(target, arrays), list(given["weights"])


def make_work(state, n_branches):
    """Room of one visit."""
    capacity, width = state.margins.eta.shape
    size = capacity + n_branches
    by_node, floats = np.empty((3, capacity)), np.empty((4, size))
    whole = [np.zeros(size, np.int64) for _ in range(2)]
    seen = np.zeros(n_branches, np.int64)
    return Work(*by_node, whole[0], *floats, whole[1], np.empty((n_branches, width)), seen, np.empty(width))


def test_golden_scores(golden):
    """log RCDL of the golden state."""
    numbers, target, state, _ = golden_state(golden)
    assert log_cdl(target, state) == pytest.approx(numbers["log_CDL"], abs=1e-8)
    assert log_cdl(target, state) + log_penalty(target, state) == pytest.approx(numbers["log_RCDL"], abs=1e-8)


def test_golden_gibbs_candidates(golden):
    """Probabilities of all paths of a datum with two given auxiliary discriminants per branch."""
    numbers, target, state, names = golden_state(golden)
    expected = numbers["path_gibbs"]
    n, n_aux = expected["datum"], expected["m_aux"]
    tree, mixture, eta, penalty = state.tree, state.mixture, state.margins.eta, penalty_of(target, state)
    remove_datum(target.law, target.data, tree, mixture, n, 0)
    tree.leaf[n] = NULL
    scores, densities = np.empty(mixture.size.size), np.empty(mixture.size.size)
    fill_densities(target.law, target.data, n, state.values, mixture, 0, scores, densities)
    work, top = make_work(state, 20), int(mixture.numbers[0])
    n_found, total = weigh_candidates(
        penalty, tree, mixture.weight, densities, top, eta, n, state.values[0], 2, n_aux, np.empty((eta.shape[0], 0)),
        work,
    )  # fmt: skip
    fill_log_weights(mixture, scores, densities, work, n_found, np.empty(mixture.size.size))
    assert total == pytest.approx(np.exp(work.log_weight[:n_found]).sum(), rel=1e-12)
    n_total = n_found
    for entry in expected["C_given"]:
        if entry["kind"] == "new":
            candidate = int(np.flatnonzero(work.node[:n_found] == names.index(entry["node"]))[0])
            work.vector[n_total - n_found] = entry["eta_top"]
            excess = excess_energy(penalty, tree, eta, n, work, candidate, n_total - n_found)
            take_slot(work, candidate, n_total, excess)
            n_total += 1
    weights = np.exp(work.log_weight[:n_total])
    branches = iter(weights[n_found:] / weights.sum())
    for entry in expected["C_given"]:
        if entry["kind"] == "new":
            found = next(branches)
        else:
            found = weights[:n_found][work.node[:n_found] == names.index(entry["node"])][0] / weights.sum()
        assert found == pytest.approx(entry["prob"], abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_states_stay_whole(kind):
    """After every move on random states arrays agree, sums of chances too, and no energy is nan: 200 states in all."""
    for seed in range(13):
        rng = generator(seed)
        n, depth = int(rng.integers(1, 25)), int(rng.integers(1, 5))
        target = make_case(
            rng.normal(size=(n, 2)) * 2.0, kind, depth=depth, strength=float(rng.gamma(0.3)),
            values=(*rng.gamma(2.0, size=3), 1.0, 1.0, 1.0),
        )  # fmt: skip
        state = first_state(rng, target)
        for move in (
            lambda rng=rng, target=target, state=state: penalised_paths(rng, target, state),
            lambda rng=rng, target=target, state=state: penalised_paths(rng, target, state, path="mh"),
            lambda rng=rng, target=target, state=state: penalised_weights(rng, target, state),
            lambda rng=rng, target=target, state=state: penalised_sweep(rng, target, state),
        ):
            move()
            check_nested(state, target)
            again = unpacked(target, packed(target, state))
            assert math.isfinite(log_penalty(target, state))
            assert log_penalty(target, again) == pytest.approx(log_penalty(target, state), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_taking_a_datum_out(kind):
    """Energy of a datum's branch is what the whole loses when the datum is taken out, alone in its nodes or not."""
    n_alone = 0
    for seed in range(20):
        rng = generator(seed)
        target = make_case(rng.normal(size=(9, 2)), kind)
        state = first_state(rng, target)
        penalty, eta, tree, n = penalty_of(target, state), state.margins.eta, state.tree, seed % 9
        whole, former = energies(penalty, links_of(tree), eta, tree.leaf).sum(), int(tree.leaf[n])
        top = remove_datum(target.law, target.data, tree, state.mixture, n, 0)
        tree.leaf[n] = NULL
        kept = np.flatnonzero(tree.leaf != NULL)
        rest = penalty._replace(data=penalty.data[kept], log_chance=penalty.log_chance[kept])
        expected = whole - energies(rest, links_of(tree), eta, tree.leaf[kept]).sum()
        assert branch_energy(penalty, tree, eta, n, former, top, False) == pytest.approx(expected, abs=1e-9)
        n_alone += top != NULL
    assert 0 < n_alone < 20


def test_sums_of_chances_follow_the_data():
    """Taking a datum out and putting it back leaves the sums."""
    rng = generator(2)
    target = make_case(rng.normal(size=(12, 2)), CHANCE_MAXIMUM)
    state = first_state(rng, target)
    penalty = penalty_of(target, state)
    before = sum_chances(penalty, state.tree)
    np.testing.assert_allclose(before[0], penalty.log_chance.sum(axis=0))
    after = before.copy()
    add_to_sums(penalty, after, state.tree.parent, 4, state.tree.leaf[4], -1.0)
    assert not np.allclose(after, before)
    add_to_sums(penalty, after, state.tree.parent, 4, state.tree.leaf[4], 1.0)
    np.testing.assert_allclose(after, before, atol=1e-12)


def test_tables_widen_with_the_tree():
    """Many children of the root need more columns of "chance-max" than the first table has."""
    rng = generator(4)
    target = make_case(
        rng.normal(size=(60, 2)) * 5, CHANCE_MAXIMUM, depth=2, strength=0.01, values=(50.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    )
    state = first_state(rng, target)
    first = chance_table(target, 1.0)
    for _ in range(3):
        penalised_sweep(rng, target, state)
        check_nested(state, target)
    wide = state.margins.log_chance
    assert wide.shape[1] > first.shape[1]
    np.testing.assert_allclose(wide[:, : first.shape[1]], first)


def test_lazy_rejection_evaluates_few():
    """Evaluations per visit are at most 0.05 at 1,000 data and C = 0.001, against 3 per inner node."""
    rng = generator(6)
    centres = rng.normal(size=(8, 5)) * 2
    target = make_case(
        centres[rng.integers(8, size=1000)] + rng.normal(size=(1000, 5)), MAXIMUM, strength=0.001,
        values=(0.4, 1.0, 0.85, 1.0, 1.0, 1.0),
    )  # fmt: skip
    state = first_state(rng, target)
    for _ in range(3):
        penalised_sweep(rng, target, state)
    tallies = penalised_sweep(rng, target, state)
    assert tallies["branches_evaluated"] <= 0.05 * tallies["visits"]


@pytest.mark.parametrize("kind", KINDS)
def test_discriminant_variance_has_its_law(kind):
    """nu0^2 and eta together, C = 0: the variance has its inverse Gamma prior; mean of its logarithm, |z| <= 4.4."""
    hyperpriors = np.full((6, 2), np.nan)
    hyperpriors[DISCRIMINANT_VARIANCE] = 4.0, 3.0
    rng = generator(8)
    target = make_case(rng.normal(size=(6, 2)), kind, strength=0.0, hyperpriors=hyperpriors)
    state = first_state(rng, target)
    logs = []
    for _ in range(1500):
        move_discriminants(target, state)
        draw_discriminant_variance(target, state)
        logs.append(math.log(state.values[DISCRIMINANT_VARIANCE]))
    exact = np.log(3.0 / generator(9).gamma(4.0, size=400_000)).mean()
    means = np.reshape(logs[:1480], (40, -1)).mean(axis=1)
    assert abs(means.mean() - exact) < 4.4 * means.std(ddof=1) / math.sqrt(40)


def test_settings_are_refused():
    """Moves say which penalty they need."""
    rng = generator(1)
    target = make_case(rng.normal(size=(4, 2)), CHANCE_MAXIMUM)
    state = first_state(rng, target)
    with pytest.raises(InvalidSettingError, match="discriminants is one of slice, augmented, gibbs, printed"):
        move_discriminants(target, state, "newton")
    with pytest.raises(InvalidSettingError, match="discriminants='augmented' needs penalty=\"max\""):
        move_discriminants(target, state, "augmented")
    with pytest.raises(InvalidSettingError, match='needs penalty="sum" or "chance"'):
        move_discriminants(target, state, "gibbs")
    plain = make_case(rng.normal(size=(4, 2)), MAXIMUM)
    with pytest.raises(InvalidSettingError, match='paper_prior_precision is "nu0\\^2" or "1/nu0\\^2"'):
        move_discriminants(plain, first_state(rng, plain), "printed", paper_prior_precision="1")


def test_printed_precision():
    """Erratum E3: with nu0 = 0.1 the printed precision nu0^2 leaves discriminants of length 10, not 0.1."""
    rng = generator(5)
    target = make_case(rng.normal(size=(8, 2)), MAXIMUM, strength=0.001, values=(3.0, 1.0, 1.0, 1.0, 1.0, 0.01))
    state = first_state(rng, target)
    nodes = all_nodes(state.tree)[1:]
    move_discriminants(target, state, "printed")
    assert np.sqrt((state.margins.eta[nodes] ** 2).mean()) < 1.0
    move_discriminants(target, state, "printed", paper_prior_precision="nu0^2")
    assert np.sqrt((state.margins.eta[nodes] ** 2).mean()) > 3.0


def law_of_trees(target, n_sweeps, seed, **options):
    """How often each tree is visited, as level1|level2."""
    rng, counts = generator(seed), {}
    state = first_state(rng, target)
    for i in range(n_sweeps + 200):
        penalised_paths(rng, target, state, **options)
        move_discriminants(target, state)
        penalised_weights(rng, target, state)
        draw_means(rng, target.law, target.data, state.mixture, state.values, target.hyperpriors)
        if i >= 200:
            paths = drawn(target, state)["paths"]
            name = "|".join("".join(map(str, level)) for level in paths.T)
            counts[name] = counts.get(name, 0) + 1
    return counts


@pytest.mark.parametrize("options", [{}, {"lazy": False}, {"path": "mh"}], ids=["lazy", "full", "mh"])
def test_law_of_trees(golden, options):
    """Exact law of 60 trees at C = 0.4: TV <= 0.06 at 5,000 sweeps (a correct chain: about 0.03, the paper's: 0.54)."""
    numbers = golden("bhmc")["trees_N4_L2"][0]
    given = numbers["inputs"]
    values = [given[name] for name in ("alpha", "gamma", "gamma0", "s2", "h2")] + [given["nu0"] ** 2]
    target = make_case(given["X"], MAXIMUM, depth=2, strength=given["C"], margin=given["eps0"], values=values)
    counts = law_of_trees(target, 5_000, 21, **options)
    distance = sum(abs(counts.get(tree, 0) / 5_000 - q) for tree, q in zip(numbers["trees"], numbers["q"], strict=True))
    assert distance / 2 <= 0.06

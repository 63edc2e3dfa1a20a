"""The published sampler: the law it has, against the specification's table, and the kernel against the slow twin."""

import functools
import math

import numpy as np
import pytest
from scipy.stats import chi2

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError, NumericalError
from bayesgrove.core.rng import generator
from bayesgrove.models.nrm.forest import N_ROOTS, forest_labels, refresh_forest
from bayesgrove.models.nrm.packing import pack_forest, start_forest, unpack_forest
from bayesgrove.models.nrm.paper import local_move, paper_sweep
from bayesgrove.models.nrm.paper_global import VARIANTS, global_move
from reference import ibhc, paper
from reference.forests import check_forest, root_texts, texts_of

pytestmark = pytest.mark.exact

DATA = {
    "spread": {"X": [[-3.0], [-2.2], [0.1], [2.0], [2.9]], "t2": 9.0},
    "ambiguous": {"X": [[-1.5], [-0.6], [0.2], [1.1], [2.4]], "t2": 9.0},
    "plane": {"X": [[-1.5, -1.0], [-1.0, -0.4], [0.0, 0.3], [1.2, 1.0], [1.9, 0.4]], "t2": 4.0},
}
DP, NGGP = {"kind": "dp", "alpha": 1.0}, {"kind": "nggp", "alpha": 1.0, "sigma": 0.5}
CASES = {
    "spread": ("spread", DP, None),
    "ambiguous": ("ambiguous", DP, None),
    "plane": ("plane", DP, None),
    "nggp": ("ambiguous", NGGP, 2.0),
}
TABLE = {
    "printed": {"spread": 0.127, "ambiguous": 0.283, "plane": 0.261, "nggp": 0.259},
    "mended": {"spread": 0.128, "ambiguous": 0.287, "plane": 0.262, "nggp": 0.279},
    "code": {"spread": 0.098, "ambiguous": 0.227, "plane": 0.192, "nggp": 0.237},
}
"""Total variation between the stationary law over partitions and the posterior, 10 global moves, depth 2."""
FAMILY_WISE = 1e-3


@functools.cache
def case(name):
    """Potentials of the twin; prior, values and table of the kernel."""
    data, process, u = CASES[name]
    d = len(DATA[data]["X"][0])
    return ibhc.golden_potentials({**DATA[data], "s2": 1.0, "mu0": [0.0] * d}, process, u)


@functools.cache
def chain_of(name):
    return paper.Chain(case(name)[0], 5)


@functools.cache
def local_matrix(name):
    return chain_of(name).local_matrix(2)


@functools.cache
def stationary_law(name, variant):
    """Over partitions, of whole sweeps."""
    one = chain_of(name).global_matrix(variant)
    assert np.abs(one.sum(axis=1) - 1.0).max() < 1e-12
    sweep = np.linalg.matrix_power(one, 10) @ local_matrix(name)
    return paper.partition_law(chain_of(name), paper.stationary(sweep))


def check_cell(name, variant):
    found = paper.total_variation(stationary_law(name, variant), paper.posterior(chain_of(name)))
    assert found == pytest.approx(TABLE[variant][name], abs=5e-4)


@pytest.mark.parametrize("variant", ["code", "mended"])
def test_the_law_of_the_published_sampler_on_ambiguous_data(variant):
    assert len(chain_of("ambiguous").forests) == 266
    assert np.abs(local_matrix("ambiguous").sum(axis=1) - 1.0).max() < 1e-12
    check_cell("ambiguous", variant)
    found = paper.mean_clusters(stationary_law("ambiguous", variant))
    assert found == pytest.approx({"code": 1.945, "mended": 1.835}[variant], abs=2e-3)
    assert paper.mean_clusters(paper.posterior(chain_of("ambiguous"))) == pytest.approx(2.379, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("variant", TABLE)
@pytest.mark.parametrize("name", CASES)
def test_the_whole_table_of_the_law_of_the_published_sampler(name, variant):
    check_cell(name, variant)


@pytest.mark.parametrize("name", ["ambiguous", "nggp"])
def test_a_full_gibbs_scan_that_carries_trees_is_exact(name):
    """The control: trees do no harm where the law of a move ignores them."""
    chain = chain_of(name)
    scan = np.eye(266)
    for item in range(5):
        scan = scan @ chain.matrix(
            lambda choose, forest, item=item: paper.move_item(choose, chain.potentials, forest, item)
        )
    law = paper.partition_law(chain, paper.stationary(scan))
    assert paper.total_variation(law, paper.posterior(chain)) < 1e-12


# ---------------------------------------------------------------- the kernel against the twin


def arrays_of(forest, n):
    """A forest of the twin as `unpack_forest` takes it."""
    pairs, ids = [], {str(i): i for i in range(n)}
    for node in sorted((node for tree in forest for node in ibhc.nodes_of(tree)), key=lambda node: len(node.items)):
        if node.children:
            ids[node.text] = n + len(pairs)
            pairs.append([ids[child.text] for child in node.children])
    return {"pairs": np.array(pairs, np.int64).reshape(-1, 2)}


def g_test_p_value(counts, law):
    """Frequencies against exact probabilities, cells of expectation below 5 pooled."""
    n = sum(counts.values())
    assert set(counts) <= set(law)
    observed = np.array([counts.get(key, 0) for key in law], float)
    expected = n * np.array(list(law.values()))
    rare = expected < 5.0
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    kept = expected > 0.0
    seen = kept & (observed > 0.0)
    statistic = 2.0 * np.sum(observed[seen] * np.log(observed[seen] / expected[seen]))
    return chi2.sf(statistic, max(1, kept.sum() - 1))


def kernel_counts(name, forest, n_draws, seed, move):
    """How often each forest follows the given one."""
    _, prior, values, log_kappa = case(name)
    rng, arrays, counts = generator(seed), arrays_of(forest, 5), {}
    texts = {}
    for _ in range(n_draws):
        state = unpack_forest(prior, values, log_kappa, arrays)
        move(rng, prior, values, state, log_kappa)
        key = pack_forest(state)["pairs"].tobytes()
        if key not in texts:
            check_forest(state, 5)
            texts[key] = " ".join(root_texts(state))
        counts[texts[key]] = counts.get(texts[key], 0) + 1
    return counts


START = ("((((0,1),2),3),4)", "((0,1),(2,(3,4)))", "((0,1),2) (3,4)", "0 1 2 3 4", "0 (1,2) 3 4")


def by_text(name):
    return {" ".join(tree.text for tree in forest): forest for forest in chain_of(name).forests}


def texts_of_law(law):
    return {" ".join(tree.text for tree in forest): probability for forest, probability in law.items()}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("start", START)
def test_global_moves_of_the_kernel_have_the_law_of_the_twin(start, variant):
    """False alarm with probability 1e-3 over all tests of single moves together."""
    forest = by_text("ambiguous")[start]
    potentials = case("ambiguous")[0]
    law = texts_of_law(paper.law_from(lambda choose: paper.global_move(choose, potentials, forest, variant)))

    def move(rng, prior, values, state, log_kappa):
        global_move(rng, prior, state, log_kappa, VARIANTS[variant])

    counts = kernel_counts("ambiguous", forest, 3_000, 100 + START.index(start), move)
    assert len(law) > 1
    assert g_test_p_value(counts, law) > FAMILY_WISE / (len(START) * (len(VARIANTS) + 1))


@pytest.mark.parametrize("start", START)
def test_local_moves_of_the_kernel_have_the_law_of_the_twin(start):
    forest = by_text("ambiguous")[start]
    chain = chain_of("ambiguous")
    row = local_matrix("ambiguous")[chain.place[forest]]
    law = texts_of_law({other: float(p) for other, p in zip(chain.forests, row, strict=True) if p > 0.0})

    def move(rng, prior, values, state, log_kappa):
        assert local_move(rng, prior, values, state, log_kappa, 2) >= 0

    counts = kernel_counts("ambiguous", forest, 3_000, 200 + START.index(start), move)
    assert g_test_p_value(counts, law) > FAMILY_WISE / (len(START) * (len(VARIANTS) + 1))


@pytest.mark.parametrize("variant", ["code", "mended"])
def test_a_long_run_has_the_known_bias(variant):
    """Batch means, 40 batches: |z| > 4.4 has probability 8e-5 (t, 39 degrees of freedom)."""
    _, prior, values, log_kappa = case("ambiguous")
    forest, rng = start_forest(prior, values, log_kappa, np.arange(5)), generator(300)
    clusters = np.empty(20_000)
    for sweep in range(clusters.size):
        paper_sweep(rng, prior, values, forest, log_kappa, variant=variant)
        clusters[sweep] = forest.counters[N_ROOTS]
    batches = clusters.reshape(40, -1).mean(axis=1)
    error = batches.std(ddof=1) / math.sqrt(40)
    expected = paper.mean_clusters(stationary_law("ambiguous", variant))
    assert abs(batches.mean() - expected) < 4.4 * error
    assert abs(batches.mean() - 2.379) > 20 * error


# ---------------------------------------------------------------- what must hold in every state


def larger(n=40):
    values = generator(400).normal(size=(n, 2)) + 3.0 * generator(401).integers(0, 3, (n, 1))
    _, prior, _, _ = case("plane")
    log_kappa = np.array([0.0] + [math.lgamma(m) for m in range(1, n + 1)])
    return prior, values, log_kappa


def potentials_by_text(forest):
    return {
        text: (forest.log_phi[node], forest.log_tree[node], forest.log_d[node], *forest.rows[node])
        for node, text in texts_of(forest).items()
    }


@pytest.mark.parametrize("variant", VARIANTS)
def test_states_stay_sound_and_refused_moves_leave_no_trace(variant):
    prior, values, log_kappa = larger()
    forest, rng = start_forest(prior, values, log_kappa, np.arange(40) % 6), generator(402)
    n_refused, n_accepted = np.zeros(3, int), np.zeros(3, int)
    for _ in range(300):
        before = potentials_by_text(forest)
        proposed, accepted, log_r = global_move(rng, prior, forest, log_kappa, VARIANTS[variant])
        assert proposed != NULL
        assert (proposed == 0) == math.isnan(log_r)
        check_forest(forest, 40)
        (n_accepted if accepted else n_refused)[proposed] += 1
        if not accepted:
            assert potentials_by_text(forest) == before
        if accepted:
            after = potentials_by_text(forest)
            refresh_forest(prior, values, forest, log_kappa)
            assert potentials_by_text(forest) == after
    assert min(n_refused[1:]) > 3
    assert min(n_accepted[1:]) > 3
    for _ in range(20):
        assert local_move(rng, prior, values, forest, log_kappa, 2) >= 0
        check_forest(forest, 40)
        after = potentials_by_text(forest)
        refresh_forest(prior, values, forest, log_kappa)
        assert potentials_by_text(forest) == after


def test_a_packed_state_goes_on_to_the_bit():
    prior, values, log_kappa = larger()
    forest, rng = start_forest(prior, values, log_kappa, np.zeros(40, np.int64)), generator(403)
    for _ in range(5):
        paper_sweep(rng, prior, values, forest, log_kappa)
    other, again = unpack_forest(prior, values, log_kappa, pack_forest(forest)), generator(0)
    again.bit_generator.state = rng.bit_generator.state
    for _ in range(20):
        ours = paper_sweep(rng, prior, values, forest, log_kappa)
        theirs = paper_sweep(again, prior, values, other, log_kappa)
        np.testing.assert_array_equal(ours.log_r, theirs.log_r)
        assert ours[:-1] == theirs[:-1]
        assert potentials_by_text(forest) == potentials_by_text(other)
    np.testing.assert_array_equal(forest_labels(forest), forest_labels(other))


def test_a_sweep_says_what_it_did():
    prior, values, log_kappa = larger()
    forest = start_forest(prior, values, log_kappa, np.arange(40) % 6)
    info = paper_sweep(generator(404), prior, values, forest, log_kappa, n_global=50, depth=3)
    assert info.splits_proposed + info.merges_proposed == info.log_r.size > 10
    assert 0 <= info.splits_accepted <= info.splits_proposed
    assert 0 <= info.merges_accepted <= info.merges_proposed
    assert info.n_moved > 0
    assert np.isfinite(info.log_r).all()


def test_bad_variants_and_numbers_are_refused():
    prior, values, log_kappa = larger()
    forest = start_forest(prior, values, log_kappa, np.zeros(40, np.int64))
    with pytest.raises(InvalidSettingError, match=r"paper_variant must be one of \('code', 'mended', 'printed'\)"):
        paper_sweep(generator(0), prior, values, forest, log_kappa, variant="exact")
    forest.log_d[:] = np.nan
    with pytest.raises(NumericalError, match=r"published sampler is not finite.*Check"):
        paper_sweep(generator(0), prior, values, forest, log_kappa)

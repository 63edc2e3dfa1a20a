"""Where chains of mixtures begin: partitions drawn from the guide tree, and kernels compiled beforehand."""

import dataclasses
import itertools

import numpy as np
import pytest

from bayesgrove.agglomeration.potentials import cluster_log_trees, cluster_rows
from bayesgrove.core.jit import is_compiled, kernel, tolerant
from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.likelihoods import GaussianKnownVariance, bind
from bayesgrove.likelihoods.contract import n_stats
from bayesgrove.models.nrm import precompile, starts
from bayesgrove.models.nrm.anchors import split_merge_moves
from bayesgrove.models.nrm.schedules import schedule_of
from bayesgrove.models.nrm.starts import GuideStart
from bayesgrove.stats.partitions import adjusted_rand, relabel
from bayesgrove.stats.testing import g_test
from reference.mixtures import DP, NGGP, build, known_variance, log_kappa

pytestmark = pytest.mark.unit

POINTS = np.array([-1.5, -0.6, 0.2, 1.1, 2.4])[:, None]


def guide_start(values, process=DP, **guide):
    """The start of a sampler of these values, and the sampler."""
    sampler = build(known_variance(values.shape[1]), values, process, **guide)
    return GuideStart(sampler.prior, sampler.values, sampler.guide, process), sampler


def tree_law(sampler, process, log_u):
    """Probability of every cut of the guide into neighbouring parts, by the borders between them."""
    table = log_kappa(process, log_u, sampler.n_items)
    found = {}
    for is_border in itertools.product((False, True), repeat=sampler.n_items - 1):
        labels = np.concatenate([[0], np.cumsum(is_border)])
        if all(is_node(sampler.guide, np.flatnonzero(labels == part)) for part in range(labels[-1] + 1)):
            rows = np.zeros((labels[-1] + 1, n_stats(sampler.prior)))
            cluster_rows(sampler.prior, sampler.values, labels, rows)
            found[is_border] = np.exp(cluster_log_trees(sampler.prior, table, rows, np.bincount(labels)).sum())
    total = sum(found.values())
    return {border: weight / total for border, weight in found.items()}


def is_node(guide, places):
    """Whether places are all the leaves below a node of the guide."""
    spans = set(zip(guide.first.tolist(), guide.last.tolist(), strict=True))
    return places.size == 1 or (int(places[0]), int(places[-1])) in spans


@pytest.mark.parametrize("process", [DP, NGGP], ids=["dp", "nggp"])
def test_parts_are_drawn_from_the_posterior_of_the_tree(process):
    start, sampler = guide_start(POINTS, process)
    law = tree_law(sampler, process, np.log(5.0))
    assert len(law) > 3
    rng = generator(11)
    drawn = [tuple(np.diff(start._draw_parts(rng)) > 0) for _ in range(4_000)]
    counts = [drawn.count(border) for border in law]
    assert sum(counts) == len(drawn)  # nothing else is ever drawn
    # the guide's floor of 0.001 / n is taken off again: the law is exact; false alarm 1e-4
    assert g_test(counts, list(law.values())).p_value > 1e-4


def blobs(n_each=60, n_blobs=4):
    rng = generator(3)
    centres = 10.0 * np.arange(n_blobs)[:, None] * np.ones(2)
    truth = np.repeat(np.arange(n_blobs), n_each)
    return centres[truth] + rng.normal(size=(truth.size, 2)), truth


def test_clear_clusters_are_found_whatever_the_draw():
    values, truth = blobs()
    start, sampler = guide_start(values)
    for seed in range(5):
        labels = start(generator(seed))
        np.testing.assert_array_equal(labels, relabel(labels))
        assert adjusted_rand(labels, truth) > 0.9
    assert adjusted_rand(sampler.labels(build_from(start, sampler)), truth) > 0.9


def test_rows_beyond_a_border_change_over(monkeypatch):
    """Four blobs that overlap: a start is nearly as good as knowing the centres, the parts of the tree are not."""
    truth = np.repeat(np.arange(4), 500)
    centres = 3.5 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    values = centres[truth] + generator(5).normal(size=(truth.size, 2))
    start, _ = guide_start(values)
    nearest = np.argmin(((values[:, None] - centres) ** 2).sum(axis=2), axis=1)
    oracle = adjusted_rand(nearest, truth)
    assert adjusted_rand(start(generator(0)), truth) > oracle - 0.02
    monkeypatch.setattr(starts, "SETTLING_PASSES", 0)
    assert adjusted_rand(start(generator(0)), truth) < oracle - 0.08


def build_from(start, sampler):
    return dataclasses.replace(sampler, first_labels=start).start(generator(0))


def test_one_row_and_two_rows():
    assert guide_start(POINTS[:1])[0](generator(0)).tolist() == [0]
    assert sorted(set(guide_start(POINTS[:2])[0](generator(0)).tolist())) in ([0], [0, 1])


def test_a_guide_in_too_many_parts_gives_way_to_a_sample(monkeypatch):
    values, truth = blobs()
    monkeypatch.setattr(starts, "MOST_PARTS", 1)
    assert adjusted_rand(guide_start(values)[0](generator(0)), truth) > 0.9


def test_kernels_are_compiled_once_for_eight_rows_and_then_known():
    values, _ = blobs()
    bound = bind(GaussianKnownVariance(1.0, 0.0, 4.0), values)
    precompile.compile_kernels(bound, DP, schedule_of("tree-guided", len(values), n_tune=1), loss="vi")
    assert precompile.moves_are_compiled(bound.prior, len(values), complete=True)
    assert precompile.few_rows(bound, DP).n_items == precompile.FEW_ROWS


@pytest.mark.parametrize("likelihood", [GaussianKnownVariance(1.0, 0.0, 4.0), "gaussian", "auto"])
def test_moves_are_called_with_the_types_they_were_compiled_for(likelihood):
    bound = bind(likelihood, blobs()[0])
    precompile.compile_moves(bound.prior, len(bound.values), complete=True)
    n_before, rng, sampler = len(split_merge_moves.overloads), generator(0), build(bound.prior, bound.values, DP)
    sampler.move(rng, sampler.start(rng), Step("anchors", 2))
    assert len(split_merge_moves.overloads) == n_before


def test_eight_rows_keep_a_missing_one_where_the_data_have_some():
    values, _ = blobs()
    values[100, 1] = np.nan
    assert np.isnan(precompile.few_rows(bind(GaussianKnownVariance(1.0, 0.0, 4.0), values), DP).values).any()


@kernel
def double(x):
    """Twice a number."""
    return 2.0 * x


def test_a_kernel_is_known_to_be_compiled_after_its_first_call():
    double(1.5)
    assert is_compiled(double, 2.5)
    assert not is_compiled(double, "text")


def test_an_index_that_cannot_be_read_is_empty():
    def load():
        raise AttributeError("a class that has moved")

    assert tolerant(load)() == {}
    assert tolerant(lambda: {1: "a"})() == {1: "a"}

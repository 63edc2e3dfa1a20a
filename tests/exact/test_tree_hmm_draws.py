"""States and switches drawn by the engine of tree models follow their exact laws."""

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.models.tree_hmm import tables as library
from bayesgrove.models.tree_hmm.states import draw_states
from bayesgrove.stats.testing import chi_square_test
from reference import tree_hmm as twin
from reference import tree_hmm_exact as exact
from reference.tree_hmm_engine import KINDS, as_twin, hard_counts, links_of
from reference.tree_sets import PlainTree, random_tree

pytestmark = [pytest.mark.exact, pytest.mark.statistical]
SIBLINGS = PlainTree([0, 1, 1, 0], [-1, 0, 0, 0], [0, 1, 2, 2], [True, False, False, False])
"""Two children share a position."""


def moments(cells, law):
    """Mean and second moments of counts under a law over configurations."""
    mean = law @ cells
    return mean, (cells * law[:, None]).T @ cells - np.outer(mean, mean)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", twin.MODES)
def test_hard_counts_have_their_exact_means_and_covariances(mode, kind):
    """1,500 draws for five trees, one of them thrice, against enumeration, each moment within 5 standard errors."""
    rng = np.random.default_rng(13)
    trees = [random_tree(rng, n, 2, 2, empty_internal=mode != "renorm") for n in (1, 3, 4)]
    trees += [trees[2], SIBLINGS]
    sizes = np.array([[1, 3, 1, 1, 2]])
    tables = twin.random_tables(rng, 2, 2, 2, mode)
    parts = []
    for tree, size in zip(trees, sizes[0], strict=True):
        law = exact.configurations(tree, tables, mode).weights
        mean, covariance = moments(exact.configuration_counts(tree, 2, 2, 2, mode)[0], law / law.sum())
        parts.append((size * mean, size * covariance))
    mean, covariance = (sum(part) for part in zip(*parts, strict=True))
    links, own = links_of(trees, tables, kind), library.make_tables(*tables)
    draw_rng, n_draws = generator(21), 1500
    draws = np.array(
        [
            np.concatenate([t.ravel() for t in as_twin(hard_counts(draw_rng, links, own, library.MODES[mode], sizes))])
            for _ in range(n_draws)
        ]
    )
    centred, variances = draws - mean, np.maximum(np.diag(covariance), 0.0)
    assert (np.abs(centred.mean(axis=0)) <= 5.0 * np.sqrt(variances / n_draws) + 1e-9).all()
    products = centred[:, :, None] * centred[:, None, :]
    errors = np.abs(products.mean(axis=0) - covariance)
    assert (errors <= 5.0 * products.std(axis=0) / np.sqrt(n_draws) + 1e-9).all()


@pytest.mark.parametrize("mode", twin.MODES)
def test_states_are_drawn_by_their_law(mode):
    """1,000 copies of a tree of four nodes drawn at once: fails on a fresh seed with probability 1e-4."""
    rng = np.random.default_rng(11)
    tree = random_tree(rng, 4, 2, 2, empty_internal=mode != "renorm")
    tables = twin.random_tables(rng, 2, 2, 2, mode)
    found = exact.configurations(tree, tables, mode)
    law = found.weights / found.weights.sum()
    number = {(*q, *s): i for i, (q, s) in enumerate(zip(found.states.tolist(), found.choices.tolist(), strict=True))}
    n_copies, options = 1000, twin.choices(tree, 2, mode)
    links = links_of([tree] * n_copies, tables, "plain")
    states, switches = draw_states(generator(14), links, library.make_tables(*tables), library.MODES[mode])
    last, places = len(links.labels) - 1, []
    for copy in range(n_copies):
        own = last - (4 * copy + np.arange(4))
        chosen = []
        for node, link in enumerate(own.tolist()):
            entry = int(switches[link])
            keys = [(None if o.child is None else last - (4 * copy + o.child), o.position) for o in options[node]]
            if not options[node]:
                chosen.append(-1)
            elif entry >= 0:
                chosen.append(keys.index((int(links.child_ids[entry]), int(links.child_positions[entry]))))
            else:
                chosen.append(keys.index((None, -1 - entry)))
        places.append(number[(*states[own].tolist(), *chosen)])
    assert chi_square_test(np.bincount(places, minlength=law.size), law).p_value > 1e-4

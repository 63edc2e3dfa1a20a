"""`TreeHMM` and `TreeHMMMixture`: golden numbers through the facade, clusters, new trees, what is refused."""

import itertools
import logging
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split

from bayesgrove import TreeData, TreeHMM, TreeHMMMixture
from bayesgrove.core.errors import InvalidInputError, InvalidSettingError, InvalidTreeError
from bayesgrove.core.rng import generator
from conftest import find_shared_file

sys.path.append(str(Path(__file__).parent))
from tree_trees import KINDS, LETTERS, documents, numbered_trees

pytestmark = pytest.mark.unit

MIXTURE = {"n_clusters": 2, "n_states": 2, "prior_strength": 1.1, "n_init": 4, "max_iter": 40, "random_state": 0}


@pytest.fixture(scope="module")
def golden():
    import json

    path = find_shared_file("golden/htmm.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def mixture():
    return TreeHMMMixture(**MIXTURE).fit(documents())


def golden_model(case):
    return TreeHMM.from_parameters(case["pi"], case["b"], case["phi"], case["A"], missing=case["mode"])


def golden_tree(case):
    tree = case["tree"]
    options = {"internal": [tree["internal"]]} if "internal" in tree else {}
    return TreeData.from_parents(
        [tree["label"]], [tree["parent"]], [tree["pos"]], max_outdegree=case["L"], n_labels=case["M"], **options
    )


def test_golden_cases(golden):
    for case in golden["cases"]:
        model, data = golden_model(case), golden_tree(case)
        assert model.score_samples(data)[0] == pytest.approx(case["loglik"], abs=1e-10)
        found = model.state_posteriors(data)[0]
        np.testing.assert_allclose(found.states, np.array(case["post_Q"])[:, : found.states.shape[1]], atol=1e-10)
        np.testing.assert_allclose(found.switches, case["post_S"], atol=1e-10)
        np.testing.assert_allclose(model.predict_proba(data)[0], found.states[0], atol=1e-10)
        assert model.predict(data)[0] == found.states[0].argmax()


def test_drawn_states_follow_their_posterior(golden):
    case = next(case for case in golden["cases"] if len(case["tree"]["label"]) > 3 and case["mode"] == "bottom_prior")
    model, data = golden_model(case), golden_tree(case)
    n = 3_000
    drawn = model.sample_states(data[[0] * n], random_state=1)
    states = np.stack([own.states for own in drawn])
    expected = model.state_posteriors(data)[0]
    share = (states[:, :, None] == np.arange(expected.states.shape[1])).mean(axis=0)
    error = np.sqrt(expected.states * (1.0 - expected.states) / n) + 1e-9
    assert (np.abs(share - expected.states) < 4.5 * error).all()
    switches = np.stack([own.switches for own in drawn])
    chosen = (switches[:, :, None] == np.arange(1, expected.switches.shape[1] + 1)).mean(axis=0)
    error = np.sqrt(expected.switches * (1.0 - expected.switches) / n) + 1e-9
    assert (np.abs(chosen - expected.switches) < 4.5 * error).all()
    assert (switches[:, ~data[0].internal] == 0).all()


@pytest.mark.parametrize("missing", ["bottom_prior", "bottom", "renorm"])
def test_new_trees_follow_the_likelihood(missing):
    """Every tree on a skeleton of two internal nodes, by its probability; the sum over all of them is one."""
    rng = generator(5)
    bottom = missing == "bottom_prior"
    initial = np.column_stack([rng.dirichlet([1.0, 1.0], 3) * (0.6 if bottom else 1.0), np.full(3, 0.4 * bottom)])
    initial[0] = [0.5, 0.5, 0.0]
    model = TreeHMM.from_parameters(
        initial, rng.dirichlet([1.0, 1.0], 2), [0.3, 0.7], rng.dirichlet([1.0, 1.0], (2, 3)), missing=missing
    )
    like = TreeData.from_parents([[0, 1, 0]], [[-1, 0, 1]], [[0, 2, 1]], max_outdegree=2, n_labels=2)
    n = 20_000
    drawn = model.sample(n, random_state=2, like=like)
    shapes = [[]]
    if bottom:  # the places (root, 1), (inner, 1), (inner, 2) may be filled
        shapes = [s for k in range(4) for s in itertools.combinations([(0, 1), (1, 1), (1, 2)], k)]
    parts = (
        [([-1, 0, *(p for p, _ in s)], [0, 2, *(q for _, q in s)]) for s in shapes]
        if bottom
        else [([-1, 0, 1], [0, 2, 1])]
    )
    chances, total = {}, 0.0
    for parents, positions in parts:
        internal = [True, True] + [False] * (len(parents) - 2)
        for labels in itertools.product(range(2), repeat=len(parents)):
            tree = TreeData.from_parents(
                [labels], [parents], [positions], max_outdegree=2, n_labels=2, internal=[internal]
            )
            chance = float(np.exp(model.score_samples(tree)[0]))
            chances[_key(tree[0])] = chance
            total += chance
    assert total == pytest.approx(1.0, abs=1e-9)
    counts = dict.fromkeys(chances, 0)
    for i in range(n):
        counts[_key(drawn[i])] += 1
    for key, chance in chances.items():
        assert abs(counts[key] / n - chance) < 4.5 * np.sqrt(chance / n) + 1e-9


def _key(tree):
    """Labels by place: path of positions from the root."""
    paths = [()]
    for node in range(1, len(tree.labels)):
        paths.append((*paths[tree.parents[node]], int(tree.positions[node])))
    return frozenset(zip(paths, map(int, tree.labels), strict=True))


def test_the_mixture_finds_both_kinds(mixture):
    np.testing.assert_array_equal(mixture.labels_, np.repeat([0, 1], 12))
    assert mixture.n_clusters_ == 2
    assert mixture.weights_.sum() == pytest.approx(1.0)
    assert np.all(np.diff(mixture.objective_) > -1e-9 * np.abs(mixture.objective_[:-1]))
    data = documents()
    np.testing.assert_array_equal(mixture.predict(data), mixture.labels_)
    chances = mixture.predict_proba(data)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_allclose(chances, mixture.responsibilities_, atol=1e-6)
    parts = np.stack([own.score_samples(data) for own in mixture.components_]) + np.log(mixture.weights_)[:, None]
    np.testing.assert_allclose(mixture.score_samples(data), np.logaddexp(*parts), atol=1e-9)
    assert mixture.score(data) == pytest.approx(mixture.score_samples(data).mean())
    clusters, best = mixture.predict_proba(data, top_k=1)
    np.testing.assert_array_equal(clusters[:, 0], mixture.labels_)
    np.testing.assert_allclose(best[:, 0], chances.max(axis=1))


def test_what_sets_clusters_apart(mixture):
    told = mixture.telling_labels(most=2)
    assert [t.cluster for t in told] == [0, 0, 1, 1]
    assert all(t.log_odds > 0 for t in told)
    books = {t.name: t for t in told if t.cluster == 1}
    assert books["chapter"].log_odds > 2.0
    n_chapters, n_nodes = 30, 12 * 2 + 3 * 30
    assert books["chapter"].share == pytest.approx(n_chapters / n_nodes)
    assert books["chapter"].elsewhere == 0.0
    places = {(t.cluster, t.name): t for t in mixture.telling_positions()}
    assert places[0, "3"].log_odds == pytest.approx(-places[1, "3"].log_odds)
    table = mixture.class_table(KINDS)
    assert table.classes == ("book", "letter")
    np.testing.assert_array_equal(table.counts, [[0, 12], [12, 0]])
    assert mixture.typical_trees_[0].labels[:2] == ["letter", "from"]
    np.testing.assert_array_equal(mixture.labels_[mixture.typical_], [0, 1])
    with pytest.raises(InvalidInputError, match="classes are one per tree, 24"):
        mixture.class_table(["a"])


def test_new_trees_have_clusters_and_known_labels(mixture):
    drawn = mixture.sample(60, random_state=3)
    assert len(drawn) == 60
    assert drawn.vocabulary == mixture.vocabulary_
    assert np.mean(mixture.predict(drawn) == drawn.targets) > 0.9
    again = mixture.sample(60, random_state=3)
    np.testing.assert_array_equal(again.forest.labels, drawn.forest.labels)
    like = TreeData.from_xml("<letter><from/></letter>")
    assert mixture.sample(4, random_state=0, like=like).forest.internal.sum() == 4


def test_sampled_labels_follow_the_chances(mixture):
    tree = TreeData.from_parents([[-1, -1]], [[-1, 0]], vocabulary=mixture.vocabulary_)
    chances = mixture.predict_proba(tree)[0]
    drawn = mixture.sample_labels(tree[[0] * 4_000], random_state=1)
    share = np.bincount(drawn, minlength=2) / drawn.size
    assert (np.abs(share - chances) < 4.5 * np.sqrt(chances * (1 - chances) / drawn.size) + 1e-9).all()


def test_labels_and_positions_never_seen_give_way(mixture, caplog):
    new = TreeData.from_xml("<letter><from/><to/><poem/>" + 9 * "<p/>" + "</letter>")
    prepared = mixture.prepare(new)
    assert (prepared.n_unseen, prepared.n_overflowing) == (1, 12 - mixture.max_outdegree_)
    known = TreeData.from_xml("<letter><from/><to/><body/></letter>")
    with caplog.at_level(logging.INFO, logger="bayesgrove"):
        mixture.predict(new)
    assert "1 nodes have labels that were not there in fitting" in caplog.text
    unknown = TreeData.from_xml("<letter><from/><to/><novel/></letter>")
    every = [TreeData.from_xml(f"<letter><from/><to/><{name}/></letter>") for name in mixture.vocabulary_]
    total = np.logaddexp.reduce([mixture.score_samples(tree)[0] for tree in every])
    assert mixture.score_samples(unknown)[0] == pytest.approx(total, abs=1e-10)
    strict = clone(mixture).set_params(unseen="error").fit(documents())
    assert strict.predict(known).shape == (1,)
    with pytest.raises(InvalidTreeError, match="the label 'novel' was never seen"):
        strict.predict(unknown)


def test_rare_labels_stand_for_unknown_ones():
    model = TreeHMM(2, n_init=1, max_iter=5, min_count=13, unseen="rare", random_state=0).fit(documents())
    assert "<rare>" in model.vocabulary_
    assert "title" not in model.vocabulary_
    assert model.prepare(TreeData.from_xml("<novel><p/></novel>"))[0].labels == ["<rare>", "p"]


def test_train_test_split_works():
    train, test = train_test_split(documents(), test_size=4, random_state=0, stratify=KINDS)
    model = TreeHMMMixture(**MIXTURE).fit(train)
    assert model.fit_predict(train).shape == (20,)
    assert model.predict(test).shape == (4,)


def test_numbers_for_labels():
    data = numbered_trees(generator(3))
    model = TreeHMMMixture(**{**MIXTURE, "n_states": 1, "prior_strength": 1.0}).fit(data)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 6))
    means = [component.means_[0, 0] for component in model.components_]
    np.testing.assert_allclose(sorted(means), [-4.0, 4.0], atol=0.8)
    drawn = model.sample(40, random_state=1)
    centres = np.array([drawn[i].labels.mean() for i in range(40)])
    np.testing.assert_array_equal(centres > 0, np.array(means)[drawn.targets] > 0)
    new = TreeData.from_parents([[5.0, 4.0]], [[-1, 0]])
    assert model.predict(new)[0] == model.labels_[-1]
    with pytest.raises(InvalidInputError, match="labels of the trees fitted were 1 numbers, these are texts or codes"):
        model.predict(documents())


def test_the_paper_step_is_another_one():
    exact, paper = (
        TreeHMM(2, estep=estep, n_init=1, max_iter=3, random_state=0).fit(documents()) for estep in ("exact", "paper")
    )
    assert np.abs(exact.emission_ - paper.emission_).max() > 1e-4


def test_states_of_roots_are_numbered_by_appearance():
    model = TreeHMM(3, n_init=2, max_iter=20, random_state=4).fit(documents())
    np.testing.assert_array_equal(model.predict(documents()), model.labels_)
    assert model.labels_[0] == 0
    assert model.n_clusters_ == model.labels_.max() + 1
    np.testing.assert_allclose(model.transition_.sum(axis=2), 1.0)
    np.testing.assert_allclose(model.emission_.sum(axis=1), 1.0)


def test_a_mixture_from_parameters(mixture):
    made = TreeHMMMixture.from_parameters([3.0, 1.0], mixture.components_)
    np.testing.assert_allclose(made.weights_, [0.75, 0.25])
    same = TreeHMMMixture.from_parameters(mixture.weights_, mixture.components_)
    np.testing.assert_allclose(same.predict_proba(documents()), mixture.predict_proba(documents()))
    with pytest.raises(InvalidSettingError, match=r"knows no internal nodes of trees to draw on"):
        made.sample(1)
    with pytest.raises(InvalidSettingError, match="weights are positive, one for each of the 2 components"):
        TreeHMMMixture.from_parameters([1.0], mixture.components_)
    other = TreeHMM(3, n_init=1, max_iter=2, random_state=0).fit(documents())
    with pytest.raises(InvalidSettingError, match="the same number of states, 2, got 3 of component 1"):
        TreeHMMMixture.from_parameters([1.0, 1.0], [mixture.components_[0], other])
    apart = TreeHMM(2, n_init=1, max_iter=2, random_state=0).fit(TreeData.from_xml(LETTERS))
    with pytest.raises(InvalidSettingError, match="component 1 differs from the first"):
        TreeHMMMixture.from_parameters([1.0, 1.0], [mixture.components_[0], apart])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_states": 0}, "n_states must be a whole number of at least 1, got 0"),
        ({"missing": "gone"}, "missing must be one of .*, got 'gone'"),
        ({"emission": "poisson"}, "emission must be one of"),
        ({"emission": "gaussian"}, "is for trees whose labels are numbers"),
        ({"unseen": "ignore"}, "unseen must be one of"),
        ({"overflow": "drop"}, "overflow must be one of"),
        ({"min_count": 0}, "min_count must be a whole number of at least 1"),
        ({"prior_strength": -1.0}, "prior_strength must be a positive number, got -1.0"),
        ({"prior_strength": "auto"}, "prior_strength must be a positive number, got 'auto'"),
        ({"prior_strength": {"start": 1.0}}, r"has the keys initial, emission, .*got \['start'\]"),
        ({"prior_strength": {"emission": 0.0}}, r"prior_strength\['emission'\] must be a positive number"),
        ({"prior_strength": 0.5}, "below 1 has no mode"),
    ],
)
def test_settings_are_refused(settings, message):
    with pytest.raises(InvalidSettingError, match=message):
        TreeHMM(**settings).fit(documents())


def test_strengths_by_table():
    strong = TreeHMM(1, prior_strength={"emission": 1e6}, n_init=1, max_iter=3, random_state=0).fit(documents())
    np.testing.assert_allclose(strong.emission_, 1.0 / len(strong.vocabulary_), rtol=1e-3)


def test_what_is_no_tree_is_refused():
    with pytest.raises(InvalidInputError, match="TreeHMM takes trees, a TreeData, got ndarray"):
        TreeHMM().fit(np.zeros((3, 2)))
    with pytest.raises(InvalidInputError, match="needs at least one tree, got none"):
        TreeHMMMixture().fit(documents()[:0])
    with pytest.raises(InvalidSettingError, match="is for trees whose labels are texts or codes"):
        TreeHMM(emission="discrete").fit(numbered_trees(generator(0)))
    childless = TreeData.from_parents([[0]], [[-1]], internal=[[True]])
    with pytest.raises(InvalidTreeError, match='tree 0, node 0: missing="renorm" needs a child'):
        TreeHMM(missing="renorm").fit(childless)
    with pytest.raises(NotFittedError):
        TreeHMM().predict(documents())
    with pytest.raises(InvalidSettingError, match="the labels of these trees are codes, those of the model texts"):
        TreeHMM(1, n_init=1, max_iter=1).fit(documents()).predict(childless)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"initial": np.ones((2, 2))}, r"initial has the shape \(2, 3\) for 1 positions and 2 states, got \(2, 2\)"),
        ({"transition": np.ones((1, 2, 2))}, r"transition has the shape \(1, 3, 2\)"),
        ({"emission": -np.ones((2, 3))}, "tables hold probabilities"),
        ({"missing": "x"}, "missing must be one of"),
        ({"vocabulary": ["a"]}, "vocabulary has a text per label, 3, got 1"),
    ],
)
def test_tables_that_do_not_fit_are_refused(change, message):
    tables = {
        "initial": np.full((2, 3), 1 / 3),
        "emission": np.full((2, 3), 1 / 3),
        "switching": np.ones(1),
        "transition": np.full((1, 3, 2), 0.5),
    }
    with pytest.raises(InvalidSettingError, match=message):
        TreeHMM.from_parameters(**{**tables, **change})


def test_single_nodes_and_one_tree():
    model = TreeHMM(2, n_init=1, max_iter=3, random_state=0).fit(TreeData.from_newick(["a;", "b;", "a;"]))
    np.testing.assert_allclose(np.exp(model.score_samples(TreeData.from_newick(["a;"]))), 2 / 3, rtol=1e-6)
    assert model.sample(2, random_state=0).forest.n_nodes == 2
    alone = TreeHMMMixture(3, 2, n_init=1, max_iter=2, random_state=0).fit(TreeData.from_newick(["(a,b)c;"]))
    assert alone.n_clusters_ == 1
    assert alone.telling_labels() == []


@pytest.mark.slow
def test_a_chain_of_a_million_nodes():
    n = 1_000_000
    chain = TreeData.from_parents([np.arange(n) % 3], [np.arange(n) - 1])
    model = TreeHMM(2, n_init=1, max_iter=2, random_state=0).fit(chain)
    assert np.isfinite(model.score_samples(chain)[0])
    assert model.predict(chain).shape == (1,)
    assert model.sample(1, random_state=0).forest.internal.sum() == n - 1


def test_parameters_are_kept_as_given():
    model = TreeHMMMixture(**MIXTURE)
    assert {**model.get_params(), **MIXTURE} == model.get_params()
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("model", [TreeHMM(1, n_init=1, max_iter=2), TreeHMMMixture(1, n_init=1, max_iter=2)], ids=str)
def test_one_cluster_is_the_root_and_surely_one(model):
    tree = model.set_params(random_state=0).fit(documents()).tree_
    assert tree.n_nodes == 25
    assert tree.nodes["probability"][tree.root] == 1.0
    assert model.fit(documents()[:1]).tree_.n_nodes == 1


@pytest.mark.parametrize("estep", ["exact", "paper"])
def test_counts_of_trees_are_repeated_trees(estep):
    """A tree with the count 3 is three trees."""
    data, counts = documents(), np.arange(len(documents())) % 4 + 1
    settings = {**MIXTURE, "estep": estep, "tol": 0.0, "max_iter": 6}
    repeated = data[np.repeat(np.arange(len(data)), counts)]
    weighted = TreeHMMMixture(**settings).fit(data, sample_weight=counts)
    plain = TreeHMMMixture(**settings).fit(repeated)
    np.testing.assert_allclose(weighted.objective_, plain.objective_, rtol=1e-10)
    np.testing.assert_allclose(weighted.score_samples(data), plain.score_samples(data), rtol=1e-8)
    assert weighted.labels_.size == len(data)
    alone = TreeHMM(2, max_iter=6, estep=estep, random_state=0)
    scores = [clone(alone).fit(repeated).score_samples(data), alone.fit(data, sample_weight=counts).score_samples(data)]
    np.testing.assert_allclose(*scores, rtol=1e-8)
    assert not np.allclose(scores[0], clone(alone).fit(data).score_samples(data), rtol=1e-3)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([1, 2], r"one count for each of the \d+ trees, got shape \(2,\)"),
        (0, "whole numbers from 1"),
        (-1, "whole numbers from 1"),
        (1.5, "whole numbers from 1"),
        (np.nan, "whole numbers from 1"),
        (np.inf, "whole numbers from 1"),
        ("two", "whole numbers from 1"),
    ],
)
def test_what_is_no_count_is_refused(counts, words):
    counts = counts if isinstance(counts, list) else [counts] * len(documents())
    with pytest.raises(InvalidSettingError, match=words):
        TreeHMM(2).fit(documents(), sample_weight=counts)

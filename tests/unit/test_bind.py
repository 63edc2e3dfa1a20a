"""Binding likelihoods to tables: defaults, encoding, checks, learning marks, documents, alignment."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from bayesgrove import likelihoods
from bayesgrove.core.errors import (
    InvalidFileError,
    InvalidLikelihoodError,
    InvalidSettingError,
    InvalidTableError,
)
from bayesgrove.core.rng import generator
from bayesgrove.core.table import Table, align, table_from_array
from bayesgrove.likelihoods import (
    Bernoulli,
    Binomial,
    Categorical,
    Columns,
    GaussianDiagonal,
    GaussianFull,
    GaussianKnownVariance,
    Multinomial,
    Poisson,
    bind,
    contract,
    encode,
    from_document,
    log_marginal,
    relearned,
    to_document,
)
from bayesgrove.likelihoods.defaults import NAMED

pytestmark = pytest.mark.unit
NAN = math.nan


def gaussian_table(n=20, d=2, seed=0):
    return generator(seed).normal(3.0, 2.0, (n, d))


def mixed_table():
    values = np.array([[0.5, 1, 0, 4, 2], [1.5, 0, 2, 0, 3], [NAN, 1, 1, 7, NAN], [2.5, 0, 2, 1, 0]])
    kinds = ("float", "bool", "category", "integer", "integer")
    return Table(values, ("size", "flag", "colour", "hits", "tries"), kinds, {2: ("red", "green", "blue")})


MIXED = {"tries": Binomial(n_trials=5), 3: "poisson"}


# ------------------------------------------------------------------ defaults


def test_default_numbers_of_each_family():
    data = np.array([[1.0, 2.0], [3.0, 8.0], [5.0, 2.0]])
    bound = bind("gaussian", data)
    assert bound.likelihood.mean == pytest.approx((3.0, 4.0))
    assert bound.likelihood.strength == 0.1
    assert bound.likelihood.shape == 2.0
    assert bound.likelihood.rate == pytest.approx((2 / 3, 2.0))
    known = bind("gaussian-known-variance", data).likelihood
    assert known.variance == pytest.approx((2 / 3, 2.0))
    assert known.prior_mean == pytest.approx((3.0, 4.0))
    assert known.prior_variance == pytest.approx((8 / 3, 8.0))
    full = bind("gaussian-full", data).likelihood
    assert (full.strength, full.dof) == (0.1, 4.0)
    assert np.array(full.scale) == pytest.approx(np.diag([2 / 3, 2.0]))
    assert bind("bernoulli", [[0, 1]]).likelihood == Bernoulli(a=0.5, b=0.5)
    assert bind("categorical", [[0, 1], [2, 0]]).likelihood == Categorical(0.5, n_categories=(3, 2))
    assert bind("multinomial", [[0, 1]]).likelihood == Multinomial(0.5)
    assert bind("poisson", [[0, 1], [4, 1]]).likelihood == Poisson(shape=1.0, rate=(0.5, 1.0))


def test_binomial_takes_the_largest_cell_with_a_warning():
    with pytest.warns(UserWarning, match="n_trials of 'x0', 'x1' taken from the largest cells"):
        bound = bind("binomial", [[3, 1], [0, 7]])
    assert bound.likelihood == Binomial(n_trials=(3, 7), a=0.5, b=0.5)


def test_given_numbers_are_kept_in_the_tables_units():
    given = GaussianDiagonal(mean=(1.0, 2.0), strength=0.5, shape=3.0, rate=(4.0, 5.0), grain=0.0)
    assert bind(given, gaussian_table()).likelihood == given
    known = GaussianKnownVariance(variance=2.0, prior_mean=1.0, prior_variance=(3.0, 9.0))
    assert bind(known, gaussian_table()).likelihood == known
    full = GaussianFull(mean=(1.0, 2.0), strength=0.5, dof=3.0, scale=[[2.0, 0.5], [0.5, 1.0]])
    assert bind(full, gaussian_table()).likelihood == full


def test_binding_again_gives_the_same_prior():
    for name in ("gaussian", "gaussian-full", "gaussian-known-variance"):
        first = bind(name, gaussian_table())
        again = bind(first.likelihood, gaussian_table())
        for before, after in zip(first.prior, again.prior, strict=True):
            assert np.allclose(before, after, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", ["gaussian", "gaussian-known-variance", "poisson", "bernoulli", "categorical"])
def test_a_missing_column_adds_nothing(name):
    data = np.array([[1.0, NAN], [0.0, NAN], [1.0, NAN]])
    assert log_marginal(name, data) == pytest.approx(log_marginal(name, data[:, :1]), abs=1e-12)


@pytest.mark.parametrize("constant", [0.0, 7.5, 1e300, -1e-300])
@pytest.mark.parametrize("name", ["gaussian", "gaussian-full", "gaussian-known-variance"])
def test_a_constant_column_is_normal_input(name, constant):
    bound = bind(name, np.full((5, 2), constant))
    assert np.all(bound.values == 0.0)
    assert math.isfinite(log_marginal(name, np.full((5, 2), constant)))


def test_a_column_of_zero_counts_is_normal_input():
    assert bind("poisson", [[0], [0]]).likelihood == Poisson(shape=1.0, rate=1.0)


def test_sparse_documents_are_welcome():
    documents = np.array([[2, 0, 1], [0, 0, 3]])
    assert log_marginal("multinomial", sparse.csr_array(documents)) == log_marginal("multinomial", documents)


# ------------------------------------------------------------------ encoding


@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=2, max_size=12),
    st.integers(-450, 450),
)
def test_encoding_is_centred_scaled_and_invertible(cells, exponent):
    raw = np.ldexp(np.array(cells), exponent)[:, None]
    bound = bind("gaussian", raw)
    farthest = np.max(np.abs(bound.values))
    assert farthest == 0.0 or 0.5 <= farthest < 1.0
    assert np.any(bound.values == 0.0)
    size = np.max(np.abs(raw))
    assert np.all(np.abs(bound.encoding.undo(bound.values) - raw) <= 1e-15 * size)


def test_a_spread_of_the_whole_float_range_is_refused_with_the_column_named():
    with pytest.raises(InvalidTableError, match=r"column 'x1' spreads over .*Change its unit"):
        bind("gaussian", [[1.0, 1e300], [2.0, -1e300]])
    with pytest.raises(InvalidTableError, match="column 'x0' spreads"):
        bind("gaussian", [[1e-200], [0.0]])


def test_log_measure_counts_observed_cells_only():
    data = np.array([[8.0, 1.0], [NAN, 3.0], [0.0, NAN]])
    bound = bind("gaussian", data)
    _, measure = encode(bound, data)
    assert bound.log_measure == pytest.approx(measure.sum(), rel=1e-15)
    per_column = -math.log(2) * bound.encoding.exponent
    assert measure == pytest.approx([per_column.sum(), per_column[1], per_column[0]])


def test_new_rows_use_the_training_encoding():
    bound = bind("gaussian", gaussian_table())
    values, _ = encode(bound, gaussian_table()[:3])
    assert np.array_equal(values, bound.values[:3])
    assert values.flags.c_contiguous


# ------------------------------------------------------------------ what is learned


def test_hyper_says_what_is_learned():
    likelihood = GaussianDiagonal(strength="auto", shape=2.0, mean="auto")
    assert bind(likelihood, gaussian_table()).free == ("strength",)
    assert bind(likelihood, gaussian_table(), hyper="optimize").free == ("strength", "rate")
    assert bind(likelihood, gaussian_table(), hyper="fixed").free == ()
    with pytest.raises(InvalidSettingError, match="hyper must be 'auto', 'optimize' or 'fixed', got 'all'"):
        bind(likelihood, gaussian_table(), hyper="all")


@pytest.mark.parametrize("name", sorted(NAMED))
def test_learnable_names_are_those_of_the_prior(name):
    learned = NAMED[name].learned()
    if name == "binomial":
        learned = Binomial(n_trials=1, a="auto", b="auto")
    cells = np.array([[0, 1], [1, 0], [1, 1]]) + (name == "log-gaussian")
    bound = bind(learned, cells)
    assert bound.free == tuple(entry[0] for entry in contract.hyper(bound.prior))
    assert bind(name if name != "binomial" else Binomial(n_trials=1), cells).free == ()


def test_columns_learn_what_no_column_of_the_family_fixes():
    columns = Columns([Bernoulli(a="auto", b="auto"), Bernoulli(a=1.0, b="auto"), Poisson(rate="auto")])
    data = [[0, 1, 3], [1, 1, 0]]
    assert bind(columns, data).free == ("bernoulli.b", "poisson.rate")
    assert bind(columns, data, hyper="optimize").free == ("bernoulli.b", "poisson.shape", "poisson.rate")
    bound = bind("auto", mixed_table())
    assert bound.free == tuple(entry[0] for entry in contract.hyper(bound.prior))


def test_relearned_numbers_are_told_in_the_tables_units():
    bound = bind("gaussian", 1000 * gaussian_table())
    after = relearned(bound, contract.with_hyper(bound.prior, [2.0, 1.0, 0.25]))
    assert after.likelihood.strength == 0.2
    assert np.array(after.likelihood.rate) == pytest.approx(0.25 * np.array(bound.likelihood.rate))
    assert after.values is bound.values


# ------------------------------------------------------------------ names and "auto"


@pytest.mark.parametrize(
    ("kind", "cells", "family"),
    [
        ("bool", [0, 1], Bernoulli),
        ("bool", [1, 1], Bernoulli),
        ("category", [0, 1], Categorical),
        ("integer", [0, 1, 1], Bernoulli),
        ("integer", [0, 2_000_000], GaussianDiagonal),
        ("float", [0, 1, NAN], Bernoulli),
        ("float", [0, 0.5], GaussianDiagonal),
        ("float", [0.0, 0.0], GaussianDiagonal),
        ("integer", [0, 0], GaussianDiagonal),
        ("float", [NAN], GaussianDiagonal),
    ],
)
def test_auto_chooses_by_rules_where_values_leave_no_doubt(kind, cells, family):
    found = bind("auto", Table(np.array(cells, float)[:, np.newaxis], ("x",), (kind,))).likelihood
    assert isinstance(found, family)


def test_auto_gives_the_plain_family_where_all_columns_agree():
    assert isinstance(bind("auto", gaussian_table()).likelihood, GaussianDiagonal)
    kinds = [type(column) for column in bind("auto", mixed_table()).likelihood.likelihoods]
    assert kinds[:3] == [GaussianDiagonal, Bernoulli, Categorical]


def test_unknown_names_and_things_are_refused():
    with pytest.raises(
        InvalidLikelihoodError, match=r"one of 'auto', 'bernoulli', .*'poisson', 'zero-inflated', got 'gauss'"
    ):
        bind("gauss", [[1.0]])
    with pytest.raises(InvalidLikelihoodError, match="must be a likelihood or the name of one, got 3"):
        bind(3, [[1.0]])


# ------------------------------------------------------------------ mixed columns


def test_columns_equal_the_sum_of_their_families():
    table = mixed_table()
    mapping = Columns(MIXED)
    listed = Columns([GaussianDiagonal(), Bernoulli(), Categorical(), Poisson(), Binomial(n_trials=5)])
    expected = sum(log_marginal(one, table.column(j)) for j, one in enumerate(listed.likelihoods))
    assert log_marginal(listed, table) == pytest.approx(expected, abs=1e-12)
    assert log_marginal(mapping, table) == pytest.approx(expected, abs=1e-12)


def test_columns_tell_each_columns_numbers():
    bound = bind(Columns(MIXED), mixed_table())
    assert bound.likelihood.likelihoods[0].mean == pytest.approx(1.5)
    assert bound.likelihood.likelihoods[2] == Categorical(pseudo_count=0.5, n_categories=3)
    assert bound.likelihood.likelihoods[4] == Binomial(n_trials=5, a=0.5, b=0.5)


@pytest.mark.parametrize(
    ("likelihoods_given", "message"),
    [
        ([Bernoulli()], "one likelihood per column, got 1 for 5 columns"),
        ("poisson", "a list or a mapping of likelihoods, got 'poisson'"),
        ({"weight": "poisson"}, "names the column 'weight', the table has 'size', 'flag'"),
        ({9: "poisson"}, "names the column 9"),
        ({"hits": "poisson", 3: "poisson"}, "names one column twice, as 'hits' and as 3"),
        ({"hits": GaussianFull()}, r"column 'hits' got GaussianFull.*Use one of Bernoulli"),
        ({"hits": 7}, "column 'hits' got 7"),
        ({"hits": "multinomial"}, "column 'hits' got 'multinomial'"),
    ],
)
def test_wrong_columns_are_refused(likelihoods_given, message):
    with pytest.raises(InvalidLikelihoodError, match=message):
        bind(Columns(likelihoods_given), mixed_table())


# ------------------------------------------------------------------ refused cells and numbers


@pytest.mark.parametrize(
    ("likelihood", "data", "message"),
    [
        ("gaussian", [[0.0, 1.0], [2.0, math.inf]], "finite; row 1, column 'x1' holds inf. Use NaN"),
        ("poisson", [[0.0], [-1.0]], "at least 0; row 1, column 'x0' holds -1.0. Use a Gaussian"),
        ("poisson", [[0.5]], "whole numbers of at least 0; row 0, column 'x0' holds 0.5"),
        ("multinomial", [[1.0, 0.5]], "word counts must be whole numbers"),
        ("bernoulli", [[0.0, 2.0]], "must be 0, 1 or missing; row 0, column 'x1' holds 2.0"),
        (Binomial(n_trials=3), [[3.0], [4.0]], "at most n_trials = 3; row 1, column 'x0' holds 4.0"),
        (Binomial(n_trials=3), [[-1.0]], "binomial cells must be whole numbers"),
        (
            Categorical(n_categories=2),
            [[1], [2]],
            "n_categories = 2 known ones; row 1, column 'x0' holds 2.0",
        ),
        (Categorical(), [[-1.0]], "category codes must be whole numbers"),
        ("gaussian-full", [[1.0, 2.0], [NAN, 2.0]], "must be complete; row 1, column 'x0' holds nan"),
        ("multinomial", [[1.0, NAN]], "a document must be complete; row 0, column 'x1'"),
        (Columns([Bernoulli(), Poisson()]), [[0, 1], [2, 1]], "row 1, column 'x0' holds 2.0"),
        ("gaussian", np.zeros((3, 0)), "at least one row and one column, got 3 x 0"),
        ("gaussian", np.zeros((0, 2)), "at least one row and one column, got 0 x 2"),
        ("gaussian", [1.0, 2.0], "rows and columns, got an array of 1 dimension"),
        ("gaussian", np.array([["a"]]), "a table holds numbers, got an array of <U1"),
        ("gaussian", np.array([["a", 1]], object), "a table holds numbers: could not convert"),
    ],
)
def test_tables_a_likelihood_cannot_describe_are_refused(likelihood, data, message):
    with pytest.raises(InvalidTableError, match=message):
        bind(likelihood, data)


@pytest.mark.parametrize(
    "likelihood",
    ["gaussian", "gaussian-full", "gaussian-known-variance", "poisson", "multinomial", Binomial(n_trials=3)],
)
def test_codes_of_categories_are_never_taken_for_numbers(likelihood):
    animals = Table(np.array([[0.0], [1.0]]), ("animal",), ("category",), {0: ("lion", "cat")})
    with pytest.raises(InvalidTableError, match=r"numbers; column 'animal' holds categories such as 'lion'\. Take"):
        bind(likelihood, animals)
    with pytest.raises(InvalidTableError, match="column 'animal' holds categories"):
        bind(Columns({"animal": "poisson"}), animals)
    assert bind("bernoulli", animals).values.tolist() == [[0.0], [1.0]]


@pytest.mark.parametrize(
    ("likelihood", "message"),
    [
        (GaussianDiagonal(rate=-1.0), "rate must be positive and finite, got -1.0"),
        (GaussianDiagonal(mean=math.inf), "mean must be finite, got inf"),
        (GaussianDiagonal(mean=(1, 2, 3)), r"mean must be a number, one per column \(2\)"),
        (GaussianDiagonal(shape="big"), "shape must be a number.*got 'big'"),
        (GaussianFull(dof=1.0), "dof must be greater than the number of columns - 1 = 1, got 1.0"),
        (GaussianFull(scale=[[1.0, 2.0], [2.0, 1.0]]), "scale must be positive definite"),
        (GaussianFull(scale=[[1.0, 2.0], [0.0, 1.0]]), r"symmetric matrix of shape \(2, 2\)"),
        (Categorical(unseen="ignore"), "unseen must be 'error' or 'reserve', got 'ignore'"),
        (Categorical(n_categories=2.5), "n_categories must be a whole number, got 2.5"),
        (Binomial(n_trials=0), "n_trials must be positive and finite, got 0"),
    ],
)
def test_numbers_out_of_range_are_refused(likelihood, message):
    with pytest.raises(InvalidLikelihoodError, match=message):
        bind(likelihood, [[0, 1], [1, 0]])


def test_numbers_far_from_the_datas_scale_are_refused():
    with pytest.raises(InvalidLikelihoodError, match="rate is too far from the scale of the data, got 1e"):
        bind(GaussianDiagonal(rate=1e200), [[1e-100], [0.0]])


def test_new_rows_are_checked_too():
    bound = bind("gaussian", [[1e-100, 0.0], [2e-100, 1.0]])
    with pytest.raises(InvalidTableError, match=r"within 1e150 times .*row 0, column 'x0' holds 1e\+100"):
        encode(bound, [[1e100, 0.0]])
    with pytest.raises(InvalidTableError, match="must have 2 columns as in training, got 1"):
        encode(bound, [[1.0]])
    with pytest.raises(InvalidTableError, match="finite; row 0, column 'x1' holds inf"):
        encode(bound, [[1.0, math.inf]])


# ------------------------------------------------------------------ categories and alignment


def colours(labels, known):
    codes = [[NAN if label is None else known.index(label)] for label in labels]
    return Table(np.array(codes, float), ("colour",), ("category",), {0: tuple(known)})


def test_unseen_categories_are_refused_by_name_or_put_in_reserve():
    training = colours(["red", "green"], ["red", "green"])
    later = align(colours(["green", None, "pink"], ["green", "pink"]), training.names, training.categories)
    assert later.values[:, 0] == pytest.approx([1.0, NAN, 2.0], nan_ok=True)
    with pytest.raises(InvalidTableError, match=r"row 2, column 'colour' holds 'pink'\. Declare more"):
        encode(bind("categorical", training), later)
    bound = bind(Categorical(unseen="reserve"), training)
    assert bound.prior.start.tolist() == [0, 3]
    assert bound.likelihood.n_categories == 2
    assert encode(bound, later)[0][:, 0] == pytest.approx([1.0, NAN, 2.0], nan_ok=True)
    assert encode(bound, [[9.0]])[0].tolist() == [[2.0]]


def test_the_first_unseen_label_is_named():
    later = align(colours(["a", "z", "y"], ["a", "y", "z"]), ("colour",), {0: ("a",)})
    assert later.categories[0] == ("a", "z")
    assert later.values[:, 0].tolist() == [0.0, 1.0, 1.0]


def test_reserve_works_inside_columns():
    bound = bind(Columns([Categorical(unseen="reserve"), Poisson()]), [[0, 1], [1, 3]])
    assert encode(bound, [[7, 2]])[0].tolist() == [[2.0, 2.0]]
    assert bound.likelihood.likelihoods[0].n_categories == 2


def test_alignment_keeps_a_missing_category_column():
    blank = Table(np.full((2, 1), NAN), ("colour",), ("float",))
    assert np.isnan(align(blank, ("colour",), {0: ("red",)}).values).all()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a", "c"), r"missing: \['b'\], unexpected: \['c'\]"),
        (("a",), r"missing: \['b'\], unexpected: \[\]"),
        (("b", "a"), r"in the order of training, got \['b', 'a'\]. Reorder them: \['a', 'b'\]"),
    ],
)
def test_other_columns_than_in_training_are_refused(names, message):
    with pytest.raises(InvalidTableError, match=message):
        align(table_from_array(np.zeros((1, len(names))), names), ("a", "b"), {})


def test_labels_and_numbers_do_not_mix():
    labelled = colours(["red"], ["red"])
    with pytest.raises(InvalidTableError, match="column 'colour' held numbers in training and holds labels"):
        align(labelled, ("colour",), {})
    with pytest.raises(InvalidTableError, match="column 'colour' held labels in training and holds numbers"):
        align(table_from_array([[1.0]], ["colour"]), ("colour",), {0: ("red",)})


def test_a_table_needs_one_name_per_column():
    with pytest.raises(InvalidTableError, match="one name per column, got 1 for 2"):
        table_from_array([[1, 2]], ["a"])


# ------------------------------------------------------------------ documents


def assert_same_bound(again, bound):
    assert again.likelihood == bound.likelihood
    assert again.free == bound.free
    assert again.log_measure == bound.log_measure
    assert type(again.prior) is type(bound.prior)
    for before, after in zip((*bound.prior, *bound.encoding), (*again.prior, *again.encoding), strict=True):
        assert type(after) is type(before)
        assert np.array_equal(after, before)
        assert np.asarray(after).dtype == np.asarray(before).dtype


@pytest.mark.parametrize("name", [*sorted(set(NAMED) - {"binomial"}), "auto"])
def test_documents_keep_every_bit(name):
    data = generator(4).integers(0, 2, (9, 3)) if "gaussian" not in name else gaussian_table(d=3) / 3
    data = np.exp(data) if name == "log-gaussian" else data
    bound = bind(name, data, hyper="optimize")
    again = from_document(json.loads(json.dumps(to_document(bound))))
    assert_same_bound(again, bound)
    assert again.values.shape == (0, 3)
    assert np.array_equal(encode(again, data)[0], bound.values)


def test_documents_of_mixed_columns_keep_every_bit():
    bound = bind(Columns(MIXED), mixed_table())
    again = from_document(json.loads(json.dumps(to_document(bound))))
    assert_same_bound(again, bound)
    assert np.array_equal(encode(again, mixed_table())[0], bound.values, equal_nan=True)


@pytest.mark.parametrize("broken", [{}, {"encoding": 3}, {"encoding": {"class": "os", "fields": {}}}])
def test_other_documents_are_refused(broken):
    with pytest.raises(InvalidFileError, match="no description of a likelihood"):
        from_document(broken)


def spoil(document, part, field, change):
    change(document[part]["fields"][field])
    return document


@pytest.mark.parametrize(
    ("part", "field", "change", "message"),
    [
        ("prior", "start", lambda it: it["data"].__setitem__(1, 0), "start does not rise"),
        ("prior", "start", lambda it: it["data"].__setitem__(4, 99), "start does not rise"),
        ("prior", "start", lambda it: it["data"].__setitem__(1, 4), "start does not fit the families"),
        ("prior", "family", lambda it: it["data"].__setitem__(1, -1), "families have codes 0 to 9, got -1"),
        ("prior", "family", lambda it: it["data"].__setitem__(1, 10), "families have codes 0 to 9, got 10"),
        ("prior", "family", lambda it: it.update(dtype="float64"), "family has type float64"),
        ("prior", "params", lambda it: it.update(shape=[4, 5]), "params has type float64 and shape"),
        ("prior", "params", lambda it: it["data"].__setitem__(0, 9.0), "likelihood and prior disagree"),
        ("encoding", "shift", lambda it: it.update(dtype="object"), "KeyError: 'object'"),
    ],
)
def test_spoilt_documents_are_refused_before_a_kernel_reads_them(part, field, change, message):
    document = to_document(bind(Columns(MIXED), mixed_table()))
    with pytest.raises(InvalidFileError, match=message):
        from_document(spoil(document, part, field, change))


def test_public_names_are_sorted():
    assert likelihoods.__all__ == sorted(likelihoods.__all__)
    assert all(hasattr(likelihoods, name) for name in likelihoods.__all__)


def test_likelihoods_compare_by_their_numbers():
    assert Bernoulli(a=np.array([1.0, 2.0])) == Bernoulli(a=[1.0, 2.0])
    assert hash(Bernoulli(a=[1.0, 2.0])) == hash(Bernoulli(a=(1.0, 2.0)))


def test_documents_of_full_covariances_may_lack_the_determinant_but_not_name_another():
    document = to_document(bind(GaussianFull(), np.random.default_rng(0).normal(size=(9, 2))))
    determinant = document["prior"]["fields"].pop("log_determinant")
    assert from_document(document).prior.log_determinant == pytest.approx(determinant)
    document["prior"]["fields"]["log_determinant"] = determinant + 0.01
    with pytest.raises(InvalidFileError, match="log_determinant is not that of the scale"):
        from_document(document)

"""The choice of a family for each column: by values, by evidence, and what is left out."""

import itertools
import json
import logging
import math

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import GaussianDiagonal, Poisson, bind, from_document, log_marginal, to_document
from bayesgrove.likelihoods.choice import choose_columns
from bayesgrove.likelihoods.evidence import best_intervals, cells_of, interval_ends, log_evidence, poisson
from bayesgrove.likelihoods.facts import facts_of
from bayesgrove.likelihoods.families import NAMED
from bayesgrove.likelihoods.understanding import understand

pytestmark = pytest.mark.unit


def simulated(rng, n, k):
    """A column of each kind with k clusters, by the name of its family."""
    z = rng.integers(k, size=n)
    mean, r, levels = np.exp(rng.uniform(1, 3.5, k))[z], rng.uniform(0.7, 3), rng.integers(3, 7)
    positive = np.exp(rng.normal(rng.normal(3, 1, k)[z], rng.uniform(0.5, 1, k)[z]))
    return {
        "gaussian": rng.normal(rng.normal(0, 5, k)[z], rng.uniform(0.5, 1.5, k)[z]),
        "gaussian, whole": np.rint(rng.normal(rng.uniform(150, 250, k)[z], rng.uniform(6, 12, k)[z])),
        "gaussian, ages": np.clip(np.rint(rng.normal(rng.uniform(25, 65, k)[z], rng.uniform(5, 9, k)[z])), 18, 95),
        "log-gaussian": positive,
        "log-gaussian, whole": np.rint(300 * positive) + 1,
        "poisson": rng.poisson(np.exp(rng.uniform(0, 2.5, k))[z]).astype(float),
        "negative-binomial": rng.negative_binomial(r, r / (r + mean)).astype(float),
        "ordinal": 1.0 + np.searchsorted(np.sort(rng.normal(0, 1.3, levels)), rng.normal(rng.normal(0, 1.2, k)[z])),
        "zero-inflated": np.where(rng.random(n) < rng.uniform(0.15, 0.6, k)[z], 0.0, positive),
    }


def chosen(columns):
    """Family of each column."""
    values = np.column_stack(list(columns.values()))
    table = Table(values, tuple(columns), ("float",) * len(columns))
    found = choose_columns(table, facts_of(values), range(len(columns)))
    return [found[j].family for j in range(len(columns))]


def share_right(n_seeds):
    """Share of right choices by kind, of kinds whose family is there."""
    right = {}
    for n in (200, 1_000):
        for k in (1, 2, 3):
            for seed in range(n_seeds):
                columns = simulated(np.random.default_rng([n, k, seed]), n, k)
                for name, family in zip(columns, chosen(columns), strict=True):
                    right.setdefault(name, []).append(family == name.split(",")[0])
    return {name: np.mean(hits) for name, hits in right.items() if name.split(",")[0] in NAMED}


def test_simulated_columns_get_their_family():
    shares = share_right(3)
    assert np.mean(list(shares.values())) >= 0.9, shares


@pytest.mark.slow
def test_many_simulated_columns_get_their_family():
    shares = share_right(40)
    assert np.mean(list(shares.values())) >= 0.9, shares
    assert min(shares.values()) >= 0.75, shares  # mixtures of few small counts pass for over-dispersed ones


# ------------------------------------------------------------------ evidence


def partitions_into_intervals(n):
    """Ends of all partitions of n cells into intervals."""
    for cuts in range(2 ** (n - 1)):
        yield [0, *(i + 1 for i in range(n - 1) if cuts >> i & 1), n]


def test_the_best_partition_is_the_best_of_all():
    cells = cells_of(np.array([0.0, 1.0, 2.0, 9.0, 11.0, 30.0]))
    form = poisson(cells)
    sums = np.hstack([np.zeros((3, 1)), np.cumsum(form.statistics, axis=1)])
    first, last = np.triu_indices(7, 1)
    joints = form.log_marginals(sums[:, last] - sums[:, first]) + gammaln(last - first)
    total, start = best_intervals(7, first, last, joints)
    place = {(a, b): i for i, (a, b) in enumerate(zip(first, last, strict=True))}
    every = {
        tuple(ends): sum(joints[1, place[pair]] for pair in itertools.pairwise(ends))
        for ends in partitions_into_intervals(6)
    }
    assert total[1, -1] == pytest.approx(max(every.values()), abs=1e-10)
    assert tuple(interval_ends(start[1])) == max(every, key=every.get)


@pytest.mark.parametrize(
    ("family", "make"),
    [
        ("poisson", lambda shape: Poisson(shape=shape, rate=shape / 3.0)),
        ("gaussian", None),
    ],
)
def test_one_interval_has_the_marginal_of_the_family(family, make):
    """Cells without a gap cannot be divided, so that the evidence is the mean over the grid of settings."""
    values = np.full(4, 3.0)
    cells = cells_of(values)._replace(grain=1.0)
    if family == "poisson":
        grid = [log_marginal(make(shape), values[:, np.newaxis]) for shape in (0.3, 1.0, 3.0, 30.0)]
    else:
        shares, shapes = (1.0, 0.2, 0.04, 0.008, 1e-4, 1e-6), (1.0, 4.0)
        settings = [{"strength": a, "shape": b, "rate": a * b} for a in shares for b in shapes]
        grid = [log_marginal(GaussianDiagonal(mean=3, grain=1, **one), values[:, np.newaxis]) for one in settings]
    expected = logsumexp(grid) - math.log(len(grid)) + gammaln(4) - gammaln(5)
    assert log_evidence(cells, family) == pytest.approx(expected, abs=1e-9)


def test_units_change_evidence_by_their_measure():
    values = np.random.default_rng(0).lognormal(3, 1, 100)
    for family in ("gaussian", "log-gaussian"):
        change = log_evidence(cells_of(10 * values), family) - log_evidence(cells_of(values), family)
        assert change == pytest.approx(-100 * math.log(10), abs=1e-6)


# ------------------------------------------------------------------ values decide


def test_kinds_of_numbers_do_not_matter():
    values = np.column_stack(list(simulated(np.random.default_rng(5), 200, 2).values()))
    names = tuple("abcdefghi")
    whole, fractions = (understand("auto", Table(values, names, (kind,) * 9)) for kind in ("integer", "float"))
    assert whole.choices == fractions.choices


def test_similar_columns_share_a_choice_where_they_are_many():
    values = 1.0 + np.random.default_rng(0).negative_binomial(2, 0.05, (60, 300))
    table = Table(values, tuple(f"x{j}" for j in range(300)), ("integer",) * 300)
    shared = [choice for choice in understand("auto", table).choices if "similar columns" in choice.reason]
    assert len(shared) > 200
    assert len({choice.family for choice in shared}) == 1


def test_a_close_choice_is_marked():
    values = np.random.default_rng(0).poisson(60.0, 100)[:, np.newaxis].astype(float)
    (choice,) = understand("auto", Table(values, ("n",), ("integer",))).choices
    assert choice.family == "gaussian"
    assert choice.is_close
    assert choice.evidence["poisson"] > -3.0


def test_measurements_beside_each_other_are_gaussian():
    rng = np.random.default_rng(0)
    skewed, bell, group = rng.lognormal(0.0, 0.8, 200), rng.normal(size=200), rng.integers(0, 4, 200)

    def families(*columns):
        values = np.column_stack(columns).astype(float)
        names = tuple(f"x{j}" for j in range(values.shape[1]))
        return understand("auto", Table(values, names, ("float",) * values.shape[1])).choices

    assert [choice.family for choice in families(skewed)] == ["log-gaussian"]
    assert [choice.family for choice in families(skewed, group)] == ["log-gaussian", "ordinal"]
    both = families(skewed, bell)
    assert [choice.family for choice in both] == ["gaussian", "gaussian"]
    assert both[0].evidence["log-gaussian"] > 4.0
    assert "gaussian" not in both[0].evidence


# ------------------------------------------------------------------ what is left out


def mixed_table(n=60):
    rng = np.random.default_rng(1)
    labels = tuple(f"name{i}" for i in range(n))
    texts = tuple(f"some words {i}" for i in range(n - 5))
    values = np.column_stack(
        [
            rng.normal(size=n),
            rng.permutation(n) + 1000.0,
            np.arange(n),
            np.r_[np.arange(n - 5), np.arange(5)],
            18000.0 + rng.integers(900, size=n),
            np.full(n, 3.0),
            rng.integers(3, size=n),
        ]
    )
    names = ("size", "customer", "label", "text", "day", "same", "region")
    kinds = ("float", "integer", "category", "category", "date", "float", "category")
    return Table(values, names, kinds, {2: labels, 3: texts, 6: ("n", "s", "w")})


def test_identifiers_texts_and_dates_are_left_out_with_a_line_each(caplog):
    caplog.set_level(logging.WARNING, logger="bayesgrove")
    table = mixed_table()
    bound = bind("auto", table)
    kinds = [choice.kind for choice in bound.choices]
    assert kinds == ["measurement", "identifier", "identifier", "free text", "date", "constant", "category"]
    assert np.flatnonzero(bound.encoding.ignored).tolist() == [1, 2, 3, 4, 5]
    for line in (
        "left out as identifier: 'customer' (whole numbers that count from 1000 to 1059), 'label' (all 60 labels",
        "left out as free text: 'text' (55 different labels in 60 cells)",
        "left out as date: 'day'",
        "constant or have no observed cell: 'same'",
    ):
        assert line in caplog.text
    assert from_document(json.loads(json.dumps(to_document(bound)))).choices == bound.choices


def test_a_column_that_is_named_is_never_left_out():
    bound = bind({"customer": "gaussian", "label": "categorical"}, mixed_table())
    assert [choice.family for choice in bound.choices[:4]] == ["gaussian", "gaussian", "categorical", ""]
    assert bound.choices[1].reason == "chosen by the user"
    assert bound.free


def test_where_all_columns_would_be_left_out_none_is():
    table = mixed_table().select(["label", "day"])
    assert [choice.family for choice in understand("auto", table).choices] == ["categorical", "gaussian"]


@pytest.mark.parametrize("cells", [np.arange(60) * 3.0, np.arange(15), np.r_[np.arange(50), np.arange(10)]])
def test_other_whole_numbers_are_no_identifiers(cells):
    values = np.column_stack([cells, np.random.default_rng(0).normal(size=cells.size)])
    (first, _) = understand("auto", Table(values, ("x", "y"), ("integer", "float"))).choices
    assert first.family


def test_unknown_columns_and_families_of_a_mapping_are_refused():
    with pytest.raises(InvalidLikelihoodError, match="names the column 'weight'"):
        bind({"weight": "gaussian"}, mixed_table())
    with pytest.raises(InvalidLikelihoodError, match=r"one of 'auto', .*got 'gauss'"):
        bind({"size": "gauss"}, mixed_table())


def test_damaged_choices_are_refused():
    document = to_document(bind("auto", mixed_table()))
    document["columns"] = document["columns"][:2]
    with pytest.raises(ValueError, match="columns as understood do not fit"):
        from_document(document)


def repeating_table():
    """Grades as numbers and as letters, with the same cells missing, and columns that differ from them in one row."""
    rng = np.random.default_rng(0)
    grade = rng.integers(1, 4, 60).astype(float)
    grade[[3, 5]] = np.nan
    letters = 3.0 - grade
    other, gaps = letters.copy(), letters.copy()
    other[7], gaps[9] = (letters[7] + 1) % 3, np.nan
    rare = (np.arange(60) < 4).astype(float)
    values = np.column_stack([grade, letters, other, gaps, rare, 1.0 - rare, rng.normal(size=60)])
    names = ("grade", "letter", "other", "gaps", "rare", "common", "size")
    kinds = ("float", "category", "category", "category", "bool", "bool", "float")
    return Table(values, names, kinds, dict.fromkeys((1, 2, 3), ("a", "b", "c")))


def test_a_column_that_repeats_another_is_left_out(caplog):
    caplog.set_level(logging.WARNING, logger="bayesgrove")
    bound = bind("auto", repeating_table())
    assert [choice.family == "" for choice in bound.choices] == [False, True, False, False, False, False, False]
    assert "left out as repeat: 'letter' (one to one with 'grade')" in caplog.text
    assert np.flatnonzero(bound.encoding.ignored).tolist() == [1]


def test_the_column_that_is_named_is_kept_and_the_one_it_repeats_left_out():
    found = understand({"letter": "categorical"}, repeating_table())
    assert found.left_out == [0]
    assert not understand({"letter": "categorical", "grade": "gaussian"}, repeating_table()).left_out


def test_models_of_views_keep_columns_that_repeat_others():
    assert not understand("auto", repeating_table(), with_repeats=True).left_out


def test_columns_that_all_agree_are_clusters_and_not_repeats():
    halves = (np.arange(40) < 20).astype(float)
    table = Table(np.column_stack([halves, 1.0 - halves, halves]), ("a", "b", "c"), ("bool",) * 3)
    assert not understand("auto", table).left_out

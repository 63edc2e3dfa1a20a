"""Families of columns once more, in the light of the clusters that were found.

A column by itself shows its clusters poorly where cells are missing or clusters overlap: a mixture of Poisson counts is
then taken for over-dispersed ones. Given the clusters of all columns, the evidence of each family is a plain sum of log
marginals, with its hyperparameters at their most probable values. Where another family is better by more than the
choice left open, the table is fitted again; the fit of higher evidence bound is kept, both as probabilities of rounding
intervals. Clusters were found under the first families, which is in their favour.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from bayesgrove.agglomeration.learn import climb, joint_and_gradient, new_space
from bayesgrove.agglomeration.reassign import partition_log_joint
from bayesgrove.agglomeration.search import CLIMB_STEPS, LEAST_RISE, Clusters
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import Bound, NegativeBinomial, log_interval_widths
from bayesgrove.likelihoods.base import Likelihood
from bayesgrove.likelihoods.bind import bind_understood
from bayesgrove.likelihoods.choice import CLOSE, Choice, preference
from bayesgrove.likelihoods.coordinates import column_grain, with_grain
from bayesgrove.likelihoods.facts import facts_of
from bayesgrove.likelihoods.mixed import Columns
from bayesgrove.likelihoods.negative_binomial import dispersion_within
from bayesgrove.likelihoods.understanding import Understood, likelihood_of, with_choices
from bayesgrove.models.bhc.explained import fit_unexplained
from bayesgrove.models.bhc.fit import Fitted, map_labels

Revised = dict[int, tuple[Choice, Likelihood]]
"""Columns that are to be described otherwise, and how."""


def fit_revised(
    bound: Bound, understood: Understood, table: Table, hyper: str, fit: Callable[[Bound], Fitted]
) -> Fitted:
    """The fit of a bound table under the families that suit its clusters, without columns that others explain."""
    return fit_unexplained(*fit_families(bound, understood, table, hyper, fit), table, hyper, fit)


def fit_families(
    bound: Bound, understood: Understood, table: Table, hyper: str, fit: Callable[[Bound], Fitted]
) -> tuple[Fitted, Understood]:
    """The fit under the families of higher evidence, and these."""
    first = fit(bound)
    revised = {}
    if isinstance(understood.likelihood, Columns):
        revised = revised_columns(understood, table, map_labels(first.tree))
    if not revised:
        return first, understood
    others = with_choices(understood, revised)
    second = fit(bind_understood(others, table, hyper))
    before, after = (log_probability(one, table, list(revised)) for one in (first, second))
    names = ", ".join(f"{table.names[j]!r} {choice.family}" for j, (choice, _) in revised.items())
    logging.getLogger("bayesgrove").info(
        "families that suit the clusters better: %s; log evidence %.1f, before %.1f", names, after, before
    )
    return (second, others) if after > before else (first, understood)


def log_probability(fitted: Fitted, table: Table, columns: Sequence[int]) -> float:
    """The evidence bound with the cells of some columns as rounding intervals."""
    each = fitted.bound.likelihood.likelihoods  # type: ignore[attr-defined]
    return fitted.log_evidence + sum(log_widths(each[j], table.column(j)) for j in columns)


def log_widths(likelihood: Likelihood, column: Table) -> float:
    """What turns log densities of a column into log probabilities: whole numbers are rounded to 1, as counts are."""
    cells = column.values[~np.isnan(column.values)]
    is_whole = np.array_equal(cells, np.floor(cells))
    return log_interval_widths(likelihood, cells, 1.0 if is_whole else column_grain(cells))


def revised_columns(understood: Understood, table: Table, labels: np.ndarray) -> Revised:
    """The columns that another likelihood suits clearly better, given the clusters."""
    facts, found = facts_of(table.values), {}
    each = understood.likelihood.likelihoods  # type: ignore[attr-defined]
    for j, choice in enumerate(understood.choices):
        if choice.family and choice.evidence:
            column = table.column(j)
            others = (likelihood_of(name, column, facts, j) for name in (choice.family, *choice.evidence))
            revised = revised_column(choice, each[j], [within(one, column, labels) for one in others], column, labels)
            if revised is not None:
                found[j] = revised
    return found


def revised_column(
    choice: Choice, now: Likelihood, others: Sequence[Likelihood], column: Table, labels: np.ndarray
) -> tuple[Choice, Likelihood] | None:
    """The likelihood that suits a column clearly better than the one it has now, preferences included."""
    least = float(np.nanmin(column.values))
    names = (choice.family, *choice.evidence)
    evidence = {name: log_marginal_within(one, column, labels) for name, one in zip(names, others, strict=True)}
    weighted = {name: nats + preference(name, least) for name, nats in evidence.items()}
    best = max(names, key=lambda name: weighted[name])
    if weighted[best] <= log_marginal_within(now, column, labels) + preference(choice.family, least) + CLOSE:
        return None
    differences = {name: nats - evidence[best] for name, nats in evidence.items()}
    return choice.revised(best, differences), others[names.index(best)]


def within(likelihood: Likelihood, column: Table, labels: np.ndarray) -> Likelihood:
    """The likelihood with the numbers that are no hyperparameters as the clusters have them."""
    if isinstance(likelihood, NegativeBinomial):
        return replace(likelihood, dispersion=dispersion_within(column.values[:, 0], labels))
    return likelihood


def log_marginal_within(likelihood: Likelihood, column: Table, labels: np.ndarray) -> float:
    """Log probability of a column given the clusters, under the hyperparameters that are most probable given these."""
    bound = bind_understood(Understood(Columns([likelihood]), ()), column)
    prior = with_grain(bound.prior, bound.values, bound.open_grain)
    space = new_space(prior, 0.0, bound.free, learn_concentration=False)
    clusters = Clusters(*cluster_statistics(prior, bound.values, labels, int(labels.max()) + 1))
    prior, _ = space.at(climb(space, space.origin, joint_and_gradient, clusters, CLIMB_STEPS, LEAST_RISE))
    log_joint = partition_log_joint(prior, *clusters, 0.0)
    return float(log_joint - gammaln(clusters.sizes).sum()) + bound.log_measure + log_widths(likelihood, column)

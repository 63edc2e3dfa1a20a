"""Posteriors over views of columns and, in each, partitions of rows (cross-categorisation), by enumeration.

Given the views, the row partitions of different views are independent; so the law of the views needs one sum over row
partitions for each set of columns. The second way takes predictive densities and seats instead of closed forms.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from posteriors.codes import all_partitions, blocks, code_of
from posteriors.marginals import log_chain, log_marginal
from posteriors.processes import log_dirichlet, log_seating
from posteriors.quantities import State, describe, rounded
from posteriors.quantities import law as law_of


class CrossTable:
    """A small table and its concentrations; all logs are remembered."""

    def __init__(self, rows: Sequence[Sequence[Any]], columns: Sequence[Any], parameters: Mapping[str, float], way):
        self.n_rows, self.n_columns = len(rows), len(columns)
        self.row_concentration = parameters["row_concentration"]
        self.column_concentration = parameters["column_concentration"]

        @cache
        def of_block(j: int, block: tuple[int, ...]) -> float:
            return way(columns[j], [rows[i][j] for i in block])

        self.log_column = cache(lambda j, z: math.fsum(of_block(j, block) for block in blocks(z)))
        self.log_rows = cache(lambda z: log_dirichlet([len(block) for block in blocks(z)], self.row_concentration))

    def log_weights(self, columns: tuple[int, ...]) -> np.ndarray:
        """Log joint weight of every row partition with these columns as one view."""
        return np.array(
            [self.log_rows(z) + math.fsum(self.log_column(j, z) for j in columns) for z in all_partitions(self.n_rows)]
        )


class ViewLaw(NamedTuple):
    """The law of the views, and of the row partitions of every set of columns that is a view."""

    states: list[State]
    log_evidence: float
    row_laws: dict[tuple[int, ...], np.ndarray]
    """In the order of `all_partitions`."""


def view_law(table: CrossTable) -> ViewLaw:
    """Sums over row partitions, one for each set of columns."""
    weights: dict[tuple[int, ...], np.ndarray] = {}
    logs = {}
    for views in all_partitions(table.n_columns):
        own = blocks(views)
        for columns in own:
            if columns not in weights:
                weights[columns] = table.log_weights(columns)
        prior = log_dirichlet([len(columns) for columns in own], table.column_concentration)
        logs[views] = prior + math.fsum(float(np.logaddexp.reduce(weights[columns])) for columns in own)
    log_evidence = float(np.logaddexp.reduce(list(logs.values())))
    states = [State({"views": views}, math.exp(log - log_evidence)) for views, log in logs.items()]
    row_laws = {columns: np.exp(w - np.logaddexp.reduce(w)) for columns, w in weights.items()}
    return ViewLaw(states, log_evidence, row_laws)


def column_states(law: ViewLaw, n_rows: int, column: int) -> list[State]:
    """Law of the row partition of the view a column is in."""
    total = np.zeros(len(all_partitions(n_rows)))
    for state in law.states:
        own = next(block for block in blocks(state.partitions["views"]) if column in block)
        total += state.probability * law.row_laws[own]
    return [State({f"column_{column}": z}, p) for z, p in zip(all_partitions(n_rows), total.tolist(), strict=True)]


def view_quantities(
    rows: Sequence[Sequence[Any]], columns: Sequence[Any], parameters: Mapping[str, float], *, with_joint_law: bool
) -> dict[str, Any]:
    """Exact quantities: laws of the views, of each column's row partition, and of all of them together on request."""
    table = CrossTable(rows, columns, parameters, log_marginal)
    law = view_law(table)
    found = describe(law.states, [("views",)])
    for j in range(len(columns)):
        own = describe(column_states(law, len(rows), j), [(f"column_{j}",)])
        for part, values in own.items():
            found[part].update(values)
    if with_joint_law:
        names = ["views", *(f"column_{j}" for j in range(len(columns)))]
        found["laws"]["|".join(names)] = law_of(joint_states(law, len(rows)), names)
    found["log_evidence"] = {"value": rounded(law.log_evidence)}
    return {"quantities": found, "difference": evidence_difference(rows, columns, parameters, found)}


def joint_states(law: ViewLaw, n_rows: int) -> list[State]:
    """Every state with its probability, row partitions by column."""
    found = []
    for state in law.states:
        own = blocks(state.partitions["views"])
        laws = [list(zip(all_partitions(n_rows), law.row_laws[block].tolist(), strict=True)) for block in own]
        for combination in itertools.product(*laws):
            named = {f"column_{j}": z for block, (z, _) in zip(own, combination, strict=True) for j in block}
            chance = state.probability * math.prod(p for _, p in combination)
            found.append(State({"views": state.partitions["views"], **named}, chance))
    return found


def evidence_difference(rows, columns, parameters, found: Mapping[str, Any]) -> float:
    """Largest difference of the views' law and log evidence when other formulas are taken throughout."""
    table = CrossTable(rows, columns, parameters, log_chain)
    partitions = all_partitions(table.n_rows)
    row_priors = np.array([log_seating([len(b) for b in blocks(z)], table.row_concentration) for z in partitions])
    by_column = np.array([[table.log_column(j, z) for z in partitions] for j in range(table.n_columns)])
    logs = {}
    for views in all_partitions(table.n_columns):
        own = blocks(views)
        one_view = [row_priors + by_column[list(block)].sum(axis=0) for block in own]
        prior = log_seating([len(block) for block in own], table.column_concentration)
        logs[code_of(views)] = prior + math.fsum(float(np.logaddexp.reduce(view)) for view in one_view)
    log_evidence = float(np.logaddexp.reduce(list(logs.values())))
    law = found["laws"]["views"]
    worst = max(
        abs(math.exp(logs[code] - log_evidence) - p) for code, p in zip(law["codes"], law["probabilities"], strict=True)
    )
    return max(worst, abs(log_evidence - found["log_evidence"]["value"]))

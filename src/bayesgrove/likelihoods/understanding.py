"""From what a user gives as a likelihood to one likelihood for each column, with the reasons."""

import dataclasses
import logging
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.core.table import Table
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.base import LEARN, Likelihood, refuse_infinite
from bayesgrove.likelihoods.choice import Choice, choose_columns
from bayesgrove.likelihoods.defaults import named_likelihood
from bayesgrove.likelihoods.facts import Facts, facts_of
from bayesgrove.likelihoods.families import CODE_OF, FAMILIES, NAMED
from bayesgrove.likelihoods.mixed import Columns, column_likelihood, entries_of, of_column
from bayesgrove.likelihoods.recognition import CONSTANT, EMPTY, REPEAT, repeats

MOST_NAMED = 10
CONTINUOUS = ("gaussian", "log-gaussian", "zero-inflated")
FOR_NOTHING = ("gaussian", "bernoulli", "categorical")
"""Families that take a column without a cell; a column that is left out gets that of another, where it can."""
GIVEN = "as given"


class Understood(NamedTuple):
    """A likelihood for a table, and how each of its columns is understood."""

    likelihood: Likelihood
    choices: tuple[Choice, ...]

    @property
    def left_out(self) -> list[int]:
        """Columns that no family describes."""
        return left_out(self.choices)


def left_out(choices: Sequence[Choice]) -> list[int]:
    """Numbers of the columns that no family describes."""
    return [j for j, choice in enumerate(choices) if not choice.family]


def understand(likelihood: Any, table: Table, facts: Facts | None = None, *, with_repeats: bool = False) -> Understood:
    """A likelihood from a likelihood, its name, "auto", or a mapping from some of the columns to them.

    Parameters
    ----------
    likelihood : Likelihood, str or mapping
        "auto" chooses a family per column and learns its hyperparameters. In a mapping the name of a family stands for
        it with hyperparameters that are learned; columns it does not mention are "auto".
    table : Table
    facts : Facts, optional
        Of the table; where rows are elsewhere, `table` may have few of them.
    with_repeats : bool
        Keep columns that repeat others: models of views find that they belong together, and fill in their cells.
    """
    if isinstance(likelihood, Mapping):
        named = {key: learned(entry) for key, entry in likelihood.items()}
        return of_entries(entries_of(named, table), table, facts, with_repeats=with_repeats)
    if isinstance(likelihood, Columns):
        return of_entries(entries_of(likelihood.likelihoods, table), table, facts, with_repeats=with_repeats)
    if isinstance(likelihood, str) and likelihood == LEARN:
        return simplified(of_entries([LEARN] * table.n_columns, table, facts, with_repeats=with_repeats))
    if isinstance(likelihood, str):
        likelihood = named_likelihood(likelihood)
    if not isinstance(likelihood, Likelihood):
        raise InvalidLikelihoodError(
            f"likelihood must be a likelihood or the name of one, got {likelihood!r}. See bayesgrove.likelihoods."
        )
    choices = (given(likelihood),) * table.n_columns
    if has_own_kernels(likelihood):
        return Understood(likelihood, choices)
    each = [of_column(likelihood, j).resolved(table.column(j)) for j in range(table.n_columns)]
    return Understood(Columns(each), choices)


def learned(entry: Any) -> Any:
    """A family by its name, with hyperparameters that are learned; anything else as it is."""
    if isinstance(entry, str) and entry in NAMED and NAMED[entry] in CODE_OF:
        return NAMED[entry].learned()
    return entry


def of_entries(entries: Sequence[Any], table: Table, facts: Facts | None, *, with_repeats: bool) -> Understood:
    """One likelihood for each column, chosen where the entry is "auto"."""
    is_open = [isinstance(entry, str) and entry == LEARN for entry in entries]
    wanted = [j for j in range(table.n_columns) if is_open[j]]
    if facts is None and wanted:
        refuse_infinite(table)
        facts = facts_of(table.values)
    found = choose_columns(table, facts, wanted) if facts is not None else {}
    each: list[Any] = [None if j in found else column_likelihood(entry, table, j) for j, entry in enumerate(entries)]
    choices = [found.get(j) or given(each[j]) for j in range(table.n_columns)]
    if facts is not None and not with_repeats:
        choices = without_repeats(choices, table, facts, found)
    choices = in_use(choices, table)
    if len(found) == table.n_columns:
        choices = in_one_block(choices)
    spare = spare_family(choices)
    for j in found:
        each[j] = likelihood_of(choices[j].family or spare, table.column(j), facts, j)
    return Understood(Columns(each), tuple(choices))


def spare_family(choices: Sequence[Choice]) -> str:
    """The family that stands for columns which are left out."""
    return next((choice.family for choice in choices if choice.family in FOR_NOTHING), "gaussian")


def without_repeats(choices: list[Choice], table: Table, facts: Facts, wanted: Container[int]) -> list[Choice]:
    """The choices, without columns that repeat others: the first is kept, or one that the user named.

    Columns are independent given the cluster. One that repeats another would count its differences twice.
    """
    used = [j for j, choice in enumerate(choices) if choice.family and choice.kind not in (CONSTANT, EMPTY)]
    found = repeats(facts, sorted(used, key=lambda j: (j in wanted, j)))
    return [
        Choice(REPEAT, "", f"one to one with {table.names[found[j]]!r}") if j in found and j in wanted else choice
        for j, choice in enumerate(choices)
    ]


def likelihood_of(family: str, column: Table, facts: Facts | None, j: int) -> Likelihood:
    """A family with hyperparameters that are learned; of a scale all whole numbers between its ends are levels."""
    found = NAMED[family].learned()
    if facts is not None and hasattr(found, "levels"):
        return dataclasses.replace(found, **{"levels": np.arange(facts.least[j], facts.largest[j] + 1.0)})
    return found.resolved(column)


def with_choices(found: Understood, revised: Mapping[int, tuple[Choice, Likelihood]]) -> Understood:
    """The same with other choices and likelihoods for some columns."""
    each = list(found.likelihood.likelihoods)  # type: ignore[attr-defined]
    choices = list(found.choices)
    for j, (choice, likelihood) in revised.items():
        choices[j], each[j] = choice, likelihood
    return Understood(Columns(each), tuple(choices))


def leaving_out(found: Understood, reasons: Mapping[int, Choice], table: Table) -> Understood:
    """The same without some columns."""
    choices = tuple(reasons.get(j, choice) for j, choice in enumerate(found.choices))
    if not isinstance(found.likelihood, Columns):
        return found._replace(choices=choices)
    spare, empty = spare_family(choices), table.without(list(reasons))
    return with_choices(found, {j: (choices[j], likelihood_of(spare, empty.column(j), None, j)) for j in reasons})


def in_use(choices: list[Choice], table: Table) -> list[Choice]:
    """The choices, with one line in the log for each reason to leave columns out; where all would be, none is."""
    if not any(choice.family and choice.kind not in (CONSTANT, EMPTY) for choice in choices):
        names = ["categorical" if kind == "category" else "gaussian" for kind in table.kinds]
        return [
            choice if choice.family else choice._replace(family=name)
            for choice, name in zip(choices, names, strict=True)
        ]
    for kind in dict.fromkeys(choice.kind for choice in choices if not choice.family):
        report_left_out(
            kind, [(name, c.reason) for name, c in zip(table.names, choices, strict=True) if c.kind == kind]
        )
    return choices


def in_one_block(choices: list[Choice]) -> list[Choice]:
    """The choices, all Gaussian where every column in use is a measurement and there are several.

    Models choose covariances and look for valleys of the density where all columns are Gaussian. Skewed clusters then
    get several components, which are united; columns of other families would get neither.
    """
    used = [choice for choice in choices if choice.family and choice.kind not in (CONSTANT, EMPTY)]
    if len(used) < 2 or any(choice.family not in CONTINUOUS for choice in used):
        return choices
    return [as_gaussian(choice) if "gaussian" in choice.evidence else choice for choice in choices]


def as_gaussian(choice: Choice) -> Choice:
    """A measurement that is taken as Gaussian although another family has the higher evidence."""
    lost = choice.evidence["gaussian"]
    others = {name: nats for name, nats in choice.evidence.items() if name != "gaussian"}
    evidence = {name: round(nats - lost, 1) for name, nats in {choice.family: 0.0, **others}.items()}
    return Choice("measurement", "gaussian", f"{choice.reason}, beside other measurements", evidence)


def report_left_out(kind: str, columns: list[tuple[str, str]]) -> None:
    """One line that names the columns left out and says why."""
    shown = ", ".join(f"{name!r} ({reason})" for name, reason in columns[:MOST_NAMED])
    more = len(columns) - MOST_NAMED
    logging.getLogger("bayesgrove").warning(
        "columns left out as %s: %s%s", kind, shown, f" and {more} more" if more > 0 else ""
    )


def given(likelihood: Likelihood) -> Choice:
    """A column whose likelihood the user gave."""
    code = CODE_OF.get(type(likelihood))
    named = {kind: name for name, kind in NAMED.items()}
    name = FAMILIES[code].name if code is not None else named.get(type(likelihood), type(likelihood).__name__)
    return Choice(GIVEN, name, "chosen by the user")


def simplified(found: Understood) -> Understood:
    """One likelihood for all columns where they agree."""
    each = found.likelihood.likelihoods  # type: ignore[attr-defined]
    is_one = len({type(one) for one in each}) == 1 and has_own_kernels(each[0])
    return found._replace(likelihood=each[0]) if is_one else found


def has_own_kernels(likelihood: Likelihood) -> bool:
    """Whether kernels know whole tables of this likelihood; of other families they know columns."""
    code = CODE_OF.get(type(likelihood))
    return code is None or FAMILIES[code].prior in contract.add.bodies


def described_columns(names: Sequence[str], choices: Sequence[Choice], is_used: Sequence[bool]) -> list[dict[str, Any]]:
    """A record of texts for each column: name, kind, family, reason, alternatives and whether the choice is close."""
    return [
        {
            "name": name,
            "kind": choice.kind,
            "family": choice.family if used and choice.family else "left out",
            "reason": choice.reason,
            "alternatives": ", ".join(f"{other} {nats:+.1f}" for other, nats in ranked(choice.evidence)),
            "close": choice.is_close,
        }
        for name, choice, used in zip(names, choices, is_used, strict=True)
    ]


def ranked(evidence: Mapping[str, float]) -> list[tuple[str, float]]:
    """Families and differences in nats, the best first."""
    return sorted(evidence.items(), key=lambda item: (-item[1], item[0]))


def choices_to_json(choices: Sequence[Choice]) -> list[dict[str, Any]]:
    """Choices in JSON's types."""
    return [{**choice._asdict(), "evidence": dict(choice.evidence)} for choice in choices]


def choices_from_json(documents: Any, n_columns: int) -> tuple[Choice, ...]:
    """The choices of `choices_to_json`."""
    found = tuple(
        Choice(
            str(document["kind"]),
            str(document["family"]),
            str(document["reason"]),
            {str(name): float(number) for name, number in dict(document["evidence"]).items()},
        )
        for document in documents
    )
    if len(found) not in (0, n_columns) or not np.isfinite([x for c in found for x in c.evidence.values()]).all():
        raise ValueError("columns as understood do not fit the table")
    return found

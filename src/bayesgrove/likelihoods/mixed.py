"""`Columns`: the public likelihood of mixed tables, one likelihood per column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.core.table import Table
from bayesgrove.likelihoods.base import LEARN, Encoding, Likelihood
from bayesgrove.likelihoods.columns import EXACT, ColumnsPrior
from bayesgrove.likelihoods.defaults import named_likelihood
from bayesgrove.likelihoods.families import CODE_OF, FAMILIES, N_PARAMS


@dataclass(frozen=True)
class Columns(Likelihood):
    """A likelihood for each column of a mixed table, independent given the cluster.

    Parameters
    ----------
    likelihoods : sequence or mapping
        One likelihood (or its name) per column, or a mapping from column names or numbers to them; columns
        a mapping does not mention are "auto".

    Notes
    -----
    A model learns one factor for each family and parameter, shared by the family's columns; it does so only
    where no column of the family gives a number for that parameter.

    Examples
    --------
    >>> from bayesgrove.likelihoods import Bernoulli, Poisson, log_marginal
    >>> mixed = Columns([Bernoulli(a=1, b=1), Poisson(shape=1, rate=1)])
    >>> round(log_marginal(mixed, [[1, 0]]), 6)  # the logarithm of 1/2 times 1/2
    -1.386294
    """

    takes_categories: ClassVar[bool] = True

    likelihoods: Any = ()

    def check_cells(self, table: Table) -> None:
        """Each column by its own likelihood."""
        entries_of_sequence(self.likelihoods, table)
        for j, likelihood in enumerate(self.likelihoods):
            likelihood.check(table.column(j))

    def cells(self, table: Table) -> np.ndarray:
        """Each column as its own likelihood counts it."""
        return np.column_stack([likelihood.cells(table.column(j)) for j, likelihood in enumerate(self.likelihoods)])

    def values_of(self, cells: np.ndarray) -> np.ndarray:
        """Each column by its own likelihood."""
        return np.column_stack([likelihood.values_of(cells[:, j]) for j, likelihood in enumerate(self.likelihoods)])

    def encoding(self, table: Table) -> Encoding:
        """Each column by its own likelihood."""
        parts = [likelihood.encoding(table.column(j)) for j, likelihood in enumerate(self.likelihoods)]
        return Encoding(*(np.concatenate(numbers) for numbers in zip(*parts, strict=True)))

    def prior(self, values: np.ndarray, encoding: Encoding, table: Table) -> ColumnsPrior:
        """The columns' priors packed into one table of numbers."""
        params = np.zeros((table.n_columns, N_PARAMS))
        family = np.zeros(table.n_columns, np.int64)
        sizes, grain = np.zeros(table.n_columns, np.int64), np.zeros(table.n_columns)
        for j, likelihood in enumerate(self.likelihoods):
            prior = likelihood.prior(values[:, j : j + 1], encoding.column(j), table.column(j))
            family[j] = CODE_OF[type(likelihood)]
            numbers, sizes[j], grain[j] = FAMILIES[family[j]].pack(prior)
            params[j, : len(numbers)] = numbers
        start = np.concatenate([[0], np.cumsum(sizes)])
        return ColumnsPrior(family, params, start, grain if grain.any() else EXACT)

    def described_by(self, prior: ColumnsPrior, encoding: Encoding) -> "Columns":
        """Each column's numbers in the table's units."""
        return Columns(
            [
                likelihood.described_by(column_prior(prior, j), encoding.column(j))
                for j, likelihood in enumerate(self.likelihoods)
            ]
        )

    def learned_columns(self, n_columns: int, free: tuple[str, ...]) -> list[bool]:
        """Names start with that of a column's family."""
        families = {name.split(".")[0] for name in free}
        return [FAMILIES[CODE_OF[type(likelihood)]].name in families for likelihood in self.likelihoods]

    def unknown_grain(self, n_columns: int) -> list[bool]:
        """Each column by its own likelihood."""
        return [likelihood.unknown_grain(1)[0] for likelihood in self.likelihoods]

    def free(self) -> tuple[str, ...]:
        """Parameters that all columns of a family mark "auto", named like "gaussian.rate"."""
        return self._shared({id(likelihood): likelihood.free() for likelihood in self.likelihoods})

    def not_given(self) -> tuple[str, ...]:
        """Parameters for which no column of a family gives a number."""
        return self._shared({id(likelihood): likelihood.not_given() for likelihood in self.likelihoods})

    def _shared(self, names: dict[int, tuple[str, ...]]) -> tuple[str, ...]:
        shared = []
        for code, family in enumerate(FAMILIES):
            members = [likelihood for likelihood in self.likelihoods if CODE_OF[type(likelihood)] == code]
            for name, _, _ in family.hyper if members else ():
                if all(name in names[id(likelihood)] for likelihood in members):
                    shared.append(f"{family.name}.{name}")
        return tuple(shared)


def column_prior(prior: ColumnsPrior, j: int) -> Any:
    """The family's own prior of column `j`."""
    size = int(prior.start[j + 1] - prior.start[j])
    return FAMILIES[prior.family[j]].unpack(prior.params[j], size, float(prior.grain[j]) if prior.grain.size else 0.0)


def of_column(likelihood: Likelihood, j: int) -> Likelihood:
    """The likelihood of column `j` alone, where parameters are one number or one per column."""
    given = {field.name: getattr(likelihood, field.name) for field in fields(likelihood)}
    listed = {k: v for k, v in given.items() if isinstance(v, tuple) and k not in likelihood.of_all_columns}
    return replace(likelihood, **{k: v[j] for k, v in listed.items() if j < len(v)})


def entries_of(likelihoods: Any, table: Table) -> Sequence[Any]:
    """One entry per column of a list or a mapping."""
    if isinstance(likelihoods, Mapping):
        return entries_of_mapping(likelihoods, table)
    return entries_of_sequence(likelihoods, table)


def entries_of_sequence(likelihoods: Any, table: Table) -> Sequence[Any]:
    """The list as it is, if it has one entry per column."""
    if not isinstance(likelihoods, Sequence) or isinstance(likelihoods, str):
        raise InvalidLikelihoodError(f"Columns takes a list or a mapping of likelihoods, got {likelihoods!r}.")
    if len(likelihoods) != table.n_columns:
        raise InvalidLikelihoodError(
            f"Columns needs one likelihood per column, got {len(likelihoods)} for {table.n_columns} columns. "
            "Use a mapping to name only some of them."
        )
    return likelihoods


def entries_of_mapping(likelihoods: Mapping[Any, Any], table: Table) -> list[Any]:
    """One entry per column, "auto" where the mapping names none."""
    entries: list[Any] = [LEARN] * table.n_columns
    seen: dict[int, Any] = {}
    for key, entry in likelihoods.items():
        if isinstance(key, str):
            j = table.names.index(key) if key in table.names else -1
        else:
            j = int(key)
        if not 0 <= j < table.n_columns:
            raise InvalidLikelihoodError(
                f"Columns names the column {key!r}, the table has {', '.join(map(repr, table.names))}."
            )
        if j in seen:
            raise InvalidLikelihoodError(f"Columns names one column twice, as {seen[j]!r} and as {key!r}.")
        seen[j] = key
        entries[j] = entry
    return entries


def column_likelihood(entry: Any, table: Table, j: int) -> Likelihood:
    """The likelihood an entry of `Columns` stands for."""
    likelihood = named_likelihood(entry) if isinstance(entry, str) else entry
    if type(likelihood) not in CODE_OF:
        raise InvalidLikelihoodError(
            f"a likelihood in Columns must describe one column by itself, column {table.names[j]!r} got "
            f"{entry!r}. Use one of {', '.join(sorted(kind.__name__ for kind in CODE_OF))}."
        )
    return likelihood.resolved(table.column(j))

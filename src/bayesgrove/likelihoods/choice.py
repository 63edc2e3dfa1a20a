"""The family of each column for a user who names none: rules where values leave no doubt, else the highest evidence.

Only values count: a column of whole numbers is the same whether its source called them integers or floats.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.core.table import Table
from bayesgrove.likelihoods.evidence import cells_of, log_evidence
from bayesgrove.likelihoods.facts import Facts
from bayesgrove.likelihoods.families import NAMED
from bayesgrove.likelihoods.recognition import CONSTANT, EMPTY, recognised

MOST_CELLS = 300
"""Cells of a column that decide."""
FEW_VALUES, WIDEST_SCALE = 10, 20
"""Scales have at most so many different whole numbers, less than so many steps apart."""
FEWEST_CELLS = 10
"""Below this no skewness can be told."""
FEWEST_ZEROS, MOST_ZEROS = 0.05, 0.95
LOG_SPREAD = 0.3
"""Standard deviation of the logarithm of positive measurements below which it makes no difference."""
LARGEST_COUNT, LARGEST_POISSON = 1_000_000, 1_000
"""Whole numbers beyond this are taken for measurements, not counts, and counts for over-dispersed ones."""
SHARED_BEYOND = 200
"""Of more columns that look alike, so many decide for all."""
CLOSE = 3.0
"""Differences in log evidence, in nats, below which a choice is called close."""
PREFERENCES = {
    "gaussian": 0.0,
    "poisson": -3.0,
    "log-gaussian": -4.0,
    "negative-binomial": -6.0,
    "ordinal": -6.0,
    "zero-inflated": -7.0,
    "categorical": -12.0,
}
"""Log prior weights in nats: where evidences are about equal, the simpler family is taken.

A Gaussian column does little harm where another family is true; a Poisson column whose cells vary more than counts do
is split into many clusters.
"""
FAR_FROM_ZERO, NO_COUNTS = 10.0, -8.0
"""Whole numbers that are all at least so large are hardly counts: a weight in nats on families of these."""
WORDS = {
    "gaussian": "measurement",
    "log-gaussian": "positive measurement",
    "zero-inflated": "zeros and positive numbers",
    "poisson": "count",
    "negative-binomial": "count",
    "ordinal": "scale",
    "categorical": "category",
    "bernoulli": "yes or no",
}
"""What a column is, by its family."""


NOTHING: Mapping[str, float] = {}


class Choice(NamedTuple):
    """How a column is understood.

    Attributes
    ----------
    kind : str
        What it holds, in a few words.
    family : str
        Name of its family; empty where the column is left out.
    reason : str
    evidence : mapping
        Log evidence of the other families minus that of the chosen one, in nats.
    """

    kind: str
    family: str
    reason: str
    evidence: Mapping[str, float] = NOTHING

    @property
    def is_close(self) -> bool:
        """Whether another family is about as good."""
        return any(difference > -CLOSE for difference in self.evidence.values())

    def revised(self, family: str, evidence: Mapping[str, float]) -> "Choice":
        """The same column under a family that suits the clusters better, with log evidence relative to it."""
        others = sorted((name for name in evidence if name != family), key=lambda name: -evidence[name])
        reason = f"{self.reason}, revised within clusters"
        return Choice(WORDS[family], family, reason, {name: round(evidence[name], 1) for name in others})


def choose_columns(table: Table, facts: Facts, wanted: Sequence[int]) -> dict[int, Choice]:
    """A choice for each of the columns that are wanted."""
    choices = {j: found for j in wanted if (found := recognised_choice(table, facts, j)) is not None}
    groups: dict[tuple[str, ...], list[int]] = {}
    for j in wanted:
        if j not in choices:
            groups.setdefault(candidates(facts, j), []).append(j)
    for names, columns in groups.items():
        choices.update(choose_alike(facts, columns, names))
    return choices


def recognised_choice(table: Table, facts: Facts, j: int) -> Choice | None:
    """The choice for a column whose values leave no doubt."""
    found = recognised(table, facts, j)
    if found is not None and found.kind not in (CONSTANT, EMPTY):
        return Choice(found.kind, "", found.reason)
    if table.kinds[j] == "category":
        return Choice("category", "categorical", found.reason if found else "labels")
    if table.kinds[j] == "bool" or (facts.is_binary[j] and facts.least[j] < facts.largest[j]):
        return Choice("yes or no", "bernoulli", found.reason if found else "0 and 1 only")
    return None if found is None else Choice(found.kind, "gaussian", found.reason)


def candidates(facts: Facts, j: int) -> tuple[str, ...]:
    """Names of the families that can describe a column of numbers."""
    cells = observed(facts, j)
    least, largest, n_values = facts.least[j], facts.largest[j], np.unique(cells).size
    zeros, skewed = np.mean(cells == 0.0), is_skewed(cells[cells > 0.0])
    has_zeros = cells.size >= FEWEST_CELLS and zeros >= FEWEST_ZEROS
    is_count = facts.is_whole[j] and least >= 0.0 and largest <= LARGEST_COUNT
    is_scale = facts.is_whole[j] and n_values <= FEW_VALUES and largest - least < WIDEST_SCALE
    possible = {
        "gaussian": True,
        "log-gaussian": least > 0.0 and skewed,
        "zero-inflated": least == 0.0 and (skewed or has_zeros) and zeros <= MOST_ZEROS,
        "poisson": is_count and largest <= LARGEST_POISSON,
        "negative-binomial": is_count,
        "ordinal": is_scale,
        "categorical": is_scale and least >= 0.0 and largest < WIDEST_SCALE and "ordinal" not in NAMED,
    }
    return tuple(name for name, is_possible in possible.items() if is_possible and name in NAMED)


def is_skewed(positive: np.ndarray) -> bool:
    """Whether positive numbers span much on the log scale and are more symmetric there than as they are."""
    logs = np.log(positive)
    return positive.size >= FEWEST_CELLS and logs.std() >= LOG_SPREAD and abs(skewness(logs)) < skewness(positive)


def skewness(numbers: np.ndarray) -> float:
    """Third central moment in units of the standard deviation."""
    scaled = numbers / (np.abs(numbers).max() or 1.0)  # cubes of large numbers overflow
    deviations = scaled - scaled.mean()
    return float(np.mean(deviations**3) / (np.mean(deviations**2) ** 1.5 or 1.0))


def observed(facts: Facts, j: int) -> np.ndarray:
    """Observed cells of a column, at even distances where there are many."""
    cells = facts.rows[~np.isnan(facts.rows[:, j]), j]
    return cells[np.arange(MOST_CELLS) * cells.size // MOST_CELLS] if cells.size > MOST_CELLS else cells


def choose_alike(facts: Facts, columns: Sequence[int], names: tuple[str, ...]) -> dict[int, Choice]:
    """Choices for columns with the same candidates; of very many, some decide for all."""
    if len(columns) <= SHARED_BEYOND or len(names) == 1:
        return {j: choose(facts, j, names) for j in columns}
    some = [columns[k * len(columns) // SHARED_BEYOND] for k in range(SHARED_BEYOND)]
    ((family, votes),) = Counter(choose(facts, j, names).family for j in some).most_common(1)
    reason = f"best for {votes} of {SHARED_BEYOND} among {len(columns):,} similar columns"
    return dict.fromkeys(columns, Choice(WORDS[family], family, reason))


def choose(facts: Facts, j: int, names: Sequence[str]) -> Choice:
    """The family of highest evidence, preferences included."""
    if len(names) == 1:
        return Choice(WORDS[names[0]], names[0], described(facts, j))
    cells = cells_of(observed(facts, j))
    evidence = {name: log_evidence(cells, name) for name in names}
    best = max(names, key=lambda name: evidence[name] + preference(name, facts.least[j]))
    others = sorted((name for name in names if name != best), key=lambda name: -evidence[name])
    return Choice(
        WORDS[best], best, described(facts, j), {name: round(evidence[name] - evidence[best], 1) for name in others}
    )


def preference(name: str, least: float) -> float:
    """Log prior weight of a family for a column with this least cell."""
    is_count = name in ("poisson", "negative-binomial")
    return PREFERENCES[name] + (NO_COUNTS if is_count and least >= FAR_FROM_ZERO else 0.0)


def described(facts: Facts, j: int) -> str:
    """The values of a column in a few words."""
    what = "whole numbers" if facts.is_whole[j] else "numbers"
    return f"{what} from {facts.least[j]:.6g} to {facts.largest[j]:.6g}"

"""What an experiment gives: tables, claims with verdicts, notes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Row = Mapping[str, Any]
Tell = Callable[[str], None]
"""Called with a line about what is being done."""


@dataclass(frozen=True)
class Claim:
    """Something a paper says, and what we saw.

    Attributes
    ----------
    paper : str
        The claim, with its place in the paper.
    ours : str
        What was measured here.
    holds : bool or None
        None where the data at hand cannot tell.
    """

    paper: str
    ours: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        """One word."""
        return "undecided" if self.holds is None else "holds" if self.holds else "fails"


@dataclass(frozen=True)
class Outcome:
    """Tables by name, claims, and what a reader should know besides.

    Attributes
    ----------
    title : str
    tables : mapping of str to rows
    claims : sequence of Claim
    notes : sequence of str
    figures : mapping of str to callable
        By name, functions that draw into the matplotlib axes they are given.
    """

    title: str
    tables: Mapping[str, Sequence[Row]]
    claims: Sequence[Claim]
    notes: Sequence[str] = field(default=())
    figures: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


FEWEST_SIGNS = 5
"""Fewer differences, though all of one sign, are no evidence at 5 %."""


def undecided(claims: Sequence[Claim], but: str = "") -> list[Claim]:
    """The claims without their verdicts; those whose text begins with `but` keep theirs.

    Examples
    --------
    >>> [claim.verdict for claim in undecided([Claim("it is", "yes", True), Claim("ours: so", "no", False)], "ours")]
    ['undecided', 'fails']
    """
    return [claim if but and claim.paper.startswith(but) else replace(claim, holds=None) for claim in claims]


def sign_test(differences: Sequence[float]) -> float:
    """Probability of at least so many positive differences if both signs were equally likely; ties count half.

    Examples
    --------
    >>> sign_test([1.0, 2.0, 0.5, 1.5, 3.0])
    0.03125
    """
    wins = sum(1.0 if difference > 0.0 else 0.5 if difference == 0.0 else 0.0 for difference in differences)
    n = len(differences)
    return sum(math.comb(n, k) for k in range(math.floor(wins), n + 1)) / 2.0**n

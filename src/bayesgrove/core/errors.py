"""All exceptions of the package.

BayesgroveError
├── InvalidInputError (ValueError)       the user's data or settings break a rule
│   ├── InvalidTableError                a cell, column or table cannot be used
│   ├── InvalidLikelihoodError           a likelihood or its numbers do not fit
│   ├── InvalidTreeError                 a tree table or tree text breaks an invariant
│   ├── InvalidSettingError              a parameter of an estimator is out of range
│   └── InvalidFileError                 a file is broken, hostile or of another kind
│       ├── TreeParseError               a document that is to become a tree is malformed
│       └── TreeLimitError               a document is beyond a limit of its reader
├── MemoryLimitError (MemoryError)       refused before allocating, with the estimate
├── MissingExtraError (ImportError)      an optional library is not installed; says how to get it
├── RunStoppedError (RuntimeError)       a run cannot go on; what it has done is on the disk
└── NumericalError (ArithmeticError)     a kernel met a number that is not finite

Every message gives the rule broken, the value got and what to do; the numbers travel as attributes.
"""

from typing import Any


class BayesgroveError(Exception):
    """Base of all errors raised on purpose; keyword arguments become attributes."""

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.__dict__.update(data)


class InvalidInputError(BayesgroveError, ValueError):
    """The user's data or settings break a rule."""


class InvalidTableError(InvalidInputError):
    """A cell, a column or the table as a whole cannot be used."""


class InvalidLikelihoodError(InvalidInputError):
    """A likelihood, or one of its numbers, does not fit the data."""


class InvalidTreeError(InvalidInputError):
    """A tree table or a tree's text breaks an invariant."""


class InvalidSettingError(InvalidInputError):
    """A parameter of an estimator is out of its range."""


class InvalidFileError(InvalidInputError):
    """A file is broken, hostile, of another kind or of a newer version."""


class TreeParseError(InvalidFileError):
    """A document that is to become a tree is malformed; says file, line and reason."""


class TreeLimitError(InvalidFileError):
    """A document is beyond a limit of its reader; says file, line and the option that raises the limit."""


class MemoryLimitError(BayesgroveError, MemoryError):
    """Refused before allocating; the message carries the estimate."""


class MissingExtraError(BayesgroveError, ImportError):
    """An optional library is not installed; the message carries the command that installs it."""


class RunStoppedError(BayesgroveError, RuntimeError):
    """A run cannot go on, as when the disk is full; its log holds all up to the last good record."""


class NumericalError(BayesgroveError, ArithmeticError):
    """A kernel met a number that is not finite."""

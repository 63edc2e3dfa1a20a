"""The tree of exceptions at the top of errors.py is the real one, and errors carry their numbers."""

import re

import pytest

from bayesgrove.core import errors

pytestmark = pytest.mark.unit

LINE = re.compile(r"(?P<indent>(?:[│ ]  ? ?)*)(?:[├└]── )?(?P<name>\w+)(?: \((?P<other>\w+)\))?(?:  .*)?")


def documented_parents() -> dict[str, tuple[str, ...]]:
    """Bases of each class as the module's docstring draws them."""
    parents: dict[str, tuple[str, ...]] = {}
    path: list[str] = []
    for line in errors.__doc__.split("\n\n")[1].splitlines():
        match = LINE.fullmatch(line)
        assert match, line
        level = match.start("name") // 4
        path[level:] = [match["name"]]
        above = path[level - 1] if level else "Exception"
        parents[match["name"]] = (above, match["other"]) if match["other"] else (above,)
    return parents


def real_parents() -> dict[str, tuple[str, ...]]:
    """Bases of each exception class the module defines."""
    return {
        name: tuple(base.__name__ for base in kind.__bases__)
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }


def test_the_documented_tree_is_the_real_one():
    assert documented_parents() == real_parents()


def test_every_error_has_a_line_of_documentation():
    for name in real_parents():
        assert vars(errors)[name].__doc__


@pytest.mark.parametrize("name", sorted(real_parents()))
def test_numbers_travel_as_attributes(name):
    error = vars(errors)[name]("rows must be finite, row 3 is not.", row=3, value=float("inf"))
    assert str(error) == "rows must be finite, row 3 is not."
    assert (error.row, error.value) == (3, float("inf"))


def test_users_may_catch_what_python_programmers_expect():
    for name in ("InvalidTableError", "InvalidFileError", "InvalidSettingError"):
        with pytest.raises(ValueError, match="rule"):
            raise vars(errors)[name]("rule broken")
    with pytest.raises(MemoryError, match="too much"):
        raise errors.MemoryLimitError("too much")
    with pytest.raises(ArithmeticError, match="nan"):
        raise errors.NumericalError("nan")

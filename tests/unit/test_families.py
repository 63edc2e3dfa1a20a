"""Records of families: all parts are there, codes stay, and what kernels have no room for is refused."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bayesgrove.core.additions import Additions
from bayesgrove.core.errors import InvalidFileError, InvalidLikelihoodError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods import Bernoulli, Columns, Poisson, bind, from_document, poisson, to_document
from bayesgrove.likelihoods.columns import ColumnsPrior, column_log_marginal
from bayesgrove.likelihoods.families import FAMILIES, MOST_FAMILIES, N_COORDINATES, N_HYPER, register
from bayesgrove.likelihoods.family import check_family
from bayesgrove.models.cross.mcmc_target import make_target
from bayesgrove.models.cross.view_table import view_table
from reference import geometric
from reference.geometric import FAMILY as GEOMETRIC

pytestmark = pytest.mark.unit
UNKNOWN = ColumnsPrior(np.array([MOST_FAMILIES - 1]), np.ones((1, 4)), np.array([0, 2]))


def test_codes_of_the_package_stay_as_files_have_them():
    names = ["gaussian-known-variance", "gaussian", "bernoulli", "binomial", "categorical", "poisson"]
    names += ["negative-binomial", "log-gaussian", "zero-inflated", "ordinal"]
    assert [family.name for family in FAMILIES] == names
    assert N_HYPER[: len(names)].tolist() == [2, 3, 2, 2, 1, 2, 2, 3, 3, 2]
    assert N_COORDINATES[: len(names)].tolist() == [0, 4, 2, 2, 1, 2, 2, 4, 4, 2]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_record_is_whole(family):
    parts = ("add", "remove", "merge", "log_marginal", "log_predictive", "log_gradient", "draw_params", "draw_cell")
    assert all(getattr(family, part) is not None for part in (*parts, "moments", "n_values", "coordinates"))
    assert tuple(name for name, _, _ in family.hyper) == family.likelihood.learnable
    assert set(family.limits) | set(family.factors) <= set(family.likelihood.learnable)


def test_the_page_on_adding_a_likelihood_shows_the_example_as_it_is():
    example = Path(geometric.__file__).read_text(encoding="utf-8")
    page = Path(geometric.__file__).resolve().parents[2] / "docs" / "adding-a-likelihood.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 6
    assert [block for block in blocks[:-1] if block not in example] == []


def test_a_name_is_given_once():
    with pytest.raises(InvalidLikelihoodError, match="a name of its own, 'poisson' is taken"):
        register(poisson.FAMILY)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"support": "words"}, "support is 'real', 'counts' or 'codes'"),
        ({"support": "real"}, "a family of real numbers needs `moments`"),
        ({"hyper": (("c", 0.1, 10.0),)}, "`hyper` names fields of the prior"),
        ({"hyper": (("a", 0.1, 10.0),) * 4}, "at most 3 hyperparameters are learned, got 4"),
        ({"prior": type("Five", (), {"_fields": tuple("abcde")})}, "at most 4 numbers per column, got 5"),
    ],
)
def test_a_record_that_kernels_have_no_room_for_is_refused(changes, message):
    with pytest.raises(InvalidLikelihoodError, match=message):
        check_family(replace(GEOMETRIC, **changes))


def test_a_family_that_is_not_registered_is_refused_when_it_is_bound():
    with pytest.raises(InvalidLikelihoodError, match="must describe one column by itself, column 'x0' got Geometric"):
        bind(Columns([GEOMETRIC.likelihood()]), [[1.0], [2.0]])


@pytest.mark.parametrize("use", [view_table, make_target])
def test_a_code_of_no_family_is_refused_before_kernels_see_it(use):
    with pytest.raises(InvalidLikelihoodError, match=f"codes 0 to {len(FAMILIES) - 1}, got {MOST_FAMILIES - 1}"):
        use(UNKNOWN, np.ones((3, 1)))


@kernel
def marginal_of(code, row, p):
    return column_log_marginal(code, row, 0, 2, p)


def test_a_code_of_no_family_is_no_number_in_a_kernel():
    if hasattr(marginal_of, "py_func"):
        assert np.isnan(marginal_of(MOST_FAMILIES - 1, np.ones(2), np.ones(4)))
    with pytest.raises(KeyError, match="column_log_marginal knows no family"):
        column_log_marginal(MOST_FAMILIES - 1, np.ones(2), 0, 2, np.ones(4))


def test_a_file_with_other_codes_is_refused():
    document = to_document(bind(Columns([Bernoulli(), Poisson()]), [[0.0, 3.0], [1.0, 5.0]]))
    document["prior"]["fields"]["family"]["data"] = [2, 3]
    with pytest.raises(InvalidFileError, match="families have other codes here"):
        from_document(document)


def test_additions_are_told_apart_by_name_and_content_and_end_with_the_first_kernel(tmp_path):
    file = tmp_path / "family.py"
    file.write_text("one")
    first, second, third = Additions(), Additions(), Additions()
    assert first.stamp() == ""
    first.add("family", file)
    file.write_text("two")
    second.add("family", file)
    third.add("other", file)
    assert len({first.stamp(), second.stamp(), third.stamp()}) == 3
    first.close()
    with pytest.raises(InvalidLikelihoodError, match="'late' must be registered before the first kernel"):
        first.add("late", None)

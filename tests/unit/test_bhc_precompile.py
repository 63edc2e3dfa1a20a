"""Kernels of searches that follow each other are compiled together."""

import contextlib

import numpy as np
import pytest

from bayesgrove.agglomeration import precompile
from bayesgrove.likelihoods import GaussianDiagonal, bind
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior
from bayesgrove.models.bhc.covariance import with_covariances
from bayesgrove.models.bhc.fit import compile_searches

pytestmark = pytest.mark.unit


@pytest.fixture
def compiled(monkeypatch):
    """What is compiled for a table under diagonal and full covariances: in other processes, and in this one."""
    elsewhere, here = [], []

    @contextlib.contextmanager
    def working(work, searches):
        elsewhere.append([type(problem.prior) for problem, _ in searches])
        yield

    monkeypatch.setattr(precompile, "working_in_subprocess", working)
    monkeypatch.setattr(precompile, "start_tree", lambda problem, space: here.append(problem))

    def compile_both(is_ready):
        monkeypatch.setattr(precompile, "polish_is_compiled", lambda problem: is_ready)
        values = np.random.default_rng(0).normal(size=(60, 3))
        diagonal = bind(GaussianDiagonal.learned(), values)
        compile_searches((diagonal, with_covariances(diagonal, values, "auto")), values)
        return elsewhere, here

    return compile_both


def test_one_process_compiles_for_both_priors(compiled):
    both = [GaussianDiagonalPrior, GaussianFullPrior]
    elsewhere, here = compiled(False)
    assert elsewhere == [both]
    assert [type(problem.prior) for problem in here] == both
    assert all(problem.values.shape == (precompile.FEW_ROWS, 3) for problem in here)


def test_none_does_where_kernels_are_ready(compiled):
    assert compiled(True) == ([], [])

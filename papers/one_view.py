"""Single-view methods as special cases of those for many views: the same predictions, one clustering of rows."""

from typing import Any

import numpy as np

from bayesgrove.estimators.bhcc import BHCC
from bayesgrove.estimators.crosscat import CrossCat
from bayesgrove.inference.schedule import Schedule
from bayesgrove.likelihoods import Bound
from bayesgrove.models.cross.column_trees import whole_node
from bayesgrove.models.cross.fit import Fitted, first_numbers, problem_of
from bayesgrove.models.cross.polish import Evaluator
from bayesgrove.models.cross.search import finished

MOVES_OF_VIEWS = ("columns", "views")
"""Moves of CrossCat that change which columns are one view."""


class OneViewTree(BHCC):
    """Bayesian hierarchical clustering of rows: all columns are one view for certain."""

    def _build(self, bound: Bound, n_threads: int) -> Fitted:
        numbers, _ = first_numbers(bound, self.row_concentration, self.column_concentration)
        problem = problem_of(bound, numbers, n_threads=n_threads)
        evaluator = Evaluator(problem)
        found = evaluator.partition(np.zeros(bound.values.shape[1], np.int64))
        node = whole_node(problem, found.views[0], found.evidence[0], found.row_children[0])
        return Fitted(bound, numbers, problem, finished(evaluator, [node], found, "one view", {}))


class OneViewChain(CrossCat):
    """A Dirichlet process mixture of rows: columns never leave the view they begin in, and it is never split."""

    def _make_schedule(self) -> Schedule:
        usual: Any = super()._make_schedule()
        tune, draw = (tuple(s for s in steps if s.move not in MOVES_OF_VIEWS) for steps in (usual.tune, usual.draw))
        return Schedule(tune, draw, usual.n_tune, usual.thin, usual.refresh)

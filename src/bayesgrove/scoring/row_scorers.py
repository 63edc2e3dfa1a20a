"""Which scorer of `lanes` serves a prior."""

from typing import Any

import numpy as np

from bayesgrove.likelihoods.bernoulli import BernoulliPrior
from bayesgrove.likelihoods.categorical import CategoricalPrior
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from bayesgrove.likelihoods.multinomial import MultinomialPrior
from bayesgrove.scoring.count_lanes import CodeScorer, WordScorer
from bayesgrove.scoring.full_lanes import FullScorer, full_gamma_steps
from bayesgrove.scoring.lanes import DiagonalScorer, KnownScorer, RowScorer, gamma_step_table


def choose_scorer(prior: Any, n_rows: int, *, complete: bool) -> Any:
    """The fastest scorer that serves this prior; `complete` says that no cell is missing."""
    if complete and isinstance(prior, GaussianDiagonalPrior) and np.all(prior.shape == prior.shape[0]):
        return DiagonalScorer(prior, gamma_step_table(prior.shape[0], n_rows))
    if complete and isinstance(prior, GaussianKnownVariancePrior):
        return KnownScorer(prior)
    if complete and isinstance(prior, GaussianFullPrior):
        return FullScorer(prior, full_gamma_steps(prior.dof, prior.mean.size, n_rows))
    if complete and isinstance(prior, BernoulliPrior):
        weight = np.column_stack([prior.b, prior.a]).ravel()
        return CodeScorer(prior, np.arange(0, weight.size + 1, 2), weight)
    if complete and isinstance(prior, CategoricalPrior):
        return CodeScorer(prior, prior.start, np.repeat(prior.pseudo_count, np.diff(prior.start)))
    if complete and isinstance(prior, MultinomialPrior):
        return WordScorer(prior)
    return RowScorer(prior)

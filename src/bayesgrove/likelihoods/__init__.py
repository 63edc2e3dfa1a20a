"""Conjugate likelihoods on flat rows of statistics."""

from bayesgrove.likelihoods.base import Encoding, Likelihood
from bayesgrove.likelihoods.bernoulli import Bernoulli
from bayesgrove.likelihoods.bind import Bound, bind, encode, log_marginal, relearned
from bayesgrove.likelihoods.binomial import Binomial
from bayesgrove.likelihoods.categorical import Categorical
from bayesgrove.likelihoods.document import from_document, to_document
from bayesgrove.likelihoods.families import log_interval_widths
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonal
from bayesgrove.likelihoods.gaussian_full import GaussianFull
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariance
from bayesgrove.likelihoods.log_gaussian import LogGaussian
from bayesgrove.likelihoods.mixed import Columns
from bayesgrove.likelihoods.multinomial import Multinomial
from bayesgrove.likelihoods.negative_binomial import NegativeBinomial
from bayesgrove.likelihoods.ordinal import Ordinal
from bayesgrove.likelihoods.poisson import Poisson
from bayesgrove.likelihoods.zero_inflated import ZeroInflated

__all__ = [
    "Bernoulli",
    "Binomial",
    "Bound",
    "Categorical",
    "Columns",
    "Encoding",
    "GaussianDiagonal",
    "GaussianFull",
    "GaussianKnownVariance",
    "Likelihood",
    "LogGaussian",
    "Multinomial",
    "NegativeBinomial",
    "Ordinal",
    "Poisson",
    "ZeroInflated",
    "bind",
    "encode",
    "from_document",
    "log_interval_widths",
    "log_marginal",
    "relearned",
    "to_document",
]

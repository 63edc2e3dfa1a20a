"""What every likelihood can do: generic functions on the type of its prior.

A prior is a NamedTuple of arrays. A cluster is one flat float64 `row` of sufficient statistics; a row of
zeros is the empty cluster for every family. Means and spreads are kept centred. A NaN in `x` is a missing
cell and is not counted. All functions compile and also run as plain Python.
"""

from bayesgrove.core.generic import generic


@generic
def n_stats(prior):
    """Length of a row of statistics."""


@generic
def add(prior, row, x):
    """Put datum `x` into the cluster `row`."""


@generic
def remove(prior, row, x):
    """Take datum `x`, which must be in it, out of the cluster `row`."""


@generic
def merge(prior, out, a, b):
    """Write the union of clusters `a` and `b` to `out`, which may be `a` or `b` itself."""


@generic
def log_marginal(prior, row):
    """Log marginal likelihood of all data in the cluster, parameters integrated out; 0 for the empty one."""


@generic
def log_predictive(prior, row, x):
    """Log density of one more datum given the cluster: log_marginal after adding minus before."""


@generic
def log_gradient(prior, row, out):
    """Add to `out` the derivative of log_marginal by the log of each learnable multiplier (see `hyper`)."""


@generic
def n_params(prior):
    """Length of a vector of drawn parameters."""


@generic
def draw_params(prior, rng, row, out):
    """Draw the cluster's parameters from their posterior given its statistics (zeros: from the prior)."""


@generic
def draw_data(prior, rng, params, out):
    """Draw one datum given a cluster's parameters (a document keeps the length of the one in `out`)."""


@generic
def hyper(prior):
    """Learnable multipliers: (name, smallest, largest) each, bounds as factors. Plain Python only."""


@generic
def with_hyper(prior, factors):
    """The prior with each learnable number multiplied by its factor."""

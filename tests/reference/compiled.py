"""Thin compiled callers of the likelihood contract, and one portrait of what a family computes.

With NUMBA_DISABLE_JIT=1 the same callers run as plain Python: `python -m reference.compiled` prints the
portraits.
"""

import json

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import contract


@kernel
def replay(prior, row, values, items):
    """Add row i for each item i >= 0, remove row ~i for each item i < 0."""
    for item in items:
        if item >= 0:
            contract.add(prior, row, values[item])
        else:
            contract.remove(prior, row, values[~item])


@kernel
def chain(prior, row, values):
    """Sum of log predictives while adding row by row."""
    total = 0.0
    for i in range(values.shape[0]):
        total += contract.log_predictive(prior, row, values[i])
        contract.add(prior, row, values[i])
    return total


@kernel
def merge(prior, out, a, b):
    contract.merge(prior, out, a, b)


@kernel
def log_marginal(prior, row):
    return contract.log_marginal(prior, row)


@kernel
def log_predictive(prior, row, x):
    return contract.log_predictive(prior, row, x)


@kernel
def log_gradient(prior, row, out):
    contract.log_gradient(prior, row, out)


@kernel
def sample(prior, rng, row, params, out):
    """Each row of `out` becomes a draw from the predictive: new parameters, then a datum."""
    for i in range(out.shape[0]):
        contract.draw_params(prior, rng, row, params)
        contract.draw_data(prior, rng, params, out[i])


def statistics(prior, values):
    """The row of statistics of all rows of data."""
    row = np.zeros(contract.n_stats(prior))
    replay(prior, row, values, np.arange(len(values)))
    return row


def gradient(prior, row):
    """The gradient as a new array."""
    out = np.zeros(len(contract.hyper(prior)))
    log_gradient(prior, row, out)
    return out


def draws(prior, seed, row, like, n):
    """`n` draws from the predictive; documents get the length of `like`."""
    out = np.tile(like, (n, 1))
    sample(prior, generator(seed), row, np.zeros(contract.n_params(prior)), out)
    return out


def portrait(example):
    """Numbers from every function of the contract on a small data set."""
    values = example.data(11, 12, missing=0.2)
    whole = example.data(12, 1)[0]
    row = statistics(example.prior, values)
    left = row.copy()
    replay(example.prior, left, values, ~np.arange(5))
    merged = np.zeros(row.size)
    merge(example.prior, merged, row, left)
    numbers = [
        row,
        left,
        merged,
        log_marginal(example.prior, row),
        log_predictive(example.prior, row, whole),
        gradient(example.prior, row),
        draws(example.prior, 5, row, whole, 3),
    ]
    return np.concatenate([np.ravel(part) for part in numbers]).tolist()


if __name__ == "__main__":
    from conftest import ALL_LIKELIHOODS

    print(json.dumps({example.name: portrait(example) for example in ALL_LIKELIHOODS}))

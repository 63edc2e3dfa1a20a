"""Linear algebra on one thread, where matrices are so small that threads cost more than they do."""

from threadpoolctl import threadpool_limits


def single_threaded_blas() -> threadpool_limits:
    """A context in which BLAS uses one thread.

    An optimiser of twenty variables calls BLAS on matrices of ten rows thousands of times; with two threads the fit of
    5,000 rows took three times as long.
    """
    return threadpool_limits(limits=1, user_api="blas")

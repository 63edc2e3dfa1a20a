"""Which moves a sweep of a tree mixture makes (docs/theory/tree-mixtures.md, Sweep)."""

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.inference.schedule import Schedule, Step

METHODS = ("gibbs", "collapsed")
N_AUXILIARY = 3


def default_steps(
    *,
    method: str = "gibbs",
    split_merge: str | None = "retained",
    n_moves: int = 2,
    n_auxiliary: int = N_AUXILIARY,
) -> tuple[Step, ...]:
    """The moves of one sweep.

    Parameters
    ----------
    method : {"gibbs", "collapsed"}
        Tables as part of the state, drawn from their conditional distributions; or summed out, which mixes badly with
        many trees and serves as a reference.
    split_merge : {"retained", "sequential", None}
        Moves that split and merge clusters: "retained" for "gibbs", "sequential" for "collapsed".
    n_moves : int
        Split-merge moves a sweep.
    n_auxiliary : int
        Components drawn from the prior that trees may move to.
    """
    if method not in METHODS:
        raise InvalidSettingError(f"method is one of {', '.join(METHODS)}, got {method!r}. Choose one.")
    fitting = "retained" if method == "gibbs" else "sequential"
    if split_merge not in (fitting, None):
        raise InvalidSettingError(
            f'split_merge is "{fitting}" or None for method={method!r}, got {split_merge!r}. Change one of the two.'
        )
    moves = (Step("split-merge", n_moves),) if split_merge and n_moves else ()
    if method == "collapsed":
        return (Step("collapsed"), *moves, Step("values"))
    return (*moves, Step("assign", 1, {"n_auxiliary": n_auxiliary}), Step("tables"), Step("values"))


def default_schedule(
    n_tune: int,
    *,
    method: str = "gibbs",
    split_merge: str | None = "retained",
    n_moves: int = 2,
    n_auxiliary: int = N_AUXILIARY,
    thin: int = 1,
    refresh: int = 20,
) -> Schedule:
    """The same moves in burn-in and afterwards."""
    steps = default_steps(method=method, split_merge=split_merge, n_moves=n_moves, n_auxiliary=n_auxiliary)
    return Schedule(steps, steps, n_tune, thin, refresh)

"""`sweep`: all fits of a plan, in turn, in processes or on a Dask cluster; those done already are not done again."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from bayesgrove.core.errors import InvalidSettingError, InvalidTableError, RunStoppedError
from bayesgrove.core.table import Table, table_from_array
from bayesgrove.estimators.settings import check_n_jobs
from bayesgrove.inference.dask_cluster import active_client, as_done_on_cluster
from bayesgrove.io.columns import unmasked
from bayesgrove.io.frames import is_frame, refuse_unread, table_from_frame
from bayesgrove.io.tree_data import TreeData
from bayesgrove.sweeps.fitting import METRICS, Failure, Subject, do_fit
from bayesgrove.sweeps.plan import OWN, Fit, check_settings, expand_grid, plan_fits
from bayesgrove.sweeps.records import data_digest, read_record, sweep_folder
from bayesgrove.sweeps.table import Sweep

Progress = Callable[[int, int], None]


def sweep(
    estimator: Any,
    X: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    *,
    n_repeats: int = 1,
    y: Any = None,
    metrics: Sequence[str] = ("ari",),
    folder: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Sweep:
    """Fit an estimator under many settings, several times each.

    Parameters
    ----------
    estimator : estimator
        Never fitted itself; its parameters hold where the grid says nothing.
    X : array, data frame, Table or TreeData
    grid : mapping of lists, or list of mappings
        Every combination of values, or settings one by one.
    n_repeats : int
        Repeat r has the seed `random_state + r` under every setting.
    y : array of shape (n_rows,), optional
        Known classes to score the clusters against.
    metrics : sequence of {"ari", "nmi", "vi", "binder"}
        Scores where `y` is given.
    folder : path-like, optional
        Keeps every fit that is done, and the chains of those that are not: the same sweep in the same folder goes on.
    n_jobs : int, optional
        Number of fits to run in parallel, each in a process; a Dask cluster chosen by
        `joblib.parallel_config(backend="dask")` wins.
    random_state : int
        The first seed.
    progress : callable, optional
        Called with fits done and fits in all.

    Returns
    -------
    Sweep
        A tidy table, a row per fit.

    Raises
    ------
    InvalidSettingError
        Settings were refused, before all fits if by name, after the other fits if by value.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesgrove as bg
    >>> X = np.random.default_rng(0).normal(size=(30, 2)) + 8.0 * np.repeat([[0], [1]], 15, axis=0)
    >>> found = bg.sweep(bg.BHC(likelihood="gaussian"), X, {"concentration": [0.5, 2.0]}, y=np.repeat([0, 1], 15))
    >>> found.columns["concentration"], found.columns["n_clusters"], found.columns["ari"]
    ([0.5, 2.0], [2, 2], [1.0, 1.0])
    """
    check_n_jobs(n_jobs)
    rows = as_rows(X)
    subject = Subject(
        estimator, rows, check_classes(y, n_rows_of(rows)), check_metrics(metrics), checked_folder(folder)
    )
    fits = plan_fits(check_settings(estimator, expand_grid(grid)), n_repeats, random_state)
    with opened(subject):
        records, failures = do_all(subject, fits, n_jobs, progress)
    refuse_failures(failures, fits, folder)
    return Sweep.of(type(estimator).__name__, fits, [records[fit.key] for fit in fits])


def as_rows(X: Any) -> Table | TreeData:
    """A table, so that all fits see the same cells whatever they came from; trees as they are."""
    if isinstance(X, Table | TreeData):
        return X
    refuse_unread(X)
    return table_from_frame(X) if is_frame(X) else table_from_array(unmasked(X))


def n_rows_of(rows: Table | TreeData) -> int:
    """Number of rows or trees."""
    return rows.n_rows if isinstance(rows, Table) else len(rows)


def describe(rows: Table | TreeData) -> dict[str, Any]:
    """What tells data apart: a hash of them, and names of columns or labels."""
    if isinstance(rows, Table):
        return {"data": data_digest(rows.values), "columns": list(rows.names)}
    forest = rows.forest
    parts = [forest.labels, forest.parents, forest.positions, forest.internal, forest.offsets, forest.values]
    digests = [data_digest(part) for part in parts if part is not None]
    return {"data": digests, "columns": list(rows.vocabulary or ())}


def check_classes(y: Any, n_rows: int) -> np.ndarray | None:
    """Known classes as whole numbers, one per row, or None."""
    if y is None:
        return None
    classes = np.unique(np.asarray(y).astype(str), return_inverse=True)[1]
    if classes.shape != (n_rows,):
        raise InvalidTableError(f"y has one class per row, shape ({n_rows},), got shape {np.shape(y)}.")
    return classes


def check_metrics(metrics: Sequence[str]) -> tuple[str, ...]:
    """Names of scores there are."""
    for name in metrics:
        if name not in METRICS:
            raise InvalidSettingError(f"metrics are {', '.join(METRICS)}, got {name!r}.", metric=name)
    return tuple(metrics)


def checked_folder(folder: Any) -> Path | None:
    """The folder's absolute path: workers may stand elsewhere."""
    return None if folder is None else Path(folder).absolute()


@contextlib.contextmanager
def opened(subject: Subject) -> Iterator[None]:
    """The sweep's folder for as long as fits are made; nothing where all stays in memory."""
    if subject.folder is None:
        yield
        return
    fixed = {name: value for name, value in subject.estimator.get_params(deep=False).items() if name not in OWN}
    about = {
        "model": type(subject.estimator).__name__,
        "settings": fixed,
        **describe(subject.X),
        "classes": None if subject.classes is None else data_digest(subject.classes),
        "metrics": list(subject.metrics),
    }
    with sweep_folder(subject.folder, about):
        yield


def do_all(
    subject: Subject, fits: list[Fit], n_jobs: int | None, progress: Progress | None
) -> tuple[dict[str, dict[str, Any]], list[Failure]]:
    """Records by the fits' names, those in the folder first, and what failed."""
    found = {} if subject.folder is None else {fit.key: read_record(subject.folder, fit.key) for fit in fits}
    records = {key: record for key, record in found.items() if record is not None}
    left = [fit for fit in fits if fit.key not in records]
    failures = []
    tell = progress or (lambda done, total: None)
    tell(len(records), len(fits))
    for number, (fit, outcome) in enumerate(outcomes(subject, left, n_jobs), len(fits) - len(left) + 1):
        if isinstance(outcome, Failure):
            failures.append(outcome)
        else:
            records[fit.key] = outcome
        tell(number, len(fits))
    return records, failures


def outcomes(subject: Subject, fits: list[Fit], n_jobs: int | None) -> Iterator[tuple[Fit, dict[str, Any] | Failure]]:
    """Fits with what became of them, as they are done."""
    client = active_client() if n_jobs != 1 else None
    if client is not None:
        done = as_done_on_cluster(client, do_fit, subject, [(fit,) for fit in fits])
        return ((fits[number], outcome) for number, outcome in done)
    parallel = Parallel(n_jobs=n_jobs, max_nbytes=None, batch_size=1, return_as="generator")
    return zip(fits, parallel(delayed(do_fit)(subject, fit) for fit in fits), strict=True)


def refuse_failures(failures: list[Failure], fits: list[Fit], folder: Any) -> None:
    """Raise where fits failed, naming the first, after all others are safe."""
    if not failures:
        return
    first = failures[0]
    settings = next(fit.settings for fit in fits if fit.key == first.key)
    words = ", ".join(f"{key}={value}" for key, value in settings.items()) or "the settings given"
    n_safe = len(fits) - len(failures)
    others = "The other one is" if n_safe == 1 else f"The other {n_safe} are"
    rest = f"{others} safe in {folder}; the same sweep goes on there. " if folder and n_safe else ""
    message = f"{len(failures)} of {len(fits)} fits could not be done. {rest}The first, {words}: {first.message}"
    raise (InvalidSettingError if first.is_users else RunStoppedError)(message, failures=failures)

"""Rows that stand on a Dask cluster, or in Parquet files its workers read: from a source to bound, encoded parts."""

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration import dask_tasks as tasks
from bayesgrove.agglomeration.dask_parts import Package
from bayesgrove.agglomeration.dask_rows import DaskRows
from bayesgrove.core.errors import InvalidTableError
from bayesgrove.core.table import table_from_array
from bayesgrove.inference.dask_cluster import active_client
from bayesgrove.io.blocks import is_dask_array, parquet_files, parquet_lengths, read_parquet_rows
from bayesgrove.io.tables import open_parquet
from bayesgrove.likelihoods import Bound, Columns, Likelihood
from bayesgrove.likelihoods import brief as briefs
from bayesgrove.likelihoods.base import IN_USE, SUM_ROWS, block_sums, mean_of, variance_of
from bayesgrove.likelihoods.facts import rows_to_choose_by

PARTS_PER_THREAD = 4
MOST_BLOCKS = 8
"""Blocks of 65,536 rows in a part: half a million rows."""


class Source(NamedTuple):
    """Raw rows in parts on a cluster."""

    client: Any
    values: list[Any]
    edges: np.ndarray
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    has_default_names: bool


def cluster_source(X: Any) -> Source | None:
    """The parts of a dask array or of Parquet files where there is a cluster to have them; None for all else."""
    client = any_client()
    if client is None:
        return None
    if is_dask_array(X):
        return source_of_array(client, X)
    files = parquet_files(X) if isinstance(X, str | Path) else []
    return source_of_files(client, files) if files else None


def any_client() -> Any | None:
    """The cluster that `joblib.parallel_config` chose, or the last one that was connected to."""
    client = active_client()
    if client is not None or "distributed" not in sys.modules:
        return client
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def part_rows(client: Any, n_rows: int) -> int:
    """Rows of a part: whole blocks, a few parts for every thread of the cluster."""
    n_threads = max(1, sum(client.nthreads().values()))
    blocks = -(-n_rows // (SUM_ROWS * PARTS_PER_THREAD * n_threads))
    return SUM_ROWS * min(max(blocks, 1), MOST_BLOCKS)


def source_of_array(client: Any, X: Any) -> Source:
    """A dask array's rows in parts that end where blocks do."""
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InvalidTableError(f"a 2-d array of numbers is needed, got {X.ndim} dimension(s) of {X.dtype}.")
    if np.isnan(X.shape[0]):
        raise InvalidTableError("the dask array does not know how many rows it has. Call X.compute_chunk_sizes().")
    cut = X.rechunk((part_rows(client, X.shape[0]), X.shape[1]))
    like = table_from_array(np.zeros((1, X.shape[1]), X.dtype))
    futures = client.compute(cut.to_delayed().ravel().tolist())
    return Source(client, futures, np.concatenate([[0], np.cumsum(cut.chunks[0])]), like.names, like.kinds, True)


def source_of_files(client: Any, files: list[Path]) -> Source:
    """Parquet files that the workers read themselves; the folder must be at the same place for all."""
    files = [path.absolute() for path in files]
    lengths = parquet_lengths(files)
    n_rows = sum(lengths)
    edges = np.append(np.arange(0, n_rows, part_rows(client, n_rows)), n_rows)
    futures = [
        client.submit(read_parquet_rows, files, lengths, int(low), int(high), pure=False)
        for low, high in itertools.pairwise(edges)
    ]
    kinds, names = kinds_of_file(files[0])
    return Source(client, futures, edges, names, kinds, False)


def kinds_of_file(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Kinds and names of the columns of a Parquet file."""
    import pyarrow as pa

    schema = open_parquet(path).schema_arrow
    kinds = tuple(
        "bool" if pa.types.is_boolean(kind) else "integer" if pa.types.is_integer(kind) else "float"
        for kind in schema.types
    )
    return kinds, tuple(schema.names)


def bind_on_cluster(
    source: Source, likelihood: Any, hyper: str, adapt: Callable[[Likelihood], Likelihood] | None = None
) -> tuple[Bound, DaskRows]:
    """Bind a likelihood to the rows of a cluster and encode them there; equal to `bind` on one array.

    The source's parts are let go, so that workers need not keep the rows both raw and encoded; Dask still knows how to
    make them should a worker die. `adapt` may change what the likelihood's name stands for; models of views, which keep
    columns that repeat others, give it.
    """
    n_sampled = -(-briefs.SAMPLED_ROWS // len(source.values))
    brief = briefs.joined(brief_of_source(source, n_sampled))
    has_views = adapt is not None
    understood = briefs.understand_brief(likelihood, brief, source.names, source.kinds, with_repeats=has_views)
    if adapt is not None:
        understood = understood._replace(likelihood=adapt(understood.likelihood))
    encoding, table = briefs.encode_brief(understood, brief, medians(source, brief), source.names, source.kinds, hyper)
    encoded = [
        submit(source, encode_part, values, Package((understood, encoding, table, int(first))))
        for values, first in zip(source.values, source.edges, strict=False)
    ]
    sums = column_sums if isinstance(understood.likelihood, Columns) else block_sums
    n_seen = brief.n_seen.copy()
    n_seen[understood.left_out] = 0
    mean = mean_of(np.concatenate(on_parts(source, encoded, sums)), n_seen)
    variance = variance_of(np.concatenate(on_parts(source, encoded, sums, mean)), n_seen)
    bound = briefs.bind_brief(understood, hyper, encoding, table, n_seen, (mean, variance))
    source.values.clear()
    complete = (n_seen == brief.n_rows) & (encoding.ignored == IN_USE)
    return bound, DaskRows(source.client, encoded, source.edges, complete)


def brief_of_source(source: Source, n_sampled: int) -> list[briefs.Brief]:
    """Each part in brief, with those of its rows that families are chosen by."""
    rows = rows_to_choose_by(int(source.edges[-1]))
    parts = zip(source.values, source.edges[:-1], source.edges[1:], strict=True)
    futures = [
        submit(source, brief_of_part, values, n_sampled, rows[(rows >= low) & (rows < high)] - low)
        for values, low, high in parts
    ]
    return tasks.gather(source.client, futures)


def medians(source: Source, brief: briefs.Brief) -> np.ndarray:
    """The lower median of each column: looked for in a narrow bracket first, then everywhere."""
    limits = briefs.bracket(brief)
    found = briefs.lower_medians(brief, on_parts(source, source.values, middle_of_part, limits))
    outside = np.isnan(found) & (brief.n_seen > 0)
    if outside.any():
        limits[:, outside] = np.array(briefs.ends(brief))[:, outside]
        found = briefs.lower_medians(brief, on_parts(source, source.values, middle_of_part, limits))
    return found


def submit(source: Source, function: Any, *arguments: Any) -> Any:
    """The future of a call."""
    return tasks.submit(source.client, function, *arguments)


def on_parts(source: Source, values: list[Any], function: Any, *arguments: Any) -> list[Any]:
    """Results of a call for every part."""
    return tasks.gather(source.client, [submit(source, function, part, *arguments) for part in values])


def brief_of_part(values: np.ndarray, n_sampled: int, rows: np.ndarray) -> briefs.Brief:
    """A part in brief."""
    return briefs.brief_of(np.ascontiguousarray(values, dtype=np.float64), n_sampled, rows)


def middle_of_part(values: np.ndarray, limits: np.ndarray) -> Any:
    """What a part has around the medians."""
    return briefs.middle_cells(np.ascontiguousarray(values, dtype=np.float64), limits)


def encode_part(values: np.ndarray, package: Package) -> np.ndarray:
    """A part as kernels see it."""
    return briefs.encode_part(values, *package.content)


def column_sums(encoded: np.ndarray, centre: np.ndarray | None = None) -> np.ndarray:
    """`block_sums` of each column by itself, which mixed tables are bound by; the last digits differ."""
    columns = [slice(j, j + 1) for j in range(encoded.shape[1])]
    return np.hstack([block_sums(encoded[:, j], None if centre is None else centre[j]) for j in columns])

"""RandomizedBHC on two workers of a Dask cluster against one process: CPU of each, clock, memory, same bits.

The processes of a cluster use CPU while they wait: timers, heartbeats, Dask's own profiler. On a machine that is busy
with other work a fit waits much longer than it computes, so what waiting costs is measured in a pause and told apart.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bayesgrove
from bayesgrove.datasets import make_benchmark_blobs
from benchmarks.child import peak_mb, reset_peak, resident_mb
from benchmarks.timing import ROOT

SIZES = (1_000_000, 5_000_000)
MOST_ROUNDS = 3
KINDS = ("separated",)
WORKERS = 2
WARM_ROWS = 400_000
"""Parts for both workers and every step taken: all kernels are loaded in all processes before the clock starts."""
CHUNK_ROWS = 131_072
PAUSE_SECONDS = 5.0


def run(constants: dict[str, float], arguments: Any) -> dict[str, Any]:
    rows = []
    for kind in arguments.kinds or KINDS:
        for n in sorted(arguments.sizes or ((WARM_ROWS,) if arguments.quick else SIZES)):
            rows += measure(kind, n, min(arguments.repeats, MOST_ROUNDS))
    return {"rows": rows, "cores": os.cpu_count()}


def measure(kind: str, n: int, n_rounds: int) -> list[dict[str, Any]]:
    """One process, then the cluster, each in a new process, several times; the cluster's row has the ratios.

    The speed of a shared machine changes from minute to minute: ratios are of neighbours, and the middle one counts.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = {name: str(Path(folder) / f"{name}.npy") for name in ("warm", "rows")}
        np.save(files["warm"], make_benchmark_blobs(kind, WARM_ROWS, 10, random_state=1).X)
        np.save(files["rows"], make_benchmark_blobs(kind, n, 10, random_state=0).X)
        rounds = [(in_new_process("one_process", files), in_new_process("two_workers", files)) for _ in range(n_rounds)]
    ratios = [WORKERS * cluster["seconds"] / one["seconds"] for one, cluster in rounds]
    one, cluster = rounds[int(np.argsort(ratios)[len(ratios) // 2])]
    alone, together = ({"part": "cluster", "kind": kind, "n": n, **row} for row in (one, cluster))
    together["cpu_over_one"] = together["cpu"] / alone["cpu"]
    waiting = together["cpu_of_waiting_per_second"] * together["seconds"]
    together["cpu_without_waiting_over_one"] = (together["cpu"] - waiting) / alone["cpu"]
    together["clock_per_core_over_one"] = float(np.median(ratios))
    together["clock_of_each_round"] = ratios
    together["same_bits"] = all(one["digest"] == cluster["digest"] for one, cluster in rounds)
    return [alone, together]


def in_new_process(task: str, files: dict[str, str]) -> dict[str, Any]:
    """What a task measured in a process that has done nothing else; workers must find it by the name of this module."""
    code = "import sys; from benchmarks import cluster; cluster.print_task(*sys.argv[1:])"
    command = [sys.executable, "-c", code, task, files["warm"], files["rows"]]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def print_task(task: str, warm: str, rows: str) -> None:
    """Run a task and print what it measured."""
    print(json.dumps({"one_process": one_process, "two_workers": two_workers}[task](warm, rows)))


def one_process(warm: str, rows: str) -> dict[str, Any]:
    """A fit of the same dask array in this process on one core."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        fit(array_of_file(warm, WARM_ROWS // 4))
        X = array_of_file(rows, CHUNK_ROWS)
        reset_peak()
        before, start = time.process_time(), time.perf_counter()
        model = fit(X)
        seconds, cpu = time.perf_counter() - start, time.process_time() - before
    return {"who": "one process", "seconds": seconds, "cpu": cpu, "peak_mb": peak_mb(), **what_was_found(model)}


def two_workers(warm: str, rows: str) -> dict[str, Any]:
    """A fit of a dask array on a cluster of two workers of one thread; their memory and CPU, and this process's."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        fit(array_of_file(warm, WARM_ROWS // 4))
        X = array_of_file(rows, CHUNK_ROWS)
        _, pause, waiting = with_cpu(client, lambda: time.sleep(PAUSE_SECONDS))
        resident = list(client.run(start_counting).values())
        start_counting()
        sent = sum(client.run(bytes_sent).values())
        model, seconds, cpu = with_cpu(client, lambda: fit(X))
        sent = sum(client.run(bytes_sent).values()) - sent
        return {
            "who": f"{WORKERS} workers",
            "seconds": seconds,
            "cpu": sum(cpu),
            "peak_mb": peak_mb(),
            "cpu_first": cpu[0],
            "cpu_workers": cpu[1:],
            "cpu_of_waiting_per_second": sum(waiting) / pause,
            "resident_before_mb": resident,
            "peak_workers_mb": list(client.run(peak_mb).values()),
            "bytes_per_row": sent / len(X),
            **what_was_found(model),
        }


def with_cpu(client: Any, work: Callable[[], Any]) -> tuple[Any, float, list[float]]:
    """What some work gives, its seconds, and the CPU seconds of this process and of each worker."""
    before, start = [time.process_time(), *client.run(time.process_time).values()], time.perf_counter()
    found = work()
    seconds = time.perf_counter() - start
    after = [time.process_time(), *client.run(time.process_time).values()]
    return found, seconds, [late - early for early, late in zip(before, after, strict=True)]


def fit(X: Any) -> Any:
    """The model of some rows."""
    return bayesgrove.RandomizedBHC("gaussian", search="greedy", random_state=0, n_jobs=1).fit(X)


def array_of_file(path: str, rows: int) -> Any:
    """A dask array whose workers read their rows of a .npy file themselves."""
    import dask
    import dask.array as da

    n, d = np.load(path, mmap_mode="r").shape
    read = dask.delayed(read_rows)
    blocks = [
        da.from_delayed(read(path, low, min(low + rows, n)), (min(rows, n - low), d), np.float64)
        for low in range(0, n, rows)
    ]
    return da.concatenate(blocks)


def read_rows(path: str, low: int, high: int) -> np.ndarray:
    """Some rows of a .npy file."""
    return np.array(np.load(path, mmap_mode="r")[low:high])


def start_counting() -> float:
    """Forget the peak of memory; what is in use now."""
    reset_peak()
    return resident_mb()


def bytes_sent(dask_worker: Any) -> int:
    """What a worker has sent to others and to the first process."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def what_was_found(model: Any) -> dict[str, Any]:
    """The number of clusters, and a hash of all of the tree and the labels."""
    digest = hashlib.sha256(repr(model.log_evidence_).encode())
    tree = model.tree_
    for array in (model.labels_, tree.parent, *(tree.columns[name] for name in sorted(tree.columns))):
        digest.update(np.ascontiguousarray(array).tobytes())
    for array in model._predictive:
        digest.update(np.ascontiguousarray(array).tobytes())
    return {"n_clusters": model.n_clusters_, "digest": digest.hexdigest()[:16]}

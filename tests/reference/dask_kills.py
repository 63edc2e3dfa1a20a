"""Killing workers of a Dask cluster in its tests."""

import os
import signal
import time

PATIENCE, TRIES = 15.0, 4


def kill_one_worker(client, killed):
    """Kill one of two workers that both answer; where a dead one is not replaced, another is asked for first.

    Dask's nanny now and then does not bring a killed worker back, above all one that is killed while it starts. For a
    moment a dead one still counts: so they are asked.
    """
    for _ in range(TRIES):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            answers = client.run(os.getpid, on_error="ignore").values()
            alive = [pid for pid in answers if isinstance(pid, int) and pid not in killed]
            if len(alive) >= 2:
                os.kill(alive[0], signal.SIGKILL)
                killed.append(alive[0])
                return
            time.sleep(0.2)
        client.cluster.scale(len(client.cluster.workers) + 1)
    raise TimeoutError("there were no two workers to kill one of")

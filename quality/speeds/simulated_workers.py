"""Workers of Dask, as many as asked for, in one process: they wait instead of making runs.

    python -m quality.speeds.simulated_workers tcp://HOST:PORT 1000 FOLDER

Each is a worker as distributed has it, with its own connection and heartbeat. It says on the
standard output when all of them are there.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

_AT_A_TIME = 50
_NO_OBSERVERS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.admin.tick.interval": "1s",
}
"""A worker samples itself a hundred times a second: a thousand would do nothing else."""


async def serve(address: str, count: int, folder: str) -> None:
    """Until the scheduler goes."""
    import dask
    from distributed import Worker

    dask.config.set(_NO_OBSERVERS)

    def made() -> Iterator[Any]:
        for _ in range(count):
            yield Worker(address, nthreads=1, local_directory=folder, dashboard=False, memory_limit=0)

    waiting, workers = made(), list[Any]()
    while some := list(islice(waiting, _AT_A_TIME)):
        workers += await asyncio.gather(*some)
    print("ready", flush=True)
    await asyncio.gather(*(worker.finished() for worker in workers))


if __name__ == "__main__":
    from analysis.campaign.cluster import configure

    configure()
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), sys.argv[3]))

"""What Dask's scheduler costs a campaign of many workers (docs/how-to/campaigns.md).

The scheduler is Dask's own, in a process of its own, and the client is that of a campaign. The
workers are real ones, too, but all in one process, and they wait as long as the runs would take.
So hundreds of them need no more than a core: what is measured is what the runs wait for.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from analysis.campaign import cluster
from analysis.campaign.cluster import Cluster, Job, Made
from analysis.campaign.matrix import Point
from analysis.campaign.order import Order, ShippedImage
from analysis.campaign.work import Outcome
from base.files.errors import TailscopeError
from base.paths import ROOT
from firmware.build.image import Configuration
from scenarios import catalogue

RUN_S = 0.3
"""Seconds of a core for a run of mem_stress that is captured direct, judged and stored."""
SCENARIO = "mem_stress"
ROUNDS = 4
"""Tasks that each worker ends; those of the first do not count. Its tasks are of all lengths up to
the whole: real runs end spread, too, and not all at once.
"""
_START_WITHIN_S = 300.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Speed:
    """`scheduler_s` and `workers_s` are seconds of a core for a task, `overhead` the share by which
    the tasks took longer than they would without Dask. `busy` is of the scheduler's core.
    """

    workers: int
    runs_a_task: int
    task_s: float
    tasks: int
    tasks_per_s: float
    overhead: float
    busy: float
    scheduler_s: float
    workers_s: float
    client_s: float


def measure(workers: int, runs_a_task: Sequence[int] = ()) -> list[Speed]:
    """Of one run a task, and of as many as a campaign puts into one. Raises TailscopeError."""
    if workers < 1:
        raise TailscopeError(f"--workers {workers}: give 1 or more.")
    chosen = runs_a_task or sorted({1, cluster.runs_of_a_task(workers, RUN_S)})
    with (
        tempfile.TemporaryDirectory(prefix="tailscope-scheduler-") as folder,
        _scheduler(Path(folder)) as (scheduler, address),
        _waiting(address, workers, Path(folder)) as others,
        cluster.remote(address, asleep) as there,
    ):
        return [_speed(there, (scheduler, others), workers, runs) for runs in chosen]


def as_text(speeds: Sequence[Speed]) -> str:
    """A line for each."""
    head = (
        "workers  runs a task  s a task  tasks/s  overhead  scheduler busy  its ms a task"
        "  workers' ms  client's ms"
    )
    return "\n".join((head, *map(_line, speeds)))


def _line(of: Speed) -> str:
    milliseconds = (1000 * of.scheduler_s, 1000 * of.workers_s, 1000 * of.client_s)
    return (
        f"{of.workers:7}{of.runs_a_task:13}{of.task_s:10.2f}{of.tasks_per_s:9.0f}{of.overhead:10.1%}"
        "{:16.0%}{:15.2f}{:13.2f}{:13.2f}".format(of.busy, *milliseconds)
    )


async def asleep(asked: bytes, images: Mapping[str, ShippedImage]) -> Made:
    """Instead of the runs: as long as they take, and no core."""
    del images
    orders = [order for order, _ in cluster.unpacked(asked)]
    taken_s = RUN_S * sum(_share(order) for order in orders)
    await asyncio.sleep(taken_s)
    return Made([Outcome(order.key, {}) for order in orders], taken_s)


def _share(order: Order) -> float:
    """Of the length of a run: the last word of its key."""
    return float(order.key.rpartition(" ")[2])


def _speed(there: Cluster, processes: Sequence[int], workers: int, runs: int) -> Speed:
    """Each worker has a task and one waiting, as in a campaign, from the first to the last second
    that count. These begin when as many tasks are done as there are workers.
    """
    jobs, wanted, handed, done = _jobs(runs, workers), workers * ROUNDS * runs, 0, 0
    first: tuple[int, list[float]] | None = None
    while done < wanted:
        while handed - done < workers * cluster.PER_THREAD * runs:
            there.submit(next(jobs))
            handed += runs
        done += len(there.next(1.0))
        if first is None and done >= workers * runs:
            first = done, _spent(processes)
    assert first is not None
    wall_s, *core_s = (now - then for now, then in zip(_spent(processes), first[1], strict=True))
    tasks = (done - first[0]) // runs
    while done < handed:
        done += len(there.next(1.0))
    return Speed(
        workers,
        runs,
        runs * RUN_S,
        tasks,
        tasks / wall_s,
        wall_s / (tasks * runs * RUN_S / workers) - 1,
        core_s[0] / wall_s,
        *(each / tasks for each in core_s),
    )


def _jobs(runs: int, workers: int) -> Iterator[list[Job]]:
    """Tasks of so many runs: an image as large as the real ones, and the plan of SCENARIO."""
    plan = catalogue.load(SCENARIO).compile()
    point = Point(SCENARIO, "tlsf")
    image = ShippedImage("", bytes(256 << 10), b"", "tlsf", Configuration(0, "", 0, "", {}), ())
    for task in count(1):
        share = min(task / workers, 1.0)
        keys = (f"{runs} {task} {run} {share}" for run in range(runs))
        yield [Job(Order(key, point, plan, 0, "direct", ""), image, 1) for key in keys]


def _spent(processes: Sequence[int]) -> list[float]:
    """The host's clock, and seconds of a core of the processes and of this one."""
    return [time.monotonic(), *map(_core_s, (*processes, os.getpid()))]


def _core_s(process: int) -> float:
    """User and system time: fields 14 and 15 of /proc/PID/stat (proc(5))."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


@contextmanager
def _scheduler(folder: Path) -> Iterator[tuple[int, str]]:
    """Its process and its address."""
    told = folder / "scheduler.json"
    words = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    with _program([*words, "--scheduler-file", str(told)]) as program:
        deadline_s = time.monotonic() + _START_WITHIN_S
        while not told.exists() or not (content := told.read_text(encoding="utf-8")):
            if program.poll() is not None or time.monotonic() > deadline_s:
                raise TailscopeError("Dask's scheduler does not start: run ./lab build, then try again.")
            time.sleep(0.05)
        yield program.pid, json.loads(content)["address"]


@contextmanager
def _waiting(address: str, workers: int, folder: Path) -> Iterator[int]:
    """The process of the simulated workers, once all are there."""
    with _program(["quality.speeds.simulated_workers", address, str(workers), str(folder)]) as program:
        assert program.stdout is not None
        if program.stdout.readline() != b"ready\n":
            raise TailscopeError(f"{workers:,} workers do not start in one process; give fewer --workers.")
        yield program.pid


@contextmanager
def _program(words: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A module of Python that ends with the block."""
    with subprocess.Popen(
        [sys.executable, "-m", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as program:
        try:
            yield program
        finally:
            program.kill()

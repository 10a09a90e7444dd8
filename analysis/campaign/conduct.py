"""Conducts a campaign: workers of Dask make the runs that are not settled yet, and what comes is
stored.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from analysis.campaign import work
from analysis.campaign.matrix import EVERY, Matrix
from analysis.campaign.store import Store
from analysis.campaign.work import (
    DIFFERS,
    RECORDS,
    Order,
    Orders,
    Outcome,
    board,
    failed,
    hashed,
    image_of,
    is_verified,
    samplerate_hz,
)
from analysis.errors import CampaignError
from base.files.errors import TailscopeError, first_line
from base.processes import signals
from capture.acquisition import direct
from firmware.build import fit

CONNECT_WITHIN_S = 10.0
_PATIENCE_S = 0.2
_PER_THREAD = 2
"""Runs that are handed out for each thread: one under way, one waiting."""


@dataclass
class Course:
    """How far a campaign is. `differs` is the row of a direct run that is not what the real tools
    bring: it ends the campaign.
    """

    points: int
    settled: int = 0
    made: int = 0
    incomplete: int = 0
    differs: dict[str, Any] | None = None
    start_s: float = 0.0

    @property
    def left_s(self) -> float | None:
        """About how long it will still take."""
        if not self.made:
            return None
        return (self.points - self.settled) / self.made * (time.monotonic() - self.start_s)


OnCourse = Callable[[Course], None]


def check(matrix: Matrix, tell: Callable[[str], None]) -> Matrix:
    """Builds all images before the first run, and tries the first seed of each scenario.

    Returns the matrix; of one that asks for all allocators without those that cannot run all of
    its scenarios. Raises CampaignError for whatever else cannot be run, with its line.
    """
    orders = Orders(matrix)
    tried, unfit = set[str](), set[str]()
    for point in matrix.points():
        choice = repr(replace(point, seed=None))
        if choice in tried or point.allocator in unfit:
            continue
        tried.add(choice)
        signals.check()
        try:
            resource = board(point.board)
            if matrix.file.capture == "direct":
                direct.check(resource, RECORDS)
            resource.analyzer.check_rate(samplerate_hz(point))
            plan = orders.plan(point)
            try:
                fit.choose_for(resource.board, [plan], [point.allocator])
            except TailscopeError:
                if matrix.file.allocators != [EVERY]:
                    raise
                unfit.add(point.allocator)
                continue
            tell(f"firmware with {point.allocator} for {point.board}")
            image_of(point, plan)
        except TailscopeError as error:
            raise matrix.refusal(point, error) from None
    return matrix.without(unfit)


def run(matrix: Matrix, store: Store, client: Any, points: int, tell: OnCourse) -> Course:
    """Makes what is not settled by the workers of a Dask `client`, until a difference shows. To be
    called within store.writing() and signals.orderly().

    A signal raises signals.Stopped; what was done is stored. Raises CampaignError where the workers
    are gone.
    """
    from distributed import wait

    course, keys = Course(points, start_s=time.monotonic()), set[str]()
    orders = _unsettled(matrix, store, course, keys, tell)
    under_way: dict[Any, Order] = {}
    try:
        while course.differs is None:
            room = _PER_THREAD * max(sum(client.nthreads().values()), 1) - len(under_way)
            for order in islice(orders, max(room, 0)):
                under_way[client.submit(_make, order, pure=False)] = order
            if not under_way:
                store.keep_matrix(matrix.text, len(keys), over=True)
                break
            with suppress(TimeoutError):
                wait([*under_way], timeout=_PATIENCE_S, return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]
            signals.check()
            for future in [future for future in under_way if future.done()]:
                order = under_way.pop(future)
                if future.status == "cancelled":
                    raise CampaignError(_GONE)
                error = future.exception()
                if error is None:
                    outcome: Outcome = future.result()
                else:
                    why = f"No worker brought it to an end: {type(error).__name__}: {first_line(error)}"
                    outcome = failed(order.key, order.point, why)
                _take(outcome, store, course)
            if client.status != "running":
                raise CampaignError(_GONE)
            tell(course)
    except OSError:
        raise CampaignError(_GONE) from None
    return course


def _take(outcome: Outcome, store: Store, course: Course) -> None:
    store.add(outcome)
    course.settled += 1
    course.made += 1
    course.incomplete += outcome.row["verdict"] != "complete"
    if outcome.row["state"] == DIFFERS:
        course.differs = outcome.row


def _unsettled(
    matrix: Matrix, store: Store, course: Course, keys: set[str], tell: OnCourse
) -> Iterator[Order]:
    """The orders of runs that are to be made. Those that are settled are counted, and the failure
    of one that cannot be ordered is stored. `keys` gets that of each.
    """
    orders, images = Orders(matrix), set[tuple[str, int]]()
    for point in matrix.points():
        signals.check()
        tell(course)
        try:
            order = orders.make(point)
        except TailscopeError as error:
            key = hashed(asdict(point))
            keys.add(key)
            _take(failed(key, point, str(error)), store, course)
            continue
        order = replace(order, verify=is_verified(order, matrix.file.verify, images))
        if order.key in keys or store.settled(order.key, order.verify):
            course.settled += 1
        else:
            yield order
        keys.add(order.key)


_GONE = "The scheduler is gone. What was done is kept: the same command goes on."


def _make(order: Order) -> Outcome:
    """Makes a run on a worker."""
    from distributed import get_worker

    return work.run(order, Path(get_worker().local_directory))


@contextmanager
def local(scratch: Path, workers: int) -> Iterator[Any]:
    """A client of workers of this machine, one a core where `workers` is 0, on the loopback.

    They end with the block, and die with this program if it is killed. `scratch` is removed before
    and after.
    """
    from distributed import Client, LocalCluster

    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        with _configured():
            # Workers inherit what is held back here, and so never hear a Ctrl-C at the terminal,
            # which is the command's to act on: also not while they load their libraries. Python's
            # tracker of resources, which starts with the first of them, would let them hear again.
            resource_tracker.ensure_running()
            heard = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGHUP))
            try:
                cluster = LocalCluster(  # type: ignore[no-untyped-call]
                    n_workers=workers or len(os.sched_getaffinity(0)),
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address=None,
                    local_directory=str(scratch),
                    silence_logs=logging.CRITICAL,
                    scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                )
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, heard)
            with cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
                yield client
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def remote(address: str) -> Iterator[Any]:
    """A client of the scheduler at `address`, such as tcp://host:8786.

    Raises CampaignError where there is none, or it has no workers.
    """
    from distributed import Client

    with _configured():
        try:
            client = Client(address, timeout=CONNECT_WITHIN_S)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise CampaignError(f"There is no scheduler at {address}: {first_line(error)}.") from None
        try:
            if not client.nthreads():  # type: ignore[no-untyped-call]
                raise CampaignError(
                    "The scheduler has no workers: start one (docs/how-to/campaigns.md), then try again."
                )
            yield client
        finally:
            client.close(timeout=1.0)  # type: ignore[no-untyped-call]


@contextmanager
def _configured() -> Iterator[None]:
    """Configures Dask: no pages of scheduler and workers, no reports home, no words of theirs in
    ours, and what it keeps in a folder that is removed at the end.
    """
    import dask
    import distributed  # it gives its own loggers their levels

    del distributed
    loggers = [name for name in logging.root.manager.loggerDict if name.startswith("distributed.")]
    for name in ("distributed", *loggers, "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="tailscope-dask-", ignore_cleanup_errors=True) as folder:
        settings = {
            "temporary-directory": folder,
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
            # It would look at each thread's stack a hundred times a second.
            "distributed.worker.profile.enabled": False,
            "distributed.comm.timeouts.connect": f"{CONNECT_WITHIN_S:g}s",
        }
        with dask.config.set(settings):
            yield

"""The workers of a campaign, by Dask distributed: here, or of a scheduler that is there."""

from __future__ import annotations

import hashlib
import logging
import math
import os
import pickle
import queue
import resource
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from analysis.campaign import work
from analysis.campaign.order import Order, ShippedImage, digest
from analysis.campaign.rows import failed_row
from analysis.campaign.work import Outcome
from analysis.errors import CampaignError
from base.files.errors import first_line

CONNECT_WITHIN_S = 10.0
_ANSWER_WITHIN_S = 60.0
"""A worker that is asked for the first time loads the bench, which takes a while on a busy one."""
TASK_S = 0.0025
"""Seconds of the scheduler's core for a task, as measured with a thousand workers."""
MOST_RUNS = 64
"""Of a task, and of what is fetched at a time."""
_BUSY = 0.25
"""Share of its core that the scheduler may be busy: then a worker hardly waits for it."""
PER_THREAD = 2
"""Tasks that are handed out for each thread: one under way, one waiting."""
_COUNT_EVERY_S = 1.0


class Job(NamedTuple):
    """A run to be made, and which attempt at it that is."""

    order: Order
    image: ShippedImage
    attempt: int


class Lost(NamedTuple):
    """A run that no worker brought to an end, and why."""

    order: Order
    why: str


class Workers(Protocol):
    """Whoever makes runs."""

    def room(self) -> int:
        """How many runs may be handed out next, in one task; 0 if there is no room."""
        ...

    def submit(self, jobs: Sequence[Job]) -> None:
        """Hands out a task."""
        ...

    def next(self, within_s: float) -> list[Outcome | Lost]:
        """The outcomes of the tasks that ended; empty if none did.

        Raises CampaignError if the workers are gone.
        """
        ...


class Made(NamedTuple):
    """The result of a task: an outcome for each run, and the seconds that they took together."""

    outcomes: list[Outcome]
    taken_s: float


class Cluster:
    """The workers that a client of Dask reaches."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._done: queue.Queue[Any] = queue.Queue()
        self._under_way: dict[Any, list[Order]] = {}
        self._images: dict[str, Any] = {}
        self._threads = 0
        self._counted_s = 0.0
        self._run_s: float | None = None

    def room(self) -> int:
        """A few tasks for each thread, so that what is under way does not grow with a campaign."""
        now_s = time.monotonic()
        if not self._threads or now_s - self._counted_s >= _COUNT_EVERY_S:
            self._threads = max(sum(self._ask(self._client.nthreads).values()), 1)
            self._counted_s = now_s
        if len(self._under_way) >= self._threads * PER_THREAD:
            return 0
        return runs_of_a_task(self._threads, self._run_s)

    def submit(self, jobs: Sequence[Job]) -> None:
        """An image is sent once, under its content's name; workers hand it to each other.

        Orders go as bytes: the scheduler hands them on as they are.
        """
        for job in jobs:
            if job.image.digest not in self._images:
                self._images[job.image.digest] = self._client.submit(
                    _itself, job.image, key=f"image-{job.image.digest}", pure=False
                )
        images = {job.image.digest: self._images[job.image.digest] for job in jobs}
        asked = pickle.dumps([(job.order, job.image.digest) for job in jobs])
        future = self._client.submit(make, asked, images, key=_name(jobs), pure=False)
        self._under_way[future] = [job.order for job in jobs]
        future.add_done_callback(self._done.put)

    def next(self, within_s: float) -> list[Outcome | Lost]:
        """See Workers."""
        try:
            futures = [self._done.get(timeout=within_s)]
        except queue.Empty:
            if self._client.status != "running":
                raise _gone() from None
            return []
        while not self._done.empty() and sum(len(self._under_way[one]) for one in futures) < MOST_RUNS:
            futures.append(self._done.get())
        finished = [future for future in futures if future.status == "finished"]
        try:
            made = dict(zip(finished, self._client.gather(finished), strict=True))
        except Exception:  # of one that was lost meanwhile: asked for alone, it is made again
            made = {}
        return [came for future in futures for came in self._result(future, made.get(future))]

    def _result(self, future: Any, made: Made | None) -> Sequence[Outcome | Lost]:
        """The outcomes of a task; `made` if it was fetched with others, which saves waiting."""
        orders = self._under_way.pop(future)
        if future.status == "cancelled":
            raise _gone()
        try:
            made = made or future.result()
        except (OSError, TimeoutError):
            raise _gone() from None
        except Exception as error:  # Dask raises what became of a task, whatever that was
            return [Lost(order, _unfinished(error)) for order in orders]
        run_s = made.taken_s / len(orders)
        self._run_s = run_s if self._run_s is None else 0.9 * self._run_s + 0.1 * run_s
        return made.outcomes

    def core_s(self) -> float:
        """Seconds of a core that the workers took so far. Raises CampaignError."""
        return float(sum(self._ask(lambda: self._client.run(process_core_s)).values()))

    def _ask(self, question: Any) -> Any:
        try:
            return question()
        except (OSError, TimeoutError):
            raise _gone() from None


def process_core_s() -> float:
    """Seconds of a core that this process took so far, with the programs of it that ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def runs_of_a_task(threads: int, run_s: float | None) -> int:
    """So many that the scheduler keeps up with `threads`, each making a run in `run_s` seconds."""
    if not run_s:
        return 1
    return min(math.ceil(threads * TASK_S / (_BUSY * run_s)), MOST_RUNS)


def _gone() -> CampaignError:
    return CampaignError("The scheduler is gone. What was done is kept: the same command goes on.")


def _unfinished(error: Exception) -> str:
    return f"No worker brought it to an end: {type(error).__name__}: {first_line(error)}"


def _name(jobs: Sequence[Job]) -> str:
    """All of it is in the name: a task is not made where there is one of its name."""
    words = " ".join(f"{job.order.key}-{job.attempt}" for job in jobs)
    return f"runs-{hashlib.sha256(words.encode()).hexdigest()}"


def _itself(image: ShippedImage) -> ShippedImage:
    return image


def make(asked: bytes, images: Mapping[str, ShippedImage]) -> Made:
    """Makes the runs of a task on a worker, one after another. One that breaks ends no other."""
    from distributed import get_worker

    scratch, began_s = Path(get_worker().local_directory), time.monotonic()
    orders: list[tuple[Order, str]] = pickle.loads(asked)
    outcomes = [_one(order, images[image], scratch) for order, image in orders]
    return Made(outcomes, time.monotonic() - began_s)


def _one(order: Order, image: ShippedImage, scratch: Path) -> Outcome:
    try:
        return work.run(order, image, scratch)
    except Exception as error:
        return Outcome(order.key, failed_row(order.key, order.point, _unfinished(error)))


@contextmanager
def local(scratch: Path, workers: int = 0) -> Iterator[Cluster]:
    """Workers of this machine, one a core where `workers` is 0, on the loopback.

    They end with the block, and die with this program if it is killed. `scratch` is removed before
    and after.
    """
    from distributed import Client, LocalCluster

    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        with (
            configured(),
            LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers or len(os.sched_getaffinity(0)),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=None,
                local_directory=str(scratch),
                silence_logs=logging.CRITICAL,
                preload=["analysis.campaign.quiet_worker"],
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            ) as cluster,
            Client(cluster) as client,  # type: ignore[no-untyped-call]
        ):
            yield Cluster(client)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def remote(address: str) -> Iterator[Cluster]:
    """The workers of the scheduler at `address`, such as tcp://host:8786. Raises CampaignError."""
    from distributed import Client

    with configured():
        try:
            client = Client(address, timeout=CONNECT_WITHIN_S)  # type: ignore[no-untyped-call]
        except (OSError, TimeoutError, ValueError) as error:
            raise CampaignError(f"There is no scheduler at {address}: {first_line(error)}.") from None
        try:
            _check_checkouts(client)
            yield Cluster(client)
        finally:
            client.close(timeout=1.0)  # type: ignore[no-untyped-call]


def _check_checkouts(client: Any) -> None:
    """Raises CampaignError where a worker's sources are others, or there is no worker.

    It would fail each run at once, and so be given more of them than any other. A worker that does
    not answer, or comes later, is left to work.run().
    """
    from distributed import wait

    asked = {
        address: client.submit(digest, workers=[address], key=f"digest-{uuid.uuid4()}", pure=False)
        for address in client.nthreads()
    }
    if not asked:
        raise CampaignError(
            "The scheduler has no workers: start one (docs/how-to/campaigns.md), then try again."
        )
    with suppress(TimeoutError):
        wait(list(asked.values()), timeout=_ANSWER_WITHIN_S)  # type: ignore[no-untyped-call]
    for address, future in asked.items():
        if future.status == "error" or (future.status == "finished" and future.result() != digest()):
            words = "The checkout of the worker at {} is another than this one: give it the same sources, or"
            raise CampaignError(f"{words.format(address)} end it.")


@contextmanager
def configured() -> Iterator[None]:
    """Configures Dask, and has it keep what it needs in a folder that is removed at the end."""
    configure()
    import dask

    with (
        tempfile.TemporaryDirectory(prefix="tailscope-dask-", ignore_cleanup_errors=True) as folder,
        dask.config.set({"temporary-directory": folder}),
    ):
        yield


def configure() -> None:
    """No pages of the scheduler and workers, no reports home, and no words of theirs in ours."""
    import dask
    import distributed  # it gives its own loggers their levels

    del distributed
    dask.config.set(
        {
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
            # It would look at each thread's stack a hundred times a second.
            "distributed.worker.profile.enabled": False,
            "distributed.comm.timeouts.connect": f"{CONNECT_WITHIN_S:g}s",
        }
    )
    own = [name for name in logging.root.manager.loggerDict if name.startswith("distributed.")]
    for name in ("distributed", *own, "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

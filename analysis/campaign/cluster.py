"""The workers of a campaign, by Dask distributed: here, or of a scheduler that is there."""

from __future__ import annotations

import logging
import os
import queue
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from analysis.campaign import work
from analysis.campaign.errors import CampaignError
from analysis.campaign.order import Order, ShippedImage
from analysis.campaign.work import Outcome
from capture.files.errors import first_line

CONNECT_WITHIN_S = 10.0
_PER_THREAD = 2
"""Runs that are handed out for each thread: one under way, one waiting."""


class Lost(NamedTuple):
    """A run that no worker brought to an end, and why."""

    order: Order
    why: str


class Workers(Protocol):
    """Whoever makes runs."""

    def room(self) -> int:
        """How many more runs may be handed out now."""
        ...

    def submit(self, order: Order, image: ShippedImage, attempt: int) -> None:
        """Hands out a run."""
        ...

    def next(self, within_s: float) -> Outcome | Lost | None:
        """What came of one of them; None if none came.

        Raises CampaignError if the workers are gone.
        """
        ...


class Cluster:
    """The workers that a client of Dask reaches."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._done: queue.Queue[Any] = queue.Queue()
        self._under_way: dict[Any, Order] = {}
        self._images: dict[str, Any] = {}
        self._threads = 0

    def room(self) -> int:
        """A few for each thread: what is under way takes no more memory in a long campaign."""
        if not self._threads or self._done.empty():
            self._threads = sum(self._ask(self._client.nthreads).values())
        return max(self._threads, 1) * _PER_THREAD - len(self._under_way)

    def submit(self, order: Order, image: ShippedImage, attempt: int) -> None:
        """An image is sent once, under its content's name; workers hand it to each other."""
        if image.digest not in self._images:
            self._images[image.digest] = self._client.submit(
                _itself, image, key=f"image-{image.digest}", pure=False
            )
        future = self._client.submit(
            _run, order, self._images[image.digest], key=f"run-{order.key}-{attempt}", pure=False
        )
        self._under_way[future] = order
        future.add_done_callback(self._done.put)

    def next(self, within_s: float) -> Outcome | Lost | None:
        """See Workers."""
        try:
            future = self._done.get(timeout=within_s)
        except queue.Empty:
            if self._client.status != "running":
                raise _gone() from None
            return None
        order = self._under_way.pop(future)
        if future.status == "cancelled":
            raise _gone()
        try:
            outcome: Outcome = future.result()
            return outcome
        except (OSError, TimeoutError):
            raise _gone() from None
        except Exception as error:  # Dask raises what the task raised, whatever that was
            return Lost(order, f"No worker brought it to an end: {type(error).__name__}: {first_line(error)}")

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


def _gone() -> CampaignError:
    return CampaignError("The scheduler is gone. What was done is kept: the same command goes on.")


def _itself(image: ShippedImage) -> ShippedImage:
    return image


def _run(order: Order, image: ShippedImage) -> Outcome:
    from distributed import get_worker

    return work.run(order, image, Path(get_worker().local_directory))


@contextmanager
def local(scratch: Path, workers: int = 0) -> Iterator[Cluster]:
    """Workers of this machine, one a core where `workers` is 0, on the loopback.

    They end with the block, and die with this program if it is killed. `scratch` is removed before
    and after.
    """
    _configure()
    from distributed import Client, LocalCluster

    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        with (
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
    _configure()
    from distributed import Client

    try:
        client = Client(address, timeout=CONNECT_WITHIN_S)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise CampaignError(
            f"There is no scheduler at {address}: {str(error).splitlines()[0] if str(error) else 'no answer'}"
        ) from None
    try:
        yield Cluster(client)
    finally:
        client.close(timeout=1.0)  # type: ignore[no-untyped-call]


def _configure() -> None:
    """No pages of the scheduler and workers, no reports home, and no words of theirs in ours."""
    import dask

    dask.config.set(
        {
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
            # It would look at each thread's stack a hundred times a second.
            "distributed.worker.profile.enabled": False,
            "distributed.comm.timeouts.connect": f"{CONNECT_WITHIN_S:g}s",
        }
    )
    for name in ("distributed", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

"""Outcomes and workers for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import Client, LocalCluster

from analysis.campaign.work import Outcome


def key(number: int) -> str:
    """The key of a made-up run."""
    return f"{number:064x}"


def outcome(number: int, verdict: str | None = "complete", table: bytes = b"rows", **row: object) -> Outcome:
    """What a run with one small table left."""
    values = {
        "key": key(number),
        "state": "finished",
        "verified": None,
        "scenario": "mem_frag",
        "allocator": "tlsf",
        "verdict": verdict,
    }
    return Outcome({**values, **row}, {"operations": table})


@contextmanager
def inline(scratch: Path) -> Iterator[Client]:
    """A client whose worker is a thread of this process."""
    with (
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            local_directory=str(scratch),
        ) as cluster,
        Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        yield client

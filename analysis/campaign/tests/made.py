"""Outcomes and workers for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from analysis.campaign import work
from analysis.campaign.cluster import Job, Lost
from analysis.campaign.order import Order, ShippedImage
from analysis.campaign.work import Outcome


def outcome(key: str, verdict: str | None = "complete", table: bytes = b"rows", **row: Any) -> Outcome:
    """What a run with one small table left."""
    values = {
        "key": key,
        "state": "finished",
        "verified": None,
        "scenario": "mem_frag",
        "allocator": "tlsf",
        "verdict": verdict,
    }
    return Outcome(
        key, {**values, **row}, {"operations": table}, {"operations": hashlib.sha256(table).hexdigest()}
    )


class Inline:
    """A worker in this process, which does the latest order first."""

    def __init__(self, scratch: Path, do: Callable[[Order, ShippedImage, Path], Any] = work.run) -> None:
        self._scratch = scratch
        self._do = do
        self._waiting: list[tuple[Order, ShippedImage]] = []
        self.attempts: list[tuple[str, int]] = []

    def room(self) -> int:
        return max(0, 3 - len(self._waiting))

    def submit(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.attempts.append((job.order.key, job.attempt))
            self._waiting.append((job.order, job.image))

    def next(self, within_s: float) -> list[Outcome | Lost]:
        assert within_s > 0
        return [self._do(*self._waiting.pop(), self._scratch)]

"""The limits of a list of operations, and which of them it came to."""

from __future__ import annotations

from collections.abc import Mapping

from base import heap_size
from firmware.build import host_heap
from scenarios.operations import MAX_SLOTS
from scenarios.trace import ALLOCATE, Operations, Trace
from studies.adversary.search import MOST_OPERATIONS
from studies.adversary.study import space

_NEAR = 0.98
"""A list that has taken so much of a limit is bound by it."""


def shares(allocator: str, operations: Operations) -> Mapping[str, float]:
    """Which part of each limit the list takes, the region by a replay where there is a build for
    this machine. Raises HostHeapError.
    """
    taken = {"slots": most_slots(operations) / MAX_SLOTS, "operations": len(operations) / MOST_OPERATIONS}
    if not host_heap.row(allocator).target_only:
        used = space(allocator, Trace("found", operations)).used_bytes
        taken["region"] = used / heap_size.DEFAULT_BYTES
    return taken


def reached(allocator: str, operations: Operations) -> tuple[str, ...]:
    """The names of the limits that the list came to, the one it took most of first."""
    taken = shares(allocator, operations)
    return tuple(sorted((name for name in taken if taken[name] >= _NEAR), key=lambda name: -taken[name]))


def most_slots(operations: Operations) -> int:
    """The most slots that are taken at one time: blocks that are live or were refused."""
    taken = (operations[:, 0] == ALLOCATE).astype(int) * 2 - 1
    return int(taken.cumsum().max(initial=0))

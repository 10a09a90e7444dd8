"""Figures of one replay. docs/how-to/fragmentation.md defines each, with its source."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from firmware.build.host_heap import SKIPPED, UNKNOWN, Replay
from scenarios.trace import FREE, KIND, RETRY, SIZE, SLOT, Operations

Bytes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Metrics:
    """All in bytes, but for ratios and counts. None where nothing was served."""

    failures: int
    """Allocations and reallocations that were refused."""
    peak_live_bytes: int
    peak_live_blocks: int
    used_bytes: int
    used_from_start_bytes: int
    """From the region's beginning, not from the first block's."""
    fragmentation_percent: float | None
    fragmentation_from_start_percent: float | None
    """The fourth ratio less one with those bytes, as slides have it."""
    johnstone: tuple[float, float, float, float] | None
    sbbm_bytes: int | None
    region_overhead_bytes: int
    block_overhead_bytes: int


@dataclass(frozen=True)
class Course:
    """The state after each operation, arrays of equal length: requested bytes and number of live
    blocks, and used bytes so far, from the lowest begin to the highest end of all blocks.
    """

    live: Bytes
    blocks: Bytes
    used: Bytes


def course(operations: Operations, replay: Replay) -> Course:
    """Follows a replay. What was refused changes nothing."""
    served = (replay.status == 0).tolist()
    sizes: dict[int, int] = {}
    total = 0
    live = np.zeros(len(operations), dtype=np.int64)
    blocks = np.zeros(len(operations), dtype=np.int64)
    rows = zip(*(operations[:, column].tolist() for column in (KIND, SLOT, SIZE)), strict=True)
    for number, (kind, slot, size) in enumerate(rows):
        if served[number]:
            total -= sizes.pop(slot, 0)
            if kind != FREE:
                sizes[slot] = size
                total += size
        live[number] = total
        blocks[number] = len(sizes)
    return Course(live, blocks, _used(operations, replay))


def metrics(operations: Operations, replay: Replay) -> Metrics:
    """The figures of a replay of these operations."""
    asked = (operations[:, KIND] != FREE) & (replay.status != SKIPPED)
    served = asked & (replay.status == 0)
    found = course(operations, replay)
    ratios = johnstone(found) if served.any() else None
    peak, from_start = int(found.live.max()), int(replay.end[served].max(initial=0))
    return Metrics(
        failures=int((asked & ~served).sum()),
        peak_live_bytes=peak,
        peak_live_blocks=int(found.blocks.max()),
        used_bytes=int(found.used[-1]),
        used_from_start_bytes=from_start,
        fragmentation_percent=None if ratios is None else 100 * (ratios[3] - 1),
        fragmentation_from_start_percent=None if ratios is None else 100 * (from_start / peak - 1),
        johnstone=ratios,
        sbbm_bytes=_smallest_largest(replay.largest_free[served]),
        region_overhead_bytes=replay.region_overhead_bytes,
        block_overhead_bytes=replay.block_overhead_bytes,
    )


def _smallest_largest(largest_free: npt.NDArray[np.uint32]) -> int | None:
    unknown = largest_free.size == 0 or bool((largest_free == UNKNOWN).any())
    return None if unknown else int(largest_free.min())


def johnstone(found: Course) -> tuple[float, float, float, float]:
    """The four ratios of Johnstone and Wilson, in their order. Something must have been live."""
    alive = found.live > 0
    at_peak_live = int(found.live.argmax())
    at_most_used = int(found.used.argmax())
    live, used = found.live, found.used
    return (
        float((used[alive] / live[alive]).mean()),
        float(used[at_peak_live] / live[at_peak_live]),
        float(used[at_most_used] / live[at_most_used]),
        float(used[-1] / live[at_peak_live]),
    )


def least_bytes(operations: Operations, block_overhead_bytes: int) -> int:
    """A heap below this cannot serve the trace: payloads
    and headers that live at one time need as much.
    """
    sizes: dict[int, int] = {}
    total = most = 0
    for kind, slot, size, _ in operations.tolist():
        if kind & RETRY:
            continue
        total -= sizes.pop(slot, 0)
        if kind != FREE:
            sizes[slot] = size + block_overhead_bytes
            total += sizes[slot]
        most = max(most, total)
    return most


def _used(operations: Operations, replay: Replay) -> Bytes:
    """After each operation: the highest end so far less the
    lowest begin, 0 before there is a block.
    """
    has_block = (operations[:, KIND] != FREE) & (replay.status == 0)
    highest = np.maximum.accumulate(np.where(has_block, replay.end.astype(np.int64), 0))
    far = np.iinfo(np.int64).max
    lowest = np.minimum.accumulate(np.where(has_block, replay.begin.astype(np.int64), far))
    return np.where(highest > 0, highest - np.where(lowest == far, 0, lowest), 0)

"""Figures of one replay, and the Cost Metric: the smallest heap that serves a trace.

docs/how-to/fragmentation.md defines each, with its source. The Cost Metric tries every size
upwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from base.heap_size import DEFAULT_BYTES, SMALLEST_BYTES, STEP_BYTES
from firmware.build import host_heap
from firmware.build.host_heap import OPERATION_BYTES, SKIPPED, UNKNOWN, Replay
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
    """The four ratios of Johnstone and Wilson, in their order."""

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


def _live(operations: Operations, served: npt.NDArray[np.bool_]) -> tuple[Bytes, Bytes]:
    """Requested bytes, and number of live blocks, after each operation, if those `served` were."""
    is_block = operations[:, KIND] != FREE
    slots = pl.DataFrame(
        {
            "slot": operations[:, SLOT],
            "bytes": np.where(is_block, operations[:, SIZE], 0).astype(np.int64),
            "blocks": is_block.astype(np.int64),
        }
    ).filter(pl.Series(served))
    # Each replaces what its slot had before.
    change = slots.select(
        pl.col(name) - pl.col(name).shift(fill_value=0).over("slot") for name in ("bytes", "blocks")
    )
    live = np.zeros((2, len(operations)), np.int64)
    live[:, served] = change.to_numpy().T
    sums = live.cumsum(axis=1)
    return sums[0], sums[1]


def course(operations: Operations, replay: Replay) -> Course:
    """Follows a replay. What was refused changes nothing.

    Used is the highest end so far less the lowest begin, 0 before there is a block.
    """
    has_block = (operations[:, KIND] != FREE) & (replay.status == 0)
    highest = np.maximum.accumulate(np.where(has_block, replay.end.astype(np.int64), 0))
    far = np.iinfo(np.int64).max
    lowest = np.minimum.accumulate(np.where(has_block, replay.begin.astype(np.int64), far))
    used = np.where(highest > 0, highest - np.where(lowest == far, 0, lowest), 0)
    return Course(*_live(operations, replay.status == 0), used)


def metrics(operations: Operations, replay: Replay) -> Metrics:
    """The figures of a replay of these operations."""
    allocated = (operations[:, KIND] != FREE) & (replay.status != SKIPPED)
    served = allocated & (replay.status == 0)
    heap_course = course(operations, replay)
    live, used = heap_course.live, heap_course.used
    peak, from_start = int(live.max()), int(replay.end[served].max(initial=0))
    ratios = None
    if served.any():
        alive, most = live > 0, used.argmax()
        ratios = (
            float((used[alive] / live[alive]).mean()),
            float(used[live.argmax()] / peak),
            float(used[most] / live[most]),
            float(used[-1] / peak),
        )
    largest = replay.largest_free[served]
    is_unknown = largest.size == 0 or bool((largest == UNKNOWN).any())
    return Metrics(
        failures=int((allocated & ~served).sum()),
        peak_live_bytes=peak,
        peak_live_blocks=int(heap_course.blocks.max()),
        used_bytes=int(used[-1]),
        used_from_start_bytes=from_start,
        fragmentation_percent=None if ratios is None else 100 * (ratios[3] - 1),
        fragmentation_from_start_percent=None if ratios is None else 100 * (from_start / peak - 1),
        johnstone=ratios,
        sbbm_bytes=None if is_unknown else int(largest.min()),
        region_overhead_bytes=replay.region_overhead_bytes,
        block_overhead_bytes=replay.block_overhead_bytes,
    )


def least_bytes(operations: Operations, block_overhead_bytes: int) -> int:
    """A heap below this cannot serve the trace: payloads
    and headers that live at one time need as much.
    """
    live, blocks = _live(operations, operations[:, KIND] & RETRY == 0)
    return int((live + block_overhead_bytes * blocks).max(initial=0))


SEARCHED_TIMES = 8
"""The search goes no further than so many times the bytes that must
fit, or the board's heap if that is more. An allocator that merges
nothing may need any number of them, and each size is a replay.
"""

REPLAYED_OPERATIONS_LIMIT = 2_000_000_000
"""A search that may replay more operations is made only if
it is asked for: it takes minutes or hours.
"""

LOOKED_AT_ABOVE = 128
"""Sizes above the first that serves that are tried too, to see whether they all serve."""

_SIZES_AT_ONCE = 256
"""As many sizes as one process tries."""


@dataclass(frozen=True)
class CostMetric:
    """`smallest_bytes` is None if no size was found to serve, up to `looked_up_to_bytes`.

    Of the sizes above it, up to `looked_up_to_bytes`, those in `failing_above_bytes` do not serve:
    there serving is not monotonic.
    """

    smallest_bytes: int | None
    looked_up_to_bytes: int
    failing_above_bytes: tuple[int, ...] = ()
    between_bytes: tuple[int, int] | None = None
    """Where the search was too long to be made: a size that
    may be the smallest, and one that serves.
    """


def smallest_heap(
    allocator: str,
    knobs: Mapping[str, int],
    operations: Path,
    at_least_bytes: int,
    exhaustive: bool = False,
) -> CostMetric:
    """Tries every size from 64 bytes on, in steps of 8, on a trace written by host_heap.write.

    Sizes below `at_least_bytes` are known to fail and left out. Doubled sizes tell up to where the
    search must go. Where none of them serves, up to SEARCHED_TIMES `at_least_bytes` and the
    allocator's largest region, it is given up. With `exhaustive` no search is too long. Raises
    HostHeapError.
    """

    def serves(first: int, last: int, stop: bool = False) -> list[bool]:
        program = host_heap.build(allocator, last, knobs)
        return host_heap.serve(program, operations, first, last, stop=stop)

    first = SMALLEST_BYTES + max(0, at_least_bytes - SMALLEST_BYTES) // STEP_BYTES * STEP_BYTES
    enough = max(SEARCHED_TIMES * first, DEFAULT_BYTES)
    largest = min(enough, host_heap.largest_bytes(allocator)) // STEP_BYTES * STEP_BYTES
    # What is twice, four times … as large, and last the largest; nothing above it.
    doubled = takewhile(lambda size: size < largest, (first << times for times in count()))
    tried = [*doubled, largest] if first <= largest else []
    bound = next((size for size in tried if any(serves(size, size))), None)
    if bound is None:
        return CostMetric(None, largest)
    # The most operations that the search may replay.
    replayed = (bound - first) // STEP_BYTES * (operations.stat().st_size // OPERATION_BYTES)
    if not exhaustive and replayed > REPLAYED_OPERATIONS_LIMIT:
        return CostMetric(None, bound, between_bytes=(first, bound))
    smallest = bound
    for start, end in _parts(first, bound):
        served = serves(start, end, stop=True)
        if any(served):
            smallest = start + (len(served) - 1) * STEP_BYTES
            break
    above = min(smallest + LOOKED_AT_ABOVE * STEP_BYTES, largest)
    failing = tuple(
        start + number * STEP_BYTES
        for start, end in _parts(smallest + STEP_BYTES, above)
        for number, is_served in enumerate(serves(start, end))
        if not is_served
    )
    return CostMetric(smallest, above, failing)


def _parts(first: int, last: int) -> Iterator[tuple[int, int]]:
    """First and last size of each part. All sizes of a part run on one build."""
    while first <= last:
        end = first + (_SIZES_AT_ONCE - 1) * STEP_BYTES
        yield first, (end := min(end, last, host_heap.capacity_bytes(first)))
        first = end + STEP_BYTES

"""What of the board's SRAM the region of the heap may take, and what it leaves for slots.

The rest is the same whatever allocator is linked: kernel, tasks, the bench, the allocator's own
variables and the stack of interrupts get BENCH_BYTES. So every allocator can have the same heap.
The tests hold every image to that, and the linker script refuses what does not fit.
"""

from __future__ import annotations

from base.heap_size import STEP_BYTES

SRAM_BYTES = 96 << 10
"""RM0368, section 2.3; board/f401re.ld has the same."""
BENCH_BYTES = 9_728
SLOT_BYTES = 8
"""Of a slot: an address and a size (bench/interpreter.c)."""
MOST_SLOTS = 2048

_SHARED_BYTES = SRAM_BYTES - BENCH_BYTES


def slots_beside(heap_bytes: int) -> int:
    """The slots of an image with such a region, at most MOST_SLOTS; none where it does not fit."""
    return max(0, min(MOST_SLOTS, (_SHARED_BYTES - heap_bytes) // SLOT_BYTES))


def largest_heap_bytes(slots: int) -> int:
    """The largest region beside so many slots."""
    return (_SHARED_BYTES - SLOT_BYTES * slots) // STEP_BYTES * STEP_BYTES


def objection(heap_bytes: int, slots: int, scenario: str) -> str | None:
    """Why a region and the slots of a scenario do not fit together; None if they do."""
    if slots <= slots_beside(heap_bytes):
        return None
    return (
        f"A heap of {heap_bytes:,} bytes does not fit the board beside the {slots:,} slots of {scenario}: "
        f"it may have {largest_heap_bytes(slots):,} bytes at most."
    )

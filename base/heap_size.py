"""How large the region of a heap may be, and how large it is where nobody says."""

from __future__ import annotations

DEFAULT_BYTES = 64 << 10
"""CMake has the same default (firmware/heap/CMakeLists.txt)."""
SMALLEST_BYTES = 64
LARGEST_BYTES = 8 << 20
"""On the host. The board has less room (firmware/build/region.py)."""
STEP_BYTES = 8

RANGE = f"a multiple of {STEP_BYTES} from {SMALLEST_BYTES} to {LARGEST_BYTES:,}"


def is_one(heap_bytes: int) -> bool:
    """Whether a region may have so many bytes."""
    return SMALLEST_BYTES <= heap_bytes <= LARGEST_BYTES and heap_bytes % STEP_BYTES == 0

"""The limits of the size of a heap's region, and its default."""

from __future__ import annotations

import re

DEFAULT_BYTES = 64 << 10
"""CMake has the same default (firmware/heap/CMakeLists.txt)."""
SMALLEST_BYTES = 64
LARGEST_BYTES = 8 << 20
"""On the host. The board has less room (firmware/build/fit.py)."""
STEP_BYTES = 8

_SIZE = re.compile(r"([0-9]{1,7}) ?([km])(?:ib)?", re.IGNORECASE)
_SHIFTS = {"k": 10, "m": 20}


def bytes_of(word: str) -> int | None:
    """The bytes of `8k`, `8KiB` or `1m`; None of any other word."""
    match = _SIZE.fullmatch(word)
    return int(match[1]) << _SHIFTS[match[2].lower()] if match else None


def refused(heap_bytes: int, largest_bytes: int = LARGEST_BYTES) -> str | None:
    """What a region may have, in words, where it may not have so many bytes; None where it may."""
    if SMALLEST_BYTES <= heap_bytes <= largest_bytes and heap_bytes % STEP_BYTES == 0:
        return None
    return f"a multiple of {STEP_BYTES} from {SMALLEST_BYTES} to {largest_bytes:,}"

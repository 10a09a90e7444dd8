"""What a board has for a scenario: a heap, slots and entries of an operation image."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from base import heap_size
from scenarios.operations import MAX_ENTRIES, MAX_SLOTS


@dataclass(frozen=True)
class Place:
    """`heap_bytes` is the heap where nobody says another, `entries` are those of an operation
    image, and `slots` tells how many there are beside a heap of so many bytes.
    """

    heap_bytes: int = heap_size.DEFAULT_BYTES
    entries: int = MAX_ENTRIES
    slots: Callable[[int], int] = lambda _: MAX_SLOTS

    @property
    def is_small(self) -> bool:
        """Whether its heap is smaller than that for which scenarios are written."""
        return self.heap_bytes < heap_size.DEFAULT_BYTES

    def share(self, number: int) -> int:
        """The same part of `number`, and 1 at least, as the heap is of that for which scenarios are
        written.
        """
        return max(1, number * self.heap_bytes // heap_size.DEFAULT_BYTES)


LARGE = Place()
"""For which scenarios are written."""

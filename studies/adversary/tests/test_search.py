"""The search itself, on the PC: repeatable, within its limits, and good enough; and the
known cases it begins with: as long as the slots and the region allow.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from base import heap_size
from firmware.build import host_heap
from scenarios.operations import MAX_SLOTS
from scenarios.trace import ALLOCATE, FREE, Operations, Trace, TraceBuilder
from studies.adversary import known
from studies.adversary.search import MOST_OPERATIONS, Budget, What, run

LIVE_BYTES = 4096
LISTS = 600


def winners(lists: int, what: What = "allocate", seed: int = 3) -> list[Operations]:
    tried, lists_of_winners = run(
        "seglist", what, seed, LIVE_BYTES, Budget(lists=lists), lambda _: None, {"ways": 5}
    )
    assert tried == lists and lists_of_winners
    return lists_of_winners


def test_equal_seeds_and_budgets_give_equal_searches() -> None:
    first, again, other = ([array.tolist() for array in winners(LISTS, seed=seed)] for seed in (3, 3, 4))
    assert first == again != other


@pytest.mark.parametrize("what", ["allocate", "free", "fragmentation"])
def test_winners_keep_to_their_limits(what: What) -> None:
    """Against a count that knows nothing of the search."""
    limit_bytes = LIVE_BYTES if what == "fragmentation" else heap_size.DEFAULT_BYTES
    for operations in winners(LISTS, what):
        assert len(operations) <= MOST_OPERATIONS
        live: dict[int, int] = {}
        builder = TraceBuilder()  # refuses what cannot be
        for kind, slot, size, _ in operations.tolist():
            if kind == ALLOCATE:
                live[slot] = size
                builder.allocate(slot, size)
            else:
                del live[slot]
                builder.free(slot)
            assert len(live) <= MAX_SLOTS
            assert sum(live.values()) <= limit_bytes
        if what != "fragmentation":
            assert operations[-1, 0] == (ALLOCATE if what == "allocate" else FREE)


HEADER_BYTES, SMALLEST_BYTES = 16, 24


def replay(allocator: str, trace: Trace) -> host_heap.Replay:
    program = host_heap.build(allocator, heap_size.DEFAULT_BYTES)
    with tempfile.TemporaryDirectory() as folder:
        file = host_heap.write(trace.operations, Path(folder) / "operations")
        return host_heap.run(program, file, heap_size.DEFAULT_BYTES)


class FirstFit:
    """The block layer on paper: a list of (begin, end) that is searched from its beginning.

    `place` says where in the list a free block goes.
    """

    def __init__(self, place: Callable[[list[tuple[int, int]], tuple[int, int]], int]) -> None:
        self._place = place
        self._free = [(0, heap_size.DEFAULT_BYTES)]
        self._live: dict[int, tuple[int, int]] = {}

    def _file(self, block: tuple[int, int]) -> None:
        self._free.insert(self._place(self._free, block), block)

    def allocate(self, slot: int, size: int) -> int:
        """Returns how many blocks it looked at."""
        need = HEADER_BYTES + (size + 7) // 8 * 8
        for looked_at, (begin, end) in enumerate(self._free, 1):
            if end - begin >= need:
                self._free.remove((begin, end))
                cut = begin + need if end - begin >= need + SMALLEST_BYTES else end
                if cut < end:
                    self._file((cut, end))
                self._live[slot] = (begin, cut)
                return looked_at
        return len(self._free)

    def release(self, slot: int) -> None:
        begin, end = self._live.pop(slot)
        for block in [block for block in self._free if block[1] == begin or block[0] == end]:
            self._free.remove(block)
            begin, end = min(begin, block[0]), max(end, block[1])
        self._file((begin, end))


def newest_first(_free: list[tuple[int, int]], _block: tuple[int, int]) -> int:
    return 0


def by_address(free: list[tuple[int, int]], block: tuple[int, int]) -> int:
    return sum(address < block for address in free)


def looked_at(heap: FirstFit, trace: Trace) -> list[int]:
    """Of each operation; 0 of a free."""
    counts = []
    for kind, slot, size, _ in trace.operations.tolist():
        if kind == ALLOCATE:
            counts.append(heap.allocate(slot, size))
        else:
            heap.release(slot)
            counts.append(0)
    return counts


@pytest.mark.parametrize(
    ("allocator", "place"), [("first_fit", newest_first), ("first_fit_ordered", by_address)]
)
def test_a_split_makes_the_longest_list_that_there_is(
    allocator: str, place: Callable[[list[tuple[int, int]], tuple[int, int]], int]
) -> None:
    """Free blocks of 24 bytes, and live ones of 24 between them: 64 KiB hold (64 KiB + 24) / 48.

    The one that lies highest is larger, so that it serves the request: it takes the place of two.
    """
    trace = known.SPLITS[0].trace()
    counts = looked_at(FirstFit(place), trace)
    assert replay(allocator, trace).probes.tolist() == counts
    assert max(counts) == (heap_size.DEFAULT_BYTES + 24) // 48 - 1 == 1364

"""The allocators over regions of any size: what they refuse, and that builds agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from base.heap_size import LARGEST_BYTES
from firmware.build import host_heap
from firmware.build.host_heap import HostHeapError, Replay
from firmware.heap.tests.host_build import of_each_kind

ALLOCATE, FREE = 1, 2


def operations(largest: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint32]]:
    """Sizes up to `largest`, every third block freed at once, the rest in the end."""
    sizes = [1 + 7919 * number % largest for number in range(60)]
    rows = []
    for slot, size in enumerate(sizes):
        rows.append((ALLOCATE, slot, size, 0))
        if slot % 3 == 0:
            rows.append((FREE, slot, 0, 0))
    rows += [(FREE, slot, 0, 0) for slot in range(len(sizes)) if slot % 3]
    return np.array(rows, dtype=np.uint32)


def replay(allocator: str, folder: Path, heap_bytes: int, built_for: int, largest: int) -> Replay:
    file = host_heap.write(operations(largest), folder / "operations")
    return host_heap.run(host_heap.build(allocator, built_for), file, heap_bytes)


@pytest.mark.parametrize("allocator", of_each_kind(["binary_buddy", "avl", "heap_4", "tlsf_compact"]))
def test_a_build_for_larger_regions_does_the_same_in_a_small_one(allocator: str, tmp_path: Path) -> None:
    small = replay(allocator, tmp_path, 65_536, 65_536, 1200)
    large = replay(allocator, tmp_path, 65_536, LARGEST_BYTES, 1200)
    assert not small.status.any()
    for name in ("status", "begin", "end", "largest_free"):
        assert np.array_equal(getattr(small, name), getattr(large, name))


def test_instructions_are_counted_of_the_last_operation(tmp_path: Path) -> None:
    """first_fit walks past all blocks that are too small: as many instructions for each."""
    counts = []
    program = host_heap.build("first_fit", 65_536)
    for blocks in (10, 20, 30):
        pairs = [(ALLOCATE, slot, 8 if slot % 2 else 40, 0) for slot in range(2 * blocks)]
        frees = [(FREE, slot, 0, 0) for slot in range(0, 2 * blocks, 2)]
        rows = [*pairs, *frees, (ALLOCATE, 2 * blocks, 100, 0)]
        file = host_heap.write(np.array(rows, dtype=np.uint32), tmp_path / "operations")
        counts.append(host_heap.count(program, file, 65_536))
    assert counts[1] - counts[0] == counts[2] - counts[1] >= 40
    file = host_heap.write(np.array([(ALLOCATE, 0, 8, 64)], dtype=np.uint32), tmp_path / "operations")
    with pytest.raises(HostHeapError, match="only a plain allocation or a free can be counted"):
        host_heap.count(program, file, 65_536)
    file = host_heap.write(np.array([(ALLOCATE, 0, 70_000, 0)] * 2, dtype=np.uint32), tmp_path / "operations")
    with pytest.raises(HostHeapError, match="an operation before the last is refused"):
        host_heap.count(program, file, 65_536)

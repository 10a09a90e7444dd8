"""The allocators over regions of any size: what they refuse, and that builds agree."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from base.files import results
from base.files.tests.sentences import is_sentence
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


@pytest.mark.parametrize("allocator", of_each_kind(["tlsf", "avl", "half_fit", "heap_2"]))
def test_eight_mebibytes_are_one_region(allocator: str, tmp_path: Path) -> None:
    result = replay(allocator, tmp_path, LARGEST_BYTES, LARGEST_BYTES, 100_000)
    assert not result.status.any()
    assert int(result.end.max()) > 1 << 20
    assert result.largest_free[0] > LARGEST_BYTES // 2 - 1


@pytest.mark.parametrize("allocator", ["heap_4"])
def test_a_retry_runs_after_a_refusal_only(allocator: str, tmp_path: Path) -> None:
    retry_and_last = ALLOCATE + 256 + 512
    rows = [
        *((ALLOCATE, 0, 40, 0), (retry_and_last, 0, 1, 0)),
        *((ALLOCATE, 1, 70_000, 0), (retry_and_last, 1, 8, 0)),
        *((ALLOCATE, 2, 70_000, 0), (retry_and_last, 2, 70_000, 0)),
        *((ALLOCATE, 3, 50, 0), (retry_and_last, 3, 1, 0)),
        *((FREE, slot, 0, 0) for slot in (3, 2, 1, 0)),
        (ALLOCATE, 3, 50, 0),
    ]
    file = host_heap.write(np.array(rows, dtype=np.uint32), tmp_path / "operations")
    result = host_heap.run(host_heap.build(allocator, 65_536), file, 65_536)
    ran, refused, skipped, nothing = 0, 1, host_heap.SKIPPED, host_heap.NOTHING_TO_FREE
    assert result.status.tolist() == [
        *(ran, skipped, refused, ran, refused, refused, skipped, skipped),
        *(nothing, nothing, ran, ran, ran),
    ]


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


def test_a_region_that_an_allocator_cannot_take_serves_nothing(tmp_path: Path) -> None:
    """tlsf_conte's lists alone take 1,340 bytes of the region."""
    file = host_heap.write(operations(8), tmp_path / "operations")
    program = host_heap.build("tlsf_conte", 1352)
    result = host_heap.run(program, file, 1352)
    assert set(result.status[operations(8)[:, 0] == ALLOCATE].tolist()) == {1}
    assert host_heap.serve(program, file, 64, 1352, stop=False) == [False] * 162
    assert any(host_heap.serve(program, file, 1360, 8192, stop=True))


@pytest.mark.parametrize(
    ("allocator", "heap_bytes", "says"),
    [
        ("tlsf_crate", 65_544, "65,536 bytes at most"),
        ("umm_malloc", 1 << 19, "262,144 bytes at most"),
        ("rlsf", 1 << 18, "131,072 bytes at most"),
        ("newlib", 65_536, "no host build"),
    ],
)
def test_what_cannot_be_says_so(allocator: str, heap_bytes: int, says: str) -> None:
    objection = host_heap.objection(allocator, heap_bytes)
    assert objection is not None
    assert says in objection
    assert is_sentence(objection, "*.")
    with pytest.raises(HostHeapError, match=re.escape(objection)):
        host_heap.build(allocator, heap_bytes)


@pytest.mark.parametrize("allocator", of_each_kind(["tlsf", "ublox_buddy", "heap_4", "o1heap"]))
def test_static_ram_is_that_of_the_footprint(allocator: str) -> None:
    published = {name: static_ram for name, _, static_ram, *_ in results.read("footprint")}
    program = host_heap.build(allocator, 65_536)
    assert host_heap.static_ram_bytes(program) == int(published[allocator])

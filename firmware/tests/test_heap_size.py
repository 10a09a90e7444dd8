"""The size of the region, a choice of the build: what fits the board, and what then runs there."""

from __future__ import annotations

import pytest

from base.run_folder.records import Boot, HeapRecord
from firmware.build import fit
from firmware.build import image as firmware
from firmware.build.cmake_build import BuildError
from firmware.heap.tests.host_build import of_each_kind
from firmware.tests.images import ALLOCATE, entry, image
from firmware.tests.symbols import symbol
from firmware.tests.test_on_virtual_nucleo import runner
from tests.sentences import Sentences
from tests.tables import table

SRAM_BYTES = 96 << 10
"""RM0368, section 2.3."""
THESIS_BYTES = 86_064
"""The heap of E. Auvinen's thesis (Tampere University 2022), the largest that a seed asks for."""
SLOTS_BESIDE_IT = 314
"""96 KiB less 9.5 KiB less the heap, by 8: (98,304 - 9,728 - 86,064) / 8."""

REQUEST_BYTES = 1000
REQUESTS = tuple(entry(ALLOCATE, slot, REQUEST_BYTES) for slot in range(100))

DEPENDENT = ("seglist", "binary_buddy", "dlmalloc", "heap_4", "newlib", "tlsf_conte")
"""One of each way to get the region: by address and size, as an array, by sbrk, by a constant."""


@pytest.mark.parametrize(
    ("heap_bytes", "slots"),
    [
        (4096, 2048),
        (65_536, 2048),
        (72_192, 2048),
        (72_200, 2047),
        (THESIS_BYTES, SLOTS_BESIDE_IT),
        (88_568, 1),
    ],
)
def test_the_heap_leaves_so_many_slots(heap_bytes: int, slots: int) -> None:
    assert fit.slots_beside(heap_bytes, SRAM_BYTES) == slots
    assert fit.largest_heap_bytes(slots, SRAM_BYTES) >= heap_bytes


@pytest.mark.parametrize("allocator", of_each_kind(DEPENDENT))
def test_a_heap_above_the_usual_is_used_whole(allocator: str) -> None:
    """83 blocks fit: each takes 1,024 bytes, or at most 1,008 where up to 1.5 KiB go to the
    allocator itself. 86 have more payload than the region, and 66 more than the usual one.
    """
    built = firmware.build(allocator, heap_bytes=THESIS_BYTES)
    assert built.elf.parent.name == f"{allocator}-heap={THESIS_BYTES}"
    assert built.configuration.heap_bytes == symbol(built.elf, "heap_region")[1] == THESIS_BYTES
    assert symbol(built.elf, "slots")[1] == 8 * SLOTS_BESIDE_IT
    done = runner(built.elf)(image(*REQUESTS, slots=len(REQUESTS)))
    assert done.only(Boot).heap_bytes == THESIS_BYTES
    assert done.only(HeapRecord).invariants_hold == 1
    served = sum(operation.kind == "A" for operation in done.operations)
    assert 83 <= served < 86


@table
def test_a_heap_that_cannot_be_is_refused(sentences: Sentences, allocator: str, heap_bytes: int) -> None:
    with sentences.raised(BuildError):
        firmware.build(allocator, heap_bytes=heap_bytes)

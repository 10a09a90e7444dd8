"""The constructions on this machine, at the scale of 8 MiB: x86 instructions, counted one by one.

The allocators' sources are those of the firmware, built for 32 bits (firmware/build/host_heap.py).
Published counts of this kind, by PTRACE on x86 too: M. Masmano, I. Ripoll, A. Crespo, "Timing and
spatial study of dynamic memory allocators" (slides).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from base.metrology.slope import fit_slope
from firmware.build import host_heap
from scenarios import catalogue
from scenarios.trace import of_steps
from studies.worst.matrix import Cell, Slope

HEAP_BYTES = 8 << 20
BLOCKS = {
    "list": 16_384,
    "bin": 4096,
    "halving_whole": 170,
    "tree": 1000,
    "trie": 13,
    "merge_whole": 170,
    "tree_merge": 1000,
    "trie_merge": 13,
    "filing": 16_384,
    "bin_filing": 4096,
}
"""Free blocks that fit the heap with every allocator. 16,384 and 1,000 are those of the slides, as
their counts divide. 8 MiB less 4 bytes are 682 times 256 units of 48 bytes, and 170 units.
"""
GROWING = ("list", "bin", "tree", "filing", "bin_filing")
"""Where the cost may grow with the number of blocks; on a way down a trie with its logarithm."""
_PARTS = (4, 2, 1)


def cell(construction: str, allocator: str, folder: Path) -> Cell:
    """One construction at full scale. Files go to `folder`. Raises HostHeapError."""
    blocks = BLOCKS.get(construction)
    return Cell(construction, allocator, blocks, _count(construction, blocks or 0, allocator, folder))


def slope(full: Cell, folder: Path) -> Slope:
    """The growth of the cost: at the full scale, and at a half and a quarter of its blocks."""
    assert full.blocks is not None
    blocks = [full.blocks // part for part in _PARTS]
    counts = [
        full.instructions
        if number == full.blocks
        else _count(full.construction, number, full.allocator, folder)
        for number in blocks
    ]
    x, y = np.array(blocks, dtype=np.float64), np.array(counts, dtype=np.float64)
    fitted = fit_slope(x - x.mean(), y - y.mean())
    return Slope(full.construction, full.allocator, tuple(blocks), fitted.value, fitted.residual_max)


def _count(construction: str, blocks: int, allocator: str, folder: Path) -> int:
    path = folder / f"{construction}-{blocks}.operations"
    if not path.exists():
        scenario = catalogue.load("worst", {"target": construction, "blocks": blocks})
        host_heap.write(of_steps(scenario.name, scenario.generator.steps()).operations, path)
    program = host_heap.build(allocator, HEAP_BYTES)
    return host_heap.count(program, path, HEAP_BYTES)

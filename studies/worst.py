"""Each allocator's own worst case, and everybody else on it: docs/reference/scenarios.md.

A cell is a construction of the generator `worst` on one allocator, on the virtual board or on this
machine at the scale of 8 MiB: there x86 instructions, counted one by one. The allocators' sources
are those of the firmware, built for 32 bits (firmware/build/host_heap.py). Published counts of this
kind, by PTRACE on x86 too: M. Masmano, I. Ripoll, A. Crespo, "Timing and spatial study of dynamic
memory allocators" (slides).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from base.files.errors import TailscopeError
from base.microseconds import digits
from base.text_table import TextTable, printed
from firmware.build import host_heap
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.generators.worst import ABSENT, CONSTRUCTIONS
from scenarios.trace import of_steps
from studies import sections

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
_ALLOCATORS_ACROSS = 7


class WorstError(TailscopeError):
    """A construction that an allocator did not run as it must."""


@dataclass(frozen=True)
class Cell:
    """One construction on one allocator. `blocks` is how many free blocks were built, None where
    that is no choice. `instructions` and `cycles`, by DWT, are of the critical section, `kind` is
    as in the OP record, and `pulse_ns` the width of CRIT. On this machine nothing but instructions
    counts.
    """

    construction: str
    allocator: str
    blocks: int | None
    instructions: int
    kind: str | None = None
    cycles: int | None = None
    probes: int | None = None
    pulse_ns: float | None = None

    @property
    def frees(self) -> bool:
        """True if a free is measured, not an allocation."""
        return CONSTRUCTIONS[self.construction].frees

    @property
    def cost(self) -> int:
        """The cost to judge by: cycles, or instructions without them."""
        return self.instructions if self.cycles is None else self.cycles


@dataclass(frozen=True)
class Slope:
    """Instructions for each further free block, fitted by least squares through runs with
    `blocks` of them.
    """

    construction: str
    allocator: str
    blocks: tuple[int, ...]
    instructions_per_block: float


def on_board(construction: str, allocator: str, blocks: int | None = None) -> Cell:
    """One construction on the virtual board. Raises BuildError, SimulatorError and WorstError."""
    of_blocks = CONSTRUCTIONS[construction].blocks
    number = blocks or (of_blocks[1] if of_blocks else None)
    parameters: dict[str, str | int] = {"target": construction, **({"blocks": blocks} if blocks else {})}
    scenario = catalogue.load("worst", parameters, stimulus="none")
    measured = sections.measure(firmware.build(allocator), scenario.compile().image)
    *setup, last = measured.rows(named=True)
    for operation in setup:
        if operation["kind"] not in "AF":
            raise WorstError(
                f"{allocator} does not serve the set-up: operation {operation['seq']} came out "
                f"{operation['kind']}; lower blocks."
            )
    names = ("instructions", "kind", "probes", "pulse_ns")
    return Cell(
        construction, allocator, number, cycles=last["critical_cycles"], **{n: last[n] for n in names}
    )


def on_host(construction: str, allocator: str, folder: Path) -> Cell:
    """One construction at full scale. Files go to `folder`. Raises HostHeapError."""
    blocks = BLOCKS.get(construction)
    return Cell(construction, allocator, blocks, _count(construction, blocks or 0, allocator, folder))


def slope(full: Cell, folder: Path) -> Slope:
    """The growth of the cost: at the full scale, and at a half and a quarter of its blocks."""
    assert full.blocks is not None
    blocks = [full.blocks // part for part in _PARTS]
    counts = [_count(full.construction, number, full.allocator, folder) for number in blocks]
    per_block, _ = np.polyfit(blocks, counts, 1)
    return Slope(full.construction, full.allocator, tuple(blocks), float(per_block))


def _count(construction: str, blocks: int, allocator: str, folder: Path) -> int:
    path = folder / f"{construction}-{blocks}.operations"
    if not path.exists():
        scenario = catalogue.load("worst", {"target": construction, "blocks": blocks})
        host_heap.write(of_steps(scenario.name, scenario.generator.steps()).operations, path)
    program = host_heap.build(allocator, HEAP_BYTES)
    return host_heap.count(program, path, HEAP_BYTES)


@dataclass(frozen=True)
class Matrix:
    """All cells, on the virtual board or on this machine, whose `platform` says where."""

    platform: str
    heap_bytes: int
    cells: tuple[Cell, ...]
    slopes: tuple[Slope, ...] = ()

    @property
    def allocators(self) -> list[str]:
        return list(dict.fromkeys(cell.allocator for cell in self.cells))

    def own_worst(self, allocator: str, frees: bool) -> Cell:
        """The costliest allocation of an allocator, or its costliest free."""
        return _costliest(cell for cell in self.cells if cell.allocator == allocator and cell.frees == frees)

    def is_own_worst(self, cell: Cell) -> bool:
        """True if its allocator pays more for no other construction of this kind."""
        return cell.cost == self.own_worst(cell.allocator, cell.frees).cost

    def is_most(self, cell: Cell) -> bool:
        """True if no allocator pays more for its construction."""
        return (
            cell.cost
            == _costliest(other for other in self.cells if other.construction == cell.construction).cost
        )

    def as_json(self) -> dict[str, Any]:
        """The document that docs/reference/heap-worst.md describes."""
        cells = [
            {
                **asdict(cell),
                "what": "free" if cell.frees else "allocate",
                "made_for": CONSTRUCTIONS[cell.construction].made_for,
                "worst_of_allocator": self.is_own_worst(cell),
                "worst_of_construction": self.is_most(cell),
            }
            for cell in self.cells
        ]
        absent = [{"construction": name, "why": why} for name, why in ABSENT.items()]
        return {**asdict(self), "cells": cells, "absent": absent}

    def as_text(self) -> str:
        """Tables of all cells, then each allocator's own worst."""
        on_board = self.cells[0].cycles is not None
        unit = (
            "cycles / instructions of one critical section" if on_board else "instructions of one operation"
        )
        every, tables = self.allocators, []
        for title, frees in (("worst allocation", False), ("worst free", True)):
            marks = {
                (cell.construction, cell.allocator): self._mark(cell)
                for cell in self.cells
                if cell.frees == frees
            }
            tables += _across(title, every, marks)
        slopes = {
            (slope.construction, slope.allocator): f"{slope.instructions_per_block:.2f}"
            for slope in self.slopes
        }
        return printed(
            [
                f"{self.platform}, a heap of {self.heap_bytes:,} bytes: {unit}",
                "* the allocator's own worst    ^ most of all allocators in this row",
                *tables,
                "",
                *(f"{name}: {why}." for name, why in ABSENT.items()),
                *(_across("instructions per free block", every, slopes) if slopes else ()),
                self._own(on_board),
            ]
        )

    def _mark(self, cell: Cell) -> str:
        own = "*" if self.is_own_worst(cell) else ""
        most = "^" if self.is_most(cell) else ""
        refused = " O" if cell.kind == "O" else ""
        cycles = "" if cell.cycles is None else f"{cell.cycles}/"
        return f"{own}{most}{cycles}{cell.instructions}{refused}"

    def _own(self, on_board: bool) -> TextTable:
        wire = ("cycles", "pulse µs") if on_board else ()
        worst = [self.own_worst(allocator, frees) for allocator in self.allocators for frees in (False, True)]
        lines = [
            (
                *(cell.allocator, "free" if cell.frees else "allocate", cell.construction),
                str(cell.instructions),
                *((str(cell.cycles), digits(cell.pulse_ns or 0)) if on_board else ()),
            )
            for cell in worst
        ]
        return TextTable("", ("own worst", "", "construction", "instructions", *wire), lines, range(3, 6))


def _costliest(cells: Iterable[Cell]) -> Cell:
    """The costliest cell; the first of equals."""
    return max(cells, key=lambda cell: cell.cost)


def _across(title: str, allocators: Sequence[str], cells: Mapping[tuple[str, str], str]) -> list[TextTable]:
    """Tables with a line for each construction and a column for each of some allocators."""
    tables = []
    for at in range(0, len(allocators), _ALLOCATORS_ACROSS):
        across = allocators[at : at + _ALLOCATORS_ACROSS]
        names = dict.fromkeys(construction for construction, _ in cells)
        lines = [(name, *(cells[name, each] for each in across)) for name in names]
        tables.append(TextTable("", (title, *across), lines, range(1, len(across) + 1)))
    return tables

"""Each allocator's own worst case, and everybody else on it: docs/reference/scenarios.md.

A cell is a construction of the generator `worst` on one allocator, on the virtual board or on this
machine at the scale of 8 MiB: there x86 instructions, counted one by one. The allocators' sources
are those of the firmware, built for 32 bits (firmware/build/host_heap.py). Published counts of this
kind, by PTRACE on x86 too: M. Masmano, I. Ripoll, A. Crespo, "Timing and spatial study of dynamic
memory allocators" (slides).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

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


@dataclass(frozen=True)
class Slope:
    """Instructions for each further free block, fitted by least squares through runs with
    `blocks` of them.
    """

    construction: str
    allocator: str
    blocks: Sequence[int]
    instructions_per_block: float


def on_board(construction: str, allocator: str, blocks: int | None = None) -> Cell:
    """One construction on the virtual board. Raises BuildError, SimulatorError and WorstError."""
    of_blocks = CONSTRUCTIONS[construction].blocks
    number = blocks or (of_blocks[1] if of_blocks else None)
    scenario = catalogue.load("worst", {"target": construction, "blocks": blocks or 0}, stimulus="none")
    measured = sections.measure(firmware.build(allocator), scenario.compile().image)
    for seq, kind in measured.select("seq", "kind")[:-1].rows():
        if kind not in "AF":
            raise WorstError(
                f"{allocator} does not serve the set-up: operation {seq} came out {kind}; lower blocks."
            )
    names = ("instructions", "kind", "critical_cycles", "probes", "pulse_ns")
    return Cell(construction, allocator, number, *measured.select(names).row(-1))


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
    return Slope(full.construction, full.allocator, blocks, float(per_block))


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
    cells: Sequence[Cell]
    slopes: Sequence[Slope] = ()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The cells, each with what it is of, and whether its allocator pays for no other
        construction more, and no other allocator more for its construction.
        """
        cells = [
            {
                **asdict(cell),
                "what": "free" if CONSTRUCTIONS[cell.construction].frees else "allocate",
                "made_for": CONSTRUCTIONS[cell.construction].made_for,
            }
            for cell in self.cells
        ]
        cost = pl.coalesce("cycles", "instructions")
        table = pl.DataFrame(cells, infer_schema_length=None).with_columns(
            worst_of_allocator=cost == cost.max().over("allocator", "what"),
            worst_of_construction=cost == cost.max().over("construction"),
        )
        return table.to_dicts()

    def as_json(self) -> dict[str, Any]:
        """The document that docs/reference/heap-worst.md describes."""
        absent = [{"construction": name, "why": why} for name, why in ABSENT.items()]
        return {**asdict(self), "cells": self.rows, "absent": absent}

    def as_text(self) -> str:
        """Tables of all cells, then each allocator's own worst, the first of equals."""
        on_board = self.cells[0].cycles is not None
        unit = (
            "cycles / instructions of one critical section" if on_board else "instructions of one operation"
        )
        headings = ["own worst", "", "construction", "instructions", *["cycles", "pulse µs"] * on_board]
        marks: dict[str, dict[tuple[str, str], str]] = {"allocate": {}, "free": {}}
        worst: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            allocator, what, construction = row["allocator"], row["what"], row["construction"]
            cycles = f"{row['cycles']}/" if on_board else ""
            marks[what][construction, allocator] = (
                f"{'*' * row['worst_of_allocator']}{'^' * row['worst_of_construction']}"
                f"{cycles}{row['instructions']}{' O' * (row['kind'] == 'O')}"
            )
            if row["worst_of_allocator"]:
                own = [allocator, what, construction, row["instructions"], row["cycles"]]
                own = [*map(str, own), digits(row["pulse_ns"] or 0)]
                worst.setdefault((allocator, what), own[: len(headings)])
        slopes = {
            (slope.construction, slope.allocator): f"{slope.instructions_per_block:.2f}"
            for slope in self.slopes
        }
        return printed(
            [
                f"{self.platform}, a heap of {self.heap_bytes:,} bytes: {unit}",
                "* the allocator's own worst    ^ most of all allocators in this row",
                *_across("worst allocation", marks["allocate"]),
                *_across("worst free", marks["free"]),
                "",
                *(f"{name}: {why}." for name, why in ABSENT.items()),
                *_across("instructions per free block", slopes),
                TextTable("", headings, [*worst.values()], range(3, 6)),
            ]
        )


def _across(title: str, cells: Mapping[tuple[str, str], str]) -> list[TextTable]:
    """Tables with a line for each construction and a column for each of some allocators."""
    tables = []
    constructions = dict.fromkeys(name for name, _ in cells)
    allocators = list(dict.fromkeys(name for _, name in cells))
    for at in range(0, len(allocators), _ALLOCATORS_ACROSS):
        across = allocators[at : at + _ALLOCATORS_ACROSS]
        lines = [(name, *(cells[name, each] for each in across)) for name in constructions]
        tables.append(TextTable("", (title, *across), lines, range(1, len(across) + 1)))
    return tables

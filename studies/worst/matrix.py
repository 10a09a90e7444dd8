"""The matrix: every construction of the generator `worst` on every allocator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from scenarios.generators.worst import ABSENT, CONSTRUCTIONS
from studies.worst.board import Measured


@dataclass(frozen=True)
class Cell:
    """One construction on one allocator. `blocks` is how many free blocks were built, None where
    that is no choice. `measured` is None on this machine, where nothing but instructions counts.
    """

    construction: str
    allocator: str
    blocks: int | None
    instructions: int
    measured: Measured | None = None

    @property
    def frees(self) -> bool:
        """True if a free is measured, not an allocation."""
        return CONSTRUCTIONS[self.construction].frees

    @property
    def cost(self) -> int:
        """The cost to judge by: cycles, or instructions without them."""
        return self.measured.cycles if self.measured else self.instructions


@dataclass(frozen=True)
class Slope:
    """Instructions for each further free block, fitted by least squares through runs with
    `blocks` of them. No run lies farther from the line than `residual_max` instructions.
    """

    construction: str
    allocator: str
    blocks: tuple[int, ...]
    instructions_per_block: float
    residual_max: float


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

    def cell(self, construction: str, allocator: str) -> Cell:
        """Raises StopIteration if there is none."""
        return next(
            cell for cell in self.cells if (cell.construction, cell.allocator) == (construction, allocator)
        )

    def is_own_worst(self, cell: Cell) -> bool:
        """True if its allocator pays more for no other construction of this kind."""
        return cell.cost == self.own_worst(cell.allocator, cell.frees).cost

    def is_most(self, cell: Cell) -> bool:
        """True if no allocator pays more for its construction."""
        return cell.cost == self.most_by(cell.construction).cost

    def own_worst(self, allocator: str, frees: bool) -> Cell:
        """The costliest allocation of an allocator, or its costliest free."""
        return _costliest(cell for cell in self.cells if cell.allocator == allocator and cell.frees == frees)

    def most_by(self, construction: str) -> Cell:
        """The allocator that pays most for a construction."""
        return _costliest(cell for cell in self.cells if cell.construction == construction)

    def as_json(self) -> dict[str, Any]:
        """The document that docs/reference/heap-worst.md describes."""
        return {
            "platform": self.platform,
            "heap_bytes": self.heap_bytes,
            "cells": [self._json(cell) for cell in self.cells],
            "slopes": [asdict(slope) for slope in self.slopes],
            "absent": [{"construction": name, "why": why} for name, why in ABSENT.items()],
        }

    def _json(self, cell: Cell) -> dict[str, Any]:
        construction = CONSTRUCTIONS[cell.construction]
        wire = asdict(cell.measured) if cell.measured else {}
        return {
            "construction": cell.construction,
            "what": "free" if cell.frees else "allocate",
            "made_for": construction.made_for,
            "allocator": cell.allocator,
            "blocks": cell.blocks,
            "instructions": cell.instructions,
            **{name: wire.get(name) for name in Measured.__dataclass_fields__ if name != "instructions"},
            "worst_of_allocator": self.is_own_worst(cell),
            "worst_of_construction": self.is_most(cell),
        }


def _costliest(cells: Iterable[Cell]) -> Cell:
    """The costliest cell; the first of equals."""
    return max(cells, key=lambda cell: cell.cost)


def constructions(frees: bool) -> Sequence[str]:
    """The names of those that measure a free, or of those that measure an allocation."""
    return [name for name, construction in CONSTRUCTIONS.items() if construction.frees == frees]

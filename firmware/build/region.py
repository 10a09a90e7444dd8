"""What of the board's SRAM the heap's region may take, and what an allocator takes of that region.

The rest of the SRAM is the same whatever allocator is linked. What an allocator takes, a constant
of the linked image tells.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from base.files.errors import TailscopeError
from base.heap_size import STEP_BYTES
from firmware.build.boards import Board
from scenarios.operations import entries_in
from scenarios.place import Place

BENCH_BYTES = 9_728
SLOT_BYTES = 8
"""Of a slot: an address and a size (bench/interpreter.c)."""
MOST_SLOTS = 2048


def slots_beside(heap_bytes: int, sram_bytes: int) -> int:
    """The slots of an image with such a region, at most MOST_SLOTS; none where it does not fit."""
    return max(0, min(MOST_SLOTS, (sram_bytes - BENCH_BYTES - heap_bytes) // SLOT_BYTES))


def largest_heap_bytes(slots: int, sram_bytes: int) -> int:
    """The largest region beside so many slots."""
    return (sram_bytes - BENCH_BYTES - SLOT_BYTES * slots) // STEP_BYTES * STEP_BYTES


def objection(heap_bytes: int, slots: int, scenario: str, board: Board) -> str | None:
    """Why a region and the slots of a scenario do not fit together; None if they do."""
    sram_bytes = board.memory.sram_bytes
    if slots <= slots_beside(heap_bytes, sram_bytes):
        return None
    return (
        f"A heap of {heap_bytes:,} bytes does not fit the {board.title} beside the {slots:,} slots of "
        f"{scenario}: it may have {largest_heap_bytes(slots, sram_bytes):,} bytes at most."
    )


def place(board: Board) -> Place:
    """What the board has for a scenario."""
    memory = board.memory
    return Place(
        memory.heap_bytes,
        entries_in(memory.operations_bytes),
        lambda heap_bytes: slots_beside(heap_bytes, memory.sram_bytes),
    )


_NAME = "allocator_overhead"
_LAYOUT = struct.Struct("<III")

CONSTANT_BYTES = _LAYOUT.size


class OverheadError(TailscopeError):
    """An image does not tell; the message says why."""


class Overhead(NamedTuple):
    """In bytes, as in heap/allocator.h."""

    heap: int
    """Of the region, once: what no block can use."""
    block: int
    """Beside the payload of each live block."""
    smallest_block: int
    """All that a request of one byte takes of the region."""


def read(elf: Path) -> Overhead:
    """The constant allocator_overhead of an image. Raises OverheadError."""
    try:
        with elf.open("rb") as file:
            content = _content(ELFFile(file))
    except (OSError, ELFError) as error:
        raise OverheadError(f"{elf} could not be read: {error}.") from None
    if content is None or len(content) != _LAYOUT.size:
        raise OverheadError(f"{elf} has no constant {_NAME} of {_LAYOUT.size} bytes.")
    return Overhead(*_LAYOUT.unpack(content))


def _content(image: ELFFile) -> bytes | None:
    symbols = image.get_section_by_name(".symtab")
    match = symbols.get_symbol_by_name(_NAME) if isinstance(symbols, SymbolTableSection) else None
    if not match:
        return None
    section = image.get_section(match[0]["st_shndx"])
    begin = match[0]["st_value"] - section["sh_addr"]
    content: bytes = section.data()[begin : begin + _LAYOUT.size]
    return content

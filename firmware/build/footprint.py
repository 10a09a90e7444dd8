"""What an allocator costs in flash, static RAM and bytes beside its blocks, from linked images.

`heap/footprint.c` is the root of an image that holds the allocator and nothing else: reset,
allocate, free and what they need, the C library's functions included.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from elftools.elf.sections import SymbolTableSection

from base.files import elf as elf_files
from base.files.errors import TailscopeError
from firmware.build import catalogue, packaged

if TYPE_CHECKING:
    from firmware.build.image import FirmwareImage

_FLASH = (".text", ".rodata", ".data")
_STATIC_RAM = (".data", ".bss")
_CONSTANT = "allocator_overhead"
_LAYOUT = struct.Struct("<III")


class FootprintError(TailscopeError):
    """An image could not be measured; the message says why."""


class Overhead(NamedTuple):
    """In bytes, as in heap/allocator.h."""

    heap: int
    """Of the region, once: what no block can use."""
    block: int
    """Beside the payload of each live block."""
    smallest_block: int
    """All that a request of one byte takes of the region."""


@dataclass(frozen=True)
class Footprint:
    """All in bytes. Flash and static RAM are those of the code; the region is not counted."""

    allocator: str
    flash: int
    static_ram: int
    heap_overhead: int
    """As Overhead has this and the other two."""
    block_overhead: int
    smallest_block: int


def of_image(image: FirmwareImage) -> Footprint:
    """What the image that was built beside a firmware tells. Raises FootprintError."""
    return _of_elf(image.elf.with_name(packaged.FOOTPRINT), image.sha256, image.allocator)


@lru_cache(maxsize=256)
def _of_elf(elf: Path, _sha256: str, allocator: str) -> Footprint:
    """The same of the ELF file beside a firmware with that digest."""
    sections = section_bytes(elf)
    return Footprint(
        allocator,
        sum(sections.get(name, 0) for name in _FLASH) - _LAYOUT.size,
        sum(sections.get(name, 0) for name in _STATIC_RAM),
        *overhead(elf),
    )


def overhead(elf: Path) -> Overhead:
    """The constant allocator_overhead of an image. Raises FootprintError."""
    content = b""
    with elf_files.opened(elf, FootprintError) as image:
        symbols = image.get_section_by_name(".symtab")
        match = symbols.get_symbol_by_name(_CONSTANT) if isinstance(symbols, SymbolTableSection) else None
        if match:
            section = image.get_section(match[0]["st_shndx"])
            content = section.data()[match[0]["st_value"] - section["sh_addr"] :][: _LAYOUT.size]
    if len(content) != _LAYOUT.size:
        raise FootprintError(f"{elf} has no constant {_CONSTANT} of {_LAYOUT.size} bytes.")
    return Overhead(*_LAYOUT.unpack(content))


def section_bytes(elf: Path) -> dict[str, int]:
    """Sizes of an image's sections by name, in bytes. Raises FootprintError."""
    with elf_files.opened(elf, FootprintError) as image:
        return {section.name: section["sh_size"] for section in image.iter_sections() if section.name}


def with_knobs(knobs: Set[str]) -> list[str]:
    """The allocators here that have all these knobs. Raises FootprintError if there is none."""
    rows = catalogue.allocators().items()
    allocators = [name for name, row in rows if not row.missing_checkout() and knobs <= row.knobs.keys()]
    if not allocators:
        raise FootprintError(
            f"No allocator has {' and '.join(sorted(knobs))}: `./lab list --json` shows them."
        )
    return allocators


def as_table(footprints: Iterable[Footprint]) -> str:
    """A table in Markdown."""
    head = "| allocator | flash | static RAM | of the region, once | beside a live block | smallest block |"
    rows = [
        f"| {row.allocator} | {row.flash:,} | {row.static_ram:,} | {row.heap_overhead:,} "
        f"| {row.block_overhead} | {row.smallest_block} |"
        for row in footprints
    ]
    return "\n".join([head, "|---|---:|---:|---:|---:|---:|", *rows])

"""What an allocator costs in flash, static RAM and bytes beside its blocks, from linked images.

`heap/footprint.c` is the root of an image that holds the allocator and nothing else: reset,
allocate, free and what they need, the C library's functions included.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from elftools.elf.sections import SymbolTableSection

from base.files import elf as elf_files
from base.files.errors import TailscopeError
from firmware.build import packaged

if TYPE_CHECKING:
    from firmware.build.image import FirmwareImage

_FLASH = (".text", ".rodata", ".data")
STATIC_RAM = (".data", ".bss")
_CONSTANT = "allocator_overhead"
_LAYOUT = struct.Struct("<III")


class FootprintError(TailscopeError):
    """An image could not be measured; the message says why."""


class Footprint(NamedTuple):
    """All in bytes. Flash and static RAM are those of the code; the region is not counted."""

    allocator: str
    flash: int
    static_ram: int
    heap_overhead: int
    """Of the region, once: what no block can use."""
    block_overhead: int
    """Beside the payload of each live block."""
    smallest_block: int
    """All that a request of one byte takes of the region."""


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
        sum(sections.get(name, 0) for name in STATIC_RAM),
        *overhead(elf),
    )


def overhead(elf: Path) -> tuple[int, int, int]:
    """The constant allocator_overhead of an image (heap/allocator.h): the last three of Footprint.

    Raises FootprintError.
    """
    content = b""
    with elf_files.opened(elf, FootprintError) as image:
        symbols = image.get_section_by_name(".symtab")
        match = symbols.get_symbol_by_name(_CONSTANT) if isinstance(symbols, SymbolTableSection) else None
        if match:
            section = image.get_section(match[0]["st_shndx"])
            content = section.data()[match[0]["st_value"] - section["sh_addr"] :][: _LAYOUT.size]
    if len(content) != _LAYOUT.size:
        raise FootprintError(f"{elf} has no constant {_CONSTANT} of {_LAYOUT.size} bytes.")
    in_heap, in_block, smallest_block = _LAYOUT.unpack(content)
    return in_heap, in_block, smallest_block


def section_bytes(elf: Path) -> dict[str, int]:
    """Sizes of an image's sections by name, in bytes. Raises FootprintError."""
    with elf_files.opened(elf, FootprintError) as image:
        return {section.name: section["sh_size"] for section in image.iter_sections() if section.name}

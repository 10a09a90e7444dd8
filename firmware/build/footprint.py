"""What an allocator costs in flash, static RAM and bytes beside its blocks, from linked images.

`heap/footprint.c` is the root of an image that holds the allocator and nothing else: reset,
allocate, free and what they need, the C library's functions included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from base.files.errors import TailscopeError
from firmware.build import catalogue, packaged, region
from firmware.build import image as firmware

_FLASH = (".text", ".rodata", ".data")
_STATIC_RAM = (".data", ".bss")

_KEPT = 256
"""Images that a process remembers."""


class FootprintError(TailscopeError):
    """An image could not be measured; the message says why."""


@dataclass(frozen=True)
class Footprint:
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


def measure(allocator: str, knobs: Mapping[str, int] | None = None) -> Footprint:
    """Builds the allocator's image and reads it. Raises TailscopeError."""
    return of_image(firmware.build(allocator, knobs=knobs))


def of_image(image: firmware.FirmwareImage) -> Footprint:
    """What the image that was built beside a firmware tells. Raises TailscopeError."""
    elf = image.elf.with_name(packaged.FOOTPRINT)
    try:
        digest = hashlib.sha256(elf.read_bytes()).digest()
    except OSError as error:
        raise FootprintError(f"{elf} could not be read: {error}. Build it again.") from None
    return _of_digest(digest, elf, image.allocator)


@lru_cache(maxsize=_KEPT)
def _of_digest(_sha256: bytes, elf: Path, allocator: str) -> Footprint:
    """The same of the ELF file with that digest."""
    sections = section_bytes(elf)
    taken = region.read(elf)
    return Footprint(
        allocator,
        flash=sum(sections.get(name, 0) for name in _FLASH) - region.CONSTANT_BYTES,
        static_ram=sum(sections.get(name, 0) for name in _STATIC_RAM),
        heap_overhead=taken.heap,
        block_overhead=taken.block,
        smallest_block=taken.smallest_block,
    )


def with_knobs(knobs: Collection[str]) -> tuple[str, ...]:
    """The allocators that have all these knobs. Raises FootprintError if there is none."""
    rows = catalogue.allocators()
    allocators = tuple(name for name in firmware.allocators() if set(knobs) <= set(rows[name].knobs))
    if not allocators:
        raise FootprintError(
            f"No allocator has {' and '.join(sorted(knobs))}: `./lab list --json` shows them."
        )
    return allocators


def section_bytes(elf: Path) -> dict[str, int]:
    """Sizes of an image's sections by name, in bytes. Raises FootprintError."""
    try:
        with elf.open("rb") as file:
            return {
                section.name: section["sh_size"] for section in ELFFile(file).iter_sections() if section.name
            }
    except (OSError, ELFError) as error:
        raise FootprintError(f"{elf} could not be read: {error}. Build it again.") from None


def as_table(footprints: Iterable[Footprint]) -> str:
    """A table in Markdown."""
    head = "| allocator | flash | static RAM | of the region, once | beside a live block | smallest block |"
    rows = [
        f"| {row.allocator} | {row.flash:,} | {row.static_ram:,} | {row.heap_overhead:,} "
        f"| {row.block_overhead} | {row.smallest_block} |"
        for row in footprints
    ]
    return "\n".join([head, "|---|---:|---:|---:|---:|---:|", *rows])

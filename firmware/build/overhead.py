"""What an allocator takes of its region, as the constant of a linked image tells it."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from base.files.errors import TailscopeError

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
    found = symbols.get_symbol_by_name(_NAME) if isinstance(symbols, SymbolTableSection) else None
    if not found:
        return None
    section = image.get_section(found[0]["st_shndx"])
    begin = found[0]["st_value"] - section["sh_addr"]
    content: bytes = section.data()[begin : begin + _LAYOUT.size]
    return content

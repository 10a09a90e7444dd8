"""Bounds of the loops in each allocator's critical section, as loops.toml states them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import RootModel, StringConstraints

from analysis.errors import NoBoundError
from base.files.complaints import WrongValueError, expecting
from base.files.documents import Document, open_toml

LOOPS_FILE = Path(__file__).resolve().parent / "loops.toml"

_UNLIMITED = "unlimited"
_FREE_BLOCKS = "free_blocks"
_TERM = rf"(?:\d{{1,9}}|{_FREE_BLOCKS}|[A-Z][A-Z0-9_]*)"

# firmware/heap/README.md: the least block that any index has, by the bytes of its header.
_SMALLEST_BLOCK_BYTES = {16: 16 + 8, 8: 8 + 8, 4: 4 + 12}

Sum = Annotated[
    str,
    StringConstraints(pattern=rf"^{_TERM}(?: *\+ *{_TERM})*$"),
    expecting("a sum of numbers, knobs and free_blocks in quotation marks"),
]
Stated = dict[str, dict[str, Sum]]


class _LoopsTable(RootModel[Stated]):
    """The whole file: a table for each allocator, with the bound of each function's loops."""


@dataclass
class Loops:
    """The loops of one image, `region_bytes` of heap in size.

    `region_decided` becomes true as soon as a bound depends on the size of the region.
    """

    allocator: str
    region_bytes: int
    knobs: Mapping[str, int]
    region_decided: bool = False
    file: Path = LOOPS_FILE

    @property
    def free_blocks(self) -> int:
        """The most free blocks that fit: of the blocks that fill the region, every other one.

        Two free neighbours would be one block.
        """
        smallest = _SMALLEST_BLOCK_BYTES[self.knobs.get("HDR", 16)]
        return (self.region_bytes // smallest + 1) // 2

    def passes(self, function: str) -> int:
        """How often the head of any loop in `function` is passed at most.

        Raises NoBoundError if loops.toml does not state it, or names a knob that the image lacks.
        """
        document, tables = _read(self.file)
        stated = tables.get(self.allocator, {})
        if function not in stated:
            raise NoBoundError(f"{function} has a loop of which no bound is stated.")
        limit = stated.get(_UNLIMITED)
        free = limit is not None and self.knobs.get(limit, 0) == 0
        total = 0
        for term in re.findall(_TERM, stated[function]):
            value = self._value(_FREE_BLOCKS if free and term == limit else term)
            if value is None:
                words = f"names {term}, which is no knob of the image"
                raise document.wrong(WrongValueError(words, self.allocator, function))
            total += value
        return total

    def _value(self, term: str) -> int | None:
        """The value of one term of a sum; None for a knob that the image does not have."""
        if term == _FREE_BLOCKS:
            self.region_decided = True
            return self.free_blocks
        return int(term) if term.isdecimal() else self.knobs.get(term)


@cache
def _read(file: Path) -> tuple[Document, Stated]:
    document = open_toml(file, NoBoundError)
    return document, document.check(_LoopsTable).root

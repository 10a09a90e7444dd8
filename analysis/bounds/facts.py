"""Bounds of the loops in each allocator's critical section, as loops.toml states them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, RootModel, StringConstraints

from analysis.errors import NoBoundError
from base.files.complaints import WrongValueError, expecting
from base.files.documents import Document, Table, open_toml

LOOPS_FILE = Path(__file__).resolve().parent / "loops.toml"

_FREE_BLOCKS = "free_blocks"
_TERM = rf"(?:\d{{1,9}}|{_FREE_BLOCKS}(?:/[1-9])?|[A-Z][A-Z0-9_]*)"
_OWN_HEADER = 16
"""Bytes of a header where the build has no knob for them."""

Sum = Annotated[
    str,
    StringConstraints(pattern=rf"^{_TERM}(?: *\+ *{_TERM})*$"),
    expecting("a sum of numbers, knobs and free_blocks in quotation marks"),
]


class _Blocks(Table):
    """The fewest bytes of a free block that a walk passes, and of what lies between two of them.

    `next` has the second fewest, where nothing lies between.
    """

    free: int = Field(gt=0)
    between: int = Field(ge=0)
    next: int = Field(default=0, ge=0)

    def most(self, region_bytes: int, live_blocks: int | None) -> int:
        """How many such blocks a region holds, if at most `live_blocks` are live at a time."""
        fit = (region_bytes + self.between) // (self.free + self.between)
        if live_blocks is None or fit <= live_blocks:
            return fit
        if self.between:
            return min(fit, live_blocks + 1)
        # One of the least is cut only while all of them are live.
        return live_blocks + (region_bytes - live_blocks * self.free) // max(self.next, self.free)


class _Allocator(Table):
    """What is known of one allocator's loops. `blocks` goes by the bytes of a header."""

    loops: dict[str, Sum]
    blocks: dict[str, _Blocks] = Field(default_factory=dict)
    unlimited: str | None = None
    untaken: dict[str, list[str]] = Field(default_factory=dict)


class _LoopsTable(RootModel[dict[str, _Allocator]]):
    """The whole file: a table for each allocator."""


_NOTHING = _Allocator(loops={})


@dataclass
class Loops:
    """The loops of one image, `region_bytes` of heap in size.

    `live_blocks` is the most blocks that can be live, None if only the region limits them.
    `region_decided` becomes true as soon as a bound depends on the size of the region.
    """

    allocator: str
    region_bytes: int
    knobs: Mapping[str, int]
    region_decided: bool = False
    file: Path = LOOPS_FILE
    live_blocks: int | None = None

    @property
    def free_blocks(self) -> int:
        """The most free blocks that a walk can pass: as many as fit with what lies between them.

        That is a live block: two free neighbours would be one block. Where neighbours are never
        merged nothing need lie between.
        """
        header = str(self.knobs.get("HDR", _OWN_HEADER))
        least = _read(self.file)[1].get(self.allocator, _NOTHING).blocks.get(header)
        if least is None:
            raise NoBoundError(f"loops.toml does not say how small blocks of {self.allocator} are.")
        return least.most(self.region_bytes, self.live_blocks)

    def passes(self, function: str, source: str = "") -> int:
        """How often the head of any loop in `function` is passed at most.

        `source` is the name of the file that the loop stands in: a function may have loops of
        others, which the compiler put into it.

        Raises NoBoundError if loops.toml does not state it, or names a knob that the image lacks.
        """
        document, tables = _read(self.file)
        table = tables.get(self.allocator, _NOTHING)
        by_source = any(key.startswith(f"{function} in ") for key in table.loops)
        key = f"{function} in {source}" if by_source else function
        if key not in table.loops:
            raise NoBoundError(f"{key} has a loop of which no bound is stated.")
        free = table.unlimited is not None and self.knobs.get(table.unlimited, 0) == 0
        total = 0
        for term in re.findall(_TERM, table.loops[key]):
            value = self._value(_FREE_BLOCKS if free and term == table.unlimited else term)
            if value is None:
                words = f"names {term}, which is no knob of the image"
                raise document.wrong(WrongValueError(words, self.allocator, "loops", key))
            total += value
        return total

    def untaken(self, facade: str) -> frozenset[str]:
        """The source lines, as `hole.rs:114`, whose branches are never taken within `facade`."""
        return frozenset(_read(self.file)[1].get(self.allocator, _NOTHING).untaken.get(facade, ()))

    def _value(self, term: str) -> int | None:
        """The value of one term of a sum; None for a knob that the image does not have."""
        if term.startswith(_FREE_BLOCKS):
            self.region_decided = True
            return self.free_blocks // int(term.removeprefix(_FREE_BLOCKS).lstrip("/") or 1)
        return int(term) if term.isdecimal() else self.knobs.get(term)


@cache
def _read(file: Path) -> tuple[Document, dict[str, _Allocator]]:
    document = open_toml(file, NoBoundError)
    return document, document.check(_LoopsTable).root

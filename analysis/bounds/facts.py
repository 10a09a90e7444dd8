"""What loops.toml says of the allocators' loops, for an image."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, StringConstraints

from analysis.errors import NoBoundError
from base.files.complaints import WrongValueError, expecting
from base.files.documents import Document, Table, open_toml

LOOPS_FILE = Path(__file__).resolve().parent / "loops.toml"

_FREE_BLOCKS, _SIZE_BITS = "free_blocks", "size_bits"
_KNOB = r"[A-Z][A-Z0-9_]*"
_TERM = rf"(?:\d{{1,9}}|{_SIZE_BITS}|(?:{_KNOB}\|)?{_FREE_BLOCKS}(?:/[1-9])?|{_KNOB})"
_OWN_HEADER = 16
"""Bytes of a header where the build has no knob for them."""
_UNIT_BYTES = 8
"""Sizes are multiples of it."""

Sum = Annotated[
    str,
    StringConstraints(pattern=rf"^{_TERM}(?: *\+ *{_TERM})*$"),
    expecting("a sum of numbers, knobs, size_bits and free_blocks in quotation marks"),
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


class _Said(Table):
    """What is said of some allocators. `blocks` goes by the bytes of a header."""

    names: Annotated[list[str], Field(min_length=1)]
    loops: dict[str, Sum]
    blocks: dict[str, _Blocks] = Field(default_factory=dict)
    never: dict[str, list[str]] = Field(default_factory=dict)
    why: Annotated[str, Field(min_length=1)]


class _File(Table):
    allocators: list[_Said] = Field(default_factory=list)


@dataclass(frozen=True)
class Loops:
    """The loops of one image, `region_bytes` of heap in size.

    `live_blocks` is the most blocks that can be live, None if only the region limits them.
    """

    allocator: str
    region_bytes: int
    knobs: Mapping[str, int]
    live_blocks: int | None = None
    file: Path = LOOPS_FILE

    @property
    def free_blocks(self) -> int:
        """The most free blocks that a walk can pass: as many as fit with what lies between them.

        That is a live block: two free neighbours would be one block. Where neighbours are never
        merged nothing need lie between.
        """
        header = str(self.knobs.get("HDR", _OWN_HEADER))
        for _, said in self._said():
            if header in said.blocks:
                return said.blocks[header].most(self.region_bytes, self.live_blocks)
        raise NoBoundError(f"{self.file.name} does not say how small blocks of {self.allocator} are.")

    def passes(self, function: str, lines: set[str]) -> int | None:
        """How often the head of a loop is passed at most, by its function and its source lines: the
        greatest of what is said of it; None if nothing is.

        Raises NoBoundError if a knob is named that the image lacks.
        """
        said = [self._value_of(value) for value in self._sums(function) if value.fits(lines)]
        return max(said, default=None)

    def grows(self, function: str) -> bool:
        """Whether a loop of the function grows in proportion to the region."""
        return any(self._by_region(term) for said in self._sums(function) for term in said.terms)

    def never(self, facade: str) -> frozenset[str]:
        """The source lines, as `hole.rs:114`, whose branches are never taken within `facade`."""
        return frozenset(line for _, said in self._said() for line in said.never.get(facade, ()))

    def _said(self) -> list[tuple[int, _Said]]:
        said = enumerate(_read(self.file)[1].allocators)
        return [(number, entry) for number, entry in said if self.allocator in entry.names]

    def _sums(self, function: str) -> Iterator[_Sum]:
        """What is said of the loops of a function."""
        for number, said in self._said():
            for key, words in said.loops.items():
                name, _, source = key.partition(" in ")
                if name == function:
                    yield _Sum(number, key, source, re.findall(_TERM, words))

    def _value_of(self, said: _Sum) -> int:
        total = 0
        for term in said.terms:
            value = self._value(term)
            if value is None:
                words = f"names {term}, which is no knob of the image"
                place = ("allocators", said.number, "loops", said.key)
                raise _read(self.file)[0].wrong(WrongValueError(words, *place))
            total += value
        return total

    def _by_region(self, term: str) -> bool:
        """Whether the free blocks decide: a knob before them does, unless it is 0."""
        knob, _, _ = term.rpartition("|")
        return _FREE_BLOCKS in term and not self.knobs.get(knob, 0)

    def _value(self, term: str) -> int | None:
        """The value of one term of a sum; None for a knob that the image does not have."""
        if term == _SIZE_BITS:
            return (self.region_bytes // _UNIT_BYTES).bit_length()
        knob, _, blocks = term.rpartition("|")
        if self._by_region(term):
            return self.free_blocks // int(blocks.removeprefix(_FREE_BLOCKS).lstrip("/") or 1)
        return int(term) if term.isdecimal() else self.knobs.get(knob or term)


class _Sum(NamedTuple):
    """An entry of `loops`: of which table, its key, the file that it names, and its terms."""

    number: int
    key: str
    source: str
    terms: list[str]

    def fits(self, lines: set[str]) -> bool:
        return not self.source or any(line.startswith(f"{self.source}:") for line in lines)


@cache
def _read(file: Path) -> tuple[Document, _File]:
    document = open_toml(file, NoBoundError)
    return document, document.check(_File)

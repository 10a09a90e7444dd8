"""The bounds of a built image: one for the critical section of each of the heap's functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from analysis.bounds import costs
from analysis.bounds.costs import APB_DIVIDER, Costs, Memory
from analysis.bounds.graph import Disassembler
from analysis.bounds.loops import Stated
from analysis.bounds.sections import Sections
from analysis.errors import ExplainError, NoBoundError
from analysis.explain.program import Program
from base.files.complaints import WrongValueError, expecting
from base.files.documents import Document, Table, open_toml
from base.files.remembered import remembered
from base.run_folder.manifest import SectionBound
from base.run_folder.records import Boot
from firmware.build.image import FirmwareImage
from simulator.board_note import chip_of

# What loops.toml says of the allocators' loops, for an image.


LOOPS_FILE = Path(__file__).resolve().parent / "loops.toml"

_FREE_BLOCKS, _SIZE_BITS = "free_blocks", "size_bits"
_KNOB = r"[A-Z][A-Z0-9_]*"
_TERM = rf"(?:\d{{1,9}}|{_SIZE_BITS}|(?:{_KNOB}\|)?{_FREE_BLOCKS}(?:/[1-9])?|{_KNOB})"
_OWN_HEADER = 16
"""Bytes of a header where the build has no knob for them."""
_UNIT_BYTES = 8
"""Sizes are multiples of it."""

_Place = tuple[str | int, ...]
"""Of a value in the file: its keys, and its numbers in lists."""

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
        values = [
            self._value_of(terms, place)
            for place, source, terms in self._sums(function)
            if not source or any(line.startswith(f"{source}:") for line in lines)
        ]
        return max(values, default=None)

    def grows(self, function: str) -> bool:
        """Whether a loop of the function grows in proportion to the region."""
        return any(self._by_region(term) for _, _, terms in self._sums(function) for term in terms)

    def never(self, facade: str) -> frozenset[str]:
        """The source lines, as `hole.rs:114`, whose branches are never taken within `facade`."""
        return frozenset(line for _, said in self._said() for line in said.never.get(facade, ()))

    def _said(self) -> list[tuple[int, _Said]]:
        said = enumerate(_read(self.file)[1].allocators)
        return [(number, entry) for number, entry in said if self.allocator in entry.names]

    def _sums(self, function: str) -> Iterator[tuple[_Place, str, list[str]]]:
        """What is said of the loops of a function: where, for loops of which source file, if one is
        named, and the terms.
        """
        for number, said in self._said():
            for key, words in said.loops.items():
                name, _, source = key.partition(" in ")
                if name == function:
                    yield ("allocators", number, "loops", key), source, re.findall(_TERM, words)

    def _value_of(self, terms: list[str], place: _Place) -> int:
        total = 0
        for term in terms:
            knob, _, blocks = term.rpartition("|")
            value = int(term) if term.isdecimal() else self.knobs.get(knob or term)
            if term == _SIZE_BITS:
                value = (self.region_bytes // _UNIT_BYTES).bit_length()
            elif self._by_region(term):
                value = self.free_blocks // int(blocks.removeprefix(_FREE_BLOCKS).lstrip("/") or 1)
            if value is None:
                words = f"names {term}, which is no knob of the image"
                raise _read(self.file)[0].wrong(WrongValueError(words, *place))
            total += value
        return total

    def _by_region(self, term: str) -> bool:
        """Whether the free blocks decide: a knob before them does, unless it is 0."""
        knob, _, _ = term.rpartition("|")
        return _FREE_BLOCKS in term and not self.knobs.get(knob, 0)


@cache
def _read(file: Path) -> tuple[Document, _File]:
    document = open_toml(file, NoBoundError)
    return document, document.check(_File)


FACADES = {
    "allocate": "heap_allocate",
    "allocate_aligned": "heap_allocate_aligned",
    "free": "heap_free",
}

BEGIN, END = "heap_port_critical_begin", "heap_port_critical_end"
FLASH = range(0x0800_0000, 0x0808_0000)

_SUSPENDED = "uxSchedulerSuspended"
"""FreeRTOS counts here how often its scheduler is suspended; xTaskResumeAll() goes by it."""

_SCHEDULER = (
    "Interrupts are served inside a section that only suspends the scheduler: it has no bound of its own."
)


def bounds_of(image: FirmwareImage, _boot: Boot | None = None) -> dict[str, SectionBound]:
    """The bound of each of FACADES on the image's board; where there is none it says why. They
    follow from the image alone: what the firmware says of itself may be damaged and is not looked
    at. They take a while, and are remembered. Raises BoardError.
    """
    built = image.configuration
    if built.locking == "scheduler":
        return {name: _none(_SCHEDULER) for name in FACADES}
    clock = built.board.clock
    divider = max(clock.apb1_divider, clock.apb2_divider)

    def computed() -> dict[str, Any]:
        section_bounds = code_bounds(
            image.elf, image.allocator, built.knobs, built.flash_acr, apb_divider=divider
        )
        return {name: bound.model_dump() for name, bound in section_bounds.items()}

    words = (image.sha256, image.allocator, repr(built.knobs), repr(built.flash_acr), repr(divider))
    own = Path(__file__).parent
    code = [*(path for path in own.iterdir() if path.is_file()), own.parent / "explain" / "program.py"]
    of = [word.encode() for word in (*words, version("capstone"))]
    content = remembered("bounds", of, code, computed)
    return {name: SectionBound(**bound) for name, bound in content.items()}


def code_bounds(
    elf: Path,
    allocator: str,
    knobs: Mapping[str, int],
    flash_acr: int | None = None,
    live_blocks: int | None = None,
    apb_divider: int = APB_DIVIDER,
) -> dict[str, SectionBound]:
    """The bound of the code of each of FACADES, where FLASH_ACR has that value; without, whatever
    of the accelerator is on. Interrupts that a lock lets in do not count. With `live_blocks` no
    more blocks are ever live.
    """
    try:
        program = Program(elf)
    except ExplainError as error:
        return {name: _none(str(error)) for name in FACADES}
    loops = Loops(allocator, program.data_size("heap_region"), knobs, live_blocks=live_blocks)
    memories = costs.of_options(chip_of(elf))
    of_flash = Costs(memories=memories)
    if flash_acr is not None:
        of_flash = Costs.of_flash(flash_acr, Memory.SRAM, memories)
    # The heap hands out aligned blocks, and its own fields are words.
    marked = _Marked(program, loops, replace(of_flash, apb_divider=apb_divider, aligned=True))
    return {name: marked.bound(facade) for name, facade in FACADES.items()}


@dataclass(eq=False)
class _Marked:
    """Bounds of what lies between the markers."""

    program: Program
    loops: Loops
    costs: Costs
    _engines: dict[tuple[frozenset[str], Memory, bool], Sections] = field(default_factory=dict)

    def bound(self, facade: str) -> SectionBound:
        """The bound of the section in `facade`; if there is none it says why."""
        try:
            functions = [self.program.function(name) for name in (facade, BEGIN, END)]
            if not all(functions):
                raise NoBoundError(f"The image has no {facade} with markers.")
            entry, begin, end = (function.address for function in functions if function)
            # Instructions first: that takes little, and tells why there is no bound.
            engine = self._engine(facade, Memory.SRAM, counts=True)
            count = engine.marked(entry, begin, end)
            if count.why_not:
                raise NoBoundError(min(count.why_not))
            called = engine.called_between(entry, begin, end)
            price = self._engine(facade, self._memory(called)).marked(entry, begin, end)
            if price.why_not:
                raise NoBoundError(min(price.why_not))
        except (ExplainError, NoBoundError) as error:
            return _none(str(error))
        return SectionBound(
            instructions=count.cycles,
            cycles=price.cycles,
            region_decided=any(
                self.loops.grows(function.name)
                for function in map(self.program.function_at, called)
                if function
            ),
            why_not=None,
        )

    def _engine(self, facade: str, memory: Memory, counts: bool = False) -> Sections:
        """All sections that are seen with the same assumptions share what is found."""
        never = self.loops.never(facade)
        key = (never, memory, counts)
        if key not in self._engines:
            stated = Stated(passes=self.loops.passes, never=never)
            cell = self.program.variable(_SUSPENDED)
            costs = replace(self.costs, unknown=memory, counts=counts)
            self._engines[key] = Sections(self.program, () if cell is None else (cell,), stated, costs)
        return self._engines[key]

    def _memory(self, entries: Iterable[int]) -> Memory:
        """What a pointer may go to of which nothing is known: the heap lies in the SRAM, but a
        function that has the address of constants may load from the flash.
        """
        disassembler = Disassembler(self.program)
        for entry in entries:
            for code in disassembler.flow(entry).instructions.values():
                if code.text.startswith("movt"):
                    names = int(code.text.rpartition("#")[2], 0) << 16 in FLASH
                elif code.literal is None:
                    names = code.text.startswith("adr")
                else:
                    word = int.from_bytes(self.program.code(code.literal, 4), "little")
                    # Odd addresses are those of functions.
                    names = word in FLASH and word % 2 == 0
                if names:
                    return Memory.FLASH
        return Memory.SRAM


def _none(why_not: str) -> SectionBound:
    return SectionBound(instructions=None, cycles=None, region_decided=False, why_not=why_not)

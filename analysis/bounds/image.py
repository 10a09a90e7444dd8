"""The bounds of a built image: one for the critical section of each of the heap's functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import capstone

from analysis.bounds import flash_lines
from analysis.bounds.costs import APB_DIVIDER, Costs, Memory
from analysis.bounds.counted import Counted
from analysis.bounds.facts import Loops
from analysis.bounds.graph import Disassembler, Instruction
from analysis.bounds.price import Price
from analysis.bounds.sections import Sections
from analysis.bounds.statements import Stated
from analysis.errors import ExplainError, NoBoundError
from analysis.explain.program import Program
from base.files.remembered import remembered
from base.run_folder.manifest import SectionBound
from base.run_folder.records import Boot
from firmware.build import boards
from firmware.build.image import FirmwareImage
from simulator.board_note import chip_of

FACADES = {
    "allocate": "heap_allocate",
    "allocate_aligned": "heap_allocate_aligned",
    "free": "heap_free",
}

BEGIN, END = "heap_port_critical_begin", "heap_port_critical_end"
FLASH = range(0x0800_0000, 0x0808_0000)

_SUSPENDED = "uxSchedulerSuspended"
"""FreeRTOS counts here how often its scheduler is suspended; xTaskResumeAll() goes by it."""

_KEPT = 256
"""Images whose bounds a process remembers."""

_SCHEDULER = (
    "Interrupts are served inside a section that only suspends the scheduler: it has no bound of its own."
)


def bounds_of_run(image: FirmwareImage, _boot: Boot) -> dict[str, SectionBound]:
    """The bounds of an image. What the firmware says of itself may be
    damaged and is not looked at.
    """
    return bounds_of_image(image)


def bounds_of_image(image: FirmwareImage) -> dict[str, SectionBound]:
    """The bounds of a built image, by function. They are computed once."""
    built = image.configuration
    return dict(
        _of_digest(
            image.sha256,
            image.elf,
            image.allocator,
            built.locking,
            tuple(built.knobs.items()),
            built.flash_acr,
            built.board,
        )
    )


@lru_cache(maxsize=_KEPT)
def _of_digest(
    sha256: str,
    elf: Path,
    allocator: str,
    locking: str,
    knobs: tuple[tuple[str, int], ...],
    flash_acr: int,
    board: str,
) -> dict[str, SectionBound]:
    """The bounds of the ELF file with that digest: they follow from it alone, and take a while."""
    of = (sha256, allocator, locking, repr(knobs), repr(flash_acr), board, capstone.__version__)

    def computed() -> dict[str, Any]:
        section_bounds = bounds_of(elf, allocator, locking, dict(knobs), flash_acr, board)
        return {name: bound.model_dump() for name, bound in section_bounds.items()}

    content = remembered("bounds", [word.encode() for word in of], _code(), computed)
    return {name: SectionBound(**bound) for name, bound in content.items()}


def _code() -> list[Path]:
    """The files that decide a bound."""
    here = Path(__file__).parent
    return [*(path for path in here.iterdir() if path.is_file()), here.parent / "explain" / "program.py"]


def bounds_of(
    elf: Path,
    allocator: str,
    locking: str,
    knobs: Mapping[str, int],
    flash_acr: int | None = None,
    board: str = boards.DEFAULT,
) -> dict[str, SectionBound]:
    """The bound of each of FACADES on `board`, where FLASH_ACR has that value; without, whatever of
    the accelerator is on. Where there is no bound it says why. Raises BoardError.
    """
    on = boards.board(board)
    if locking == "scheduler":
        return {name: _none(_SCHEDULER) for name in FACADES}
    divider = max(on.clock.apb1_divider, on.clock.apb2_divider)
    return code_bounds(elf, allocator, knobs, flash_acr, apb_divider=divider)


def code_bounds(
    elf: Path,
    allocator: str,
    knobs: Mapping[str, int],
    flash_acr: int | None = None,
    live_blocks: int | None = None,
    apb_divider: int = APB_DIVIDER,
) -> dict[str, SectionBound]:
    """The same of the section's own code: interrupts that a lock lets in do not count.

    With `live_blocks` no more blocks are ever live.
    """
    try:
        program = Program(elf)
    except ExplainError as error:
        return {name: _none(str(error)) for name in FACADES}
    loops = Loops(allocator, program.data_size("heap_region"), knobs, live_blocks=live_blocks)
    marked = _Marked(elf, program, loops, flash_acr, apb_divider)
    return {name: marked.bound(facade) for name, facade in FACADES.items()}


class _Marked:
    """Bounds of what lies between the markers."""

    def __init__(
        self, elf: Path, program: Program, loops: Loops, flash_acr: int | None, apb_divider: int
    ) -> None:
        self._program = program
        self._flash_acr = flash_acr
        self._apb_divider = apb_divider
        self._memories = flash_lines.of_options(chip_of(elf))
        self._loops = loops
        self._disassembler = Disassembler(program)
        self._known: dict[tuple[frozenset[str], Memory], tuple[Sections, Counted]] = {}

    def bound(self, facade: str) -> SectionBound:
        """The bound of the section in `facade`; if there is none it says why."""
        try:
            return self._bound(facade)
        except (ExplainError, NoBoundError) as error:
            return _none(str(error))

    def _bound(self, facade: str) -> SectionBound:
        functions = [self._program.function(name) for name in (facade, BEGIN, END)]
        if not all(functions):
            raise NoBoundError(f"The image has no {facade} with markers.")
        places = [function.address for function in functions if function]
        # Instructions first: that takes little, and tells what is called, or why there is no bound.
        count = self._engine(facade, Memory.SRAM)[1].marked(*places)
        price = self._price(facade, self._memory(count.functions), *places)
        names = {function.name for function in map(self._program.function_at, count.functions) if function}
        return SectionBound(
            instructions=count.instructions,
            cycles=price.cycles,
            region_decided=any(map(self._loops.grows, names)),
            why_not=None,
        )

    def _price(self, facade: str, memory: Memory, entry: int, begin: int, end: int) -> Price:
        price = self._engine(facade, memory)[0].marked(entry, begin, end)
        for why_not in sorted(price.why_not):
            raise NoBoundError(why_not)
        return price

    def _engine(self, facade: str, memory: Memory) -> tuple[Sections, Counted]:
        """All sections that are seen with the same assumptions share what is found."""
        never = self._loops.never(facade)
        if (never, memory) not in self._known:
            stated_loops = Stated(passes=self._loops.passes, never=never)
            acr = self._flash_acr
            costs = (
                Costs(unknown=memory, memories=self._memories)
                if acr is None
                else Costs.of_flash(acr, memory, self._memories)
            )
            # The heap hands out aligned blocks, and its own fields are words.
            costs = replace(costs, apb_divider=self._apb_divider, aligned=True)
            cells = [cell for cell in (self._program.variable(_SUSPENDED),) if cell is not None]
            sections = Sections(self._program, cells, stated_loops, costs)
            self._known[never, memory] = sections, Counted(sections)
        return self._known[never, memory]

    def _memory(self, entries: frozenset[int]) -> Memory:
        """What a pointer may go to of which nothing is known: the heap lies in the SRAM, but a
        function that has the address of constants may load from the flash.
        """
        codes = (code for entry in entries for code in self._disassembler.flow(entry).instructions.values())
        return Memory.FLASH if any(map(self._names_constants, codes)) else Memory.SRAM

    def _names_constants(self, code: Instruction) -> bool:
        if code.text.startswith("movt"):
            return int(code.text.rpartition("#")[2], 0) << 16 in FLASH
        if code.literal is None:
            return code.text.startswith("adr")
        word = int.from_bytes(self._program.code(code.literal, 4), "little")
        # Odd addresses are those of functions.
        return word in FLASH and word % 2 == 0


def _none(why_not: str) -> SectionBound:
    return SectionBound(instructions=None, cycles=None, region_decided=False, why_not=why_not)

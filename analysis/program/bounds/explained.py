"""The longest path of one section: its instructions, how often they are passed, what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from analysis.bounds.parts import Frame, Spent, frames, parts
from analysis.errors import NoBoundError
from analysis.program.bounds.measure import Bounded, BoundsReport
from analysis.program.parts import Hidden
from analysis.program.places import Place
from base.files.errors import near_miss

LONGEST = "1"
"""The word for the section that has the greatest bound."""
ENTRY = "entry and return of the handler"
WAY = "only the way back from the call"
_LEAST_SHARE = 0.002
"""Calls that take less of a bound are in no tree; Explained.calls has them."""
REST = "what its blocks do not tell"


@dataclass(frozen=True)
class Code:
    """An instruction, and the source line that it is of; empty if nothing tells that."""

    address: int
    text: str
    line: str


@dataclass(frozen=True)
class Block:
    """Instructions in a row, passed so often: together they take so many cycles, with the ways on
    from them. What is no code of the program has no instructions; `function` says what it is.
    """

    NAMES: ClassVar = {"code": "instructions"}
    function: str
    passes: int
    cycles: int
    share: float
    code: tuple[Code, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Its source lines, in order."""
        return tuple(dict.fromkeys(code.line for code in self.code if code.line))


@dataclass(frozen=True)
class Call:
    """That a function calls another so often on the path; `cycles` are those in between."""

    caller: str
    line: str
    callee: str
    times: int
    cycles: int


@dataclass(frozen=True)
class Explained:
    """What the bound of `section` is made of, the most cycles first. The blocks' sum is the
    bound. `frames` has its calls as a tree, but for those of few cycles.
    """

    NAMES: ClassVar = {"cycles": "bound_cycles"}
    section: Hidden[Bounded]
    begin: Place
    cycles: int
    blocks: tuple[Block, ...]
    calls: tuple[Call, ...]
    frames: Hidden[tuple[Frame, ...]] = ()


def explain(report: BoundsReport, which: str) -> Explained:
    """The longest path of one row: of the n-th longest by its number, or by a place: its function,
    `file.c:12`, or an address. Of several at a place it is the longest. Raises NoBoundError.
    """
    section = _chosen(report, which)
    if section.cycles is None:
        raise NoBoundError(
            f"--explain {which}: {section.kind} of {section.function} has no bound, so it has no longest "
            "path."
        )
    return of_row(report, section)


def of_row(report: BoundsReport, section: Bounded) -> Explained:
    """That of a row with a bound."""
    elf, spent = report.subject.elf, parts(section.path)
    total = sum(part.cycles for part in spent.blocks) + section.entry_cycles

    def block(part: Spent) -> Block:
        code = tuple(
            Code(instruction.address, instruction.text, elf.source_line(instruction.address))
            for instruction in part.instructions
        )
        words = "" if part.passes else f": {WAY if code else REST}"
        return Block(f"{part.function}{words}", part.passes, part.cycles, part.cycles / max(total, 1), code)

    blocks = [block(part) for part in spent.blocks]
    if own := section.entry_cycles:
        blocks.append(Block(ENTRY, 1, own, own / total, ()))
    calls = tuple(
        Call(
            call.caller,
            elf.source_line(call.address) or elf.place(call.address),
            elf.place(call.entry),
            call.times,
            call.cycles,
        )
        for call in spent.calls
    )
    tree = frames(section.path, int((section.cycles or 0) * _LEAST_SHARE))
    ordered = tuple(sorted(blocks, key=lambda part: -part.cycles))
    return Explained(section, section.begin, total, ordered, calls, tree)


def _chosen(report: BoundsReport, which: str) -> Bounded:
    bounded = sorted(report.bounded, key=lambda row: -(row.cycles or 0))
    if which.isascii() and which.isdecimal():
        if not 0 < int(which) <= len(bounded):
            raise NoBoundError(f"--explain {which}: {len(bounded)} have a bound; 1 is the longest.")
        return bounded[int(which) - 1]
    rows = [*bounded, *report.unbounded]
    for row in rows:
        if which in _names(row):
            return row
    near = near_miss(which, [name for row in rows for name in _names(row)])
    raise NoBoundError(
        f"--explain {which[:80]}: nothing of that place holds interrupts off; give a function, file.c:12, "
        f"an address, or the number of a row, 1 for the longest.{near}"
    )


def _names(section: Bounded) -> tuple[str, ...]:
    """The words that a row goes by."""
    places = [place for place in (section.begin, section.caller) if place is not None]
    words = (word for at in places for word in (at.function, at.source, f"{at.address:#010x}"))
    return tuple(filter(None, (section.function, *words)))

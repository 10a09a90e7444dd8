"""The longest path of one section: its instructions, how often they are passed, what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.bounds.parts import Frame, Spent, frames, parts
from analysis.errors import NoBoundError
from analysis.program.bounds.measure import Bounded, BoundsReport
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

    function: str
    passes: int
    cycles: int
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

    section: Bounded
    blocks: tuple[Block, ...]
    calls: tuple[Call, ...]
    frames: tuple[Frame, ...] = ()

    @property
    def cycles(self) -> int:
        return sum(block.cycles for block in self.blocks)

    def share(self, cycles: int) -> float:
        """Of the bound."""
        return cycles / self.cycles if self.cycles else 0.0


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
    spent = parts(section.path)
    blocks = [_block(report, part) for part in spent.blocks]
    if section.entry_cycles:
        blocks.append(Block(ENTRY, 1, section.entry_cycles, ()))
    calls = tuple(
        Call(
            call.caller,
            report.code.source_line(call.address) or report.code.place(call.address),
            report.code.place(call.entry),
            call.times,
            call.cycles,
        )
        for call in spent.calls
    )
    tree = frames(section.path, int((section.cycles or 0) * _LEAST_SHARE))
    return Explained(section, tuple(sorted(blocks, key=lambda part: -part.cycles)), calls, tree)


def _block(report: BoundsReport, part: Spent) -> Block:
    code = tuple(
        Code(instruction.address, instruction.text, report.code.source_line(instruction.address))
        for instruction in part.instructions
    )
    words = "" if part.passes else f": {WAY if code else REST}"
    return Block(f"{part.function}{words}", part.passes, part.cycles, code)


def _chosen(report: BoundsReport, which: str) -> Bounded:
    bounded = sorted(
        (bound for bound in report.all if bound.cycles is not None), key=lambda bound: -(bound.cycles or 0)
    )
    if which.isascii() and which.isdecimal():
        if not 0 < int(which) <= len(bounded):
            raise NoBoundError(f"--explain {which}: {len(bounded)} have a bound; 1 is the longest.")
        return bounded[int(which) - 1]
    rows = [*bounded, *(bound for bound in report.all if bound.cycles is None)]
    for bound in rows:
        if which in _names(bound):
            return bound
    near = near_miss(which, [name for bound in rows for name in _names(bound)])
    raise NoBoundError(
        f"--explain {which[:80]}: nothing of that place holds interrupts off; give a function, file.c:12, "
        f"an address, or the number of a row, 1 for the longest.{near}"
    )


def _names(section: Bounded) -> tuple[str, ...]:
    """The words that a row goes by."""
    places = [place for place in (section.begin, section.caller) if place is not None]
    words = [
        section.function,
        *(word for at in places for word in (at.function, at.source, _address(at.address))),
    ]
    return tuple(filter(None, words))


def _address(address: int) -> str:
    return f"{address:#010x}"


def as_json(explanation: Explained) -> dict[str, Any]:
    """As docs/reference/bounds.md has it."""
    return {
        "begin": explanation.section.begin.as_json(),
        "bound_cycles": explanation.cycles,
        "blocks": [
            {
                "function": block.function,
                "passes": block.passes,
                "cycles": block.cycles,
                "share": explanation.share(block.cycles),
                "instructions": [
                    {"address": _address(code.address), "text": code.text, "line": code.line or None}
                    for code in block.code
                ],
            }
            for block in explanation.blocks
        ],
        "calls": [
            {
                "caller": call.caller,
                "line": call.line,
                "callee": call.callee,
                "times": call.times,
                "cycles": call.cycles,
            }
            for call in explanation.calls
        ],
    }

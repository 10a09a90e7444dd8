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
        return tuple(dict.fromkeys(one.line for one in self.code if one.line))


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
        return sum(one.cycles for one in self.blocks)

    def share(self, cycles: int) -> float:
        """Of the bound."""
        return cycles / self.cycles if self.cycles else 0.0


def explain(found: BoundsReport, which: str) -> Explained:
    """The longest path of one row: of the n-th longest by its number, or by a place: its function,
    `file.c:12`, or an address. Of several at a place it is the longest. Raises NoBoundError.
    """
    one = _chosen(found, which)
    if one.cycles is None:
        raise NoBoundError(
            f"--explain {which}: {one.kind} of {one.function} has no bound, so it has no longest path."
        )
    return of_row(found, one)


def of_row(found: BoundsReport, one: Bounded) -> Explained:
    """That of a row with a bound."""
    spent = parts(one.path)
    blocks = [_block(found, part) for part in spent.blocks]
    if one.entry_cycles:
        blocks.append(Block(ENTRY, 1, one.entry_cycles, ()))
    calls = tuple(
        Call(
            call.caller,
            found.code.source_line(call.address) or found.code.place(call.address),
            found.code.place(call.entry),
            call.times,
            call.cycles,
        )
        for call in spent.calls
    )
    tree = frames(one.path, int((one.cycles or 0) * _LEAST_SHARE))
    return Explained(one, tuple(sorted(blocks, key=lambda part: -part.cycles)), calls, tree)


def _block(found: BoundsReport, part: Spent) -> Block:
    code = tuple(
        Code(one.address, one.text, found.code.source_line(one.address)) for one in part.instructions
    )
    words = "" if part.passes else f": {WAY if code else REST}"
    return Block(f"{part.function}{words}", part.passes, part.cycles, code)


def _chosen(found: BoundsReport, which: str) -> Bounded:
    bounded = sorted((one for one in found.all if one.cycles is not None), key=lambda one: -(one.cycles or 0))
    if which.isascii() and which.isdecimal():
        if not 0 < int(which) <= len(bounded):
            raise NoBoundError(f"--explain {which}: {len(bounded)} have a bound; 1 is the longest.")
        return bounded[int(which) - 1]
    rows = [*bounded, *(one for one in found.all if one.cycles is None)]
    for one in rows:
        if which in _names(one):
            return one
    near = near_miss(which, [name for one in rows for name in _names(one)])
    raise NoBoundError(
        f"--explain {which[:80]}: nothing of that place holds interrupts off; give a function, file.c:12, "
        f"an address, or the number of a row, 1 for the longest.{near}"
    )


def _names(one: Bounded) -> tuple[str, ...]:
    """The words that a row goes by."""
    places = [place for place in (one.begin, one.caller) if place is not None]
    words = [
        one.function,
        *(word for at in places for word in (at.function, at.source, _address(at.address))),
    ]
    return tuple(filter(None, words))


def _address(address: int) -> str:
    return f"{address:#010x}"


def as_json(told: Explained) -> dict[str, Any]:
    """As docs/reference/bounds.md has it."""
    return {
        "begin": told.section.begin.as_json(),
        "bound_cycles": told.cycles,
        "blocks": [
            {
                "function": one.function,
                "passes": one.passes,
                "cycles": one.cycles,
                "share": told.share(one.cycles),
                "instructions": [
                    {"address": _address(code.address), "text": code.text, "line": code.line or None}
                    for code in one.code
                ],
            }
            for one in told.blocks
        ],
        "calls": [
            {
                "caller": one.caller,
                "line": one.line,
                "callee": one.callee,
                "times": one.times,
                "cycles": one.cycles,
            }
            for one in told.calls
        ],
    }

"""Calls of a function, from its entry to the end of the instruction that leaves it.

A call ends where SP is again what it was at its entry, in the same handler or outside of all. So
calls within calls, handlers that interrupt one, and tasks that are switched to pair among
themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from analysis.errors import LatencyError
from analysis.explain.program import Function, Program, exits_of
from analysis.program.places import function_named
from simulator.masks import MOST_MARKS, Passage


@dataclass(frozen=True)
class Section:
    """A function, and the instructions by which it is left; whether each execution does."""

    function: Function
    exits: dict[int, bool]

    @property
    def addresses(self) -> set[int]:
        return {self.function.address, *self.exits}


@dataclass(frozen=True)
class Passed:
    """One call, from the passage `first` to `last`."""

    first: Passage
    last: Passage

    @property
    def begin(self) -> int:
        return self.first.cycle

    @property
    def end(self) -> int:
        return self.last.end_cycle

    @property
    def cycles(self) -> int:
        return self.end - self.begin


@dataclass
class Measured:
    """All calls of a section, in the order in which they begin. `unpaired` are entries that began
    again at the same depth before an end came, or were open at the end of the run, and ends without
    an entry.
    """

    passed: list[Passed] = field(default_factory=list)
    unpaired: int = 0


def parse(program: Program, name: str) -> Section:
    """The section of a function. Raises LatencyError."""
    function = function_named(program, name)
    section = Section(function, exits_of(program, function))
    if len(section.addresses) > MOST_MARKS:
        raise LatencyError(f"--section {name} has more than {MOST_MARKS} ways out.")
    return section


def measure(section: Section, passages: Iterable[Passage]) -> Measured:
    """Pairs the passages of the section's entry and exits."""
    measured, function = Measured(), section.function
    code = range(function.address, function.address + function.size)
    open_calls: dict[tuple[int, int], Passage] = {}
    for row in passages:
        leaves = section.exits.get(row.address)
        if leaves is not None and (leaves or row.next_pc not in code):
            opened = open_calls.pop((row.exception, row.end_sp), None)
            measured.unpaired += opened is None
            measured.passed += [Passed(opened, row)] if opened else []
        if row.address == function.address:
            measured.unpaired += (row.exception, row.sp) in open_calls
            open_calls[row.exception, row.sp] = row
    measured.unpaired += len(open_calls)
    measured.passed.sort(key=lambda passed: passed.begin)
    return measured

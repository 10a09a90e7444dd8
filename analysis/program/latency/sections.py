"""Sections between two places in the code: which passages of their ends belong together.

An end belongs to the beginning that is open in its own context. A context is an exception, or a
task. So handlers that interrupt a section, and tasks that are switched to, pair among themselves.
Within a context the stack tells: a beginning at the same depth starts the section anew, and one
further down the stack is nested in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.errors import LatencyError
from analysis.explain.program import Program, exits_of
from analysis.program.places import addresses_of, function_named
from simulator.masks import MOST_MARKS, Passage


@dataclass(frozen=True)
class Section:
    """`name` is what the user wrote. `begins` and `ends` are addresses of instructions.

    A section of a whole function lasts to the end of the instruction that leaves it; `ends` says
    whether each execution does. Another one lasts until the instruction at its end executes.
    """

    name: str
    begins: frozenset[int]
    ends: dict[int, bool]
    code: range | None = None

    @property
    def addresses(self) -> set[int]:
        return {*self.begins, *self.ends}


@dataclass(frozen=True)
class Passed:
    """The section was passed once, from the passage `first` to `last`, up to cycle `end`."""

    first: Passage
    last: Passage
    end: int

    @property
    def begin(self) -> int:
        return self.first.cycle

    @property
    def cycles(self) -> int:
        return self.end - self.begin


def parse(program: Program, text: str) -> Section:
    """`a..b`, or `f..` for a function from its entry to its exit. Raises LatencyError."""
    first, dots, last = text.partition("..")
    if not dots or not first:
        raise LatencyError(
            f"--section {text}: write two places with .. between them, or FUNCTION.. from entry to exit."
        )
    if last:
        begins = frozenset(addresses_of(program, first))
        section = Section(text, begins, dict.fromkeys(addresses_of(program, last), True))
    else:
        function = function_named(program, first)
        begins = frozenset((function.address,))
        section = Section(text, begins, exits_of(program, function), function.code)
    if len(section.addresses) > MOST_MARKS:
        raise LatencyError(f"--section {text} has more than {MOST_MARKS} places: give two addresses.")
    return section


def measure(section: Section, passages: Iterable[Passage]) -> tuple[list[Passed], int]:
    """Pairs the passages of the section's ends, in the order of their beginnings. The number counts
    what has no partner: beginnings that began again at the same depth before an end came, or were
    open at the end of the run, and ends without a beginning.
    """
    passed, unpaired = (_by_context if section.code is None else _by_stack)(section, passages)
    return sorted(passed, key=lambda passed: passed.begin), unpaired


def _by_stack(section: Section, rows: Iterable[Passage]) -> tuple[list[Passed], int]:
    """A call of a function ends where SP is again what it was at its entry."""
    code = section.code or range(0)
    open_calls: dict[tuple[int, int], Passage] = {}
    passed, unpaired = [], 0
    for row in rows:
        leaves = section.ends.get(row.address)
        if leaves is not None and (leaves or row.next_pc not in code):
            opened = open_calls.pop((row.exception, row.end_sp), None)
            unpaired += opened is None
            passed += [Passed(opened, row, row.end_cycle)] if opened else []
        if row.address in section.begins:
            unpaired += (row.exception, row.sp) in open_calls
            open_calls[row.exception, row.sp] = row
    return passed, unpaired + len(open_calls)


def _by_context(section: Section, rows: Iterable[Passage]) -> tuple[list[Passed], int]:
    contexts: dict[tuple[int, int | None], list[Passage]] = {}
    passed, unpaired = [], 0
    for row in rows:
        own = contexts.setdefault((row.exception, None if row.exception else row.task), [])
        if row.address in section.ends:
            # The beginning that this end closes: the last in its context, at its depth if any is;
            # else the last of all.
            others = max(filter(None, contexts.values()), key=lambda rows: rows[-1].cycle, default=own)
            stack = own or others
            if stack:
                opened = ([it for it in stack if own and it.sp == row.sp] or stack)[-1]
                stack.remove(opened)
                passed.append(Passed(opened, row, row.cycle))
            else:
                unpaired += 1
        if row.address in section.begins:
            # Further down the stack it is nested; of tasks that are not known nobody can tell.
            same_task = row.exception or row.task is not None
            deeper = [it for it in own if (row.sp < it.sp if same_task else row.sp != it.sp)]
            unpaired += len(own) - len(deeper)
            own[:] = [*deeper, row]
    return passed, unpaired + sum(map(len, contexts.values()))

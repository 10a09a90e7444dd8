"""The bound of a critical section: the longest way from the begin marker to the end marker.

Each instruction costs the most that the timing model allows (docs/reference/timing.md). Every flash
line is a miss. Every address waits for its register. Every load waits for a store.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from analysis.bounds.graph import Disassembler, Graph, Instruction
from analysis.bounds.longest import longest
from analysis.errors import NoBoundError
from analysis.explain.program import Program

WAIT_STATES = 2
"""Wait states of the flash at 84 MHz (RM0368 §3.4.1)."""

LINE_BYTES = 16
_READ_CYCLES = 1 + WAIT_STATES
# Reading the next line, and passing on its first word when the prefetch buffer is empty.
_NEXT_LINE_CYCLES = _READ_CYCLES + 1
# Reading a line elsewhere, after a read under way that nobody needs any more (RM0368 §3.4.2).
_OTHER_LINE_CYCLES = 2 * _READ_CYCLES
# A branch to a 32-bit instruction that straddles two words (compendium.i-0.nl, "Branch timing").
_STRADDLE_CYCLES = 1
# An address that needs the result of the instruction before; a load after a store
# (ARM DDI 0439, 3.3.3).
_ADDRESS_CYCLES = 1
_BEHIND_STORE_CYCLES = 1

# ARM DDI 0439, tables 3-1 and 7-1. A division is taken to find no early end.
_TABLE = {
    "processing": 1,
    "accumulate": 3,
    "divide": 12,
    "float_divide": 14,
    "branch": 1,
    "late_branch": 1,
    "table_branch": 2 + _ADDRESS_CYCLES,
    "load": 2 + _ADDRESS_CYCLES + _BEHIND_STORE_CYCLES,
    "store": 2 + _ADDRESS_CYCLES,
    "multiple": 1 + _ADDRESS_CYCLES + _BEHIND_STORE_CYCLES,
    "special": 3,
}

# Cycles that a taken branch adds. The later it is decided, the more: B and BL are decided when
# decoded, CBZ and BX when executed, a load of the PC with its data, TBB after its addition
# (docs/reference/timing.md, "branches").
_TAKEN = {"branch": 1, "late_branch": 2, "table_branch": 4, "multiple": 4, "load": 4}
_LATEST_CYCLES = max(_TAKEN.values())


def own_cycles(instruction: Instruction, reads_flash: bool) -> int:
    """Cycles of the instruction itself. `reads_flash`: a load may read constants in the flash."""
    cycles = _TABLE[instruction.kind] + instruction.registers
    loads = instruction.kind in ("load", "multiple", "table_branch")
    if loads and (reads_flash or instruction.literal is not None or instruction.kind == "table_branch"):
        cycles += _OTHER_LINE_CYCLES
    return cycles


def next_cycles(before: Instruction, after: Instruction) -> int:
    """Cycles of going on to `after`, right behind `before`: for each flash line that it enters."""
    last = before.address + before.size - 1
    lines = (after.address + after.size - 1) // LINE_BYTES - last // LINE_BYTES
    return lines * _NEXT_LINE_CYCLES


def taken_cycles(before: Instruction, target: Instruction) -> int:
    """Cycles that the taken branch `before` adds on its way to `target`."""
    return _TAKEN.get(before.kind, _LATEST_CYCLES) + _arrival_cycles(target)


def return_cycles(target: Instruction) -> int:
    """Cycles that a return to `target` adds, whichever instruction returns."""
    return _LATEST_CYCLES + _arrival_cycles(target)


def _arrival_cycles(target: Instruction) -> int:
    """Cycles until a branch target can execute: of one flash line, or of two if it lies in both."""
    last = target.address + target.size - 1
    second = last // LINE_BYTES - target.address // LINE_BYTES
    straddles = target.size == 4 and target.address % 4 != 0
    return _OTHER_LINE_CYCLES + second * _READ_CYCLES + (_STRADDLE_CYCLES if straddles else 0)


BEGIN, END = "heap_port_critical_begin", "heap_port_critical_end"

Passes = Callable[[str, str], int]
"""Takes the names of a function and of the source file that a loop in it comes from, and gives how
often the head of any such loop is passed at most."""

FLASH = range(0x0800_0000, 0x0808_0000)


@dataclass(frozen=True)
class Bound:
    """The most instructions and the most cycles. The two longest paths need not be the same."""

    instructions: int
    cycles: int


class Sections:
    """Bounds of the critical sections of one image."""

    def __init__(self, program: Program, passes: Passes, untaken: AbstractSet[str] = frozenset()) -> None:
        """`untaken`: the source lines, as `file.c:12`, whose branches are never taken."""
        self._program = program
        self._untaken = untaken
        self._disassembler = Disassembler(program)
        self._passes = passes
        self._functions: dict[tuple[int, bool], int | None] = {}
        self._under_way: list[int] = []

    def bound(self, facade: str) -> Bound:
        """The bound of the critical section in `facade`. Raises NoBoundError."""
        return Bound(self._section(facade, in_cycles=False), self._section(facade, in_cycles=True))

    def _section(self, facade: str, in_cycles: bool) -> int:
        """Both markers count whole, though the section is only from one's store to the other's."""
        function = self._program.function(facade)
        begin, end = self._program.function(BEGIN), self._program.function(END)
        if function is None or begin is None or end is None:
            raise NoBoundError(f"The image has no {facade} with markers.")
        graph = self._disassembler.graph(function.address)
        calls = {code.call: code for code in graph.instructions.values() if code.call is not None}
        if begin.address not in calls or end.address not in calls:
            raise NoBoundError(f"{facade} does not call the markers itself.")
        start = graph.after[calls[begin.address].address][0][0]
        found = self._way(graph, start, {calls[end.address].address}, in_cycles)
        entered = self._cost_of(graph, calls[begin.address], in_cycles, reads_flash=False)
        if found is None or entered is None:
            raise NoBoundError(f"No path of {facade} leads from the begin marker to the end marker.")
        return entered + found

    def _function(self, entry: int, in_cycles: bool) -> int | None:
        """The longest way from the entry of a function to its return; None if it never returns."""
        key = (entry, in_cycles)
        if key not in self._functions:
            if entry in self._under_way:
                raise NoBoundError(f"{self._program.place(entry)} calls itself.")
            self._under_way.append(entry)
            try:
                self._functions[key] = self._own_way(entry, in_cycles)
            finally:
                self._under_way.pop()
        return self._functions[key]

    def _own_way(self, entry: int, in_cycles: bool) -> int | None:
        """What has no bound, but is declared never to return, needs none."""
        try:
            graph = self._disassembler.graph(entry)
            return self._way(graph, entry, graph.ends, in_cycles)
        except NoBoundError:
            if self._program.place(entry) in self._program.never_return:
                return None
            raise

    def _way(self, graph: Graph, start: int, ends: set[int], in_cycles: bool) -> int | None:
        """The longest way from `start` to one of `ends`; None if there is none."""
        reads_flash = self._reads_flash(graph)
        priced = {
            address: self._cost_of(graph, code, in_cycles, reads_flash)
            for address, code in graph.instructions.items()
        }
        # A path ends at a call that never returns, and leads nowhere.
        dead = {address for address, price in priced.items() if price is None}
        successors = {
            address: [
                (target, _edge(graph, address, target, taken) if in_cycles else 0)
                for target, taken in following
                if target in graph.instructions and not (taken and self._is_untaken(address))
            ]
            for address, following in graph.after.items()
            if address not in dead
        }
        cost = {address: price or 0 for address, price in priced.items()}
        return longest(start, ends - dead, successors, cost, lambda head: self._limit(graph, head))

    def _is_untaken(self, branch: int) -> bool:
        return bool(self._untaken) and self._program.source_line(branch) in self._untaken

    def _limit(self, graph: Graph, head: int) -> int:
        """How often the head of a loop is passed at most. Raises NoBoundError."""
        return self._passes(graph.name, self._program.source_line(head).partition(":")[0])

    def _cost_of(self, graph: Graph, code: Instruction, in_cycles: bool, reads_flash: bool) -> int | None:
        """The cost of one instruction and all that it calls; None if that never returns."""
        own = own_cycles(code, reads_flash) if in_cycles else 1
        if code.call is None:
            # A return counts here too: only the last instruction of a path can be one.
            return own
        called = self._function(code.call, in_cycles)
        if called is None:
            return own if code.conditional else None
        return own + called + (self._transfer_cycles(graph, code) if in_cycles else 0)

    def _transfer_cycles(self, graph: Graph, code: Instruction) -> int:
        """Cycles to the function that `code` calls and, if that comes back, behind the call."""
        assert code.call is not None
        entry = self._disassembler.graph(code.call).instructions[code.call]
        there = taken_cycles(code, entry)
        back = [graph.instructions[at] for at, _ in graph.after[code.address] if at in graph.instructions]
        return there if code.address in graph.ends else there + max(map(return_cycles, back), default=0)

    def _reads_flash(self, graph: Graph) -> bool:
        """True if the function has an address of constants in the flash: any load may go there."""
        for code in graph.instructions.values():
            if code.text.startswith(("adr", "movt")):
                return True
            if code.literal is not None:
                word = int.from_bytes(self._program.code(code.literal, 4), "little")
                # Odd addresses are those of functions.
                if word in FLASH and word % 2 == 0:
                    return True
        return False


def _edge(graph: Graph, before: int, after: int, taken: bool) -> int:
    if taken:
        return taken_cycles(graph.instructions[before], graph.instructions[after])
    return next_cycles(graph.instructions[before], graph.instructions[after])

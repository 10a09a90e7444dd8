"""The bound of a critical section: the longest way from the begin marker to the end marker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analysis.bounds import costs
from analysis.bounds.graph import Disassembler, Graph, Instruction
from analysis.bounds.longest import longest
from analysis.errors import NoBoundError
from analysis.explain.program import Program

BEGIN, END = "heap_port_critical_begin", "heap_port_critical_end"

Passes = Callable[[str], int]
"""Takes a function's name, and gives how often the head of any of its loops is passed at most."""

FLASH = range(0x0800_0000, 0x0808_0000)


@dataclass(frozen=True)
class Bound:
    """The most instructions and the most cycles. The two longest paths need not be the same."""

    instructions: int
    cycles: int


class Sections:
    """Bounds of the critical sections of one image."""

    def __init__(self, program: Program, passes: Passes) -> None:
        self._program = program
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
            graph = self._disassembler.graph(entry)
            self._functions[key] = self._way(graph, entry, graph.ends, in_cycles)
            self._under_way.pop()
        return self._functions[key]

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
                if target in graph.instructions
            ]
            for address, following in graph.after.items()
            if address not in dead
        }
        cost = {address: price or 0 for address, price in priced.items()}
        return longest(start, ends - dead, successors, cost, lambda _: self._passes(graph.name))

    def _cost_of(self, graph: Graph, code: Instruction, in_cycles: bool, reads_flash: bool) -> int | None:
        """The cost of one instruction and all that it calls; None if that never returns."""
        own = costs.own_cycles(code, reads_flash) if in_cycles else 1
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
        there = costs.taken_cycles(code, entry)
        back = [graph.instructions[at] for at, _ in graph.after[code.address] if at in graph.instructions]
        return there if code.address in graph.ends else there + max(map(costs.return_cycles, back), default=0)

    def _reads_flash(self, graph: Graph) -> bool:
        """Whether the function has an address of constants in the flash: any load may go there."""
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
        return costs.taken_cycles(graph.instructions[before], graph.instructions[after])
    return costs.next_cycles(graph.instructions[before], graph.instructions[after])

"""The most cycles of blocks on a Cortex-M0, whose three stages fetch and load over one bus.

Without wait states each instruction takes what its manual's table says, at any place (ARM DDI
0432C, table 3-1). A flash that waits makes each read longer: whatever depends on what, a path is
longer by no more than that for each word that it fetches, and for each that was fetched in vain at
a branch. A read of data may wait for a prefetch that is under way, too (docs/reference/timing.md,
"Other cores").
"""

from __future__ import annotations

from analysis.bounds.costs import Costs, Memory
from analysis.bounds.effects import accessed
from analysis.bounds.flow import NOWHERE, RETURN, Edge, Flow, Node, Solved
from analysis.bounds.graph import Instruction
from analysis.bounds.lift import Operation
from analysis.bounds.state import State
from analysis.bounds.values import Value

_WORD_BYTES = 4
_CODE_END = 0x2000_0000
_REFILL_CYCLES = 2


class ThreeStages:
    """The cycles of one function."""

    def __init__(self, flow: Flow, costs: Costs, solved: Solved) -> None:
        self._flow = flow
        self._costs = costs
        self._solved = solved
        self._waits = costs.read_cycles - 1

    def block(self, node: Node) -> int:
        """The most cycles of a block, from where its first word is there."""
        body = self._solved.body
        along = self._flow.along(body, node, self._solved.states[node])
        total, last_word = 0, None
        for code, (operation, state) in zip(body.blocks[node[0]].instructions, along, strict=True):
            words = range(code.address // _WORD_BYTES, (code.address + code.size - 1) // _WORD_BYTES + 1)
            if code.address < _CODE_END:
                total += self._waits * sum(word != last_word for word in words)
            last_word = words[-1]
            total += self._costs.own(code) + self._access(operation, code, state)
        return total

    def way(self, edge: Edge, last: Instruction) -> int:
        """The most cycles from a block to the next: a branch fills the pipeline anew."""
        if not edge.taken and edge.called is None:
            return 0
        cycles = _REFILL_CYCLES + self._waits
        if edge.target[0] in (RETURN, NOWHERE) or edge.called is not None:
            cycles += self._waits
        return cycles + self._costs.exception_cycles * last.service

    def _access(self, operation: Operation, code: Instruction, state: State) -> int:
        """What memory adds: all accesses wait, as there is no write buffer."""
        if not code.accesses:
            return 0
        words = max(code.registers, 1)
        address: Value = ("", code.literal, code.literal) if code.literal else accessed(operation, state)
        memory = self._costs.memory(address)
        flash = 0 if operation.stores else 2 * self._waits
        waits = {
            Memory.SRAM: self._costs.load_waits(address),
            Memory.FLASH: flash,
            Memory.PERIPHERAL: self._costs.peripheral_cycles,
            Memory.ANY: max(flash, self._costs.peripheral_cycles),
        }
        return words * waits[memory]

"""How the instructions of a block follow each other, at the latest.

It is what the simulator's core does between neighbours (docs/reference/timing.md, "What is
modelled"), for blocks of which it is not known how they were come to: by a branch, which empties
the prefetch unit, or from the block before, whose end then matters. So a block has a few
beginnings, and each way from block to block has its own cost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial, reduce
from operator import or_
from typing import NamedTuple

from analysis.bounds.caches import AHEAD_BYTES, CODE_END, COLD, UNKNOWN, Fetch, Hot, Kept, Lines
from analysis.bounds.costs import Costs, Memory, divide_cycles
from analysis.bounds.effects import SIZES, accessed, accessed_zeros, divided
from analysis.bounds.flow import NOWHERE, RETURN, Edge, Flow, Node, Solved
from analysis.bounds.graph import PC, Instruction
from analysis.bounds.state import State
from analysis.bounds.values import SRAM, STACK, Value, constant
from analysis.errors import NoBoundError

_WORD_BYTES = 4
_MOST_BEGINNINGS = 8
"""So many ways to come to a block from the one before are told apart."""
_TABLE_ADDITION_CYCLES = 1
_UNPRIVILEGED_LOADS = ("ldrt", "ldrbt", "ldrht", "ldrsbt", "ldrsht")
_SINGLE_LOADS = ("ldr", "ldrb", "ldrh", "ldrsb", "ldrsh", *_UNPRIVILEGED_LOADS, "ldrex", "ldrexb", "ldrexh")
_SINGLE_STORES = ("str", "strb", "strh")
_BARRIERS = ("dsb", "dmb", "isb")
_LONGER_BEHIND_STORES = (*_SINGLE_LOADS, "ldrd", "pop", "ldm", "ldmdb", "ldmia")
# A block of memory by the topmost bits of an address: Code, SRAM, peripherals and the rest.
_BLOCK_SHIFT = 29
_SRAM_BLOCK = 1


@dataclass(slots=True)
class _Core:
    """What matters of the past before one instruction. Cycles are those of `fetch`, the latest that
    they can be.
    """

    fetch: Fetch
    start: int = 0
    """The instruction before executes from here on, and is finished when the core is `free`."""
    free: int = 0
    data_free: int = 0
    """The write buffer is empty."""
    late: frozenset[int] = frozenset()
    """The registers that an address waits for."""
    loaded: int | None = None
    """The register that the instruction before loaded, alone."""
    block: int | None = None
    """The block of memory that it came from."""
    stored: bool = False
    stored_in_two: bool = False
    brief: bool = False
    """The instruction before takes a cycle, always, and waits for nothing once it is issued."""
    short_end: int = 0
    """Where the instruction before ends, if it has 16 bits."""

    def copy(self) -> _Core:
        return replace(self, fetch=self.fetch.copy())

    def key(self) -> Hashable:
        """Two with the same key do the same."""
        return (self.fetch.key(), *(getattr(self, of.name) for of in fields(self) if of.name != "fetch"))


class _Passed(NamedTuple):
    """An instruction of a block: the address that it accesses and the memory there, its most cycles
    with memory that answers at once, and how many more it takes at the most, as it may not be
    aligned.
    """

    code: Instruction
    address: Value
    memory: Memory
    cycles: int
    unaligned: int


@dataclass
class Cycles:
    """The most cycles of a function's blocks, and of the ways between them.

    A path costs `cost` of each node that it passes, and `steps` of each edge.
    """

    cost: dict[Node, int] = field(default_factory=dict)
    begin: int = 0
    """What the function's first node costs more than `cost`, once its first word is there."""
    dearest: dict[Node, int] = field(default_factory=dict)
    """What a node costs more than `cost` at the most, however it was come to."""
    ways: dict[int, int] = field(default_factory=dict)
    """`steps` without what the next node costs more for it."""
    lines: dict[Node, Lines] = field(default_factory=dict)
    """The lines of the flash that a node itself may read."""
    steps: dict[int, int] = field(default_factory=dict)
    """By the edge's id(). Of a call: the way there, and what the return costs where it comes back
    to. Of a return: up to where its first word is there.
    """


def _counted(solved: Solved) -> Cycles:
    """The instructions of the blocks."""
    blocks = solved.body.blocks
    return Cycles(
        cost={node: len(blocks[node[0]].instructions) if node[0] in blocks else 0 for node in solved.states},
        steps={id(edge): 0 for _, edge in solved.ways},
    )


# The most cycles of blocks on a core that fetches and loads over one bus: a Cortex-M0 in three
# stages, a Cortex-M0+ in two.
#
# Without wait states each instruction takes what its manual's table says, at any place (ARM DDI
# 0432C and DDI 0484C, tables 3-1). A flash that waits makes each read longer: whatever depends on
# what, a path is longer by no more than that for each word that it fetches, and for each that was
# fetched in vain at a branch. A read of data may wait for a prefetch that is under way, too
# (docs/reference/timing.md, "Other cores").


def _on_one_bus(flow: Flow, costs: Costs, solved: Solved) -> Cycles:
    """A block costs the same however it was come to."""
    cycles, waits = Cycles(), costs.read_cycles - 1
    for node in solved.states:
        block, total, last_word = solved.body.blocks.get(node[0]), 0, None
        for code, state, _ in flow.along(block, node, solved.states[node]) if block else ():
            words = range(code.address // _WORD_BYTES, (code.address + code.size - 1) // _WORD_BYTES + 1)
            if code.address < CODE_END:
                total += waits * sum(word != last_word for word in words)
            last_word = words[-1]
            total += costs.own(code)
            if code.accesses:
                # All accesses wait, as there is no write buffer.
                address = accessed(code, state)
                flash = 0 if code.stores else 2 * waits
                by_memory = {
                    Memory.SRAM: costs.load_waits(address),
                    Memory.FLASH: flash,
                    Memory.PERIPHERAL: costs.peripheral_cycles,
                    Memory.ANY: max(flash, costs.peripheral_cycles),
                }
                total += code.words * by_memory[costs.memory(address)]
        cycles.cost[node] = total
        for edge in solved.edges[node]:
            assert block is not None
            # A branch fills the pipeline anew.
            way, leaves = 0, edge.target[0] in (RETURN, NOWHERE) or edge.called is not None
            if edge.taken or edge.called is not None:
                way = costs.refill_cycles + waits * (1 + leaves) + costs.exception_cycles * block.last.service
            cycles.ways[id(edge)] = cycles.steps[id(edge)] = way
    return cycles


@dataclass(eq=False)
class _Function:
    flow: Flow
    costs: Costs
    solved: Solved
    _ways: dict[Node, list[_Passed]] = field(default_factory=dict)
    _begun: dict[Node, dict[Hashable, int | None]] = field(default_factory=lambda: defaultdict(dict))
    """The most cycles of a block, from each of its beginnings on."""
    _waiting: list[tuple[Node, Hashable, _Core]] = field(default_factory=list)
    _branched: dict[Node, dict[tuple[int, int | None], Hashable]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def cycles(self) -> Cycles:
        total, solved = Cycles(), self.solved
        onward: dict[int, list[tuple[int, Hashable]]] = {}
        start = self._branch_to(solved.start)
        while self._waiting:
            node, key, core = self._waiting.pop()
            cores = self._through(node, core)
            self._begun[node][key] = most = max(core.free for core in cores)
            for edge in solved.edges[node]:
                last, passed = solved.body.blocks[node[0]].last, onward.setdefault(id(edge), [])
                for core in cores:
                    taken, beginning = self._onward(edge, last, core)
                    passed.append((taken - most, beginning))
        for node in solved.states:
            cycles = [taken for taken in self._begun[node].values() if taken is not None]
            total.cost[node] = min(cycles, default=0)
            total.dearest[node] = max(cycles, default=0) - total.cost[node]
            if not self.costs.certain and node in self._ways:
                total.lines[node] = self._lines_of(node)

        def more(node: Node, key: Hashable) -> int:
            taken = self._begun[node].get(key)
            return 0 if taken is None else taken - total.cost[node]

        total.begin = more(solved.start, start)
        for _, edge in solved.ways:
            if ways := onward.get(id(edge)):
                total.ways[id(edge)] = max(taken for taken, _ in ways)
                total.steps[id(edge)] = max(taken + more(edge.target, key) for taken, key in ways)
        return total

    # From block to block.

    def _onward(self, edge: Edge, last: Instruction, core: _Core) -> tuple[int, Hashable]:
        """Cycles from a block's beginning to that of the next one, and how that begins."""
        target = edge.target
        if not edge.taken and edge.called is None:
            return core.free, self._fall_to(target, core)
        leaves = target[0] in (RETURN, NOWHERE)
        address: int | None = None if leaves else target[0]
        if edge.called is not None:
            address = edge.called.entry or None
        # When the target's address is on the bus (docs/reference/timing.md, "branches").
        at = core.free + _TABLE_ADDITION_CYCLES * (last.kind == "table_branch")
        if last.kind == "branch" or last.text == "bx lr":
            at = core.start - 1
        elif last.kind == "late_branch":
            at = core.start
        way = core.fetch.branch(address, last.address + last.size, at)
        if leaves or edge.called is not None:
            # What comes next, elsewhere, waits for a store that is under way.
            way = max(way, core.data_free)
        if last.service:
            way += self.costs.exception_cycles
        if leaves:
            return way, None
        if edge.called is not None:
            return way, self._branch_to(target)
        return way, self._branch_to(target, max(core.data_free - way, 0), core.fetch.data_line)

    def _branch_to(self, node: Node, data_free: int = 0, data_line: int | None = None) -> Hashable:
        """The beginning of a block that a branch leads to."""
        branched, past = self._branched[node], (data_free, data_line)
        if past not in branched and len(branched) >= _MOST_BEGINNINGS:
            past = self.costs.peripheral_cycles, None
        if past not in branched:
            core = _Core(Fetch(self.costs, node[0]), data_free=past[0])
            core.fetch.exact &= not past[0]
            core.fetch.data_line = past[1]
            branched[past] = self._begin(node, core)
        return branched[past]

    def _fall_to(self, node: Node, core: _Core) -> Hashable:
        """The beginning of a block that follows the one before without a branch."""
        after = core.copy()
        after.fetch.since(core.free)
        after.data_free = max(core.data_free - core.free, 0)
        after.start = after.free = 0
        ways = self._begun[node]
        if after.key() not in ways and len(ways) >= _MOST_BEGINNINGS:
            late = frozenset(range(PC))
            after = _Core(after.fetch, data_free=self.costs.peripheral_cycles, late=late, stored=True)
            after.fetch.forget(node[0])
        return self._begin(node, after)

    def _begin(self, node: Node, core: _Core) -> Hashable:
        key = core.key()
        if key not in self._begun[node] and node[0] in self.solved.body.blocks:
            self._begun[node][key] = None
            self._waiting.append((node, key, core))
        return key

    # From instruction to instruction.

    def _lines_of(self, node: Node) -> Lines:
        """The prefetch unit may read on behind the block's end."""
        instructions = self._instructions(node)
        first, last = instructions[0].code, instructions[-1].code
        line_bytes = self.costs.lines.bytes
        code = range(first.address // line_bytes, (last.address + last.size + AHEAD_BYTES) // line_bytes + 1)
        data: set[int] = set()
        most = self.costs.lines.data * self.costs.lines.together * line_bytes
        for instruction, read, memory, _, _ in instructions:
            if instruction.loads and memory in (Memory.FLASH, Memory.ANY):
                if memory is Memory.ANY or read is None or read[0] or read[2] - read[1] > most:
                    # There are too many to tell.
                    return Lines(frozenset(code), None)
                last_byte = read[2] + _WORD_BYTES * max(instruction.words, 1) - 1
                data |= set(range(read[1] // line_bytes, last_byte // line_bytes + 1))
        return Lines(frozenset(code), frozenset(data))

    def _through(self, node: Node, core: _Core) -> list[_Core]:
        """How a block may end."""
        cores = [core.copy()]
        for passed in self._instructions(node):
            cores = [it for core in cores for it in self._ways_into(core, passed)]
            for core in cores:
                self._execute(core, passed)
        return cores

    def _ways_into(self, core: _Core, passed: _Passed) -> list[_Core]:
        """The line that a load is from may be the last that was read, where that is not known."""
        code, place, fetch = passed.code, constant(passed.address), core.fetch
        if not code.loads or passed.memory is not Memory.FLASH or place is None:
            return [core]
        if fetch.data_line is not None or not fetch.exact or code.conditional or passed.unaligned:
            return [core]
        other = core.copy()
        other.fetch.holds_data(place)
        return [core, other]

    def _instructions(self, node: Node) -> list[_Passed]:
        """The instructions of a block."""
        if node not in self._ways:
            along = self.flow.along(self.solved.body.blocks[node[0]], node, self.solved.states[node])
            self._ways[node] = [self._passed_in(code, state) for code, state, _ in along]
        return self._ways[node]

    def _passed_in(self, code: Instruction, state: State) -> _Passed:
        address, name = accessed(code, state), code.name
        cycles = self.costs.own(code)
        indexed = code.memory is None or code.memory.index is not None
        if name in ("udiv", "sdiv"):
            cycles = divide_cycles(*divided(code, state), name == "sdiv")
        elif (name in _SINGLE_STORES and not indexed) or (
            code.kind == "special" and name not in ("mrs", "msr")
        ):
            cycles = 1
        unaligned = 0
        if self.costs.may_be_unaligned(address):
            # One for a halfword, or a word at a halfword, two for a word at an odd address (ARM DDI
            # 0439, 3.3.2).
            never = code.kind == "multiple" or name == "ldrex"
            halfwords = 0 if never else abs(SIZES.get(name, 0)) // 2
            unaligned = max(halfwords - accessed_zeros(code, state), 0)
        memory = Memory.FLASH if code.kind == "table_branch" else self.costs.memory(address)
        return _Passed(code, address, memory, cycles, unaligned)

    def _execute(self, core: _Core, passed: _Passed) -> None:
        code, address, memory, cycles, unaligned = passed
        fetch, name = core.fetch, code.name
        # The registers that the address waits for; VLDM does not wait.
        needed = set() if name.startswith(("vldm", "vpop")) else code.addressed - {PC}
        late = bool(needed & core.late)
        start = fetch.issue(code.address, code.size, core.free + late, core.brief and not late)
        block = _block(address) if code.accesses else None
        single = name in _SINGLE_LOADS or name in _SINGLE_STORES
        overlaps = single and core.loaded is not None and core.loaded not in needed and block == core.block
        if self.costs.core == "cortex-m3" and code.memory is not None and code.memory.writeback:
            overlaps = False
        overlaps |= name == "nop" and (core.loaded is not None or core.stored_in_two)
        overlaps |= name == "it" and core.short_end == code.address
        if overlaps and start > fetch.decoded(code.address, code.size):
            start -= 1
            fetch.advance(code.address, code.size)
        may_skip = code.conditional and (cycles != 1 or code.accesses)
        fetch.exact &= not (may_skip or name in ("udiv", "sdiv") or unaligned)
        start += unaligned
        if code.accesses or code.loads:
            start += core.stored and name in _LONGER_BEHIND_STORES
            start = self._access(core, code, address, memory, start)
            fetch.data_line = None if code.conditional else fetch.data_line
        elif name in _BARRIERS:
            start = max(start, core.data_free - 1)
        core.start, core.free = start, start + cycles
        branches = code.kind in ("branch", "late_branch", "table_branch")
        several = code.accesses and code.memory is None
        core.late = frozenset() if branches or several else frozenset(code.written) - {PC}
        certain = name in _SINGLE_LOADS and not code.conditional and block is not None
        core.loaded = code.target if certain else None
        core.block, core.stored = block, code.stores
        indexed = code.memory is not None and code.memory.index is not None
        core.stored_in_two = name in _SINGLE_STORES and indexed and not code.conditional
        core.short_end = code.address + code.size if code.size == 2 else 0
        core.brief = cycles == 1 and not code.accesses and name not in _BARRIERS
        if name == "isb":
            following = code.address + code.size
            fetch.arrived(following, fetch.branch(following, following, core.free))

    def _access(self, core: _Core, code: Instruction, place: Value, memory: Memory, start: int) -> int:
        """The data bus takes the addresses, and loads wait for their data."""
        start, words = max(start, core.data_free), max(code.words, 1)
        if code.stores:
            reads = self.costs.store_reads(place)
            core.fetch.exact &= not reads
            start += reads
            waits = 0 if memory in (Memory.SRAM, Memory.FLASH) else self.costs.peripheral_cycles
            start += waits * (words - 1)
            core.data_free = start + words + waits
            core.fetch.exact &= not waits
            return start
        waits, lines, at = self.costs.load_waits(place), self.costs.lines, start
        if memory is Memory.SRAM:
            core.fetch.exact &= not waits
            return start + waits
        first = constant(place) if memory is Memory.FLASH else None
        core.fetch.exact &= first is not None
        if memory is not Memory.PERIPHERAL:
            # One word behind the other. From an unknown place the second may begin a line.
            line_words = lines.bytes // _WORD_BYTES if lines.keeps_data else 1
            for word in range(words):
                if first is not None or word == 0 or (word - 1) % line_words == 0:
                    address = None if first is None else first + _WORD_BYTES * word
                    at += core.fetch.data(address, at + word, code.address + code.size) - (at + word + 1)
        slowest = self.costs.peripheral_cycles * words if memory is not Memory.FLASH else waits
        return at if first is not None else max(at, start + slowest)


def _block(address: Value) -> int | None:
    """The block of memory that an access goes to, if it is known."""
    if address is None:
        return None
    if address[0] in (STACK, SRAM):
        return _SRAM_BLOCK
    first, last = address[1] >> _BLOCK_SHIFT, address[2] >> _BLOCK_SHIFT
    return first if not address[0] and first == last else None


# The cycles of the blocks of functions, and the lines of the flash that the caches keep.


@dataclass(eq=False)
class Timed:
    """What blocks cost, worked out once."""

    flow: Flow
    costs: Costs
    _cycles: dict[tuple[Solved, Hot], Cycles] = field(default_factory=dict)
    _footprints: dict[Solved, Lines] = field(default_factory=dict)

    def cycles(self, solved: Solved, hot: Hot) -> Cycles:
        key = (solved, hot)
        if key not in self._cycles:
            costs = replace(self.costs, hot_code=hot.code, hot_data=hot.data)
            self._cycles[key] = (
                _counted(solved)
                if costs.counts
                else _on_one_bus(self.flow, costs, solved)
                if costs.one_bus
                else _Function(self.flow, costs, solved).cycles()
            )
        return self._cycles[key]

    def cached(self, solved: Solved, kind: str, hot: Hot) -> Kept:
        """Which lines stay in the caches in the loops of a function, where a mask is set."""
        kept = Kept(dict.fromkeys(solved.states, hot))
        if self.costs.counts:
            return kept
        after = {
            node: [edge.target for edge in solved.edges[node]]
            for node in solved.states
            if node[1].holds(kind)
        }
        of_node, costs = partial(self._lines_of, solved), self.costs
        for which, cache in ((Hot(code=True), costs.code_cache), (Hot(data=True), costs.data_cache)):
            if cache and hot | which != hot:
                kept.keep(after, of_node, costs, which, set(after))
        return kept

    def _lines_of(self, solved: Solved, node: Node) -> Lines:
        """The lines that a node reads, with those of what it calls."""
        lines = self.cycles(solved, COLD).lines.get(node, UNKNOWN)
        for edge in solved.edges[node]:
            called = edge.called
            if called is None or edge.target[0] == NOWHERE:
                continue
            of_call = UNKNOWN
            if not called.why_not and self.flow.program.function_at(called.entry) is not None:
                with suppress(NoBoundError):
                    of_call = self.all_lines(self.flow.solved(called._replace(arguments=(None,) * 4)))
            lines |= of_call
        return lines

    def all_lines(self, solved: Solved) -> Lines:
        """The lines that a function reads, with those of what it calls."""
        if solved not in self._footprints:
            self._footprints[solved] = UNKNOWN  # if it calls itself
            self._footprints[solved] = reduce(or_, map(partial(self._lines_of, solved), solved.states))
        return self._footprints[solved]

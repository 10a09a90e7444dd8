"""The states that a function can be in, at the beginning of each of its blocks.

A node is a block together with the masks that are set there: what is known of registers is kept
apart for each, as what a function does next often goes by what it saved of them.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from analysis.bounds.effects import address_of, decided, step
from analysis.bounds.graph import LR, PC, SP, Disassembler, Instruction
from analysis.bounds.state import (
    HARD_FAULT,
    SERVICE_CALL,
    Masks,
    State,
    covers,
    entry,
    merge,
    written,
)
from analysis.bounds.values import STACK, Value, constant, number
from analysis.explain.program import Program

Node = tuple[int, Masks]
"""The address of a block's first instruction, and the masks there."""
RETURN = 0
"""The address of the node that stands for the function's return."""
NOWHERE = 1
"""The same for a call that does not come back."""

_STEADY_VISITS = 3
_CAREFUL_VISITS = 12
_MOST_LIMITS = 40
_MOST_VISITS = 200


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions in a row. Only the last may branch, call, return or change a mask."""

    instructions: tuple[Instruction, ...]
    after: tuple[tuple[int, bool], ...]
    """Where it leads, with True if a taken branch does."""
    ends: bool
    """Whether its last instruction may leave the function."""
    why_not: str
    """Why it is not known where it leads; else empty."""

    @property
    def last(self) -> Instruction:
        return self.instructions[-1]


@dataclass(eq=False)
class Body:
    """The blocks of a function, by address."""

    name: str
    entry: int
    blocks: dict[int, Block]
    limits: tuple[int, ...]
    """The numbers that it compares with, and those beside them."""


class Edge(NamedTuple):
    """A way from a block on. `called` is the function that was called on the way, if one was."""

    target: Node
    state: State
    taken: bool
    called: Called | None


class Called(NamedTuple):
    """A function with what is known of its arguments. Without `entry` it is not known which."""

    entry: int
    masks: Masks
    arguments: tuple[Value, ...] = (None,) * 4
    why_not: str = ""


class Outcome(NamedTuple):
    """How a function comes back."""

    masks: Masks
    result: Value


@dataclass(eq=False)
class Solved:
    """A function from its entry on, with certain masks and arguments.

    `begin` holds at the node `start`. `states` and `edges` are those of all nodes that it reaches.
    """

    body: Body
    start: Node
    begin: State
    states: dict[Node, State]
    edges: dict[Node, list[Edge]]

    @property
    def ways(self) -> list[tuple[Node, Edge]]:
        """All edges, each with the node that it leads from."""
        return [(node, edge) for node, edges in self.edges.items() for edge in edges]


@dataclass(eq=False)
class Flow:
    """Follows functions of a program with what is known of values. `cells` are the addresses of the
    words of memory that count as masks do. `vectors` has the entries of handlers by exception.
    """

    program: Program
    disassembler: Disassembler
    cells: Sequence[int] = ()
    vectors: Mapping[int, int] = field(default_factory=dict)
    passed: int = field(default=0, init=False)
    """How many nodes were gone through so far."""
    _bodies: dict[int, Body] = field(default_factory=dict, init=False)

    def outcomes(self, called: Called) -> Iterable[Outcome]:
        """How a call comes back: with the masks as they were, where no more is known of it."""
        return [Outcome(called.masks, None)]

    def named(self, _address: int) -> Iterable[int]:
        """The functions that the call through a pointer at an address may go to."""
        return ()

    def limited(self, _address: int, called: Called) -> Called:
        """A call at an address with what is known of its arguments besides."""
        return called

    def solved(self, called: Called) -> Solved:
        """The states of a function that is called with these masks and arguments. Raises
        NoBoundError.
        """
        body, begin = self.body(called.entry), entry(called.arguments)
        start = (called.entry, called.masks)
        states, _ = self.states(body, start, begin)
        edges = {node: list(self.edges(body, node, state)) for node, state in states.items()}
        return Solved(body, start, begin, states, edges)

    def body(self, entry: int) -> Body:
        """The blocks of the function at `entry`. Raises NoBoundError."""
        if entry not in self._bodies:
            blocks = dict(self._blocks(entry))
            compared = {
                code.operands[-1].number
                for block in blocks.values()
                for code in block.instructions
                if code.name == "cmp" and code.operands[-1].register is None
            }
            limits = {limit + beside for limit in compared for beside in (-1, 0, 1) if limit + beside > 0}
            few = tuple(limits) if len(limits) <= _MOST_LIMITS else ()
            self._bodies[entry] = Body(self.disassembler.flow(entry).name, entry, blocks, few)
        return self._bodies[entry]

    def states(
        self,
        body: Body,
        start: Node,
        first: State,
        within: AbstractSet[Node] | None = None,
    ) -> tuple[dict[Node, State], State | None]:
        """What holds at each node, if `first` does at the node `start`.

        If `within` is given, a loop from `start`, only its nodes are entered. What comes back to
        `start` is then not followed: it is the second of the two results, None if nothing comes
        back.
        """
        states, queued = {start: first}, {start}
        visits = Counter[Node]()
        back: State | None = None
        waiting, count = [(start[0], 0, start)], 0
        while waiting:
            node = heapq.heappop(waiting)[2]
            queued.discard(node)
            self.passed += 1
            for edge in self.edges(body, node, states[node]):
                target = edge.target
                if target[0] in (RETURN, NOWHERE) or (within is not None and target not in within):
                    continue
                if within is not None and target == start:
                    back = edge.state if back is None else merge(back, edge.state)
                    continue
                state = states.get(target)
                new = edge.state
                if state is not None:
                    if covers(state, new):
                        continue
                    visits[target] += 1
                    limits = body.limits if visits[target] <= _CAREFUL_VISITS else ()
                    new = merge(state, new, visits[target] > _STEADY_VISITS, limits)
                    if visits[target] > _MOST_VISITS:
                        # Of it only the stack pointer is known: repeating it changes nothing more.
                        stack, others = new.registers[SP], len(new.registers) - SP - 1
                        new = State([*[None] * SP, stack, *[None] * others], escaped=new.escaped)
                new = new.copy()
                new.named(f"j{target[0]:x}")
                if new == state:
                    continue
                states[target] = new
                if target not in queued:
                    queued.add(target)
                    count += 1
                    heapq.heappush(waiting, (target[0], count, target))
        return states, back

    def edges(self, body: Body, node: Node, state: State) -> Iterator[Edge]:
        """The ways from a node on, where that state holds."""
        block = body.blocks.get(node[0])
        if block is None:
            return
        *_, (last, now, masks) = self.along(block, node, state)
        if last.service or last.call is not None or last.pointer:
            yield from self._call(block, last, now, masks)
        elif last.touches:
            value: Value = number(0 if last.enables else 1)
            if last.name == "msr":
                value = now.registers[last.operands[-1].register or 0]
            afters = {*written(masks, last.system, value), *([masks] if last.condition else ())}
            for target, taken in block.after:
                for then in sorted(afters, key=repr):
                    yield Edge((target, then), now.copy(), taken, None)
        else:
            branches = block.ends or any(taken for _, taken in block.after)
            if not branches:
                now, masks = self._step(last, now, masks)
            for target, taken in block.after:
                after = decided(last, now, taken) if branches else now
                if after is not None:
                    yield Edge((target, masks), after, taken, None)
            after = decided(last, now) if block.ends else None
            if after is not None:
                why_not = "" if body.entry in self.vectors.values() else self._stray(body, last, after)
                stray = Called(0, masks, why_not=why_not) if why_not else None
                yield Edge((RETURN, masks), after, True, stray)

    def along(self, block: Block, node: Node, state: State) -> Iterator[tuple[Instruction, State, Masks]]:
        """The instructions of a block, each with state and masks right before it."""
        now, masks, before = state.copy(), node[1], None
        for code in block.instructions:
            if before is not None:
                now, masks = self._step(before, now, masks)
            yield code, now, masks
            before = code

    def _call(self, block: Block, last: Instruction, now: State, masks: Masks) -> Iterator[Edge]:
        """A call, or SVC, whose handler comes back as a function does."""
        done, left = decided(last, now), decided(last, now, holds=False)
        following = [target for target, taken in block.after if not taken]
        for called in () if done is None else self._targets(last, done, masks):
            assert done is not None
            outcomes = list(self.outcomes(called))
            if not outcomes:
                yield Edge((NOWHERE, masks), done, True, called)
            for then, result in outcomes:
                # A handler's return clears FAULTMASK (ARM DDI 0403E, B1.5.8).
                then = then._replace(faultmask=0) if last.service else then
                after = done.copy()
                after.called(None if last.service else result, f"@{last.address:x}")
                if block.ends:
                    yield Edge((RETURN, then), after, True, called)
                else:
                    yield from (Edge((target, then), after, False, called) for target in following)
        if left is not None:
            yield from (Edge((target, masks), left, False, None) for target in following)

    def _targets(self, last: Instruction, now: State, masks: Masks) -> Iterator[Called]:
        arguments = tuple(now.registers[:4])
        if last.service:
            # HardFault's where PRIMASK or FAULTMASK is set (ARM DDI 0403E, B1.5.4).
            escalates = masks.primask or masks.faultmask
            entry = self.vectors.get(HARD_FAULT if escalates else SERVICE_CALL, 0)
            why_not = "" if entry else f"SVC at {last.address:#010x} enters a handler that is not known."
            yield Called(entry, masks, why_not=why_not)
            return
        if last.call is not None:
            yield self.limited(last.address, Called(last.call, masks, arguments))
            return
        target = constant(now.registers[last.target]) if last.memory is None and last.target < PC else None
        if target is not None and target & 1:
            yield Called(target & ~1, masks, arguments)
            return
        targets = [Called(target, masks, arguments) for target in self.named(last.address)]
        yield from targets or [Called(0, masks, arguments, last.pointer)]

    def _step(self, operation: Instruction, now: State, masks: Masks) -> tuple[State, Masks]:
        if operation.name == "mrs" and operation.system:
            now.put(operation.target, masks.read(operation.system), f"@{operation.address:x}")
            return now, masks
        if self.cells and operation.memory is not None:
            cell = constant(address_of(operation.memory, now, operation.address))
            if cell is not None and cell in self.cells:
                which = self.cells.index(cell)
                if operation.name == "str":
                    masks = masks.with_cell(which, constant(now.registers[operation.target]))
                elif operation.name == "ldr" and masks.cells[which] is not None:
                    now.put(operation.target, number(masks.cells[which] or 0), "")
                    return now, masks
        return step(operation, now, self.program.read_only), masks

    def _stray(self, body: Body, last: Instruction, now: State) -> str:
        """Why a return does not go to where its function was called from, as that of longjmp();
        empty if nothing in the code says so. What an unknown store may have hit is taken to be as
        it was.
        """
        sp = now.registers[SP]
        if sp is None or sp[0] != STACK:
            return f"{body.name} goes on with another stack, and where it comes back is not known."
        words = f"{body.name} returns to an address that it did not get from its caller."
        target, moved = now.registers[LR], 0
        if last.name != "bx":
            if last.base != SP:
                return words
            moved, at = 4 * last.words, sp[1] + 4 * last.words - 4
            if last.memory is not None:
                moved, at = last.memory.post or 0, sp[1]
            target = now.slots.get((at, 4)) if sp[1] == sp[2] else None
        if sp[1] == sp[2] and sp[1] + moved:
            return words
        if target is None or target == _ENTRY_LR or target[0].startswith(("=", "j")):
            return ""
        if target[0].startswith("@"):
            # Named by the instruction that gave it.
            giver = self.disassembler.decoded[int(target[0][1:].partition(":")[0], 16)]
            loads = giver.name.startswith(("ldr", "ldm", "pop")) and giver.addressed
            return words if loads and min(loads) != SP else ""
        return words

    def _blocks(self, entry: int) -> Iterator[tuple[int, Block]]:
        graph = self.disassembler.flow(entry)
        codes, leaders = graph.instructions, {entry}
        for address, code in codes.items():
            following = graph.after[address]
            ends = address in graph.ends or address in graph.unknown
            calls = code.call is not None or code.service
            if len(following) != 1 or following[0][1] or calls or ends or code.touches:
                leaders |= {target for target, _ in following}
        inner = codes.keys() - leaders
        for first in sorted(leaders & codes.keys()):
            block, following = [codes[first]], graph.after[first]
            while following and following[0][0] in inner:
                block.append(codes[following[0][0]])
                following = graph.after[block[-1].address]
            last = block[-1].address
            yield (
                first,
                Block(tuple(block), tuple(following), last in graph.ends, graph.unknown.get(last, "")),
            )


_ENTRY_LR: Value = (f"r{LR}", 0, 0)

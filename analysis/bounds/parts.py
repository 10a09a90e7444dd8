"""What the cycles of a bound are spent on: each block of its longest path, and each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import NamedTuple

from analysis.bounds.flow import Body, Node
from analysis.bounds.graph import Instruction
from analysis.bounds.longest import Trace
from analysis.bounds.price import Again, Into, Part, Price, Step, Walk
from analysis.explain.program import Program

_NODE = 2
"""So long is an item of a trace that is a node."""
_WAY = "only the way back from the call"
_REST = "what its blocks do not tell"
_Element = Step | Walk | Into | Again


@dataclass(frozen=True)
class Code:
    """An instruction, and the source line that it is of; empty if nothing tells that."""

    address: int
    text: str
    line: str


@dataclass(frozen=True)
class Block:
    """Instructions in a row, passed so often: together they take so many cycles, with the ways on
    from them; `share` of the bound. What is no code of the program has no instructions; `function`
    says what it is.
    """

    function: str
    passes: int
    cycles: int
    share: float
    instructions: tuple[Code, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Its source lines, in order."""
        return tuple(dict.fromkeys(code.line for code in self.instructions if code.line))


@dataclass(frozen=True)
class Call:
    """That a function calls another so often on the path; `cycles` are those in between."""

    caller: str
    line: str
    callee: str
    times: int
    cycles: int


def spent(price: Price, program: Program, total: int) -> tuple[list[Block], list[Call]]:
    """The blocks and calls of a longest path that sections.Sections found, those that take the most
    cycles first. What a call costs on its way belongs to the block that calls. The blocks' sum is
    that of the price; their shares are of the cycles `total`.
    """
    passes: Counter[tuple[Body, int]] = Counter()
    cycles: Counter[tuple[Body, int]] = Counter()
    rest: Counter[str] = Counter()
    steps: list[tuple[Step, int]] = []
    calls: dict[tuple[int, int, int], list[int]] = {}
    callers: dict[int, str] = {}
    for element, times in _elements(price):
        if isinstance(element, Step):
            steps.append((element, times))
        elif isinstance(element, Into):
            callers.setdefault(element.body.entry, element.body.name)
            counts = calls.setdefault((element.body.entry, element.code.address, element.entry), [0, 0])
            counts[0] += times
            counts[1] += times * element.price.cycles
        elif isinstance(element, Walk):
            body, inside = element.part.solved.body, 0
            nodes, ways = _walked(element)
            for node, cost, passed in nodes:
                inside += passed * cost
                passes[body, node[0]] += times * passed
                cycles[body, node[0]] += times * passed * cost
            for node, cost, call, passed in ways:
                inside += passed * cost
                cycles[body, node[0]] += 0 if call else times * passed * cost
            rest[body.name] += times * (element.cycles - inside)
    # By the block that is passed and has the instruction of a step; else by itself.
    alone: dict[tuple[int, int], tuple[str, Instruction, list[int]]] = {}
    for step, times in steps:
        for address, block in step.body.blocks.items():
            if passes.get((step.body, address)) and step.code in block.instructions:
                cycles[step.body, address] += times * step.cycles
                break
        else:
            key = (step.body.entry, step.code.address)
            _, _, counts = alone.setdefault(key, (step.body.name, step.code, [0, 0]))
            counts[0] += times * step.passes
            counts[1] += times * step.cycles

    def block_of(function: str, codes: Iterable[Instruction], passed: int, taken: int) -> Block:
        lines = tuple(Code(code.address, code.text, program.source_line(code.address)) for code in codes)
        words = "" if passed else f": {_WAY if lines else _REST}"
        return Block(f"{function}{words}", passed, taken, taken / max(total, 1), lines)

    blocks = [
        block_of(body.name, body.blocks[address].instructions, passed, cycles[body, address])
        for (body, address), passed in passes.items()
        if address in body.blocks
    ]
    blocks += [block_of(name, (code,), *counts) for name, code, counts in alone.values()]
    blocks += [block_of(name, (), 0, left) for name, left in rest.items() if left]
    return (
        sorted(blocks, key=lambda it: (-it.cycles, it.instructions[0].address if it.instructions else 0)),
        [
            Call(
                callers[caller],
                program.source_line(address) or program.place(address),
                program.place(entry),
                *counts,
            )
            for (caller, address, entry), counts in sorted(
                calls.items(), key=lambda pair: (-pair[1][1], pair[0][1:])
            )
        ],
    )


class _Walked(NamedTuple):
    """How often a path passes nodes with their costs, and goes on from them to others: with the
    most cycles on the way, and the call that takes them. A node of a lap that is not like the
    others is one of the lap's own part.
    """

    nodes: list[tuple[Node, int, int]]
    ways: list[tuple[Node, int, Price | None, int]]


def _walked(walk: Walk) -> _Walked:
    parts_of = {id(walk.part): walk.part}
    nodes: Counter[tuple[int, Node]] = Counter()
    ways: Counter[tuple[int, Node, Node]] = Counter()
    waiting: list[tuple[Trace, int, Part]] = [(walk.trace, 1, walk.part)]
    while waiting:
        at, times, around = waiting.pop()
        after: Node | None = None
        while at:
            first, last = _ends(at)
            own = around
            if len(at) == _NODE:
                nodes[id(around), last] += times
            else:
                own = at[3] or around
                parts_of[id(own)] = own
                waiting.append((at[2], times * at[1], own))
                ways[id(own), last, first] += times * (at[1] - 1)
            if after is not None:
                # A lap leads to the next one, or out of its loop: that is a way of what is around.
                ways[id(own if after == first else around), last, after] += times
            after = first
            at = at[0]
    made = _Walked([(node, parts_of[part].cost[node], times) for (part, node), times in nodes.items()], [])
    for (number, before, following), times in ways.items():
        if times:
            part = parts_of[number]
            costs = (cost for target, cost in part.successors[before] if target == following)
            cycles, call = max(costs, default=0), part.calls.get((before, following))
            made.ways.append((before, cycles, call if call and call.cycles == cycles else None, times))
    return made


def _ends(trace: Trace) -> tuple[Node, Node]:
    """The first and the last node of the last item of a trace, which is a node or a lap."""
    if len(trace) == _NODE:
        return trace[1], trace[1]
    first = last = trace[2]
    while len(last) > _NODE:
        last = last[2]
    while first[0] or len(first) > _NODE:
        first = first[0] or first[2]
    return first[1], last[1]


def _elements(price: Price) -> Iterator[tuple[_Element, int]]:
    """All elements of a path with those of what it calls, each once, and how often it counts: those
    that lead to it before.
    """
    elements = {id(element): element for element in price.path}
    inside: dict[int, list[tuple[int, int]]] = {}
    waiting = list(elements)
    while waiting:
        number = waiting.pop()
        if number not in inside:
            inner = list(_inside(elements[number]))
            elements |= {id(element): element for element, _ in inner}
            inside[number] = [(id(element), how_often) for element, how_often in inner]
            waiting += [number for number, _ in inside[number]]
    inner_first = TopologicalSorter({number: [it for it, _ in inner] for number, inner in inside.items()})
    times: Counter[int] = Counter(id(element) for element in price.path)
    for number in reversed([*inner_first.static_order()]):
        yield elements[number], times[number]
        for it, how_often in inside[number]:
            times[it] += times[number] * how_often


def _inside(element: _Element) -> Iterator[tuple[_Element, int]]:
    """The elements of what is called on the way, and how often."""
    if isinstance(element, Into | Again):
        times = element.times if isinstance(element, Again) else 1
        yield from ((inner, times) for inner in element.price.path)
    elif isinstance(element, Walk):
        for _, _, call, passed in _walked(element).ways:
            yield from ((inner, passed) for inner in (call.path if call else ()))

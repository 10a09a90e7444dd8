"""What the cycles of a bound are spent on: each block of its longest path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import NamedTuple

from analysis.bounds.flow import Body, Node
from analysis.bounds.graph import Instruction
from analysis.bounds.longest import Trace
from analysis.bounds.price import Again, Price, Step, Walk
from analysis.explain.program import Program

_NODE = 2
"""So long is an item of a trace that is a node."""
_WAY = "only the way back from the call"
_REST = "what no block tells"
_Element = Step | Walk | Again


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


def spent(price: Price, program: Program, total: int) -> list[Block]:
    """The blocks of a longest path that sections.Sections found, those that take the most cycles
    first. What a call costs on its way belongs to the block that calls. The blocks' sum is that of
    the price; their shares are of the cycles `total`.
    """
    passes: Counter[tuple[Body, int]] = Counter()
    cycles: Counter[tuple[Body, int]] = Counter()
    steps: list[tuple[Step, int]] = []
    for element, times in _elements(price):
        if isinstance(element, Step):
            steps.append((element, times))
        elif isinstance(element, Walk):
            body, walked = element.part.solved.body, _walked(element)
            for node, passed in walked.nodes.items():
                passes[body, node[0]] += times * passed
                cycles[body, node[0]] += times * passed * element.part.cost[node]
            for node, cost, call, passed in walked.ways:
                cycles[body, node[0]] += 0 if call else times * passed * cost
    # By the block that is passed and has the instruction of a step; else by itself.
    alone: dict[tuple[Body, Instruction], list[int]] = {}
    for step, times in steps:
        for address, block in step.body.blocks.items():
            if passes.get((step.body, address)) and step.code in block.instructions:
                cycles[step.body, address] += times * step.cycles
                break
        else:
            counts = alone.setdefault((step.body, step.code), [0, 0])
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
    blocks += [block_of(body.name, (code,), *counts) for (body, code), counts in alone.items()]
    if rest := price.cycles - sum(block.cycles for block in blocks):
        blocks.append(block_of("the path", (), 0, rest))
    return sorted(blocks, key=lambda it: (-it.cycles, it.instructions[0].address if it.instructions else 0))


class _Walked(NamedTuple):
    """How often a path passes nodes, and goes on from them to others: with the most cycles on the
    way, and the call that takes them.
    """

    nodes: Counter[Node]
    ways: list[tuple[Node, int, Price | None, int]]


def _walked(walk: Walk) -> _Walked:
    nodes: Counter[Node] = Counter()
    ways: Counter[tuple[Node, Node]] = Counter()
    waiting: list[tuple[Trace, int]] = [(walk.trace, 1)]
    while waiting:
        at, times = waiting.pop()
        after: Node | None = None
        while at:
            first, last = _ends(at)
            if len(at) == _NODE:
                nodes[last] += times
            else:
                waiting.append((at[2], times * at[1]))
                ways[last, first] += times * (at[1] - 1)
            if after is not None:
                ways[last, after] += times
            after = first
            at = at[0]
    walked = _Walked(nodes, [])
    for (before, following), times in ways.items():
        if times:
            costs = (cost for target, cost in walk.part.successors[before] if target == following)
            cycles, call = max(costs, default=0), walk.part.calls.get((before, following))
            walked.ways.append((before, cycles, call if call and call.cycles == cycles else None, times))
    return walked


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
    if isinstance(element, Again):
        yield from ((inner, element.times) for inner in element.price.path)
    elif isinstance(element, Walk):
        for _, _, call, passed in _walked(element).ways:
            yield from ((inner, passed) for inner in (call.path if call else ()))

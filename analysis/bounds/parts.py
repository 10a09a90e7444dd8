"""What the cycles of a bound are spent on: each block of its longest path, and each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analysis.bounds.flow import Body, Node
from analysis.bounds.graph import Instruction
from analysis.bounds.longest import Trace
from analysis.bounds.price import Again, Into, Part, Price, Step, Walk

_NODE = 2
"""So long is an item of a trace that is a node."""


@dataclass(frozen=True)
class Spent:
    """A block of the function `function`, which is passed so often, with the ways on from it.

    Without instructions it has what the bound has more, or less, than its blocks: there is none.
    """

    function: str
    instructions: tuple[Instruction, ...]
    passes: int
    cycles: int

    @property
    def address(self) -> int:
        """That of the first instruction; 0 without."""
        return self.instructions[0].address if self.instructions else 0


@dataclass(frozen=True)
class CallOf:
    """That `caller` calls the function at `entry` so often at an address: `cycles` are spent there,
    those of what is called from there, too.
    """

    caller: str
    address: int
    entry: int
    times: int
    cycles: int


@dataclass(frozen=True)
class Parts:
    """`blocks`: those that take the most cycles first. Their sum is that of the bound."""

    blocks: tuple[Spent, ...]
    calls: tuple[CallOf, ...]

    @property
    def cycles(self) -> int:
        return sum(block.cycles for block in self.blocks)


@dataclass(frozen=True)
class Frame:
    """That the function at `entry` is called so often from the frame around it: `cycles` are all of
    these, with those of `inner`.
    """

    entry: int
    times: int
    cycles: int
    inner: tuple[Frame, ...]


def frames(price: Price, least_cycles: int) -> tuple[Frame, ...]:
    """The calls of a longest path as a tree, the dearest first; none with fewer cycles."""
    return _frames(((element, 1) for element in price.path), 1, least_cycles)


def _frames(elements: Iterable[tuple[_Element, int]], times: int, least_cycles: int) -> tuple[Frame, ...]:
    called: dict[int, list[tuple[Into, int]]] = {}
    for element, how_often in elements:
        if isinstance(element, Into):
            called.setdefault(element.entry, []).append((element, how_often))
        else:
            for inner, passed in _flat(element):
                called.setdefault(inner.entry, []).append((inner, passed * how_often))
    calls = []
    for entry, ones in called.items():
        cycles = times * sum(how_often * spent.price.cycles for spent, how_often in ones)
        if cycles < max(least_cycles, 1):
            continue
        inside = [(inner, how_often) for spent, how_often in ones for inner in spent.price.path]
        count = times * sum(how_often for _, how_often in ones)
        calls.append(Frame(entry, count, cycles, _frames(inside, times, least_cycles)))
    return tuple(sorted(calls, key=lambda frame: (-frame.cycles, frame.entry)))


def _flat(element: _Element) -> Iterator[tuple[Into, int]]:
    """The calls right from an element, and how often."""
    for inner, passed in _inside(element):
        if isinstance(inner, Into):
            yield inner, passed
        elif isinstance(element, Again):
            yield from ((part, passed * times) for part, times in _flat(inner))


def parts(price: Price) -> Parts:
    """The parts of a longest path that sections.Sections found."""
    account = _Account()
    for element, times in _elements(price):
        account.add(element, times)
    return account.total()


@dataclass(frozen=True)
class Loop:
    """A loop of the function `function`, with its head at `address`, that goes round so often each
    time it is entered.
    """

    function: str
    address: int
    laps: int


def longest_loop(price: Price) -> Loop | None:
    """The loop of a longest path that goes round most often; None if it has none."""
    loops = [
        Loop(element.part.solved.body.name, _ends(item)[0][0], item[1])
        for element, _ in _elements(price)
        if isinstance(element, Walk)
        for item in _laps(element.trace)
    ]
    return max(loops, key=lambda loop: (loop.laps, -loop.address), default=None)


def _laps(trace: Trace) -> Iterator[Trace]:
    """The items of a trace that are laps, those within laps, too."""
    waiting = [trace]
    while waiting:
        at = waiting.pop()
        while at:
            if len(at) > _NODE:
                yield at
                waiting.append(at[2])
            at = at[0]


_Element = Step | Walk | Into | Again


class _Account:
    """Adds up what is spent."""

    def __init__(self) -> None:
        self._passes: Counter[tuple[int, int]] = Counter()
        self._cycles: Counter[tuple[int, int]] = Counter()
        self._bodies: dict[int, Body] = {}
        self._steps: list[tuple[Step, int]] = []
        self._calls: dict[tuple[int, int, int], tuple[Body, int, int]] = {}
        self._rest: Counter[str] = Counter()

    def add(self, element: _Element, times: int) -> None:
        """Counts an element of a path so many times."""
        if isinstance(element, Step):
            self._bodies.setdefault(element.body.entry, element.body)
            self._steps.append((element, times))
        elif isinstance(element, Into):
            key = (element.body.entry, element.code.address, element.entry)
            _, before, cycles = self._calls.get(key, (element.body, 0, 0))
            self._calls[key] = (element.body, before + times, cycles + times * element.price.cycles)
        elif isinstance(element, Walk):
            self._walk(element, times)

    def _walk(self, walk: Walk, times: int) -> None:
        body = walk.part.solved.body
        self._bodies.setdefault(body.entry, body)
        depth = 0
        walked = _walked(walk)
        for part, node, passed in walked.nodes:
            key = (body.entry, node[0])
            self._passes[key] += times * passed
            self._cycles[key] += times * passed * part.cost[node]
            depth += passed * part.cost[node]
        for part, before, after, passed in walked.ways:
            cycles, call = _edge(part, before, after)
            depth += passed * cycles
            if call is None:
                self._cycles[body.entry, before[0]] += times * passed * cycles
        self._rest[body.name] += times * (walk.cycles - depth)

    def total(self) -> Parts:
        """All blocks and calls. What a call costs on its way belongs to the block that calls."""
        alone: dict[tuple[int, int], tuple[Step, int, int]] = {}
        for step, times in self._steps:
            if (block := self._block_with(step)) is not None:
                self._cycles[step.body.entry, block] += times * step.cycles
                continue
            key = (step.body.entry, step.code.address)
            _, passed, cycles = alone.get(key, (step, 0, 0))
            alone[key] = (step, passed + times * step.passes, cycles + times * step.cycles)
        blocks = [
            Spent(body.name, body.blocks[address].instructions, passed, self._cycles[entry, address])
            for (entry, address), passed in self._passes.items()
            if address in (body := self._bodies[entry]).blocks
        ]
        blocks += [Spent(step.body.name, (step.code,), *counts) for step, *counts in alone.values()]
        blocks += [Spent(name, (), 0, cycles) for name, cycles in self._rest.items() if cycles]
        calls = [
            CallOf(body.name, address, called, times, cycles)
            for (_, address, called), (body, times, cycles) in self._calls.items()
        ]
        return Parts(
            tuple(sorted(blocks, key=lambda block: (-block.cycles, block.address))),
            tuple(sorted(calls, key=lambda call: (-call.cycles, call.address, call.entry))),
        )

    def _block_with(self, step: Step) -> int | None:
        """The block that is passed and has the step's instruction, by its address."""
        for address, block in step.body.blocks.items():
            if self._passes.get((step.body.entry, address)) and step.code in block.instructions:
                return address
        return None


@dataclass(frozen=True)
class _Walked:
    """How often a path passes nodes, and goes from one to another. A node of a lap that is not like
    the others is one of the lap's own part.
    """

    nodes: list[tuple[Part, Node, int]]
    ways: list[tuple[Part, Node, Node, int]]


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
    return _Walked(
        [(parts_of[part], node, times) for (part, node), times in nodes.items()],
        [(parts_of[part], before, after, times) for (part, before, after), times in ways.items() if times],
    )


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


def _edge(part: Part, before: Node, after: Node) -> tuple[int, Price | None]:
    """The most cycles from a node to the next, and the call on the way that takes them."""
    cycles = max((cost for target, cost in part.successors[before] if target == after), default=0)
    call = part.calls.get((before, after))
    return cycles, call if call is not None and call.cycles == cycles else None


def _elements(price: Price) -> Iterator[tuple[_Element, int]]:
    """All elements of a path with those of what it calls, each once, and how often it counts."""
    times: Counter[int] = Counter(id(element) for element in price.path)
    for element in reversed(_called_first(price)):
        count = times[id(element)]
        yield element, count
        for inner, how_often in _inside(element):
            times[id(inner)] += count * how_often


def _called_first(price: Price) -> list[_Element]:
    """Elements in an order in which each comes before those that lead to it."""
    done: list[_Element] = []
    seen: set[int] = set()
    waiting: list[tuple[_Element, bool]] = [(element, False) for element in price.path]
    while waiting:
        element, is_left = waiting.pop()
        if is_left:
            done.append(element)
        elif id(element) not in seen:
            seen.add(id(element))
            waiting.append((element, True))
            waiting += [(inner, False) for inner, _ in _inside(element)]
    return done


def _inside(element: _Element) -> Iterator[tuple[_Element, int]]:
    """The elements of what is called on the way, and how often."""
    if isinstance(element, Into):
        yield from ((inner, 1) for inner in element.price.path)
    elif isinstance(element, Again):
        yield from ((inner, element.times) for inner in element.price.path)
    elif isinstance(element, Walk):
        for part, before, after, passed in _walked(element).ways:
            _, call = _edge(part, before, after)
            if call is not None:
                yield from ((inner, passed) for inner in call.path)

"""The cost of a longest way and its parts; and functions cut where a mask is set and cleared, into
blocks and the ways between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from analysis.bounds.caches import Hot, Kept
from analysis.bounds.costs import Costs
from analysis.bounds.flow import NOWHERE, RETURN, Body, Called, Edge, Node, Solved
from analysis.bounds.graph import Instruction
from analysis.bounds.pipeline import Timed, way_of
from analysis.bounds.state import HANDLER, Masks
from analysis.errors import NoBoundError
from analysis.explain.program import Program


@dataclass(frozen=True)
class Price:
    """The most cycles of a way, and the path that takes them; or why no bound is known."""

    cycles: int = 0
    path: tuple[Step | Walk | Again, ...] = field(default=(), compare=False)
    why_not: frozenset[str] = frozenset()

    def and_then(self, other: Price) -> Price:
        """The two ways, one behind the other."""
        return Price(self.cycles + other.cycles, (*self.path, *other.path), self.why_not | other.why_not)


NOTHING = Price()


class Step(NamedTuple):
    """Cycles of a path outside its blocks: an instruction by itself, the way to and from a call, or
    what it takes to come to the instruction.

    `passes` is 0 for a way, whose instruction is passed elsewhere.
    """

    body: Body
    code: Instruction
    cycles: int
    passes: int = 0

    def price(self) -> Price:
        return Price(self.cycles, (self,))


class Walk(NamedTuple):
    """A path through blocks of one function, as longest.Trace has it, that takes so many cycles."""

    part: Part
    trace: tuple[Any, ...]
    cycles: int


class Again(NamedTuple):
    """A path through what is called, that is gone so often."""

    price: Price
    times: int


@dataclass
class Part:
    """The blocks of a function in which a mask is set, with the ways between them."""

    solved: Solved
    cached: Kept
    successors: dict[Node, list[tuple[Node, int]]] = field(default_factory=dict)
    cost: dict[Node, int] = field(default_factory=dict)
    calls: dict[tuple[Node, Node], Price] = field(default_factory=dict)
    why_not: dict[Node, set[str]] = field(default_factory=dict)

    def doubt(self, node: Node, *words: str) -> None:
        """Keeps why nobody knows how long it takes from a node on."""
        self.why_not.setdefault(node, set()).update(words)


def most(prices: dict[Any, Price], key: Any, price: Price) -> None:
    if key not in prices or dearness(price) > dearness(prices[key]):
        prices[key] = price


def dearness(price: Price) -> tuple[bool, int]:
    return bool(price.why_not), price.cycles


# The ways of a function while something is held off: from where, to where, at what price.


class Mark(NamedTuple):
    """Where a mask is set or cleared: the instruction, and the call of the function that holds it,
    if that comes back with the mask as it left it; else 0.
    """

    address: int
    call: int = 0

    def called_from(self, call: int) -> Mark:
        return self if self.call else Mark(self.address, call)


@dataclass(frozen=True)
class Section:
    """From where interrupts are held off to where they are not, in the function `owner`.

    `end` is None if the function returns with the mask set and nothing calls it.
    """

    kind: str
    level: int
    owner: str
    begin: Mark
    end: Mark | None
    price: Price


class Way(NamedTuple):
    """A way of a function under masks of one kind: from its entry, or from where it sets one; to
    its return, with these masks, or to where it clears one. A section, which begins and ends in it,
    has a level.
    """

    begin: Mark | None
    end: Mark | None
    masks: Masks | None
    level: int = 0


Segments = dict[Way, Price]
"""The ways of a function."""


@dataclass(frozen=True)
class Source:
    node: Node
    begin: Mark | None
    """None for the function's entry."""
    before: Price


@dataclass(frozen=True)
class Sink:
    node: Node
    end: Mark | None
    """None for the function's return."""
    masks: Masks
    after: Price


@dataclass(eq=False)
class Cut:
    """Cuts functions of one program. `called_ways` gives the ways of what the call at an address
    goes to, or raises NoBoundError. `strays` tells where a function that does not come back goes.
    """

    program: Program
    costs: Costs
    timed: Timed
    called_ways: Callable[[Called, str, bool, int, Hot], Segments]
    strays: Callable[[int], frozenset[str]]

    def part(self, part: Part, kind: str) -> tuple[Part, list[Source], list[Sink]]:
        """The part with its blocks, and where ways begin and end."""
        solved, ends = part.solved, dict[Source | Sink, None]()
        if solved.start[1].holds(kind):
            begin = self.timed.cycles(part.solved, part.cached.hot[solved.start]).begin
            first = solved.body.blocks[solved.start[0]].instructions[0]
            enters = begin + part.cached.enters(None, solved.start)
            ends[Source(solved.start, None, Step(solved.body, first, enters).price())] = None
        for node in solved.states:
            block = solved.body.blocks.get(node[0])
            part.successors[node] = []
            if block is None:
                place = self.program.place(node[0])
                part.why_not[node] = {f"{place} is reached, and is no code of {solved.body.name}."}
                part.cost[node] = 0
                continue
            part.cost[node] = self.timed.cycles(part.solved, part.cached.hot[node]).cost[node]
            if block.why_not and not block.last.pointer:
                part.doubt(node, block.why_not)
            for edge in solved.edges[node]:
                ways = self._edge if edge.called is None else self._call
                ends |= dict.fromkeys(ways(part, node, edge, kind))
        return (
            part,
            [end for end in ends if isinstance(end, Source)],
            [end for end in ends if isinstance(end, Sink)],
        )

    def _edge(self, part: Part, node: Node, edge: Edge, kind: str) -> Iterator[Source | Sink]:
        body, target = part.solved.body, edge.target
        inside, stays, returns = node[1].holds(kind), target[1].holds(kind), target[0] == RETURN
        code, step = body.blocks[node[0]].last, self._step(part, node, edge)
        if inside and not stays:
            yield Sink(node, Mark(code.address), target[1], step)
        elif stays and returns:
            yield Sink(node, None, target[1], step)
        elif inside:
            part.successors[node].append((target, step.cycles))
        elif stays:
            own = Step(body, code, self.costs.own(code), 1).price()
            late = Step(body, code, self._late(part, node)).price()
            yield Source(target, Mark(code.address), own.and_then(late).and_then(step))

    def _call(self, part: Part, node: Node, edge: Edge, kind: str) -> Iterator[Source | Sink]:
        called, target, body = edge.called, edge.target, part.solved.body
        assert called is not None
        code, step = body.blocks[node[0]].last, self._step(part, node, edge)
        inside, returns, nowhere = node[1].holds(kind), target[0] == RETURN, target[0] == NOWHERE
        stays = target[1].holds(kind) and not nowhere
        if nowhere and inside and called.entry:
            part.doubt(node, *self.strays(called.entry))
        if kind == HANDLER and nowhere:
            # Nothing in there ends the way, and nothing comes back.
            return
        try:
            ways = self.called_ways(called, kind, inside, code.address, part.cached.hot[node])
        except NoBoundError as error:
            ways = {Way(None, None, target[1]): Price(why_not=frozenset((str(error),)))}
            if inside and nowhere:
                part.doubt(node, str(error))
        if code.service:
            # With the masks as they are behind the handler that SVC enters.
            before, ways = ways, {}
            for way, price in before.items():
                masks = way.masks and way.masks._replace(faultmask=0)
                most(ways, way._replace(masks=masks), price)

        def through(price: Price) -> Price:
            return Price(price.cycles, (Again(price, 1),), price.why_not)

        if inside and stays:
            none = f"No way through {self.program.place(called.entry)} was found."
            price = ways.get(Way(None, None, target[1]), Price(why_not=frozenset((none,))))
            price = through(price).and_then(step)
            if returns:
                yield Sink(node, None, target[1], price)
            else:
                part.successors[node].append((target, price.cycles))
                most(part.calls, (node, target), price)
        own = Step(body, code, self.costs.own(code), 1).price()
        for (begin, end, masks, _), price in ways.items():
            if inside and begin is None and end is not None:
                head = own.and_then(step).and_then(through(price))
                yield Sink(node, end.called_from(code.address), target[1], head)
            if stays and begin is not None and end is None and masks == target[1]:
                yield Source(target, begin.called_from(code.address), through(price).and_then(step))
                if returns:
                    # A tail call: what it begins, this function leaves begun.
                    yield Sink(target, None, target[1], NOTHING)

    def _late(self, part: Part, node: Node) -> int:
        """How long a store may hold up what comes behind the instruction that ends a node, if it
        was made before the function began, or in one that it called.
        """
        most = self.costs.late_store_cycles
        before: dict[Node, list[tuple[Node, Edge] | None]] = {part.solved.start: [None]}
        for origin, edges in part.solved.edges.items():
            for way in edges:
                before.setdefault(way.target, []).append((origin, way))
        waiting, seen = [(node, 0)], {node}
        while waiting:
            at, passed = waiting.pop()
            codes = part.solved.body.blocks[at[0]].instructions
            passed += len(codes)
            if any(code.accesses and not code.conditional for code in codes) or passed > most:
                continue
            for arrival in before.get(at, ()):
                if arrival is None or arrival[1].called is not None:
                    return most
                if arrival[0] not in seen:
                    seen.add(arrival[0])
                    waiting.append((arrival[0], passed))
        return 0

    def _step(self, part: Part, node: Node, edge: Edge) -> Price:
        """The cycles of an edge; with the first reads of a loop that it enters."""
        hot, target, way = part.cached.hot[node], edge.target, way_of(edge)
        cycles, step = self.timed.cycles(part.solved, hot), 0
        hot_there = part.cached.hot.get(target, hot)
        if (node, way) not in cycles.steps:
            part.doubt(node, "A lap leads where the loop does not.")
        elif hot_there == hot:
            step = cycles.steps[node, way] + part.cached.enters(node, target)
        else:
            # The next node begins in ways that are none of this one's.
            dearest = self.timed.cycles(part.solved, hot_there).dearest.get(target, 0)
            step = cycles.ways[node, way] + dearest + part.cached.enters(node, target)
        body = part.solved.body
        return Step(body, body.blocks[node[0]].last, step).price()

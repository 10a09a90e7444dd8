"""Functions cut where a mask is set and cleared, into blocks and the ways between them: from where,
to where, at what price.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from analysis.bounds.caches import Hot, Kept
from analysis.bounds.calls import Contexts
from analysis.bounds.flow import NOWHERE, RETURN, Called, Edge, Node, Solved
from analysis.bounds.graph import Instruction
from analysis.bounds.pipeline import Timed
from analysis.bounds.price import NOTHING, Price, most
from analysis.bounds.state import HANDLER, Masks
from analysis.errors import NoBoundError


class Mark(NamedTuple):
    """Where a mask is set or cleared: the instruction, and the call of the function that holds it,
    if that comes back with the mask as it left it; else 0.
    """

    address: int
    call: int = 0

    def called_from(self, call: int) -> Mark:
        return Mark(self.address, self.call or call)


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


class Source(NamedTuple):
    node: Node
    begin: Mark | None
    """None for the function's entry."""
    before: Price


class Sink(NamedTuple):
    end: Mark | None
    """None for the function's return."""
    masks: Masks
    after: Price


@dataclass
class Part:
    """The blocks of a function in which a mask of a kind is set, with the ways between them, and
    where ways begin and end.
    """

    solved: Solved
    kind: str
    cached: Kept
    successors: dict[Node, dict[Node, Price]] = field(default_factory=dict)
    cost: dict[Node, Price] = field(default_factory=dict)
    why_not: dict[Node, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Why nobody knows how long it takes from a node on."""
    sources: list[Source] = field(default_factory=list)
    sinks: dict[Node, list[Sink]] = field(default_factory=lambda: defaultdict(list))


@dataclass(eq=False)
class Cut:
    """Cuts functions of one program. `called_ways` gives the ways of what a call by an instruction
    goes to, or raises NoBoundError.
    """

    contexts: Contexts
    timed: Timed
    called_ways: Callable[[Called, str, bool, Instruction, Hot], Segments]

    def part(self, solved: Solved, kind: str, hot: Hot) -> Part:
        """The blocks of a function."""
        part, body = Part(solved, kind, self.timed.cached(solved, kind, hot)), solved.body
        if solved.start[1].holds(kind):
            begin = self.timed.cycles(solved, part.cached.hot[solved.start]).begin
            first = body.blocks[body.entry].instructions[0]
            enters = begin + part.cached.enters(None, solved.start)
            part.sources.append(Source(solved.start, None, Price(enters, place=(body, first))))
        for node in solved.states:
            block = body.blocks.get(node[0])
            part.successors[node] = {}
            if block is None:
                place = self.contexts.program.place(node[0])
                part.why_not[node].add(f"{place} is reached, and is no code of {body.name}.")
                part.cost[node] = NOTHING
                continue
            cost = self.timed.cycles(solved, part.cached.hot[node]).cost[node]
            part.cost[node] = Price(cost, place=(body, node[0]), passes=1)
            if block.why_not and not block.last.pointer:
                part.why_not[node].add(block.why_not)
            for edge in solved.edges[node]:
                self._edge(part, node, edge)
        return part

    def _edge(self, part: Part, node: Node, edge: Edge) -> None:
        """A way on from a block, with what is called on it."""
        code, kind = part.solved.body.blocks[node[0]].last, part.kind
        target, called = edge.target, edge.called
        own = Price(self.timed.costs.own(code), place=(part.solved.body, code), passes=1)
        step = Price(self._step(part, node, edge), place=own.place)
        inside, nowhere = node[1].holds(kind), target[0] == NOWHERE
        stays, through = target[1].holds(kind) and not nowhere, Way(None, None, target[1])
        ways: Segments = {}
        if called is not None:
            if nowhere and inside and called.entry:
                part.why_not[node] |= self.contexts.strays(called.entry)
            if kind == HANDLER and nowhere:
                # Nothing in there ends the way, and nothing comes back.
                return
            try:
                ways = self.called_ways(called, kind, inside, code, part.cached.hot[node])
            except NoBoundError as error:
                ways = {through: Price(why_not=frozenset((str(error),)))}
                if inside and nowhere:
                    part.why_not[node].add(str(error))
        elif inside and not stays:
            part.sinks[node].append(Sink(Mark(code.address), target[1], step))
        elif stays and not inside:
            late = Price(self._late(part.solved, node), place=own.place)
            part.sources.append(Source(target, Mark(code.address), own + late + step))
        if inside and stays:
            price = step
            if called is not None:
                none = f"No way through {self.contexts.program.place(called.entry)} was found."
                price = ways.get(through, Price(why_not=frozenset((none,)))) + step
            if target[0] == RETURN:
                part.sinks[node].append(Sink(None, target[1], price))
            else:
                most(part.successors[node], target, price)
        for (begin, end, masks, _), price in ways.items():
            if inside and begin is None and end is not None:
                part.sinks[node].append(Sink(end.called_from(code.address), target[1], own + step + price))
            if stays and begin is not None and end is None and masks == target[1]:
                part.sources.append(Source(target, begin.called_from(code.address), price + step))
                if target[0] == RETURN:
                    # A tail call: what it begins, this function leaves begun.
                    part.sinks[target].append(Sink(None, target[1], NOTHING))

    def _late(self, solved: Solved, node: Node) -> int:
        """How long a store may hold up what comes behind the instruction that ends a node, if it
        was made before the function began, or in one that it called.
        """
        most = self.timed.costs.late_store_cycles
        before: dict[Node, list[tuple[Node, Called | None]]] = defaultdict(list)
        for origin, edge in solved.ways:
            before[edge.target].append((origin, edge.called))
        # By the fewest instructions from there.
        passed, waiting = {node: 0}, [node]
        while waiting:
            at = waiting.pop()
            codes = solved.body.blocks[at[0]].instructions
            there = passed[at] + len(codes)
            if any(code.accesses and not code.conditional for code in codes) or there > most:
                continue
            for origin, called in before[at]:
                if called is not None:
                    return most
                if there < passed.get(origin, most + 1):
                    passed[origin] = there
                    waiting.append(origin)
            if at == solved.start:
                return most
        return 0

    def _step(self, part: Part, node: Node, edge: Edge) -> int:
        """The cycles of an edge; with the first reads of a loop that it enters."""
        hot, target = part.cached.hot[node], edge.target
        cycles = self.timed.cycles(part.solved, hot)
        hot_there = part.cached.hot.get(target, hot)
        if id(edge) not in cycles.steps:
            part.why_not[node].add("A lap leads where the loop does not.")
            return 0
        if hot_there == hot:
            return cycles.steps[id(edge)] + part.cached.enters(node, target)
        # The next node begins in ways that are none of this one's.
        dearest = self.timed.cycles(part.solved, hot_there).dearest.get(target, 0)
        return cycles.ways[id(edge)] + dearest + part.cached.enters(node, target)

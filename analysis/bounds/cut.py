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
from analysis.bounds.pipeline import Timed, way_of
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
    why_not: dict[Node, set[str]] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    sinks: dict[Node, list[Sink]] = field(default_factory=lambda: defaultdict(list))

    def doubt(self, node: Node, *words: str) -> None:
        """Keeps why nobody knows how long it takes from a node on."""
        self.why_not.setdefault(node, set()).update(words)


@dataclass(eq=False)
class Cut:
    """Cuts functions of one program. `called_ways` gives the ways of what the call at an address
    goes to, or raises NoBoundError.
    """

    contexts: Contexts
    timed: Timed
    called_ways: Callable[[Called, str, bool, int, Hot], Segments]

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
                part.doubt(node, f"{place} is reached, and is no code of {body.name}.")
                part.cost[node] = NOTHING
                continue
            cost = self.timed.cycles(solved, part.cached.hot[node]).cost[node]
            part.cost[node] = Price(cost, place=(body, node[0]), passes=1)
            if block.why_not and not block.last.pointer:
                part.doubt(node, block.why_not)
            for edge in solved.edges[node]:
                own = Price(self.timed.costs.own(block.last), place=(body, block.last), passes=1)
                step = Price(self._step(part, node, edge), place=own.place)
                if edge.called is None:
                    self._edge(part, node, edge, step, own)
                else:
                    self._call(part, node, edge, edge.called, step, own)
        return part

    def _edge(self, part: Part, node: Node, edge: Edge, step: Price, own: Price) -> None:
        target, code = edge.target, part.solved.body.blocks[node[0]].last
        inside, stays = node[1].holds(part.kind), target[1].holds(part.kind)
        if inside and not stays:
            part.sinks[node].append(Sink(Mark(code.address), target[1], step))
        elif stays and target[0] == RETURN:
            part.sinks[node].append(Sink(None, target[1], step))
        elif inside:
            most(part.successors[node], target, step)
        elif stays:
            late = Price(self._late(part.solved, node), place=own.place)
            part.sources.append(Source(target, Mark(code.address), own + late + step))

    def _call(self, part: Part, node: Node, edge: Edge, called: Called, step: Price, own: Price) -> None:
        target, kind, code = edge.target, part.kind, part.solved.body.blocks[node[0]].last
        inside, returns, nowhere = node[1].holds(kind), target[0] == RETURN, target[0] == NOWHERE
        stays = target[1].holds(kind) and not nowhere
        if nowhere and inside and called.entry:
            part.doubt(node, *self.contexts.strays(called.entry))
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
        if inside and stays:
            none = f"No way through {self.contexts.program.place(called.entry)} was found."
            price = ways.get(Way(None, None, target[1]), Price(why_not=frozenset((none,)))) + step
            if returns:
                part.sinks[node].append(Sink(None, target[1], price))
            else:
                most(part.successors[node], target, price)
        for (begin, end, masks, _), price in ways.items():
            if inside and begin is None and end is not None:
                part.sinks[node].append(Sink(end.called_from(code.address), target[1], own + step + price))
            if stays and begin is not None and end is None and masks == target[1]:
                part.sources.append(Source(target, begin.called_from(code.address), price + step))
                if returns:
                    # A tail call: what it begins, this function leaves begun.
                    part.sinks[target].append(Sink(None, target[1], NOTHING))

    def _late(self, solved: Solved, node: Node) -> int:
        """How long a store may hold up what comes behind the instruction that ends a node, if it
        was made before the function began, or in one that it called.
        """
        most = self.timed.costs.late_store_cycles
        before: dict[Node, list[tuple[Node, Called | None]]] = {}
        for origin, edge in solved.ways:
            before.setdefault(edge.target, []).append((origin, edge.called))
        # By the fewest instructions from there.
        passed, waiting = {node: 0}, [node]
        while waiting:
            at = waiting.pop()
            codes = solved.body.blocks[at[0]].instructions
            there = passed[at] + len(codes)
            if any(code.accesses and not code.conditional for code in codes) or there > most:
                continue
            for origin, called in before.get(at, ()):
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
        hot, target, way = part.cached.hot[node], edge.target, way_of(edge)
        cycles = self.timed.cycles(part.solved, hot)
        hot_there = part.cached.hot.get(target, hot)
        if (node, way) not in cycles.steps:
            part.doubt(node, "A lap leads where the loop does not.")
            return 0
        if hot_there == hot:
            return cycles.steps[node, way] + part.cached.enters(node, target)
        # The next node begins in ways that are none of this one's.
        dearest = self.timed.cycles(part.solved, hot_there).dearest.get(target, 0)
        return cycles.ways[node, way] + dearest + part.cached.enters(node, target)

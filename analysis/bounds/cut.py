"""A function cut where a mask is set and cleared, into blocks and the ways between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.bounds.caches import Hot
from analysis.bounds.costs import Costs
from analysis.bounds.flow import NOWHERE, RETURN, Called, Edge, Node
from analysis.bounds.masks import HANDLER, Masks, after_service
from analysis.bounds.pipeline import way_of
from analysis.bounds.price import NOTHING, Into, Part, Price, Step, most
from analysis.bounds.segments import Mark, Segments, Sink, Source
from analysis.bounds.timed import Timed
from analysis.errors import NoBoundError
from analysis.explain.program import Program


class Cut:
    """Cuts functions of one program. `called_ways` gives the ways of what the call at an address
    goes to, or raises NoBoundError. `strays` tells where a function that does not come back goes.
    """

    def __init__(
        self,
        program: Program,
        costs: Costs,
        timed: Timed,
        called_ways: Callable[[Called, str, bool, int, Hot], Segments],
        strays: Callable[[int], frozenset[str]],
    ) -> None:
        self._strays = strays
        self._program = program
        self._costs = costs
        self._timed = timed
        self._called_ways = called_ways

    def part(self, part: Part, kind: str) -> tuple[Part, list[Source], list[Sink]]:
        """The part with its blocks, and where ways begin and end."""
        solved = part.solved
        sources = []
        sinks: list[Sink] = []
        if solved.start[1].holds(kind):
            begin = self._timed.cycles(part.timed, part.cached.hot[solved.start]).begin
            first = solved.body.blocks[solved.start[0]].instructions[0]
            enters = begin + part.cached.enters(None, solved.start)
            sources.append(Source(solved.start, None, Step(solved.body, first, enters, 0).price()))
        for node in solved.states:
            block = solved.body.blocks.get(node[0])
            if block is None:
                place = self._program.place(node[0])
                part.why_not[node] = {f"{place} is reached, and is no code of {solved.body.name}."}
                part.cost[node] = 0
                part.successors[node] = []
                continue
            part.cost[node] = self._timed.cycles(part.timed, part.cached.hot[node]).cost[node]
            if block.why_not and not block.last.pointer:
                part.why_not.setdefault(node, set()).add(block.why_not)
            part.successors[node] = []
            inside = node[1].holds(kind)
            for edge in solved.edges[node]:
                step = Step(solved.body, block.last, self._step_cycles(part, node, edge), 0).price()
                for source in self._edge(part, node, edge, kind, inside, step):
                    (sources if isinstance(source, Source) else sinks).append(source)  # type: ignore[arg-type]
        return part, list(dict.fromkeys(sources)), list(dict.fromkeys(sinks))

    def _edge(
        self, part: Part, node: Node, edge: Edge, kind: str, inside: bool, step: Price
    ) -> Iterator[Source | Sink]:
        target, stays = edge.target, edge.target[1].holds(kind)
        returns = target[0] == RETURN
        code = part.solved.body.blocks[node[0]].last
        if edge.called is None:
            if inside and stays and returns:
                yield Sink(node, None, target[1], step)
            elif inside and stays:
                part.successors[node].append((target, step.cycles))
            elif inside:
                yield Sink(node, Mark(code.address), target[1], step)
            elif stays:
                own = Step(part.solved.body, code, self._costs.own(code), 1).price()
                if returns:
                    yield Sink(node, None, target[1], step)
                else:
                    late = Step(part.solved.body, code, self._late(part, node), 0).price()
                    yield Source(target, Mark(code.address), own.and_then(late).and_then(step))
            return
        yield from self._call_ways(part, node, edge, kind, inside, step)

    def _call_ways(
        self, part: Part, node: Node, edge: Edge, kind: str, inside: bool, step: Price
    ) -> Iterator[Source | Sink]:
        called, target = edge.called, edge.target
        assert called is not None
        code = part.solved.body.blocks[node[0]].last
        if target[0] == NOWHERE and inside and called.entry:
            for word in self._strays(called.entry):
                part.why_not.setdefault(node, set()).add(word)
        if kind == HANDLER and target[0] == NOWHERE:
            # Nothing in there ends the way, and nothing comes back.
            return
        returns = target[0] == RETURN
        try:
            ways = self._called_ways(called, kind, inside, code.address, part.cached.hot[node])
        except NoBoundError as error:
            ways = Segments(through={target[1]: Price(why_not=frozenset((str(error),)))})
            if inside and target[0] == NOWHERE:
                part.why_not.setdefault(node, set()).add(str(error))
        if code.service:
            ways = _after_service(node[1], ways)
        own = Step(part.solved.body, code, self._costs.own(code), 1).price()

        def through(price: Price) -> Price:
            return Into(part.solved.body, code, called.entry, price).priced()

        if inside and target[1].holds(kind) and target[0] != NOWHERE:
            nowhere = Price(
                why_not=frozenset((f"No way through {self._program.place(called.entry)} was found.",))
            )
            price = through(ways.through.get(target[1], nowhere)).and_then(step)
            if returns:
                yield Sink(node, None, target[1], price)
            else:
                part.successors[node].append((target, price.cycles))
                most(part.calls, (node, target), price)
        if inside:
            for end, price in ways.heads.items():
                way = own.and_then(step).and_then(through(price))
                yield Sink(node, end.called_from(code.address), target[1], way)
        if target[1].holds(kind) and target[0] != NOWHERE:
            for (begin, masks), price in ways.tails.items():
                if masks != target[1]:
                    continue
                mark = begin.called_from(code.address)
                if returns:
                    # A tail call: what it begins, this function leaves begun.
                    yield Source(target, mark, through(price).and_then(step))
                    yield Sink(target, None, masks, NOTHING)
                else:
                    yield Source(target, mark, through(price).and_then(step))

    def _late(self, part: Part, node: Node) -> int:
        """How long a store may hold up what comes behind the instruction that ends a node, if it
        was made before the function began, or in one that it called.
        """
        most = self._costs.late_store_cycles
        before: dict[Node, list[Edge | None]] = {part.solved.start: [None]}
        for edges in part.solved.edges.values():
            for way in edges:
                before.setdefault(way.target, []).append(way)
        origins = {id(edge): node for node, edges in part.solved.edges.items() for edge in edges}
        waiting, seen = [(node, 0)], {node}
        while waiting:
            at, passed = waiting.pop()
            codes = part.solved.body.blocks[at[0]].instructions
            passed += len(codes)
            if any(code.accesses and not code.conditional for code in codes) or passed > most:
                continue
            for edge in before.get(at, ()):
                if edge is None or edge.called is not None:
                    return most
                if origins[id(edge)] not in seen:
                    seen.add(origins[id(edge)])
                    waiting.append((origins[id(edge)], passed))
        return 0

    def _step_cycles(self, part: Part, node: Node, edge: Edge) -> int:
        """Cycles of an edge; with the first reads of a loop that it enters."""
        hot, target, way = part.cached.hot[node], edge.target, way_of(edge)
        cycles = self._timed.cycles(part.timed, hot)
        if (node, way) not in cycles.steps:
            part.why_not.setdefault(node, set()).add("A lap leads where the loop does not.")
            return 0
        hot_there = part.cached.hot.get(target, hot)
        if hot_there == hot:
            step = cycles.steps[node, way]
        else:
            # The next node begins in ways that are none of this one's.
            step = cycles.ways[node, way] + self._timed.cycles(part.timed, hot_there).dearest.get(target, 0)
        return step + part.cached.enters(node, target)


def _after_service(before: Masks, ways: Segments) -> Segments:
    """The ways of a handler that SVC enters, with the masks as they are behind it."""
    segments = Segments(heads=ways.heads, sections=ways.sections)
    for left, price in ways.through.items():
        most(segments.through, after_service(before, left), price)
    for (begin, left), price in ways.tails.items():
        most(segments.tails, (begin, after_service(before, left)), price)
    return segments

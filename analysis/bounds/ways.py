"""The longest ways of functions while something is held off, with all that they call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from analysis.bounds.caches import COLD, UNKNOWN, Hot
from analysis.bounds.calls import MANY_FUNCTIONS, Calls, Contexts
from analysis.bounds.costs import Costs
from analysis.bounds.flow import NOWHERE, RETURN, Called, Edge, Node, Solved
from analysis.bounds.graph import Disassembler
from analysis.bounds.longest import Passes, longest_ways, reaching
from analysis.bounds.pipeline import Timed, way_of
from analysis.bounds.price import (
    NOTHING,
    Again,
    Into,
    Mark,
    Part,
    Price,
    Section,
    Segments,
    Sink,
    Source,
    Step,
    Walk,
    dearer,
    most,
)
from analysis.bounds.rounds import Laps, Rounds, Spent
from analysis.bounds.state import HANDLER, KINDS, Masks, after_service
from analysis.bounds.statements import Recursion, Stated
from analysis.errors import NoBoundError
from analysis.explain.program import Program

# A function cut where a mask is set and cleared, into blocks and the ways between them.


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


_DEEPEST = 40
"""So many calls of a function that calls itself are followed into each other."""
_DEAR = 1 << 60
"""A price that tells how often it was paid."""


class Ways:
    """The ways of one program's functions, each worked out once. `found` and `endless` fill with
    the sections that are met: those with an end, and those from where no way leads to one.
    """

    def __init__(
        self,
        program: Program,
        disassembler: Disassembler,
        cells: Sequence[int],
        statements: Stated,
        costs: Costs,
        vectors: Mapping[int, int],
    ) -> None:
        self._program = program
        self._costs = costs
        self._stated = statements
        self.calls = Calls(program, disassembler, cells, statements.untaken, vectors)
        self.contexts = Contexts(
            program,
            disassembler,
            self.calls,
            cells,
            statements.called,
            statements.copied,
            self.depth,
            vectors,
        )
        self.rounds = Rounds(program, self.contexts.flow, statements)
        self.timed = Timed(program, self.contexts.flow, costs, self.contexts.solve)
        self.cut = Cut(program, costs, self.timed, self._called_ways, self.contexts.strays)
        self.segments: dict[tuple[Any, ...], Segments] = {}
        # The functions that were seen from a call with nothing held off.
        self.unheld: set[int] = set()
        self._pricing: list[tuple[Any, ...]] = []
        # What another call of a function that is stated to call itself costs, while it is priced.
        self._again: dict[int, int] = {}
        # The functions of a large program take long enough by themselves.
        self._spent = Spent(min(1.0, MANY_FUNCTIONS / max(1, len(self.calls.touching))))
        self.sections: dict[tuple[str, Mark, Mark | None], Section] = {}
        self.endless: dict[tuple[str, Mark], Section] = {}

    def of(self, called: Called, kind: str, hot: Hot = COLD) -> Segments:
        recursion = self._recursion(called.entry)
        if recursion is not None:
            return self._ways_again(called, kind, hot, recursion)
        called = self.contexts.context(called)
        key = (*called[:3], kind, hot, *self._again.items())
        if key not in self.segments:
            if key in self._pricing or self.depth(called.entry) >= _DEEPEST:
                raise NoBoundError(f"{self._program.place(called.entry)} calls itself.")
            self._pricing.append(key)
            try:
                self.segments[key] = self._least_ways(self.contexts.solve(called), kind, hot)
            finally:
                self._pricing.pop()
            if not any(map(called.masks.holds, KINDS)):
                self.unheld.add(called.entry)
        return self.segments[key]

    def forget(self, statements: Stated) -> None:
        """Forgets all prices, and how often loops go round, for what is stated now."""
        self._stated = statements
        self.segments, self.unheld, self._spent = {}, set(), Spent(self._spent.share)
        self.rounds.forget(statements)
        self.sections, self.endless = {}, {}

    def _least_ways(self, solved: Solved, kind: str, hot: Hot) -> Segments:
        """The ways of a function; those that find all lines in the caches but the first time, if
        that is less.
        """
        segments = self._found_ways(solved, kind, hot)
        nothing = not (segments.through or segments.heads or segments.tails or segments.sections)
        lines = UNKNOWN if self._costs.certain or nothing else self.timed.all_lines(solved)
        fits = lines.fit(self._costs)
        warm = Hot(hot.code or fits.code, hot.data or fits.data)
        if warm != hot:
            first = Hot(warm.code and not hot.code, warm.data and not hot.data)
            reads = lines.first_reads(self._costs, first)
            more = Step(solved.body, solved.body.blocks[solved.body.entry].instructions[0], reads, 0).price()
            segments.limit(self._found_ways(solved, kind, warm), more)
        if hot == COLD:
            for (begin, end), (level, price) in segments.sections.items():
                self.keep(kind, level, solved.body.entry, begin, end, price)
        return segments

    def depth(self, entry: int) -> int:
        """How many calls of a function are being priced, one in another."""
        return sum(key[0] == entry for key in self._pricing)

    def _recursion(self, entry: int) -> Recursion | None:
        function = self._program.function_at(entry)
        if not self._stated.recursions or function is None or entry in self.calls.touching:
            return None
        return self._stated.recursions.get(function.name)

    def _ways_again(self, called: Called, kind: str, hot: Hot, recursion: Recursion) -> Segments:
        """The ways of a function that is stated to call itself so often: each of its calls takes
        the longest way, and what it calls in turn is counted with the others.
        """
        called = called._replace(arguments=(None,) * 4)
        if called.entry in self._again:
            return Segments(through={called.masks: Price(self._again[called.entry])})
        key = (*called[:3], kind, hot, *self._again.items())
        if key not in self.segments:
            own = self._with_again(called, kind, hot, 0)
            calls = recursion.calls
            if calls is None:
                most = self._with_again(called, kind, hot, _DEAR).values()
                each = max((price.cycles // _DEAR for price in most), default=0)
                calls = sum(each**level for level in range(recursion.depth or 1))
            self.segments[key] = Segments(
                through={masks: Again(price, calls).priced() for masks, price in own.items()}
            )
        return self.segments[key]

    def _with_again(self, called: Called, kind: str, hot: Hot, cycles: int) -> dict[Masks, Price]:
        """The ways through a function whose calls of itself cost so much."""
        self._again[called.entry] = cycles
        try:
            return self._found_ways(self.contexts.solve(called), kind, hot).through
        finally:
            del self._again[called.entry]

    def _found_ways(self, solved: Solved, kind: str, hot: Hot) -> Segments:
        part, sources, sinks = self.cut.part(Part(solved, self.timed.cached(solved, kind, hot), solved), kind)
        segments = Segments()
        by_node: dict[Node, list[Sink]] = {}
        for sink in sinks:
            by_node.setdefault(sink.node, []).append(sink)
        laps = self.laps_of(part, kind)
        of_loops = laps.passes(part)
        ways = {
            node: self.between(part, node, by_node, laps, of_loops)
            for node in {source.node for source in sources}
        }
        for source in sources:
            if source.begin is not None and not ways[source.node]:
                self._without_end(part, source, kind)
            for sink, price in ways[source.node]:
                whole = source.before.and_then(price).and_then(sink.after)
                self._sort(segments, kind, source, sink, whole)
        return segments

    def _without_end(self, part: Part, source: Source, kind: str) -> None:
        """From there no way leads on that ends the section, as far as they can be followed."""
        assert source.begin is not None
        reached = _reached(source.node, part.successors)
        why_not = {word for node in reached for word in part.why_not.get(node, ())}
        why_not |= source.before.why_not
        price = Price(why_not=frozenset(why_not))
        if why_not:
            self.keep(kind, 0, part.solved.body.entry, source.begin, None, price)
        else:
            own = part.solved.body.name
            self.endless[kind, source.begin] = Section(kind, 0, own, source.begin, None, price)

    def _sort(self, segments: Segments, kind: str, source: Source, sink: Sink, price: Price) -> None:
        """Keeps a way as what it is: all through, to an end, from a beginning, or a section."""
        if source.begin is None and sink.end is None:
            most(segments.through, sink.masks, price)
        elif source.begin is None and sink.end is not None:
            most(segments.heads, sink.end, price)
        elif source.begin is not None and sink.end is None:
            most(segments.tails, (source.begin, sink.masks), price)
        elif source.begin is not None:
            level = source.node[1].basepri if kind == "basepri" else 0
            earlier = segments.sections.get((source.begin, sink.end))
            if earlier is None or dearer(price, earlier[1]):
                segments.sections[source.begin, sink.end] = (level, price)

    def _called_ways(self, called: Called, kind: str, inside: bool, code: int, hot: Hot) -> Segments:
        """The ways of what the call at `code` goes to. Raises NoBoundError."""
        why_not = called.why_not
        if not why_not and self._program.function_at(called.entry) is None:
            why_not = f"{self._program.place(code)} calls {called.entry:#010x}, where no function is known."
        if why_not:
            return Segments(through={called.masks: Price(why_not=frozenset((why_not,)))})
        if not inside and not self.contexts.matters(called):
            return Segments()
        cold = self.of(called, kind)
        return cold if hot == COLD else self.of(called, kind, hot)

    def between(
        self,
        part: Part,
        node: Node,
        sinks: Mapping[Node, list[Sink]],
        laps: Laps,
        of_loops: Passes[Node],
    ) -> list[tuple[Sink, Price]]:
        """The longest way from a node to each of the sinks."""
        part.cost.setdefault(node, 0)
        reached = _reached(node, part.successors)
        ends = {end for end in sinks if end in reached}
        if not ends:
            return []
        alive = reaching(ends, part.successors) & reached
        irreducible = ""
        try:
            laps.begin()
            ways = longest_ways(node, ends, part.successors, part.cost, of_loops)
        except NoBoundError as error:
            ways, irreducible = {}, str(error)
        reasons = self._told(part, alive, laps)
        # What leads nobody knows where may lead to any end.
        lost = {word for place, words in part.why_not.items() if place in reached for word in words}
        priced = []
        for end in ends:
            why_not = {irreducible, *lost} if irreducible else set(lost)
            if reasons:
                here = reaching({end}, part.successors) & reached
                why_not |= {word for place, words in reasons.items() if place in here for word in words}
            way = ways.get(end)
            if way is None and not irreducible:
                continue
            price = Price(way.cost, (Walk(part, way.trace, way.cost),)) if way else NOTHING
            for sink in sinks[end]:
                priced.append((sink, Price(price.cycles, price.path, frozenset(why_not))))
        return priced

    def _told(self, part: Part, alive: set[Node], laps: Laps) -> dict[Node, set[str]]:
        """Why there is no bound, by the nodes that say so."""
        reasons: dict[Node, set[str]] = {}
        for (u, v), price in part.calls.items():
            if u in alive and v in alive and price.why_not and not laps.saw_through(u, v):
                reasons.setdefault(u, set()).update(price.why_not)
        for node, word in laps.unlimited.items():
            reasons.setdefault(node, set()).add(word)
        return reasons

    def laps_of(self, part: Part, kind: str) -> Laps:
        return Laps(
            self.contexts.flow, self.rounds.passes, lambda lap: self._of_lap(lap, kind, part), self._spent
        )

    def _of_lap(self, solved: Solved, kind: str, whole: Part) -> Part | None:
        """The ways and costs of one lap of a loop; None if some of it has no bound."""
        before, self.contexts.in_a_lap = self.contexts.in_a_lap, True
        try:
            part, _, _ = self.cut.part(Part(solved, whole.cached, whole.timed), kind)
        finally:
            self.contexts.in_a_lap = before
        unknown = part.why_not or any(price.why_not for price in part.calls.values())
        return None if unknown else part

    def keep(self, kind: str, level: int, entry: int, begin: Mark, end: Mark | None, price: Price) -> None:
        key = (kind, begin, end)
        section = self.sections.get(key)
        function = self._program.function_at(entry)
        new = Section(kind, level, function.name if function else f"{entry:#010x}", begin, end, price)
        if section is None or dearer(price, section.price):
            self.sections[key] = new


def _reached(start: Node, successors: Mapping[Node, list[tuple[Node, int]]]) -> set[Node]:
    seen, waiting = {start}, [start]
    while waiting:
        for target, _ in successors.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen

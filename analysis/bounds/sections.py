"""How long interrupts can be held off: every section of a program, found and bounded.

A section begins where a mask is set and ends where it is cleared, wherever that is: what raises it
may be a function that returns with it raised. So each function is seen as four kinds of ways: all
through it, from its entry to where it clears the mask, from where it sets the mask to its return,
and the sections that begin and end in it. What calls it puts these together with its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

from analysis.bounds.caches import COLD, UNKNOWN, Hot
from analysis.bounds.calls import MANY_FUNCTIONS, Calls, Contexts
from analysis.bounds.costs import Costs
from analysis.bounds.flow import RETURN, Called, Node, Solved
from analysis.bounds.graph import Disassembler
from analysis.bounds.longest import Passes, longest_ways, reached, reaching
from analysis.bounds.pipeline import Timed
from analysis.bounds.price import (
    NOTHING,
    Again,
    Cut,
    Mark,
    Part,
    Price,
    Section,
    Segments,
    Sink,
    Step,
    Walk,
    Way,
    dearness,
    least,
    most,
)
from analysis.bounds.rounds import Laps, Rounds, Spent
from analysis.bounds.state import HANDLER, KINDS, Masks
from analysis.bounds.statements import Recursion, Stated
from analysis.errors import NoBoundError
from analysis.explain.program import Program
from base.tell import Tell

_DEEPEST = 40
"""So many calls of a function that calls itself are followed into each other."""
_DEAR = 1 << 60
"""A price that tells how often it was paid."""


class Sections:
    """The sections of one program, and the ways of its functions, each worked out once. `cells` are
    addresses of a kernel's counters of nesting, `vectors` the entries of handlers by exception.
    `tell` hears what is followed.

    `unread` has the functions that could not be followed, with why. `endless` has the sections from
    where no way leads to an end.
    """

    def __init__(
        self,
        program: Program,
        cells: Iterable[int] = (),
        statements: Stated | None = None,
        costs: Costs | None = None,
        vectors: Mapping[int, int] | None = None,
        tell: Tell = lambda _: None,
    ) -> None:
        self._program = program
        self._costs = costs or Costs()
        self._stated = statements or Stated()
        self._vectors = vectors or {}
        self._tell = tell
        cells = tuple(cells)
        disassembler = Disassembler(program, self._stated.never)
        self._calls = Calls(program, disassembler, cells, self._stated.untaken, self._vectors)
        self._contexts = Contexts(
            program, disassembler, self._calls, cells, self._stated, self._depth, self._vectors
        )
        self._rounds = Rounds(program, self._contexts.flow, self._stated)
        self._timed = Timed(program, self._contexts.flow, self._costs, self._contexts.solve)
        self._cut = Cut(program, self._costs, self._timed, self._called_ways, self._contexts.strays)
        self._pricing: list[tuple[Any, ...]] = []
        # What another call of a function that is stated to call itself costs, while it is priced.
        self._repeated: dict[int, int] = {}
        # The functions of a large program take long enough by themselves.
        self._share = min(1.0, MANY_FUNCTIONS / max(1, len(self._calls.touching)))
        self._begin()

    def _begin(self) -> None:
        self._spent = Spent(self._share)
        self._segments: dict[tuple[Any, ...], Segments] = {}
        # The functions that were seen from a call with nothing held off.
        self._unheld: set[int] = set()
        self._sections: dict[tuple[str, Mark, Mark | None], Section] = {}
        self.endless: dict[tuple[str, Mark], Section] = {}
        self.unread: dict[str, str] = {}

    def sections(self) -> list[Section]:
        """All sections, the longest first, those without a bound before."""
        vectors, calls, plain = self._vectors, self._calls, self._contexts.nothing_held
        self._tell(f"looking which of {len(calls.touching):,} functions that mask hold a section")
        followed = self._contexts.followed
        called = {target for targets in calls.callees.values() for target in targets} | set(vectors.values())
        roots = [(entry, self._in_handler(number)) for number, entry in vectors.items() if entry in followed]
        roots += [(entry, plain) for entry in sorted(followed - called)]
        first = len(roots)
        callers_first = (entry for circle in reversed(calls.circles) for entry in circle)
        roots += [(entry, plain) for entry in callers_first if entry in followed & called]
        for number, (entry, masks) in enumerate(roots, start=1):
            # Of those that are called only what no call led to is left.
            if number <= first or entry not in self._unheld:
                self._tell(f"following {self._program.place(entry)}, {number:,} of {len(roots):,}")
                try:
                    for kind in calls.raised:
                        # What it leaves held off is a section without end.
                        ways = self._of(Called(entry, masks, (None,) * 4), kind)
                        for (begin, end, _, _), price in ways.items():
                            if begin is not None and end is None:
                                self._keep(kind, 0, entry, begin, None, price)
                except NoBoundError as error:
                    self.unread[self._program.place(entry)] = str(error)
        sections = [self._with_late_floats(section) for section in self._sections.values()]
        return sorted(sections, key=lambda section: (not section.price.why_not, -section.price.cycles))

    def _with_late_floats(self, section: Section) -> Section:
        """A section in a handler may be where the floating-point registers of what was interrupted
        are saved: at the first such instruction, once (ARM DDI 0439, 7.2).
        """
        calls, cycles = self._calls, self._costs.float_frame_cycles
        owners = self._program.functions_named(section.owner)
        entries = [owner.address for owner in owners if owner.address in calls.floating]
        if not cycles or not any(map(calls.may_be_in_handler, entries)):
            return section
        holder = self._program.function_at(section.begin.address)
        assert holder is not None
        body = self._contexts.flow.body(holder.address)
        codes = (code for block in body.blocks.values() for code in block.instructions)
        code = next(code for code in codes if code.address == section.begin.address)
        return replace(section, price=section.price.and_then(Step(body, code, cycles).price()))

    def handler(self, exception: int, entry: int) -> Price:
        """The longest way through the handler of an exception, once it has been entered."""
        self._tell(f"following the handler {self._program.place(entry)}")
        ways = self._of(Called(entry, self._in_handler(exception), (None,) * 4), HANDLER)
        through = (price for way, price in ways.items() if way.begin is None and way.end is None)
        return max(through, key=dearness, default=NOTHING)

    def _in_handler(self, exception: int) -> Masks:
        """What holds where a handler begins; its number only if some code asks for it."""
        number = exception if self._calls.reads_exception else None
        return self._contexts.nothing_held._replace(exception=number)

    def marked(self, entry: int, begin: int, end: int) -> Price:
        """The longest way in the function at `entry` from where it calls the function at `begin` to
        where it calls that at `end`, with both. Raises NoBoundError if there is none.
        """
        whole, solved = self._between_calls(entry, begin, end)
        blocks = whole.body.blocks
        part, _, returns = self._cut.part(
            Part(solved, self._timed.cached(whole, HANDLER, COLD), whole), HANDLER
        )
        laps = self._laps_of(part, HANDLER)
        of_loops = laps.passes(part)
        starts: dict[Node, list[Price]] = {}
        sinks: dict[Node, list[Sink]] = {}
        for sink in returns:
            if blocks[sink.node[0]].last.call == end:
                sinks.setdefault(sink.node, []).append(sink)
        for (node, target), price in part.calls.items():
            code = blocks[node[0]].last
            if code.call == begin:
                starts.setdefault(target, []).append(Price(self._costs.own(code)).and_then(price))
            elif code.call == end:
                sinks.setdefault(node, []).append(Sink(node, Mark(code.address), target[1], price))
        for node in sinks:
            part.successors[node] = []
        priced = [
            before.and_then(price).and_then(sink.after)
            for start, prices in starts.items()
            for sink, price in self._between(part, start, sinks, laps, of_loops)
            for before in prices
        ]
        if not priced:
            raise NoBoundError(
                f"No way through {whole.body.name} leads from {self._program.place(begin)} to "
                f"{self._program.place(end)}."
            )
        return max(priced, key=dearness)

    def _between_calls(self, entry: int, begin: int, end: int) -> tuple[Solved, Solved]:
        """A function, and what is left of it of the ways from its calls of the one to those of the
        other. Raises NoBoundError.
        """
        whole = self._contexts.solve(self._contexts.context(self._contexts.plain(entry)))
        calls = _calls_at(whole)
        seen = reached(
            [node for node in whole.edges if calls.get(node) == begin],
            lambda node: (
                edge.target
                for edge in (() if calls.get(node) == end else whole.edges.get(node, ()))
                if edge.target in whole.states
            ),
        )
        return whole, replace(
            whole,
            states={node: state for node, state in whole.states.items() if node in seen},
            edges={node: ways for node, ways in whole.edges.items() if node in seen},
        )

    def called_between(self, entry: int, begin: int, end: int) -> set[int]:
        """The entries of all functions that may be called on the way of marked(), with both."""
        _, solved = self._between_calls(entry, begin, end)
        ends = {node for node, call in _calls_at(solved).items() if call == end}
        entries: set[int] = {begin, end}
        waiting, seen = [(solved, ends)], {id(solved)}
        while waiting:
            solved, ends = waiting.pop()
            after = {
                node: [(edge.target, 0) for edge in edges if node not in ends]
                for node, edges in solved.edges.items()
            }
            alive = reaching(ends, after)
            for node, edges in solved.edges.items():
                for edge in edges if node in alive - ends else ():
                    if edge.called is not None and edge.called.entry and edge.target in alive:
                        entries.add(edge.called.entry)
                        inner = self._contexts.solve(self._contexts.context(edge.called))
                        if id(inner) not in seen:
                            seen.add(id(inner))
                            targets = {way.target for ways in inner.edges.values() for way in ways}
                            waiting.append((inner, {it for it in targets if it[0] == RETURN}))
        return entries

    @cached_property
    def counting(self) -> Sections:
        """The same of the most instructions, where this is of the most cycles. The longest way of
        the one need not be that of the other. Laps are taken to be alike.
        """
        twin = copy(self)
        twin._costs, twin._share = replace(self._costs, counts=True), 0.0
        flow, solve = self._contexts.flow, self._contexts.solve
        twin._timed = Timed(self._program, flow, twin._costs, solve)
        twin._cut = Cut(self._program, twin._costs, twin._timed, twin._called_ways, self._contexts.strays)
        twin._begin()
        return twin

    def _of(self, called: Called, kind: str, hot: Hot = COLD) -> Segments:
        """The ways of a function."""
        function = self._program.function_at(called.entry)
        if function is not None and called.entry not in self._calls.touching:
            recursion = self._stated.recursions.get(function.name)
            if recursion is not None:
                return self._of_itself(called, kind, hot, recursion)
        called = self._contexts.context(called)
        key = (*called[:3], kind, hot, *self._repeated.items())
        if key not in self._segments:
            if key in self._pricing or self._depth(called.entry) >= _DEEPEST:
                raise NoBoundError(f"{self._program.place(called.entry)} calls itself.")
            self._pricing.append(key)
            try:
                self._segments[key] = self._least_ways(self._contexts.solve(called), kind, hot)
            finally:
                self._pricing.pop()
            if not any(map(called.masks.holds, KINDS)):
                self._unheld.add(called.entry)
        return self._segments[key]

    def _least_ways(self, solved: Solved, kind: str, hot: Hot) -> Segments:
        """The ways of a function; those that find all lines in the caches but the first time, if
        that is less.
        """
        segments, body = self._found_ways(solved, kind, hot), solved.body
        lines = UNKNOWN if self._costs.certain or not segments else self._timed.all_lines(solved)
        fits = lines.fit(self._costs)
        warm = Hot(hot.code or fits.code, hot.data or fits.data)
        if warm != hot:
            first = Hot(warm.code and not hot.code, warm.data and not hot.data)
            reads = lines.first_reads(self._costs, first)
            more = Step(body, body.blocks[body.entry].instructions[0], reads).price()
            least(segments, self._found_ways(solved, kind, warm), more)
        for (begin, end, _, level), price in segments.items() if hot == COLD else ():
            if begin is not None and end is not None:
                self._keep(kind, level, body.entry, begin, end, price)
        return segments

    def _depth(self, entry: int) -> int:
        """How many calls of a function are being priced, one in another."""
        return sum(key[0] == entry for key in self._pricing)

    def _of_itself(self, called: Called, kind: str, hot: Hot, recursion: Recursion) -> Segments:
        """The ways of a function that is stated to call itself so often: each of its calls takes
        the longest way, and what it calls in turn is counted with the others.
        """
        called = called._replace(arguments=(None,) * 4)
        if called.entry in self._repeated:
            return {Way(None, None, called.masks): Price(self._repeated[called.entry])}
        key = (*called[:3], kind, hot, *self._repeated.items())
        if key not in self._segments:

            def through(again: int) -> Segments:
                """The ways through the function whose calls of itself cost so much."""
                self._repeated[called.entry] = again
                try:
                    ways = self._found_ways(self._contexts.solve(called), kind, hot)
                finally:
                    del self._repeated[called.entry]
                return {way: price for way, price in ways.items() if way.begin is None and way.end is None}

            own, calls = through(0), recursion.calls
            if calls is None:
                each = max((price.cycles // _DEAR for price in through(_DEAR).values()), default=0)
                calls = sum(each**level for level in range(recursion.depth or 1))
            self._segments[key] = {
                way: Price(calls * price.cycles, (Again(price, calls),), price.why_not)
                for way, price in own.items()
            }
        return self._segments[key]

    def _found_ways(self, solved: Solved, kind: str, hot: Hot) -> Segments:
        cached = self._timed.cached(solved, kind, hot)
        part, sources, sinks = self._cut.part(Part(solved, cached, solved), kind)
        segments: Segments = {}
        by_node: dict[Node, list[Sink]] = {}
        for sink in sinks:
            by_node.setdefault(sink.node, []).append(sink)
        laps = self._laps_of(part, kind)
        of_loops = laps.passes(part)
        ways = {
            node: self._between(part, node, by_node, laps, of_loops)
            for node in {source.node for source in sources}
        }
        for source in sources:
            begin = source.begin
            if begin is not None and not ways[source.node]:
                # No way leads on that ends the section, as far as they can be followed.
                nodes = _from(source.node, part)
                why_not = {word for node in nodes for word in part.why_not.get(node, ())}
                price = Price(why_not=frozenset(why_not | source.before.why_not))
                if price.why_not:
                    self._keep(kind, 0, solved.body.entry, begin, None, price)
                else:
                    self.endless[kind, begin] = Section(kind, 0, solved.body.name, begin, None, price)
            for sink, price in ways[source.node]:
                is_section = begin is not None and sink.end is not None
                level = source.node[1].basepri if is_section and kind == "basepri" else 0
                way = Way(begin, sink.end, None if sink.end else sink.masks, level)
                most(segments, way, source.before.and_then(price).and_then(sink.after))
        return segments

    def _called_ways(self, called: Called, kind: str, inside: bool, code: int, hot: Hot) -> Segments:
        """The ways of what the call at `code` goes to. Raises NoBoundError."""
        why_not = called.why_not
        if not why_not and self._program.function_at(called.entry) is None:
            why_not = f"{self._program.place(code)} calls {called.entry:#010x}, where no function is known."
        if why_not:
            return {Way(None, None, called.masks): Price(why_not=frozenset((why_not,)))}
        if not inside and not self._contexts.matters(called):
            return {}
        cold = self._of(called, kind)
        return cold if hot == COLD else self._of(called, kind, hot)

    def _between(
        self,
        part: Part,
        node: Node,
        sinks: Mapping[Node, list[Sink]],
        laps: Laps,
        of_loops: Passes[Node],
    ) -> list[tuple[Sink, Price]]:
        """The longest way from a node to each of the sinks."""
        part.cost.setdefault(node, 0)
        inside = _from(node, part)
        ends = {end for end in sinks if end in inside}
        if not ends:
            return []
        alive = reaching(ends, part.successors) & inside
        irreducible = set()
        try:
            laps.begin()
            ways = longest_ways(node, ends, part.successors, part.cost, of_loops)
        except NoBoundError as error:
            ways, irreducible = {}, {str(error)}
        # Why there is no bound, by the nodes that say so.
        reasons: dict[Node, set[str]] = {}
        for (u, v), price in part.calls.items():
            if u in alive and v in alive and price.why_not and not laps.saw_through(u, v):
                reasons.setdefault(u, set()).update(price.why_not)
        for place, word in laps.unlimited.items():
            reasons.setdefault(place, set()).add(word)
        # What leads nobody knows where may lead to any end.
        lost = {word for place, words in part.why_not.items() if place in inside for word in words}
        priced = []
        for end in ends:
            if end not in ways and not irreducible:
                continue
            why_not = irreducible | lost
            if reasons:
                here = reaching({end}, part.successors) & inside
                why_not |= {word for place, words in reasons.items() if place in here for word in words}
            walks = [Walk(part, ways[end].trace, ways[end].cost)] if end in ways else []
            price = Price(sum(walk.cycles for walk in walks), tuple(walks), frozenset(why_not))
            priced += [(sink, price) for sink in sinks[end]]
        return priced

    def _laps_of(self, part: Part, kind: str) -> Laps:
        def of_lap(solved: Solved) -> Part | None:
            """The ways and costs of one lap of a loop; None if some of it has no bound."""
            before, self._contexts.in_a_lap = self._contexts.in_a_lap, True
            try:
                lap, _, _ = self._cut.part(Part(solved, part.cached, part.timed), kind)
            finally:
                self._contexts.in_a_lap = before
            unknown = lap.why_not or any(price.why_not for price in lap.calls.values())
            return None if unknown else lap

        return Laps(self._contexts.flow, self._rounds.passes, of_lap, self._spent)

    def _keep(self, kind: str, level: int, entry: int, begin: Mark, end: Mark | None, price: Price) -> None:
        key = (kind, begin, end)
        section = self._sections.get(key)
        function = self._program.function_at(entry)
        if section is None or dearness(price) > dearness(section.price):
            owner = function.name if function else f"{entry:#010x}"
            self._sections[key] = Section(kind, level, owner, begin, end, price)


def _from(node: Node, part: Part) -> set[Node]:
    """The nodes of a part that ways lead to from one."""
    return reached([node], lambda at: (target for target, _ in part.successors.get(at, ())))


def _calls_at(solved: Solved) -> dict[Node, int | None]:
    """The function that each node calls."""
    blocks = solved.body.blocks
    return {node: blocks[node[0]].last.call for node in solved.edges if node[0] in blocks}

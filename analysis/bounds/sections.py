"""How long interrupts can be held off: every section of a program, found and bounded.

A section begins where a mask is set and ends where it is cleared, wherever that is: what raises it
may be a function that returns with it raised. So each function is seen as four kinds of ways: all
through it, from its entry to where it clears the mask, from where it sets the mask to its return,
and the sections that begin and end in it. What calls it puts these together with its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from analysis.bounds.caches import COLD, Hot
from analysis.bounds.calls import Calls, Contexts
from analysis.bounds.costs import Costs
from analysis.bounds.cut import Cut, Mark, Part, Section, Segments, Sink, Way
from analysis.bounds.flow import Called, Node, Solved
from analysis.bounds.graph import Disassembler, Instruction
from analysis.bounds.longest import longest_ways, reached, reaching
from analysis.bounds.loops import Loops, Stated
from analysis.bounds.pipeline import Timed
from analysis.bounds.price import NOTHING, Price, dearness, most
from analysis.bounds.state import HANDLER, KINDS
from analysis.errors import NoBoundError
from analysis.explain.program import Program
from base.tell import Tell


@dataclass(eq=False)
class Sections:
    """The sections of one program, and the ways of its functions, each worked out once. `cells` are
    addresses of a kernel's counters of nesting, `vectors` the entries of handlers by exception.
    `tell` hears what is followed.

    `endless` has the sections from where no way leads to an end.
    """

    program: Program
    cells: Sequence[int] = ()
    statements: Stated = field(default_factory=Stated)
    costs: Costs = field(default_factory=Costs)
    vectors: Mapping[int, int] = field(default_factory=dict)
    tell: Tell = lambda _: None

    def __post_init__(self) -> None:
        program, stated = self.program, self.statements
        disassembler = Disassembler(program, stated.never)
        self._calls = Calls(program, disassembler, self.cells, stated.untaken, self.vectors)
        self._contexts = Contexts(
            program, disassembler, self.cells, self.vectors, calls=self._calls, statements=stated
        )
        self._loops = Loops(self._contexts, stated)
        self._timed = Timed(self._contexts, self.costs)
        self._cut = Cut(self._contexts, self._timed, self._called_ways)
        self._pricing: list[int] = []
        # Those that are stated to call themselves so often; none may end or begin a section.
        self._recursions = {
            function.address: calls
            for name, calls in stated.recursions.items()
            for function in program.functions_named(name)
            if function.address not in self._calls.touching
        }
        self._segments: dict[tuple[Any, ...], Segments] = {}
        # The functions that were seen from a call with nothing held off.
        self._unheld: set[int] = set()
        self._sections: dict[tuple[str, Mark, Mark | None], Section] = {}
        self.endless: dict[tuple[str, Mark], Section] = {}

    def sections(self) -> list[Section]:
        """All sections, the longest first, those without a bound before."""
        calls, handlers = self._calls, self.vectors.values()
        self.tell(f"looking which of {len(calls.touching):,} functions that mask hold a section")
        followed = self._contexts.followed
        called = set().union(handlers, *calls.callees.values())
        roots = [*(entry for entry in handlers if entry in followed), *sorted(followed - called)]
        first = len(roots)
        called &= followed
        roots += [entry for circle in reversed(calls.circles) for entry in circle if entry in called]
        for number, entry in enumerate(roots, start=1):
            # Of those that are called only what no call led to is left.
            if number <= first or entry not in self._unheld:
                self.tell(f"following {self.program.place(entry)}, {number:,} of {len(roots):,}")
                try:
                    for kind in calls.raised:
                        # What it leaves held off is a section without end.
                        for (begin, end, _, _), price in self._of(self._contexts.plain(entry), kind).items():
                            if begin is not None and end is None:
                                self._keep(kind, entry, begin, None, price)
                except NoBoundError:
                    continue
        sections = [self._with_late_floats(section) for section in self._sections.values()]
        return sorted(sections, key=lambda section: (not section.price.why_not, -section.price.cycles))

    def _with_late_floats(self, section: Section) -> Section:
        """A section in a handler may be where the floating-point registers of what was interrupted
        are saved: at the first such instruction, once (ARM DDI 0439, 7.2).
        """
        cycles = self.costs.float_frame_cycles
        owners = self.program.functions_named(section.owner)
        if not cycles or self._calls.floating_in_handlers.isdisjoint(owner.address for owner in owners):
            return section
        holder, flow = self.program.function_at(section.begin.address), self._contexts
        assert holder is not None
        place = flow.body(holder.address), flow.disassembler.decoded[section.begin.address]
        return replace(section, price=section.price + Price(cycles, place=place))

    def handler(self, entry: int) -> Price:
        """The longest way through a handler, once it has been entered."""
        self.tell(f"following the handler {self.program.place(entry)}")
        ways = self._of(self._contexts.plain(entry), HANDLER)
        through = (price for way, price in ways.items() if way.begin is None and way.end is None)
        return max(through, key=dearness, default=NOTHING)

    def marked(self, entry: int, begin: int, end: int) -> Price:
        """The longest way in the function at `entry` from where it calls the function at `begin` to
        where it calls that at `end`, with both. Raises NoBoundError if there is none.
        """
        solved = self._contexts.solved(self._contexts.plain(entry))
        part = self._cut.part(solved, HANDLER, COLD)
        blocks = solved.body.blocks
        starts: list[tuple[Node, Price]] = []
        sinks = {node: at for node, at in part.sinks.items() if blocks[node[0]].last.call == end}
        for node, ways in part.successors.items():
            for target, price in ways.items():
                code = blocks[node[0]].last
                if code.call == begin:
                    starts.append((target, Price(self.costs.own(code)) + price))
                elif code.call == end:
                    sinks.setdefault(node, []).append(Sink(Mark(code.address), target[1], price))
        for node in sinks:
            part.successors[node] = {}
        priced = [
            before + price + sink.after
            for start, before in starts
            for sink, price in self._between(part, start, sinks)
        ]
        if not priced:
            raise NoBoundError(
                f"No way through {solved.body.name} leads from {self.program.place(begin)} to "
                f"{self.program.place(end)}."
            )
        return max(priced, key=dearness)

    def called_between(self, entry: int, begin: int, end: int) -> set[int]:
        """The entries of all functions that may be called on the way of marked(), and come back."""
        solved = self._contexts.solved(self._contexts.plain(entry))
        blocks, edges = solved.body.blocks, solved.edges
        calls = {node: blocks[node[0]].last.call for node in edges if node[0] in blocks}
        inside = reached(
            [node for node, call in calls.items() if call == begin],
            lambda node: (edge.target for edge in edges.get(node, ()) if calls[node] != end),
        )
        called = {edge.called.entry for node in inside for edge in edges.get(node, ()) if edge.called} - {0}
        returns, callees = self._calls.returns, self._calls.callees
        return reached(filter(returns, called), lambda entry: filter(returns, callees.get(entry, ())))

    def _of(self, called: Called, kind: str, hot: Hot = COLD) -> Segments:
        """The ways of a function. One that is stated to call itself takes the longest way of any
        arguments in each of its calls; what it calls in turn is counted with these.
        """
        entry = called.entry
        calls = self._recursions.get(entry)
        if entry in self._pricing:
            if calls is None:
                raise NoBoundError(f"{self.program.place(entry)} calls itself.")
            return {Way(None, None, called.masks): NOTHING}
        unknown = called._replace(arguments=(None,) * 4)
        called = self._contexts.context(called) if calls is None else unknown
        key = (*called[:3], kind, hot, *(it for it in self._pricing if it in self._recursions))
        if key not in self._segments:
            self._pricing.append(entry)
            try:
                segments = self._least_ways(self._contexts.solved(called), kind, hot)
            finally:
                self._pricing.pop()
            if calls is not None:
                segments = {way: price * calls for way, price in segments.items()}
            self._segments[key] = segments
            if not any(map(called.masks.holds, KINDS)):
                self._unheld.add(entry)
            for (begin, end, _, level), price in segments.items() if hot == COLD else ():
                if begin is not None and end is not None:
                    self._keep(kind, entry, begin, end, price, level)
        return self._segments[key]

    def _least_ways(self, solved: Solved, kind: str, hot: Hot) -> Segments:
        """The ways of a function; where that is less, those that find all its lines in the caches,
        after each was read once.
        """
        segments, costs, body = self._found_ways(solved, kind, hot), self.costs, solved.body
        if costs.certain or not segments:
            return segments
        lines = self._timed.all_lines(solved)
        fits = lines.fit(costs)
        first = Hot(fits.code and not hot.code, fits.data and not hot.data)
        if first == COLD:
            return segments
        entry = body.blocks[body.entry].instructions[0]
        reads = Price(lines.first_reads(costs, first), place=(body, entry))
        warm = self._found_ways(solved, kind, hot | first)
        return {
            way: min(price, warm[way] + reads, key=dearness) if way in warm else price
            for way, price in segments.items()
        }

    def _found_ways(self, solved: Solved, kind: str, hot: Hot) -> Segments:
        part = self._cut.part(solved, kind, hot)
        segments: Segments = {}
        ways = {node: self._between(part, node, part.sinks) for node in {it.node for it in part.sources}}
        for source in part.sources:
            begin = source.begin
            if begin is not None and not ways[source.node]:
                # No way leads on that ends the section, as far as they can be followed.
                nodes = _from(source.node, part)
                why_not = {word for node in nodes for word in part.why_not.get(node, ())}
                price = Price(why_not=frozenset(why_not | source.before.why_not))
                if price.why_not:
                    self._keep(kind, solved.body.entry, begin, None, price)
                else:
                    self.endless[kind, begin] = Section(kind, 0, solved.body.name, begin, None, price)
            for sink, price in ways[source.node]:
                is_section = begin is not None and sink.end is not None
                level = source.node[1].basepri if is_section and kind == "basepri" else 0
                way = Way(begin, sink.end, None if sink.end else sink.masks, level)
                most(segments, way, source.before + price + sink.after)
        return segments

    def _called_ways(self, called: Called, kind: str, inside: bool, code: Instruction, hot: Hot) -> Segments:
        """The ways of what a call by `code` goes to. Raises NoBoundError."""
        why_not = called.why_not
        if not why_not and self.program.function_at(called.entry) is None:
            why_not = (
                f"{self.program.place(code.address)} calls {called.entry:#010x}, where no function is known."
            )
        if why_not:
            ways = {Way(None, None, called.masks): Price(why_not=frozenset((why_not,)))}
        elif not inside and not self._contexts.matters(called):
            return {}
        else:
            # The sections in there are those of the cold ways.
            cold = self._of(called, kind)
            ways = cold if hot == COLD else self._of(called, kind, hot)
        if not code.service:
            return ways
        # With the masks as they are behind the handler that SVC enters.
        after: Segments = {}
        for way, price in ways.items():
            most(after, way._replace(masks=way.masks and way.masks._replace(faultmask=0)), price)
        return after

    def _between(self, part: Part, node: Node, sinks: Mapping[Node, list[Sink]]) -> list[tuple[Sink, Price]]:
        """The longest way from a node to each sink. A loop without a bound is passed once."""
        # Why there is no bound, by the nodes that say so.
        reasons: dict[Node, set[str]] = {}

        def passes(head: Node, inner: set[Node]) -> int:
            try:
                of_loop = self._loops.passes(part.solved, head, inner)
            except NoBoundError as error:
                of_loop = str(error)
            if isinstance(of_loop, str):
                reasons.setdefault(head, set()).add(of_loop)
                return 1
            return of_loop

        part.cost.setdefault(node, NOTHING)
        inside = _from(node, part)
        ends = {end for end in sinks if end in inside}
        if not ends:
            return []
        alive = reaching(ends, part.successors) & inside
        ways = longest_ways(node, ends, part.successors, part.cost, passes)
        for u in alive & part.successors.keys():
            for v, price in part.successors[u].items():
                if v in alive and price.why_not:
                    reasons.setdefault(u, set()).update(price.why_not)
        # What leads nobody knows where may lead to any end.
        lost = {word for place, words in part.why_not.items() if place in inside for word in words}
        priced = []
        for end, way in ways.items():
            here = reaching({end}, part.successors) & inside if reasons else set()
            why_not = lost.union(*(words for place, words in reasons.items() if place in here))
            price = way + Price(why_not=frozenset(why_not))
            priced += [(sink, price) for sink in sinks[end]]
        return priced

    def _keep(
        self, kind: str, entry: int, begin: Mark, end: Mark | None, price: Price, level: int = 0
    ) -> None:
        section = self._sections.get((kind, begin, end))
        if section is None or dearness(price) > dearness(section.price):
            owner = self._contexts.body(entry).name
            self._sections[kind, begin, end] = Section(kind, level, owner, begin, end, price)


def _from(node: Node, part: Part) -> set[Node]:
    """The nodes of a part that ways lead to from one."""
    return reached([node], lambda at: part.successors.get(at, ()))

"""How long interrupts can be held off: every section of a program, found and bounded.

A section begins where a mask is set and ends where it is cleared, wherever that is: what raises it
may be a function that returns with it raised. So each function is seen as four kinds of ways: all
through it, from its entry to where it clears the mask, from where it sets the mask to its return,
and the sections that begin and end in it. What calls it puts these together with its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from analysis.bounds.caches import COLD
from analysis.bounds.costs import Costs
from analysis.bounds.flow import Called, Node, Solved
from analysis.bounds.graph import Disassembler
from analysis.bounds.price import NOTHING, Mark, Part, Price, Section, Sink, Step, dearness
from analysis.bounds.rounds import Unlimited
from analysis.bounds.state import HANDLER, Masks
from analysis.bounds.statements import Stated
from analysis.bounds.ways import Ways
from analysis.errors import NoBoundError
from analysis.explain.program import Program
from base.tell import Tell


class Sections:
    """The sections of one program. `cells` are addresses of a kernel's counters of nesting,
    `vectors` the entries of handlers by exception. `tell` hears what is followed.

    `unread` has the functions that could not be followed, with why.
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
        statements = statements or Stated()
        disassembler = Disassembler(program, statements.never)
        self._vectors = vectors or {}
        self._tell = tell
        self._ways = Ways(program, disassembler, tuple(cells), statements, self._costs, self._vectors)
        self._plain = self._ways.contexts.nothing_held
        self.unread: dict[str, str] = {}

    @property
    def endless(self) -> dict[tuple[str, Mark], Section]:
        """The sections from where no way leads to an end."""
        return self._ways.endless

    @property
    def unlimited(self) -> dict[int, Unlimited]:
        """The loops that nothing limits, by the addresses of their heads."""
        return self._ways.rounds.unlimited

    def sections(self) -> list[Section]:
        """All sections, the longest first, those without a bound before."""
        vectors, calls = self._vectors, self._ways.calls
        self._tell(f"looking which of {len(calls.touching):,} functions that mask hold a section")
        followed = self._ways.contexts.followed
        called = {target for targets in calls.callees.values() for target in targets} | set(vectors.values())
        roots = [(entry, self._in_handler(number)) for number, entry in vectors.items() if entry in followed]
        roots += [(entry, self._plain) for entry in sorted(followed - called)]
        first = len(roots)
        callers_first = (entry for circle in reversed(calls.circles) for entry in circle)
        roots += [(entry, self._plain) for entry in callers_first if entry in followed & called]
        for number, (entry, masks) in enumerate(roots, start=1):
            # Of those that are called only what no call led to is left.
            if number <= first or entry not in self._ways.unheld:
                self._tell(f"following {self._program.place(entry)}, {number:,} of {len(roots):,}")
                self._root(entry, masks)
        sections = [self._with_late_floats(section) for section in self._ways.sections.values()]
        return sorted(sections, key=lambda section: (not section.price.why_not, -section.price.cycles))

    def _with_late_floats(self, section: Section) -> Section:
        """A section in a handler may be where the floating-point registers of what was interrupted
        are saved: at the first such instruction, once (ARM DDI 0439, 7.2).
        """
        calls, cycles = self._ways.calls, self._costs.float_frame_cycles
        owners = self._program.functions_named(section.owner)
        entries = [owner.address for owner in owners if owner.address in calls.floating]
        if not cycles or not any(map(calls.may_be_in_handler, entries)):
            return section
        holder = self._program.function_at(section.begin.address)
        assert holder is not None
        body = self._ways.contexts.flow.body(holder.address)
        codes = (code for block in body.blocks.values() for code in block.instructions)
        code = next(code for code in codes if code.address == section.begin.address)
        return replace(section, price=section.price.and_then(Step(body, code, cycles, 0).price()))

    def handler(self, exception: int, entry: int) -> Price:
        """The longest way through the handler of an exception, once it has been entered."""
        self._tell(f"following the handler {self._program.place(entry)}")
        called = Called(entry, self._in_handler(exception), (None,) * 4)
        return max(self._ways.of(called, HANDLER).through.values(), key=dearness, default=NOTHING)

    def _in_handler(self, exception: int) -> Masks:
        """What holds where a handler begins; its number only if some code asks for it."""
        return self._plain._replace(exception=exception if self._ways.calls.reads_exception else None)

    def marked(self, entry: int, begin: int, end: int) -> Price:
        """The longest way in the function at `entry` from where it calls the function at `begin` to
        where it calls that at `end`, with both. Raises NoBoundError if there is none.
        """
        ways = self._ways
        whole = self.solved(self.plain(entry))
        solved = _between_calls(whole, begin, end)
        part, _, returns = ways.cut.part(
            Part(solved, ways.timed.cached(whole, HANDLER, COLD), whole), HANDLER
        )
        laps = ways.laps_of(part, HANDLER)
        of_loops = laps.passes(part)
        blocks = part.solved.body.blocks
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
            for sink, price in ways.between(part, start, sinks, laps, of_loops)
            for before in prices
        ]
        if not priced:
            raise NoBoundError(
                f"No way through {part.solved.body.name} leads from {self._program.place(begin)} to "
                f"{self._program.place(end)}."
            )
        return max(priced, key=dearness)

    def plain(self, entry: int) -> Called:
        """A call of the function at `entry` with nothing held off, of whose arguments nothing is
        known.
        """
        return Called(entry, self._plain, (None,) * 4)

    def solved(self, called: Called) -> Solved:
        """What holds in a function that is called so. Raises NoBoundError."""
        contexts = self._ways.contexts
        return contexts.solve(contexts.context(called))

    def laps(self, solved: Solved, head: Node, inner: set[Node]) -> int:
        """How often the head of a loop is passed each time it is entered. Raises NoBoundError."""
        passes = self._ways.rounds.passes(solved, head, inner)
        if isinstance(passes, str):
            raise NoBoundError(passes)
        return passes

    def again(self, statements: Stated) -> None:
        """Forgets all prices, and how often loops go round, for what is stated now. Only calls
        through pointers, and branches that are not taken, must be stated as before.
        """
        self._ways.forget(statements)
        self.unread = {}

    def _root(self, entry: int, masks: Masks) -> None:
        """Follows a function from outside. What it leaves held off is a section without end."""
        called = Called(entry, masks, (None,) * 4)
        for kind in self._ways.calls.raised:
            try:
                tails = self._ways.of(called, kind).tails
            except NoBoundError as error:
                self.unread[self._program.place(entry)] = str(error)
                return
            for (begin, _), price in tails.items():
                self._ways.keep(kind, 0, entry, begin, None, price)


def _between_calls(solved: Solved, begin: int, end: int) -> Solved:
    """What is left of a function of the ways from its calls of the one to those of the other."""
    blocks = solved.body.blocks
    called = {node: blocks[node[0]].last.call for node in solved.edges if node[0] in blocks}
    waiting = [node for node in solved.edges if called.get(node) == begin]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        if called.get(node) == end:
            continue
        for edge in solved.edges.get(node, ()):
            if edge.target not in seen and edge.target in solved.states:
                seen.add(edge.target)
                waiting.append(edge.target)
    states = {node: state for node, state in solved.states.items() if node in seen}
    edges = {node: ways for node, ways in solved.edges.items() if node in seen}
    return replace(solved, states=states, edges=edges)

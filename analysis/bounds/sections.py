"""How long interrupts can be held off: every section of a program, found and bounded.

A section begins where a mask is set and ends where it is cleared, wherever that is: what raises it
may be a function that returns with it raised. So each function is seen as four kinds of ways: all
through it, from its entry to where it clears the mask, from where it sets the mask to its return,
and the sections that begin and end in it. What calls it puts these together with its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from analysis.bounds.caches import COLD, UNKNOWN, Hot, Kept, Lines, kept
from analysis.bounds.costs import Costs
from analysis.bounds.flow import NOWHERE, RETURN, Body, Called, Edge, Flow, Node, Outcome, Solved, solve
from analysis.bounds.graph import Disassembler, Instruction
from analysis.bounds.laps import Laps, Spent
from analysis.bounds.longest import Passes, longest_ways, reaching
from analysis.bounds.masks import HANDLER, KINDS, MASK_NAMES, Masks
from analysis.bounds.pipeline import Cycles, Pipeline, way_of
from analysis.bounds.trips import passes
from analysis.bounds.values import SRAM, WORD, Value, constant, contains, join, number, unsigned
from analysis.errors import NoBoundError
from analysis.explain.program import Program

_LITERAL = re.compile(r"\[pc, #(\w+)\]")
_MOST_CONTEXTS = 12
"""So many ways of calling a function are told apart; after that nothing is known of arguments."""
_MOST_CONTEXTS_OF_LAPS = 60
"""The same, with those of calls in laps that are gone through one by one."""
_MOST_CONTEXTS_OF_ITSELF = 200
"""The same of a function that calls itself."""
_LETTERS = {"primask": "i", "faultmask": "f"}
"""What CPS calls them."""
_MOST_IN_VAIN = 4
"""The laps of a loop that nothing limited so often, by other calls, are not gone through again."""
_DEEPEST = 40
"""So many calls of a function that calls itself are followed into each other."""
_DEAR = 1 << 60
"""A price that tells how often it was paid."""
_WIDEST_ARGUMENT = 1 << 20


@dataclass(frozen=True)
class Price:
    """The most cycles of a way, and the path that takes them; or why no bound is known."""

    cycles: int = 0
    path: tuple[Step | Walk | Into | Again, ...] = field(default=(), compare=False)
    why_not: frozenset[str] = frozenset()

    def and_then(self, other: Price) -> Price:
        """The two ways, one behind the other."""
        return Price(self.cycles + other.cycles, (*self.path, *other.path), self.why_not | other.why_not)


NOTHING = Price()


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


class Step(NamedTuple):
    """Cycles of a path outside its blocks: an instruction by itself, the way to and from a call, or
    what it takes to come to the instruction.

    `passes` is 0 for a way, whose instruction is passed elsewhere.
    """

    body: Body
    code: Instruction
    cycles: int
    passes: int

    def price(self) -> Price:
        return Price(self.cycles, (self,))


class Walk(NamedTuple):
    """A path through blocks of one function, as longest.Trace has it, that takes so many cycles."""

    part: Part
    trace: tuple[Any, ...]
    cycles: int


class Into(NamedTuple):
    """A path through what the instruction `code` of a function calls."""

    body: Body
    code: Instruction
    entry: int
    price: Price

    def priced(self) -> Price:
        return Price(self.price.cycles, (self,), self.price.why_not)


class Again(NamedTuple):
    """A path that is gone so often."""

    price: Price
    times: int

    def priced(self) -> Price:
        return Price(self.times * self.price.cycles, (self,), self.price.why_not)


@dataclass
class _Segments:
    """The ways of a function under masks of one kind."""

    through: dict[Masks, Price] = field(default_factory=dict)
    heads: dict[Mark, Price] = field(default_factory=dict)
    tails: dict[tuple[Mark, Masks], Price] = field(default_factory=dict)
    sections: dict[tuple[Mark, Mark | None], tuple[int, Price]] = field(default_factory=dict)
    """Each with its level."""

    def limit(self, other: _Segments, more: Price) -> None:
        """Keeps the less of each way and the same of `other`, which costs so much more."""
        for mine, theirs in (
            (self.through, other.through),
            (self.heads, other.heads),
            (self.tails, other.tails),
        ):
            _least(mine, theirs, more)
        for key, (level, price) in self.sections.items():
            if key in other.sections:
                limited = other.sections[key][1].and_then(more)
                self.sections[key] = (level, min(price, limited, key=_dearness))


@dataclass
class Part:
    """The blocks of a function in which a mask is set, with the ways between them."""

    solved: Solved
    kept: Kept
    timed: Solved
    """What holds in all laps: its cycles are those of each."""
    successors: dict[Node, list[tuple[Node, int]]] = field(default_factory=dict)
    cost: dict[Node, int] = field(default_factory=dict)
    calls: dict[tuple[Node, Node], Price] = field(default_factory=dict)
    why_not: dict[Node, set[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Source:
    node: Node
    begin: Mark | None
    """None for the function's entry."""
    before: Price


@dataclass(frozen=True)
class _Sink:
    node: Node
    end: Mark | None
    """None for the function's return."""
    masks: Masks
    after: Price


class Hint(NamedTuple):
    """What the source says of a loop: its body runs at most so often. `body` has source lines that
    are the body's alone, and none of the loop's condition.
    """

    at_most: int
    body: frozenset[str] = frozenset()


class Recursion(NamedTuple):
    """How often a function that calls itself runs for each call from elsewhere, or how many of its
    calls wait for each other; None if that is not said.
    """

    calls: int | None
    depth: int | None


@dataclass
class Stated:
    """What the user says: how often a loop goes round, and where calls through pointers go.

    `passes` takes the name of a function and the source lines of a loop in it, and gives how often
    its head is passed at the most, None if nothing is said of it. `hints` gives how often its body
    runs, and is asked only where the code itself does not limit the loop; last `observed` is, with
    the address of its head. `called` takes the address of a call, and gives the entries of
    functions. No path leads on from a call of one of `untaken`. The branches of the source lines
    `never`, as `file.c:12`, are not taken. `recursions` are of functions that call themselves, by
    their names.
    """

    passes: Callable[[str, set[str]], int | None] = lambda _function, _lines: None
    hints: Callable[[str, set[str]], Hint | None] = lambda _function, _lines: None
    observed: Callable[[int], int | None] = lambda _head: None
    called: Callable[[int], Iterable[int]] = lambda _address: ()
    untaken: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    recursions: Mapping[str, Recursion] = field(default_factory=dict)


@dataclass
class Unlimited:
    """A loop of the function `body` of which nothing says how often it goes round: its head, the
    blocks `inside`, by address, and where it is in words. `why` is what is told of it.
    """

    body: Body
    head: int
    inside: set[int]
    place: str
    why: str


class Sections:
    """The sections of one program. `cells` are addresses of a kernel's counters of nesting."""

    def __init__(
        self,
        program: Program,
        cells: Iterable[int] = (),
        stated: Stated | None = None,
        costs: Costs | None = None,
    ) -> None:
        self._program = program
        self._costs = costs or Costs()
        self._stated = stated or Stated()
        self._disassembler = Disassembler(program, self._stated.never)
        self._cells = tuple(cells)
        self._flow = Flow(
            self._disassembler,
            self._constant,
            self._outcomes,
            {address: number for number, address in enumerate(self._cells)},
            self._stated.called,
        )
        self._cycles: dict[tuple[int, Hot], Cycles] = {}
        self._footprints: dict[int, Lines] = {}
        self._solved: dict[tuple[int, Masks, tuple[Value, ...]], Solved] = {}
        self._contexts: dict[int, dict[tuple[Value, ...], None]] = {}
        self._segments: dict[tuple[Any, ...], _Segments] = {}
        self._under_way: set[int] = set()
        self._pricing: list[tuple[Any, ...]] = []
        # What another call of a function that is stated to call itself costs, while it is priced.
        self._again: dict[int, int] = {}
        self._circular: dict[int, bool] = {}
        self._loops: dict[tuple[int, Node, frozenset[Node]], tuple[Solved, int | str]] = {}
        # How often nothing limited a loop, by the address of its head.
        self._in_vain: Counter[int] = Counter()
        self._spent = Spent()
        self._in_a_lap = False
        self._plain = Masks(cells=(0,) * len(self._cells))
        self.found: dict[tuple[str, Mark, Mark | None], Section] = {}
        # From where no way leads to an end, and functions that could not be followed, with why.
        self.endless: dict[tuple[str, Mark], Section] = {}
        self.unread: dict[str, str] = {}
        self.unlimited: dict[int, Unlimited] = {}

    def sections(self, vectors: Mapping[int, int]) -> list[Section]:
        """All sections, the longest first, those without a bound before. `vectors` has the entries
        of handlers by exception.
        """
        roots = [(entry, self._plain._replace(exception=number)) for number, entry in vectors.items()]
        called = {target for targets in self._calls.values() for target in targets} | set(vectors.values())
        roots += [(entry, self._plain) for entry in sorted(self._touching) if entry not in called]
        for entry, masks in roots:
            self._root(entry, masks)
        for entry in sorted(self._touching):
            if not any(key[0] == entry and not any(map(key[1].holds, KINDS)) for key in self._segments):
                self._root(entry, self._plain)
        return sorted(self.found.values(), key=lambda one: (not one.price.why_not, -one.price.cycles))

    def handler(self, exception: int, entry: int) -> Price:
        """The longest way through the handler of an exception, once it has been entered."""
        called = Called(entry, self._plain._replace(exception=exception), (None,) * 4)
        ways = self._ways(called, HANDLER).through.values()
        return max(ways, key=lambda one: (bool(one.why_not), one.cycles), default=NOTHING)

    def marked(self, entry: int, begin: int, end: int) -> Price:
        """The longest way in the function at `entry` from where it calls the function at `begin` to
        where it calls that at `end`, with both. Raises NoBoundError if there is none.
        """
        whole = self.solved(self.plain(entry))
        solved = _between_calls(whole, begin, end)
        part, _, returns = self._part(Part(solved, self._kept(whole, HANDLER, COLD), whole), HANDLER)
        laps = self._laps_of(part, HANDLER)
        of_loops = laps.passes(part)
        blocks = part.solved.body.blocks
        begun: dict[Node, list[Price]] = {}
        sinks: dict[Node, list[_Sink]] = {}
        for sink in returns:
            if blocks[sink.node[0]].last.call == end:
                sinks.setdefault(sink.node, []).append(sink)
        for (node, target), price in part.calls.items():
            code = blocks[node[0]].last
            if code.call == begin:
                begun.setdefault(target, []).append(Price(self._costs.own(code)).and_then(price))
            elif code.call == end:
                sinks.setdefault(node, []).append(_Sink(node, Mark(code.address), target[1], price))
        for node in sinks:
            part.successors[node] = []
        ways = [
            before.and_then(price).and_then(sink.after)
            for start, priced in begun.items()
            for sink, price in self._between(part, start, sinks, laps, of_loops)
            for before in priced
        ]
        if not ways:
            raise NoBoundError(
                f"No way through {part.solved.body.name} leads from {self._program.place(begin)} to "
                f"{self._program.place(end)}."
            )
        return max(ways, key=lambda one: (bool(one.why_not), one.cycles))

    def plain(self, entry: int) -> Called:
        """A call of the function at `entry` with nothing held off, of whose arguments nothing is
        known.
        """
        return Called(entry, self._plain, (None,) * 4)

    def solved(self, called: Called) -> Solved:
        """What holds in a function that is called so. Raises NoBoundError."""
        return self._solve(self._context(called))

    def laps(self, solved: Solved, head: Node, inner: set[Node]) -> int:
        """How often the head of a loop is passed each time it is entered. Raises NoBoundError."""
        found = self._laps(solved, head, inner)
        if isinstance(found, str):
            raise NoBoundError(found)
        return found

    def _root(self, entry: int, masks: Masks) -> None:
        if entry not in self._touching:
            return
        called = Called(entry, masks, (None,) * 4)
        for kind in self._raised:
            try:
                tails = self._ways(called, kind).tails
            except NoBoundError as error:
                self.unread[self._program.place(entry)] = str(error)
                return
            for (begin, _), price in tails.items():
                self._keep(kind, 0, entry, begin, None, price)

    def _keep(self, kind: str, level: int, entry: int, begin: Mark, end: Mark | None, price: Price) -> None:
        key = (kind, begin, end)
        known = self.found.get(key)
        function = self._program.function_at(entry)
        new = Section(kind, level, function.name if function else f"{entry:#010x}", begin, end, price)
        if known is None or _dearer(price, known.price):
            self.found[key] = new

    # What is known of the program without values.

    @cached_property
    def _calls(self) -> dict[int, set[int]]:
        """The functions that each function calls or goes on to, by their entries."""
        found: dict[int, set[int]] = {}
        for function in self._program.functions:
            inside = range(function.address, function.address + function.size)
            targets = found.setdefault(function.address, set())
            for _, _, mnemonic, operands in self._program.instructions(function):
                if mnemonic.startswith("b") and operands.startswith("#"):
                    target = int(operands[1:], 0)
                    if target not in inside and self._program.function_at(target) is not None:
                        targets.add(target)
        return found

    @cached_property
    def _raised(self) -> list[str]:
        """The masks that some instruction of the program may set."""
        found = set()
        for function in self._program.functions:
            for _, _, mnemonic, operands in self._program.instructions(function):
                if mnemonic.startswith("cpsid"):
                    found |= {kind for kind, letter in _LETTERS.items() if letter in operands}
                elif mnemonic.startswith("msr"):
                    found |= {kind for kind in KINDS if operands.lower().startswith(kind)}
        return [kind for kind in KINDS if kind in found]

    @cached_property
    def _touching(self) -> set[int]:
        """The functions that change a mask or have the address of a cell, or call one that does."""
        own = set()
        for function in self._program.functions:
            for address, _, mnemonic, operands in self._program.instructions(function):
                masks = operands.partition(",")[0].lower() in MASK_NAMES
                changes = mnemonic.startswith("cps") or (mnemonic.startswith("msr") and masks)
                if changes or self._loads_cell(address, operands):
                    own.add(function.address)
        callers: dict[int, set[int]] = {}
        for caller, targets in self._calls.items():
            for target in targets:
                callers.setdefault(target, set()).add(caller)
        waiting = list(own)
        while waiting:
            for caller in callers.get(waiting.pop(), ()):
                if caller not in own:
                    own.add(caller)
                    waiting.append(caller)
        return own

    def _loads_cell(self, address: int, operands: str) -> bool:
        """Whether an instruction loads the address of a cell from the constants behind the code."""
        found = _LITERAL.search(operands) if self._cells else None
        if found is None:
            return False
        literal = (address + 4 & ~3) + int(found[1], 0)
        return int.from_bytes(self._program.code(literal, 4), "little") in self._cells

    def _constant(self, address: int, size: int) -> int | None:
        return self._program.read_only(address, size)

    # Values.

    def _context(self, called: Called) -> Called:
        """The call with what is worth knowing of its arguments."""
        is_again = self._depth(called.entry) > 0
        arguments = tuple(map(_any_number if is_again else self._worth, called.arguments))
        if called.entry in self._touching:
            arguments = tuple(map(_worth_of_masks, arguments))
        known = self._contexts.setdefault(called.entry, {})
        if arguments not in known:
            most = _MOST_CONTEXTS_OF_LAPS if self._in_a_lap else _MOST_CONTEXTS
            most = _MOST_CONTEXTS_OF_ITSELF if self._calls_itself(called.entry) else most
            if len(known) >= most:
                around = (one for one in known if all(map(contains, one, arguments)))
                arguments = next(around, (None,) * 4)
            known[arguments] = None
        return called._replace(arguments=arguments)

    def _calls_itself(self, entry: int) -> bool:
        """Whether a function calls itself, also by way of others, and not through a pointer."""
        if entry not in self._circular:
            codes = self._disassembler.flow(entry).instructions.values()
            seen, waiting = {code.call for code in codes if code.call == entry}, [entry]
            while waiting:
                fresh = self._calls.get(waiting.pop(), set()) - seen
                seen |= fresh
                waiting += sorted(fresh)
            self._circular[entry] = entry in seen
        return self._circular[entry]

    def _worth(self, value: Value) -> Value:
        if value is None or value[0] not in ("", SRAM):
            return None
        return value if value[0] or value[2] - value[1] < _WIDEST_ARGUMENT else None

    def _solve(self, called: Called) -> Solved:
        key = (called.entry, called.masks, called.arguments)
        if key not in self._solved:
            self._under_way.add(called.entry)
            try:
                body = self._flow.body(called.entry)
                self._solved[key] = solve(self._flow, body, called.masks, called.arguments)
            finally:
                self._under_way.discard(called.entry)
        return self._solved[key]

    def _outcomes(self, called: Called) -> list[Outcome]:
        if not called.entry or called.entry in self._under_way:
            return [Outcome(called.masks, None)]
        if self._never_comes_back(called.entry):
            return []
        if called.entry not in self._touching:
            return [Outcome(called.masks, None)] if self._returns(called.entry) else []
        try:
            solved = self._solve(self._context(called))
        except NoBoundError:
            return [Outcome(called.masks, None)]
        found: dict[Masks, Value] = {}
        for edges in solved.edges.values():
            for edge in edges:
                if edge.target[0] == RETURN:
                    masks, result = edge.target[1], self._worth(edge.state.registers[0])
                    found[masks] = join(found[masks], result) if masks in found else result
        return [Outcome(masks, result) for masks, result in found.items()]

    def _never_comes_back(self, entry: int) -> bool:
        """Whether the source or the user says so of a function."""
        function = self._program.function_at(entry)
        return function is not None and function.name in self._stopping

    @cached_property
    def _stopping(self) -> frozenset[str]:
        return self._stated.untaken | self._program.never_return

    def _returns(self, entry: int) -> bool:
        """Whether a way leads from a function's entry to its return."""
        if entry in self._returning:
            return self._returning[entry]
        self._returning[entry] = True
        try:
            graph = self._disassembler.flow(entry)
        except NoBoundError:
            return True
        seen, waiting, found = {entry}, [entry], False
        while waiting and not found:
            at = waiting.pop()
            code = graph.instructions.get(at)
            if code is None or at in graph.unknown:
                found = True
                break
            comes_back = (
                code.call is None
                or code.conditional
                or (not self._never_comes_back(code.call) and self._returns(code.call))
            )
            if not comes_back:
                continue
            found = at in graph.ends
            for target, _ in graph.after.get(at, ()):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        self._returning[entry] = found
        return found

    @cached_property
    def _returning(self) -> dict[int, bool]:
        return {}

    # Ways and what they cost.

    def _ways(self, called: Called, kind: str, hot: Hot = COLD) -> _Segments:
        stated = self._recursion(called.entry)
        if stated is not None:
            return self._ways_again(called, kind, hot, stated)
        called = self._context(called)
        key = (*called[:3], kind, hot, *self._again.items())
        if key not in self._segments:
            if key in self._pricing or self._depth(called.entry) >= _DEEPEST:
                raise NoBoundError(f"{self._program.place(called.entry)} calls itself.")
            self._pricing.append(key)
            try:
                self._segments[key] = self._least_ways(self._solve(called), kind, hot)
            finally:
                self._pricing.pop()
        return self._segments[key]

    def _least_ways(self, solved: Solved, kind: str, hot: Hot) -> _Segments:
        """The ways of a function; those that find all lines in the caches but the first time, if
        that is less.
        """
        found = self._found_ways(solved, kind, hot)
        nothing = not (found.through or found.heads or found.tails or found.sections)
        lines = UNKNOWN if self._costs.certain or nothing else self._all_lines(solved)
        fits = lines.fit(self._costs)
        warm = Hot(hot.code or fits.code, hot.data or fits.data)
        if warm != hot:
            first = Hot(warm.code and not hot.code, warm.data and not hot.data)
            reads = lines.first_reads(self._costs, first)
            more = Step(solved.body, solved.body.blocks[solved.body.entry].instructions[0], reads, 0).price()
            found.limit(self._found_ways(solved, kind, warm), more)
        if hot == COLD:
            for (begin, end), (level, price) in found.sections.items():
                self._keep(kind, level, solved.body.entry, begin, end, price)
        return found

    def _depth(self, entry: int) -> int:
        """How many calls of a function are being priced, one in another."""
        return sum(key[0] == entry for key in self._pricing)

    def _recursion(self, entry: int) -> Recursion | None:
        function = self._program.function_at(entry)
        if not self._stated.recursions or function is None or entry in self._touching:
            return None
        return self._stated.recursions.get(function.name)

    def _ways_again(self, called: Called, kind: str, hot: Hot, stated: Recursion) -> _Segments:
        """The ways of a function that is stated to call itself so often: each of its calls takes
        the longest way, and what it calls in turn is counted with the others.
        """
        called = called._replace(arguments=(None,) * 4)
        if called.entry in self._again:
            return _Segments(through={called.masks: Price(self._again[called.entry])})
        key = (*called[:3], kind, hot, *self._again.items())
        if key not in self._segments:
            own = self._with_again(called, kind, hot, 0)
            calls = stated.calls
            if calls is None:
                most = self._with_again(called, kind, hot, _DEAR).values()
                each = max((price.cycles // _DEAR for price in most), default=0)
                calls = sum(each**level for level in range(stated.depth or 1))
            self._segments[key] = _Segments(
                through={masks: Again(price, calls).priced() for masks, price in own.items()}
            )
        return self._segments[key]

    def _with_again(self, called: Called, kind: str, hot: Hot, cycles: int) -> dict[Masks, Price]:
        """The ways through a function whose calls of itself cost so much."""
        self._again[called.entry] = cycles
        try:
            return self._found_ways(self._solve(called), kind, hot).through
        finally:
            del self._again[called.entry]

    def _found_ways(self, solved: Solved, kind: str, hot: Hot) -> _Segments:
        part, sources, sinks = self._part(Part(solved, self._kept(solved, kind, hot), solved), kind)
        found = _Segments()
        by_node: dict[Node, list[_Sink]] = {}
        for sink in sinks:
            by_node.setdefault(sink.node, []).append(sink)
        laps = self._laps_of(part, kind)
        of_loops = laps.passes(part)
        ways = {
            node: self._between(part, node, by_node, laps, of_loops) for node in {one.node for one in sources}
        }
        for source in sources:
            if source.begin is not None and not ways[source.node]:
                self._without_end(part, source, kind)
            for sink, price in ways[source.node]:
                whole = source.before.and_then(price).and_then(sink.after)
                self._sort(found, kind, source, sink, whole)
        return found

    def _without_end(self, part: Part, source: _Source, kind: str) -> None:
        """From there no way leads on that ends the section, as far as they can be followed."""
        assert source.begin is not None
        reached = _reached(source.node, part.successors)
        why_not = {word for node in reached for word in part.why_not.get(node, ())}
        why_not |= source.before.why_not
        price = Price(why_not=frozenset(why_not))
        if why_not:
            self._keep(kind, 0, part.solved.body.entry, source.begin, None, price)
        else:
            own = part.solved.body.name
            self.endless[kind, source.begin] = Section(kind, 0, own, source.begin, None, price)

    def _sort(self, found: _Segments, kind: str, source: _Source, sink: _Sink, price: Price) -> None:
        """Keeps a way as what it is: all through, to an end, from a beginning, or a section."""
        if source.begin is None and sink.end is None:
            _most(found.through, sink.masks, price)
        elif source.begin is None and sink.end is not None:
            _most(found.heads, sink.end, price)
        elif source.begin is not None and sink.end is None:
            _most(found.tails, (source.begin, sink.masks), price)
        elif source.begin is not None:
            level = source.node[1].basepri if kind == "basepri" else 0
            known = found.sections.get((source.begin, sink.end))
            if known is None or _dearer(price, known[1]):
                found.sections[source.begin, sink.end] = (level, price)

    def _part(self, part: Part, kind: str) -> tuple[Part, list[_Source], list[_Sink]]:
        """The part with its blocks, and where ways begin and end."""
        solved = part.solved
        sources = []
        sinks: list[_Sink] = []
        if solved.start[1].holds(kind):
            begin = self._timed(part.timed, part.kept.hot[solved.start]).begin
            first = solved.body.blocks[solved.start[0]].instructions[0]
            enters = begin + part.kept.enters(None, solved.start)
            sources.append(_Source(solved.start, None, Step(solved.body, first, enters, 0).price()))
        for node in solved.states:
            block = solved.body.blocks.get(node[0])
            if block is None:
                place = self._program.place(node[0])
                part.why_not[node] = {f"{place} is reached, and is no code of {solved.body.name}."}
                part.cost[node] = 0
                part.successors[node] = []
                continue
            part.cost[node] = self._timed(part.timed, part.kept.hot[node]).cost[node]
            if block.why_not and not block.last.pointer:
                part.why_not.setdefault(node, set()).add(block.why_not)
            part.successors[node] = []
            inside = node[1].holds(kind)
            for edge in solved.edges[node]:
                step = Step(solved.body, block.last, self._step_cycles(part, node, edge), 0).price()
                for one in self._edge(part, node, edge, kind, inside, step):
                    (sources if isinstance(one, _Source) else sinks).append(one)  # type: ignore[arg-type]
        return part, list(dict.fromkeys(sources)), list(dict.fromkeys(sinks))

    def _edge(
        self, part: Part, node: Node, edge: Edge, kind: str, inside: bool, step: Price
    ) -> Iterator[_Source | _Sink]:
        target, stays = edge.target, edge.target[1].holds(kind)
        returns = target[0] == RETURN
        code = part.solved.body.blocks[node[0]].last
        if edge.called is None:
            if inside and stays and returns:
                yield _Sink(node, None, target[1], step)
            elif inside and stays:
                part.successors[node].append((target, step.cycles))
            elif inside:
                yield _Sink(node, Mark(code.address), target[1], step)
            elif stays:
                own = Step(part.solved.body, code, self._costs.own(code), 1).price()
                if returns:
                    yield _Sink(node, None, target[1], step)
                else:
                    yield _Source(target, Mark(code.address), own.and_then(step))
            return
        yield from self._call_ways(part, node, edge, kind, inside, step)

    def _call_ways(
        self, part: Part, node: Node, edge: Edge, kind: str, inside: bool, step: Price
    ) -> Iterator[_Source | _Sink]:
        called, target = edge.called, edge.target
        assert called is not None
        code = part.solved.body.blocks[node[0]].last
        if kind == HANDLER and target[0] == NOWHERE:
            # Nothing in there ends the way, and nothing comes back.
            return
        returns = target[0] == RETURN
        try:
            ways = self._called_ways(called, kind, inside, code.address, part.kept.hot[node])
        except NoBoundError as error:
            ways = _Segments(through={target[1]: Price(why_not=frozenset((str(error),)))})
            if inside and target[0] == NOWHERE:
                part.why_not.setdefault(node, set()).add(str(error))
        own = Step(part.solved.body, code, self._costs.own(code), 1).price()

        def through(price: Price) -> Price:
            return Into(part.solved.body, code, called.entry, price).priced()

        if inside and target[1].holds(kind) and target[0] != NOWHERE:
            nowhere = Price(
                why_not=frozenset((f"No way through {self._program.place(called.entry)} was found.",))
            )
            price = through(ways.through.get(target[1], nowhere)).and_then(step)
            if returns:
                yield _Sink(node, None, target[1], price)
            else:
                part.successors[node].append((target, price.cycles))
                _most(part.calls, (node, target), price)
        if inside:
            for end, price in ways.heads.items():
                way = own.and_then(step).and_then(through(price))
                yield _Sink(node, end.called_from(code.address), target[1], way)
        if target[1].holds(kind) and target[0] != NOWHERE:
            for (begin, masks), price in ways.tails.items():
                if masks != target[1]:
                    continue
                begun = begin.called_from(code.address)
                if returns:
                    # A tail call: what it begins, this function leaves begun.
                    yield _Source(target, begun, through(price).and_then(step))
                    yield _Sink(target, None, masks, NOTHING)
                else:
                    yield _Source(target, begun, through(price).and_then(step))

    def _called_ways(self, called: Called, kind: str, inside: bool, code: int, hot: Hot) -> _Segments:
        """The ways of what the call at `code` goes to. Raises NoBoundError."""
        why_not = called.why_not
        if not why_not and self._program.function_at(called.entry) is None:
            why_not = f"{self._program.place(code)} calls {called.entry:#010x}, where no function is known."
        if why_not:
            return _Segments(through={called.masks: Price(why_not=frozenset((why_not,)))})
        if called.entry not in self._touching and not inside:
            return _Segments()
        cold = self._ways(called, kind)
        return cold if hot == COLD else self._ways(called, kind, hot)

    def _between(
        self,
        part: Part,
        node: Node,
        sinks: Mapping[Node, list[_Sink]],
        laps: Laps,
        of_loops: Passes[Node],
    ) -> list[tuple[_Sink, Price]]:
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
        told = self._told(part, alive, laps)
        # What leads nobody knows where may lead to any end.
        lost = {word for place, words in part.why_not.items() if place in reached for word in words}
        found = []
        for end in ends:
            why_not = {irreducible, *lost} if irreducible else set(lost)
            if told:
                here = reaching({end}, part.successors) & reached
                why_not |= {word for place, words in told.items() if place in here for word in words}
            way = ways.get(end)
            if way is None and not irreducible:
                continue
            price = Price(way.cost, (Walk(part, way.trace, way.cost),)) if way else NOTHING
            for sink in sinks[end]:
                found.append((sink, Price(price.cycles, price.path, frozenset(why_not))))
        return found

    def _told(self, part: Part, alive: set[Node], laps: Laps) -> dict[Node, set[str]]:
        """Why there is no bound, by the nodes that say so."""
        told: dict[Node, set[str]] = {}
        for (u, v), price in part.calls.items():
            if u in alive and v in alive and price.why_not and not laps.saw_through(u, v):
                told.setdefault(u, set()).update(price.why_not)
        for node, word in laps.unlimited.items():
            told.setdefault(node, set()).add(word)
        return told

    def _laps(self, solved: Solved, head: Node, inner: set[Node]) -> int | str:
        """How often the head of a loop is passed, or why that is not known."""
        key = (id(solved), head, frozenset(inner))
        if key not in self._loops:
            self._loops[key] = (solved, self._passes(solved, head, inner))
        return self._loops[key][1]

    def _passes(self, solved: Solved, head: Node, inner: set[Node]) -> int | str:
        lines = self._lines(solved.body, inner)
        stated = self._stated.passes(solved.body.name, lines)
        if stated is not None:
            return stated
        try:
            return passes(self._flow, solved, head, inner, self._in_vain[head[0]] < _MOST_IN_VAIN)
        except NoBoundError as error:
            self._in_vain[head[0]] += 1
            hint = self._stated.hints(solved.body.name, lines)
            if hint is None:
                return self._unlimited(solved, head, inner, str(error))
            # After the last lap the condition is looked at once more, if it stands before the body.
            return hint.at_most + (not self._runs_the_body(solved, head, inner, hint.body))

    def _runs_the_body(self, solved: Solved, head: Node, inner: set[Node], lines: frozenset[str]) -> bool:
        """Whether no way leads from the head of a loop out of it, or back, that does not do what
        only the body does: a store, a call or a choice, which no compiler does ahead of the loop's
        condition.
        """
        seen, waiting = {head}, [head]
        while waiting:
            node = waiting.pop()
            edges = solved.edges.get(node, ())
            if self._is_of_the_body(solved, node, inner, lines):
                continue
            for edge in edges:
                if edge.target not in inner or edge.target == head:
                    return False
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
        return True

    def _is_of_the_body(self, solved: Solved, node: Node, inner: set[Node], lines: frozenset[str]) -> bool:
        block = solved.body.blocks[node[0]]
        chooses = len(block.after) > 1 and all((target, node[1]) in inner for target, _ in block.after)
        for code, operation in zip(block.instructions, block.operations, strict=True):
            does = operation.stores or code.call is not None or (chooses and code is block.last)
            if does and not code.conditional and self._program.source_line(code.address) in lines:
                return True
        return False

    def _unlimited(self, solved: Solved, head: Node, inner: set[Node], error: str) -> int | str:
        """Keeps a loop of which nothing is known but perhaps what was observed; as _laps()."""
        place = self._named(head[0])
        why = f"The loop at {place} in {solved.body.name}: {error}."
        kept = self.unlimited.setdefault(head[0], Unlimited(solved.body, head[0], set(), place, why))
        kept.inside |= {node[0] for node in inner}
        observed = self._stated.observed(head[0])
        return why if observed is None else observed

    def again(self, stated: Stated) -> None:
        """Forgets all prices, and how often loops go round, for what is stated now. Only calls
        through pointers, and branches that are not taken, must be stated as before.
        """
        self._stated = stated
        self._segments, self._spent = {}, Spent()
        self._loops, self._in_vain = {}, Counter()
        self.found, self.endless, self.unread = {}, {}, {}

    def _laps_of(self, part: Part, kind: str) -> Laps:
        return Laps(self._flow, self._laps, lambda lap: self._of_lap(lap, kind, part), self._spent)

    def _of_lap(self, solved: Solved, kind: str, whole: Part) -> Part | None:
        """The ways and costs of one lap of a loop; None if some of it has no bound."""
        before, self._in_a_lap = self._in_a_lap, True
        try:
            part, _, _ = self._part(Part(solved, whole.kept, whole.timed), kind)
        finally:
            self._in_a_lap = before
        unknown = part.why_not or any(price.why_not for price in part.calls.values())
        return None if unknown else part

    def _lines(self, body: Body, nodes: Iterable[Node]) -> set[str]:
        addresses = (code.address for node in nodes for code in body.blocks[node[0]].instructions)
        return {line for line in map(self._program.source_line, addresses) if line}

    def _named(self, address: int) -> str:
        return self._program.source_line(address) or self._program.place(address)

    def _timed(self, solved: Solved, hot: Hot) -> Cycles:
        key = (id(solved), hot)
        if key not in self._cycles:
            costs = replace(self._costs, hot_code=hot.code, hot_data=hot.data)
            self._cycles[key] = Pipeline(self._flow, costs).cycles(solved)
        return self._cycles[key]

    def _step_cycles(self, part: Part, node: Node, edge: Edge) -> int:
        """Cycles of an edge; with the first reads of a loop that it enters."""
        hot, target, way = part.kept.hot[node], edge.target, way_of(edge)
        cycles = self._timed(part.timed, hot)
        if (node, way) not in cycles.steps:
            part.why_not.setdefault(node, set()).add("A lap leads where the loop does not.")
            return 0
        hot_there = part.kept.hot.get(target, hot)
        if hot_there == hot:
            step = cycles.steps[node, way]
        else:
            # The next node begins in ways that are none of this one's.
            step = cycles.ways[node, way] + self._timed(part.timed, hot_there).dearest.get(target, 0)
        return step + part.kept.enters(node, target)

    # What stays in the caches.

    def _kept(self, solved: Solved, kind: str, hot: Hot) -> Kept:
        """Which lines stay in the caches in the loops of a function, where a mask is set."""
        if self._costs.certain or (hot.code >= self._costs.code_cache and hot.data >= self._costs.data_cache):
            return Kept(dict.fromkeys(solved.states, hot), {}, {})
        held = {node for node in solved.states if node[1].holds(kind)}
        after = {
            node: [edge.target for edge in solved.edges[node] if edge.target in held] if node in held else []
            for node in solved.states
        }
        return kept(after, lambda node: self._lines_of(solved, node), self._costs, hot)

    def _lines_of(self, solved: Solved, node: Node) -> Lines:
        """The lines that a node reads, with those of what it calls."""
        lines = self._timed(solved, COLD).lines.get(node, UNKNOWN)
        for edge in solved.edges[node]:
            if edge.called is not None and edge.target[0] != NOWHERE:
                lines |= self._lines_of_call(edge.called)
        return lines

    def _lines_of_call(self, called: Called) -> Lines:
        if called.why_not or self._program.function_at(called.entry) is None:
            return UNKNOWN
        try:
            return self._all_lines(self._solve(called._replace(arguments=(None,) * 4)))
        except NoBoundError:
            return UNKNOWN

    def _all_lines(self, solved: Solved) -> Lines:
        """The lines that a function reads, with those of what it calls."""
        if id(solved) not in self._footprints:
            self._footprints[id(solved)] = UNKNOWN  # if it calls itself
            lines = Lines()
            for node in solved.states:
                lines |= self._lines_of(solved, node)
            self._footprints[id(solved)] = lines
        return self._footprints[id(solved)]


def _any_number(value: Value) -> Value:
    """A value, if it is a number, however little is known of it."""
    return value if value is not None and value[0] in ("", SRAM) else None


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


def _worth_of_masks(value: Value) -> Value:
    """What is worth knowing of an argument that may become a mask: a number, or that it is not
    0.
    """
    if constant(value) is not None:
        return value
    return number(1, WORD - 1) if unsigned(value)[0] > 0 else None


def _most(found: dict[Any, Price], key: Any, price: Price) -> None:
    if key not in found or _dearer(price, found[key]):
        found[key] = price


def _least(found: dict[Any, Price], other: Mapping[Any, Price], more: Price) -> None:
    for key, price in found.items():
        if key in other:
            found[key] = min(price, other[key].and_then(more), key=_dearness)


def _dearness(price: Price) -> tuple[bool, int]:
    return bool(price.why_not), price.cycles


def _dearer(one: Price, other: Price) -> bool:
    return _dearness(one) > _dearness(other)


def _reached(start: Node, successors: Mapping[Node, list[tuple[Node, int]]]) -> set[Node]:
    seen, waiting = {start}, [start]
    while waiting:
        for target, _ in successors.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen

"""What holds in each function, for each way of calling it that is worth telling apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from analysis.bounds.calls import Calls
from analysis.bounds.flow import NOWHERE, RETURN, Called, Flow, Outcome, Solved
from analysis.bounds.flow import solve as interpret
from analysis.bounds.graph import Disassembler
from analysis.bounds.masks import Masks
from analysis.bounds.values import SRAM, WORD, Value, constant, contains, join, number, unsigned
from analysis.errors import NoBoundError
from analysis.explain.program import Program

_MOST_CONTEXTS = 12
"""So many ways of calling a function are told apart; after that nothing is known of arguments."""
_MOST_CONTEXTS_OF_LAPS = 60
"""The same, with those of calls in laps that are gone through one by one."""
_MOST_CONTEXTS_OF_ITSELF = 200
"""The same of a function that calls itself, and of OF_A_LENGTH."""
OF_A_LENGTH = ("memcpy", "memmove", "memset")
"""Functions of the C library whose loops go by their third argument."""
_WIDEST_ARGUMENT = 1 << 20
MANY_FUNCTIONS = 200
"""Of a program with more that touch a mask, less is followed: Contexts.matters(), ways.Ways."""


class Contexts:
    """The functions of a program as they are called. `cells` are addresses of a kernel's counters
    of nesting, `pointed` gives the entries that a call through a pointer may go to, `copied` the
    most bytes that a call of OF_A_LENGTH copies, `depth` how many calls of a function are being
    priced, one in another. `vectors` has handlers by exception.
    """

    def __init__(
        self,
        program: Program,
        disassembler: Disassembler,
        calls: Calls,
        cells: Sequence[int],
        pointed: Callable[[int], Iterable[int]],
        copied: Callable[[int], int | None],
        depth: Callable[[int], int],
        vectors: Mapping[int, int],
    ) -> None:
        self._program = program
        self._copied = copied
        self._calls = calls
        self._depth = depth
        numbered = {address: number for number, address in enumerate(cells)}
        self.flow = Flow(
            disassembler, program.read_only, self._outcomes, numbered, pointed, vectors, self._limited
        )
        self._strays: dict[int, frozenset[str]] = {}
        self.in_a_lap = False
        self.nothing_held = Masks(cells=(0,) * len(cells))
        self._solved: dict[tuple[int, Masks, tuple[Value, ...]], Solved] = {}
        self._contexts: dict[int, dict[tuple[Value, ...], None]] = {}
        self._under_way: set[int] = set()

    def plain(self, entry: int) -> Called:
        """A call of the function at `entry` with nothing held off, of whose arguments nothing is
        known.
        """
        return Called(entry, self.nothing_held, (None,) * 4)

    def matters(self, called: Called) -> bool:
        """Whether sections may begin or end in a call, or in what is called there. Of a large
        program only the functions that have some of a section themselves are followed from where
        nothing is held off: all others end as they began.
        """
        is_free = called.masks._replace(exception=None) == self.nothing_held
        return called.entry in (self.followed if is_free else self._calls.touching)

    @cached_property
    def followed(self) -> AbstractSet[int]:
        """The functions that are followed from where nothing is held off: those that touch a mask;
        of a large program those that change one, or call one that comes back with it changed.
        """
        touching = self._calls.touching
        if len(touching) <= MANY_FUNCTIONS:
            return touching
        # It is asked for while it grows: a callee is decided before those that call it.
        self.followed = reached = set[int]()
        opening: set[int] = set()
        for circle in self._calls.circles:
            called = {target for entry in circle for target in self._calls.callees.get(entry, ())}
            if called.isdisjoint(opening) and self._calls.changing.isdisjoint(circle):
                continue
            reached.update(circle)
            if any(map(self._opens, circle)):
                opening.update(circle)
        return reached

    def _opens(self, entry: int) -> bool:
        """Whether a function that is called with nothing held off may come back otherwise."""
        try:
            solved = self.solve(self.plain(entry))
        except NoBoundError:
            return False
        edges = (edge for edges in solved.edges.values() for edge in edges)
        return any(edge.target[0] == RETURN and edge.target[1] != self.nothing_held for edge in edges)

    def context(self, called: Called) -> Called:
        """The call with what is worth knowing of its arguments."""
        is_again = self._depth(called.entry) > 0
        arguments = tuple(map(_any_number if is_again else self._worth, called.arguments))
        if called.entry in self._calls.touching:
            arguments = tuple(map(_worth_of_masks, arguments))
        contexts = self._contexts.setdefault(called.entry, {})
        if arguments not in contexts:
            most = _MOST_CONTEXTS_OF_LAPS if self.in_a_lap else _MOST_CONTEXTS
            if self._calls.calls_itself(called.entry) or self._is_of_a_length(called.entry):
                most = _MOST_CONTEXTS_OF_ITSELF
            if len(contexts) >= most:
                around = (context for context in contexts if all(map(contains, context, arguments)))
                arguments = next(around, (None,) * 4)
            contexts[arguments] = None
        return called._replace(arguments=arguments)

    def _limited(self, address: int, called: Called) -> Called:
        """A call at an address, of whose length something may be said."""
        first, second, length, last = called.arguments
        most = self._copied(address) if self._is_of_a_length(called.entry) else None
        if most is None or unsigned(length)[1] <= most:
            return called
        return called._replace(arguments=(first, second, number(0, most), last))

    def _is_of_a_length(self, entry: int) -> bool:
        function = self._program.function_at(entry)
        return function is not None and function.name in OF_A_LENGTH

    def _worth(self, value: Value) -> Value:
        if value is None or value[0] not in ("", SRAM):
            return None
        return value if value[0] or value[2] - value[1] < _WIDEST_ARGUMENT else None

    def solve(self, called: Called) -> Solved:
        key = (called.entry, called.masks, called.arguments)
        if key not in self._solved:
            self._under_way.add(called.entry)
            try:
                body = self.flow.body(called.entry)
                self._solved[key] = interpret(self.flow, body, called.masks, called.arguments)
            finally:
                self._under_way.discard(called.entry)
        return self._solved[key]

    def strays(self, entry: int) -> frozenset[str]:
        """Where a function that does not come back goes on, as longjmp() does, in words."""
        if entry not in self._strays:
            self._strays[entry] = frozenset()
            words: set[str] = set()
            try:
                solved = self.solve(self.plain(entry))
            except NoBoundError:
                return frozenset()
            for edge in (edge for edges in solved.edges.values() for edge in edges):
                if edge.target[0] == RETURN and edge.called is not None and not edge.called.entry:
                    words.add(edge.called.why_not)
                elif edge.target[0] == NOWHERE and edge.called is not None and edge.called.entry:
                    words |= self.strays(edge.called.entry)
            self._strays[entry] = frozenset(words)
        return self._strays[entry]

    def _outcomes(self, called: Called) -> list[Outcome]:
        if not called.entry or called.entry in self._under_way:
            return [Outcome(called.masks, None)]
        if self._calls.never_comes_back(called.entry):
            return []
        if not self.matters(called):
            return [Outcome(called.masks, None)] if self._calls.returns(called.entry) else []
        try:
            solved = self.solve(self.context(called))
        except NoBoundError:
            return [Outcome(called.masks, None)]
        outcomes: dict[Masks, Value] = {}
        for edges in solved.edges.values():
            for edge in edges:
                if edge.target[0] == RETURN:
                    masks, result = edge.target[1], self._worth(edge.state.registers[0])
                    outcomes[masks] = join(outcomes[masks], result) if masks in outcomes else result
        return [Outcome(masks, result) for masks, result in outcomes.items()]


def _any_number(value: Value) -> Value:
    """A value, if it is a number, however little is known of it."""
    return value if value is not None and value[0] in ("", SRAM) else None


def _worth_of_masks(value: Value) -> Value:
    """What is worth knowing of an argument that may become a mask: a number, or that it is not
    0.
    """
    if constant(value) is not None:
        return value
    return number(1, WORD - 1) if unsigned(value)[0] > 0 else None

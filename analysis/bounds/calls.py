"""What is known of functions without values: whom they call, which touch a mask, which return."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from analysis.bounds.flow import NOWHERE, RETURN, Called, Flow, Outcome, Solved
from analysis.bounds.flow import solve as interpret
from analysis.bounds.graph import MASK_NAMES, Disassembler
from analysis.bounds.longest import components
from analysis.bounds.state import HARD_FAULT, KINDS, SERVICE_CALL, Masks
from analysis.bounds.values import SRAM, WORD, Value, constant, contains, join, number, unsigned
from analysis.errors import NoBoundError
from analysis.explain.program import Program

_LITERAL = re.compile(r"\[pc, #(\w+)\]")
_LETTERS = {"primask": "i", "faultmask": "f"}
"""What CPS calls them."""


class Calls:
    """The functions of a program by their entries. `cells` are addresses of a kernel's counters of
    nesting; no path leads on from a call of a function named in `untaken`.
    """

    def __init__(
        self,
        program: Program,
        disassembler: Disassembler,
        cells: Iterable[int],
        untaken: frozenset[str],
        vectors: Mapping[int, int],
    ) -> None:
        self._handlers = frozenset(vectors.values())
        self._service = {vectors[number] for number in (SERVICE_CALL, HARD_FAULT) if number in vectors}
        self._program = program
        self._disassembler = disassembler
        self._cells = tuple(cells)
        self._untaken = untaken
        self._returning: dict[int, bool] = {}

    @cached_property
    def callees(self) -> dict[int, set[int]]:
        """The functions that each function calls or goes on to, by their entries."""
        callees: dict[int, set[int]] = {}
        for function in self._program.functions:
            inside = range(function.address, function.address + function.size)
            targets = callees.setdefault(function.address, set())
            for _, _, mnemonic, operands in self._program.instructions(function):
                if mnemonic.startswith("b") and operands.startswith("#"):
                    target = int(operands[1:], 0)
                    if target not in inside and self._program.function_at(target) is not None:
                        targets.add(target)
                elif mnemonic == "svc":
                    targets |= self._service
        return callees

    @cached_property
    def floating(self) -> set[int]:
        """The functions that may execute a floating-point instruction, or call one that does. What
        is called through a pointer may.
        """
        own = {
            function.address
            for function in self._program.functions
            if any(code[2].startswith("v") for code in self._program.instructions(function))
        }
        return self._with_callers(own | self._pointing if own else own)

    @cached_property
    def _pointing(self) -> set[int]:
        """The functions that go on through a pointer."""
        return {
            function.address
            for function in self._program.functions
            for _, _, mnemonic, operands in self._program.instructions(function)
            if mnemonic.startswith(("blx", "bx")) and operands != "lr"
        }

    def may_be_in_handler(self, entry: int) -> bool:
        """Whether a handler may run a function: all, where one calls through a pointer."""
        return entry in self._of_handlers or not self._of_handlers.isdisjoint(self._pointing)

    @cached_property
    def _of_handlers(self) -> set[int]:
        functions = set(self._handlers)
        waiting = list(functions)
        while waiting:
            fresh = self.callees.get(waiting.pop(), set()) - functions
            functions |= fresh
            waiting += fresh
        return functions

    @cached_property
    def raised(self) -> list[str]:
        """The masks that some instruction of the program may set."""
        handlers = set()
        for function in self._program.functions:
            for _, _, mnemonic, operands in self._program.instructions(function):
                if mnemonic.startswith("cpsid"):
                    handlers |= {kind for kind, letter in _LETTERS.items() if letter in operands}
                elif mnemonic.startswith("msr"):
                    handlers |= {kind for kind in KINDS if operands.lower().startswith(kind)}
        return [kind for kind in KINDS if kind in handlers]

    @cached_property
    def touching(self) -> set[int]:
        """The functions that change a mask or have the address of a cell, or call one that does."""
        return self._with_callers(self.changing)

    @cached_property
    def changing(self) -> set[int]:
        """The functions that change a mask, or have the address of a cell, themselves."""
        own = set()
        for function in self._program.functions:
            for address, _, mnemonic, operands in self._program.instructions(function):
                masks = operands.partition(",")[0].lower() in MASK_NAMES
                changes = mnemonic.startswith("cps") or (mnemonic.startswith("msr") and masks)
                if changes or self._loads_cell(address, operands):
                    own.add(function.address)
        return own

    def _with_callers(self, own: set[int]) -> set[int]:
        """The functions with those that call them, also by way of others."""
        callers: dict[int, set[int]] = {}
        for caller, targets in self.callees.items():
            for target in targets:
                callers.setdefault(target, set()).add(caller)
        functions, waiting = set(own), list(own)
        while waiting:
            for caller in callers.get(waiting.pop(), ()):
                if caller not in functions:
                    functions.add(caller)
                    waiting.append(caller)
        return functions

    def _loads_cell(self, address: int, operands: str) -> bool:
        """Whether an instruction loads the address of a cell from the constants behind the code."""
        match = _LITERAL.search(operands) if self._cells else None
        if match is None:
            return False
        literal = (address + 4 & ~3) + int(match[1], 0)
        return int.from_bytes(self._program.code(literal, 4), "little") in self._cells

    def calls_itself(self, entry: int) -> bool:
        """Whether a function calls itself, also by way of others, and not through a pointer."""
        codes = self._disassembler.flow(entry).instructions.values()
        return entry in self._circular or any(code.call == entry for code in codes)

    @cached_property
    def circles(self) -> list[list[int]]:
        """All functions, callees first; those that call each other stand together."""
        ways = {
            caller: [(target, 0) for target in sorted(targets)] for caller, targets in self.callees.items()
        }
        nobody = -1
        ways[nobody] = [(entry, 0) for entry in self.callees]
        return components(nobody, ways)[:0:-1]

    @cached_property
    def _circular(self) -> set[int]:
        """The functions that call themselves by way of others."""
        return {entry for circle in self.circles if len(circle) > 1 for entry in circle}

    @cached_property
    def reads_exception(self) -> bool:
        """Whether some instruction reads which handler runs."""
        return any(
            mnemonic == "mrs" and operands.lower().endswith("ipsr")
            for function in self._program.functions
            for _, _, mnemonic, operands in self._program.instructions(function)
        )

    def never_comes_back(self, entry: int) -> bool:
        """Whether the source or the user says so of a function."""
        function = self._program.function_at(entry)
        return function is not None and function.name in self._stopping

    @cached_property
    def _stopping(self) -> frozenset[str]:
        return self._untaken | self._program.never_return

    def returns(self, entry: int) -> bool:
        """Whether a way leads from a function's entry to its return."""
        if entry in self._returning:
            return self._returning[entry]
        self._returning[entry] = True
        try:
            graph = self._disassembler.flow(entry)
        except NoBoundError:
            return True
        seen, waiting, returns = {entry}, [entry], False
        while waiting and not returns:
            at = waiting.pop()
            code = graph.instructions.get(at)
            if code is None or at in graph.unknown:
                returns = True
                break
            comes_back = (
                code.call is None
                or code.conditional
                or (not self.never_comes_back(code.call) and self.returns(code.call))
            )
            if not comes_back:
                continue
            returns = at in graph.ends
            for target, _ in graph.after.get(at, ()):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        self._returning[entry] = returns
        return returns


# What holds in each function, for each way of calling it that is worth telling apart.


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

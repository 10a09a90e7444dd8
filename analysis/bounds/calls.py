"""What is known of functions without values: whom they call, which touch a mask, which return."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from analysis.bounds.flow import NOWHERE, RETURN, Called, Flow, Outcome, Solved
from analysis.bounds.graph import MASK_NAMES, Disassembler
from analysis.bounds.longest import components, reached, reaching
from analysis.bounds.loops import OF_A_LENGTH, Stated
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

    `callees` are the functions that each calls or goes on to. `changing` change a mask, or have the
    address of a cell, themselves. `raised` are the masks that some instruction may set.
    """

    def __init__(
        self,
        program: Program,
        disassembler: Disassembler,
        cells: Iterable[int],
        untaken: frozenset[str],
        vectors: Mapping[int, int],
    ) -> None:
        self._program = program
        self._disassembler = disassembler
        self._stopping = untaken | program.never_return
        self._returning: dict[int, bool] = {}
        service = {vectors[number] for number in (SERVICE_CALL, HARD_FAULT) if number in vectors}
        cells, raised = tuple(cells), set[str]()
        self.callees: dict[int, set[int]] = {}
        self.changing: set[int] = set()
        floating, pointing = set[int](), set[int]()
        for function in program.functions:
            own = function.address
            inside = range(own, own + function.size)
            targets = self.callees.setdefault(own, set())
            for address, _, mnemonic, operands in program.instructions(function):
                first = operands.partition(",")[0].lower()
                if mnemonic.startswith("b") and operands.startswith("#"):
                    target = int(operands[1:], 0)
                    if target not in inside and program.function_at(target) is not None:
                        targets.add(target)
                elif mnemonic == "svc":
                    targets |= service
                elif mnemonic.startswith(("blx", "bx")) and operands != "lr":
                    pointing.add(own)
                elif mnemonic.startswith("v"):
                    floating.add(own)
                elif mnemonic.startswith("cps"):
                    self.changing.add(own)
                    if mnemonic.startswith("cpsid"):
                        raised |= {kind for kind, letter in _LETTERS.items() if letter in operands}
                elif mnemonic.startswith("msr") and first in MASK_NAMES:
                    self.changing.add(own)
                    raised |= {kind for kind in KINDS if first.startswith(kind)}
                if cells and (match := _LITERAL.search(operands)):
                    # The address of a cell, from the constants behind the code.
                    literal = (address + 4 & ~3) + int(match[1], 0)
                    if int.from_bytes(program.code(literal, 4), "little") in cells:
                        self.changing.add(own)
        self.raised = [kind for kind in KINDS if kind in raised]
        self.touching = reaching(self.changing, self.callees)
        """The functions of `changing`, and those that call one."""
        floating = reaching(floating | pointing, self.callees) if floating else set()
        of_handlers = reached(vectors.values(), lambda entry: self.callees.get(entry, ()))
        # All may be, where a handler calls through a pointer.
        self.floating_in_handlers = floating & of_handlers if of_handlers.isdisjoint(pointing) else floating
        """The functions that a handler may run, and that may execute a floating-point instruction,
        or call one that does. What is called through a pointer may.
        """

    @cached_property
    def circles(self) -> list[list[int]]:
        """All functions, callees first; those that call each other stand together."""
        ways = {caller: sorted(targets) for caller, targets in self.callees.items()}
        return components(ways, ways)[::-1]

    def name(self, entry: int) -> str:
        """The name of the function at `entry`; empty if there is none."""
        function = self._program.function_at(entry)
        return "" if function is None else function.name

    def never_comes_back(self, entry: int) -> bool:
        """Whether the source or the user says so of a function."""
        return self.name(entry) in self._stopping

    def returns(self, entry: int) -> bool:
        """Whether a way leads from a function's entry to its return."""
        if entry in self._returning:
            return self._returning[entry]
        self._returning[entry] = True
        try:
            graph = self._disassembler.flow(entry)
        except NoBoundError:
            return True

        def after(at: int) -> list[int]:
            code = graph.instructions.get(at)
            if code is None or at in graph.unknown:
                return [RETURN]
            call = None if code.conditional else code.call
            if call is not None and (self.never_comes_back(call) or not self.returns(call)):
                return []
            return [*([RETURN] if at in graph.ends else []), *(to for to, _ in graph.after[at])]

        self._returning[entry] = RETURN in reached([entry], after)
        return self._returning[entry]


# What holds in each function, for each way of calling it that is worth telling apart.


_MOST_CONTEXTS = 12
"""So many ways of calling a function are told apart; after that nothing is known of arguments."""
_MOST_CONTEXTS_OF_A_LENGTH = 200
"""The same of OF_A_LENGTH."""
_WIDEST_ARGUMENT = 1 << 20
MANY_FUNCTIONS = 200
"""Of a program with more that touch a mask, less is followed: Contexts.matters(), Sections."""


@dataclass(eq=False, kw_only=True)
class Contexts(Flow):
    """The functions of a program as they are called. `cells` are a kernel's counters of nesting."""

    calls: Calls
    statements: Stated
    _strays: dict[int, set[str]] = field(default_factory=dict)
    _solved: dict[tuple[Any, ...], Solved] = field(default_factory=dict)
    _contexts: dict[int, dict[tuple[Value, ...], None]] = field(default_factory=dict)
    _under_way: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.nothing_held = Masks(cells=(0,) * len(self.cells))

    def plain(self, entry: int) -> Called:
        """A call of the function at `entry` with nothing held off, of whose arguments nothing is
        known.
        """
        return Called(entry, self.nothing_held)

    def matters(self, called: Called) -> bool:
        """Whether sections may begin or end in a call, or in what is called there. Of a large
        program only the functions that have some of a section themselves are followed from where
        nothing is held off: all others end as they began.
        """
        is_free = called.masks == self.nothing_held
        return called.entry in (self.followed if is_free else self.calls.touching)

    @cached_property
    def followed(self) -> AbstractSet[int]:
        """The functions that are followed from where nothing is held off: those that touch a mask;
        of a large program those that change one, or call one that comes back with it changed.
        """
        touching = self.calls.touching
        if len(touching) <= MANY_FUNCTIONS:
            return touching
        # It is asked for while it grows: a callee is decided before those that call it.
        self.followed = reached = set[int]()
        opening: set[int] = set()
        for circle in self.calls.circles:
            called = {target for entry in circle for target in self.calls.callees.get(entry, ())}
            if called.isdisjoint(opening) and self.calls.changing.isdisjoint(circle):
                continue
            reached.update(circle)
            if any(map(self._opens, circle)):
                opening.update(circle)
        return reached

    def _opens(self, entry: int) -> bool:
        """Whether a function that is called with nothing held off may come back otherwise."""
        with suppress(NoBoundError):
            targets = (edge.target for _, edge in self.solved(self.plain(entry)).ways)
            return any(at == RETURN and masks != self.nothing_held for at, masks in targets)
        return False

    def context(self, called: Called) -> Called:
        """The call with what is worth knowing of its arguments."""
        arguments = tuple(map(_worth, called.arguments))
        if called.entry in self.calls.touching:
            arguments = tuple(map(_worth_of_masks, arguments))
        contexts = self._contexts.setdefault(called.entry, {})
        if arguments not in contexts:
            is_of_a_length = self.calls.name(called.entry) in OF_A_LENGTH
            most = _MOST_CONTEXTS_OF_A_LENGTH if is_of_a_length else _MOST_CONTEXTS
            if len(contexts) >= most:
                around = (context for context in contexts if all(map(contains, context, arguments)))
                arguments = next(around, (None,) * 4)
            contexts[arguments] = None
        return called._replace(arguments=arguments)

    def named(self, address: int) -> Iterable[int]:
        return self.statements.called(address)

    def limited(self, address: int, called: Called) -> Called:
        first, second, length, last = called.arguments
        is_of_a_length = self.calls.name(called.entry) in OF_A_LENGTH
        most = self.statements.copied(address) if is_of_a_length else None
        if most is None or unsigned(length)[1] <= most:
            return called
        return called._replace(arguments=(first, second, number(0, most), last))

    def solved(self, called: Called) -> Solved:
        key = called[:3]
        if key not in self._solved:
            self._under_way.add(called.entry)
            try:
                self._solved[key] = super().solved(called)
            finally:
                self._under_way.discard(called.entry)
        return self._solved[key]

    def strays(self, entry: int) -> AbstractSet[str]:
        """Where a function that does not come back goes on, as longjmp() does, in words."""
        if entry not in self._strays:
            words = self._strays[entry] = set()
            with suppress(NoBoundError):
                for _, (target, _, _, called) in self.solved(self.plain(entry)).ways:
                    if called and target[0] == RETURN and not called.entry:
                        words.add(called.why_not)
                    elif called and target[0] == NOWHERE and called.entry:
                        words |= self.strays(called.entry)
        return self._strays[entry]

    def outcomes(self, called: Called) -> list[Outcome]:
        unknown = [Outcome(called.masks, None)]
        if not called.entry or called.entry in self._under_way:
            return unknown
        if self.calls.never_comes_back(called.entry):
            return []
        if not self.matters(called):
            return unknown if self.calls.returns(called.entry) else []
        try:
            solved = self.solved(self.context(called))
        except NoBoundError:
            return unknown
        outcomes: dict[Masks, Value] = {}
        for _, edge in solved.ways:
            if edge.target[0] == RETURN:
                masks, result = edge.target[1], _worth(edge.state.registers[0])
                outcomes[masks] = join(outcomes[masks], result) if masks in outcomes else result
        return [Outcome(masks, result) for masks, result in outcomes.items()]


def _worth(value: Value) -> Value:
    """A value, if it is a number that is worth knowing."""
    if value is None or value[0] not in ("", SRAM):
        return None
    return value if value[0] or value[2] - value[1] < _WIDEST_ARGUMENT else None


def _worth_of_masks(value: Value) -> Value:
    """What is worth knowing of an argument that may become a mask: a number, or that it is not
    0.
    """
    if constant(value) is not None:
        return value
    return number(1, WORD - 1) if unsigned(value)[0] > 0 else None

"""What is known of functions without values: whom they call, which touch a mask, which return."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from analysis.bounds.graph import Disassembler
from analysis.bounds.longest import components
from analysis.bounds.masks import HARD_FAULT, KINDS, MASK_NAMES, SERVICE_CALL
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

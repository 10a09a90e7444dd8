"""Addresses as places in the source: function, file and line, and the calls that led there."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import takewhile
from typing import Any

from analysis.errors import LatencyError
from analysis.explain.kernels.kernel import Kernel
from analysis.explain.program import Function, Program, vector
from analysis.explain.sources import Inlined
from analysis.program.parts import fields_of
from base.files.errors import near_miss
from simulator.interrupts import FIRST_IRQ, VECTORS

_FIRST_HANDLER = 1
SYSTEM = {
    1: "Reset",
    2: "NMI",
    3: "HardFault",
    4: "MemManage",
    5: "BusFault",
    6: "UsageFault",
    11: "SVCall",
    12: "DebugMonitor",
    14: "PendSV",
    15: "SysTick",
}
"""The exceptions of the core (ARMv7-M Architecture Reference Manual, B1.5.2)."""


@dataclass(frozen=True)
class Place:
    """A place in the code. `file` and `line` are empty and 0 where nothing tells them.

    Of code that the compiler placed into `function` from another one, `line` is that of the call.
    In a stack, an `interrupted` place did not call what comes before it, and a `likely` one may
    not have: LR alone tells of it. `lock` is the kernel's word for what holds interrupts off there.
    """

    function: str
    file: str
    line: int
    address: int
    interrupted: bool = False
    likely: bool = False
    lock: str = ""

    @property
    def source(self) -> str:
        """`file.c:12`; empty if nothing tells it."""
        return f"{self.file}:{self.line}" if self.file else ""

    @property
    def where(self) -> tuple[object, ...]:
        """What is equal for all code of the same line."""
        return (self.function, self.file, self.line) if self.file else (self.address,)

    def as_json(self) -> dict[str, Any]:
        """What a document has of it."""
        return {**fields_of(self), "line": self.line or None}

    def __str__(self) -> str:
        words = f"{self.function} ({self.source})" if self.file else self.function
        return f"likely {words}" if self.likely else f"{self.lock} in {words}" if self.lock else words


@dataclass(eq=False)
class Places:
    """The places of a program, and the call stacks of one of its runs (MaskRun.stacks).

    `kernel` is the program's, and `handlers_behind` has the addresses of the handlers behind a
    common one, by exception. `vectors` are the words of the table that the core read at the end of
    a run; without them it is that at the flash's beginning.
    """

    program: Program
    stacks: Mapping[int, Sequence[int]]
    kernel: Kernel | None
    handlers_behind: Mapping[int, int]
    vectors: Sequence[int]

    def __post_init__(self) -> None:
        self._locks = self.kernel.locks if self.kernel else {}
        tables = self.kernel.tables if self.kernel else ()
        self._common = {name for table in tables for name in table.functions}
        self._inlined = Inlined(self.program)
        self._frames = cache(self._find_frames)
        self._entries = cache(self._find_entry)
        self.stack = cache(self._find_stack)

    def place(self, address: int) -> Place:
        """The place of an instruction, in the function whose code it is."""
        return self._frames(address)[-1]

    def _find_stack(self, number: int | None, address: int) -> tuple[Place, ...]:
        """The calls of a stack, innermost first, with those that the compiler placed into others.

        Without a number there is nothing but `address`. What a handler returns to is what it
        interrupted: where nothing tells that, the stack ends. It does, too, where LR alone tells of
        a caller, and the call there is one of another function.
        """
        addresses = [address] if number is None else self.stacks.get(number, [address])
        places = list(self._frames(addresses[0]))
        exact, inner = True, addresses[0]
        for return_address in addresses[1:]:
            call = self._call(return_address)
            interrupted = call == return_address
            likely = exact and not interrupted and not self.program.tells_caller(inner)
            function = self.program.function_at(inner)
            is_handler = function is not None and function.address in self._handlers
            if not interrupted and (is_handler or (likely and not self._may_call(call, function))):
                break
            frames = self._frames(call)
            places += [replace(frame, interrupted=interrupted, likely=likely) for frame in frames]
            exact, inner = interrupted, call
        return tuple(places)

    def behind(self, exception: int) -> str:
        """The name of the common handler that calls the exception's own; empty if none does."""
        return self._entries(exception)[1]

    def lock(self, address: int) -> str:
        """The kernel's word for what holds interrupts off there, of functions that were placed into
        others the outermost; empty if there is none.
        """
        words = [self._locks.get(frame.function, "") for frame in self._frames(address)[:-1]]
        return next((word for word in reversed(words) if word), "")

    def entry(self, exception: int) -> Place | None:
        """Where the handler of an exception begins; None if the table has no vector for it."""
        return self._entries(exception)[0]

    def _find_entry(self, exception: int) -> tuple[Place | None, str]:
        word = self.vectors[exception] if exception < len(self.vectors) else 0
        word = word if word & 1 else vector(self.program, exception)
        place = self.place(word & ~1) if word & 1 else None
        if place and place.function in self._common and exception in self.handlers_behind:
            return self.place(self.handlers_behind[exception]), place.function
        return place, ""

    def exception(self, number: int) -> str:
        """`SysTick (xPortSysTickHandler)`, `IRQ 38 (uart_stm32_isr behind _isr_wrapper)`."""
        name = SYSTEM.get(number) or f"IRQ {number - FIRST_IRQ}"
        entry, common = self._entries(number)
        if entry is None or entry.function.startswith("0x"):
            return name
        return f"{name} ({entry.function}{f' behind {common}' if common else ''})"

    @cached_property
    def _handlers(self) -> set[int]:
        return {*handlers(self.program).values(), *_handlers(self.vectors).values()}

    def _halfwords(self, address: int) -> tuple[int, int]:
        code = self.program.code(address, 4)
        return int.from_bytes(code[:2], "little"), int.from_bytes(code[2:], "little")

    def _call(self, address: int) -> int:
        """The call that returns to `address`, which is `address` itself if there is none.

        BL and BLX (ARMv7-M Architecture Reference Manual, A7.7.18, A7.7.19).
        """
        first, narrow = self._halfwords(address - 4)
        if first & 0xF800 == 0xF000 and narrow & 0xD000 == 0xD000:
            return address - 4
        return address - 2 if narrow & 0xFF87 == 0x4780 else address

    def _may_call(self, call: int, function: Function | None) -> bool:
        """Whether the call may be one of the function: BL tells its target."""
        first, second = self._halfwords(call)
        name, _, target = self.program.instruction_text(call, first << 16 | second).partition(" #")
        if name != "bl":
            return True
        called = self.program.function_at(int(target, 0))
        return called is not None and called == function

    def _find_frames(self, address: int) -> tuple[Place, ...]:
        """The place, innermost first where code was placed into other code."""
        file, _, line = self.program.source_line(address).rpartition(":")
        at = (file, int(line or 0))
        frames = []
        for call in self._inlined.at(address):
            frames.append(Place(call.function, *at, address))
            at = (call.file, call.line)
        function = self.program.function_at(address)
        return (*frames, Place(function.name if function else f"{address:#010x}", *at, address))


def handlers(program: Program) -> dict[int, int]:
    """Where the handler of each exception begins, by the table in the flash at reset."""
    return _handlers([vector(program, exception) for exception in range(VECTORS)])


def _handlers(vectors: Sequence[int]) -> dict[int, int]:
    """The handlers that a table names; it ends where a word is no handler's."""
    there = takewhile(lambda word: not word or word & 1, vectors[_FIRST_HANDLER:])
    return {exception: word & ~1 for exception, word in enumerate(there, _FIRST_HANDLER) if word}


# Places in the code as a user writes them: `main`, `main+0x12`, `0x08000123`, `app.c:42`.


def function_named(program: Program, name: str) -> Function:
    """The function of that name. Raises LatencyError, which suggests near names."""
    functions = {each.address: each for each in program.functions if each.name == name}
    return functions[_only(name, [*functions], [function.name for function in program.functions])]


def _only(name: str, addresses: list[int], names: Collection[str]) -> int:
    if len(addresses) > 1:
        listed = ", ".join(f"{at:#010x}" for at in addresses)
        raise LatencyError(f"{len(addresses)} places are named {name}: give an address, of {listed}.")
    if not addresses:
        near = near_miss(name, names) or " It may have been inlined or left out: give an address, 0x…."
        raise LatencyError(f"There is no place {name} in the code.{near}")
    return addresses[0]


def addresses_of(program: Program, place: str) -> list[int]:
    """The instructions that a place means; of a line one for each function that has code of it.

    Raises LatencyError.
    """
    if re.fullmatch(r"0x[0-9a-fA-F]+", place):
        return [int(place, 16) & ~1]
    if ":" not in place:
        name, plus, offset = place.partition("+")
        if plus and re.fullmatch(r"0x[0-9a-fA-F]+", offset) is None:
            raise LatencyError(f"{place} is no place: write {name}+0x and hexadecimal digits.")
        address = _only(name, program.labels.get(name, []), program.labels)
        return [address + (int(offset, 16) if plus else 0)]
    lowest: dict[int, int] = {}
    for address, source in program.lines:
        function = program.function_at(address)
        if source == place and function is not None:
            lowest.setdefault(function.address, address)
    if not lowest:
        file = place.rpartition(":")[0]
        code = [source for _, source in program.lines if source.startswith(f"{file}:")]
        near = f": a line that has code is {code[0]}" if code else ", or the program was built without -g"
        raise LatencyError(f"There is no code of {place}{near}. Give the file's name without folders.")
    return list(lowest.values())

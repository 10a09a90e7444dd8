"""Addresses as places in the source: function, file and line, and the calls that led there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from analysis.explain.program import Program
from analysis.explain.sources import Inlined
from simulator.interrupts import FIRST_IRQ
from simulator.program import FLASH_ADDRESS

_WORD_BYTES = 4
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
    In a stack, an `interrupted` place did not call what comes before it.
    """

    function: str
    file: str
    line: int
    address: int
    interrupted: bool = False

    @property
    def source(self) -> str:
        """`file.c:12`; empty if nothing tells it."""
        return f"{self.file}:{self.line}" if self.file else ""

    def __str__(self) -> str:
        return f"{self.function} ({self.source})" if self.file else self.function

    def as_json(self) -> dict[str, object]:
        return {
            "function": self.function,
            "file": self.file or None,
            "line": self.line or None,
            "address": f"{self.address:#010x}",
        }


class Places:
    """The places of a program, and the call stacks of one of its runs (MaskRun.stacks)."""

    def __init__(self, program: Program, stacks: pl.DataFrame) -> None:
        self._program = program
        self._stacks = stacks.sort("stack", "depth")
        self._inlined = Inlined(program)
        self._known: dict[int, tuple[Place, ...]] = {}
        self._entries: dict[int, Place | None] = {}

    def place(self, address: int) -> Place:
        """The place of an instruction, in the function whose code it is."""
        return self._frames(address)[-1]

    def stack(self, number: int | None, address: int) -> tuple[Place, ...]:
        """The calls of a stack, innermost first, with those that the compiler placed into others.

        Without a number there is nothing but `address`.
        """
        addresses = [address] if number is None else self._of_number.get(number, [address])
        outer = [frame for one in addresses[1:] for frame in self._caller(one)]
        return (*self._frames(addresses[0]), *outer)

    def entry(self, exception: int) -> Place | None:
        """Where the handler of an exception begins; None if the flash has no vector for it."""
        if exception not in self._entries:
            address = FLASH_ADDRESS + _WORD_BYTES * exception
            vector = int.from_bytes(self._program.code(address, _WORD_BYTES), "little")
            self._entries[exception] = self.place(vector & ~1) if vector & 1 else None
        return self._entries[exception]

    def exception(self, number: int) -> str:
        """`SysTick (xPortSysTickHandler)`, `IRQ 29 (TIM3_IRQHandler)`."""
        name = SYSTEM.get(number) or f"IRQ {number - FIRST_IRQ}"
        entry = self.entry(number)
        return f"{name} ({entry.function})" if entry and not entry.function.startswith("0x") else name

    def _caller(self, address: int) -> tuple[Place, ...]:
        """The call that returns to `address`; else what an exception interrupted there."""
        call = self._call(address)
        frames = self._frames(call)
        return tuple(replace(frame, interrupted=True) for frame in frames) if call == address else frames

    def _call(self, address: int) -> int:
        """The call that returns to `address`, which is `address` itself if there is none.

        BL and BLX (ARMv7-M Architecture Reference Manual, A7.7.18, A7.7.19).
        """
        narrow = int.from_bytes(self._program.code(address - 2, 2), "little")
        first = int.from_bytes(self._program.code(address - 4, 2), "little")
        if first & 0xF800 == 0xF000 and narrow & 0xD000 == 0xD000:
            return address - 4
        return address - 2 if narrow & 0xFF87 == 0x4780 else address

    @cached_property
    def _of_number(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, _, pc in self._stacks.iter_rows():
            found.setdefault(number, []).append(pc)
        return found

    def _frames(self, address: int) -> tuple[Place, ...]:
        if address not in self._known:
            self._known[address] = tuple(self._looked_up(address))
        return self._known[address]

    def _looked_up(self, address: int) -> list[Place]:
        """The place, innermost first where code was placed into other code."""
        file, _, line = self._program.source_line(address).rpartition(":")
        at = (file, int(line or 0))
        frames = []
        for call in self._inlined.at(address):
            frames.append(Place(call.function, *at, address))
            at = (call.file, call.line)
        function = self._program.function_at(address)
        return [*frames, Place(function.name if function else f"{address:#010x}", *at, address)]

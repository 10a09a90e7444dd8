"""A program and a run of it, written by hand: every interval and every place is known beforehand.

The core runs at 16 MHz (62.5 ns a cycle) up to cycle 600, then at 32 MHz (31.25 ns), and 1,000
cycles in all. Interrupt 29 has priority 0x40 and a handler; SysTick has 0xF0, and no vector.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from analysis.explain.program import Function
from analysis.program.beginning import FROM_RESET, Request
from analysis.program.masks import measure
from analysis.program.masks.measure import MaskReport
from analysis.program.places import Place
from analysis.program.subject import Subject
from simulator.masks import MaskRun
from simulator.outputs import Change, ClockSpan, Stats
from simulator.program import UserProgram

TASK = 0x2000_0100
CLOCKS = (
    ClockSpan(0, Fraction(0), Fraction(16_000_000)),
    ClockSpan(600, Fraction(600, 16_000_000), Fraction(32_000_000)),
)
MAIN, LOCK, NAP, ON_TIM3 = (
    Function(name, address, 0x100)
    for name, address in (
        *(("main", 0x0800_0200), ("lock", 0x0800_0300)),
        *(("nap", 0x0800_0400), ("on_tim3", 0x0800_0500)),
    )
)
LINES = {
    0x0800_0200: 30,
    0x0800_0210: 33,
    0x0800_0300: 10,
    0x0800_0310: 12,
    0x0800_0320: 14,
    0x0800_0330: 16,
    0x0800_0400: 50,
    0x0800_0410: 52,
    0x0800_0500: 40,
    0x0800_0510: 45,
}
_BL = b"\x00\xf0\x00\xf8"
_CODE = {
    0x0800_0000 + 4 * 45: (ON_TIM3.address | 1).to_bytes(4, "little"),
    0x0800_0200: _BL,
    0x0800_0404: b"\x30\xbf",  # WFI
}


class Program:
    """Stands in for an ELF file."""

    def __init__(self, *functions: Function, lines: bool = True) -> None:
        self.functions = list(functions)
        self.has_lines = lines
        self.dwarf: Any = SimpleNamespace(iter_CUs=lambda: ())
        self.never_return: set[str] = set()

    def function_at(self, address: int) -> Function | None:
        return next(
            (function for function in self.functions if 0 <= address - function.address < function.size), None
        )

    def source_line(self, address: int) -> str:
        return f"main.c:{LINES[address]}" if self.has_lines and address in LINES else ""

    def tells_caller(self, _: int) -> bool:
        return True

    def has(self, _: str) -> bool:
        return False

    def functions_named(self, name: str) -> list[Function]:
        return [function for function in self.functions if function.name == name]

    def variable_at(self, _: int) -> str:
        return ""

    def code(self, address: int, size: int) -> bytes:
        held = next((at for at, code in _CODE.items() if at <= address < at + len(code)), None)
        return b"" if held is None else _CODE[held][address - held :][:size]


WHOLE: Any = Program(MAIN, LOCK, NAP, ON_TIM3)


def place(address: int, interrupted: bool = False) -> Place:
    """The place of an address that has a line."""
    function = WHOLE.function_at(address)
    return Place(function.name, "main.c", LINES[address], address, interrupted)


Row = tuple[int, str, int, int, int | None, int | None]
"""Cycle, what, value, pc, the cycle at which it began, and the stack."""

ROWS: tuple[Row, ...] = (
    (0, "reset", 0, 0x0800_0200, None, None),
    (5, "priority", 45 << 8 | 0x40, 0x0800_0200, None, None),
    (6, "enabled", 45 << 1 | 1, 0x0800_0200, None, None),
    (7, "priority", 15 << 8 | 0xF0, 0x0800_0200, None, None),
    # lock() masks for 100 cycles, and for 30, of which the end is the begin of 80 of BASEPRI.
    (100, "primask", 1, 0x0800_0300, None, 0),
    (200, "primask", 0, 0x0800_0310, None, 0),
    (370, "primask", 1, 0x0800_0300, None, 0),
    (400, "basepri", 0x50, 0x0800_0320, None, 2),
    (400, "primask", 0, 0x0800_0310, None, 0),
    (480, "basepri", 0, 0x0800_0330, None, 0),
    # The handler of interrupt 29 for 50 cycles.
    (512, "exception", 45, 0x0800_0210, 500, 1),
    (562, "exception", 0, 0x0800_0510, 550, 1),
    # nap() masks for 120 cycles, and sleeps in 100 of them.
    (700, "primask", 1, 0x0800_0400, None, None),
    (710, "sleep", 1, 0x0800_0404, None, None),
    (810, "sleep", 0, 0x0800_0404, None, None),
    (820, "primask", 0, 0x0800_0410, None, None),
    # SysTick's for 32, and a mask that stays.
    (850, "exception", 15, 0x0800_0210, 838, 1),
    (882, "exception", 0, 0x0800_0210, 870, 1),
    (950, "primask", 1, 0x0800_0300, None, 0),
)


def mask_run(rows: tuple[Row, ...] = ROWS, ended: str = "") -> MaskRun:
    """What the simulator would have left of a run with these changes, in one task from 100 on."""
    changes = [
        Change(cycle, what, value, pc, began, TASK if cycle >= 100 else None, stack)
        for cycle, what, value, pc, began, stack in rows
    ]
    lock, main, by_level = 0x0800_0300, 0x0800_0204, 0x0800_0320
    return MaskRun(
        stats=Stats(640, 0, 1000, 0.1, 1.0, CLOCKS, 0, (1, 1), 0x0800_0410, (), (), None),
        changes=changes,
        stacks={0: [lock, main], 1: [0x0800_0210], 2: [by_level, main]},
        ended=ended,
    )


def report(
    run: MaskRun | None = None, program: Any = WHOLE, explain: bool = False, start: Request = FROM_RESET
) -> MaskReport:
    """What is found in the run, without a board."""
    user = UserProgram(Path("my.elf"), ("--chip=stm32f411xe",))
    subject = Subject(user, program, None, "62us", start)
    return measure.of_run(subject, run or mask_run(), explain, lambda _: None)

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
from analysis.program.masks import measure
from analysis.program.masks.measure import MaskReport
from analysis.program.places import Place
from analysis.program.subject import FROM_RESET, Beginning, Subject
from simulator.masks import MaskRun
from simulator.outputs import Change, ClockSpan, Stats
from simulator.program import UserProgram
from tests.tables import beside

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
LINES: dict[int, int] = dict(beside(__file__)["lines"])
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


def row(
    cycle: int, what: str, value: int, pc: int, stack: int | None = None, began: int | None = None
) -> Row:
    return cycle, what, value, pc, began, stack


ROWS = tuple(row(*cells) for cells in beside(__file__)["rows"])


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
    run: MaskRun | None = None, program: Any = WHOLE, explain: bool = False, start: Beginning = FROM_RESET
) -> MaskReport:
    """What is found in the run, without a board."""
    user = UserProgram(Path("my.elf"), ("--chip=stm32f411xe",))
    subject = Subject(user, program, None, "62us", start)
    return measure.of_run(subject, run or mask_run(), explain, lambda _: None)

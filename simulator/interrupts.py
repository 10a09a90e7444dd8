"""The interrupts by name: positions of the vector table of a chip (vectors.toml)."""

from __future__ import annotations

from base.files.errors import nearest
from simulator.build import SimulatorError
from simulator.chips import Line, line_of

FIRST_IRQ = 16
"""The exception number of interrupt 0."""
LINES = 96
"""Interrupts that the core of the virtual board has; no chip uses more."""
VECTORS = FIRST_IRQ + LINES
"""Words of the longest vector table, with the stack pointer's."""

_OF_CORE = {"PendSV": 14, "SysTick": 15}
_ENDINGS = ("_IRQHANDLER", "_IRQN", "_HANDLER")


def exception_of(name: str, chip: str = "") -> int:
    """The exception number of an interrupt of `chip`: `TIM3`, `TIM3_IRQHandler`, `29`, `SysTick`.

    Raises SimulatorError with a sentence that suggests names.
    """
    line = line_of(chip)
    if name.isdecimal():
        return _of_number(int(name), line)
    word = name.upper()
    for ending in _ENDINGS:
        word = word.removesuffix(ending)
    known = {name.upper(): FIRST_IRQ + n for name, n in {**line.positions, **line.parts}.items()}
    known |= {known_name.upper(): n for known_name, n in _OF_CORE.items()}
    if word in known:
        return known[word]
    raise SimulatorError(f"There is no interrupt {name}: {_advice(word, line)}")


def name_of(exception: int, chip: str = "") -> str:
    """`TIM3`, `SysTick`, or `IRQ 19` where the chip's table has no name."""
    names = {n: name for name, n in _OF_CORE.items()}
    names |= {FIRST_IRQ + n: name for name, n in line_of(chip).positions.items()}
    return names.get(exception) or f"IRQ {exception - FIRST_IRQ}"


def priority_bits(chip: str = "") -> int:
    """How many bits of a priority the chip's NVIC has: the upper ones of its byte. One of
    ARMv6-M has 2 (its Architecture Reference Manual, B3.4), an STM32 of another core 4 (PM0214
    §4.3.7).
    """
    return 2 if line_of(chip).core.startswith("cortex-m0") else 4


def priority_of(number: int, bits: int) -> int:
    """The priority's byte of a number as people write it: 5 of the NVIC, or 0x50 of its byte."""
    return number << 8 - bits if number < 1 << bits else number


def _of_number(number: int, line: Line) -> int:
    most = max(line.positions.values())
    if number > most:
        raise SimulatorError(f"There is no interrupt {number}: they are 0 to {most} ({line.manual}).")
    return FIRST_IRQ + number


def _advice(word: str, line: Line) -> str:
    if near := nearest(word, (*line.positions, *_OF_CORE)):
        return f"did you mean {' or '.join(near)}?"
    manual = line.manual.partition(";")[0]
    return f"give a name such as TIM3, USART2 or {_long(line)}, a number from {_of(manual)}, or SysTick."


def _long(line: Line) -> str:
    """A name that is put together, as an example."""
    return next(name for name in ("EXTI15_10", "EXTI4_15") if name in line.positions)


def _of(manual: str) -> str:
    """`RM0368's table 38`."""
    book, _, table = manual.partition(", ")
    return f"{book}'s {table}"

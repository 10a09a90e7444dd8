"""The names of tasks, and the handlers behind common ones, read from memory as the program runs
again. The kernel's file says where they lie (docs/reference/kernel-toml.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from analysis.explain.kernels.kernel import Kernel, Spot
from analysis.explain.program import Program
from analysis.program.subject import Subject
from simulator import run as simulator
from simulator.build import SimulatorError
from simulator.interrupts import VECTORS
from simulator.outputs import Change, State

# Of so many tasks names are read; more have their addresses.
_MOST = 64
_MOST_NAME_BYTES = 64
# What lies below is code, and constants (ARMv7-M Architecture Reference Manual, B3.1).
_SRAM_ADDRESS = 0x2000_0000


@dataclass(frozen=True)
class Memory:
    """What memory has. `tasks` are names by the address of the control block, `idle` the addresses
    of the kernel's idle tasks, and `behind` those of real handlers by exception, where the vector
    has a common one.
    """

    tasks: dict[str, str] = field(default_factory=dict)
    idle: tuple[int, ...] = ()
    behind: dict[int, int] = field(default_factory=dict)


def read(subject: Subject, changes: Sequence[Change], image: bytes | None = None) -> Memory:
    """The name of each task that `changes` has, and the handlers behind common ones, as memory has
    them where the last task is first seen; at the end, if the tables of handlers lie in SRAM.
    """
    elf, kernel = subject.elf, subject.kernel
    if kernel is None:
        return Memory()
    first: dict[int, int] = {}
    for change in changes:
        if change.task and len(first) < _MOST:
            first.setdefault(change.task, change.cycle)
    at = max(first.values(), default=0)
    if any(table.addresses.start >= _SRAM_ADDRESS for table in kernel.tables):
        at = max((change.cycle for change in changes), default=0)
    state = None
    with suppress(SimulatorError):  # then addresses stand for names
        if at:
            (state,) = simulator.run(subject.user, until=at, image=image, states_at=[at]).states
    names = {task: name(elf, kernel, task, state) for task in first}
    return Memory(
        {f"{task:#010x}": word for task, word in names.items() if word},
        tuple(task for task, word in names.items() if word in kernel.idle),
        behind(elf, kernel, state),
    )


def name(elf: Program, kernel: Kernel, task: int, state: State | None) -> str:
    """What a task is called: its name, else its entry function, else the variable of its control
    block, else its number; empty if nothing tells.
    """
    if state is None:
        return elf.variable_at(task)

    def number(spot: Spot) -> int:
        return int.from_bytes(_content(elf, state, task + spot.offset, spot.bytes), "little")

    entries = (elf.function_at(number(spot) & ~1) for spot in kernel.entries)
    words = (
        *_texts(elf, kernel, task, state),
        *(function.name for function in entries if function),
        elf.variable_at(task),
        *(f"task {number(spot)}" for spot in kernel.numbers),
    )
    return next(filter(None, words), "")


def _texts(elf: Program, kernel: Kernel, task: int, state: State) -> Iterator[str]:
    """The name at each spot of the control block; empty if it is no text."""
    for spot in kernel.names:
        address, most = task + spot.offset, spot.bytes
        if spot.kind == "pointer":
            address, most = state.word(address) or 0, _MOST_NAME_BYTES
        # A constant may be the last that its segment has.
        sizes = (most >> n for n in range(most.bit_length()))
        content = next(filter(None, (_content(elf, state, address, size) for size in sizes)), b"")
        content = content.partition(b"\0")[0]
        text = content.decode() if content.isascii() else ""
        yield text if text.isprintable() else ""


def _content(elf: Program, state: State | None, address: int, size: int) -> bytes:
    """What lies there: in SRAM as the run left it at `state`, else in the program."""
    first = address - state.sram_address if state else -1
    content = state.sram[first : first + size] if state and first >= 0 else b""
    return content or elf.code(address, size)


def behind(elf: Program, kernel: Kernel, state: State | None) -> dict[int, int]:
    """The handlers behind common ones, by exception, as the tables have them."""
    slots: dict[int, int] = {}
    for table in kernel.tables:
        for exception, address in zip(range(table.first_exception, VECTORS), table.addresses, strict=False):
            word = int.from_bytes(_content(elf, state, address, 4), "little")
            if word & 1 and elf.function_at(word & ~1):
                slots.setdefault(exception, word & ~1)
    return slots

"""The names of tasks, and the handlers behind common ones, read from memory as the program runs
again. The kernel's file says where they lie (docs/reference/kernel-toml.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, zip_longest

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
    """The name of each task that `changes` has, and the handlers behind common ones.

    A name is read where the task is first seen, and where it is last seen if it has none there. The
    program runs again only as far as that takes.
    """
    elf, kernel = subject.elf, subject.kernel
    if kernel is None:
        return Memory()
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for change in changes:
        if change.task and (change.task in first or len(first) < _MOST):
            first.setdefault(change.task, change.cycle)
            last[change.task] = change.cycle
    end = max((change.cycle for change in changes), default=0)
    states: dict[int, State] = {}

    def look(cycles: set[int]) -> None:
        """Runs up to the last of these cycles. What cannot be run has no states."""
        at = sorted(cycles - states.keys())
        if at:
            with suppress(SimulatorError):
                ran = simulator.run(subject.user, until=at[-1], image=image, states_at=at)
                states.update(zip(at, ran.states, strict=True))

    reached = max(first.values(), default=0)
    look({*first.values(), *(cycle for cycle in last.values() if cycle <= reached)})
    # Of a kernel with names the first state may have none yet.
    own = _texts if kernel.names else _entries
    unnamed = (
        last[task]
        for task, cycle in first.items()
        if cycle not in states or not any(own(elf, kernel, task, [states[cycle]]))
    )
    in_memory = any(table.address >= _SRAM_ADDRESS for table in kernel.tables)
    look({*unnamed, *([end] if in_memory else [])})
    names = {
        task: name(elf, kernel, task, [states[at] for at in (cycle, last[task]) if at in states])
        for task, cycle in first.items()
    }
    return Memory(
        {f"{task:#010x}": word for task, word in names.items() if word},
        tuple(task for task, word in names.items() if word in kernel.idle),
        behind(elf, kernel, states.get(end)),
    )


def name(elf: Program, kernel: Kernel, task: int, states: Sequence[State]) -> str:
    """What a task is called: its name, else its entry function, else the variable of its control
    block, else its number; empty if nothing tells.
    """
    numbers = (f"task {_number(state, task, spot)}" for state in states for spot in kernel.numbers)
    rest = chain(_entries(elf, kernel, task, states), (elf.variable_at(task),), numbers)
    return next(filter(None, chain(_texts(elf, kernel, task, states), rest)), "")


def _texts(elf: Program, kernel: Kernel, task: int, states: Iterable[State]) -> Iterator[str]:
    """The name at each spot of the control block; empty if it is no text."""
    for state in states:
        for spot in kernel.names:
            address, most = task + spot.offset, spot.bytes
            if spot.kind == "pointer":
                address, most = state.word(address) or 0, _MOST_NAME_BYTES
            first = address - state.sram_address
            content = state.sram[first : first + most] if 0 <= first < len(state.sram) else b""
            # A constant may be the last that its segment has.
            sizes = (most >> n for n in range(most.bit_length()))
            content = content or next(filter(None, (elf.code(address, size) for size in sizes)), b"")
            content = content.partition(b"\0")[0]
            text = content.decode() if content.isascii() else ""
            yield text if text.isprintable() else ""


def _entries(elf: Program, kernel: Kernel, task: int, states: Iterable[State]) -> Iterator[str]:
    for state in states:
        for spot in kernel.entries:
            entry = elf.function_at(_number(state, task, spot) & ~1)
            yield entry.name if entry else ""


def _number(state: State, task: int, spot: Spot) -> int:
    first = task + spot.offset - state.sram_address
    return int.from_bytes(state.sram[first : first + spot.bytes], "little") if first >= 0 else 0


def behind(elf: Program, kernel: Kernel, state: State | None) -> dict[int, int]:
    """The handlers behind common ones, by exception, as the tables have them: in SRAM as the run
    left it at `state`, else in the program.
    """
    slots: dict[int, int] = {}
    for table in kernel.tables:
        for exception in range(VECTORS):
            slot = table.slot(exception)
            word = state.word(slot) if state and slot is not None else None
            if word is None and slot is not None:
                word = int.from_bytes(elf.code(slot, 4), "little")
            if word and word & 1 and elf.function_at(word & ~1):
                slots.setdefault(exception, word & ~1)
    return slots


def shown(tasks: Mapping[str, str], task: int) -> str:
    """The name of a task, or the address of its control block."""
    return tasks.get(address := f"{task:#010x}", address)


def idle_cycles(
    changes: Sequence[Change], idle: Collection[int | None], first_cycle: int, end_cycle: int
) -> int:
    """The cycles from `first_cycle` to `end_cycle` in which the core slept, or one of the tasks
    `idle` ran, no handler.
    """
    now = {"exception": 0, "sleep": 0}
    total = 0
    for change, following in zip_longest(changes, changes[1:]):
        now = dict.fromkeys(now, 0) if change.what == "reset" else now | {change.what: change.value}
        if now["sleep"] or (change.task in idle and not now["exception"]):
            end = following.cycle if following else end_cycle
            total += max(min(end, end_cycle) - max(change.cycle, first_cycle), 0)
    return total

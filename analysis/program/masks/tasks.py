"""The names of tasks, and the handlers behind common ones, read from memory as the program runs
again. The kernel's file says where they lie (docs/reference/kernel-toml.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from analysis.explain.kernels.kernel import Kernel
from analysis.explain.kernels.layout import Spot
from analysis.explain.program import Program
from analysis.program.subject import Subject
from simulator import run as simulator
from simulator.build import SimulatorError
from simulator.interrupts import VECTORS
from simulator.outputs import Change, State
from simulator.program import UserProgram
from simulator.run import Snapshot

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
    again = _Again(subject.user, image)
    reached = max(first.values(), default=0)
    again.look({*first.values(), *(cycle for cycle in last.values() if cycle <= reached)})
    states = again.states
    # Of a kernel with names the first state may have none yet.
    own = _texts if kernel.names else _entries
    unnamed = [
        task
        for task, cycle in first.items()
        if cycle not in states or not any(own(elf, kernel, task, [states[cycle]]))
    ]
    in_memory = any(table.address >= _SRAM_ADDRESS for table in kernel.tables)
    again.look({*(last[task] for task in unnamed), *([end] if in_memory else [])})
    names = {
        task: name(elf, kernel, task, [states[at] for at in (first[task], last[task]) if at in states])
        for task in first
    }
    return Memory(
        {f"{task:#010x}": word for task, word in names.items() if word},
        tuple(task for task, word in names.items() if word in kernel.idle),
        behind(elf, kernel, states.get(end)),
    )


class _Again:
    """A second run of the program. `states` has what was looked at, by cycle."""

    def __init__(self, program: UserProgram, image: bytes | None) -> None:
        self._start: UserProgram | Snapshot = program
        self._image = image
        self.states: dict[int, State] = {}

    def look(self, cycles: set[int]) -> None:
        """Runs on to the last of these cycles, if it has not been there; none lies before the last
        that was looked at. What cannot be run has no states.
        """
        at = sorted(cycles - self.states.keys())
        if not at:
            return
        with suppress(SimulatorError):
            image = None if isinstance(self._start, Snapshot) else self._image
            ran = simulator.run(self._start, until=at[-1], image=image, states_at=at, snapshots_at=at[-1:])
            self.states |= dict(zip(at, ran.states, strict=True))
            self._start = ran.snapshots[0]


def name(elf: Program, kernel: Kernel, task: int, states: Sequence[State]) -> str:
    """What a task is called: its name, else its entry function, else the variable of its control
    block, else its number; empty if nothing tells.
    """
    numbers = (f"task {_number(state, task, spot)}" for state in states for spot in kernel.numbers)
    rest = chain(_entries(elf, kernel, task, states), (elf.variable_at(task),), numbers)
    return next(filter(None, chain(_texts(elf, kernel, task, states), rest)), "")


def _texts(elf: Program, kernel: Kernel, task: int, states: Iterable[State]) -> Iterator[str]:
    return (_text(elf, state, task, spot) for state in states for spot in kernel.names)


def _entries(elf: Program, kernel: Kernel, task: int, states: Iterable[State]) -> Iterator[str]:
    for state in states:
        for spot in kernel.entries:
            entry = elf.function_at(_number(state, task, spot) & ~1)
            yield entry.name if entry else ""


def _text(elf: Program, state: State, task: int, spot: Spot) -> str:
    """The name at a spot of the control block; empty if it is no text."""
    address, size = task + spot.offset, spot.bytes
    if spot.kind == "pointer":
        address, size = state.word(address) or 0, _MOST_NAME_BYTES
    content = _bytes(elf, state, address, size).partition(b"\0")[0]
    text = content.decode("ascii", errors="replace") if content.isascii() else ""
    return text if text.isprintable() else ""


def _bytes(elf: Program, state: State, address: int, most: int) -> bytes:
    first = address - state.sram_address
    if 0 <= first < len(state.sram):
        return state.sram[first : first + most]
    # A constant may be the last that its segment has.
    sizes = (most >> n for n in range(most.bit_length()))
    return next((code for size in sizes if (code := elf.code(address, size))), b"")


def _number(state: State, task: int, spot: Spot) -> int:
    first = task + spot.offset - state.sram_address
    return int.from_bytes(state.sram[first : first + spot.bytes], "little") if first >= 0 else 0


def behind(elf: Program, kernel: Kernel, state: State | None) -> dict[int, int]:
    """The handlers behind common ones, by exception, as the tables have them at `state`."""
    slots: dict[int, int] = {}
    for table in kernel.tables:
        for exception in range(VECTORS):
            slot = table.slot(exception)
            word = None if slot is None else _word(elf, state, slot)
            if word and word & 1 and elf.function_at(word & ~1):
                slots.setdefault(exception, word & ~1)
    return slots


def _word(elf: Program, state: State | None, address: int) -> int | None:
    """The word of a table: in SRAM as the run left it, else in the program."""
    word = None if state is None else state.word(address)
    code = elf.code(address, 4) if word is None else b""
    return int.from_bytes(code, "little") if code else word


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

"""The instructions of the worst sample with their cycles, and the call stack at an instant.

A stack is made as the simulator does it for its log of masks (`observe/stacks` of its crate
`machine`): it ends where nothing tells the caller. It may be short, but no frame is guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from elftools.dwarf.callframe import FDE

from analysis.explain.program import Program
from base.files.elf import DAMAGED
from base.run_folder.explanation import Frame, Total
from simulator.outputs import State


@dataclass(frozen=True)
class Step:
    """An instruction that began at `cycle` and took `cycles`, its stalls included."""

    cycle: int
    cycles: int
    address: int
    function: str
    place: str
    text: str
    source: str


def steps(program: Program, trace: Iterable[dict[str, Any]], start: int, end: int) -> list[Step]:
    """The steps from cycle `start` to before cycle `end`.

    Of the instruction under way at `start` only the rest counts. The cycles between two
    instructions belong to the first. Entering or leaving an exception is a step of its own.
    """
    entries = [entry for entry in trace if entry["cycle"] < end]
    first = max((n for n, entry in enumerate(entries) if entry["cycle"] <= start), default=0)
    return list(_steps(program, entries[first:], start, end))


def _steps(program: Program, entries: list[dict[str, Any]], start: int, end: int) -> Iterator[Step]:
    following = [*(entry["cycle"] for entry in entries[1:]), end]
    for entry, then in zip(entries, following, strict=True):
        cycle = max(entry["cycle"], start)
        cycles = then - cycle
        if "mode" in entry:
            yield Step(cycle, cycles, 0, "(exception)", "(exception)", f"now in {entry['mode']}", "")
            continue
        address, opcode = int(entry["pc"], 16), int(entry["opcode"], 16)
        function = program.function_at(address)
        name = function.name if function else "(no function)"
        text = program.instruction_text(address, opcode, wide=opcode > 0xFFFF)
        yield Step(cycle, cycles, address, name, program.place(address), text, program.source_line(address))


def by_function(executed: Iterable[Step]) -> list[Total]:
    """Totals by function, the most expensive first. Executions count instructions."""
    return _totals((step.function, "", step.cycles) for step in executed)


def by_instruction(executed: Iterable[Step], most: int = 12) -> list[Total]:
    """Totals of the `most` most expensive instructions, in that order."""
    return _totals((f"{s.place}: {s.text}", s.source, s.cycles) for s in executed)[:most]


def by_line(executed: Iterable[Step], most: int = 12) -> list[Total]:
    """Totals of the `most` most expensive source lines, in that order.

    Executions count instructions. A line's name is the function that it was compiled into.
    """
    return _totals((step.function, step.source, step.cycles) for step in executed if step.source)[:most]


def _totals(rows: Iterable[tuple[str, str, int]]) -> list[Total]:
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for name, source, cycles in rows:
        counts[name, source][0] += 1
        counts[name, source][1] += cycles
    totals = [
        Total(name=name, executions=n, cycles=cycles, source=source)
        for (name, source), (n, cycles) in counts.items()
    ]
    return sorted(totals, key=lambda total: (-total.cycles, total.name))


_SP, _LR, _PC = 13, 14, 15
_MOST_FRAMES = 64
# ARMv7-M Architecture Reference Manual: EXC_RETURN (B1.5.8), and the frame that an exception stacks
# (B1.5.6). After a reset LR holds another value that looks like EXC_RETURN.
_BASIC_FRAME = 0x10
_EXC_RETURNS = frozenset((0xFFFF_FFF1, 0xFFFF_FFF9, 0xFFFF_FFFD))
_BASIC_FRAME_BYTES, _EXTENDED_FRAME_BYTES = 0x20, 0x68
_STACKED = {0: 0x00, 1: 0x04, 2: 0x08, 3: 0x0C, 12: 0x10, _LR: 0x14, _PC: 0x18}

Registers = dict[int, int]


def unwind(program: Program, state: State) -> list[Frame]:
    """The calls under way, innermost first, out to where the task or the start-up code begins."""
    registers: Registers | None = {n: state.registers[f"r{n}"] for n in range(13)}
    assert registers is not None
    registers |= {_SP: state.registers["sp"], _LR: state.registers["lr"], _PC: state.registers["pc"]}
    exact, likely = True, False
    frames: list[Frame] = []
    while registers is not None and len(frames) < _MOST_FRAMES:
        address = registers[_PC] & ~1
        # A call may be the last instruction of its function: so look up the call, not what follows.
        looked_up = address if exact else address - 1
        if program.function_at(looked_up) is None or (not exact and _begins(program, address)):
            break
        source = program.source_line(looked_up)
        doubt = {"likely": True} if likely else {}
        frames.append(Frame(address=address, place=program.place(address), source=source, **doubt))
        registers = _caller(program, state, registers, looked_up, exact)
        if registers is not None and (exact := registers[_PC] | _BASIC_FRAME in _EXC_RETURNS):
            registers = _interrupted(program, state, registers)
        likely = not exact and not program.tells_caller(looked_up)
    return frames


def _begins(program: Program, address: int) -> bool:
    """True if `address` begins a function. No call returns there.

    The kernel starts a task as if it had been called from such an address.
    """
    function = program.function_at(address)
    return function is not None and function.address == address


def _caller(
    program: Program, state: State, registers: Registers, address: int, exact: bool
) -> Registers | None:
    """The registers after the return from the function at `address`; None if nothing tells them.

    `exact` is whether the instruction at `address` is the one that comes next.
    """
    unsaved = _unsaved_return(program, registers, address) if exact else None
    rules_there = _rules(program, address)
    if rules_there is None:
        return None if unsaved is None else {**registers, _PC: unsaved}
    rules, return_register = rules_there
    cfa = rules["cfa"]
    if cfa.reg is None:
        return None
    base = registers[cfa.reg] + cfa.offset
    restored = {**registers, _SP: base}
    for number, rule in rules.items():
        if isinstance(number, int) and rule.type == "OFFSET":
            word = state.word(base + rule.arg)
            if word is None:
                return None
            restored[number] = word
    saved = return_register in rules
    back = restored[return_register] if saved else unsaved
    return None if back is None else {**restored, _PC: back}


def _unsaved_return(program: Program, registers: Registers, address: int) -> int | None:
    """LR, where it still holds the return address, in the function that executes at `address`.

    Once that has called another, LR points into itself: a naked handler saves it where no table
    says. None then.
    """
    here = program.function_at(address)
    there = program.function_at((registers[_LR] & ~1) - 1)
    return None if here is not None and here == there else registers[_LR]


def _rules(program: Program, address: int) -> tuple[dict[Any, Any], int] | None:
    """The frame table's row for `address`, and the register that holds the return address.

    None if the table has no such row, or is damaged there.
    """
    try:
        entry = _entry(program, address)
        if entry is None:
            return None
        assert entry.cie is not None
        rows = [row for row in entry.get_decoded().table if row["pc"] <= address]
        return (rows[-1], int(entry.cie.header.return_address_register)) if rows else None
    except DAMAGED:
        return None


def _entry(program: Program, address: int) -> FDE | None:
    for entry in program.call_frames:
        start = entry.header.initial_location
        if start <= address < start + entry.header.address_range:
            return entry
    return None


def _interrupted(program: Program, state: State, registers: Registers) -> Registers | None:
    """The registers before an exception, from the frame that it stacked; None if not in SRAM."""
    returning = registers[_PC]
    base = state.registers["psp"] if returning & 4 else registers[_SP]
    words = {number: state.word(base + offset) for number, offset in _STACKED.items()}
    status = state.word(base + 0x1C)
    if status is None or None in words.values():
        return None
    size = _BASIC_FRAME_BYTES if returning & _BASIC_FRAME else _EXTENDED_FRAME_BYTES
    stack = base + size + (4 if status & 0x200 else 0)
    words_by_number = {number: word for number, word in words.items() if word is not None}
    return {**registers, **words_by_number, _SP: stack + _pushed(program, words_by_number[_PC], status)}


# EPSR.ICI, the register from which a multiple goes on; none if bits that IT uses too are set
# (B1.4.2).
_CONTINUES_AT, _IT_ONLY = 0xF000, 0x0600_0C00


def _pushed(program: Program, address: int, status: int) -> int:
    """The bytes by which the interrupted PUSH at `address` has lowered SP.

    The frame information knows SP before and after it only. `status` is the stacked xPSR. 0 where
    it was no PUSH, or had not begun.
    """
    if not status & _CONTINUES_AT or status & _IT_ONLY:
        return 0
    code = program.code(address & ~1, 4)
    first, second = (int.from_bytes(half, "little") for half in (code[:2], code[2:]))
    # PUSH T1, T2 (A7.7.101), VPUSH (A7.7.249): the list, or the number of words.
    if first & 0xFE00 == 0xB400:
        return 4 * (first & 0x1FF).bit_count()
    if first == 0xE92D:
        return 4 * second.bit_count()
    return 4 * (second & 0xFF) if first in (0xED2D, 0xED6D) else 0

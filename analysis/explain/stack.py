"""The call stack at an instant, from registers, memory and the call frame information of DWARF."""

from __future__ import annotations

from typing import Any

from elftools.dwarf.callframe import FDE, CFIEntry

from analysis.explain.program import Program
from capture.run_folder.explanation import Frame
from simulator.outputs import State

_SP, _LR, _PC = 13, 14, 15
_MOST_FRAMES = 64
# ARMv7-M Architecture Reference Manual: EXC_RETURN (B1.5.8), and the frame that an exception stacks
# (B1.5.6).
_EXC_RETURN = 0xFFFF_FF00
_BASIC_FRAME_BYTES, _EXTENDED_FRAME_BYTES = 0x20, 0x68
_STACKED = {0: 0x00, 1: 0x04, 2: 0x08, 3: 0x0C, 12: 0x10, _LR: 0x14, _PC: 0x18}

Registers = dict[int, int]


def unwind(program: Program, state: State) -> list[Frame]:
    """The calls under way, innermost first, out to where the task or the start-up code begins."""
    registers: Registers | None = {n: state.registers[f"r{n}"] for n in range(13)}
    assert registers is not None
    registers |= {_SP: state.registers["sp"], _LR: state.registers["lr"], _PC: state.registers["pc"]}
    exact = True
    frames: list[Frame] = []
    while registers is not None and len(frames) < _MOST_FRAMES:
        address = registers[_PC] & ~1
        # A call may be the last instruction of its function: so look up the call, not what follows.
        looked_up = address if exact else address - 1
        if program.function_at(looked_up) is None or (not exact and _begins(program, address)):
            break
        source = program.source_line(looked_up)
        frames.append(Frame(address=address, place=program.place(address), source=source))
        registers = _caller(program, state, registers, looked_up)
        if registers is not None and (exact := registers[_PC] >= _EXC_RETURN):
            registers = _interrupted(state, registers)
    return frames


def _begins(program: Program, address: int) -> bool:
    """Whether `address` begins a function. No call returns there.

    The kernel starts a task as if it had been called from such an address.
    """
    function = program.function_at(address)
    return function is not None and function.address == address


def _caller(program: Program, state: State, registers: Registers, address: int) -> Registers | None:
    """The registers after the return from the function at `address`; None if nothing tells them."""
    found = _rules(program, address)
    if found is None:
        # Our assembly has no frame information. It is all leaves without a stack that return to LR.
        return {**registers, _PC: registers[_LR]} if registers[_PC] != registers[_LR] else None
    rules, return_register = found
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
    return {**restored, _PC: restored[return_register]}


def _rules(program: Program, address: int) -> tuple[dict[Any, Any], int] | None:
    """The frame table's row for `address`, and the register of the return address; None without."""
    entry = _entry(program, address)
    if entry is None:
        return None
    assert entry.cie is not None
    rows = [row for row in entry.get_decoded().table if row["pc"] <= address]
    return (rows[-1], int(entry.cie.header.return_address_register)) if rows else None


def _entry(program: Program, address: int) -> CFIEntry | None:
    if not program.dwarf.has_CFI():
        return None
    for entry in program.dwarf.CFI_entries():
        if isinstance(entry, FDE):
            start = entry.header.initial_location
            if start <= address < start + entry.header.address_range:
                return entry
    return None


def _interrupted(state: State, registers: Registers) -> Registers | None:
    """The registers that an exception interrupted, from the frame that it stacked; None without."""
    returning = registers[_PC]
    base = state.registers["psp"] if returning & 4 else registers[_SP]
    words = {number: state.word(base + offset) for number, offset in _STACKED.items()}
    status = state.word(base + 0x1C)
    if status is None or None in words.values():
        return None
    size = _BASIC_FRAME_BYTES if returning & 0x10 else _EXTENDED_FRAME_BYTES
    stack = base + size + (4 if status & 0x200 else 0)
    return {**registers, **{n: word for n, word in words.items() if word is not None}, _SP: stack}

"""A second way to the call stack at an instant, by pyelftools: it shares no code with that of the
simulator, which it must equal.
"""

from __future__ import annotations

from typing import Any

from analysis.explain.program import Program
from simulator.outputs import State

_SP, _LR, _PC, _STATUS = 13, 14, 15, 16
_MOST_FRAMES = 64
# ARMv7-M Architecture Reference Manual: EXC_RETURN (B1.5.8), and the frame that an exception stacks
# (B1.5.6). After a reset LR holds another value that looks like EXC_RETURN.
_BASIC_FRAME = 0x10
_EXC_RETURNS = frozenset((0xFFFF_FFF1, 0xFFFF_FFF9, 0xFFFF_FFFD))
_BASIC_FRAME_BYTES, _EXTENDED_FRAME_BYTES = 0x20, 0x68
_STACKED = (0, 1, 2, 3, 12, _LR, _PC, _STATUS)

Registers = dict[int, int]


def unwind(program: Program, state: State) -> list[int]:
    """The calls under way, innermost first, out to where the task or the start-up code begins."""
    names = [*(f"r{number}" for number in range(13)), "sp", "lr", "pc"]
    registers: Registers | None = {number: state.registers[name] for number, name in enumerate(names)}
    exact = True
    addresses: list[int] = []
    while registers is not None and len(addresses) < _MOST_FRAMES:
        address = registers[_PC] & ~1
        # A call may be the last instruction of its function: so look up the call, not what follows.
        looked_up = address if exact else address - 1
        function = program.function_at(address)
        # No call returns to where a function begins: the kernel starts a task as if it had been
        # called from such an address.
        begins = not exact and function is not None and function.address == address
        if begins or program.function_at(looked_up) is None:
            break
        addresses.append(address)
        registers = _caller(program, state, registers, looked_up, exact)
        if registers is not None and (exact := registers[_PC] | _BASIC_FRAME in _EXC_RETURNS):
            registers = _interrupted(program, state, registers)
    return addresses


def _caller(
    program: Program, state: State, registers: Registers, address: int, exact: bool
) -> Registers | None:
    """The registers after the return from the function at `address`; None if nothing tells them.

    `exact` is whether the instruction at `address` is the one that comes next.
    """
    unsaved = None
    if exact:
        # LR, where it still holds the return address. Once the function has called another, LR
        # points into itself: a naked handler saves it where no table says.
        here, there = program.function_at(address), program.function_at((registers[_LR] & ~1) - 1)
        unsaved = None if here is not None and here == there else registers[_LR]
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


def _rules(program: Program, address: int) -> tuple[dict[Any, Any], int] | None:
    """The frame table's row for `address`, and the register that holds the return address.

    None if the table has no such row.
    """
    for entry in program.dwarf.CFI_entries():
        first = entry.header.get("initial_location")
        if first is not None and first <= address < first + entry.header.address_range:
            rows = [row for row in entry.get_decoded().table if row["pc"] <= address]
            return (rows[-1], int(entry.cie.header.return_address_register)) if rows else None
    return None


def _interrupted(program: Program, state: State, registers: Registers) -> Registers | None:
    """The registers before an exception, from the frame that it stacked; None if not in SRAM."""
    returning = registers[_PC]
    base = state.registers["psp"] if returning & 4 else registers[_SP]
    words = [state.word(base + 4 * number) for number in range(len(_STACKED))]
    stacked = {number: word for number, word in zip(_STACKED, words, strict=True) if word is not None}
    if len(stacked) < len(_STACKED):
        return None
    status = stacked.pop(_STATUS)
    size = _BASIC_FRAME_BYTES if returning & _BASIC_FRAME else _EXTENDED_FRAME_BYTES
    stack = base + size + (4 if status & 0x200 else 0)
    return {**registers, **stacked, _SP: stack + _pushed(program, stacked[_PC], status)}


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

"""The most that an instruction can cost: the timing model's rules (docs/reference/timing.md) at
their worst.

Every flash line is a miss. Every address waits for its register. Every load waits for a store.
Nothing is saved by caches, by loads in a row or by folded IT instructions. So the bound holds with
the flash accelerator on and off. It does not include the time of interrupts.
"""

from __future__ import annotations

from analysis.bounds.graph import Instruction

WAIT_STATES = 2
"""Wait states of the flash at 84 MHz (RM0368 §3.4.1)."""

LINE_BYTES = 16
_READ_CYCLES = 1 + WAIT_STATES
# Reading the next line, and passing on its first word when the prefetch buffer is empty.
_NEXT_LINE_CYCLES = _READ_CYCLES + 1
# Reading a line elsewhere, after a read under way that nobody needs any more (RM0368 §3.4.2).
_OTHER_LINE_CYCLES = 2 * _READ_CYCLES
# A branch to a 32-bit instruction that straddles two words (compendium.i-0.nl, "Branch timing").
_STRADDLE_CYCLES = 1
# An address that needs the result of the instruction before; a load after a store
# (ARM DDI 0439, 3.3.3).
_ADDRESS_CYCLES = 1
_BEHIND_STORE_CYCLES = 1

# ARM DDI 0439, tables 3-1 and 7-1. A division is taken to find no early end.
_TABLE = {
    "processing": 1,
    "accumulate": 3,
    "divide": 12,
    "float_divide": 14,
    "branch": 1,
    "late_branch": 1,
    "table_branch": 2 + _ADDRESS_CYCLES,
    "load": 2 + _ADDRESS_CYCLES + _BEHIND_STORE_CYCLES,
    "store": 2 + _ADDRESS_CYCLES,
    "multiple": 1 + _ADDRESS_CYCLES + _BEHIND_STORE_CYCLES,
    "special": 3,
}

# Cycles that a taken branch adds. The later it is decided, the more: B and BL are decided when
# decoded, CBZ and BX when executed, a load of the PC with its data, TBB after its addition
# (docs/reference/timing.md, "branches").
_TAKEN = {"branch": 1, "late_branch": 2, "table_branch": 4, "multiple": 4, "load": 4}
_LATEST_CYCLES = max(_TAKEN.values())


def own_cycles(instruction: Instruction, reads_flash: bool) -> int:
    """Cycles of the instruction itself. `reads_flash`: a load may read constants in the flash."""
    cycles = _TABLE[instruction.kind] + instruction.registers
    loads = instruction.kind in ("load", "multiple", "table_branch")
    if loads and (reads_flash or instruction.literal is not None or instruction.kind == "table_branch"):
        cycles += _OTHER_LINE_CYCLES
    return cycles


def next_cycles(before: Instruction, after: Instruction) -> int:
    """Cycles of going on to `after`, right behind `before`: for each flash line that it enters."""
    last = before.address + before.size - 1
    lines = (after.address + after.size - 1) // LINE_BYTES - last // LINE_BYTES
    return lines * _NEXT_LINE_CYCLES


def taken_cycles(before: Instruction, target: Instruction) -> int:
    """Cycles that the taken branch `before` adds on its way to `target`."""
    return _TAKEN.get(before.kind, _LATEST_CYCLES) + _arrival_cycles(target)


def return_cycles(target: Instruction) -> int:
    """Cycles that a return to `target` adds, whichever instruction returns."""
    return _LATEST_CYCLES + _arrival_cycles(target)


def _arrival_cycles(target: Instruction) -> int:
    """Cycles until a branch target can execute: of one flash line, or of two if it lies in both."""
    last = target.address + target.size - 1
    second = last // LINE_BYTES - target.address // LINE_BYTES
    straddles = target.size == 4 and target.address % 4 != 0
    return _OTHER_LINE_CYCLES + second * _READ_CYCLES + (_STRADDLE_CYCLES if straddles else 0)

"""What an instruction can cost at the most: the timing model's rules (docs/TIMING.md), each at its worst.

Every line of the flash is a miss, every register comes too late for its address, every load stands behind a
store; no cache, no pairing, no folding helps. So the bound holds with the flash accelerator on and off. Time
that interrupts take is not in it.
"""

from __future__ import annotations

from analysis.bounds.graph import Instruction

WAIT_STATES = 2
"""Of the flash at 84 MHz (RM0368 §3.4.1)."""

LINE_BYTES = 16
_READ_CYCLES = 1 + WAIT_STATES
# The next line, and its first word in a buffer that ran empty.
_NEXT_LINE_CYCLES = _READ_CYCLES + 1
# Another line, behind a read that has begun for nothing (RM0368 §3.4.2).
_OTHER_LINE_CYCLES = 2 * _READ_CYCLES
# One more to a 32-bit instruction that straddles words (compendium.i-0.nl, "Branch timing").
_STRADDLE_CYCLES = 1
# A register that the instruction before brings, in the address; a load behind a store (ARM DDI 0439, 3.3.3).
_ADDRESS_CYCLES = 1
_BEHIND_STORE_CYCLES = 1

# ARM DDI 0439, tables 3-1 and 7-1; division without early termination.
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

# Cycles that a taken branch adds, by how late it is decided: B and BL when decoded, CBZ and BX when executed,
# a load of the PC after its data, TBB after its addition (docs/TIMING.md, "branches").
_TAKEN = {"branch": 1, "late_branch": 2, "table_branch": 4, "multiple": 4, "load": 4}
_LATEST_CYCLES = max(_TAKEN.values())


def own_cycles(instruction: Instruction, reads_flash: bool) -> int:
    """The instruction itself; `reads_flash` where a load may go to constants in the flash."""
    cycles = _TABLE[instruction.kind] + instruction.registers
    loads = instruction.kind in ("load", "multiple", "table_branch")
    if loads and (reads_flash or instruction.literal is not None or instruction.kind == "table_branch"):
        cycles += _OTHER_LINE_CYCLES
    return cycles


def next_cycles(before: Instruction, after: Instruction) -> int:
    """Going on to the instruction behind: a line of the flash where that is not the same."""
    last = before.address + before.size - 1
    lines = (after.address + after.size - 1) // LINE_BYTES - last // LINE_BYTES
    return lines * _NEXT_LINE_CYCLES


def taken_cycles(before: Instruction, target: Instruction) -> int:
    """Branching to `target`."""
    return _TAKEN.get(before.kind, _LATEST_CYCLES) + _arrival_cycles(target)


def return_cycles(target: Instruction) -> int:
    """Coming back to `target`, whatever returns there."""
    return _LATEST_CYCLES + _arrival_cycles(target)


def _arrival_cycles(target: Instruction) -> int:
    """Until an instruction that nobody expected can execute: its line, or two where it lies in both."""
    last = target.address + target.size - 1
    second = last // LINE_BYTES - target.address // LINE_BYTES
    straddles = target.size == 4 and target.address % 4 != 0
    return _OTHER_LINE_CYCLES + second * _READ_CYCLES + (_STRADDLE_CYCLES if straddles else 0)

"""Draws opcodes of each encoding, and tells what kind of instruction they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from quality.differential import values
from quality.differential.encodings import Encoding, Mask, Opcodes, described_by
from quality.differential.predictable import bad, bit, field, unpredictable
from quality.differential.values import Random

MEMORY = r"V?LD|V?ST|PUSH|POP|TB[BH]|PL[DI]"
BRANCHES = r"B T|BL|BX|CB|TB[BH]|.*to PC"

# Encodings without a result that Unicorn could confirm, and where they are tested instead.
ELSEWHERE = {
    r"UNDEFINED|UDF|SVC|BKPT": "raises an exception: simulator/tests/core/faults.rs and exceptions.rs",
    r"WFI|WFE": "sleeps: simulator/tests/core/exceptions.rs",
}
# APSR in all its combinations, MSP, PSP and PRIMASK: these Unicorn's M4 treats as the manual does.
# MRS leaves out PSP, which no case sets.
SPECIAL_REGISTERS = {"MSR T1": (0, 1, 2, 3, 5, 6, 7, 8, 9, 16), "MRS T1": (0, 1, 2, 3, 5, 6, 7, 8, 16)}

# Not for any place: MOV T2 and CPS are UNPREDICTABLE in IT blocks. MSR, MRS and CLREX touch state
# beyond the registers. Unicorn errs on NOP (YIELD), SMLAD and VCVT (see divergences.toml), and
# after ISB it forgets the rest of an IT block.
NOT_PLAIN = r"IT|CPS|MSR|MRS|CLREX|MOV \(register\) T2|NOP|SMUAD|ISB|VCVT \(from fixed"
SP = 13
DRAWS = 60


def elsewhere(row: Encoding) -> str | None:
    """Why the encoding is not compared; None if it is."""
    return next((reason for pattern, reason in ELSEWHERE.items() if re.match(pattern, row.name)), None)


def is_memory(row: Encoding) -> bool:
    """True if it is a load, a store or a table branch."""
    return re.match(MEMORY, row.name) is not None


def branches(row: Encoding) -> bool:
    """True if it may change the PC, whatever its operands are."""
    return re.match(BRANCHES, row.name) is not None


def is_plain(row: Encoding) -> bool:
    """True if it may stand anywhere, even in an IT block.

    It is then no branch, does not use memory, and Unicorn makes no error on it.
    """
    return not (branches(row) or is_memory(row) or elsewhere(row) or re.match(NOT_PLAIN, row.name))


def loads_pc(row: Encoding, opcodes: Opcodes) -> Mask:
    """Which opcodes load the PC."""
    if re.match(r"LDR \(", row.name) and row.wide:
        return field(opcodes, 15, 12) == 15
    if re.match(r"POP T1", row.name):
        return bit(opcodes, 8)
    if re.match(r"LDM", row.name) and row.wide:
        return bit(opcodes, 15)
    return np.zeros(len(opcodes), bool)


def needs_other_operands(row: Encoding, opcodes: Opcodes) -> Mask:
    """Which opcodes are predictable, but cannot be run here.

    Their target has no Thumb bit, or they load the PC from an unaligned address.
    """
    if re.match(r"BL?X", row.name):
        return bad(field(opcodes, 6, 3))
    unaligned = (opcodes & 3) != 0
    if re.match(r"LDR \(", row.name):
        if "register" in row.name:
            unaligned[:] = False
        # A literal lies in the code of the cases, and code is no target address.
        return loads_pc(row, opcodes) & (unaligned | ("literal" in row.name))
    return np.zeros(len(opcodes), bool)


def draw(rows: Sequence[Encoding], index: int, random: Random, wanted: int) -> Opcodes:
    """`wanted` predictable opcodes of row `index`. They repeat if there are too few."""
    row = rows[index]
    free = np.uint32(~row.mask & row.width_mask)
    drawn = np.empty(0, np.uint32)
    for _ in range(DRAWS):
        operands = values.uniform(random, (4 * wanted + 4096,))
        if row.name in SPECIAL_REGISTERS:
            operands = operands & ~np.uint32(0xFF) | random.choice(SPECIAL_REGISTERS[row.name], len(operands))
        opcodes = np.uint32(row.value) | operands & free
        opcodes = opcodes[~unpredictable(row, opcodes) & ~needs_other_operands(row, opcodes)]
        drawn = np.concatenate([drawn, opcodes[described_by(rows, index, opcodes)]])
        if len(drawn) >= wanted:
            return drawn[:wanted]
    if len(drawn) == 0:
        raise AssertionError(f"no predictable opcode of {row.label} was found")
    return np.resize(drawn, wanted)


def draw_unpredictable(rows: Sequence[Encoding], index: int, random: Random, tried: int) -> Opcodes:
    """Draws `tried` opcodes of a row, and returns those that the manual gives no result."""
    row = rows[index]
    opcodes = np.uint32(row.value) | values.uniform(random, (tried,)) & np.uint32(~row.mask & row.width_mask)
    return opcodes[unpredictable(row, opcodes) & described_by(rows, index, opcodes)]


def plain_opcodes(row: Encoding, opcodes: Opcodes) -> Opcodes:
    """The opcodes that may stand anywhere (is_plain).

    Those that write SP are left out: Unicorn keeps its low bits.
    """
    if not is_plain(row):
        return opcodes[:0]
    if row.wide:
        return opcodes[field(opcodes, 11, 8) != SP]
    return opcodes[(field(opcodes, 7, 7) * 8 + field(opcodes, 2, 0)) != SP]

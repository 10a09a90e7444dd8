"""Opcodes of each encoding that the manual defines, and what kind of instruction they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tests.differential import values
from tests.differential.encodings import Encoding, Mask, Opcodes, described_by
from tests.differential.predictable import bad, bit, field, unpredictable
from tests.differential.values import Random

MEMORY = r"V?LD|V?ST|PUSH|POP|TB[BH]|PL[DI]"
BRANCHES = r"B T|BL|BX|CB|TB[BH]|.*to PC"

# Encodings without a result that Unicorn could confirm, and where they are tested instead.
ELSEWHERE = {
    r"UNDEFINED|UDF|SVC|BKPT": "raises an exception: simulator/tests/core/faults.rs and exceptions.rs",
    r"WFI|WFE": "sleeps: simulator/tests/core/exceptions.rs",
}
# APSR in all its combinations, MSP, PSP, PRIMASK: what Unicorn's M4 has as the manual has it. MRS alone does
# not read PSP, which no case sets.
SPECIAL_REGISTERS = {"MSR T1": (0, 1, 2, 3, 5, 6, 7, 8, 9, 16), "MRS T1": (0, 1, 2, 3, 5, 6, 7, 8, 16)}

# UNPREDICTABLE in IT blocks: MOV T2, CPS. State beyond the registers: MSR, MRS, CLREX. Unicorn errs: NOP
# (YIELD), SMLAD, VCVT (see divergences.toml), and ISB, after which it forgets the rest of an IT block.
NOT_PLAIN = r"IT|CPS|MSR|MRS|CLREX|MOV \(register\) T2|NOP|SMUAD|ISB|VCVT \(from fixed"
SP = 13
DRAWS = 60


def elsewhere(row: Encoding) -> str | None:
    """Why the encoding is not compared, if so."""
    return next((reason for pattern, reason in ELSEWHERE.items() if re.match(pattern, row.name)), None)


def is_memory(row: Encoding) -> bool:
    """Loads, stores and table branches."""
    return re.match(MEMORY, row.name) is not None


def branches(row: Encoding) -> bool:
    """May change the PC whatever its operands are."""
    return re.match(BRANCHES, row.name) is not None


def is_plain(row: Encoding) -> bool:
    """May stand anywhere, in IT blocks too: no branch, no memory, nothing on which Unicorn errs."""
    return not (branches(row) or is_memory(row) or elsewhere(row) or re.match(NOT_PLAIN, row.name))


def loads_pc(row: Encoding, opcodes: Opcodes) -> Mask:
    """Loads whose destination is the PC."""
    if re.match(r"LDR \(", row.name) and row.wide:
        return field(opcodes, 15, 12) == 15
    if re.match(r"POP T1", row.name):
        return bit(opcodes, 8)
    if re.match(r"LDM", row.name) and row.wide:
        return bit(opcodes, 15)
    return np.zeros(len(opcodes), bool)


def needs_other_operands(row: Encoding, opcodes: Opcodes) -> Mask:
    """Predictable, yet not to be run: targets without Thumb bit, a PC loaded from an unaligned address."""
    if re.match(r"BL?X", row.name):
        return bad(field(opcodes, 6, 3))
    unaligned = (opcodes & 3) != 0
    if re.match(r"LDR \(", row.name):
        if "register" in row.name:
            unaligned[:] = False
        # A literal lies among the cases' code, which is no target.
        return loads_pc(row, opcodes) & (unaligned | ("literal" in row.name))
    return np.zeros(len(opcodes), bool)


def draw(rows: Sequence[Encoding], index: int, random: Random, wanted: int) -> Opcodes:
    """`wanted` predictable opcodes that row `index` describes; they repeat where there are few."""
    row = rows[index]
    free = np.uint32(~row.mask & row.width_mask)
    found = np.empty(0, np.uint32)
    for _ in range(DRAWS):
        operands = values.uniform(random, (4 * wanted + 4096,))
        if row.name in SPECIAL_REGISTERS:
            operands = operands & ~np.uint32(0xFF) | random.choice(SPECIAL_REGISTERS[row.name], len(operands))
        opcodes = np.uint32(row.value) | operands & free
        opcodes = opcodes[~unpredictable(row, opcodes) & ~needs_other_operands(row, opcodes)]
        found = np.concatenate([found, opcodes[described_by(rows, index, opcodes)]])
        if len(found) >= wanted:
            return found[:wanted]
    if len(found) == 0:
        raise AssertionError(f"no predictable opcode of {row.label} was found")
    return np.resize(found, wanted)


def draw_unpredictable(rows: Sequence[Encoding], index: int, random: Random, tried: int) -> Opcodes:
    """Those of `tried` opcodes of a row to which the manual gives no result."""
    row = rows[index]
    opcodes = np.uint32(row.value) | values.uniform(random, (tried,)) & np.uint32(~row.mask & row.width_mask)
    return opcodes[unpredictable(row, opcodes) & described_by(rows, index, opcodes)]


def plain_opcodes(row: Encoding, opcodes: Opcodes) -> Opcodes:
    """Those of an encoding that may stand anywhere: not those that write SP, whose low bits Unicorn keeps."""
    if not is_plain(row):
        return opcodes[:0]
    if row.wide:
        return opcodes[field(opcodes, 11, 8) != SP]
    return opcodes[(field(opcodes, 7, 7) * 8 + field(opcodes, 2, 0)) != SP]

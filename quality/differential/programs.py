"""What a case runs: an instruction and what makes its effect visible, an IT block or a sequence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quality.differential.encodings import Encoding, Opcodes
from quality.differential.opcodes import loads_pc
from quality.differential.predictable import LAST_IN_IT, NEVER_IN_IT
from quality.differential.values import Random

AL = 14
NOP, IT_AL, ITT_AL = 0xBF00, 0xBFE8, 0xBFE4
# Instructions that stand around one whose effect would not show by itself.
CLREX, STREX, LDREX, LDREXB = 0xF3BF_8F2F, 0xE840_0000, 0xE850_0F00, 0xE8D0_0F4F
READ_PRIMASK, READ_FAULTMASK, UNMASK = 0xF3EF_8010, 0xF3EF_8113, 0xB663
UNMASK_BASELINE = 0xB662


@dataclass(frozen=True)
class Program:
    """Instructions that run one after another. `row` is the index of the encoding that they try."""

    row: int
    opcodes: tuple[int, ...]
    steps: int


def program(row: Encoding, index: int, opcode: int, prelude: int) -> Program:
    """The instruction and what shows its effect; `prelude` sets or clears the exclusive monitor."""
    if row.name.startswith("STREX"):
        return Program(index, (exclusive_load(opcode) if prelude else CLREX, opcode), 2)
    if row.name == "MSR T1":
        return Program(index, (opcode, 0xF3EF_8000 | opcode & 0xFF), 2)
    if row.name == "CPS T1" and row.baseline:
        return Program(index, (opcode, READ_PRIMASK, UNMASK_BASELINE), 3)
    if row.name == "CPS T1":
        return Program(index, (opcode, READ_PRIMASK, READ_FAULTMASK, UNMASK), 4)
    return Program(index, (opcode,), 1)


def exclusive_load(store: int) -> int:
    """The LDREX with the address and size of a STREX, into a register that is not its base."""
    base = store & 0x000F_0000
    target = 12 if base != 12 << 16 else 14
    if store >> 20 == STREX >> 20:
        return LDREX | base | target << 12 | store & 0xFF
    return LDREXB | base | target << 12 | store & 0x10


def it_blocks(plain: Opcodes, rows: Sequence[Encoding], random: Random, wanted: int) -> list[Program]:
    """`wanted` IT blocks with random conditions and random bodies."""
    programs = []
    for _ in range(wanted):
        length = int(random.integers(1, 5))
        condition = int(random.integers(0, 15))
        choices = int(random.integers(0, 1 << (length - 1))) if condition != AL else 0
        # The mask has the low bit of each further condition, then a one (A7.7.38).
        opcode = 0xBF00 | condition << 4 | (choices << 1 | 1) << (4 - length)
        index = next(i for i, row in enumerate(rows) if not row.wide and opcode & row.mask == row.value)
        bodies = [int(o) for o in random.choice(plain, length)]
        programs.append(Program(index, (opcode, *bodies), 1 + length))
    return programs


def misplaced(rows: Sequence[Encoding], index: int, opcodes: Opcodes) -> list[Program]:
    """The opcodes of a row that are UNPREDICTABLE in an IT block, or before its end, put there."""
    name = rows[index].name
    if re.match(NEVER_IN_IT, name):
        return [Program(index, (IT_AL, int(opcode)), 2) for opcode in opcodes]
    if not re.match(LAST_IN_IT, name):
        opcodes = opcodes[loads_pc(rows[index], opcodes)]
    return [Program(index, (ITT_AL, int(opcode), NOP), 2) for opcode in opcodes]


def sequences(plain: Opcodes, index: int, random: Random, wanted: int) -> list[Program]:
    """`wanted` programs of two to five instructions."""
    lengths = random.integers(2, 6, wanted)
    return [
        Program(index, tuple(int(o) for o in random.choice(plain, length)), int(length)) for length in lengths
    ]

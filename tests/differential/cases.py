"""Random cases: defined opcodes of each encoding, in memory, with a state in which they may run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.differential import values
from tests.differential.encodings import Encoding, Mask, Opcodes, described_by
from tests.differential.predictable import LAST_IN_IT, NEVER_IN_IT, bad, bit, field, unpredictable
from tests.differential.records import CASE, Cases
from tests.differential.values import Random

CODE = 0x10_0000
# Literals reach 4 KiB either way; what lies there is random.
MARGIN_BYTES = 0x2000
SLOT_BYTES = 32
SLOTS = 8192
DATA_BYTES = 0x5000
# Bases and indices of loads and stores: base + (base << 3) and base - 1020 still lie in the data memory.
LOWEST_BASE, HIGHEST_BASE = 0x400, 0x800
BRANCH_TO_SELF, NOP, IT_AL, ITT_AL = 0xE7FE, 0xBF00, 0xBFE8, 0xBFE4

MEMORY = r"V?LD|V?ST|PUSH|POP|TB[BH]|PL[DI]"
# These know word-aligned addresses only (A3.2.1).
ALIGNED = r"LDM|STM|PUSH|POP|LDRD|STRD|LDREX|STREX|VLD|VST"
BRANCHES = r"B T|BL|BX|CB|TB[BH]|.*to PC"

# Encodings without a result that Unicorn could confirm, and where they are tested instead.
ELSEWHERE = {
    r"UNDEFINED|UDF|SVC|BKPT": "raises an exception: simulator/tests/core/faults.rs and exceptions.rs",
    r"WFI|WFE": "sleeps: simulator/tests/core/exceptions.rs",
}

# Instructions set around one that has no effect of its own to compare.
CLREX, STREX, LDREX, LDREXB = 0xF3BF_8F2F, 0xE840_0000, 0xE850_0F00, 0xE8D0_0F4F
READ_PRIMASK, READ_FAULTMASK, UNMASK = 0xF3EF_8010, 0xF3EF_8113, 0xB663
# APSR in all its combinations, MSP, PSP, PRIMASK: what Unicorn's M4 has as the manual has it. MRS alone does
# not read PSP, which no case sets.
SPECIAL_REGISTERS = {"MSR T1": (0, 1, 2, 3, 5, 6, 7, 8, 9, 16), "MRS T1": (0, 1, 2, 3, 5, 6, 7, 8, 16)}

# UNPREDICTABLE in IT blocks: MOV T2, CPS. State beyond the registers: MSR, MRS, CLREX. Unicorn errs: NOP
# (YIELD), VCVT (see divergences.toml), and ISB, after which it forgets the rest of an IT block.
NOT_PLAIN = r"IT|CPS|MSR|MRS|CLREX|MOV \(register\) T2|NOP|ISB|VCVT \(from fixed"
SP, AL = 13, 14
DRAWS = 60

Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Cases of one kind that share two memories; `counted` ones may branch and are stopped by count."""

    cases: Cases
    rows: npt.NDArray[np.int64]
    lengths: Lengths
    code: bytes
    data: bytes
    counted: bool


@dataclass(frozen=True)
class Kind:
    """What a batch's cases have in common: `counted` as in Batch; data words odd, as branch targets are."""

    counted: bool
    odd_data: bool = False


@dataclass(frozen=True)
class Program:
    """Instructions that run one after the other, for the encoding `row` (an index)."""

    row: int
    opcodes: tuple[int, ...]
    steps: int


def elsewhere(row: Encoding) -> str | None:
    """Why the encoding is not compared, if so."""
    return next((reason for pattern, reason in ELSEWHERE.items() if re.match(pattern, row.name)), None)


def is_memory(row: Encoding) -> bool:
    """Loads, stores and table branches."""
    return re.match(MEMORY, row.name) is not None


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


def halfwords(opcode: int) -> list[int]:
    """The opcode as it lies in memory; no 32-bit instruction has a first halfword below 0xE800."""
    return [opcode >> 16, opcode & 0xFFFF] if opcode > 0xFFFF else [opcode]


def exclusive_load(store: int) -> int:
    """The LDREX of a STREX's address and size, to a register that is not its base."""
    base = store & 0x000F_0000
    target = 12 if base != 12 << 16 else 14
    if store >> 20 == STREX >> 20:
        return LDREX | base | target << 12 | store & 0xFF
    return LDREXB | base | target << 12 | store & 0x10


def program(row: Encoding, index: int, opcode: int, prelude: int) -> Program:
    """The instruction, and what shows its effect; `prelude` chooses the exclusive monitor's state."""
    if row.name.startswith("STREX"):
        return Program(index, (exclusive_load(opcode) if prelude else CLREX, opcode), 2)
    if row.name == "MSR T1":
        return Program(index, (opcode, 0xF3EF_8000 | opcode & 0xFF), 2)
    if row.name == "CPS T1":
        return Program(index, (opcode, READ_PRIMASK, READ_FAULTMASK, UNMASK), 4)
    return Program(index, (opcode,), 1)


def it_blocks(plain: list[int], rows: Sequence[Encoding], random: Random, wanted: int) -> list[Program]:
    """IT with random conditions over random bodies."""
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
    """Predictable opcodes of a row that are UNPREDICTABLE in an IT block, alone in one or before its end."""
    name = rows[index].name
    if re.match(NEVER_IN_IT, name):
        return [Program(index, (IT_AL, int(opcode)), 2) for opcode in opcodes]
    if not re.match(LAST_IN_IT, name):
        opcodes = opcodes[loads_pc(rows[index], opcodes)]
    return [Program(index, (ITT_AL, int(opcode), NOP), 2) for opcode in opcodes]


def sequences(plain: list[int], index: int, random: Random, wanted: int) -> list[Program]:
    """Two to five instructions in a row."""
    lengths = random.integers(2, 6, wanted)
    return [
        Program(index, tuple(int(o) for o in random.choice(plain, length)), int(length)) for length in lengths
    ]


def assemble(programs: Sequence[Program], rows: Sequence[Encoding], random: Random, kind: Kind) -> Batch:
    """Places programs and states in memory; each slot ends in a branch to itself."""
    slots = np.full((len(programs), SLOT_BYTES // 2), BRANCH_TO_SELF, np.uint16)
    late = random.integers(0, 2, len(programs))
    lengths = np.zeros(len(programs), np.int64)
    for slot, start, (at, one) in zip(slots, late, enumerate(programs), strict=True):
        code = [half for opcode in one.opcodes for half in halfwords(opcode)]
        slot[start : start + len(code)] = code
        lengths[at] = 2 * len(code)
    cases = np.zeros(len(programs), CASE)
    cases["steps"] = [one.steps for one in programs]
    cases["pc"] = CODE + MARGIN_BYTES + SLOT_BYTES * np.arange(len(programs)) + 2 * late
    fill_state(cases, programs, rows, random, kind)
    margins = [values.uniform(random, (MARGIN_BYTES // 4,)).tobytes() for _ in range(2)]
    data = values.mixed(
        random, [values.integers(random, (DATA_BYTES // 4,)), values.floats(random, (DATA_BYTES // 4,))]
    )
    if kind.odd_data:
        data |= np.uint32(1)
    indices = np.array([one.row for one in programs])
    return Batch(
        cases, indices, lengths, margins[0] + slots.tobytes() + margins[1], data.tobytes(), kind.counted
    )


def fill_state(
    cases: Cases, programs: Sequence[Program], rows: Sequence[Encoding], random: Random, kind: Kind
) -> None:
    """Registers and flags; bases of loads and stores point into the data memory."""
    total = len(cases)
    registers = values.integers(random, (total, 15))
    if kind.counted:
        registers[:, :15] |= np.uint32(1)
    for at, one in enumerate(programs):
        row = rows[one.row] if one.row < len(rows) else None
        if row is not None and is_memory(row):
            point_into_data(registers[at], one.opcodes[-1], row, random)
    registers[:, 13] &= ~np.uint32(3)
    cases["r"] = registers
    cases["s"] = values.floats(random, (total, 32))
    cases["status"] = values.status(random, total)
    cases["fpscr"] = values.float_status(random, total)


def point_into_data(registers: Opcodes, opcode: int, row: Encoding, random: Random) -> None:
    """Sets what may be base or index: Rn and Rm of wide encodings, any of the three fields of narrow ones."""
    places = (16, 0) if row.wide else (8, 6, 3)
    named = {13} | {opcode >> place & (15 if row.wide else 7) for place in places}
    aligned = (
        re.match(ALIGNED, row.name)
        or loads_pc(row, np.array([opcode], np.uint32))[0]
        or random.random() < 0.5
    )
    for register in named - {15}:
        base = int(random.integers(LOWEST_BASE, HIGHEST_BASE))
        registers[register] = base & ~3 if aligned else base


def branches(row: Encoding) -> bool:
    """May change the PC whatever its operands are."""
    return re.match(BRANCHES, row.name) is not None


def is_plain(row: Encoding) -> bool:
    """May stand anywhere, in IT blocks too: no branch, no memory, nothing on which Unicorn errs."""
    return not (branches(row) or is_memory(row) or elsewhere(row) or re.match(NOT_PLAIN, row.name))


def plain_opcodes(row: Encoding, opcodes: Opcodes) -> Opcodes:
    """Those of an encoding that may stand anywhere: not those that write SP, whose low bits Unicorn keeps."""
    if not is_plain(row):
        return opcodes[:0]
    if row.wide:
        return opcodes[field(opcodes, 11, 8) != SP]
    return opcodes[(field(opcodes, 7, 7) * 8 + field(opcodes, 2, 0)) != SP]

"""Programs in memory, each with a random state to run in; and the runs of them by the simulated
core and by Unicorn.

A program is an instruction and what makes its effect visible, an IT block or a sequence."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from unicorn import Uc, UcError
from unicorn import arm_const as arm
from unicorn import unicorn_const as const

from quality.differential import encodings
from quality.differential.encodings import (
    Encoding,
    Opcodes,
    Random,
    Rows,
    is_memory,
)

AL = 14
# Instructions that stand around one whose effect would not show by itself.
CLREX, STREX, LDREX, LDREXB = 0xF3BF_8F2F, 0xE840_0000, 0xE850_0F00, 0xE8D0_0F4F
READ_PRIMASK, READ_FAULTMASK, UNMASK = 0xF3EF_8010, 0xF3EF_8113, 0xB663
UNMASK_BASELINE = 0xB662


class Program(NamedTuple):
    """Instructions that run one after another. `row` is the index of the encoding that they try."""

    row: int
    opcodes: tuple[int, ...]


def program(row: Encoding, index: int, opcode: int, prelude: int) -> Program:
    """The instruction and what shows its effect; `prelude` sets or clears the exclusive monitor."""
    if row.name.startswith("STREX"):
        return Program(index, (exclusive_load(opcode) if prelude else CLREX, opcode))
    if row.name == "MSR T1":
        return Program(index, (opcode, 0xF3EF_8000 | opcode & 0xFF))
    if row.name == "CPS T1":
        shows = (READ_PRIMASK, UNMASK_BASELINE) if row.baseline else (READ_PRIMASK, READ_FAULTMASK, UNMASK)
        return Program(index, (opcode, *shows))
    return Program(index, (opcode,))


def exclusive_load(store: int) -> int:
    """The LDREX with the address and size of a STREX, into a register that is not its base."""
    base = store & 0x000F_0000
    target = 12 if base != 12 << 16 else 14
    if store >> 20 == STREX >> 20:
        return LDREX | base | target << 12 | store & 0xFF
    return LDREXB | base | target << 12 | store & 0x10


def it_blocks(plain: Opcodes, rows: Rows, random: Random, wanted: int) -> list[Program]:
    """`wanted` IT blocks with random conditions and random bodies."""
    programs = []
    for _ in range(wanted):
        length = int(random.integers(1, 5))
        condition = int(random.integers(0, 15))
        choices = int(random.integers(0, 1 << (length - 1))) if condition != AL else 0
        # The mask has the low bit of each further condition, then a one (A7.7.38).
        opcode = 0xBF00 | condition << 4 | (choices << 1 | 1) << (4 - length)
        index = next(i for i, row in enumerate(rows) if not row.wide and opcode & row.mask == row.value)
        programs.append(Program(index, (opcode, *random.choice(plain, length).tolist())))
    return programs


STATE: list[Any] = [
    ("pc", "<u4"),
    ("r", "<u4", 15),
    ("status", "<u4"),
    ("fpscr", "<u4"),
    ("s", "<u4", 32),
]
CASE = np.dtype([("steps", "<u4"), *STATE])
RESULT = np.dtype([("outcome", "<u4"), *STATE, ("memory", "<u8")])

Results = npt.NDArray[Any]

# The outcome of a case that was executed; any other means that it was not.
EXECUTED = 0

CODE = 0x10_0000
# Literals reach 4 KiB either way. What lies there is random.
MARGIN_BYTES = 0x2000
SLOT_BYTES = 32
SLOTS = 8192
DATA_BYTES = 0x5000
# Bases and indices of loads and stores. Even base + (base << 3) and base - 1020 lie in the data
# memory.
LOWEST_BASE, HIGHEST_BASE = 0x400, 0x800
BRANCH_TO_SELF = 0xE7FE
# These take word-aligned addresses only (A3.2.1).
ALIGNED = r"LDM|STM|PUSH|POP|LDRD|STRD|LDREX|STREX|VLD|VST"


class Batch(NamedTuple):
    """Cases of one kind that share a code memory and a data memory.

    `counted` cases may branch anywhere, so they stop after a number of instructions. All others
    stop at the end of their program.
    """

    cases: npt.NDArray[Any]
    rows: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    code: bytes
    data: bytes
    counted: bool


def assemble(
    programs: Sequence[Program],
    rows: Rows,
    random: Random,
    *,
    counted: bool,
    odd_data: bool = False,
) -> Batch:
    """Places programs and states in memory. Branches to themselves fill up each slot. The bases of
    loads and stores point into the data memory. With `odd_data` all its words are odd, as branch
    targets must be, and the bases point to whole words.
    """
    slots = np.full((len(programs), SLOT_BYTES // 2), BRANCH_TO_SELF, np.uint16)
    late = random.integers(0, 2, len(programs))
    lengths = np.zeros(len(programs), np.int64)
    registers = encodings.core_registers(random, len(programs))
    if counted:
        registers |= np.uint32(1)
    for at, (index, opcodes) in enumerate(programs):
        # A 32-bit opcode has a first halfword of 0xE800 or more, which lies in front.
        code = [
            half for word in opcodes for half in ([word >> 16] if word > 0xFFFF else []) + [word & 0xFFFF]
        ]
        slots[at, late[at] : late[at] + len(code)] = code
        lengths[at] = 2 * len(code)
        if index < len(rows) and is_memory(rows[index]):
            point_into_data(registers[at], opcodes[-1], rows[index], random, odd_data)
    registers[:, 13] &= ~np.uint32(3)
    cases = np.zeros(len(programs), CASE)
    cases["steps"] = [len(opcodes) for _, opcodes in programs]
    cases["pc"] = CODE + MARGIN_BYTES + SLOT_BYTES * np.arange(len(programs)) + 2 * late
    cases["r"] = registers
    cases["s"] = encodings.float_registers(random, len(programs))
    cases["status"] = encodings.uniform(random, (len(programs),)) & APSR_MASK
    cases["fpscr"] = encodings.float_status(random, len(programs))
    margins = [encodings.uniform(random, (MARGIN_BYTES // 4,)).tobytes() for _ in range(2)]
    words = (DATA_BYTES // 4,)
    data = encodings.mixed(random, [encodings.integers(random, words), encodings.floats(random, words)])
    if odd_data:
        data |= np.uint32(1)
    indices = np.array([index for index, _ in programs])
    return Batch(cases, indices, lengths, margins[0] + slots.tobytes() + margins[1], data.tobytes(), counted)


def point_into_data(registers: Opcodes, opcode: int, row: Encoding, random: Random, words: bool) -> None:
    """Sets the registers that may be base or index.

    These are Rn and Rm of a wide encoding, and all three fields of a narrow one. With `words` all
    point to whole words.
    """
    places = (16, 0) if row.wide else (8, 6, 3)
    named = {13} | {opcode >> place & (15 if row.wide else 7) for place in places}
    aligned = words or re.match(ALIGNED, row.name) or random.random() < 0.5
    for register in named - {15}:
        base = int(random.integers(LOWEST_BASE, HIGHEST_BASE))
        registers[register] = base & ~3 if aligned else base


# N, Z, C, V, Q and GE.
APSR_MASK = np.uint32(0xF80F_0000)


class Core(NamedTuple):
    """A core by the name that the simulator and GCC give it.

    `apsr` has the flags that the core has. With `floats` there are S registers and FPSCR, with
    `mainline` the instructions of ARMv7-M.
    """

    name: str
    model: int
    apsr: int
    floats: bool
    mainline: bool

    def comparable(self, results: Results) -> Results:
        """The results without the fields and flags that the core does not have."""
        shown = results.copy()
        shown["status"] &= np.uint32(self.apsr)
        if not self.floats:
            shown["s"] = 0
            shown["fpscr"] = 0
        return shown


M4 = Core("cortex-m4", arm.UC_CPU_ARM_CORTEX_M4, int(APSR_MASK), floats=True, mainline=True)
# Without the DSP extension there is no GE (DDI 0403E, B1.4.2), in ARMv6-M no Q either (DDI 0419C).
M3 = Core("cortex-m3", arm.UC_CPU_ARM_CORTEX_M3, 0xF800_0000, floats=False, mainline=True)
M0 = Core("cortex-m0", arm.UC_CPU_ARM_CORTEX_M0, 0xF000_0000, floats=False, mainline=False)


def run_core(binary: Path, batch: Batch, core: Core = M4) -> Results:
    """The results of all cases of a batch. Raises RuntimeError with what the core's side says."""
    sizes = np.array([len(batch.data), len(batch.code)], "<u4").tobytes()
    message = sizes + batch.data + batch.code + batch.cases.tobytes()
    done = subprocess.run([binary, "run", core.name], input=message, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The core's side of the differential test failed: {done.stderr.decode()[-2000:]}")
    return np.frombuffer(done.stdout, RESULT)


PAGE_BYTES = 0x1000
_AHEAD = [arm.UC_ARM_REG_PC, *range(arm.UC_ARM_REG_R0, arm.UC_ARM_REG_R0 + 13)]
_BEHIND = [arm.UC_ARM_REG_FPSCR, *range(arm.UC_ARM_REG_D0, arm.UC_ARM_REG_D0 + 16)]
# In the order of a record, with two S registers in each D register. Writing CPSR sets N to Q and
# GE. Reading it lacks some of these; APSR has them all.
WRITTEN = [*_AHEAD, arm.UC_ARM_REG_SP, arm.UC_ARM_REG_LR, arm.UC_ARM_REG_CPSR, *_BEHIND]
READ = [*_AHEAD, arm.UC_ARM_REG_SP, arm.UC_ARM_REG_LR, arm.UC_ARM_REG_APSR, *_BEHIND]
# A branch to where nothing is mapped, or nothing may be executed, has taken place all the same. The
# PC tells where it went.
BRANCHED_OUT = (const.UC_ERR_FETCH_UNMAPPED, const.UC_ERR_FETCH_PROT, const.UC_ERR_EXCEPTION)


def run_unicorn(batch: Batch, core: Core = M4) -> Results:
    """The results of all cases of a batch on this core."""
    results = np.zeros(len(batch.cases), RESULT)
    pristine = np.frombuffer(batch.data, np.uint8)
    data = pristine.copy()
    engine = _emulator(batch, core, data)
    for at, case in enumerate(batch.cases):
        state = [case["pc"], *case["r"], case["status"], case["fpscr"], *case["s"].view("<u8")]
        engine.reg_write_batch([(register, int(word)) for register, word in zip(WRITTEN, state, strict=True)])
        pc, error = int(case["pc"]), EXECUTED
        end, steps = (0, int(case["steps"])) if batch.counted else (pc + int(batch.lengths[at]), 0)
        try:
            engine.emu_start(pc | 1, end, 0, steps)
        except UcError as refused:
            if not (batch.counted and refused.errno in BRANCHED_OUT):
                error = refused.errno
        after = engine.reg_read_batch(READ)
        # The hash of the changed bytes; 0 if none changed. The core's side computes the same.
        changed = np.flatnonzero(pristine != data)
        terms = changed.astype(np.uint64) << np.uint64(8) | data[changed].astype(np.uint64)
        memory = (terms * terms * terms | np.uint64(1)).sum(dtype=np.uint64)
        data[changed] = pristine[changed]
        floats = np.array(after[18:], "<u8").view("<u4")
        results[at] = (error, after[0], after[1:16], after[16], after[17], floats, memory)
        if error:
            engine = _emulator(batch, core, data)
    return results


def _emulator(batch: Batch, core: Core, data: npt.NDArray[np.uint8]) -> Any:
    """An emulator with the code of a batch, and `data` as its data memory."""
    engine: Any = Uc(const.UC_ARCH_ARM, const.UC_MODE_THUMB)
    engine.ctl_set_cpu_model(core.model)
    engine.mem_map_ptr(0, len(data), const.UC_PROT_READ | const.UC_PROT_WRITE, data.ctypes.data)
    room = -len(batch.code) // PAGE_BYTES * -PAGE_BYTES
    engine.mem_map(CODE, room, const.UC_PROT_READ | const.UC_PROT_EXEC)
    if core.floats:
        # VMRS R0, FPSCR: the first float instruction makes a new FPSCR (B1.5.7).
        engine.mem_write(CODE, bytes.fromhex("f1ee100a"))
        engine.emu_start(CODE | 1, CODE + 4)
    engine.mem_write(CODE, batch.code)
    return engine

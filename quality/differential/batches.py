"""Programs in memory, each with a random state to run in; and the runs of them by the simulated
core and by Unicorn, through its C interface: so a case costs only a few calls, whose arguments
are always the same.

A program is an instruction and what makes its effect visible, an IT block or a sequence."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import unicorn
from unicorn import arm_const as arm
from unicorn import unicorn_const as const

from quality.differential import encodings as values
from quality.differential.encodings import (
    LAST_IN_IT,
    NEVER_IN_IT,
    Encoding,
    Opcodes,
    Random,
    is_memory,
    loads_pc,
)

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


STATE: list[Any] = [
    ("pc", "<u4"),
    ("r", "<u4", 15),
    ("status", "<u4"),
    ("fpscr", "<u4"),
    ("s", "<u4", 32),
]
CASE = np.dtype([("steps", "<u4"), *STATE])
RESULT = np.dtype([("outcome", "<u4"), *STATE, ("memory", "<u8")])
STATE_BYTES = 4 * (1 + 15 + 2 + 32)

Cases = npt.NDArray[Any]
Results = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

# The outcome of a case that was executed; any other means that it was not.
EXECUTED = 0

APSR_MASK = np.uint32(0xF80F_0000)


def memory_hash(before: Bytes, after: Bytes) -> int:
    """The hash of the changed bytes; 0 if none changed. The core's side computes the same."""
    changed = np.flatnonzero(before != after)
    terms = changed.astype(np.uint64) << np.uint64(8) | after[changed].astype(np.uint64)
    return int((terms * terms * terms | np.uint64(1)).sum(dtype=np.uint64))


def run_core(binary: Path, batch: Batch, core: str = "cortex-m4") -> Results:
    """The results of all cases of a batch. Raises RuntimeError with what the core's side says."""
    sizes = np.array([len(batch.data), len(batch.code)], "<u4").tobytes()
    message = sizes + batch.data + batch.code + batch.cases.tobytes()
    done = subprocess.run([binary, "run", core], input=message, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The core's side of the differential test failed: {done.stderr.decode()[-2000:]}")
    return np.frombuffer(done.stdout, RESULT)


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


@dataclass(frozen=True)
class Batch:
    """Cases of one kind that share a code memory and a data memory.

    `counted` cases may branch anywhere, so they stop after a number of instructions. All others
    stop at the end of their program.
    """

    cases: Cases
    rows: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    code: bytes
    data: bytes
    counted: bool


@dataclass(frozen=True)
class Kind:
    """The kind of a batch: what its cases have in common.

    `counted` is that of Batch. With `odd_data` all data words are odd, as branch targets must be.
    """

    counted: bool
    odd_data: bool = False


def assemble(programs: Sequence[Program], rows: Sequence[Encoding], random: Random, kind: Kind) -> Batch:
    """Places programs and states in memory. Branches to themselves fill up each slot."""
    slots = np.full((len(programs), SLOT_BYTES // 2), BRANCH_TO_SELF, np.uint16)
    late = random.integers(0, 2, len(programs))
    lengths = np.zeros(len(programs), np.int64)
    for slot, start, (at, program) in zip(slots, late, enumerate(programs), strict=True):
        code = [half for opcode in program.opcodes for half in halfwords(opcode)]
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


def halfwords(opcode: int) -> list[int]:
    """The opcode as it lies in memory. A 32-bit one has a first halfword of 0xE800 or more."""
    return [opcode >> 16, opcode & 0xFFFF] if opcode > 0xFFFF else [opcode]


def fill_state(
    cases: Cases, programs: Sequence[Program], rows: Sequence[Encoding], random: Random, kind: Kind
) -> None:
    """Fills registers and flags. The bases of loads and stores point into the data memory."""
    total = len(cases)
    registers = values.core_registers(random, total)
    if kind.counted:
        registers[:, :15] |= np.uint32(1)
    for at, program in enumerate(programs):
        row = rows[program.row] if program.row < len(rows) else None
        if row is not None and is_memory(row):
            point_into_data(registers[at], program.opcodes[-1], row, random)
    registers[:, 13] &= ~np.uint32(3)
    cases["r"] = registers
    cases["s"] = values.float_registers(random, total)
    cases["status"] = values.status(random, total)
    cases["fpscr"] = values.float_status(random, total)


def point_into_data(registers: Opcodes, opcode: int, row: Encoding, random: Random) -> None:
    """Sets the registers that may be base or index.

    These are Rn and Rm of a wide encoding, and all three fields of a narrow one.
    """
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


@dataclass(frozen=True)
class Core:
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


# Unicorn as one of the cores, through its C interface.


PAGE_BYTES = 0x1000
# In the order of a record, with two S registers in each D register.
REGISTERS = [
    arm.UC_ARM_REG_PC,
    *(arm.UC_ARM_REG_R0 + n for n in range(13)),
    arm.UC_ARM_REG_SP,
    arm.UC_ARM_REG_LR,
    arm.UC_ARM_REG_CPSR,
    arm.UC_ARM_REG_FPSCR,
    *(arm.UC_ARM_REG_D0 + n for n in range(16)),
]
STATUS = 16
# A branch to where nothing is mapped, or nothing may be executed, has taken place all the same. The
# PC tells where it went.
BRANCHED_OUT = (const.UC_ERR_FETCH_UNMAPPED, const.UC_ERR_FETCH_PROT, const.UC_ERR_EXCEPTION)

_library = ctypes.CDLL(str(next((Path(unicorn.__file__).parent / "lib").glob("libunicorn.so*"))))
_handle = ctypes.c_void_p


class Engine:
    """One emulator with the memories of a batch."""

    def __init__(self, batch: Batch, core: Core) -> None:
        self.core = core
        self.state = (ctypes.c_uint8 * STATE_BYTES)()
        start = ctypes.addressof(self.state)
        places = [start + 4 * n for n in range(18)] + [start + 72 + 8 * n for n in range(16)]
        self.places = (ctypes.c_void_p * len(REGISTERS))(*places)
        self.written = (ctypes.c_int * len(REGISTERS))(*REGISTERS)
        self.read = (ctypes.c_int * len(REGISTERS))(*REGISTERS)
        # Writing CPSR sets N to Q and GE. Reading it lacks some of these; APSR has them all.
        self.read[STATUS] = arm.UC_ARM_REG_APSR
        self.data = np.frombuffer(bytearray(batch.data), np.uint8).copy()
        self.handle = _handle()
        self._map(batch)

    def _map(self, batch: Batch) -> None:
        _check(_library.uc_open(const.UC_ARCH_ARM, const.UC_MODE_THUMB, ctypes.byref(self.handle)))
        _check(_library.uc_ctl(self.handle, const.UC_CTL_CPU_MODEL | 1 << 30 | 1 << 26, self.core.model))
        readable = const.UC_PROT_READ
        data = ctypes.c_void_p(self.data.ctypes.data)
        size = ctypes.c_uint64
        _check(
            _library.uc_mem_map_ptr(
                self.handle, size(0), size(len(batch.data)), readable | const.UC_PROT_WRITE, data
            )
        )
        room = -len(batch.code) // PAGE_BYTES * -PAGE_BYTES
        _check(_library.uc_mem_map(self.handle, size(CODE), size(room), readable | const.UC_PROT_EXEC))
        if self.core.floats:
            # VMRS R0, FPSCR: the first float instruction makes a new FPSCR (B1.5.7).
            start, none = size(CODE | 1), size(0)
            _check(_library.uc_mem_write(self.handle, size(CODE), bytes.fromhex("f1ee100a"), size(4)))
            _check(_library.uc_emu_start(self.handle, start, size(CODE + 4), none, ctypes.c_size_t(0)))
        _check(_library.uc_mem_write(self.handle, size(CODE), batch.code, size(len(batch.code))))

    def close(self) -> None:
        """Frees the emulator."""
        _library.uc_close(self.handle)

    def run(self, start: int, end: int, steps: int) -> int:
        """Runs from `start` to `end`, or for `steps` instructions unless that is 0.

        The state goes in from `self.state` and comes out there. Returns Unicorn's error code.
        """
        count = len(REGISTERS)
        _library.uc_reg_write_batch(self.handle, self.written, self.places, count)
        size = ctypes.c_uint64
        error = int(
            _library.uc_emu_start(self.handle, size(start | 1), size(end), size(0), ctypes.c_size_t(steps))
        )
        _library.uc_reg_read_batch(self.handle, self.read, self.places, count)
        return error


def _check(error: int) -> None:
    """Raises RuntimeError if Unicorn refused a call."""
    if error:
        raise RuntimeError(f"Unicorn refused with error {error}.")


def run_unicorn(batch: Batch, core: Core = M4) -> Results:
    """The results of all cases of a batch on this core."""
    results = np.zeros(len(batch.cases), RESULT)
    pristine = np.frombuffer(batch.data, np.uint8)
    engine = Engine(batch, core)
    for at, case in enumerate(batch.cases):
        raw = case.tobytes()
        ctypes.memmove(engine.state, raw[4:], STATE_BYTES)
        pc = int(case["pc"])
        end, steps = (0, int(case["steps"])) if batch.counted else (pc + int(batch.lengths[at]), 0)
        error = engine.run(pc, end, steps)
        if batch.counted and error in BRANCHED_OUT:
            error = 0
        changed = 0
        if engine.data.tobytes() != batch.data:
            changed = memory_hash(pristine, engine.data)
            engine.data[:] = pristine
        record = error.to_bytes(4, "little") + bytes(engine.state) + changed.to_bytes(8, "little")
        results[at] = np.frombuffer(record, RESULT)[0]
        if error:
            engine.close()
            engine = Engine(batch, core)
    engine.close()
    return core.comparable(results)


assert CASE.itemsize == 4 + STATE_BYTES

"""Unicorn as one of the cores, through its C interface; and the cores that are compared.

So a case costs only a few calls, whose arguments are always the same."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import unicorn
from unicorn import arm_const as arm
from unicorn import unicorn_const as const

from quality.differential.batches import (
    APSR_MASK,
    CASE,
    CODE,
    RESULT,
    STATE_BYTES,
    Batch,
    Results,
    memory_hash,
)


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
        check(_library.uc_open(const.UC_ARCH_ARM, const.UC_MODE_THUMB, ctypes.byref(self.handle)))
        check(_library.uc_ctl(self.handle, const.UC_CTL_CPU_MODEL | 1 << 30 | 1 << 26, self.core.model))
        readable = const.UC_PROT_READ
        data = ctypes.c_void_p(self.data.ctypes.data)
        size = ctypes.c_uint64
        check(
            _library.uc_mem_map_ptr(
                self.handle, size(0), size(len(batch.data)), readable | const.UC_PROT_WRITE, data
            )
        )
        room = -len(batch.code) // PAGE_BYTES * -PAGE_BYTES
        check(_library.uc_mem_map(self.handle, size(CODE), size(room), readable | const.UC_PROT_EXEC))
        if self.core.floats:
            self._use_floats(size)
        check(_library.uc_mem_write(self.handle, size(CODE), batch.code, size(len(batch.code))))

    def _use_floats(self, size: type[ctypes.c_uint64]) -> None:
        """Runs VMRS R0, FPSCR. The first float instruction makes a new FPSCR (B1.5.7)."""
        check(_library.uc_mem_write(self.handle, size(CODE), bytes.fromhex("f1ee100a"), size(4)))
        check(_library.uc_emu_start(self.handle, size(CODE | 1), size(CODE + 4), size(0), ctypes.c_size_t(0)))

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


def check(error: int) -> None:
    """Raises RuntimeError if Unicorn refused a call."""
    if error:
        raise RuntimeError(f"Unicorn refused with error {error}.")


def run(batch: Batch, core: Core = M4) -> Results:
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
        put(results, at, error, bytes(engine.state), changed)
        if error:
            engine.close()
            engine = Engine(batch, core)
    engine.close()
    return core.comparable(results)


def put(results: Results, at: int, outcome: int, state: bytes, changed: int) -> None:
    """Stores one result."""
    record = outcome.to_bytes(4, "little") + state + changed.to_bytes(8, "little")
    results[at] = np.frombuffer(record, RESULT)[0]


assert CASE.itemsize == 4 + STATE_BYTES

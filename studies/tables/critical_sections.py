"""What each critical section took on the virtual board, in cycles and in instructions."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from base.run_folder.records import HEAP_NOT_CALLED, EndRecord, OperationRecord
from capture.reading.probes import PULSES_BEFORE
from firmware.build import image as firmware
from firmware.build.image import FirmwareImage
from simulator import run as simulator

_RUN_FOR = "60s"
_TICK = "xPortSysTickHandler"


@dataclass(frozen=True)
class CriticalSection:
    """The critical section of one operation.

    `kind` is as in the OP record: A allocated, O out of memory, F freed, E refused. The firmware
    counts `cycles`, the simulator counts `instructions`. `wire_ns` is how long CRIT is high.
    `operation` is its place among the operations of the image, from 0. `ticks` is how often the
    kernel's tick came within it, which a lock that holds off only tasks lets in.
    """

    kind: str
    cycles: int
    instructions: int
    wire_ns: float
    operation: int = 0
    ticks: int = 0


def measure(allocator: str, image: bytes, art: bool = True) -> list[CriticalSection]:
    """Runs an operation image (docs/reference/operation-image.md): one result for each heap
    operation.

    The image must free nothing that was not allocated. Raises BuildError, SimulatorError, and
    ValueError if the run does not come to its end.
    """
    return measure_built(firmware.build(allocator, art=art), image)


def measure_built(built: FirmwareImage, image: bytes) -> list[CriticalSection]:
    """The same of a firmware that is built. Raises SimulatorError, and ValueError as above."""
    done = simulator.run(
        built.elf,
        image=image,
        until=_RUN_FOR,
        counts={"instructions": "*", "ticks": _TICK},
        count_window="CRIT",
    )
    if done.records.first(EndRecord) is None:
        raise ValueError(f"The run on {built.allocator} does not end within {_RUN_FOR}.")
    operations = done.records.all(OperationRecord)
    called = [
        (place, record) for place, record in enumerate(operations) if record.kind not in HEAP_NOT_CALLED
    ]
    width_cycles = pl.col("end_cycle") - pl.col("start_cycle")
    pulses = done.windows[PULSES_BEFORE:].select("instructions", width_cycles * (1e9 / done.core_hz), "ticks")
    return [
        CriticalSection(record.kind, record.critical_cycles, instructions, wire_ns, place, ticks)
        for (place, record), (instructions, wire_ns, ticks) in zip(called, pulses.iter_rows(), strict=False)
    ]

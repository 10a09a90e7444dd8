"""What each critical section took on the virtual board, in cycles and in instructions."""

from __future__ import annotations

import polars as pl

from base.run_folder.records import HEAP_NOT_CALLED, EndRecord, OperationRecord
from capture.reading.probes import PULSES_BEFORE
from firmware.build.image import FirmwareImage
from simulator import run as simulator

_RUN_FOR = "600s"
_TICK = "xPortSysTickHandler"


def measure(built: FirmwareImage, operations: bytes) -> pl.DataFrame:
    """Runs an operation image (docs/reference/operation-image.md): a row for each operation.

    Columns: those of its OP record, of which `kind` is A allocated, O out of memory, F freed, E
    refused. The firmware counts cycles, the simulator counts `instructions` of the section.
    `pulse_ns` is how long CRIT is high. `ticks` is how often the kernel's tick came within it,
    which a lock that holds off only tasks lets in. These are null where no section was entered.

    The image must free nothing that was not allocated. Raises SimulatorError, and ValueError if
    the run does not come to its end.
    """
    counts = {"instructions": "*", "ticks": _TICK}
    done = simulator.run(built.elf, image=operations, until=_RUN_FOR, counts=counts, count_window="CRIT")
    if done.records.first(EndRecord) is None:
        raise ValueError(f"The run on {built.allocator} does not end within {_RUN_FOR}.")
    width_cycles = pl.col("end_cycle") - pl.col("start_cycle")
    pulses = done.windows[PULSES_BEFORE:].select(
        "instructions", "ticks", pulse_ns=width_cycles * (1e9 / done.core_hz)
    )
    rows = pl.DataFrame(map(vars, done.records.all(OperationRecord)), infer_schema_length=None)
    called = rows.filter(~pl.col("kind").is_in(HEAP_NOT_CALLED)).select("seq")
    sections = called.hstack(pulses.head(called.height))
    return rows.join(sections, on="seq", how="left", maintain_order="left")

"""Where the blocks of a run lay: its operations, replayed by the host's build of the same sources.

The replay is believed only if it did what the board did: the same fresh heap, and of every
operation the same outcome, probes and bytes in use.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis.fragmentation.metrics import course, metrics
from base.files.elf import address_of
from base.files.errors import TailscopeError
from base.processes import signals
from base.run_folder.manifest import MemoryFigures
from base.run_folder.records import Boot, OperationRecord, RecordLog
from base.run_folder.tables import MEMORY_COLUMNS, Memory
from firmware.build import catalogue, host_heap
from firmware.build.host_heap import NOTHING_TO_FREE, SKIPPED, UNKNOWN, Replay
from firmware.build.image import FirmwareImage
from scenarios.generator import Step
from scenarios.operations import Mark, decode
from scenarios.plan import Plan
from scenarios.trace import FREE, KIND, Operations, Trace, of_steps

_OF_FREES = {0: "F", NOTHING_TO_FREE: "N"}
_OF_ALLOCATIONS = {0: "A", SKIPPED: "S"}


def memory_of_run(image: FirmwareImage, plan: Plan, log: RecordLog) -> Memory:
    """Columns and figures, or one sentence that says why there are none.

    Nothing is raised: a signal must not keep what was captured from being judged.
    """
    try:
        operations = trace_of(plan).operations
        # Of the heap. An allocator that never returned on the board does not on the PC either.
        records = [record for record in log.all(OperationRecord) if record.kind != "K"]
        if len(records) != len(operations):
            return Memory.unknown(
                "The records do not tell of every operation, so the replay cannot be compared with them."
            )
        with tempfile.TemporaryDirectory() as folder:
            file = host_heap.write(operations, Path(folder) / "operations")
            replay = host_heap.run(program_of(image), file, image.configuration.heap_bytes)
        why_not = _contradiction(operations, replay, records, log.first(Boot))
    except TailscopeError as error:
        why_not = str(error).partition("\n")[0]
    except signals.Stopped:
        why_not = "The run was stopped before its operations were replayed on the PC."
    if why_not is not None:
        return Memory.unknown(why_not)
    memory = metrics(operations, replay)
    figures = MemoryFigures(
        peak_live_bytes=memory.peak_live_bytes,
        used_bytes=memory.used_bytes,
        fragmentation_percent=memory.fragmentation_percent,
        sbbm_bytes=memory.sbbm_bytes,
    )
    return Memory(figures, _columns(plan, operations, replay))


def trace_of(plan: Plan) -> Trace:
    """The plan's operations of the heap, as the host replays them."""
    entries = decode(plan.image).operations
    return of_steps(plan.name, (Step(entry) for entry in entries if not isinstance(entry, Mark)))


def program_of(image: FirmwareImage, *, static: bool = False) -> Path:
    """The host's build of the image's heap, with its region where the image has it; `static`: for
    other machines.

    Raises TailscopeError.
    """
    built = image.configuration
    defaults = catalogue.allocators()[image.allocator].knobs
    turned = {name: value for name, value in built.knobs.items() if defaults.get(name) != value}
    address = address_of(image.elf, "heap_region")
    return host_heap.build(image.allocator, built.heap_bytes, turned, address, static)


def _contradiction(
    operations: Operations, replay: Replay, records: Sequence[OperationRecord], boot: Boot | None
) -> str | None:
    """A sentence on where records and replay differ; None if they agree."""
    fresh = (replay.free_blocks_at_start, replay.free_bytes_at_start)
    if boot is None or (boot.free_blocks, boot.free_bytes) != fresh:
        return "The fresh heap on the PC is not the board's: its blocks lie elsewhere."
    in_use = 0
    columns = (operations[:, KIND], replay.status, replay.probes, replay.usable)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for record, (kind, status, probes, usable) in zip(records, rows, strict=True):
        letter = _OF_FREES.get(status, "E") if kind == FREE else _OF_ALLOCATIONS.get(status, "O")
        in_use += {"A": usable, "F": -usable}.get(letter, 0)
        if (record.kind, record.probes, record.bytes_in_use) != (letter, probes, in_use):
            return f"From operation {record.seq} on the replay on the PC does not do what the board did."
    return None


def _columns(plan: Plan, operations: Operations, replay: Replay) -> pl.DataFrame:
    """Null where an operation has no block, and of a free the largest free block."""
    served = replay.status == 0
    asks = operations[:, KIND] != FREE

    def column(name: str, values: npt.NDArray[Any], there: npt.NDArray[np.bool_] = served) -> pl.Expr:
        return pl.when(pl.Series(there)).then(pl.Series(values)).cast(MEMORY_COLUMNS[name]).alias(name)

    return plan.operations.filter(pl.col("kind") != "K").select(
        "seq",
        column("block_begin", replay.begin),
        column("block_end", replay.end),
        column("used_bytes", course(operations, replay).used, np.ones_like(served)),
        column("largest_free_bytes", replay.largest_free, asks & (replay.largest_free != UNKNOWN)),
    )

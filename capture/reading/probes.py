"""Who counted the probes and the instructions of a run: the allocator itself, the virtual board, or
nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from base.files.errors import CaptureError
from base.run_folder.folder import COUNTS
from base.run_folder.manifest import AskedFirmware, ProbesSource
from base.run_folder.records import Boot, EndRecord, OperationRecord, RecordLog
from capture.reading.wire import COMMON_PULSES, SECTIONS_PER_END
from firmware.build import catalogue
from simulator.build import SimulatorError
from simulator.outputs import INSTRUCTIONS, WINDOW, read_windows


class Stated(NamedTuple):
    """Promises of heap/catalogue.toml, the knobs' defaults, and whether it searches in a loop."""

    promises: Collection[str]
    knobs: Mapping[str, int]
    searches: bool


def stated_of(boot: Boot | None, firmware: AskedFirmware | None) -> Stated | None:
    """What is known of the allocator that BOOT names; None where nobody knows it."""
    if boot is None:
        return None
    outside = firmware.outside if firmware and firmware.allocator == boot.allocator else None
    if outside is not None:
        return Stated(outside.promises, outside.knobs, outside.searches)
    row = catalogue.own().get(boot.allocator)
    return Stated(row.promises, row.knobs, row.search != ()) if row else None


PULSES_BEFORE = COMMON_PULSES + SECTIONS_PER_END
"""How many pulses OP shows before the first operation (docs/reference/wire.md)."""
COUNT_MAX = (1 << 32) - 1


class Window(NamedTuple):
    """A pulse of OP as the virtual board saw it.

    `looks` is how often the search looked at a block in it, `cycles` how long it was, in core
    cycles.
    """

    looks: int
    cycles: int


@dataclass(frozen=True)
class Probes:
    """The probes of a run's operations.

    `source` is what run.json says of them. `windows` are the pulses of OP by the number of their
    operation, where the virtual board counted the probes.
    """

    source: ProbesSource
    windows: Mapping[int, Window] = field(default_factory=dict)

    def of(self, seq: int, recorded: int) -> int | None:
        """The probes of operation `seq`, whose record says `recorded`; None if nobody counted."""
        if self.source == "records":
            return recorded
        window = self.windows.get(seq)
        return window.looks if window else None


def read_probes(log: RecordLog, counts: bytes | None, firmware: AskedFirmware | None = None) -> Probes:
    """The probes of the run whose records are `log`.

    `counts` is the table of the virtual board, if it made one, `firmware` what it was built to be,
    if that is known. Raises CaptureError where the table is damaged.
    """
    options = stated_of(log.first(Boot), firmware)
    if options is None or "counts_probes" in options.promises:
        return Probes("records")
    if not options.searches:
        return Probes("no search loop")
    # After a restart the pulses of two runs are in one table.
    if counts is None or len(log.all(Boot)) > 1:
        return Probes("not counted")
    try:
        table = read_windows(counts).select(pl.exclude(INSTRUCTIONS))
    except SimulatorError as error:
        raise CaptureError(f"{COUNTS} cannot be used: {error} Remove it to go on without probes.") from None
    if table.width == len(WINDOW):  # the board was asked for no looks
        return Probes("not counted")
    windows = {
        number - PULSES_BEFORE: Window(sum(looks), end - start)
        for number, start, end, *looks in table.iter_rows()
        if number >= PULSES_BEFORE
    }
    if not all(0 <= window.looks <= COUNT_MAX for window in windows.values()):
        raise CaptureError(f"{COUNTS} counts what nobody can have; remove it to go on without probes.")
    return Probes("counted by the virtual board", windows)


@dataclass(frozen=True)
class Instructions:
    """The instructions of the critical sections, by the number of the operation.

    There are those of every operation or none. `why_none` is the sentence why there are none,
    though the board may have counted; it is None where there are some, and where nobody counted.
    """

    of: Mapping[int, int] = field(default_factory=dict)
    why_none: str | None = None


def read_instructions(log: RecordLog, counts: bytes | None) -> Instructions:
    """The instructions that the virtual board's table `counts` has, if there is one.

    They are used only if the table is that of the run whose records are `log`.
    """
    if counts is None:
        return Instructions()
    records = log.all(OperationRecord)
    needed = PULSES_BEFORE + len(records)
    with suppress(SimulatorError):
        table = read_windows(counts)
        widths = (table["end_cycle"] - table["start_cycle"]).to_list()[PULSES_BEFORE:needed]
        apart = {
            width - record.operation_cycles
            for width, record in zip(widths, records, strict=False)
            if record.operation_cycles
        }
        if (
            INSTRUCTIONS in table.columns
            and len(log.all(Boot)) == 1
            and table["window"].to_list() == list(range(table.height))
            and table[INSTRUCTIONS].is_between(0, COUNT_MAX).all()
            and [record.seq for record in records] == list(range(len(records)))
            and table.height >= needed
            and (log.first(EndRecord) is None or table.height == needed + PULSES_BEFORE)
            and len(apart) <= 1
        ):
            return Instructions(dict(enumerate(table[INSTRUCTIONS].to_list()[PULSES_BEFORE:needed])))
    return Instructions(
        why_none=f"{COUNTS} tells no instructions: its windows are not those of the records' operations."
    )

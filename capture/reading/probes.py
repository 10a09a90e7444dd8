"""Who counted the probes and the instructions of a run: the allocator itself, the virtual board, or
nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
LOOKS_MAX = (1 << 32) - 1


@dataclass(frozen=True)
class Window:
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
    windows = _windows_of_operations(counts)
    return Probes("not counted") if windows is None else Probes("counted by the virtual board", windows)


def _windows_of_operations(counts: bytes) -> dict[int, Window] | None:
    """None where the board was asked for no looks."""
    try:
        table = read_windows(counts).select(pl.exclude(INSTRUCTIONS))
    except SimulatorError as error:
        raise CaptureError(f"{COUNTS} cannot be used: {error} Remove it to go on without probes.") from None
    if table.width == len(WINDOW):
        return None
    windows = {
        number - PULSES_BEFORE: Window(sum(looks), end - start)
        for number, start, end, *looks in table.iter_rows()
        if number >= PULSES_BEFORE
    }
    if not all(0 <= window.looks <= LOOKS_MAX for window in windows.values()):
        raise CaptureError(f"{COUNTS} counts what nobody can have; remove it to go on without probes.")
    return windows


_PULSES_AFTER = COMMON_PULSES + SECTIONS_PER_END
_MOST = (1 << 32) - 1


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
    try:
        table = read_windows(counts)
    except SimulatorError:
        return _none("it is no table of the virtual board's windows")
    if INSTRUCTIONS not in table.columns:
        return _none("the simulator that wrote it did not count them")
    complaint = _complaint(table, log)
    if complaint:
        return _none(complaint)
    pulses = table.filter(pl.col("window") >= PULSES_BEFORE).select(
        pl.col("window") - PULSES_BEFORE, INSTRUCTIONS
    )
    operations = len(log.all(OperationRecord))
    return Instructions(dict(pulses.head(operations).iter_rows()))


def _none(why: str) -> Instructions:
    return Instructions(why_none=f"{COUNTS} tells no instructions, since {why}.")


def _complaint(table: pl.DataFrame, log: RecordLog) -> str | None:
    """Why the windows cannot be those of the operations in `log`; None if they can."""
    if len(log.all(Boot)) > 1:
        return "the board started more than once"
    records = log.all(OperationRecord)
    if table["window"].to_list() != list(range(table.height)):
        return "its windows are not numbered from 0"
    if not table[INSTRUCTIONS].is_between(0, _MOST).all():
        return "it counts what nobody can have"
    if [record.seq for record in records] != list(range(len(records))):
        return "the records are not numbered from 0"
    needed = PULSES_BEFORE + len(records)
    ended = log.first(EndRecord) is not None
    if table.height < needed or (ended and table.height != needed + _PULSES_AFTER):
        return f"it has {table.height} windows, and the records tell of {len(records)} operations"
    widths = (table["end_cycle"] - table["start_cycle"]).to_list()[PULSES_BEFORE:needed]
    constants = {
        width - record.operation_cycles
        for width, record in zip(widths, records, strict=True)
        if record.operation_cycles
    }
    if len(constants) > 1:
        return f"its windows differ in width from the records by {len(constants)} constants, not by one"
    return None

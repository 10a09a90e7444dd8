"""Who counted the instructions of a run's critical sections: the virtual board, or nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from base.run_folder.folder import COUNTS
from base.run_folder.records import Boot, EndRecord, OperationRecord, RecordLog
from capture.reading.probes import PULSES_BEFORE
from capture.reading.wire import COMMON_PULSES, SECTIONS_PER_END
from simulator.build import SimulatorError
from simulator.outputs import INSTRUCTIONS, read_windows

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

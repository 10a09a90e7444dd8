"""Who counted the probes of a run: the allocator itself, the virtual board from outside, or nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from capture.files.errors import CaptureError
from capture.reading.wire import COMMON_PULSES, SECTIONS_PER_END
from capture.run_folder.folder import COUNTS
from capture.run_folder.records import Boot, RecordLog
from firmware import catalogue
from simulator.build import SimulatorError
from simulator.outputs import read_windows

# Of the pulses of OP the first are common and calibration pulses (docs/SPEC.md, sections 2 and 7).
PULSES_BEFORE = COMMON_PULSES + SECTIONS_PER_END

Source = Literal["records", "counted by the virtual board", "no search loop", "not counted"]


@dataclass(frozen=True)
class Window:
    """One pulse of OP as the virtual board saw it: the looks of the search in it, and its core cycles."""

    looks: int
    cycles: int


@dataclass(frozen=True)
class Probes:
    """`source` is what run.json says of them. `windows` are those of the operations by number, where the
    probes were counted from outside.
    """

    source: Source
    windows: Mapping[int, Window] = field(default_factory=dict)

    def of(self, seq: int, recorded: int) -> int | None:
        """The probes of operation `seq`, whose record says `recorded`; None if nobody counted."""
        if self.source == "records":
            return recorded
        window = self.windows.get(seq)
        return window.looks if window else None


def witness(log: RecordLog, counts: bytes | None) -> Probes:
    """What counted the probes of the run of `log`; `counts` is the virtual board's table, if it made one.

    Raises CaptureError where the table is damaged.
    """
    boot = log.first(Boot)
    row = catalogue.allocators().get(boot.allocator) if boot else None
    if row is None or "counts_probes" in row.promises:
        return Probes("records")
    if row.search == ():
        return Probes("no search loop")
    # After a restart the pulses of two runs are in one table.
    if counts is None or len(log.all(Boot)) > 1:
        return Probes("not counted")
    return Probes("counted by the virtual board", _by_operation(counts))


def _by_operation(counts: bytes) -> dict[int, Window]:
    try:
        pulses = read_windows(counts).rows()
    except SimulatorError as error:
        raise CaptureError(f"{COUNTS} cannot be used: {error} Remove it to go on without probes.") from None
    return {
        number - PULSES_BEFORE: Window(sum(looks), end - start)
        for number, start, end, *looks in pulses
        if number >= PULSES_BEFORE
    }

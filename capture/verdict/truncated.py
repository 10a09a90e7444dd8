"""The rules that make a run truncated: something that should have come is missing.

Each rule looks at one thing. Whenever it finds that wrong, it yields a sentence: what happened and
what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from base.run_folder.manifest import ToolReport
from base.run_folder.records import EndRecord, FailRecord, OperationRecord
from capture.joining.evidence import Evidence


class Samples(Protocol):
    """A capture, whole or in windows."""

    @property
    def total_samples(self) -> int: ...


class Captured(Protocol):
    """What there is of every run: the capture, and what the tools said."""

    @property
    def tools(self) -> ToolReport: ...

    @property
    def edges(self) -> Samples: ...


def fewer_samples_than_asked(evidence: Captured) -> Iterator[str]:
    """Only counting shows such a loss. Silent where the tools' report explains it already."""
    wanted, got = evidence.tools.asked_samples, evidence.edges.total_samples
    if got < wanted and not evidence.tools.losses:
        yield f"The analyzer delivered {got} of {wanted} samples; run again, slower if it recurs."


def a_tool_failed(evidence: Captured) -> Iterator[str]:
    """A tool died, hung or lost its connection."""
    yield from evidence.tools.losses


def stopped_by_the_user(evidence: Captured) -> Iterator[str]:
    """By Ctrl-C, SIGTERM or SIGHUP. What came until then is kept."""
    if evidence.tools.interrupted:
        yield "The run was interrupted, by Ctrl-C or another signal; run it again to its end."


def no_start_frame(evidence: Evidence) -> Iterator[str]:
    """Without a start frame no operation can be numbered."""
    if evidence.wire.start_frame is None:
        yield "SYNC shows no start frame; check that channel 7 is on PB4 and that the firmware ran."


def no_end_frame(evidence: Evidence) -> Iterator[str]:
    """The capture ended before the run did, or the firmware stopped."""
    if evidence.wire.end_frame is None:
        yield "SYNC shows no end frame; run again with a longer capture if the firmware did end (END record)."


def sequence_gap(evidence: Evidence) -> Iterator[str]:
    """Records are missing between other records."""
    gaps = evidence.log.sequence_gaps
    if gaps:
        yield (
            f"Gaps in the numbers of the operation records: {gaps}; check the serial line, lower its baud if "
            "it recurs, and run again."
        )


def no_end_record(evidence: Evidence) -> Iterator[str]:
    """The serial line ended before the run did. FAIL comes instead of END and has its own rule."""
    log = evidence.log
    if log.first(EndRecord) is None and log.first(FailRecord) is None:
        cut = f", within the line {log.cut_line[:40]!r}" if log.cut_line else ""
        yield f"The records stop without END after {log.byte_count} bytes{cut}; check the line and run again."


def records_missing_at_the_end(evidence: Evidence) -> Iterator[str]:
    """END says how many operations there were, and fewer or more records came."""
    end, records = evidence.log.first(EndRecord), len(evidence.log.all(OperationRecord))
    if end and records != end.operations:
        yield f"END tells of {end.operations} operations, {records} arrived; check the line and run again."


RULES = (
    stopped_by_the_user,
    a_tool_failed,
    fewer_samples_than_asked,
    no_start_frame,
    no_end_frame,
    sequence_gap,
    no_end_record,
    records_missing_at_the_end,
)

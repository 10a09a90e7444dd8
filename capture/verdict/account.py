"""The rules on what the records tell one after another: their order, and the account of the heap.

Both follow from the plan and from what became of each operation, so nothing here is believed that
can be computed. They belong to the rules of capture/verdict/inconclusive.py and are made like them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from base.run_folder.edges import MARKED_CHANNELS
from base.run_folder.records import (
    COST_INSTRUMENTS,
    Boot,
    CalibrationRecord,
    CostRecord,
    CounterOffRecord,
    EndRecord,
    FailRecord,
    HeapRecord,
    InterruptsRecord,
    MarkRecord,
    OperationRecord,
    PlanRecord,
    Proof,
    Record,
    RecordLog,
    StatRecord,
    StillRecord,
    TickRecord,
)
from capture.joining.evidence import Evidence
from capture.reading.probes import stated_of
from capture.reading.wire import SECTIONS_PER_END
from scenarios.operations import Mark, decode
from scenarios.plan import Plan

_NAMES: dict[type[Record], str] = {
    Boot: "BOOT",
    Proof: "PROOF",
    StillRecord: "STILL",
    PlanRecord: "PLAN",
    TickRecord: "TICK",
    StatRecord: "STAT",
    HeapRecord: "HEAP",
    EndRecord: "END",
    FailRecord: "FAIL",
}
# Allocated, freed: what an operation does to the number of live blocks. Any other changes nothing.
_LIVE_CHANGE = {"A": 1, "F": -1}


def records_out_of_order(evidence: Evidence) -> Iterator[str]:
    """The plan says which record comes when. Silent where
    damaged or missing ones have rules of their own.
    """
    log = evidence.log
    if log.first(EndRecord) is None or log.first(FailRecord) or log.damaged or log.sequence_gaps:
        return
    due_records = _due(evidence.plan, _told_after(log))
    names = [_name(record) for record in log.records]
    for number, (due, came) in enumerate(zip_longest(due_records, names), 1):
        if due != came:
            yield (
                f"Record {number} is {came or 'missing'} where {due or 'none'} is due; "
                "check the serial line and run again."
            )
            return


def _told_after(log: RecordLog) -> Mapping[int, Sequence[str]]:
    """The records behind that of an operation, which the plan does not know, by its number."""
    met = {record.seq for record in log.all(InterruptsRecord)}
    off = {record.seq for record in log.all(CounterOffRecord)}
    return {
        seq: [*([f"IRQ {seq}"] if seq in met else []), *([f"OFF {seq}"] if seq in off else [])]
        for seq in met | off
    }


def records_altered(evidence: Evidence) -> Iterator[str]:
    """END has a checksum of all that was sent before it. Silent where a damaged line tells as much.

    One line in 65,536 that is altered keeps its own checksum right by chance.
    """
    log = evidence.log
    end = log.first(EndRecord)
    if end is None or log.damaged:
        return
    if end.log_crc32 != log.crc32:
        yield (
            f"The records' checksum is {log.crc32:08X}, the firmware sent {end.log_crc32:08X}: a line was "
            "altered, lost or doubled, though each is right by itself; check the serial line and run again."
        )


def _name(record: Record) -> str:
    """A record's type, with what tells it from others of its type."""
    if isinstance(record, CalibrationRecord):
        return f"CAL {record.channel} {record.index}"
    if isinstance(record, CostRecord):
        return f"COST {record.instrument}"
    if isinstance(record, MarkRecord):
        return f"MARK {record.label}"
    if isinstance(record, OperationRecord):
        return f"OP {record.seq}"
    if isinstance(record, InterruptsRecord):
        return f"IRQ {record.seq}"
    if isinstance(record, CounterOffRecord):
        return f"OFF {record.seq}"
    return _NAMES[type(record)]


def _due(plan: Plan, told_after: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """The names of a whole run's records, in the order of docs/reference/records.md.

    Which operations were met by an interrupt the plan does not know: what is `told_after` them and
    the wire are compared by a rule of capture/verdict/latencies.py.
    """
    yield from ("BOOT", "PROOF", "PLAN")
    yield from _calibration_due(0)
    seq = 0
    for operation in decode(plan.image).operations:
        if isinstance(operation, Mark):
            yield f"MARK {operation.label}"
        else:
            yield f"OP {seq}"
            yield from told_after.get(seq, ())
            seq += 1
    yield from _calibration_due(SECTIONS_PER_END)
    yield from ("STILL", "STAT", "HEAP", "END")


def _calibration_due(first: int) -> Iterator[str]:
    for channel in MARKED_CHANNELS:
        yield from (f"CAL {channel} {index}" for index in range(first, first + SECTIONS_PER_END))
    yield from (*(f"COST {instrument}" for instrument in COST_INSTRUMENTS), "TICK")


class _Step(NamedTuple):
    """An operation's record, the slot of its block, and the
    record of the allocation that filled it.

    The account of the heap before it is `live` blocks and `in_use` bytes.
    """

    record: OperationRecord
    live: int
    in_use: int
    filled: _Step | None

    @property
    def grown_bytes(self) -> int:
        """By how much the bytes in use grew; negative where they shrank."""
        return self.record.bytes_in_use - self.in_use


def _steps(evidence: Evidence) -> Iterator[_Step]:
    """The operations as far as records and plan go together, in order."""
    filled: dict[int, _Step] = {}
    live = in_use = 0
    planned = evidence.plan.operations.select("kind", "id").rows()
    for number, record in enumerate(evidence.log.all(OperationRecord)):
        if number >= len(planned) or record.seq != number:
            return
        kind, slot = planned[number]
        step = _Step(record, live, in_use, filled.pop(slot, None) if kind == "F" else None)
        yield step
        # A retry that was not needed leaves the block that was got.
        if kind == "A" and not (record.kind == "S" and slot in filled and filled[slot].record.kind == "A"):
            filled[slot] = step
        live, in_use = record.live, record.bytes_in_use


def live_blocks_do_not_follow(evidence: Evidence) -> Iterator[str]:
    """An allocation adds a block, a free takes one, and nothing else does either."""
    for step in _steps(evidence):
        due = step.live + _LIVE_CHANGE.get(step.record.kind, 0)
        if step.record.live != due:
            yield (
                f"After operation {step.record.seq} the record has {step.record.live} live blocks, and {due} "
                "follow from what was done; check the serial line and run again."
            )
            return


def bytes_in_use_do_not_follow(evidence: Evidence) -> Iterator[str]:
    """A block takes at least what was asked for, and its free gives back what it took.

    How many bytes it takes the allocator decides. One that does not know tells nothing here.
    """
    options = stated_of(evidence.log.first(Boot), evidence.asked)
    if options is None or "tells_usable" not in options.promises:
        return
    for step in _steps(evidence):
        if not _bytes_follow(step):
            yield (
                f"Operation {step.record.seq} changed the bytes in use by {step.grown_bytes}, which does not "
                f"follow from what was done ({step.record.kind} of {step.record.size} bytes); "
                "check the serial line and run again."
            )
            return


def _bytes_follow(step: _Step) -> bool:
    if step.record.kind == "A":
        return step.grown_bytes >= step.record.size
    if step.record.kind == "F" and step.filled is not None:
        return step.grown_bytes == -step.filled.grown_bytes
    return step.grown_bytes == 0


def free_does_not_follow(evidence: Evidence) -> Iterator[str]:
    """There is nothing to free exactly where the allocation had failed."""
    for step in _steps(evidence):
        if step.filled is None:
            continue
        freed, allocated = step.record, step.filled.record
        if (allocated.kind in "OS") != (freed.kind == "N"):
            yield (
                f"Operation {freed.seq} is recorded as {freed.kind}, but the allocation of its block, "
                f"operation {allocated.seq}, as {allocated.kind}; check the serial line and run again."
            )
            return


RULES = (
    records_out_of_order,
    records_altered,
    live_blocks_do_not_follow,
    bytes_in_use_do_not_follow,
    free_does_not_follow,
)

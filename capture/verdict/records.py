"""The rules on what the records tell: whether all came, unaltered and in their order, of the
firmware and plan that were asked for; and whether their account of the heap follows from that.

The order and the account follow from the plan and from what became of each operation, so nothing
here is believed that can be computed. Each rule looks at one thing. Whenever it finds that wrong,
it yields a sentence: what happened and what to do. capture/verdict/verdict.py lists them.

Some entries of an image depend on others (docs/reference/operation-image.md): a retry runs only if
the allocation before it was refused, and behind one that is last if refused allocations are
skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from base.run_folder.edges import MARKED_CHANNELS
from base.run_folder.records import (
    COST_INSTRUMENTS,
    INTERNAL_CLOCK,
    RECORDS,
    Boot,
    CalibrationRecord,
    CostRecord,
    CounterOffRecord,
    FailRecord,
    HeapRecord,
    InterruptsRecord,
    MarkRecord,
    OperationRecord,
    PlanRecord,
    Proof,
    Record,
    RecordLog,
)
from capture.joining.evidence import Evidence, Reasons
from capture.reading.probes import stated_of
from capture.reading.wire import SECTIONS_PER_END
from firmware.build import families
from scenarios.operations import CALLS, Allocate, Call, Free, Mark, Operation, decode
from scenarios.plan import Plan
from scenarios.stimulus import MODES

_NAMES = {kind: name for name, kind in RECORDS.items()}
# The fields that tell a record from others of its type.
_TOLD_APART: dict[type[Record], tuple[str, ...]] = {
    CalibrationRecord: ("channel", "index"),
    CostRecord: ("instrument",),
    MarkRecord: ("label",),
    OperationRecord: ("seq",),
    InterruptsRecord: ("seq",),
    CounterOffRecord: ("seq",),
}
# Allocated, freed: what an operation does to the number of live blocks. Any other changes nothing.
_LIVE_CHANGE = {"A": 1, "F": -1}


def records_out_of_order(evidence: Evidence) -> Reasons:
    """The plan says which record comes when. Silent where
    damaged or missing ones have rules of their own.
    """
    log = evidence.log
    if evidence.end is None or log.first(FailRecord) or log.damaged or log.sequence_gaps:
        return
    for number, (due, came) in enumerate(zip_longest(_due(evidence.plan, log), map(_name, log.records)), 1):
        if due != came:
            yield (
                f"Record {number} is {came or 'missing'} where {due or 'none'} is due; "
                "check the serial line and run again."
            )
            return


def records_altered(evidence: Evidence) -> Reasons:
    """END has a checksum of all that was sent before it. Silent where a damaged line tells as much.

    One line in 65,536 that is altered keeps its own checksum right by chance.
    """
    log, end = evidence.log, evidence.end
    if end is None or log.damaged:
        return
    if end.log_crc32 != log.crc32:
        yield (
            f"The records' checksum is {log.crc32:08X}, the firmware sent {end.log_crc32:08X}: a line was "
            "altered, lost or doubled, though each is right by itself; check the serial line and run again."
        )


def _name(record: Record) -> str:
    """A record's type, with what tells it from others of its type."""
    kind = type(record)
    return " ".join((_NAMES[kind], *(str(getattr(record, field)) for field in _TOLD_APART.get(kind, ()))))


def _due(plan: Plan, log: RecordLog) -> Iterator[str]:
    """The names of a whole run's records, in the order of docs/reference/records.md.

    Which operations were met by an interrupt the plan does not know: what the `log` has behind them
    and the wire are compared by a rule of capture/verdict/wire.py.
    """
    behind = {
        "IRQ": {record.seq for record in log.all(InterruptsRecord)},
        "OFF": {record.seq for record in log.all(CounterOffRecord)},
    }
    each = range(SECTIONS_PER_END)
    calibration = [
        [
            *(f"CAL {channel} {first + number}" for channel in MARKED_CHANNELS for number in each),
            *(f"COST {instrument}" for instrument in COST_INSTRUMENTS),
            "TICK",
        ]
        for first in (0, SECTIONS_PER_END)
    ]
    yield from ("BOOT", "PROOF", "PLAN", *calibration[0])
    seq = 0
    for operation in decode(plan.image).operations:
        if isinstance(operation, Mark):
            yield f"MARK {operation.label}"
        else:
            yield f"OP {seq}"
            yield from (f"{name} {seq}" for name, numbers in behind.items() if seq in numbers)
            seq += 1
    yield from (*calibration[1], "STILL", "STAT", "HEAP", "END")


def account_does_not_follow(evidence: Evidence) -> Reasons:
    """An allocation adds a block, a free takes one, and nothing else does either. A block takes at
    least what was asked for, and its free gives back what it took; an allocator that does not know
    how much that is tells nothing of it. There is nothing to free exactly where the allocation had
    failed. Looked at are the operations as far as records and plan go together.
    """
    options = stated_of(evidence.boot, evidence.asked)
    tells = options is not None and "tells_usable" in options.promises
    # Of the allocation that filled each slot: what became of it, and by how much the bytes grew.
    filled: dict[int, tuple[str, int]] = {}
    live = in_use = 0
    planned = evidence.plan.operations.select("kind", "id").rows()
    operations = zip(evidence.log.all(OperationRecord), planned, strict=False)
    for number, (record, (kind, slot)) in enumerate(operations):
        if record.seq != number:
            return
        grown = record.bytes_in_use - in_use
        became, took = filled.pop(slot, ("", 0)) if kind == "F" else ("", 0)
        left = grown + (took if record.kind == "F" else 0)
        if (
            record.live != live + _LIVE_CHANGE.get(record.kind, 0)
            or (tells and (left < record.size if record.kind == "A" else left))
            or (became and (became in "OS") != (record.kind == "N"))
        ):
            yield (
                f"Operation {record.seq}, recorded as {record.kind} of {record.size} bytes that leaves "
                f"{record.live} blocks and {record.bytes_in_use} bytes in use, does not follow from what was "
                "done before; check the serial line and run again."
            )
            return
        # A retry that was not needed leaves the block that was got.
        if kind == "A" and (record.kind != "S" or filled.get(slot, ("", 0))[0] != "A"):
            filled[slot] = record.kind, grown
        live, in_use = record.live, record.bytes_in_use


def another_firmware_ran(evidence: Evidence) -> Reasons:
    """BOOT must tell of the firmware that was built: another would have other numbers."""
    boot, firmware = evidence.boot, evidence.asked
    if boot is None or firmware is None:
        return
    knobs = firmware.knobs
    internal_hz = evidence.board.clock.internal_core_hz
    core_hz = internal_hz if boot.clock == INTERNAL_CLOCK and firmware.core_hz else firmware.core_hz
    for what, told, due in (
        ("its board", boot.board, Path(firmware.board).name),
        ("its allocator", boot.allocator, firmware.allocator),
        ("its heap in bytes", boot.heap_bytes, firmware.heap_bytes),
        ("its clock in Hz", boot.core_hz, core_hz),
        ("its kernel", boot.kernel, firmware.kernel),
        ("FLASH_ACR", f"{boot.flash_acr:08X}", firmware.flash_acr),
        ("its lock", boot.locking, firmware.locking),
        ("its knobs", _listed(boot.knob_values), None if knobs is None else _listed(knobs)),
    ):
        if due is not None and told != due:
            yield f"Of {what} the firmware says {told}, not {due}; build and load it again."


def _listed(knobs: Mapping[str, object]) -> str:
    return "/".join(f"{name}={knobs[name]}" for name in sorted(knobs)) or "none"


def another_plan_ran(evidence: Evidence) -> Reasons:
    """PLAN must tell of the image that was loaded. The CRC,
    with a rule of its own, leaves out the header.

    What further number a stimulus has (seed, spacing) no record tells: the timers' line does.
    """
    plan_record, plan = evidence.log.first(PlanRecord), evidence.plan
    if plan_record is None:
        return
    for what, value, due in (
        ("scenario", plan_record.scenario, plan.name),
        ("number of operations", plan_record.operations, plan.operations.height),
        ("stimulus", MODES[plan_record.stimulus_mode], plan.stimulus.mode),
        ("stimulus period in ticks", plan_record.stimulus_period_ticks, plan.stimulus.period_ticks),
        ("control period in ticks", plan_record.control_period_ticks, plan.stimulus.control_period_ticks),
    ):
        if value != due:
            yield f"The firmware found the {what} {value} in its image, not {due}; load the image again."


class Due(NamedTuple):
    """`answers` are the kinds that the record may have. `size` is its size, None where nobody
    knows because a record before it is missing.
    """

    answers: str
    size: int | None


def due(operations: Sequence[Operation], kinds: Mapping[int, str]) -> list[Due]:
    """What is due of each operation; marks are left out. `kinds` says what became of each, by its
    number.

    Behind a missing record it is not known what runs, where that depends on others.
    """
    only_operations = [operation for operation in operations if not isinstance(operation, Mark)]
    depends = any(
        isinstance(operation, Allocate) and (operation.retry or operation.last_if_refused)
        for operation in operations
    )
    sizes: dict[int, int] = {}
    dues = []
    skips, before, sure = False, "", True
    for seq, operation in enumerate(only_operations):
        kind = kinds.get(seq, "")
        if isinstance(operation, Call):
            dues.append(Due("K", CALLS.index(operation.name)))
        elif isinstance(operation, Free):
            skips = False
            dues.append(Due("FNE", sizes[operation.id] if sure else None))
        else:
            skipped = skips or (operation.retry and before != "O")
            # A retry whose allocation was served leaves the block that was got.
            if not (operation.retry and before == "A"):
                sizes[operation.id] = operation.size
            dues.append(Due(("S" if skipped else "AO") if sure else "AOS", operation.size))
            skips = skips or (operation.last_if_refused and kind == "O")
        sure = sure and bool(kind or not depends)
        before = kind
    return dues


def no_end_record(evidence: Evidence) -> Reasons:
    """The serial line ended before the run did. FAIL comes instead of END and has its own rule."""
    log = evidence.log
    if evidence.end is None and log.first(FailRecord) is None:
        cut = f", within the line {log.cut_line[:40]!r}" if log.cut_line else ""
        yield f"The records stop without END after {log.byte_count} bytes{cut}; check the line and run again."


def records_missing_at_the_end(evidence: Evidence) -> Reasons:
    """END says how many operations there were, and fewer or more records came."""
    end, records = evidence.end, len(evidence.log.all(OperationRecord))
    if end and records != end.operations:
        yield f"END tells of {end.operations} operations, {records} arrived; check the line and run again."


def sequence_gap(evidence: Evidence) -> Reasons:
    """Records are missing between other records."""
    if gaps := evidence.log.sequence_gaps:
        yield (
            f"Gaps in the numbers of the operation records: {gaps}; check the serial line, lower its baud if "
            "it recurs, and run again."
        )


def unreadable_lines(evidence: Evidence) -> Reasons:
    """Lines that are no records, whatever the reason."""
    if damaged := evidence.log.damaged:
        first = damaged[0]
        yield (
            f"Lines of the serial log that cannot be read: {len(damaged)}, the first is line {first.number} "
            f"({first.why}); check the cable, lower baud in bench.toml if it recurs, and run again."
        )


def restarted(evidence: Evidence) -> Reasons:
    """A second BOOT, PROOF or PLAN: the board was reset during the run.

    A start whose BOOT cannot be read leaves its PROOF and PLAN, perhaps before the first BOOT.
    """
    log = evidence.log
    starts = max(
        len(log.all(kind)) + sum(isinstance(record, kind) for record in log.earlier)
        for kind in (Boot, Proof, PlanRecord)
    )
    if starts > 1:
        boots, family = reversed(log.all(Boot)[1:]), evidence.board.family
        last = next(filter(None, (families.causes(boot.reset_flags, family) for boot in boots)), ())
        by = f", the last by {' and '.join(last)}" if last else ""
        yield f"The board started {starts} times during the run{by}; check its power supply and run again."


def firmware_failed(evidence: Evidence) -> Reasons:
    """The firmware stopped by itself."""
    if failure := evidence.log.first(FailRecord):
        yield f"The firmware stopped with FAIL {failure.reason} ({failure.detail}); search firmware/ for it."


def another_image_ran(evidence: Evidence) -> Reasons:
    """The board ran other operations than were asked for."""
    plan_record = evidence.log.first(PlanRecord)
    if plan_record and plan_record.body_crc32 != evidence.plan.image_crc32:
        yield (
            f"The board ran the operation image {plan_record.body_crc32:08X} instead of "
            f"{evidence.plan.image_crc32:08X}; load the image again."
        )


def records_differ_from_plan(evidence: Evidence) -> Reasons:
    """A record must be of a kind that the plan allows there, and of the planned size."""
    rows = evidence.joined.operations.select("seq", "kind", "size").rows()
    planned = due(decode(evidence.plan.image).operations, {seq: kind for seq, kind, _ in rows})
    wrong = [
        seq
        for seq, kind, size in rows
        if kind not in planned[seq].answers or planned[seq].size not in (size, None)
    ]
    if wrong:
        yield (
            f"{len(wrong)} records tell of another operation than the plan has there, the first is number "
            f"{wrong[0]}; load the image again."
        )


def counts_of_other_operations(evidence: Evidence) -> Reasons:
    """The virtual board's windows must be as wide as the records say, but for one constant.

    Where they differ by several, a window is that of another operation than its record.
    """
    recorded = {record.seq: record.operation_cycles for record in evidence.log.all(OperationRecord)}
    differences = {
        window.cycles - recorded[seq]
        for seq, window in evidence.probes.windows.items()
        if recorded.get(seq, 0) > 0
    }
    if len(differences) > 1:
        yield (
            "The windows in which probes were counted differ in width from the records by "
            f"{len(differences)} constants, not by one: they are of other operations; run again."
        )


def heap_broken(evidence: Evidence) -> Reasons:
    """The allocator damaged its own structures."""
    heap = evidence.log.first(HeapRecord)
    if heap and not heap.invariants_hold:
        yield "The heap's invariants are broken after the last operation; the allocator has a bug."

"""The rules that make a run inconclusive: all of it came, and it may not be believed.

Each rule looks at one thing. Whenever it finds that wrong, it yields a sentence: what happened and
what to do.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from base.run_folder.records import (
    Boot,
    EndRecord,
    FailRecord,
    HeapRecord,
    OperationRecord,
    PlanRecord,
    Proof,
    StatRecord,
)
from capture.joining.evidence import Evidence
from capture.joining.sweep import labels_cut_short, match_stimuli, swept_operations
from capture.reading.observed import ANSWERED
from capture.verdict import account, causes, claims, counts, instruments, latencies
from capture.verdict.counts import worst_row
from capture.verdict.course import due
from capture.verdict.truncated import Captured
from firmware.build import reset_causes
from scenarios.operations import decode


def unreadable_lines(evidence: Evidence) -> Iterator[str]:
    """Lines that are no records, whatever the reason."""
    damaged = evidence.log.damaged
    if damaged:
        first = damaged[0]
        yield (
            f"Lines of the serial log that cannot be read: {len(damaged)}, the first is line {first.number} "
            f"({first.why}); check the cable, lower baud in bench.toml if it recurs, and run again."
        )


def restarted(evidence: Evidence) -> Iterator[str]:
    """A second BOOT, PROOF or PLAN: the board was reset during the run.

    A start whose BOOT cannot be read leaves its PROOF and PLAN, perhaps before the first BOOT.
    """
    log = evidence.log
    starts = max(
        len(log.all(kind)) + sum(isinstance(record, kind) for record in log.earlier)
        for kind in (Boot, Proof, PlanRecord)
    )
    if starts > 1:
        told = [reset_causes.causes(boot.reset_flags, evidence.board.family) for boot in log.all(Boot)[1:]]
        last = next((cause for cause in reversed(told) if cause), ())
        by = f", the last by {' and '.join(last)}" if last else ""
        yield f"The board started {starts} times during the run{by}; check its power supply and run again."


def counts_of_other_operations(evidence: Evidence) -> Iterator[str]:
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


def firmware_failed(evidence: Evidence) -> Iterator[str]:
    """The firmware stopped by itself."""
    failure = evidence.log.first(FailRecord)
    if failure:
        yield f"The firmware stopped with FAIL {failure.reason} ({failure.detail}); search firmware/ for it."


def another_image_ran(evidence: Evidence) -> Iterator[str]:
    """The board ran other operations than were asked for."""
    plan_record = evidence.log.first(PlanRecord)
    if plan_record and plan_record.body_crc32 != evidence.plan.image_crc32:
        yield (
            f"The board ran the operation image {plan_record.body_crc32:08X} instead of "
            f"{evidence.plan.image_crc32:08X}; load the image again."
        )


def records_differ_from_plan(evidence: Evidence) -> Iterator[str]:
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


def windows_and_records_differ(evidence: Evidence) -> Iterator[str]:
    """The join rests on equal numbers. Where a side was cut short, another rule says so."""
    if evidence.wire.end_frame is None or evidence.log.first(EndRecord) is None:
        return
    windows, records = len(evidence.wire.windows), len(evidence.log.all(OperationRecord))
    planned = evidence.plan.operations.height
    if not windows == records == planned:
        yield (
            f"SYNC shows {windows} operations, the records tell of {records} and the plan has {planned}; "
            "check the SYNC clip and run again."
        )


def window_without_one_pulse(evidence: Evidence) -> Iterator[str]:
    """Each window holds exactly one whole OP pulse."""
    stray = evidence.joined.stray_windows
    if stray:
        yield (
            f"{len(stray)} windows on SYNC do not hold exactly one pulse on OP, the first is operation "
            f"{stray[0]}; check the OP clip and its ground."
        )


def wire_and_dwt_disagree(evidence: Evidence) -> Iterator[str]:
    """Wire and DWT tell of the same critical section, and may differ by their budget only."""
    operations = evidence.joined.operations.with_columns(
        allowed=pl.max_horizontal(pl.Series(evidence.joined.critical_pulses), 1) * evidence.tolerance_cycles
    )
    apart = operations.filter(pl.col("disagreement_cycles").abs() > pl.col("allowed"))
    if apart.height:
        worst = worst_row(apart, "disagreement_cycles")
        yield (
            f"Wire and DWT disagree on {apart.height} operations, at worst by "
            f"{worst['disagreement_cycles']:.2f} cycles ({worst['allowed']:.2f} allowed) in operation "
            f"{worst['seq']}; check the CRIT clip and the samplerate."
        )


def critical_section_unseen(evidence: Evidence) -> Iterator[str]:
    """DWT counted a critical section that CRIT does not show."""
    unseen = evidence.joined.operations.filter(
        pl.col("wire_critical_samples").is_null() & (pl.col("dwt_cycles") > 0)
    )
    if unseen.height:
        yield (
            f"{unseen.height} operations have a critical section in their record but none on CRIT, "
            f"the first is {unseen['seq'][0]}; check the CRIT clip."
        )


def section_in_pieces(evidence: Evidence) -> Iterator[str]:
    """An operation on the heap holds the lock once, so CRIT shows one pulse. Calls may do more."""
    once = evidence.joined.operations.with_columns(pulses=pl.Series(evidence.joined.critical_pulses)).filter(
        (pl.col("kind") != "K") & (pl.col("pulses") > 1)
    )
    if once.height:
        first = once.row(0, named=True)
        yield (
            f"{once.height} operations show more than one pulse on CRIT, the first is {first['seq']} with "
            f"{first['pulses']}; check the CRIT clip and its ground."
        )


def nothing_preempted(evidence: Evidence) -> Iterator[str]:
    """Interrupts that never fall into an operation say nothing of what it does to them."""
    stat = evidence.log.first(StatRecord)
    if stat and evidence.plan.stimulus.mode != "none" and stat.preempted_operations == 0:
        yield "No interrupt fell into any operation; choose another stimulus period."


def sweep_is_not_whole(evidence: Evidence) -> Iterator[str]:
    """A swept stimulus comes once for each operation that asks, and each curve is complete."""
    plan, joined = evidence.plan, evidence.joined
    if plan.stimulus.mode != "sweep" or evidence.wire.end_frame is None:
        return
    table = match_stimuli(plan, joined, evidence.wire.core_hz)
    if table is None:
        stimuli = joined.interrupts.filter(~pl.col("control")).height
        yield (
            f"{swept_operations(plan).height} operations asked for a swept stimulus and "
            f"{stimuli} edges came; "
            "check the STIM clip."
        )
    elif plan.stimulus.period_ticks == 0 and (short := labels_cut_short(table)):
        yield (
            f"The sweep ends before the operation does at {', '.join(short)}, so its maximum is not known; "
            "raise base_cycles or cycles_per_block."
        )


def waits_still_open(evidence: Evidence) -> Iterator[str]:
    """A run that came to its end has answered every stimulus."""
    wire = evidence.wire
    if wire.end_frame is None:
        return
    for stimulus, answer in ANSWERED:
        waits = wire.waits(stimulus, answer)
        if waits.open:
            lasted_us = (wire.until_end.total_samples - waits.open.since) * wire.edges.sample_ns / 1e3
            yield (
                f"A stimulus of {stimulus} was not answered by {answer} when the run ended, after "
                f"≥ {lasted_us:.2f} µs; check the {answer} clip, and see what keeps the answer."
            )


def heap_broken(evidence: Evidence) -> Iterator[str]:
    """The allocator damaged its own structures."""
    heap = evidence.log.first(HeapRecord)
    if heap and not heap.invariants_hold:
        yield "The heap's invariants are broken after the last operation; the allocator has a bug."


def tools_said_something_unexpected(evidence: Captured) -> Iterator[str]:
    """Some of sigrok's losses show in nothing but words on stderr."""
    yield from evidence.tools.oddities


RULES = (
    firmware_failed,
    counts_of_other_operations,
    restarted,
    unreadable_lines,
    another_image_ran,
    *claims.RULES,
    windows_and_records_differ,
    records_differ_from_plan,
    *account.RULES,
    window_without_one_pulse,
    *instruments.RULES,
    critical_section_unseen,
    section_in_pieces,
    wire_and_dwt_disagree,
    nothing_preempted,
    sweep_is_not_whole,
    waits_still_open,
    *causes.RULES,
    *counts.RULES,
    *latencies.RULES,
    heap_broken,
    tools_said_something_unexpected,
)

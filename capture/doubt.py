"""The rules that make a run inconclusive: all came, and it may not be believed.

Each looks at one thing and yields a sentence for each time it finds it wrong: what happened and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from capture.evidence import Evidence
from capture.records import (
    Boot,
    CalibrationRecord,
    CostRecord,
    EndRecord,
    FailRecord,
    HeapRecord,
    OperationRecord,
    PlanRecord,
    Proof,
    StatRecord,
    TickRecord,
)
from capture.skew import whole
from capture.wire import COMMON_CHANNELS, COMMON_PULSES, SECTIONS_PER_END

# DWT and TIM5 run from the same clock and are read one after the other: they may differ by the reads.
PROOF_SLACK_CYCLES = 100
# Quantisation leaves less than one sample between a frame's edges and the fit through them.
STEADY_CLOCK_SAMPLES = 1.0


def checksum_failure(evidence: Evidence) -> Iterator[str]:
    """A line that is no record, whatever the reason."""
    damaged = evidence.log.damaged
    if damaged:
        first = damaged[0]
        yield (
            f"Lines of the serial log that cannot be read: {len(damaged)}, the first is line {first.number} "
            f"({first.why}); check the cable and the baud rate, then run again."
        )


def restarted(evidence: Evidence) -> Iterator[str]:
    """A second BOOT: the board was reset during the run."""
    boots = len(evidence.log.all(Boot))
    if boots > 1:
        yield f"The board started {boots} times during the run; check its power supply and run again."


def miscounted(evidence: Evidence) -> Iterator[str]:
    """A window of the virtual board's counts that is another operation's: its width is not the record's."""
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


def another_image(evidence: Evidence) -> Iterator[str]:
    """The board ran other operations than were asked for."""
    found = evidence.log.first(PlanRecord)
    if found and found.body_crc32 != evidence.plan.image_crc32:
        yield (
            f"The board ran the operation image {found.body_crc32:08X} instead of "
            f"{evidence.plan.image_crc32:08X}; load the image again."
        )


def records_differ_from_plan(evidence: Evidence) -> Iterator[str]:
    """An allocation answers an allocation, a free a free, and each of the size that was asked."""
    asked = evidence.plan.operations.select("seq", "size", allocation=pl.col("kind") == "A")
    told = evidence.joined.operations.select("seq", told="size", answer=pl.col("kind").is_in(["A", "O"]))
    both = told.join(asked, on="seq", how="left")
    wrong = both.filter((pl.col("answer") != pl.col("allocation")) | (pl.col("told") != pl.col("size")))
    if wrong.height:
        yield (
            f"{wrong.height} records tell of another operation than the plan has there, the first is number "
            f"{wrong['seq'][0]}; load the image again."
        )


def windows_and_records_differ(evidence: Evidence) -> Iterator[str]:
    """The join rests on equal numbers; where a side was cut short, that is said already."""
    if evidence.wire.end_frame is None or evidence.log.first(EndRecord) is None:
        return
    windows, records = len(evidence.wire.operations), len(evidence.log.all(OperationRecord))
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


def not_calibrated(evidence: Evidence) -> Iterator[str]:
    """Without the markers' cost wire and DWT cannot be compared."""
    wire, joined = evidence.wire, evidence.joined
    ends = (
        ("start", wire.start_frame, wire.opening, 0),
        ("end", wire.end_frame, wire.closing, SECTIONS_PER_END),
    )
    for channel, cost in (("CRIT", joined.critical_cost), ("OP", joined.operation_cost)):
        for name, frame, seen, first in ends:
            told = [r for r in evidence.log.all(CalibrationRecord) if r.channel == channel]
            records = sum(first <= record.index < first + SECTIONS_PER_END for record in told)
            pulses = len(seen.sections[channel].start)
            if frame is not None and not pulses == records == SECTIONS_PER_END:
                yield (
                    f"At the {name} {channel} shows {pulses} calibration pulses and {records} of their "
                    f"records arrived, {SECTIONS_PER_END} of each are due; check the {channel} clip."
                )
        if cost is not None and cost.worst_residual_cycles > evidence.tolerance_cycles:
            yield (
                f"The calibration pulses on {channel} lie up to {cost.worst_residual_cycles:.2f} cycles from "
                f"a common marker cost ({evidence.tolerance_cycles:.2f} allowed); check the {channel} clip."
            )


def channels_apart(evidence: Evidence) -> Iterator[str]:
    """Each channel shows the pulses that all have in common; one that does not is not what its name says."""
    wire = evidence.wire
    ends = (("start", wire.start_frame, wire.opening), ("end", wire.end_frame, wire.closing))
    for name, frame, seen in ends:
        lacking = [channel for channel in COMMON_CHANNELS if not whole(seen, channel)]
        if frame is not None and lacking:
            yield (
                f"At the {name} the {COMMON_PULSES} pulses that all channels show at once are not on "
                f"{', '.join(lacking)}; check the clip."
            )


def counter_and_frames_disagree(evidence: Evidence) -> Iterator[str]:
    """A timer and DWT, both against the analyzer: two ways to the same ratio of clocks."""
    clock, counter = evidence.wire.clock, evidence.joined.counter
    if clock is None or counter is None:
        return
    apart, allowed = abs(clock.ratio - counter.ratio), clock.ratio_uncertainty + counter.ratio_uncertainty
    if apart > allowed:
        yield (
            f"The analyzer runs {clock.ratio:.7f} times as fast as named by the frames and "
            f"{counter.ratio:.7f} times by DWT ({allowed * 1e6:.1f} ppm apart allowed); "
            "use a steadier analyzer or check the clock."
        )


def not_budgeted(evidence: Evidence) -> Iterator[str]:
    """What an instrument costs is told by the firmware alone."""
    if evidence.log.first(EndRecord) is None:
        return
    costs, ticks = len(evidence.log.all(CostRecord)), len(evidence.log.all(TickRecord))
    if (costs, ticks) != (4, 2):
        yield (
            f"{costs} of 4 COST records and {ticks} of 2 TICK records arrived, so the error budget or the "
            "ticks are not known; check the serial line and run again."
        )


def wire_and_dwt_disagree(evidence: Evidence) -> Iterator[str]:
    """The two witnesses of the critical section contradict each other."""
    operations = evidence.joined.operations.with_columns(
        allowed=pl.max_horizontal(pl.Series(evidence.joined.critical_pulses), 1) * evidence.tolerance_cycles
    )
    apart = operations.filter(pl.col("disagreement_cycles").abs() > pl.col("allowed"))
    if apart.height:
        worst = apart.row(apart["disagreement_cycles"].abs().arg_max() or 0, named=True)
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


def unsteady_clock(evidence: Evidence) -> Iterator[str]:
    """The frames come from a timer: whatever remains beside the fit is the analyzer's."""
    clock = evidence.wire.clock
    if clock and clock.residual_max_samples > STEADY_CLOCK_SAMPLES:
        yield (
            f"The frames' edges lie up to {clock.residual_max_samples:.2f} samples from a steady clock; "
            "use a better analyzer or a lower samplerate."
        )


def dwt_not_proven(evidence: Evidence) -> Iterator[str]:
    """The cycle counter is evidence only where a timer confirms that it counts."""
    proof = evidence.log.first(Proof)
    if proof is None:
        if evidence.log.first(Boot):
            yield "No PROOF record says that DWT counts; check the serial line and run again."
        return
    if not proof.timer_ticks or abs(proof.dwt_cycles - proof.timer_ticks) > PROOF_SLACK_CYCLES:
        yield (
            f"DWT counted {proof.dwt_cycles} cycles while TIM5 counted {proof.timer_ticks}: it is not proven "
            "to count; disconnect the debugger and run again."
        )


def nothing_preempted(evidence: Evidence) -> Iterator[str]:
    """Interrupts that never fall into an operation say nothing of its effect on them."""
    stat = evidence.log.first(StatRecord)
    if stat and evidence.plan.stimulus.mode != "none" and stat.preempted_operations == 0:
        yield "No interrupt fell into any operation; choose another stimulus period."


def interrupts_differ(evidence: Evidence) -> Iterator[str]:
    """The handlers' own counts against the answers on the wire."""
    stat = evidence.log.first(StatRecord)
    if stat is None or evidence.wire.end_frame is None:
        return
    for control, entries, channel in ((False, stat.isr_entries, "ISR"), (True, stat.control_entries, "CISR")):
        of_class = evidence.joined.interrupts.filter(pl.col("control") == control)
        answered = of_class["isr_latency_ns"].count()
        if answered != entries:
            yield (
                f"The firmware counted {entries} interrupts, {channel} answers {answered} of "
                f"{of_class.height} stimuli; check the {channel} clip."
            )


def heap_broken(evidence: Evidence) -> Iterator[str]:
    """The allocator damaged its own structures."""
    heap = evidence.log.first(HeapRecord)
    if heap and not heap.invariants_hold:
        yield "The heap's invariants are broken after the last operation; the allocator has a bug."


def unexpected_words(evidence: Evidence) -> Iterator[str]:
    """Words on stderr are the only sign of some of sigrok's losses."""
    yield from evidence.tools.oddities


RULES = (
    firmware_failed,
    miscounted,
    restarted,
    checksum_failure,
    another_image,
    windows_and_records_differ,
    records_differ_from_plan,
    window_without_one_pulse,
    not_calibrated,
    channels_apart,
    not_budgeted,
    counter_and_frames_disagree,
    critical_section_unseen,
    wire_and_dwt_disagree,
    unsteady_clock,
    dwt_not_proven,
    nothing_preempted,
    interrupts_differ,
    heap_broken,
    unexpected_words,
)

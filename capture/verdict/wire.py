"""The rules on what the wire tells, and on what wire, records and plan all tell: of operations and
their critical sections, of what the handlers counted, of answers and their causes, of latencies.

The records count over the whole run only, so the counts are compared over the whole run. What one
operation took and met its record tells; of the rest of the run, the least and the greatest latency.
Each rule looks at one thing. Whenever it finds that wrong, it yields a sentence: what happened and
what to do. capture/verdict/verdict.py lists them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from polars import col

from base.run_folder.records import (
    HEAP_NOT_CALLED,
    OperationRecord,
    StatRecord,
)
from capture.instruments.calibration import skew_between
from capture.joining.evidence import Evidence, Reasons, worst_row
from capture.joining.latencies import NEAR_SAMPLES
from capture.joining.sweep import labels_cut_short, match_stimuli, swept_operations
from capture.reading.observed import ANSWERED
from capture.reading.vectorised import high_within, late_samples, level_at, waits
from capture.reading.wire import Wire

# A half cycle off in the median of so many widths is no chance.
_MANY, _HALF_A_CYCLE = 16, 0.5


def at_least_to_most(least: int, most: int) -> str:
    """`3` where both are 3, `3 to 5` otherwise."""
    return str(least) if least == most else f"{least} to {most}"


def handlers_and_pulses_differ(evidence: Evidence) -> Reasons:
    """Each entry of a handler, and each waking of the task, is one pulse: no more and no fewer. A
    handler counts an operation as preempted where it finds OP high, and so does the wire.
    """
    stat, wire = evidence.log.first(StatRecord), evidence.wire
    if stat is None or wire.end_frame is None:
        return
    for channel, entries, what in (
        ("ISR", stat.isr_entries, "interrupts"),
        ("TASK", stat.task_wakes, "wakings of the task"),
        ("CISR", stat.control_entries, "control interrupts"),
    ):
        pulses = len(wire.rises_of(channel))
        if pulses != entries:
            yield (
                f"The firmware counted {entries} {what}, {channel} shows {pulses} pulses; "
                f"check the {channel} clip."
            )
    least, most = preempted_operations(wire)
    if not least <= stat.preempted_operations <= most:
        yield (
            f"The firmware counted {stat.preempted_operations} preempted operations, the wire shows "
            f"{at_least_to_most(least, most)}; check the clips of ISR and OP."
        )


def preempted_operations(wire: Wire) -> tuple[int, int]:
    """How many rises of ISR fell into a pulse of OP: at least, and at most."""
    rises, operation = wire.rises_of("ISR"), wire.until_end.transitions("OP").sample
    within = level_at(wire.until_end, "OP", rises)
    near = np.searchsorted(operation, rises + NEAR_SAMPLES, "right") > np.searchsorted(
        operation, rises - NEAR_SAMPLES, "left"
    )
    return int(np.count_nonzero(within & ~near)), int(np.count_nonzero(within | near))


def _widths(evidence: Evidence) -> Iterator[tuple[str, pl.DataFrame]]:
    """What CRIT and OP tell of the operations, beside DWT: `apart` is what the channel tells more,
    in cycles without what the markers of its `pulses` cost, and `allowed` how far that may be from
    0. Where the heap was not called the record tells of no cycles.
    """
    joined, operations = evidence.joined, evidence.joined.operations
    pulses = joined.critical_pulses
    yield (
        "CRIT",
        operations.with_columns(
            apart=col.disagreement_cycles,
            cycles=col.dwt_cycles,
            pulses=pulses,
            allowed=pl.max_horizontal(pulses, 1) * evidence.tolerance_cycles,
        ),
    )
    if joined.operation_cost is not None:
        cycles = col.dwt_operation_cycles
        wire_cycles = col.wire_operation_samples / evidence.wire.samples_per_cycle
        yield (
            "OP",
            operations.filter(~col.kind.is_in(HEAP_NOT_CALLED)).with_columns(
                apart=wire_cycles - joined.operation_cost.wire_minus_dwt_cycles - cycles,
                cycles=cycles,
                pulses=pl.lit(1),
                allowed=evidence.agreement_cycles + evidence.clock_uncertainty * cycles,
            ),
        )


def wire_and_dwt_disagree(evidence: Evidence) -> Reasons:
    """Wire and DWT tell of the same section and of the same operation, and may differ by their
    budget only.
    """
    for channel, table in _widths(evidence):
        wrong = table.filter(col.apart.abs() > col.allowed)
        if wrong.height:
            worst = worst_row(wrong, "apart")
            yield (
                f"{channel} and DWT disagree on {wrong.height} operations, at worst by {worst['apart']:.2f} "
                f"cycles ({worst['allowed']:.2f} allowed) in operation {worst['seq']}; check the {channel} "
                "clip and the samplerate."
            )


def wire_and_dwt_differ_throughout(evidence: Evidence) -> Reasons:
    """A width is off by a sample to either side, which comes to nothing in the median of many.

    At or above the core clock the marker cost is exact, so a whole cycle in the median is an error
    of the calibration, or of each record.
    """
    if evidence.wire.edges.samplerate_hz < evidence.wire.core_hz:
        return
    for channel, table in _widths(evidence):
        single = table.filter(col.pulses == 1).select(col("apart", "cycles").cast(pl.Float64))
        (median, length), count = single.median().row(0), single["apart"].count()
        if count < _MANY or length is None:
            continue
        of_clock = evidence.clock_uncertainty * length
        if _HALF_A_CYCLE + of_clock < abs(median) <= evidence.agreement_cycles + of_clock:
            yield (
                f"{channel} and DWT differ by {median:.2f} cycles in the median of {count} pulses "
                f"({_HALF_A_CYCLE + of_clock:.2f} allowed): calibration or records are off; run again."
            )


# Of each answer, the channel of what caused it. A cause that comes while another still waits is
# answered together with it, so there may be more causes than answers.
_CAUSES = (("ISR", "STIM"), ("TASK", "ISR"), ("CISR", "CTRL"))

# Two edges are each seen up to a sample late, and so is the line that they are held against.
_QUANTISED_SAMPLES = 1.25
# How long before the timer's start an interrupt may have begun that holds up SYNC.
_BEFORE_CYCLES = 200


def answers_without_a_cause(evidence: Evidence) -> Reasons:
    """Between two answers there is a cause of the second, and before the first one of the first."""
    if evidence.wire.end_frame is None:
        return
    for answer, cause in _CAUSES:
        answers = evidence.wire.rises_of(answer)
        causes = evidence.wire.rises_of(cause) if cause == "ISR" else evidence.wire.edges_of(cause)
        wrong = waits(causes, answers, late_samples(answer, evidence.edges.samplerate_hz)).unasked
        if len(wrong):
            yield (
                f"{answer} rises at sample {wrong[0]:,} and {cause} shows nothing that it could answer "
                f"({len(wrong)} of {len(answers)} so); check the clips of {answer} and {cause}."
            )


def swept_edges_off_their_offsets(evidence: Evidence) -> Reasons:
    """A swept edge comes its offset after the timer's start, and so does SYNC after a few cycles.

    An interrupt in between holds up SYNC, never the edge.
    """
    wire, plan = evidence.wire, evidence.plan
    table = swept_operations(plan)
    stimuli = wire.edges_of("STIM")
    sync = wire.windows.start
    if plan.stimulus.mode != "sweep" or len(sync) != plan.operations.height or len(stimuli) != table.height:
        return
    starts = sync[table["seq"].to_numpy()]
    offset = table["offset"].to_numpy() * wire.samples_per_cycle
    apart = stimuli - starts - offset
    off = apart - np.median(apart)
    # From the start of the timer to SYNC's edge the same instructions run for each operation. What
    # they take differs by a flash line that the cache still holds or not, and by where the timer's
    # bus is in its cycle.
    clock = evidence.board.clock
    jitter_cycles = clock.wait_states + clock.apb1_divider - 1
    allowed = _QUANTISED_SAMPLES + jitter_cycles * wire.samples_per_cycle
    # Whether an interrupt may have run between the timer's start and SYNC's edge.
    first = np.floor(stimuli - offset - _BEFORE_CYCLES * wire.samples_per_cycle).astype(np.int64)
    first = np.minimum(first, starts)
    held_up = high_within(wire.until_end, "CISR", first, starts)
    held_up |= high_within(wire.until_end, "ISR", first, starts)
    if evidence.joined.ticks is not None:
        held_up |= evidence.joined.ticks.handler_may_run(first, starts)
    held_up &= off < 0
    wrong = np.flatnonzero((np.abs(off) > allowed) & ~held_up)
    if len(wrong):
        worst = wrong[np.argmax(np.abs(off[wrong]))]
        yield (
            f"STIM's edge at sample {stimuli[worst]:,} is {abs(off[worst]):,.1f} samples off its offset from "
            f"operation {table['seq'][int(worst)]} ({len(wrong)} of {len(stimuli)} so): samples were lost, "
            "doubled or changed; run again, slower if it recurs."
        )


def no_start_frame(evidence: Evidence) -> Reasons:
    """Without a start frame no operation can be numbered."""
    if evidence.wire.start_frame is None:
        yield "SYNC shows no start frame; check that channel 7 is on PB4 and that the firmware ran."


def no_end_frame(evidence: Evidence) -> Reasons:
    """The capture ended before the run did, or the firmware stopped."""
    if evidence.wire.end_frame is None:
        yield "SYNC shows no end frame; run again with a longer capture if the firmware did end (END record)."


def windows_and_records_differ(evidence: Evidence) -> Reasons:
    """The join rests on equal numbers. Where a side was cut short, another rule says so."""
    if evidence.wire.end_frame is None or evidence.end is None:
        return
    windows, records = len(evidence.wire.windows), len(evidence.log.all(OperationRecord))
    planned = evidence.plan.operations.height
    if not windows == records == planned:
        yield (
            f"SYNC shows {windows} operations, the records tell of {records} and the plan has {planned}; "
            "check the SYNC clip and run again."
        )


def window_without_one_pulse(evidence: Evidence) -> Reasons:
    """Each window holds exactly one whole OP pulse."""
    if stray := evidence.joined.stray_windows:
        yield (
            f"{len(stray)} windows on SYNC do not hold exactly one pulse on OP, the first is operation "
            f"{stray[0]}; check the OP clip and its ground."
        )


def another_number_of_sections(evidence: Evidence) -> Reasons:
    """An operation on the heap holds the lock once, so CRIT shows one pulse; calls may do more.
    What DWT counted must be there.
    """
    operations = evidence.joined.operations.with_columns(pulses=evidence.joined.critical_pulses)
    unseen = col.wire_critical_samples.is_null() & (col.dwt_cycles > 0)
    wrong = operations.filter(unseen | ((col.kind != "K") & (col.pulses > 1)))
    if wrong.height:
        first = wrong.row(0, named=True)
        yield (
            f"{wrong.height} operations show another number of pulses on CRIT than one, the first is "
            f"{first['seq']} with {first['pulses']}; check the CRIT clip and its ground."
        )


def nothing_preempted(evidence: Evidence) -> Reasons:
    """Interrupts that never fall into an operation say nothing of what it does to them."""
    stat = evidence.log.first(StatRecord)
    if stat and evidence.plan.stimulus.mode != "none" and stat.preempted_operations == 0:
        yield "No interrupt fell into any operation; choose another stimulus period."


def sweep_is_not_whole(evidence: Evidence) -> Reasons:
    """A swept stimulus comes once for each operation that asks, and each curve is complete."""
    plan, joined = evidence.plan, evidence.joined
    if plan.stimulus.mode != "sweep" or evidence.wire.end_frame is None:
        return
    table = match_stimuli(plan, joined, evidence.wire.core_hz)
    if table is None:
        stimuli = joined.interrupts.filter(~col.control).height
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


def waits_still_open(evidence: Evidence) -> Reasons:
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


def answers_of_operations_differ(evidence: Evidence) -> Reasons:
    """The answers that met an operation are as many in its record as on the wire."""
    for witness in evidence.latencies:
        counted = col.number.is_between("least_number", "most_number")
        wrong = witness.operations.filter(~counted & col.whole)
        if wrong.height:
            first, answer = wrong.row(0, named=True), witness.of.channels[1]
            yield (
                f"Of {wrong.height} operations records and {answer} tell of other numbers of answers, the "
                f"first is operation {first['seq']}: {first['number']} recorded, "
                f"{at_least_to_most(first['least_number'], first['most_number'])} on the wire; "
                f"check the clips of {answer} and OP."
            )


def wire_and_timer_disagree(evidence: Evidence) -> Reasons:
    """The ticks that a handler read go with the latency on the wire, but for one constant."""
    for witness in evidence.latencies:
        wrong = witness.compared.filter(col.apart_cycles.abs() > col.allowed_cycles)
        if wrong.height:
            stimulus, answer = witness.of.channels
            worst = worst_row(wrong, "apart_cycles")
            yield (
                f"{stimulus} to {answer} and the timer's counter disagree on {wrong.height} operations, at "
                f"worst by {worst['apart_cycles']:.2f} cycles an answer ({worst['allowed_cycles']:.2f} "
                f"allowed) in operation {worst['seq']}; check the clips of {stimulus} and {answer}."
            )


def timer_offset_is_no_distance(evidence: Evidence) -> Reasons:
    """The constant is the way from a pin's rise to the read, which COST measured."""
    for witness in evidence.latencies:
        offset, bounds = witness.offset, witness.offset_bounds_cycles
        if offset is None or bounds is None:
            continue
        if not bounds[0] <= offset.cycles <= bounds[1]:
            stimulus, answer = witness.of.channels
            yield (
                f"The timer tells {offset.cycles:.2f} cycles more than the wire from {stimulus} to {answer}, "
                f"and {bounds[0]:.2f} to {bounds[1]:.2f} can lie between a pin and its read; "
                f"check the clips of {stimulus} and {answer}."
            )


def channel_late_outside_the_calibration(evidence: Evidence) -> Reasons:
    """Handlers read the timer in the same way behind their pins, and the task nearly so: one whose
    reading is another was seen late or early all along, but not in the calibration.
    """
    wire = evidence.wire
    for witness in evidence.latencies:
        offset, others = witness.offset, witness.offset_of_others
        skew = skew_between(wire, *witness.of.channels)
        if offset is None or others is None or skew is None:
            continue
        # Each of the two is known to its channels' skew, and a little more.
        slack = 2 * (skew.bound / wire.samples_per_cycle + offset.uncertainty_cycles)
        if not others[0] - slack <= offset.cycles <= others[1] + slack:
            stimulus, answer = witness.of.channels
            yield (
                f"From {stimulus} to {answer} the timer tells {offset.cycles:.2f} cycles more than the wire, "
                f"and {others[0]:.2f} to {others[1]:.2f} of another interrupt: one of these channels is seen "
                "late or early, but not in the calibration; check its clip and threshold, and run again."
            )


def latencies_between_operations_differ(evidence: Evidence) -> Reasons:
    """The least and the greatest latency of the answers
    that met no operation are those of the wire.
    """
    if evidence.wire.end_frame is None or evidence.end is None:
        return
    for witness in evidence.latencies:
        stimulus, answer = witness.of.channels
        between = witness.between
        for name, ticks, allowed in (
            ("least", between.least_ticks if between else None, witness.between_least),
            ("greatest", between.most_ticks if between else None, witness.between_most),
        ):
            if allowed is None or (ticks is not None and allowed[0] <= ticks <= allowed[1]):
                continue
            said = "no latency" if ticks is None else f"{ticks} ticks as the {name} latency"
            yield (
                f"Between operations the timer tells {said} from {stimulus} to {answer}, the wire "
                f"{allowed[0]:.1f} to {allowed[1]:.1f}; check the clips of {stimulus} and {answer}."
            )

"""The rules on the latencies, which wire and stimulus timers both tell.

What one operation met its record tells; of the rest of the run, the least and the greatest latency.
They belong to the rules of capture/verdict/inconclusive.py and are made like them.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from base.run_folder.records import EndRecord
from capture.instruments.calibration import skew_between
from capture.joining.evidence import Evidence
from capture.verdict.counts import at_least_to_most, worst_row


def answers_of_operations_differ(evidence: Evidence) -> Iterator[str]:
    """The answers that met an operation are as many in its record as on the wire."""
    for witness in evidence.latencies:
        counted = pl.col("number").is_between("least_number", "most_number")
        wrong = witness.operations.filter(~counted & pl.col("whole"))
        if wrong.height:
            first, answer = wrong.row(0, named=True), witness.of.channels[1]
            yield (
                f"Of {wrong.height} operations records and {answer} tell of other numbers of answers, the "
                f"first is operation {first['seq']}: {first['number']} recorded, "
                f"{at_least_to_most(first['least_number'], first['most_number'])} on the wire; "
                f"check the clips of {answer} and OP."
            )


def wire_and_timer_disagree(evidence: Evidence) -> Iterator[str]:
    """The ticks that a handler read go with the latency on the wire, but for one constant."""
    for witness in evidence.latencies:
        wrong = witness.compared.filter(pl.col("apart_cycles").abs() > pl.col("allowed_cycles"))
        if wrong.height:
            stimulus, answer = witness.of.channels
            worst = worst_row(wrong, "apart_cycles")
            yield (
                f"{stimulus} to {answer} and the timer's counter disagree on {wrong.height} operations, at "
                f"worst by {worst['apart_cycles']:.2f} cycles an answer ({worst['allowed_cycles']:.2f} "
                f"allowed) in operation {worst['seq']}; check the clips of {stimulus} and {answer}."
            )


def timer_offset_is_no_distance(evidence: Evidence) -> Iterator[str]:
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


def channel_late_outside_the_calibration(evidence: Evidence) -> Iterator[str]:
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


def latencies_between_operations_differ(evidence: Evidence) -> Iterator[str]:
    """The least and the greatest latency of the answers
    that met no operation are those of the wire.
    """
    if evidence.wire.end_frame is None or evidence.log.first(EndRecord) is None:
        return
    for witness in evidence.latencies:
        stimulus, answer = witness.of.channels
        least, most = (
            (witness.between.least_ticks, witness.between.most_ticks) if witness.between else (None, None)
        )
        ends = (("least", least, witness.between_least), ("greatest", most, witness.between_most))
        for name, offset, allowed in ends:
            if allowed is None or (offset is not None and allowed[0] <= offset <= allowed[1]):
                continue
            said = "no latency" if offset is None else f"{offset} ticks as the {name} latency"
            yield (
                f"Between operations the timer tells {said} from {stimulus} to {answer}, the wire "
                f"{allowed[0]:.1f} to {allowed[1]:.1f}; check the clips of {stimulus} and {answer}."
            )


RULES = (
    answers_of_operations_differ,
    wire_and_timer_disagree,
    timer_offset_is_no_distance,
    channel_late_outside_the_calibration,
    latencies_between_operations_differ,
)

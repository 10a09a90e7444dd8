"""The rules on the bench's own instruments: an analyzer, markers or counter that may not be trusted.

As the rules of capture/verdict/inconclusive.py, of which they are a part.
"""

from __future__ import annotations

from collections.abc import Iterator

from capture.instruments.skew import whole
from capture.joining.evidence import Evidence
from capture.reading.wire import COMMON_CHANNELS, COMMON_PULSES, SECTIONS_PER_END
from capture.run_folder.records import Boot, CalibrationRecord, CostRecord, EndRecord, Proof, TickRecord

# DWT and TIM5 run from the same clock and are read one after the other: they may differ by the reads.
PROOF_SLACK_CYCLES = 100
# Quantisation leaves less than one sample between a frame's edges and the fit through them.
STEADY_CLOCK_SAMPLES = 1.0


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


RULES = (
    not_calibrated,
    channels_apart,
    not_budgeted,
    unsteady_clock,
    counter_and_frames_disagree,
    dwt_not_proven,
)

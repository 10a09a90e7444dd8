"""The rules on the bench's instruments: may analyzer, markers and counter be trusted?

Each rule looks at one thing. Whenever it finds that wrong, it yields a sentence: what happened and
what to do. capture/verdict/verdict.py lists them.
"""

from __future__ import annotations

import numpy as np

from base.run_folder.edges import Samples
from base.run_folder.records import (
    COST_INSTRUMENTS,
    INTERNAL_CLOCK,
    CalibrationRecord,
    CostRecord,
    Proof,
    StillRecord,
    TickRecord,
)
from capture.instruments import timers
from capture.joining.evidence import Evidence, Reasons
from capture.reading.wire import COMMON_CHANNELS, COMMON_PULSES, SECTIONS_PER_END, Calibration, Wire

# The cycle counter and its witness run from the same clock. They are read one after the other, and
# so differ by the reads.
PROOF_SLACK_CYCLES = 100
# Quantisation leaves less than one sample between a frame's edges and the fit through them.
STEADY_CLOCK_SAMPLES = 1.0
# Two crystals and a divider are apart by parts in 10,000; ceramic resonators by more.
CRYSTALS_APART = 0.001
# Edges of a board fall on any sample. So many on one of `every` samples are not by chance.
GRID_MOST, GRID_EDGES, GRID_SHARE = 16, 100, 0.98
# One at either end; and as many of COST, by instrument.
TICK_RECORDS = 2
TICK_HZ = 1000
"""configTICK_RATE_HZ of firmware/kernel/FreeRTOSConfig.h."""


def not_calibrated(evidence: Evidence) -> Reasons:
    """Without the markers' cost wire and DWT cannot be compared."""
    joined, allowed = evidence.joined, evidence.tolerance_cycles
    for channel, cost in (("CRIT", joined.critical_cost), ("OP", joined.operation_cost)):
        of_channel = [record for record in evidence.log.all(CalibrationRecord) if record.channel == channel]
        for number, (name, frame, seen) in enumerate(_ends(evidence.wire)):
            records = sum(record.index // SECTIONS_PER_END == number for record in of_channel)
            pulses = len(seen.sections[channel])
            if frame is not None and not pulses == records == SECTIONS_PER_END:
                yield (
                    f"At the {name} {channel} shows {pulses} calibration pulses and {records} of their "
                    f"records arrived, {SECTIONS_PER_END} of each are due; check the {channel} clip."
                )
        if cost is not None and cost.worst_residual_cycles > allowed:
            yield (
                f"The calibration pulses on {channel} lie up to {cost.worst_residual_cycles:.2f} cycles "
                f"from a common marker cost ({allowed:.2f} allowed); check the {channel} clip."
            )


def common_pulses_missing(evidence: Evidence) -> Reasons:
    """Each channel must show the common pulses. One that does not is not what its name says."""
    for name, frame, seen in _ends(evidence.wire):
        lacking = [channel for channel in COMMON_CHANNELS if not seen.has_common(channel)]
        if frame is not None and lacking:
            yield (
                f"At the {name} the {COMMON_PULSES} pulses that all channels show at once are not on "
                f"{', '.join(lacking)}; check the clip."
            )


def _ends(wire: Wire) -> tuple[tuple[str, Samples | None, Calibration], ...]:
    """Both ends of a run: what a sentence calls it, its frame and its calibration pulses."""
    return ("start", wire.start_frame, wire.opening), ("end", wire.end_frame, wire.closing)


def counter_and_frames_disagree(evidence: Evidence) -> Reasons:
    """A timer and DWT tell the same ratio of the clocks, each compared with the analyzer."""
    clock, counter, joined = evidence.wire.clock, evidence.joined.counter, evidence.joined
    if clock and joined.critical_cost and joined.operation_cost and counter is None:
        yield (
            "CYCCNT in the calibration records does not go with the pulses on the wire; "
            "check the serial line and run again."
        )
    if clock is None or counter is None:
        return
    apart, allowed = abs(clock.ratio - counter.ratio), clock.ratio_uncertainty + counter.ratio_uncertainty
    if apart > allowed:
        yield (
            f"The analyzer runs {clock.ratio:.7f} times as fast as named by the frames and "
            f"{counter.ratio:.7f} times by {evidence.board.counter} ({allowed * 1e6:.1f} ppm apart allowed); "
            "use a steadier analyzer or check the clock."
        )


def cost_or_tick_records_missing(evidence: Evidence) -> Reasons:
    """Only the firmware tells what an instrument costs, and when the tick is."""
    if evidence.end is None:
        return
    instruments = len(COST_INSTRUMENTS)
    costs, ticks = len(evidence.log.all(CostRecord)), len(evidence.log.all(TickRecord))
    if (costs, ticks) != (2 * instruments, TICK_RECORDS):
        yield (
            f"{costs} of {2 * instruments} COST records and {ticks} of {TICK_RECORDS} TICK records arrived, "
            "so the error budget or the ticks are not known; check the serial line and run again."
        )


def another_tick(evidence: Evidence) -> Reasons:
    """Both TICK records tell the period that the kernel has at the core's clock."""
    boot = evidence.boot
    if boot is None or boot.clock == INTERNAL_CLOCK:
        return
    due = boot.core_hz // TICK_HZ
    wrong = [tick.period_cycles for tick in evidence.log.all(TickRecord) if tick.period_cycles != due]
    if wrong:
        yield (
            f"TICK tells a period of {wrong[0]:,} cycles, and {TICK_HZ:,} ticks a second are {due:,} at the "
            "core's clock: what a tick may have delayed is not known; build and load the firmware again."
        )


def unsteady_clock(evidence: Evidence) -> Reasons:
    """The frames come from a timer, so what the fit leaves over is the analyzer's error."""
    clock = evidence.wire.clock
    if clock and clock.residual_max_samples > STEADY_CLOCK_SAMPLES:
        yield (
            f"The frames' edges lie up to {clock.residual_max_samples:.2f} samples from a steady clock; "
            "use a better analyzer or a lower samplerate."
        )


def clock_no_crystal_has(evidence: Evidence) -> Reasons:
    """No time is corrected by the ratio of the clocks, so a wrong samplerate is a wrong time."""
    clock, allowed = evidence.wire.clock, CRYSTALS_APART + evidence.wire.core_tolerance
    if clock and abs(clock.ratio - 1) - clock.ratio_uncertainty > allowed:
        yield (
            f"The analyzer runs {clock.ratio:.4f} times as fast as its samplerate says, which two "
            f"{'crystals' if not evidence.wire.core_tolerance else 'such clocks'} "
            f"cannot (±{allowed:.1%} allowed): the samplerate or the core's clock is not what was "
            "told. Give the true samplerate, or check the board's clock."
        )


def coarser_than_told(evidence: Evidence) -> Reasons:
    """An analyzer that repeats each sample has not the resolution that its samplerate promises."""
    edges, cycle = evidence.edges, evidence.wire.samples_per_cycle_nominal
    seen = edges.sample[1:]
    if len(seen) < GRID_EDGES:
        return
    for every in range(GRID_MOST, 1, -1):
        on_grid = np.bincount(seen % every).max() / len(seen)
        if every > cycle and on_grid >= GRID_SHARE:
            rate = edges.samplerate_hz / every
            yield (
                f"{on_grid:.1%} of the edges lie on one of every {every} samples: the analyzer samples at "
                f"{rate / 1e6:g} MHz and repeats what it saw. Give samplerate {rate / 1e6:g} MHz, or check "
                "the analyzer."
            )
            return


def dwt_not_proven(evidence: Evidence) -> Reasons:
    """The cycle counter is evidence only if a timer confirms that it counts: at the start, and at
    the end, since a debugger that leaves may have stopped it for good behind the first proof.
    """
    log, board = evidence.log, evidence.board
    for proof, name, is_due, where in (
        (log.first(Proof), "PROOF", evidence.boot, "At the start"),
        (log.first(StillRecord), "STILL", evidence.end, "At the end"),
    ):
        if proof is None and is_due:
            yield f"No {name} record says that {board.counter} counts; check the serial line and run again."
        elif proof is not None and (
            not proof.timer_ticks or abs(proof.dwt_cycles - proof.timer_ticks) > PROOF_SLACK_CYCLES
        ):
            yield (
                f"{where} {board.counter} counted {proof.dwt_cycles} cycles while {board.witness} counted "
                f"{proof.timer_ticks}: it is not proven to count; disconnect the debugger and run again."
            )


def timers_leave_their_line(evidence: Evidence) -> Reasons:
    """STIM and CTRL are moved by timers: an edge that is not where it
    is due was not the timer's.
    """
    wire = evidence.wire
    for step in timers.steps(wire, evidence.plan.stimulus):
        yield (
            f"{step.channel} leaves its timer's line about sample {step.sample:,} "
            f"({step.sample * 1e3 / wire.edges.samplerate_hz:,.3f} ms), where edges lie "
            f"{step.apart_samples:,.1f} samples apart: samples were lost, doubled or changed; run again, "
            "slower if it recurs."
        )

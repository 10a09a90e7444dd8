"""What a reader of a run should know, and what does not touch its verdict."""

from __future__ import annotations

from polars import col

from base.run_folder.edges import MARKED_CHANNELS
from base.run_folder.quantities import HIT
from base.run_folder.records import INTERNAL_CLOCK, CounterOffRecord, HeapRecord
from capture.instruments.calibration import fall_delay_samples
from capture.joining.evidence import Evidence, Reasons
from firmware.build import families

# Quantisation alone leaves less, since a common pulse has the same edges on all channels.
LATE_SAMPLES = 0.5


def warnings(evidence: Evidence) -> Reasons:
    """What came before BOOT, what the board's start tells, and who counted; and what the wire does
    not tell, or tells a little off.
    """
    log, board, boot = evidence.log, evidence.board, evidence.boot
    if log.preamble:
        yield (
            f"{len(log.preamble)} lines came before BOOT, {len(log.earlier)} of them records of an earlier "
            "run; they belong to no run and were ignored."
        )
    # A line that floats until the firmware drives it.
    if log.stray:
        yield (
            f"{len(log.stray)} bytes came right before BOOT and were ignored: the serial line was not quiet "
            "at the reset, or the reset cut a line of an earlier run."
        )
    # The bench resets the board by its pin. A board that was plugged in tells of its power-up.
    every = families.causes(boot.reset_flags if boot else None, board.family)
    causes = [cause for cause in every if cause != families.POWER_UP]
    if causes:
        yield (
            f"The board was reset by {' and '.join(causes)} before the run; if the run before did not end "
            "so, check its power supply."
        )
    if boot and boot.clock == INTERNAL_CLOCK:
        yield (
            "The core's clock comes from the chip's own oscillator (HSI), which may be "
            f"{100 * board.clock.family.internal_tolerance:g}% off, and so are times made of cycles; check "
            "the board's clock, or the key clock of bench.toml."
        )
    # A debugger that left stopped CYCCNT; the firmware started it again.
    if counter_off := log.all(CounterOffRecord):
        yield (
            f"The cycle counter was found off at operations {counter_off[0].seq} to {counter_off[-1].seq} "
            f"and started again, so {sum(record.operations for record in counter_off)} operations lack "
            "cycles by DWT. A debugger that leaves clears DEMCR.TRCENA: disconnect it."
        )
    heap = log.first(HeapRecord)
    if boot and heap and heap.free_bytes > boot.free_bytes:
        yield (
            f"The heap ended with {heap.free_bytes} free bytes, more than the {boot.free_bytes} at the start."
        )
    if evidence.probes.source == "not counted":
        yield "Nobody counted probes: neither the allocator nor, on a virtual board, the simulator does."
    if evidence.instructions.why_none:
        yield evidence.instructions.why_none
    wire, stimuli = evidence.wire, evidence.joined.interrupts.filter(~col.control)
    isr, task = (int(stimuli[name].sum()) for name in ("isr_merged", "task_merged"))
    if isr or task:
        yield (
            f"Of the stimuli came {isr:,} while the interrupt was still waited for, and {task:,} while the "
            "task was: each is part of the wait that began before it."
        )
    if evidence.glitches is not None:
        by_channel = ", ".join(f"{count:,} on {name}" for name, count in evidence.glitches.count.items())
        yield (
            f"Glitches of at most {evidence.glitches.longest_samples} samples were left out, as asked: "
            f"{by_channel or 'none was there, or could be told'}."
        )
    undecided = evidence.budgets[HIT.key].undecided
    if undecided is not None:
        least, most = undecided.n
        yield (
            f"{undecided.count} interrupts came within {wire.undecided_samples} samples of a critical "
            f"section's edge, so the wire does not tell whether they met it: from {least} to {most} did. The "
            "budgets of interrupt_latency_hit_ns and interrupt_latency_clear_ns have both ends."
        )
    # An analyzer whose threshold is not in the middle of an edge.
    for channel in MARKED_CHANNELS:
        delay = fall_delay_samples(wire, channel)
        if delay is not None and abs(delay) >= LATE_SAMPLES:
            yield (
                f"Falling edges of {channel} are seen {delay:+.2f} samples later than rising ones, so its "
                "widths are off by as much; their budgets say so. Check threshold and clip."
            )
    if evidence.edges.samplerate_hz < wire.core_hz:
        yield (
            f"A sample lasts {evidence.edges.sample_ns:.1f} ns, more than a core cycle: the wire tells "
            "nothing finer."
        )

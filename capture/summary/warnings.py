"""What a reader of a run should know, and what does not touch its verdict.

`possible_wait` and `heap_wait` are waits that a run shows to be possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from base.metrology.quantiles import summarise
from base.run_folder.edges import MARKED_CHANNELS
from base.run_folder.quantities import HIT, LATENCY, SECTION, TASK, Quantity
from base.run_folder.records import INTERNAL_CLOCK, Boot, CounterOffRecord, HeapRecord
from capture.instruments.calibration import fall_delay_samples
from capture.joining.budget import budget_on_wire, sum_of_terms
from capture.joining.evidence import Evidence
from capture.joining.sweep import control_may_run, with_lead_and_tail
from capture.summary.figures import baseline
from firmware.build import families


def possible_wait(evidence: Evidence) -> dict[str, Any] | None:
    """What run.json says of it; None without a section or without an entry."""
    boot = evidence.log.first(Boot)
    waits = TASK if boot is not None and boot.locking == "scheduler" else LATENCY
    section_ns: Any = evidence.joined.samples[SECTION.key][SECTION.column].max()
    entry = _entry_ns(evidence, waits)
    if section_ns is None or entry is None:
        return None
    entry_ns, entry_n = entry
    seen = evidence.joined.samples[waits.key]
    seen_ns: Any = seen[waits.column].max()
    fields = {"of": waits.key, "entry_ns": entry_ns, "entry_n": entry_n, "open": waits.still_open(seen) > 0}
    if seen_ns is not None and seen_ns > section_ns + entry_ns:
        return {**fields, "by": "wait", "ns": seen_ns, "budget_ns": evidence.budgets[waits.key].total_ns}
    assert waits.interval is not None
    ends = ("CRIT", waits.interval[1])
    budget_ns = sum_of_terms(
        evidence.budgets[SECTION.key].total_ns, budget_on_wire(evidence, ends, entry_ns).total_ns
    )
    return {**fields, "by": "section", "ns": section_ns + entry_ns, "budget_ns": budget_ns}


def _entry_ns(evidence: Evidence, waits: Quantity) -> tuple[float, int] | None:
    """The entry, and of how many waits it is the median; of none it is an idle wait's.

    It is the median time from the fall of CRIT to the answer of a stimulus that came while CRIT was
    high, without the waits that a tick or a control interrupt may have had a part in.
    """
    joined, wire = evidence.joined, evidence.wire
    answered = joined.samples[waits.key]
    ticked = pl.col("task_tick" if waits is TASK else "tick").fill_null(True)
    controlled = pl.Series(control_may_run(answered, joined.interrupts, wire.core_hz, waits.column))
    calm = answered.filter(~(ticked | controlled))
    tails_ns = with_lead_and_tail(calm, wire, waits.column)["tail_ns"]
    if tails_ns.count():
        return summarise(tails_ns.drop_nulls()).median or 0.0, tails_ns.count()
    idle = baseline(evidence, waits)
    return None if idle is None else (idle["value"], 0)


def heap_wait(evidence: Evidence) -> dict[str, Any] | None:
    """What run.json says of it; None where no second task uses the heap, or nothing was measured.

    In such a run TASK rises when the urgent task has the heap. So its wait is its latency, less the
    median of those whose stimulus met no critical section and that no tick touched. `resolution_ns`
    is the error budget of both.
    """
    budget_ns = evidence.budgets[TASK.key].total_ns
    if "urgent_task" not in evidence.plan.extras or budget_ns is None:
        return None
    answers = evidence.joined.samples[TASK.key]
    met = answers.filter(pl.col("hit") == "critical")
    free = answers.filter((pl.col("hit") != "critical") & ~pl.col("task_tick"))
    free_ns = summarise(free[TASK.column]).median
    if met.is_empty() or free_ns is None:
        return None
    worst = met.row(met[TASK.column].arg_max() or 0, named=True)
    return {
        **summarise(met[TASK.column]).less(free_ns).model_dump(),
        "resolution_ns": 2 * budget_ns,
        "undisturbed_ns": free_ns,
        "undisturbed_n": free.height,
        "seq": worst["operation_seq"],
    }


# Quantisation alone leaves less, since a common pulse has the same edges on all channels.
LATE_SAMPLES = 0.5


def warnings(evidence: Evidence) -> list[str]:
    """All warnings, one sentence each."""
    return [*_of_records(evidence), *_of_wire(evidence)]


def _of_records(evidence: Evidence) -> Iterator[str]:
    """What came before BOOT, what the board's start tells, and who counted."""
    log, board, boot = evidence.log, evidence.board, evidence.log.first(Boot)
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


def _of_wire(evidence: Evidence) -> Iterator[str]:
    """What the wire does not tell, or tells a little off."""
    wire, stimuli = evidence.wire, evidence.joined.interrupts.filter(~pl.col("control"))
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

"""What a reader of a run should know, and what does not touch its verdict.

`possible_wait` and `heap_wait` are waits that a run shows to be possible. Each other function looks
at one thing and yields a sentence if there is something to say.
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
    section_ns = evidence.joined.samples[SECTION.key][SECTION.column].max()
    entry = _entry_ns(evidence, waits)
    if not isinstance(section_ns, float) or entry is None:
        return None
    entry_ns, entry_n = entry
    seen = evidence.joined.samples[waits.key]
    seen_ns = seen[waits.column].max()
    fields = {"of": waits.key, "entry_ns": entry_ns, "entry_n": entry_n, "open": waits.still_open(seen) > 0}
    if isinstance(seen_ns, float) and seen_ns > section_ns + entry_ns:
        return {**fields, "by": "wait", "ns": seen_ns, "budget_ns": evidence.budgets[waits.key].total_ns}
    assert waits.interval is not None
    ends = ("CRIT", waits.interval[1])
    budget_ns = sum_of_terms(
        evidence.budgets[SECTION.key].total_ns, budget_on_wire(evidence.instruments, ends, entry_ns).total_ns
    )
    return {**fields, "by": "section", "ns": section_ns + entry_ns, "budget_ns": budget_ns}


def _entry_ns(evidence: Evidence, waits: Quantity) -> tuple[float, int] | None:
    """The entry, and of how many waits it is the median; of none it is an idle wait's.

    It is the median time from the fall of CRIT to the answer of a stimulus that came while CRIT was
    high, without the waits that a tick or a control interrupt may have had a part in.
    """
    joined, wire = evidence.joined, evidence.wire
    answered = waits.samples(joined.operations, joined.interrupts)
    ticked = pl.col("task_tick" if waits is TASK else "tick").fill_null(True)
    controlled = pl.Series(control_may_run(answered, joined.interrupts, wire.core_hz, waits.column))
    calm = answered.filter(~(ticked | controlled))
    tails_ns = with_lead_and_tail(calm, wire.critical, wire.edges.sample_ns, waits.column)["tail_ns"]
    if tails_ns.count():
        return summarise(tails_ns.drop_nulls()).median or 0.0, tails_ns.count()
    idle = baseline(waits, joined.interrupts, joined.critical_cost, wire.edges.sample_ns)
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
    return [sentence for warning in WARNINGS for sentence in warning(evidence)]


def lines_before_boot(evidence: Evidence) -> Iterator[str]:
    """What the board said before it was reset."""
    log = evidence.log
    if log.preamble:
        records = f", {len(log.earlier)} of them records of an earlier run" if log.earlier else ""
        yield f"{len(log.preamble)} lines came before BOOT{records}; they belong to no run and were ignored."


def bytes_before_boot(evidence: Evidence) -> Iterator[str]:
    """A line that floats until the firmware drives it."""
    stray = len(evidence.log.stray)
    if stray:
        yield (
            f"{stray} {'byte' if stray == 1 else 'bytes'} came right before BOOT and were ignored: the "
            "serial line was not quiet at the reset, or the reset cut a line of an earlier run."
        )


def reset_by_something_else(evidence: Evidence) -> Iterator[str]:
    """The bench resets the board by its pin. A board that was plugged in tells of its power-up."""
    boot = evidence.log.first(Boot)
    flags = boot.reset_flags if boot else None
    every = families.causes(flags, evidence.board.family)
    causes = [cause for cause in every if cause != families.POWER_UP]
    if causes:
        yield (
            f"The board was reset by {' and '.join(causes)} before the run; if the run before did not end "
            "so, check its power supply."
        )


def clock_is_internal(evidence: Evidence) -> Iterator[str]:
    """The firmware found no clock at OSC_IN, or was told not to look for it."""
    boot = evidence.log.first(Boot)
    if boot and boot.clock == INTERNAL_CLOCK:
        tolerance = evidence.board.clock.family.internal_tolerance
        yield (
            "The core's clock comes from the chip's own oscillator (HSI), which may be "
            f"{100 * tolerance:g}% off, and so are times made of cycles; check the board's clock, or the key "
            "clock of bench.toml."
        )


def counter_was_off(evidence: Evidence) -> Iterator[str]:
    """A debugger that left stopped CYCCNT; the firmware started it again."""
    counter_off_records = evidence.log.all(CounterOffRecord)
    if counter_off_records:
        first, last = counter_off_records[0].seq, counter_off_records[-1].seq
        where = f"operation {first}" if first == last else f"operations {first} to {last}"
        lost = sum(record.operations for record in counter_off_records)
        lack = {0: "no operation lacks", 1: "1 operation lacks"}.get(lost, f"{lost} operations lack")
        yield (
            f"The cycle counter was found off at {where} and started again, so {lack} cycles by DWT. A "
            "debugger that leaves clears DEMCR.TRCENA: disconnect it."
        )


def heap_grew(evidence: Evidence) -> Iterator[str]:
    """More bytes were free at the end than at the start."""
    boot, heap = evidence.log.first(Boot), evidence.log.first(HeapRecord)
    if boot and heap and heap.free_bytes > boot.free_bytes:
        yield (
            f"The heap ended with {heap.free_bytes} free bytes, more than the {boot.free_bytes} at the start."
        )


def stimuli_merged(evidence: Evidence) -> Iterator[str]:
    """What came while an answer was waited for has no latency of its own."""
    interrupts = evidence.joined.interrupts
    isr, task = (
        int(interrupts.filter(~pl.col("control"))[name].sum()) for name in ("isr_merged", "task_merged")
    )
    if isr or task:
        counts = ((isr, "interrupt"), (task, "task"))
        listed = " and ".join(
            f"{count:,} while the {who} was still waited for" for count, who in counts if count
        )
        yield f"Of the stimuli came {listed}: each is part of the wait that began before it."


def interrupts_undecided(evidence: Evidence) -> Iterator[str]:
    """The wire does not tell whether these met a critical section."""
    undecided = evidence.budgets[HIT.key].undecided
    if undecided is not None:
        least, most = undecided.n
        apart = evidence.wire.undecided_samples
        noun, they = ("interrupt", "it") if undecided.count == 1 else ("interrupts", "they")
        yield (
            f"{undecided.count} {noun} came within {apart} samples of a critical section's edge, so the wire "
            f"does not tell whether {they} met it: from {least} to {most} did. The budgets of "
            "interrupt_latency_hit_ns and interrupt_latency_clear_ns have both ends."
        )


def falls_seen_late(evidence: Evidence) -> Iterator[str]:
    """An analyzer whose threshold is not in the middle of an edge."""
    for channel in MARKED_CHANNELS:
        delay = fall_delay_samples(evidence.wire, channel)
        if delay is not None and abs(delay) >= LATE_SAMPLES:
            word = "later" if delay > 0 else "earlier"
            yield (
                f"Falling edges of {channel} are seen {abs(delay):.2f} samples {word} than rising ones, so "
                "its widths are off by as much; their budgets say so. Check threshold and clip."
            )


def nobody_counted_probes(evidence: Evidence) -> Iterator[str]:
    """Neither the allocator counted, nor the board."""
    if evidence.probes.source == "not counted":
        yield "Nobody counted probes: neither the allocator nor, on a virtual board, the simulator does."


def instructions_are_not_told(evidence: Evidence) -> Iterator[str]:
    """The virtual board's table is there, and its instructions cannot be used."""
    if evidence.instructions.why_none:
        yield evidence.instructions.why_none


def samples_longer_than_cycles(evidence: Evidence) -> Iterator[str]:
    """The analyzer is slower than the core."""
    edges = evidence.edges
    if edges.samplerate_hz < evidence.wire.core_hz:
        yield (
            f"A sample lasts {edges.sample_ns:.1f} ns, more than a core cycle: the wire tells nothing finer."
        )


WARNINGS = (
    lines_before_boot,
    bytes_before_boot,
    reset_by_something_else,
    clock_is_internal,
    counter_was_off,
    heap_grew,
    stimuli_merged,
    interrupts_undecided,
    falls_seen_late,
    nobody_counted_probes,
    instructions_are_not_told,
    samples_longer_than_cycles,
)

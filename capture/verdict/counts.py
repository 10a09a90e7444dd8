"""The rules on what is counted twice: by the firmware's handlers, and on the wire.

The records count over the whole run only, so the counts are compared over the whole run. What an
operation took is the exception: each record tells it. They belong to the rules of
capture/verdict/inconclusive.py and are made like them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from base.run_folder.records import HEAP_NOT_CALLED, StatRecord
from capture.instruments.calibration import MarkerCost
from capture.joining.evidence import Evidence
from capture.joining.latencies import NEAR_SAMPLES
from capture.reading.vectorised import level_at
from capture.reading.wire import Wire

# A half cycle off in the median of so many widths is no chance.
_MANY, _HALF_A_CYCLE = 16, 0.5


def worst_row(table: pl.DataFrame, column: str) -> dict[str, Any]:
    """The first row whose `column` is farthest from 0. There is at least one row."""
    return table.row(table[column].abs().arg_max() or 0, named=True)


def at_least_to_most(least: int, most: int) -> str:
    """`3` where both are 3, `3 to 5` otherwise."""
    return str(least) if least == most else f"{least} to {most}"


def handlers_and_pulses_differ(evidence: Evidence) -> Iterator[str]:
    """Each entry of a handler, and each waking of the task, is one pulse: no more and no fewer."""
    stat, wire = evidence.log.first(StatRecord), evidence.wire
    if stat is None or wire.end_frame is None:
        return
    counted = (
        ("ISR", stat.isr_entries, "interrupts"),
        ("TASK", stat.task_wakes, "wakings of the task"),
        ("CISR", stat.control_entries, "control interrupts"),
    )
    for channel, entries, what in counted:
        pulses = len(wire.rises_of(channel))
        if pulses != entries:
            yield (
                f"The firmware counted {entries} {what}, {channel} shows {pulses} pulses; "
                f"check the {channel} clip."
            )


def preempted_operations_differ(evidence: Evidence) -> Iterator[str]:
    """A handler counts an operation as preempted where it finds OP high, and so does the wire."""
    stat, wire = evidence.log.first(StatRecord), evidence.wire
    if stat is None or wire.end_frame is None:
        return
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


def operations_and_dwt_disagree(evidence: Evidence) -> Iterator[str]:
    """OP and DWT tell of the same operation, and may differ by the budget of a width only.

    Where the heap was not called the record tells of no cycles.
    """
    cost = evidence.joined.operation_cost
    if cost is None:
        return
    operations = _operations_apart(evidence, cost).with_columns(
        allowed=evidence.instruments.agreement_cycles
        + evidence.instruments.clock_uncertainty * pl.col("dwt_operation_cycles")
    )
    wrong = operations.filter(pl.col("apart").abs() > pl.col("allowed"))
    if wrong.height:
        worst = worst_row(wrong, "apart")
        yield (
            f"OP and DWT disagree on {wrong.height} operations, at worst by {worst['apart']:.2f} cycles "
            f"({worst['allowed']:.2f} allowed) in operation {worst['seq']}; "
            "check the OP clip and the samplerate."
        )


def _operations_apart(evidence: Evidence, cost: MarkerCost) -> pl.DataFrame:
    """The operations that called the heap; `apart` is what OP tells more than DWT, in cycles."""
    return evidence.joined.operations.filter(~pl.col("kind").is_in(HEAP_NOT_CALLED)).with_columns(
        apart=pl.col("wire_operation_samples") / evidence.wire.samples_per_cycle
        - cost.wire_minus_dwt_cycles
        - pl.col("dwt_operation_cycles")
    )


def wire_and_dwt_differ_throughout(evidence: Evidence) -> Iterator[str]:
    """A width is off by a sample to either side, which comes to nothing in the median of many.

    At or above the core clock the marker cost is exact, so a whole cycle in the median is an error
    of the calibration, or of each record.
    """
    instruments, joined = evidence.instruments, evidence.joined
    if evidence.wire.edges.samplerate_hz < evidence.wire.core_hz:
        return
    sections = joined.operations.filter(pl.Series(joined.critical_pulses) == 1)
    widths = [("CRIT", sections["disagreement_cycles"], sections["dwt_cycles"])]
    if joined.operation_cost is not None:
        operations = _operations_apart(evidence, joined.operation_cost)
        widths.append(("OP", operations["apart"], operations["dwt_operation_cycles"]))
    for channel, apart, cycles in widths:
        apart, cycles = apart.cast(pl.Float64), cycles.cast(pl.Float64)
        median, length = apart.median(), cycles.median()
        if apart.count() < _MANY or not isinstance(median, float) or not isinstance(length, float):
            continue
        of_clock = instruments.clock_uncertainty * length
        if _HALF_A_CYCLE + of_clock < abs(median) <= instruments.agreement_cycles + of_clock:
            yield (
                f"{channel} and DWT differ by {median:.2f} cycles in the median of {apart.count()} pulses "
                f"({_HALF_A_CYCLE + of_clock:.2f} allowed): calibration or records are off; run again."
            )


RULES = (
    handlers_and_pulses_differ,
    preempted_operations_differ,
    operations_and_dwt_disagree,
    wire_and_dwt_differ_throughout,
)

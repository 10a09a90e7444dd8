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
from capture.joining.evidence import Evidence
from capture.joining.latencies import NEAR_SAMPLES
from capture.reading.vectorised import level_at
from capture.reading.wire import Wire


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
    cost, wire = evidence.joined.operation_cost, evidence.wire
    if cost is None:
        return
    operations = evidence.joined.operations.filter(~pl.col("kind").is_in(HEAP_NOT_CALLED)).with_columns(
        apart=pl.col("wire_operation_samples") / wire.samples_per_cycle
        - cost.wire_minus_dwt_cycles
        - pl.col("dwt_operation_cycles"),
        allowed=evidence.instruments.agreement_cycles
        + evidence.instruments.clock_uncertainty * pl.col("dwt_operation_cycles"),
    )
    wrong = operations.filter(pl.col("apart").abs() > pl.col("allowed"))
    if wrong.height:
        worst = worst_row(wrong, "apart")
        yield (
            f"OP and DWT disagree on {wrong.height} operations, at worst by {worst['apart']:.2f} cycles "
            f"({worst['allowed']:.2f} allowed) in operation {worst['seq']}; "
            "check the OP clip and the samplerate."
        )


RULES = (
    handlers_and_pulses_differ,
    preempted_operations_differ,
    operations_and_dwt_disagree,
)

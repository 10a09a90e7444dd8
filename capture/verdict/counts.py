"""The rules on what is counted twice: by the firmware's handlers, and on the wire.

The records count over the whole run only, so the counts are compared over the whole run. What an
operation took is the exception: each record tells it. They belong to the rules of
capture/verdict/inconclusive.py and are made like them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from capture.joining.evidence import Evidence
from capture.reading.vectorised import level_at
from capture.reading.wire import Wire
from capture.run_folder.edges import Samples
from capture.run_folder.records import StatRecord

# An edge of OP this near to a rise of ISR may have come before it or after. The processor takes
# longer to enter a handler, so at a usual samplerate no edge is.
NEAR_SAMPLES = 2


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
        pulses = len(_rises(wire, channel))
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
            f"{_range(least, most)}; check the clips of ISR and OP."
        )


def preempted_operations(wire: Wire) -> tuple[int, int]:
    """How many rises of ISR fell into a pulse of OP: at least, and at most."""
    rises, operation = _rises(wire, "ISR"), wire.until_end.transitions("OP").sample
    within = level_at(wire.until_end, "OP", rises)
    near = np.searchsorted(operation, rises + NEAR_SAMPLES, "right") > np.searchsorted(
        operation, rises - NEAR_SAMPLES, "left"
    )
    return int(np.count_nonzero(within & ~near)), int(np.count_nonzero(within | near))


def _range(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _rises(wire: Wire, channel: str) -> Samples:
    """The samples of the rising edges of `channel` between the frames."""
    edges = wire.until_end.transitions(channel)
    rises = edges.sample[edges.level]
    between: Samples = rises[rises >= wire.first_sample]
    return between


def operations_and_dwt_disagree(evidence: Evidence) -> Iterator[str]:
    """OP and DWT tell of the same operation, and may differ by the budget of a width only.

    Where there was nothing to free the record tells of no cycles.
    """
    cost, wire = evidence.joined.operation_cost, evidence.wire
    if cost is None:
        return
    operations = evidence.joined.operations.filter(pl.col("kind") != "N").with_columns(
        apart=pl.col("wire_operation_samples") / wire.samples_per_cycle
        - cost.wire_minus_dwt_cycles
        - pl.col("dwt_operation_cycles"),
        allowed=evidence.instruments.agreement_cycles
        + evidence.instruments.clock_uncertainty * pl.col("dwt_operation_cycles"),
    )
    wrong = operations.filter(pl.col("apart").abs() > pl.col("allowed"))
    if wrong.height:
        worst = wrong.row(wrong["apart"].abs().arg_max() or 0, named=True)
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

"""How long a run can take: a bound from its plan alone, so that equal plans ask for equal samples.

The firmware alternates between an operation and its record, and the record takes far longer. Each
term below is an upper bound; their sum is stretched by what the interrupts take and by a margin.
"""

from __future__ import annotations

import polars as pl

from capture.reading.frames import END_FRAME_TICKS, FRAME_EDGES, START_FRAME_TICKS
from scenarios.plan import Plan
from scenarios.stimulus import CONTROL_CYCLES, Stimulus

BITS_PER_BYTE = 10  # 8N1

# Reset to the first record: clocks, the region's initialisation, the proof of DWT at both ends.
BOOT_S = 0.020
# Two frames, the silence before the end frame.
FRAME_TICKS = (FRAME_EDGES - 1) * (START_FRAME_TICKS + END_FRAME_TICKS)
SILENCE_S = 50e-6
# At either end 32 sections, 8 common pulses, and one whole
# tick of 1 ms; another may pass before it.
CALIBRATION_S = 2 * (40 * 10e-6 + 2 * 1e-3)
# Lines before and after the operations: BOOT, PROOF, PLAN,
# STILL, STAT, HEAP, END; and twice 32 CAL, 3 COST and TICK.
FRAMING_BYTES = 7 * 128 + 2 * (32 * len("@CAL,CRIT,31,9999,4294967295*XXXX\n") + 4 * 64)
MARK_BYTES = len("@MARK,65535*XXXX\n")

# "@OP,", kind, seven commas, "*XXXX\n" and the fields whose size does not depend on the plan:
# cycles (twice seven digits), probes (five), live blocks (four), bytes in use (five).
OPERATION_FIXED_BYTES = 4 + 1 + 7 + 6 + 7 + 7 + 5 + 4 + 5
# The record of an operation that was met by an interrupt of each kind: "@IRQ,", six commas,
# "*XXXX\n", and three times a number of answers and their ticks (five digits).
ANSWERS_FIXED_BYTES = 5 + 6 + 6 + 3 * (1 + 5)
# A free-list walk took 12 to 25 cycles per block on this core, flash accelerator off included.
SEARCH_CYCLES_PER_BLOCK = 40
OPERATION_CYCLES = 5_000
# One interrupt with its context switches to the woken task and back.
STIMULUS_CYCLES = 900

MARGIN = 1.15


def longest_s(plan: Plan, core_hz: int) -> float:
    """Seconds after reset by which `plan` has run on such a core, and the calibration after it."""
    bytes_per_s = plan.baud / BITS_PER_BYTE
    frames_s = FRAME_TICKS / core_hz + SILENCE_S
    marks = plan.operations["label"].rle_id().n_unique()
    lines_s = (FRAMING_BYTES + marks * MARK_BYTES) / bytes_per_s
    operations_s = _record_bytes(plan) / bytes_per_s + _operation_cycles(plan) / core_hz
    return (
        MARGIN * (BOOT_S + frames_s + CALIBRATION_S + lines_s + operations_s) / _share_left_by(plan.stimulus)
    )


def _record_bytes(plan: Plan) -> int:
    """Bytes of the operations' records.

    A swept operation is met. Where nothing aims few are, and their records fit into what the bound
    of the search leaves over.
    """
    operations = plan.operations
    met = operations.filter(pl.col("offset") > 0)
    return (
        OPERATION_FIXED_BYTES * operations.height
        + _digits(operations, "seq")
        + _digits(operations, "size")
        + ANSWERS_FIXED_BYTES * met.height
        + _digits(met, "seq")
    )


def _digits(operations: pl.DataFrame, column: str) -> int:
    return int(operations[column].cast(pl.String).str.len_bytes().sum())


def _operation_cycles(plan: Plan) -> int:
    """Cycles of all operations, with what each waits for.

    It waits for its phase of the stimulus, a period at most, or for a swept edge. No search looks
    at more blocks than were ever allocated before it, plus the one left over.
    """
    slots = plan.operations["id"].n_unique() + 1
    stimulus = plan.stimulus
    waiting = stimulus.period_ticks if stimulus.mode in ("periodic", "burst") else 0
    swept = int(plan.operations["offset"].sum())
    each = OPERATION_CYCLES + waiting + SEARCH_CYCLES_PER_BLOCK * slots
    return plan.operations.height * each + swept


def _share_left_by(stimulus: Stimulus) -> float:
    """The part of the processor that the interrupts leave; never less than a tenth."""
    taken = 0.0
    if stimulus.shortest_ticks:
        taken += STIMULUS_CYCLES / stimulus.shortest_ticks
    if stimulus.control_period_ticks:
        taken += CONTROL_CYCLES / stimulus.control_period_ticks
    return max(1 - taken, 0.1)

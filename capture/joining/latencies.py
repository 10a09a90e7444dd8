"""Each latency told twice: by the wire, and by the counter of the timer that gives the stimulus.

A handler raises its pin and reads the counter right behind it, so the timer tells the latency plus
a constant: what lies between the pin and the read. The constant is fitted to the run. Where a wait
began, the firmware takes from the plan of the stimuli and a free-running count
(firmware/bench/edge_walk.h); the wire, from the edges (capture/reading/vectorised.py). The records
tell number and sum of the answers that met an operation, and the least and greatest of those
between operations. The same is read off the wire.

An edge that is too near to another to tell which came first may count either way. So what the wire
tells is an interval, from `least` to `most`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from polars import col

from base.run_folder.quantities import CONTROL, LATENCY, TASK, Quantity
from base.run_folder.records import LatencyRange, StatRecord
from capture.instruments.calibration import cost_cycles, skew_between
from capture.reading.vectorised import pulses
from capture.reading.wire import Wire

if TYPE_CHECKING:
    from capture.joining.evidence import Evidence

# An edge of OP this near to a rise may have come before it or after. The processor takes longer to
# enter a handler, so at a usual samplerate no edge is.
NEAR_SAMPLES = 2
# A control interrupt whose pin rises so soon after another handler's may have come between that
# handler's pin and its read: it takes longer to enter than these two do.
BETWEEN_CYCLES = 40
# Entry and return of a control interrupt, beside its pulse.
CONTROL_AROUND_CYCLES = 60


Ends = tuple[float, float]
"""What a value is at least, and at most."""


@dataclass(frozen=True)
class LatencyClass:
    """A class of answers: its quantity, with the channels of stimulus and answer, and its records.

    `answers` is the column of operations.parquet that counts them.
    """

    quantity: Quantity
    kind: Literal["isr", "task", "control"]
    answers: str

    @property
    def channels(self) -> tuple[str, str]:
        """The channels of the stimulus and of its answer."""
        assert self.quantity.interval is not None
        return self.quantity.interval


CLASSES = (
    LatencyClass(LATENCY, "isr", "timer_isr_entries"),
    LatencyClass(TASK, "task", "timer_task_wakes"),
    LatencyClass(CONTROL, "control", "timer_control_entries"),
)


@dataclass(frozen=True)
class Offset:
    """What the timer tells more than the wire, in cycles: the median of `n` operations.

    The constant behind it lies at most `uncertainty_cycles` from it.
    """

    cycles: float
    uncertainty_cycles: float
    n: int


# How much less may lie between pin and read in the task than in a handler, in cycles: a handler
# loads the timer's address in between, and the compiler may do so before (Cortex-M3 and M4: one
# instruction of one cycle; Cortex-M0 and M0+: two, one of which loads a literal, over their bus).
TASK_SOONER_CYCLES = {"cortex-m0": (3, 5), "cortex-m0plus": (3, 5)}
TASK_SOONER_USUALLY = (0, 1)


@dataclass(frozen=True)
class LatencyWitness:
    """A class of latencies by wire and timer. What the offset may be, COST and the skew bound.

    `answers` has a row for each answer on the wire: `sample` is the pin's rise, `least` and `most`
    bound the samples from the stimulus to it. The row of the operation is `row`, or -1. It surely
    met the operation where `met` is true, and surely none where `missed` is.

    `operations` has a row for each operation that wire or timer say was met: `seq`, `number` and
    `ticks` by the timer, `least_number` and `most_number` by the wire. In cycles for one answer,
    `apart_cycles` is what timer minus wire differs from the offset by, and `allowed_cycles` how far
    it may; null where the numbers differ or no offset is known. `between` is the
    timer's range of the answers between operations, and `between_least` and `between_most` are what
    the wire lets its ends be, in ticks; None where the wire shows none. `offset_of_others` is what
    the offset is by that of another class, whose code is the same; None where no other tells.
    """

    of: LatencyClass
    answers: pl.DataFrame
    operations: pl.DataFrame
    offset: Offset | None
    offset_bounds_cycles: Ends | None
    offset_of_others: Ends | None
    between: LatencyRange | None
    between_least: Ends | None
    between_most: Ends | None

    @property
    def from_others_cycles(self) -> float:
        """How far the offset may be from the one that it has by another class: so late or early may
        its channels be from the first stimulus to the last. 0 where no other tells.
        """
        if self.offset is None or self.offset_of_others is None:
            return 0.0
        return max(abs(self.offset.cycles - end) for end in self.offset_of_others)

    @property
    def compared(self) -> pl.DataFrame:
        """The operations of which wire and timer could be compared."""
        return self.operations.drop_nulls("apart_cycles")

    def cycles_of(self, answer_sample: int) -> float | None:
        """What the timer told of the answer at that sample, without the offset, in cycles.

        None where it did not tell of this one: it met an operation together with others, or it met
        none and was not the latest of its kind.
        """
        rows = self.answers.filter(col.sample == answer_sample).rows(named=True)
        if self.offset is None or not rows:
            return None
        answer = rows[0]
        if answer["met"]:
            row = self.operations.filter(col.row == answer["row"])
            alone = not row.is_empty() and row["number"][0] == 1
            return float(row["ticks"][0]) - self.offset.cycles if alone else None
        latest = answer["missed"] and answer["most"] == self.answers.filter("missed")["most"].max()
        if self.between is None or not latest:
            return None
        return self.between.most_ticks - self.offset.cycles


def latency_witnesses(evidence: Evidence) -> tuple[LatencyWitness, ...]:
    """The latencies of each class by wire and timer; none of a run that told nothing."""
    if evidence.boot is None:
        return ()
    every = [_witness(evidence, of) for of in CLASSES]
    sooner = TASK_SOONER_CYCLES.get(evidence.board.core, TASK_SOONER_USUALLY)
    return tuple(replace(witness, offset_of_others=_of_others(witness, every, sooner)) for witness in every)


def _of_others(
    witness: LatencyWitness, every: Sequence[LatencyWitness], sooner: tuple[int, int]
) -> Ends | None:
    """Its offset by another class: one of another stimulus, if there is any, so that no channel is
    in both.
    """
    anchored = [latency for latency in every if latency.offset is not None and latency is not witness]
    apart = [latency for latency in anchored if latency.of.channels[0] != witness.of.channels[0]]
    # Of a handler, another handler tells more than the task.
    for other in sorted(apart or anchored, key=lambda witness: witness.of.kind == "task"):
        assert other.offset is not None
        least, most = sooner if other.of.kind == "task" else (0, 0)
        handler = (other.offset.cycles + least, other.offset.cycles + most)
        return (handler[0] - sooner[1], handler[1] - sooner[0]) if witness.of.kind == "task" else handler
    return None


def _witness(evidence: Evidence, of: LatencyClass) -> LatencyWitness:
    wire, operations, stat = evidence.wire, evidence.joined.operations, evidence.log.first(StatRecord)
    cycles = 1 / wire.samples_per_cycle
    least_read_cycles, read_cycles = cost_cycles(evidence.log, "TIMER") or (0, 0)
    slack_cycles = cycles + (read_cycles - least_read_cycles) / 2
    answers = _answers(wire, operations, of)
    # What wire and timer tell of each operation that one of them says was met.
    by_wire = (
        answers.filter(~col.missed)
        .group_by("row")
        .agg(
            least_number=col.met.sum().cast(pl.Int64),
            most_number=pl.len().cast(pl.Int64),
            least=col.least.filter("met").sum(),
            most=pl.sum("most"),
        )
    )
    by_timer = operations.with_row_index("row").select(
        col.row.cast(pl.Int64),
        col.seq,
        number=col(of.answers).cast(pl.Int64),
        ticks=col(f"timer_{of.kind}_ticks").cast(pl.Int64),
        whole=col.wire_operation_samples.is_not_null(),
    )
    both = by_timer.join(by_wire, on="row", how="left").with_columns(
        col("least_number", "most_number", "least", "most").fill_null(0)
    )
    table = both.filter((col.number > 0) | (col.most_number > 0)).sort("row")
    offset = _fit(table, cycles, slack_cycles)
    least, most = _between(answers, evidence, offset, cycles, slack_cycles)
    # The read comes after the pin's rise, and no later than COST says. The analyzer sees both edges
    # to a sample, and the channels as far apart as the common pulses tell.
    skew, bounds = skew_between(wire, *of.channels), None
    if read_cycles and skew is not None:
        slack = (1 + skew.bound) * cycles
        bounds = -slack, read_cycles + slack
    return LatencyWitness(
        of=of,
        answers=answers,
        operations=_compared(table, evidence, offset, cycles, slack_cycles),
        offset=offset,
        offset_bounds_cycles=bounds,
        offset_of_others=None,
        between=stat.between(of.kind) if stat else None,
        between_least=least,
        between_most=most,
    )


def _answers(wire: Wire, operations: pl.DataFrame, of: LatencyClass) -> pl.DataFrame:
    waits = wire.waits(*of.channels)
    rises, length = waits.answer, waits.length
    # How many samples a control interrupt may have put between each rise and the read: it keeps no
    # other class from reading the counter.
    more = np.zeros(len(rises), dtype=np.int64)
    control = pulses(wire.until_end, "CISR")
    if of.kind == "isr" and len(control):
        cycle = wire.samples_per_cycle
        next_ = np.minimum(np.searchsorted(control.start, rises, "right"), len(control) - 1)
        came = (control.start[next_] > rises) & (control.start[next_] <= rises + BETWEEN_CYCLES * cycle)
        took = control.width[next_] + np.ceil(CONTROL_AROUND_CYCLES * cycle)
        more = np.where(came, took, 0.0).astype(np.int64)
    # The operation that each may have met, whether it did, whether it did not.
    whole = operations.with_row_index("row").drop_nulls(["start_sample", "wire_operation_samples"])
    start, width = whole["start_sample"].to_numpy(), whole["wire_operation_samples"].to_numpy()
    at = np.searchsorted(start, rises + NEAR_SAMPLES, "right") - 1
    begin, end, row = (np.append(column, 0)[at] for column in (start, start + width, whole["row"].to_numpy()))
    missed = (at < 0) | (rises > end + NEAR_SAMPLES)
    return pl.DataFrame(
        {
            "sample": rises,
            "least": length,
            "most": length + more,
            "row": np.where(missed, -1, row.astype(np.int64)),
            "met": (at >= 0) & (rises > begin + NEAR_SAMPLES) & (rises < end - NEAR_SAMPLES),
            "missed": missed,
        }
    )


def _fit(table: pl.DataFrame, cycles: float, slack_cycles: float) -> Offset | None:
    """The offset that explains the most operations: the median of these.

    Each unambiguous operation bounds it to within `slack_cycles`. Where the bounds of many have a
    part in common it lies there, and an operation whose edge was moved far has no say. The median
    of `n` errors that are at most `slack_cycles` strays by more than three times that, divided by
    the root of n, in no more runs than a normal error exceeds three standard deviations.
    """
    plain = table.filter(
        (col.least_number == col.number)
        & (col.most_number == col.number)
        & (col.least == col.most)
        & (col.number > 0)
    )
    if plain.is_empty():
        return None
    each = plain.select((col.ticks - col.least * cycles) / col.number).to_series()
    excess = np.sort(each.to_numpy())
    after = np.searchsorted(excess, excess + 2 * slack_cycles, "right")
    first = int(np.argmax(after - np.arange(len(excess))))
    explained = excess[first : after[first]]
    median = float(np.median(explained))
    common = (explained[-1] - slack_cycles, explained[0] + slack_cycles)
    farthest = max(abs(median - end) for end in common)
    usual = 3 * slack_cycles / math.sqrt(len(explained))
    return Offset(median, float(min(farthest, usual)), len(explained))


def _compared(
    table: pl.DataFrame, evidence: Evidence, offset: Offset | None, cycles: float, slack_cycles: float
) -> pl.DataFrame:
    """`table` with how far timer and wire are apart for each answer, and how far they may be."""
    if offset is None:
        nothing = pl.lit(None, dtype=pl.Float64)
        return table.with_columns(apart_cycles=nothing, allowed_cycles=nothing)
    counted = (col.number > 0) & col.number.is_between("least_number", "most_number")
    excess = col.ticks - col.number * offset.cycles
    most = col.most * cycles
    outside = excess - excess.clip(col.least * cycles, most)
    clock = evidence.clock_uncertainty * col.most * cycles / col.number
    allowed = slack_cycles + offset.uncertainty_cycles + clock
    return table.with_columns(
        apart_cycles=pl.when(counted).then(outside / col.number),
        allowed_cycles=pl.when(counted).then(allowed),
    )


def _between(
    answers: pl.DataFrame,
    evidence: Evidence,
    offset: Offset | None,
    cycles: float,
    slack_cycles: float,
) -> tuple[Ends | None, Ends | None]:
    """What the wire lets the least and the greatest reading between operations be, in ticks.

    Of the answers that may have met an operation, none need have been among them. None where no
    answer surely was, or no offset is known.
    """
    sure, possible = answers.filter("missed"), answers.filter(~col.met)
    if offset is None or sure.is_empty():
        return None, None
    latest: Any = possible["most"].max()
    slack = slack_cycles + offset.uncertainty_cycles + evidence.clock_uncertainty * latest * cycles

    def ticks(samples: Any, off: float) -> float:
        return float(samples * cycles + offset.cycles + off)

    return (
        (ticks(possible["least"].min(), -slack), ticks(sure["most"].min(), slack)),
        (ticks(sure["least"].max(), -slack), ticks(latest, slack)),
    )

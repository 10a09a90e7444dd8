"""Board minus virtual board, value by value, with the budget that each difference has.

All is in cycles of the core. What DWT counted has no budget: cycles are cycles. What was read off
the wire is known to a sample of it, to what the fit of the clocks leaves open, and between two
channels to their skew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.errors import TwinError
from analysis.twin.replay import Board, Side
from base.arrays import Floats, Integers
from base.run_folder.edges import NS_PER_S

WORDS = {
    "dwt_cycles": "critical section, by DWT",
    "dwt_operation_cycles": "whole operation, by DWT",
    "critical_pulse": "critical section, on the wire",
    "operation_pulse": "whole operation, on the wire",
    "begin": "begin, since the first operation's",
    "interrupt_latency": "interrupt latency",
    "task_latency": "task latency",
    "control_latency": "control interrupt latency",
}
"""Of each compared quantity."""
KEYS = tuple(WORDS)
CYCLES = KEYS[:2]
LATENCIES = ("interrupt_latency", "task_latency", "control_latency")

# A float's rounding of a time in cycles; the budgets are thousands of times larger.
_ROUNDING_CYCLES = 1e-4
_OF_TWIN = "_of_twin"


@dataclass(frozen=True)
class ClockRatio:
    """Samples per cycle over the nominal ones, and the most by which that may be wrong."""

    ratio: float
    uncertainty: float


@dataclass(frozen=True)
class Pair:
    """The operations that both did, and what is known of the clocks and of the skew.

    `board` and `twin` have the same operations, in the same order. `skew_cycles` is by the keys of
    the latencies. `clock` is None where the run does not tell its clocks' ratio, `tick_cycles`
    where it does not tell the period of the kernel's tick. `only_planned` and `other_outcome` are
    the numbers of the operations that the two did not do alike.
    """

    board: Side
    twin: Side
    core_hz: int
    clock: ClockRatio | None
    skew_cycles: Mapping[str, float]
    tick_cycles: int | None
    only_planned: tuple[int, ...]
    other_outcome: tuple[int, ...]

    @property
    def doubt(self) -> float:
        """That of the clocks' ratio."""
        return self.clock.uncertainty if self.clock else 0.0

    @property
    def resolution(self) -> float:
        """One sample, in cycles. That of the twin counts where a cycle is no whole sample of it."""
        exact = self.twin.samplerate_hz % self.core_hz == 0
        return self.core_hz / self.board.samplerate_hz + (
            0.0 if exact else self.core_hz / self.twin.samplerate_hz
        )


def pair(board: Board, twin: Side) -> Pair:
    """Joins both by the number of the operation. One that came out otherwise is not joined.

    The clocks' ratio is that by DWT over the whole run, or else by the frames. Raises TwinError
    where no operation is left.
    """
    manifest, theirs = board.manifest, twin.operations
    both = board.side.operations.select("seq", "kind").join(
        theirs.select("seq", theirs_kind="kind"), on="seq", how="inner", maintain_order="left"
    )
    same = pl.col("kind") == pl.col("theirs_kind")
    alike = both.filter(same)["seq"]
    if alike.is_empty():
        raise TwinError("No operation of the run came out as on the virtual board: nothing can be compared.")
    clock = manifest.clock
    ratios = (
        (clock.ratio_by_dwt, clock.ratio_by_dwt_uncertainty),
        (clock.ratio, clock.ratio_uncertainty),
    )
    skews = {}
    for key in LATENCIES:
        budget = manifest.error_budget.get(f"{key}_ns")
        skews[key] = float(budget.skew.ns if budget and budget.skew.ns else 0.0) * board.core_hz / NS_PER_S
    return Pair(
        board.side.only(alike),
        twin.only(alike),
        board.core_hz,
        next(
            (
                ClockRatio(float(ratio), float(doubt))
                for ratio, doubt in ratios
                if ratio and doubt is not None and ratio > 0
            ),
            None,
        ),
        skews,
        manifest.tick.period_cycles if manifest.tick else None,
        tuple(theirs.filter(~pl.col("seq").is_in(both["seq"].implode()))["seq"]),
        tuple(both.filter(~same)["seq"]),
    )


def residuals(given: Pair, ratio: float = 1.0, phase: bool = False) -> pl.DataFrame:
    """One row for each value that both sides have: quantity, seq, residual and budget.

    `ratio` is taken out of the board's wire. With `phase`, if a stimulus came otherwise on one side
    after the operation before it, what a stimulus decides is left out: latencies, when operations
    began, and the operations that an interrupt or a tick of the kernel met on either side. What ran
    before has left other lines in the caches for the handlers.
    """
    board_cycles = given.core_hz / given.board.samplerate_hz / ratio
    twin_cycles = given.core_hz / given.twin.samplerate_hz
    stimuli = {control: matched(given, control) for control in (False, True)}
    decided = phase and any(each.otherwise for each in stimuli.values())
    operations = given.board.operations.join(
        given.twin.operations, on="seq", suffix=_OF_TWIN, maintain_order="left"
    )
    if decided:
        operations = operations.filter(~pl.col("seq").is_in(_met(given)))

    def rows(key: str, table: pl.DataFrame, residual: pl.Expr, budget: pl.Expr) -> pl.DataFrame:
        return table.select(
            quantity=pl.lit(key), seq=pl.col("seq").cast(pl.Int64), residual=residual, budget=budget
        ).drop_nulls("residual")

    def wire(key: str, table: pl.DataFrame, samples: str, known_to: pl.Expr | float) -> pl.DataFrame:
        """Of samples of each side, known to so many cycles beside what the clocks leave open."""
        there = pl.col(f"{samples}{_OF_TWIN}") * twin_cycles
        return rows(key, table, pl.col(samples) * board_cycles - there, known_to + given.doubt * there)

    frames = [
        rows(key, operations, pl.col(key).cast(pl.Float64) - pl.col(f"{key}{_OF_TWIN}"), pl.lit(0.0))
        for key in CYCLES
    ]
    edges = pl.max_horizontal("critical_pulses", 1) * given.resolution
    frames.append(wire("critical_pulse", operations, "wire_critical_samples", edges))
    frames.append(wire("operation_pulse", operations, "wire_operation_samples", given.resolution))
    if decided:
        return pl.concat(frames)
    starts = ["start_sample", f"start_sample{_OF_TWIN}"]
    since_first = operations.drop_nulls(starts).with_columns(pl.col(starts) - pl.col(starts).first())
    frames.append(wire("begin", since_first, "start_sample", given.resolution))
    for key in LATENCIES:
        met = stimuli[key == "control_latency"]
        column = "task_latency_ns" if key == "task_latency" else "isr_latency_ns"
        waits = pl.DataFrame(
            {
                "seq": given.board.interrupts["operation_seq"][met.board],
                "wait": given.board.samples(column, met.board),
                f"wait{_OF_TWIN}": given.twin.samples(column, met.twin),
            }
        )
        frames.append(wire(key, waits, "wait", given.resolution + given.skew_cycles[key]))
    return pl.concat(frames)


def beyond(residuals: pl.DataFrame) -> pl.DataFrame:
    """The rows whose residual is more than the budget."""
    return residuals.filter(_excess() > 0)


def excess(residuals: pl.DataFrame) -> dict[str, float]:
    """The sum by which the residuals of each quantity exceed their budgets."""
    sums = dict(residuals.group_by("quantity").agg(_excess().sum()).iter_rows())
    return {key: float(sums.get(key, 0.0)) for key in KEYS}


def _excess() -> pl.Expr:
    over = pl.col("residual").abs() - pl.col("budget")
    return pl.when(over > _ROUNDING_CYCLES).then(over).otherwise(0.0)


def _met(given: Pair) -> set[int]:
    """The numbers of the operations that an interrupt met on either side, or a tick elsewhere."""
    until, lasts, met = [], [], set[int]()
    for side in (given.board, given.twin):
        until.append(_until_tick(side, given))
        samples = side.operations["wire_operation_samples"].fill_null(0).to_numpy()
        lasts.append(samples * given.core_hz / side.samplerate_hz)
        hit = side.operations.filter((pl.col("isr_hits") > 0) | (pl.col("control_hits") > 0))
        met |= set(hit["seq"]) | set(side.interrupts["operation_seq"].drop_nulls())
    ticked = (until[0] <= lasts[0]) | (until[1] <= lasts[1])
    ticked &= np.abs(until[0] - until[1]) > given.core_hz / given.board.samplerate_hz
    return met | set(given.board.operations.filter(pl.Series(ticked))["seq"])


def _until_tick(side: Side, given: Pair) -> Floats:
    """Cycles from each operation's begin to the next tick, by the stimulus before it that tells of
    one; infinite where none does.
    """
    ticking = side.interrupts.drop_nulls("tick_phase_cycles")
    starts = side.operations["start_sample"].fill_null(0).to_numpy()
    if ticking.is_empty() or not given.tick_cycles:
        return np.full(len(starts), np.inf)
    samples = ticking["sample"].to_numpy()
    before = np.maximum(np.searchsorted(samples, starts) - 1, 0)
    since = (starts - samples[before]) * (given.core_hz / side.samplerate_hz)
    phase: Floats = (ticking["tick_phase_cycles"].to_numpy()[before] + since) % given.tick_cycles
    return given.tick_cycles - phase


@dataclass(frozen=True)
class Matched:
    """Stimuli that both sides had: rows of their tables. `otherwise` is true if one side alone had
    another one, or one came at another time after the operation before it than the wire allows.
    """

    board: Integers
    twin: Integers
    otherwise: bool


def matched(given: Pair, control: bool) -> Matched:
    """Each stimulus of the board and the twin's nearest, if they are each other's.

    How near is told by the time since the operation before, by the ratio of the clocks as it is
    known: what happened earlier does not matter.
    """
    mine, other = (
        np.flatnonzero((side.interrupts["control"] == control).to_numpy())
        for side in (given.board, given.twin)
    )
    starts = [side.operations["start_sample"] for side in (given.board, given.twin)]
    if not len(mine) or not len(other) or any(of_side.null_count() for of_side in starts):
        none = np.empty(0, np.int64)
        return Matched(none, none, len(mine) != len(other))
    ratio = given.clock.ratio if given.clock else 1.0
    sample = given.board.interrupts["sample"].to_numpy()[mine]
    ours, theirs = (of_side.to_numpy() for of_side in starts)
    # The operation before each; before the first one that.
    window = np.maximum(np.searchsorted(ours, sample, side="right") - 1, 0)
    since = (sample - ours[window]) * (given.twin.samplerate_hz / (given.board.samplerate_hz * ratio))
    place = theirs[window] + since
    there = given.twin.interrupts["sample"].to_numpy()[other].astype(np.float64)
    nearest = _nearest(there, place)
    mutual = _nearest(place, there)[nearest] == np.arange(len(mine))
    cycles = given.core_hz / given.twin.samplerate_hz
    phase = np.abs(place - there[nearest])[mutual] * cycles
    allowed = given.resolution + given.doubt * np.abs(since[mutual]) * cycles
    moved = bool((phase > allowed + _ROUNDING_CYCLES).any())
    rows = mine[mutual]
    return Matched(rows, other[nearest[mutual]], moved or len(rows) < max(len(mine), len(other)))


def _nearest(points: Floats, wanted: Floats) -> Integers:
    """The index of the nearest of the sorted `points` to each of `wanted`, int64[wanted]."""
    right = np.minimum(np.searchsorted(points, wanted), len(points) - 1)
    left = np.maximum(right - 1, 0)
    nearer: Integers = np.where(np.abs(wanted - points[left]) <= np.abs(points[right] - wanted), left, right)
    return nearer

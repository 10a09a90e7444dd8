"""Board minus virtual board, value by value, with the budget that each difference has.

All is in cycles of the core. What DWT counted has no budget: cycles are cycles. What was read off
the wire is known to a sample of it, to what the fit of the clocks leaves open, and between two
channels to their skew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis.errors import TwinError
from analysis.twin.replay import Integers, Side, Twin
from base.run_folder.edges import NS_PER_S
from base.run_folder.manifest import Manifest

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Quantity:
    """A compared quantity. `wire` says that it is read off the wire, and not counted by DWT."""

    key: str
    words: str
    wire: bool


QUANTITIES = (
    Quantity("dwt_cycles", "critical section, by DWT", False),
    Quantity("dwt_operation_cycles", "whole operation, by DWT", False),
    Quantity("critical_pulse", "critical section, on the wire", True),
    Quantity("operation_pulse", "whole operation, on the wire", True),
    Quantity("begin", "begin, since the first operation's", True),
    Quantity("interrupt_latency", "interrupt latency", True),
    Quantity("task_latency", "task latency", True),
    Quantity("control_latency", "control interrupt latency", True),
)
KEYS = tuple(quantity.key for quantity in QUANTITIES)
CYCLES = tuple(quantity.key for quantity in QUANTITIES if not quantity.wire)

_COLUMNS = pl.Schema(
    {
        "quantity": pl.String,
        "kind": pl.String,
        "seq": pl.UInt32,
        "residual": pl.Float64,
        "budget": pl.Float64,
    }
)
# A float's rounding of a time in cycles; the budgets are thousands of times larger.
_ROUNDING_CYCLES = 1e-6


@dataclass(frozen=True)
class ClockRatio:
    """Samples per cycle over the nominal ones, and the most by which that may be wrong."""

    ratio: float
    uncertainty: float


@dataclass(frozen=True)
class Scale:
    """Turns samples of both sides into cycles. `ratio` is what is taken out of the board's."""

    board_hz: int
    twin_hz: int
    core_hz: int
    ratio: float = 1.0

    def difference(self, board: Integers, twin: Integers) -> Floats:
        """Board minus twin, in cycles. Exact where nothing is taken out."""
        if self.ratio == 1.0:
            common = math.gcd(self.board_hz, self.twin_hz)
            apart: Integers = board * (self.twin_hz // common) - twin * (self.board_hz // common)
            return np.multiply(
                apart, self.core_hz * common / (self.board_hz * self.twin_hz), dtype=np.float64
            )
        here = np.multiply(board, self.core_hz / self.board_hz / self.ratio, dtype=np.float64)
        corrected: Floats = here - self.cycles(twin)
        return corrected

    @property
    def resolution(self) -> float:
        """One sample, in cycles. That of the twin counts where a cycle is no whole sample of it."""
        exact = self.twin_hz % self.core_hz == 0
        return self.core_hz / self.board_hz + (0.0 if exact else self.core_hz / self.twin_hz)

    def cycles(self, twin: Integers) -> Floats:
        """Samples of the twin in cycles."""
        return np.multiply(twin, self.core_hz / self.twin_hz, dtype=np.float64)


@dataclass(frozen=True)
class Pair:
    """The operations that both did, and what is known of the clocks and of the skew.

    `board` and `twin` have the same operations, in the same order. `critical_pulses` is that of
    the twin. `skew_cycles` is by the keys of the latencies. `clock` is None where the run does not
    tell its clocks' ratio, `tick_cycles` where it does not tell the period of the kernel's tick.
    """

    board: Side
    twin: Side
    critical_pulses: Integers
    core_hz: int
    clock: ClockRatio | None
    skew_cycles: Mapping[str, float]
    tick_cycles: int | None

    @cached_property
    def classes(self) -> Mapping[bool, Matched]:
        """The stimuli that both had, by whether they are of the control interrupt."""
        return {control: matched(self, control) for control in (False, True)}


@dataclass(frozen=True)
class Unjoined:
    """The operations that the two did not do alike, by number."""

    only_planned: tuple[int, ...]
    other_outcome: tuple[int, ...]


def pair(manifest: Manifest, board: Side, twin: Twin, core_hz: int) -> tuple[Pair, Unjoined]:
    """Joins both by the number of the operation. One that came out otherwise is not joined.

    Raises TwinError where none is left.
    """
    ours, theirs = board.operations, twin.side.operations
    both = ours.select("seq", "kind").join(
        theirs.select("seq", theirs_kind="kind"), on="seq", how="inner", maintain_order="left"
    )
    alike = both.filter(pl.col("kind") == pl.col("theirs_kind"))["seq"]
    other = both.filter(pl.col("kind") != pl.col("theirs_kind"))["seq"]
    missing = theirs.filter(~pl.col("seq").is_in(both["seq"].implode()))["seq"]
    if alike.is_empty():
        raise TwinError("No operation of the run came out as on the virtual board: nothing can be compared.")
    joined = Pair(
        board.only(alike),
        twin.side.only(alike),
        twin.critical_pulses[theirs["seq"].is_in(alike.implode()).to_numpy()],
        core_hz,
        clock_ratio(manifest),
        {
            key: _skew_cycles(manifest, f"{key}_ns", core_hz)
            for key in ("interrupt_latency", "task_latency", "control_latency")
        },
        manifest.tick.period_cycles if manifest.tick else None,
    )
    return joined, Unjoined(tuple(missing), tuple(other))


def clock_ratio(manifest: Manifest) -> ClockRatio | None:
    """The ratio by DWT over the whole run, or else by the frames; None if neither tells."""
    clock = manifest.clock
    ratios = (
        (clock.ratio_by_dwt, clock.ratio_by_dwt_uncertainty),
        (clock.ratio, clock.ratio_uncertainty),
    )
    return next(
        (ClockRatio(float(r), float(u)) for r, u in ratios if r is not None and u is not None and r > 0), None
    )


def residuals(given: Pair, ratio: float = 1.0, phase: bool = False) -> pl.DataFrame:
    """One row for each value that both sides have: quantity, kind, seq, residual and budget.

    `ratio` is taken out of the board's wire. With `phase` all is left out that is decided by a
    stimulus that one side alone had, or had at another time after the operation before: the answers
    near it, the operations that interrupts met, and when later operations began. Where both met a
    critical section, the answers are compared by when they came.
    """
    scale = Scale(given.board.samplerate_hz, given.twin.samplerate_hz, given.core_hz, ratio)
    doubt = given.clock.uncertainty if given.clock else 0.0
    classes = given.classes
    left_out = _decided_by_phase(given, classes) if phase else _NOTHING
    return pl.concat(
        [
            *_of_operations(given, scale, doubt, left_out),
            *_of_latencies(given, scale, doubt, classes, left_out),
        ]
    )


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


@dataclass(frozen=True)
class _LeftOut:
    """Operations by number, the windows in which a stimulus came otherwise (from one operation's
    begin to the next's, by the row of the first), and the sample of the board from which on no
    begin is compared.
    """

    operations: frozenset[int]
    windows: frozenset[int]
    begins_from: float


_NOTHING = _LeftOut(frozenset(), frozenset(), math.inf)


def _decided_by_phase(given: Pair, classes: Mapping[bool, Matched]) -> _LeftOut:
    """Nothing, if no stimulus came otherwise. If one did, no operation that an interrupt met is
    compared: what ran before has left other lines in the caches for the handlers.
    """
    windows: set[int] = set()
    first = math.inf
    for control, stimuli in classes.items():
        for side, matched_rows in ((given.board, stimuli.board), (given.twin, stimuli.twin)):
            elsewhere = side.interrupts.with_row_index("row").filter(
                (pl.col("control") == control)
                & ~pl.col("row").is_in(pl.Series(matched_rows[~stimuli.moved], dtype=pl.UInt32).implode())
            )
            windows |= set(np.unique(_window(side, elsewhere["sample"].to_numpy())).tolist())
            if side is given.board and elsewhere.height:
                first = min(first, float(elsewhere["sample"][0]))
    if not windows:
        return _NOTHING
    met = set(given.board.operations.filter(_ticked_otherwise(given))["seq"])
    for side in (given.board, given.twin):
        hit = side.operations.filter((pl.col("isr_hits") > 0) | (pl.col("control_hits") > 0))
        met |= set(hit["seq"]) | set(side.interrupts["operation_seq"].drop_nulls().unique())
    return _LeftOut(frozenset(met), frozenset(windows), first)


def _ticked_otherwise(given: Pair) -> pl.Series:
    """Whether the kernel's tick fell into an operation on either side, and elsewhere."""
    until = [_until_tick(side, given) for side in (given.board, given.twin)]
    lasts = [
        side.operations["wire_operation_samples"].fill_null(0).to_numpy() * given.core_hz / side.samplerate_hz
        for side in (given.board, given.twin)
    ]
    inside = (until[0] <= lasts[0]) | (until[1] <= lasts[1])
    return pl.Series(inside & (np.abs(until[0] - until[1]) > given.core_hz / given.board.samplerate_hz))


def _until_tick(side: Side, given: Pair) -> Floats:
    """Cycles from each operation's begin to the next tick, by the stimulus before it that tells of
    one; infinite where none does.
    """
    ticking = side.interrupts.drop_nulls("tick_phase_cycles")
    starts = side.operations["start_sample"].fill_null(0).to_numpy()
    if ticking.is_empty() or not given.tick_cycles:
        return np.full(len(starts), math.inf)
    samples = ticking["sample"].to_numpy()
    before = np.maximum(np.searchsorted(samples, starts) - 1, 0)
    since = (starts - samples[before]) * (given.core_hz / side.samplerate_hz)
    phase: Floats = (ticking["tick_phase_cycles"].to_numpy()[before] + since) % given.tick_cycles
    return given.tick_cycles - phase


def _window(side: Side, samples: Integers) -> Integers:
    """The row of the last operation that began before each of `samples`; 0 before the first."""
    starts = side.operations["start_sample"].fill_null(strategy="forward").fill_null(0).to_numpy()
    return np.maximum(np.searchsorted(starts, samples, side="right") - 1, 0)


def _of_operations(given: Pair, scale: Scale, doubt: float, left_out: _LeftOut) -> list[pl.DataFrame]:
    ours, theirs = given.board.operations, given.twin.operations
    compared = ~ours["seq"].is_in(list(left_out.operations)).to_numpy()
    frames = [
        _rows(key, ours, (ours[key].cast(pl.Int64) - theirs[key].cast(pl.Int64)).to_numpy(), 0.0, compared)
        for key in CYCLES
    ]
    pulses = {
        "critical_pulse": ("wire_critical_samples", np.maximum(given.critical_pulses, 1)),
        "operation_pulse": ("wire_operation_samples", np.ones(ours.height)),
    }
    for key, (column, edges) in pulses.items():
        here, there, both = _both(ours[column], theirs[column])
        budget = edges * scale.resolution + doubt * scale.cycles(there)
        frames.append(_rows(key, ours, scale.difference(here, there), budget, both & compared))
    here, there, both = _both(ours["start_sample"], theirs["start_sample"])
    if both.any():
        first = int(np.argmax(both))
        since_here, since_there = here - here[first], there - there[first]
        budget = scale.resolution + doubt * scale.cycles(since_there)
        both &= here <= left_out.begins_from
        frames.append(_rows("begin", ours, scale.difference(since_here, since_there), budget, both))
    return frames


def _both(ours: pl.Series, theirs: pl.Series) -> tuple[Integers, Integers, npt.NDArray[np.bool_]]:
    both = (ours.is_not_null() & theirs.is_not_null()).to_numpy()
    return ours.fill_null(0).to_numpy(), theirs.fill_null(0).to_numpy(), both


def _of_latencies(
    given: Pair, scale: Scale, doubt: float, classes: Mapping[bool, Matched], left_out: _LeftOut
) -> list[pl.DataFrame]:
    kinds = dict(given.board.operations.select("seq", "kind").iter_rows())
    frames = []
    for key, control, column in (
        ("interrupt_latency", False, "isr_latency_ns"),
        ("task_latency", False, "task_latency_ns"),
        ("control_latency", True, "isr_latency_ns"),
    ):
        met = classes[control]
        ours = given.board.samples(column, met.board)
        theirs = given.twin.samples(column, met.twin)
        apart = scale.difference(ours, theirs)
        budget = scale.resolution + given.skew_cycles[key] + doubt * scale.cycles(theirs)
        answered = (ours >= 0) & (theirs >= 0)
        if left_out.windows:
            by_answer = met.moved & met.both_critical & (not control)
            apart = np.where(by_answer, apart + met.phase, apart)
            answered &= by_answer | _untouched(given, met, left_out)
        seq = given.board.interrupts["operation_seq"][met.board]
        rows = pl.DataFrame(
            {"seq": seq, "kind": seq.replace_strict(kinds, default=None, return_dtype=pl.String)}
        )
        frames.append(_rows(key, rows, apart, budget, answered))
    return frames


def _untouched(given: Pair, met: Matched, left_out: _LeftOut) -> npt.NDArray[np.bool_]:
    """Whether nothing that came otherwise decides the answer: no stimulus near it, no tick; and
    between operations, where the code waits in loops, none at all before it.
    """
    rows = given.board.interrupts.select("sample", "operation_seq", "tick")[met.board]
    samples = rows["sample"].to_numpy()
    near = np.isin(_window(given.board, samples), list(left_out.windows))
    waits = rows["operation_seq"].is_null().to_numpy() & (samples > left_out.begins_from)
    ticked = (rows["tick"] | given.twin.interrupts["tick"][met.twin]).fill_null(False).to_numpy()
    clear: npt.NDArray[np.bool_] = ~(near | waits | ticked)
    return clear


@dataclass(frozen=True)
class Matched:
    """Stimuli that both sides had: rows of their tables. `phase` is by how much later, after the
    operation before it, the board's came, in cycles, and `moved` whether that is more than the wire
    can be wrong by. `both_critical` is true where both met a critical section.
    """

    board: Integers
    twin: Integers
    phase: Floats
    moved: npt.NDArray[np.bool_]
    both_critical: npt.NDArray[np.bool_]


def matched(given: Pair, control: bool) -> Matched:
    """Each stimulus of the board and the twin's nearest, if they are each other's.

    How near is told by the time since the operation before, by the ratio of the clocks as it is
    known: what happened earlier does not matter.
    """
    ratio = given.clock.ratio if given.clock else 1.0
    scale = Scale(given.board.samplerate_hz, given.twin.samplerate_hz, given.core_hz, ratio)
    ours, theirs = given.board.interrupts, given.twin.interrupts
    mine = np.flatnonzero((ours["control"] == control).to_numpy())
    other = np.flatnonzero((theirs["control"] == control).to_numpy())
    starts = _both(given.board.operations["start_sample"], given.twin.operations["start_sample"])
    if not len(mine) or not len(other) or not starts[2].all():
        none, no = np.empty(0, np.int64), np.empty(0, np.bool_)
        return Matched(none, none, np.empty(0), no, no)
    sample = ours["sample"].to_numpy()[mine]
    window = _window(given.board, sample)
    since_hz = scale.twin_hz / (scale.board_hz * scale.ratio)
    since = (sample - starts[0][window]) * since_hz
    place = starts[1][window] + since
    there = theirs["sample"].to_numpy()[other]
    nearest = _nearest(there, place)
    back = _nearest(place, there.astype(np.float64))
    mutual = back[nearest] == np.arange(len(mine))
    rows, at = mine[mutual], other[nearest[mutual]]
    hits = (ours["hit"] == "critical").to_numpy()[rows] & (theirs["hit"] == "critical").to_numpy()[at]
    phase = (place[mutual] - there[nearest[mutual]]) * (scale.core_hz / scale.twin_hz)
    doubt = given.clock.uncertainty if given.clock else 0.0
    allowed = scale.resolution + doubt * np.abs(since[mutual]) * (scale.core_hz / scale.twin_hz)
    moved = np.abs(phase) > allowed + _ROUNDING_CYCLES
    return Matched(rows, at, phase, moved, hits)


def _nearest(points: npt.NDArray[np.generic], wanted: Floats) -> Integers:
    """The index of the nearest of the sorted `points` to each of `wanted`, int64[wanted]."""
    right = np.clip(np.searchsorted(points, wanted), 1, max(len(points) - 1, 1))
    right = np.minimum(right, len(points) - 1)
    left = np.maximum(right - 1, 0)
    nearer: Integers = np.where(
        np.abs(wanted - points[left].astype(np.float64)) <= np.abs(points[right].astype(np.float64) - wanted),
        left,
        right,
    )
    return nearer


def _rows(
    key: str,
    of: pl.DataFrame,
    residual: npt.NDArray[np.generic],
    budget: float | Floats,
    compared: npt.NDArray[np.bool_],
) -> pl.DataFrame:
    columns = {
        "quantity": pl.repeat(key, of.height, eager=True, dtype=pl.String),
        "kind": of["kind"],
        "seq": of["seq"],
        "residual": pl.Series(residual.astype(np.float64)),
        "budget": pl.Series(np.broadcast_to(budget, (of.height,)).astype(np.float64)),
    }
    frame = pl.DataFrame(columns).select(pl.col(name).cast(dtype) for name, dtype in _COLUMNS.items())
    return frame.filter(pl.Series(compared))


def _skew_cycles(manifest: Manifest, key: str, core_hz: int) -> float:
    budget = manifest.error_budget.get(key)
    ns = budget.skew.ns if budget else None
    return 0.0 if ns is None else float(ns) * core_hz / NS_PER_S

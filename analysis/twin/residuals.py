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
LATENCIES = ("interrupt_latency", "task_latency", "control_latency")

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
    `only_planned` and `other_outcome` are the numbers of the operations that the two did not do
    alike.
    """

    board: Side
    twin: Side
    critical_pulses: Integers
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

    @cached_property
    def classes(self) -> Mapping[bool, Matched]:
        """The stimuli that both had, by whether they are of the control interrupt."""
        return {control: matched(self, control) for control in (False, True)}


def pair(manifest: Manifest, board: Side, twin: Twin, core_hz: int) -> Pair:
    """Joins both by the number of the operation. One that came out otherwise is not joined.

    The clocks' ratio is that by DWT over the whole run, or else by the frames. Raises TwinError
    where no operation is left.
    """
    ours, theirs = board.operations, twin.side.operations
    both = ours.select("seq", "kind").join(
        theirs.select("seq", theirs_kind="kind"), on="seq", how="inner", maintain_order="left"
    )
    same = pl.col("kind") == pl.col("theirs_kind")
    alike = both.filter(same)["seq"]
    if alike.is_empty():
        raise TwinError("No operation of the run came out as on the virtual board: nothing can be compared.")
    clock, clocks = manifest.clock, []
    for ratio, uncertainty in (
        (clock.ratio_by_dwt, clock.ratio_by_dwt_uncertainty),
        (clock.ratio, clock.ratio_uncertainty),
    ):
        if ratio is not None and uncertainty is not None and ratio > 0:
            clocks.append(ClockRatio(float(ratio), float(uncertainty)))
    skews = {}
    for key in LATENCIES:
        budget = manifest.error_budget.get(f"{key}_ns")
        skews[key] = float(budget.skew.ns if budget and budget.skew.ns else 0.0) * core_hz / NS_PER_S
    return Pair(
        board.only(alike),
        twin.side.only(alike),
        twin.critical_pulses[theirs["seq"].is_in(alike.implode()).to_numpy()],
        core_hz,
        clocks[0] if clocks else None,
        skews,
        manifest.tick.period_cycles if manifest.tick else None,
        tuple(theirs.filter(~pl.col("seq").is_in(both["seq"].implode()))["seq"]),
        tuple(both.filter(~same)["seq"]),
    )


def residuals(given: Pair, ratio: float = 1.0, phase: bool = False) -> pl.DataFrame:
    """One row for each value that both sides have: quantity, kind, seq, residual and budget.

    `ratio` is taken out of the board's wire. With `phase` all is left out that is decided by a
    stimulus that one side alone had, or had at another time after the operation before: the answers
    near it, the operations that interrupts met, and when later operations began. Where both met a
    critical section, the answers are compared by when they came.
    """
    scale = Scale(given.board.samplerate_hz, given.twin.samplerate_hz, given.core_hz, ratio)
    left_out = _decided_by_phase(given) if phase else _NOTHING
    return pl.concat([*_of_operations(given, scale, left_out), *_of_latencies(given, scale, left_out)])


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


def _decided_by_phase(given: Pair) -> _LeftOut:
    """Nothing, if no stimulus came otherwise. If one did, no operation that an interrupt met is
    compared: what ran before has left other lines in the caches for the handlers.
    """
    windows: set[int] = set()
    first = math.inf
    for control, stimuli in given.classes.items():
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
    # The kernel's tick fell into an operation on either side, and elsewhere.
    until, lasts = [], []
    for side in (given.board, given.twin):
        until.append(_until_tick(side, given))
        samples = side.operations["wire_operation_samples"].fill_null(0).to_numpy()
        lasts.append(samples * given.core_hz / side.samplerate_hz)
    ticked = (until[0] <= lasts[0]) | (until[1] <= lasts[1])
    ticked &= np.abs(until[0] - until[1]) > given.core_hz / given.board.samplerate_hz
    met = set(given.board.operations.filter(pl.Series(ticked))["seq"])
    for side in (given.board, given.twin):
        hit = side.operations.filter((pl.col("isr_hits") > 0) | (pl.col("control_hits") > 0))
        met |= set(hit["seq"]) | set(side.interrupts["operation_seq"].drop_nulls().unique())
    return _LeftOut(frozenset(met), frozenset(windows), first)


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


def _of_operations(given: Pair, scale: Scale, left_out: _LeftOut) -> list[pl.DataFrame]:
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
        budget = edges * scale.resolution + given.doubt * scale.cycles(there)
        frames.append(_rows(key, ours, scale.difference(here, there), budget, both & compared))
    here, there, both = _both(ours["start_sample"], theirs["start_sample"])
    if both.any():
        first = int(np.argmax(both))
        since_here, since_there = here - here[first], there - there[first]
        budget = scale.resolution + given.doubt * scale.cycles(since_there)
        both &= here <= left_out.begins_from
        frames.append(_rows("begin", ours, scale.difference(since_here, since_there), budget, both))
    return frames


def _both(ours: pl.Series, theirs: pl.Series) -> tuple[Integers, Integers, npt.NDArray[np.bool_]]:
    both = (ours.is_not_null() & theirs.is_not_null()).to_numpy()
    return ours.fill_null(0).to_numpy(), theirs.fill_null(0).to_numpy(), both


def _of_latencies(given: Pair, scale: Scale, left_out: _LeftOut) -> list[pl.DataFrame]:
    kinds = dict(given.board.operations.select("seq", "kind").iter_rows())
    frames = []
    for key in LATENCIES:
        control = key == "control_latency"
        column = "task_latency_ns" if key == "task_latency" else "isr_latency_ns"
        met = given.classes[control]
        ours = given.board.samples(column, met.board)
        theirs = given.twin.samples(column, met.twin)
        apart = scale.difference(ours, theirs)
        budget = scale.resolution + given.skew_cycles[key] + given.doubt * scale.cycles(theirs)
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
    there = theirs["sample"].to_numpy()[other].astype(np.float64)
    nearest = _nearest(there, place)
    back = _nearest(place, there)
    mutual = back[nearest] == np.arange(len(mine))
    rows, at = mine[mutual], other[nearest[mutual]]
    hits = (ours["hit"] == "critical").to_numpy()[rows] & (theirs["hit"] == "critical").to_numpy()[at]
    phase = (place[mutual] - there[nearest[mutual]]) * (scale.core_hz / scale.twin_hz)
    allowed = scale.resolution + given.doubt * np.abs(since[mutual]) * (scale.core_hz / scale.twin_hz)
    moved = np.abs(phase) > allowed + _ROUNDING_CYCLES
    return Matched(rows, at, phase, moved, hits)


def _nearest(points: Floats, wanted: Floats) -> Integers:
    """The index of the nearest of the sorted `points` to each of `wanted`, int64[wanted]."""
    right = np.minimum(np.searchsorted(points, wanted), len(points) - 1)
    left = np.maximum(right - 1, 0)
    nearer: Integers = np.where(np.abs(wanted - points[left]) <= np.abs(points[right] - wanted), left, right)
    return nearer


def _rows(
    key: str,
    of: pl.DataFrame,
    residual: npt.NDArray[np.generic],
    budget: float | Floats,
    compared: npt.NDArray[np.bool_],
) -> pl.DataFrame:
    return of.select(
        quantity=pl.lit(key),
        kind="kind",
        seq="seq",
        residual=pl.Series(residual.astype(np.float64)),
        budget=pl.Series(np.broadcast_to(budget, of.height).astype(np.float64)),
    ).filter(pl.Series(compared))

"""What held interrupts off as a timeline: masks, handlers, tasks, sleep, and what was held off."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from analysis.masks.clock import Clock
from analysis.masks.intervals import THREAD
from analysis.masks.measure import Found
from analysis.masks.places import Places
from analysis.masks.worst import name_of
from analysis.timeline.trace_events import Timeline

_MASKS, _HANDLERS, _TASKS, _HELD = "masks", "handlers", "tasks", "not taken"


def timeline(found: Found) -> Timeline:
    """All that a run showed. What is still open lasts to the end of the run."""
    made = Timeline()
    add(made, found)
    return made


def add(made: Timeline, found: Found) -> None:
    """Adds all that a run showed to a timeline, from reset on."""
    _tasks(made, found.run.changes, found.clock, found.tasks, found.cycles)
    _sleep(made, found.run.changes, found.clock, found.cycles)
    _intervals(made, found)
    for one in found.priorities:
        track = f"priority {one.priority:#04x}: {', '.join(one.exceptions)}"
        columns = ("begin_cycle", "end_cycle", "cycles")
        for begin, end, cycles in one.intervals.select(columns).iter_rows():
            _slice(made, found.clock, found.cycles, _HELD, track, "not taken", begin, end, cycles=cycles)


def _intervals(made: Timeline, found: Found) -> None:
    begun = found.run.changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack"
    )
    rows = found.intervals.join(begun, on="begin_row", how="left", maintain_order="left")
    told = ("kind", "level", "begin_cycle", "end_cycle", "cycles", "pc", "stack")
    for kind, level, begin, end, cycles, pc, stack in rows.select(told).iter_rows():
        group, track = (_HANDLERS, found.places.exception(level)) if kind == "handler" else (_MASKS, kind)
        calls = [str(frame) for frame in found.places.stack(stack, pc)]
        name = _named(kind, level, found.places)
        _slice(made, found.clock, found.cycles, group, track, name, begin, end, cycles=cycles, stack=calls)


def _named(kind: str, level: int | None, places: Places) -> str:
    return (
        places.exception(level) if kind == "handler" and level is not None else name_of(kind, level, places)
    )


def _tasks(
    made: Timeline, changes: pl.DataFrame, clock: Clock, names: Mapping[int, str], end_cycle: int
) -> None:
    """Each task while it is the current one. A switch shows at the change that follows it."""
    rows = changes.filter(pl.col("task").fill_null(0) != 0)
    switched = rows.filter(pl.col("task").ne_missing(pl.col("task").shift(1)))
    spans = switched.select("task", begin="cycle", end=pl.col("cycle").shift(-1, fill_value=end_cycle))
    for task, begin, end in spans.iter_rows():
        name = names.get(task, f"{task:#010x}")
        _slice(made, clock, end_cycle, _TASKS, name, name, begin, end)


def _sleep(made: Timeline, changes: pl.DataFrame, clock: Clock, end_cycle: int) -> None:
    rows = changes.filter(pl.col("what") == "sleep")
    spans = rows.select("value", begin="cycle", end=pl.col("cycle").shift(-1, fill_value=end_cycle))
    for value, begin, end in spans.iter_rows():
        if value != THREAD:
            _slice(made, clock, end_cycle, _TASKS, "core", "asleep", begin, end)


def _slice(
    made: Timeline,
    clock: Clock,
    last: int,
    group: str,
    track: str,
    name: str,
    begin: int,
    end: int | None,
    **told: object,
) -> None:
    open_end = {"still": "open"} if end is None else {}
    begin_ns, end_ns = clock.ns([begin, last if end is None else end]).tolist()
    made.slice(group, track, name, begin_ns, end_ns, begin_cycle=begin, **told, **open_end)

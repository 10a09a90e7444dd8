"""What held interrupts off as a timeline: masks, handlers, tasks, sleep, and what was held off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from analysis.program.masks.measure import Found
from analysis.program.masks.worst import name_of
from base.timeline.trace_events import Timeline

_MASKS, _HANDLERS, _TASKS, _HELD = "masks", "handlers", "tasks", "not taken"


def timeline(found: Found) -> Timeline:
    """All that a run showed. What is still open lasts to the end of the run."""
    made = Timeline()
    add(made, found)
    return made


def add(made: Timeline, found: Found) -> None:
    """Adds all that a run showed to a timeline, from reset on."""
    _tasks(made, found)
    _sleep(made, found)
    _intervals(made, found)
    for one in found.priorities:
        track = f"priority {one.priority:#04x}: {', '.join(one.exceptions)}"
        for begin_ns, end_ns, row in _timed(found, one.intervals):
            made.slice(_HELD, track, "not taken", begin_ns, end_ns, **_told(row))


def _intervals(made: Timeline, found: Found) -> None:
    begun = found.run.changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack"
    )
    rows = found.intervals.join(begun, on="begin_row", how="left", maintain_order="left")
    calls: dict[tuple[int | None, int], str] = {}
    for begin_ns, end_ns, row in _timed(found, rows):
        where = (row["stack"], row["pc"])
        if where not in calls:
            calls[where] = " ← ".join(str(frame) for frame in found.places.stack(*where))
        group, track = _MASKS, row["kind"]
        name = name_of(row["kind"], row["level"], found.places)
        if row["kind"] == "handler":
            group, track = _HANDLERS, found.places.exception(row["level"])
            name = track
        made.slice(group, track, name, begin_ns, end_ns, **_told(row), stack=calls[where])


def _tasks(made: Timeline, found: Found) -> None:
    """Each task while it is the current one. A switch shows at the change that follows it."""
    rows = found.run.changes.filter(pl.col("task").fill_null(0) != 0)
    switched = rows.filter(pl.col("task").ne_missing(pl.col("task").shift(1)))
    for begin_ns, end_ns, row in _timed(found, _until_next(switched, "task")):
        name = found.tasks.get(row["task"], f"{row['task']:#010x}")
        made.slice(_TASKS, name, name, begin_ns, end_ns, begin_cycle=row["begin_cycle"])


def _sleep(made: Timeline, found: Found) -> None:
    rows = found.run.changes.filter(pl.col("what").is_in(["sleep", "reset"]))
    for begin_ns, end_ns, row in _timed(found, _until_next(rows, "value")):
        if row["value"]:
            made.slice(_TASKS, "core", "asleep", begin_ns, end_ns, begin_cycle=row["begin_cycle"])


def _until_next(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """What `column` is from each of `rows` to the next one."""
    return rows.select(column, begin_cycle="cycle", end_cycle=pl.col("cycle").shift(-1))


def _timed(found: Found, rows: pl.DataFrame) -> Iterator[tuple[float, float, dict[str, Any]]]:
    """Each row with the times of its first and its last cycle; without one, that of the run."""
    ends = rows["end_cycle"].fill_null(found.cycles)
    begin_ns = found.clock.ns(rows["begin_cycle"].to_numpy()).tolist()
    yield from zip(
        begin_ns, found.clock.ns(ends.to_numpy()).tolist(), rows.iter_rows(named=True), strict=True
    )


def _told(row: dict[str, Any]) -> dict[str, object]:
    still = {"still": "open"} if row["cycles"] is None else {}
    return {"begin_cycle": row["begin_cycle"], "cycles": row["cycles"], **still}

"""Timelines: what held interrupts off in a program, and a stored run with its pins and operations.

Time 0 is the first sample, which on the virtual board is reset.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from analysis.explain.kernels import kernel as kernels
from analysis.explain.program import Program
from analysis.explain.replay import elf_of
from analysis.program.masks.intervals import Clock
from analysis.program.masks.measure import MaskReport, of_run
from analysis.program.masks.tasks import shown
from analysis.program.masks.worst import name_of
from base.run_folder import folder as names
from base.run_folder.edges import NS_PER_S, EdgeList, read_parquet
from base.run_folder.explanation import FOLDER, Explanation, Unreplayed
from base.run_folder.folder import read_observed
from base.run_folder.manifest import read_manifest
from base.run_folder.named_quantities import NAMED
from base.run_folder.tables import read_operations
from base.timeline import Timeline
from simulator import masks as simulator
from simulator.kernel import NO_WORDS
from simulator.program import UserProgram

_MASKS, _HANDLERS, _TASKS, _HELD = "masks", "handlers", "tasks", "not taken"


def timeline(found: MaskReport) -> Timeline:
    """All that a run showed. What is still open lasts to the end of the run."""
    made = Timeline()
    add(made, found)
    return made


def add(made: Timeline, found: MaskReport) -> None:
    """Adds all that a run showed to a timeline, from reset on."""
    _start_up(made, found)
    _tasks(made, found)
    _sleep(made, found)
    _intervals(made, found)
    for one in found.priorities:
        track = f"priority {one.priority:#04x}: {', '.join(one.exceptions)}"
        for begin_ns, end_ns, row in _timed(found, one.intervals):
            made.slice(_HELD, track, "not taken", begin_ns, end_ns, **_told(row))


def _intervals(made: Timeline, found: MaskReport) -> None:
    begun = found.run.changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack"
    )
    rows = found.all_intervals.join(begun, on="begin_row", how="left", maintain_order="left")
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


def _start_up(made: Timeline, found: MaskReport) -> None:
    begun = found.beginning
    if begun.first_cycle:
        end_ns = float(found.clock.ns([begun.first_cycle])[0])
        made.slice(_TASKS, "start-up", "start-up", 0.0, end_ns, until=begun.asked.where)


def _tasks(made: Timeline, found: MaskReport) -> None:
    """Each task while it is the current one. A switch shows at the change that follows it."""
    rows = found.run.changes.filter(pl.col("task").fill_null(0) != 0)
    switched = rows.filter(pl.col("task").ne_missing(pl.col("task").shift(1)))
    for begin_ns, end_ns, row in _timed(found, _until_next(switched, "task")):
        name = shown(found.tasks, row["task"])
        made.slice(_TASKS, name, name, begin_ns, end_ns, begin_cycle=row["begin_cycle"])


def _sleep(made: Timeline, found: MaskReport) -> None:
    rows = found.run.changes.filter(pl.col("what").is_in(["sleep", "reset"]))
    for begin_ns, end_ns, row in _timed(found, _until_next(rows, "value")):
        if row["value"]:
            made.slice(_TASKS, "core", "asleep", begin_ns, end_ns, begin_cycle=row["begin_cycle"])


def _until_next(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Intervals of `column`'s values, from each of `rows` to the next one."""
    return rows.select(column, begin_cycle="cycle", end_cycle=pl.col("cycle").shift(-1))


def _timed(found: MaskReport, rows: pl.DataFrame) -> Iterator[tuple[float, float, dict[str, Any]]]:
    """Each row with the times of its first and its last cycle; without one, that of the run."""
    ends = rows["end_cycle"].fill_null(found.cycles)
    begin_ns = found.clock.ns(rows["begin_cycle"].to_numpy()).tolist()
    yield from zip(
        begin_ns, found.clock.ns(ends.to_numpy()).tolist(), rows.iter_rows(named=True), strict=True
    )


def _told(row: dict[str, Any]) -> dict[str, object]:
    still = {"still": "open"} if row["cycles"] is None else {}
    return {"begin_cycle": row["begin_cycle"], "cycles": row["cycles"], **still}


_PINS, _HEAP, _WORST, _CALLS = "pins", "heap", "explained", "functions"
_KINDS = {"A": "allocate", "O": "allocate, out of memory", "F": "free"}


def run_timeline(folder: Path, found: Explanation) -> Timeline:
    """The timeline of the run in `folder`, whose worst sample `found` explains.

    Raises TailscopeError.
    """
    edges = read_parquet(folder / names.EDGES)
    made = Timeline()
    add_pins(made, edges)
    add_operations(made, read_operations(folder / names.OPERATIONS), edges)
    begin, end = (at * edges.sample_ns for at in (found.start_sample, found.end_sample))
    made.slice(_WORST, "the worst sample", NAMED[found.quantity].words, begin, end, value_ns=found.value_ns)
    if not isinstance(found, Unreplayed):
        _executed(made, folder, found, edges)
    return made


def add_pins(made: Timeline, edges: EdgeList) -> None:
    """Each pin while it is high."""
    for channel in edges.channels:
        told = edges.transitions(channel)
        at, level = told.sample.tolist(), told.level.tolist()
        if edges.initial_level(channel):
            at, level = [0, *at], [True, *level]
        until = [*at, edges.total_samples][1:]
        for begin, end, high in zip(at, until, level, strict=True):
            if high:
                made.slice(_PINS, channel, channel, begin * edges.sample_ns, end * edges.sample_ns)


def add_operations(made: Timeline, operations: pl.DataFrame, edges: EdgeList) -> None:
    """Each operation on the wire, and the bytes in use after it."""
    told = (
        "seq",
        "kind",
        "size",
        "label",
        "probes",
        "start_sample",
        "wire_operation_samples",
        "bytes_in_use",
    )
    rows = operations.drop_nulls(("start_sample", "wire_operation_samples")).select(told)
    for seq, kind, size, label, probes, start, samples, in_use in rows.iter_rows():
        begin, end = start * edges.sample_ns, (start + samples) * edges.sample_ns
        name = _KINDS.get(kind, "operation")
        made.slice(_HEAP, "operations", name, begin, end, seq=seq, size=size, label=label, probes=probes)
        if in_use is not None:
            made.counter(_HEAP, "heap in use", end, {"bytes": in_use})


def _executed(made: Timeline, folder: Path, found: Explanation, edges: EdgeList) -> None:
    """Adds what held interrupts off during the capture, and the functions of the worst sample."""
    program = UserProgram(elf_of(read_manifest(folder / names.MANIFEST)))
    image = read_observed(folder, names.IMAGE)
    until = f"{edges.total_samples * NS_PER_S // edges.samplerate_hz}ns"
    kernel = kernels.find(Program(program.elf, stripped=True))
    run = simulator.run_masks(program, until, image, kernel=kernel.words if kernel else NO_WORDS)
    add(made, of_run(program, until, run, explain=False, tell=lambda _: None, image=image, kernel=kernel))
    steps = pl.read_csv(folder / FOLDER / f"{found.quantity}-instructions.csv")
    add_functions(made, steps, Clock(run.stats.clocks))


def add_functions(made: Timeline, steps: pl.DataFrame, clock: Clock) -> None:
    """The functions of the worst sample, one after the other: each without what it calls."""
    rows = steps.select("cycle", "cycles", function=pl.col("place").str.split("+").list.first())
    spans = (
        rows.group_by(pl.col("function").rle_id().alias("span"), "function", maintain_order=True)
        .agg(pl.col("cycle").first(), pl.col("cycles").sum())
        .select("function", "cycle", "cycles")
    )
    for function, cycle, cycles in spans.iter_rows():
        begin, end = clock.ns([cycle, cycle + cycles]).tolist()
        made.slice(_WORST, _CALLS, function, begin, end, cycles=cycles)

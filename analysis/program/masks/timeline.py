"""Timelines: what held interrupts off in a program, and a stored run with its pins and operations.

Time 0 is the first sample, which on the virtual board is reset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analysis.explain.replay import elf_of
from analysis.program.beginning import RESET
from analysis.program.clock import Clock
from analysis.program.masks.measure import LongestWait, MaskReport, of_run
from analysis.program.masks.tasks import shown
from analysis.program.masks.worst import Worst, name_of
from analysis.program.parts import few
from analysis.program.subject import Subject
from base.run_folder import folder as names
from base.run_folder.edges import NS_PER_S, EdgeList, read_parquet
from base.run_folder.explanation import FOLDER, Explanation, Unreplayed
from base.run_folder.folder import read_observed
from base.run_folder.manifest import read_manifest
from base.run_folder.named_quantities import NAMED
from base.run_folder.tables import read_operations
from base.timeline import Tell, Timeline
from simulator import masks as simulator
from simulator.program import UserProgram

_MASKS, _HANDLERS, _TASKS, _HELD = "masks", "handlers", "tasks", "not taken"


def timeline(report: MaskReport) -> Timeline:
    """All that a run showed. What is still open lasts to the end of the run."""
    made = Timeline()
    add(made, report)
    return made


def add(made: Timeline, report: MaskReport) -> None:
    """Adds all that a run showed to a timeline, from reset on.

    Where a timeline folds, what is around the begin and the end of the longest of each place, and
    of each priority, stays as it is.
    """
    _start_up(made, report)
    _tasks(made, report)
    _sleep(made, report)
    _intervals(made, report)
    for priority in report.used_priorities:
        track = f"priority {priority.priority:#04x}: {few(priority.exceptions)}"
        _add(made, _HELD, track, report, priority.intervals, _always("not taken"), label="not taken")
    _keep_longest(made, report)


Row = dict[str, Any]

_AROUND_NS = 20_000


def _keep_longest(made: Timeline, report: MaskReport) -> None:
    intervals: tuple[Worst | LongestWait, ...] = (
        *(*report.worst, *report.open, *(report.start_up.worst if report.start_up else ())),
        *(priority.worst for priority in report.used_priorities if priority.worst),
    )
    spans = [(longest.begin_cycle, longest.end_cycle) for longest in intervals]
    cycles = sorted({cycle for span in spans for cycle in span if cycle is not None})
    for at_ns in report.clock.ns(cycles).tolist():
        made.keep(at_ns - _AROUND_NS, at_ns + _AROUND_NS)


def _always(name: str) -> Callable[[Row], str]:
    return lambda _: name


def _by_level(names: Mapping[int | None, str]) -> Callable[[Row], str]:
    return lambda row: names[row["level"]]


def _intervals(made: Timeline, report: MaskReport) -> None:
    table = report.run.changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack"
    )
    rows = report.all_intervals.join(table, on="begin_row", how="left", maintain_order="left")
    calls: dict[tuple[int | None, int], str] = {}

    def called(row: Row) -> dict[str, object]:
        where = (row["stack"], row["pc"])
        if where not in calls:
            calls[where] = " ← ".join(str(frame) for frame in report.places.stack(*where))
        return {"stack": calls[where]}

    track = pl.when(pl.col("kind") == "handler").then("level")
    for (kind, exception), of_track in rows.group_by("kind", track.alias("of"), maintain_order=True):
        group, name = _MASKS, str(kind)
        if exception is not None:
            group, name = _HANDLERS, report.places.exception(int(str(exception)))
        names = {level: _name(kind, level, name, report) for level in of_track["level"].unique()}
        _add(made, group, name, report, of_track, _by_level(names), called)


def _name(kind: object, level: int | None, track: str, report: MaskReport) -> str:
    return track if kind == "handler" else name_of(str(kind), level, report.places)


def _start_up(made: Timeline, report: MaskReport) -> None:
    start = report.start
    if start.first_cycle and start.ns is not None:
        made.slice(_TASKS, "start-up", "start-up", 0.0, start.ns, until=start.where)


def _tasks(made: Timeline, report: MaskReport) -> None:
    """Each task while it is the current one. A switch shows at the change that follows it."""
    rows = report.run.changes.filter(pl.col("task").fill_null(0) != 0)
    switched = rows.filter(pl.col("task").ne_missing(pl.col("task").shift(1)))
    for (task,), of_task in _until_next(switched, "task").group_by("task", maintain_order=True):
        name = shown(report.tasks, int(str(task)))
        _add(made, _TASKS, name, report, of_task, _always(name))


def _sleep(made: Timeline, report: MaskReport) -> None:
    rows = report.run.changes.filter(pl.col("what").is_in(["sleep", "reset"]))
    asleep = _until_next(rows, "value").filter(pl.col("value") != 0)
    _add(made, _TASKS, "core", report, asleep, _always("asleep"), label="asleep")


def _until_next(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Intervals of `column`'s values, from each of `rows` to the next one."""
    return rows.select(column, begin_cycle="cycle", end_cycle=pl.col("cycle").shift(-1))


def _add(
    made: Timeline,
    group: str,
    track: str,
    report: MaskReport,
    rows: pl.DataFrame,
    name: Callable[[Row], str],
    more: Callable[[Row], dict[str, object]] = lambda _: {},
    *,
    label: str = "",
) -> None:
    """The rows of a track, each with its name, its cycles and `more` of it.

    One without an end lasts to that of the run.
    """
    begin_ns = report.clock.ns(rows["begin_cycle"].to_numpy())
    end_ns = report.clock.ns(rows["end_cycle"].fill_null(report.cycles).to_numpy())

    def tell(number: int) -> tuple[str, dict[str, object]]:
        row = rows.row(number, named=True)
        return name(row), {**_facts(row), **more(row)}

    made.slices(group, track, begin_ns, end_ns, tell, label=label)


def _facts(row: Row) -> dict[str, object]:
    if "cycles" not in row:
        return {"begin_cycle": row["begin_cycle"]}
    still = {"still": "open"} if row["cycles"] is None else {}
    return {"begin_cycle": row["begin_cycle"], "cycles": row["cycles"], **still}


_PINS, _HEAP, _WORST, _CALLS = "pins", "heap", "explained", "functions"
_KINDS = {"A": "allocate", "O": "allocate, out of memory", "F": "free"}


def run_timeline(folder: Path, replay: Explanation) -> Timeline:
    """The timeline of the run in `folder`, whose worst sample `replay` explains.

    Raises TailscopeError.
    """
    edges = read_parquet(folder / names.EDGES)
    made = Timeline()
    add_pins(made, edges)
    add_operations(made, read_operations(folder / names.OPERATIONS), edges)
    begin, end = (at * edges.sample_ns for at in (replay.start_sample, replay.end_sample))
    made.keep(*(at * edges.sample_ns for at in (replay.window.first_sample, replay.window.end_sample)))
    made.slice(_WORST, "the worst sample", NAMED[replay.quantity].words, begin, end, value_ns=replay.value_ns)
    if not isinstance(replay, Unreplayed):
        _executed(made, folder, replay, edges)
    return made


def add_pins(made: Timeline, edges: EdgeList) -> None:
    """Each pin while it is high."""
    for channel in edges.channels:
        transitions = edges.transitions(channel)
        at, level = transitions.sample, transitions.level
        if edges.initial_level(channel):
            at, level = np.concatenate([[0], at]), np.concatenate([[True], level])
        until = np.append(at, edges.total_samples)[1:]
        high = np.flatnonzero(level)
        begin, end = (times[high] * edges.sample_ns for times in (at, until))
        made.slices(_PINS, channel, begin, end, _named(channel))


def _named(name: str) -> Tell:
    return lambda _: (name, {})


def add_operations(made: Timeline, operations: pl.DataFrame, edges: EdgeList) -> None:
    """Each operation on the wire, and the bytes in use after it."""
    columns = ("seq", "size", "label", "probes")
    rows = operations.drop_nulls(("start_sample", "wire_operation_samples"))
    begin = rows["start_sample"].to_numpy() * edges.sample_ns
    end = (rows["start_sample"] + rows["wire_operation_samples"]).to_numpy() * edges.sample_ns

    def tell(number: int) -> tuple[str, dict[str, object]]:
        row = rows.row(number, named=True)
        return _KINDS.get(row["kind"], "operation"), {name: row[name] for name in columns}

    made.slices(_HEAP, "operations", begin, end, tell)
    for end_ns, in_use in zip(end.tolist(), rows["bytes_in_use"], strict=True):
        if in_use is not None:
            made.counter(_HEAP, "heap in use", end_ns, {"bytes": in_use})


def _executed(made: Timeline, folder: Path, explanation: Explanation, edges: EdgeList) -> None:
    """Adds what held interrupts off during the capture, and the functions of the worst sample."""
    program = UserProgram(elf_of(read_manifest(folder / names.MANIFEST)))
    image = read_observed(folder, names.IMAGE)
    until = f"{edges.total_samples * NS_PER_S // edges.samplerate_hz}ns"
    subject = Subject.of(program, until, start=RESET)
    run = simulator.run_masks(program, until, image, kernel=subject.words)
    add(made, of_run(subject, run, False, lambda _: None, image))
    steps = pl.read_csv(folder / FOLDER / f"{explanation.quantity}-instructions.csv")
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

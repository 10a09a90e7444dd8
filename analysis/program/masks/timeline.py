"""Timelines: what held interrupts off in a program, and a stored run with its pins and operations.

Time 0 is the first sample, which on the virtual board is reset.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from csv import DictReader
from itertools import groupby, zip_longest
from pathlib import Path

import numpy as np
import polars as pl

from analysis.explain.replay import elf_of
from analysis.program.beginning import RESET
from analysis.program.clock import Clock
from analysis.program.masks.log import Interval, until_zero
from analysis.program.masks.measure import LongestWait, MaskReport, of_run
from analysis.program.masks.tasks import shown
from analysis.program.masks.worst import Worst, name_of
from analysis.program.parts import few
from analysis.program.subject import Subject
from base.run_folder import folder as names
from base.run_folder.channels import NS_PER_S
from base.run_folder.edges import EdgeList, read_parquet
from base.run_folder.explanation import FOLDER, Explanation, Unreplayed
from base.run_folder.folder import read_observed
from base.run_folder.manifest import read_manifest
from base.run_folder.named_quantities import NAMED
from base.run_folder.tables import read_operations
from base.timeline import Tell, Timeline
from simulator import masks as simulator
from simulator.program import UserProgram

_MASKS, _HANDLERS, _TASKS, _HELD = "masks", "handlers", "tasks", "not taken"
_AROUND_NS = 20_000


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
    start = report.start
    if start.first_cycle and start.ns is not None:
        made.slice(_TASKS, "start-up", "start-up", 0.0, start.ns, until=start.where)
    _tasks(made, report)
    _intervals(made, report)
    for priority in report.used_priorities:
        track = f"priority {priority.priority:#04x}: {few(priority.exceptions)}"
        rows = [_row(it, _HELD) for it in priority.intervals]
        _add(made, report, _HELD, track, rows, label=_HELD)
    longest: tuple[Worst | LongestWait, ...] = (
        *(*report.worst, *report.open, *(report.start_up.worst if report.start_up else ())),
        *(priority.worst for priority in report.used_priorities if priority.worst),
    )
    cycles = {cycle for row in longest for cycle in (row.begin_cycle, row.end_cycle) if cycle is not None}
    for at_ns in map(report.clock.ns, sorted(cycles)):
        made.keep(at_ns - _AROUND_NS, at_ns + _AROUND_NS)


Row = tuple[int, int | None, str, dict[str, object]]
"""First cycle, end, name, and what is told of it beside the first cycle."""


def _row(it: Interval, name: str, **facts: object) -> Row:
    still = {"still": "open"} if it.cycles is None else {}
    return it.begin_cycle, it.end_cycle, name, {"cycles": it.cycles, **still, **facts}


def _add(
    made: Timeline, report: MaskReport, group: str, track: str, rows: Sequence[Row], label: str = ""
) -> None:
    """The rows of a track. One without an end lasts to that of the run."""
    begin_ns = [report.clock.ns(begin) for begin, *_ in rows]
    end_ns = [report.clock.ns(report.cycles if end is None else end) for _, end, *_ in rows]

    def tell(number: int) -> tuple[str, dict[str, object]]:
        begin, _, name, facts = rows[number]
        return name, {"begin_cycle": begin, **facts}

    made.slices(group, track, begin_ns, end_ns, tell, label=label)


def _intervals(made: Timeline, report: MaskReport) -> None:
    places = report.places
    calls: dict[tuple[int | None, int], str] = {}
    tracks: dict[tuple[str, str], list[Row]] = {}
    for it in report.all_intervals:
        began = report.run.changes[it.begin_row]
        where = (began.stack, began.pc)
        if where not in calls:
            calls[where] = " ← ".join(map(str, places.stack(*where)))
        group, track, name = _MASKS, it.kind, name_of(it.kind, it.level, places)
        if it.kind == "handler" and it.level is not None:
            group, track = _HANDLERS, places.exception(it.level)
            name = track
        tracks.setdefault((group, track), []).append(_row(it, name, stack=calls[where]))
    for (group, track), rows in tracks.items():
        _add(made, report, group, track, rows)


def _tasks(made: Timeline, report: MaskReport) -> None:
    """Each task while it is the current one, of which a switch shows at the change that follows it;
    and when the core slept.
    """
    of_tasks = groupby((change for change in report.run.changes if change.task), key=lambda it: it.task)
    switches = [next(changes) for _, changes in of_tasks]
    tracks: dict[str, list[Row]] = {}
    for change, following in zip_longest(switches, switches[1:]):
        name = shown(report.tasks, change.task or 0)
        row: Row = (change.cycle, following and following.cycle, name, {})
        tracks.setdefault(name, []).append(row)
    for name, rows in tracks.items():
        _add(made, report, _TASKS, name, rows)
    slept = until_zero("sleep", report.run.changes, report.cycles)
    asleep: list[Row] = [(change.cycle, end, "asleep", {}) for change, end in slept]
    _add(made, report, _TASKS, "core", asleep, label="asleep")


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
    with (folder / FOLDER / f"{explanation.quantity}-instructions.csv").open(encoding="utf-8") as file:
        steps = [(int(row["cycle"]), int(row["cycles"]), row["place"]) for row in DictReader(file)]
    add_functions(made, steps, Clock(run.stats.clocks))


def add_functions(made: Timeline, steps: Iterable[tuple[int, int, str]], clock: Clock) -> None:
    """The functions of the worst sample, one after the other, each without what it calls; of steps
    the cycle, the cycles and the place.
    """
    for function, of_function in groupby(steps, key=lambda step: step[2].partition("+")[0]):
        rows = list(of_function)
        cycle, cycles = rows[0][0], sum(taken for _, taken, _ in rows)
        made.slice(_WORST, _CALLS, function, clock.ns(cycle), clock.ns(cycle + cycles), cycles=cycles)

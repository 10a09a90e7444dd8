"""Timelines: what held interrupts off in a program, and a stored run with its pins and operations.

Time 0 is the first sample, which on the virtual board is reset.
"""

from __future__ import annotations

from csv import DictReader
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from analysis.explain.replay import elf_of
from analysis.program.masks.log import Interval, until_zero
from analysis.program.masks.measure import LongestWait, MaskReport, of_run
from analysis.program.masks.tasks import shown
from analysis.program.masks.worst import Worst, name_of
from analysis.program.parts import few
from analysis.program.subject import RESET, Clock, Subject
from base.run_folder import folder as names
from base.run_folder.channels import NS_PER_S
from base.run_folder.edges import read_parquet
from base.run_folder.explanation import FOLDER, Explanation, Unreplayed
from base.run_folder.folder import read_observed
from base.run_folder.manifest import read_manifest
from base.run_folder.named_quantities import NAMED
from base.run_folder.tables import read_operations
from base.timeline import Timeline
from simulator import masks as simulator
from simulator.program import UserProgram

_TASKS, _HELD, _WORST = "tasks", "not taken", "explained"
_AROUND_NS = 20_000
_KINDS = {"A": "allocate", "O": "allocate, out of memory", "F": "free"}


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
    start, places, changes = report.start, report.places, report.run.changes
    if start.first_cycle and start.ns is not None:
        made.slice(_TASKS, "start-up", "start-up", 0.0, start.ns, until=start.where)
    tracks: dict[tuple[str, str, str], list[tuple[int, int | None, str, dict[str, object]]]] = {}
    # A task while it is the current one: a switch shows at the change that follows it.
    of_tasks = groupby((change for change in changes if change.task), key=lambda it: it.task)
    switches = [next(of_task) for _, of_task in of_tasks]
    for change, following in zip_longest(switches, switches[1:]):
        name = shown(report.tasks, change.task or 0)
        end = following and following.cycle
        tracks.setdefault((_TASKS, name, ""), []).append((change.cycle, end, name, {}))
    for change, woke in until_zero("sleep", changes, report.cycles):
        tracks.setdefault((_TASKS, "core", "asleep"), []).append((change.cycle, woke, "asleep", {}))

    def add_interval(it: Interval, group: str, track: str, name: str, label: str, **facts: str) -> None:
        told: dict[str, object] = {
            "cycles": it.cycles,
            **({"still": "open"} if it.cycles is None else {}),
            **facts,
        }
        tracks.setdefault((group, track, label), []).append((it.begin_cycle, it.end_cycle, name, told))

    calls: dict[tuple[int | None, int], str] = {}
    for it in report.all_intervals:
        began = changes[it.begin_row]
        where = (began.stack, began.pc)
        if where not in calls:
            calls[where] = " ← ".join(map(str, places.stack(*where)))
        if it.kind == "handler" and it.level is not None:
            name = places.exception(it.level)
            add_interval(it, "handlers", name, name, "", stack=calls[where])
        else:
            add_interval(it, "masks", it.kind, name_of(it.kind, it.level, places), "", stack=calls[where])
    for priority in report.used_priorities:
        track = f"priority {priority.priority:#04x}: {few(priority.exceptions)}"
        for it in priority.intervals:
            add_interval(it, _HELD, track, _HELD, _HELD)
    for (group, track, label), rows in tracks.items():

        def tell(number: int, rows: Any = rows) -> tuple[str, dict[str, object]]:
            begin, _, name, facts = rows[number]
            return name, {"begin_cycle": begin, **facts}

        begin_ns = [report.clock.ns(begin) for begin, *_ in rows]
        end_ns = [report.clock.ns(report.cycles if end is None else end) for _, end, *_ in rows]
        made.slices(group, track, begin_ns, end_ns, tell, label=label)
    longest: tuple[Worst | LongestWait, ...] = (
        *(*report.worst, *report.open, *(report.start_up.worst if report.start_up else ())),
        *(priority.worst for priority in report.used_priorities if priority.worst),
    )
    cycles = {cycle for it in longest for cycle in (it.begin_cycle, it.end_cycle) if cycle is not None}
    for at_ns in map(report.clock.ns, sorted(cycles)):
        made.keep(at_ns - _AROUND_NS, at_ns + _AROUND_NS)


def run_timeline(folder: Path, replay: Explanation) -> Timeline:
    """The timeline of the run in `folder`, whose worst sample `replay` explains: its pins while
    they are high, its operations with the bytes in use after each, and the worst sample; if it was
    replayed, also what held interrupts off in the capture, and the functions of the worst sample.

    Raises TailscopeError.
    """
    edges = read_parquet(folder / names.EDGES)
    made = Timeline()
    for channel in edges.channels:
        transitions = edges.transitions(channel)
        at, level = transitions.sample, transitions.level
        if edges.initial_level(channel):
            at, level = np.concatenate([[0], at]), np.concatenate([[True], level])
        high = np.flatnonzero(level)
        begins, ends = at[high], np.append(at, edges.total_samples)[1:][high]
        made.slices(
            "pins",
            channel,
            begins * edges.sample_ns,
            ends * edges.sample_ns,
            lambda _, channel=channel: (channel, {}),  # type: ignore[misc]
        )
    rows = read_operations(folder / names.OPERATIONS).drop_nulls(("start_sample", "wire_operation_samples"))
    begins = rows["start_sample"].to_numpy()
    end_ns = (begins + rows["wire_operation_samples"].to_numpy()) * edges.sample_ns

    def operation(number: int) -> tuple[str, dict[str, object]]:
        row = rows.row(number, named=True)
        return _KINDS.get(row["kind"], "operation"), {
            name: row[name] for name in ("seq", "size", "label", "probes")
        }

    made.slices("heap", "operations", begins * edges.sample_ns, end_ns, operation)
    for at_ns, in_use in zip(end_ns.tolist(), rows["bytes_in_use"], strict=True):
        if in_use is not None:
            made.counter("heap", "heap in use", at_ns, {"bytes": in_use})
    begin, end = (at * edges.sample_ns for at in (replay.start_sample, replay.end_sample))
    made.keep(*(at * edges.sample_ns for at in (replay.window.first_sample, replay.window.end_sample)))
    made.slice(_WORST, "the worst sample", NAMED[replay.quantity].words, begin, end, value_ns=replay.value_ns)
    if isinstance(replay, Unreplayed):
        return made
    program = UserProgram(elf_of(read_manifest(folder / names.MANIFEST)))
    image = read_observed(folder, names.IMAGE)
    until = f"{edges.total_samples * NS_PER_S // edges.samplerate_hz}ns"
    subject = Subject.of(program, until, start=RESET)
    run = simulator.run_masks(program, until, image, kernel=subject.words)
    add(made, of_run(subject, run, False, lambda _: None, image))
    clock = Clock(run.stats.clocks)
    # One function after the other, each without what it calls.
    with (folder / FOLDER / f"{replay.quantity}-instructions.csv").open(encoding="utf-8") as file:
        for function, of_function in groupby(
            DictReader(file), key=lambda step: step["place"].partition("+")[0]
        ):
            steps = [(int(step["cycle"]), int(step["cycles"])) for step in of_function]
            cycle, cycles = steps[0][0], sum(taken for _, taken in steps)
            begin, end = clock.ns(cycle), clock.ns(cycle + cycles)
            made.slice(_WORST, "functions", function, begin, end, cycles=cycles)
    return made

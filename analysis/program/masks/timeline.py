"""The timeline of what held interrupts off in a program. Time 0 is reset."""

from __future__ import annotations

from itertools import groupby, zip_longest
from typing import Any

from analysis.program.masks.log import Interval, until_zero
from analysis.program.masks.measure import LongestWait, MaskReport
from analysis.program.masks.tasks import shown
from analysis.program.masks.worst import Worst, name_of
from analysis.program.parts import few
from base.timeline import Timeline

_TASKS, _HELD = "tasks", "not taken"
_AROUND_NS = 20_000


def timeline(report: MaskReport) -> Timeline:
    """All that a run showed, from reset on. What is still open lasts to the end of the run.

    Where a timeline leaves slices out, what is around the begin and the end of the longest of each
    place, and of each priority, stays.
    """
    made, start, places, changes = Timeline(), report.start, report.places, report.run.changes
    if start.first_cycle and start.ns is not None:
        made.slice(_TASKS, "start-up", "start-up", 0.0, start.ns, until=start.where)
    tracks: dict[tuple[str, str], list[tuple[int, int | None, str, dict[str, object]]]] = {}
    # A task while it is the current one: a switch shows at the change that follows it.
    of_tasks = groupby((change for change in changes if change.task), key=lambda it: it.task)
    switches = [next(of_task) for _, of_task in of_tasks]
    for change, following in zip_longest(switches, switches[1:]):
        name = shown(report.tasks, change.task or 0)
        end = following and following.cycle
        tracks.setdefault((_TASKS, name), []).append((change.cycle, end, name, {}))
    for change, woke in until_zero("sleep", changes, report.cycles):
        tracks.setdefault((_TASKS, "core"), []).append((change.cycle, woke, "asleep", {}))

    def add_interval(it: Interval, group: str, track: str, name: str, **facts: str) -> None:
        told: dict[str, object] = {
            "cycles": it.cycles,
            **({"still": "open"} if it.cycles is None else {}),
            **facts,
        }
        tracks.setdefault((group, track), []).append((it.begin_cycle, it.end_cycle, name, told))

    calls: dict[tuple[int | None, int], str] = {}
    for it in report.all_intervals:
        began = changes[it.begin_row]
        where = (began.stack, began.pc)
        if where not in calls:
            calls[where] = " ← ".join(map(str, places.stack(*where)))
        if it.kind == "handler" and it.level is not None:
            name = places.exception(it.level)
            add_interval(it, "handlers", name, name, stack=calls[where])
        else:
            add_interval(it, "masks", it.kind, name_of(it.kind, it.level, places), stack=calls[where])
    for priority in report.priorities:
        track = f"priority {priority.priority:#04x}: {few(priority.exceptions)}"
        for it in priority.intervals:
            add_interval(it, _HELD, track, _HELD)
    for (group, track), rows in tracks.items():

        def tell(number: int, rows: Any = rows) -> tuple[str, dict[str, object]]:
            begin, _, name, facts = rows[number]
            return name, {"begin_cycle": begin, **facts}

        begin_ns = [report.clock.ns(begin) for begin, *_ in rows]
        end_ns = [report.clock.ns(report.cycles if end is None else end) for _, end, *_ in rows]
        made.slices(group, track, begin_ns, end_ns, tell)
    longest: tuple[Worst | LongestWait, ...] = (
        *(*report.worst, *report.open, *report.start_up),
        *(priority.worst for priority in report.priorities if priority.worst),
    )
    cycles = {cycle for it in longest for cycle in (it.begin_cycle, it.end_cycle) if cycle is not None}
    for at_ns in map(report.clock.ns, sorted(cycles)):
        made.keep(at_ns - _AROUND_NS, at_ns + _AROUND_NS)
    return made

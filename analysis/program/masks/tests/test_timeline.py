"""Timelines of a program's run and of a stored run, each event of them worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from analysis.program.masks import timeline
from analysis.program.masks.tests import made
from analysis.program.masks.tests.made import TASK
from base.timeline import Timeline

Event = tuple[Any, ...]


def events(made_: Timeline, *groups: str) -> list[Event]:
    """Group, track, name, begin and length in µs, and what is told, of each slice and counter."""
    every = made_.document()["traceEvents"]
    named = {(event["name"], event["pid"], event.get("tid")): event["args"].get("name") for event in every}
    result = []
    for event in every:
        group = named["process_name", event["pid"], 0]
        if event["ph"] in "XC" and (not groups or group in groups):
            track = named.get(("thread_name", event["pid"], event.get("tid")))
            result.append((group, track, event["name"], event["ts"], event.get("dur"), event["args"]))
    return result


def span(begin: int, end: int) -> tuple[float, float]:
    """Begin and length in µs of cycles of made.py, in whole nanoseconds."""
    ns = [round(62.5 * cycle if cycle < 600 else 37_500 + 31.25 * (cycle - 600)) for cycle in (begin, end)]
    return ns[0] / 1000, (ns[1] - ns[0]) / 1000


def slices(
    group: str, track: str, name: str, *rows: tuple[int, int, int | None], **facts: str
) -> list[Event]:
    """Of each row the first cycle, the end, and the cycles awake."""
    return [
        (group, track, name, *span(begin, end), {
            "begin_cycle": begin, "cycles": cycles, **({} if cycles else {"still": "open"}), **facts,
        })
        for begin, end, cycles in rows
    ]  # fmt: skip


def test_a_program_shows_its_tasks_sleep_masks_handlers_and_who_waits() -> None:
    report = replace(made.report(), tasks={f"{TASK:#010x}": "control"})
    tim3, locked, pri = "IRQ 29 (on_tim3)", "lock (main.c:10) ← main (main.c:30)", "primask"
    common = ((100, 200, 100), (500, 550, 50), (700, 820, 20), (950, 1000, None))
    expected = [
        ("tasks", "control", "control", *span(100, 1000), {"begin_cycle": 100}),
        ("tasks", "core", "asleep", *span(710, 810), {"begin_cycle": 710}),
        *slices("masks", pri, pri, (100, 200, 100), (370, 400, 30), (950, 1000, None), stack=locked),
        *slices("masks", pri, pri, (700, 820, 20), stack="nap (main.c:50)"),
        *slices("masks", "basepri", "basepri 0x50", (400, 480, 80), stack=locked.replace("10", "14")),
        *slices("handlers", tim3, tim3, (500, 550, 50), stack="main (main.c:33)"),
        *slices("handlers", "SysTick", "SysTick", (838, 870, 32), stack="main (main.c:33)"),
        *slices("not taken", f"priority 0x40: {tim3}", "not taken", *common, (370, 400, 30)),
        *slices("not taken", "priority 0xf0: SysTick", "not taken", *common, (370, 480, 110), (838, 870, 32)),
    ]  # fmt: skip
    assert sorted(events(timeline.timeline(report)), key=repr) == sorted(expected, key=repr)
    unnamed = events(timeline.timeline(replace(report, tasks={})), "tasks")
    assert [track for _, track, *_ in unnamed] == ["0x20000100", "core"]

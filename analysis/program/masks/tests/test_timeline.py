"""The timeline of a program's run, each slice worked out by hand."""

from __future__ import annotations

from dataclasses import replace

from analysis.program.masks import timeline
from analysis.program.masks.tests import made
from analysis.program.masks.tests.made import TASK
from base.timeline import Timeline


def span(begin: int, end: int) -> tuple[float, float]:
    """Begin and length in µs of cycles of made.py, in whole nanoseconds."""
    ns = [round(62.5 * cycle if cycle < 600 else 37_500 + 31.25 * (cycle - 600)) for cycle in (begin, end)]
    return ns[0] / 1000, (ns[1] - ns[0]) / 1000


def test_a_program_shows_its_tasks_masks_and_handlers_with_who_called() -> None:
    drawn = Timeline()
    timeline.add(drawn, replace(made.report(), tasks={f"{TASK:#010x}": "control"}))
    events = drawn.document()["traceEvents"]
    groups = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    slices = {
        (groups[event["pid"]], event["name"], event["ts"], event["dur"], event["args"].get("stack"))
        for event in events
        if event["ph"] == "X"
    }
    locked = "lock (main.c:10) ← main (main.c:30)"
    assert slices == {
        ("tasks", "control", *span(100, 1000), None),
        *(("masks", "primask", *span(*cycles), locked) for cycles in ((100, 200), (370, 400), (950, 1000))),
        ("masks", "primask", *span(700, 820), "nap (main.c:50)"),
        ("masks", "basepri 0x50", *span(400, 480), locked.replace("10", "14")),
        ("handlers", "IRQ 29 (on_tim3)", *span(500, 550), "main (main.c:33)"),
        ("handlers", "SysTick", *span(838, 870), "main (main.c:33)"),
    }
    unnamed = Timeline()
    timeline.add(unnamed, replace(made.report(), tasks={}))
    assert f"{TASK:#010x}" in [event["name"] for event in unnamed.document()["traceEvents"]]

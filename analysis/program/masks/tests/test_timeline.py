"""Timelines of a program's run and of a stored run, each event of them worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis.explain.tests.made import replayed, unreplayed
from analysis.program import subject
from analysis.program.clock import Clock
from analysis.program.masks import timeline
from analysis.program.masks.tests import made
from analysis.program.masks.tests.made import TASK
from analysis.program.tests.test_clock import HSI, PLL
from base.run_folder.edges import CHANNELS, EdgeList
from base.run_folder.explanation import Explanation
from base.timeline import Timeline
from dashboards.tests import synthetic
from dashboards.tests.synthetic import Operation
from simulator.kernel import NO_WORDS

CRIT, OP = (1 << CHANNELS.index(name) for name in ("CRIT", "OP"))
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
    report = replace(made.report(), tasks={TASK: "control"})
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


def test_each_task_lasts_to_the_next_and_a_reset_ends_a_sleep() -> None:
    run = made.mask_run((
        (100, "primask", 1, 0x0800_0300, None, 0), (150, "primask", 0, 0x0800_0310, None, 0),
        (200, "primask", 1, 0x0800_0300, None, 0), (210, "sleep", 1, 0x0800_0404, None, None),
        (300, "reset", 0, 0x0800_0200, None, None),
    ))  # fmt: skip
    tasks = pl.Series("task", [TASK, TASK, TASK + 16, TASK + 16, None], dtype=pl.Int64)
    report = made.report(replace(run, changes=run.changes.with_columns(tasks)))
    assert events(timeline.timeline(report), "tasks") == [
        ("tasks", "0x20000100", "0x20000100", *span(100, 200), {"begin_cycle": 100}),
        ("tasks", "0x20000110", "0x20000110", *span(200, 1000), {"begin_cycle": 200}),
        ("tasks", "core", "asleep", *span(210, 300), {"begin_cycle": 210}),
    ]


def edges() -> EdgeList:
    """At 10 MS/s a sample is 100 ns: OP from 10 to 40, CRIT from 20 to the end, TASK up to 10."""
    task = 1 << CHANNELS.index("TASK")
    rows = [(0, task), (10, OP), (20, OP | CRIT), (40, CRIT)]
    sample, word = (np.array(column) for column in zip(*rows, strict=True))
    return EdgeList(sample, word, 10_000_000, 50)


def test_a_pin_is_a_slice_while_it_is_high() -> None:
    made_ = Timeline()
    timeline.add_pins(made_, edges())
    assert events(made_) == [
        ("pins", "TASK", "TASK", 0.0, 1.0, {}),
        ("pins", "OP", "OP", 1.0, 3.0, {}),
        ("pins", "CRIT", "CRIT", 2.0, 3.0, {}),
    ]


def test_an_operation_is_a_slice_and_the_heap_a_counter_behind_it() -> None:
    made_ = Timeline()
    table = pl.DataFrame(
        {
            "seq": [0, 1, 2, 3, 4],
            "kind": ["A", "O", "F", "K", "F"],
            "size": [64, 32, 64, 3, 64],
            "label": ["depth 1", None, None, None, None],
            "probes": [1, 2, None, 0, 0],
            "start_sample": [10, 20, 30, 35, None],
            "wire_operation_samples": [5, 5, 4, 5, None],
            "bytes_in_use": [80, 80, 0, None, 0],
        }
    )
    timeline.add_operations(made_, table, edges())
    assert events(made_) == [
        *(
            ("heap", "operations", name, begin, length,
             {"seq": seq, "size": size, "label": label, "probes": probes})
            if name else ("heap", None, "heap in use", begin, None, {"bytes": size})
            for name, begin, length, seq, size, label, probes in (
                ("allocate", 1.0, 0.5, 0, 64, "depth 1", 1),
                ("", 1.5, None, None, 80, None, None),
                ("allocate, out of memory", 2.0, 0.5, 1, 32, None, 2),
                ("", 2.5, None, None, 80, None, None),
                ("free", 3.0, 0.4, 2, 64, None, None),
                ("", 3.4, None, None, 0, None, None),
                ("operation", 3.5, 0.5, 3, 3, None, 0),
            )
        )
    ]  # fmt: skip


def test_functions_follow_each_other_at_the_clock_of_their_time() -> None:
    """Two of 16 MHz, then 84 cycles of 84 MHz."""
    made_ = Timeline()
    steps = pl.DataFrame(
        {
            "cycle": [998, 999, 1000],
            "cycles": [1, 1, 84],
            "place": ["pick", "pick+0x2", "heap_port_lock"],
        }
    )
    timeline.add_functions(made_, steps, Clock([HSI, PLL]))
    assert events(made_) == [
        ("explained", "functions", "pick", 62.375, 0.125, {"cycles": 2}),
        ("explained", "functions", "heap_port_lock", 62.5, 1.0, {"cycles": 84}),
    ]


UNREPLAYED, REPLAYED = unreplayed(), replayed()


@pytest.mark.parametrize("replay", [UNREPLAYED, REPLAYED])
def test_a_stored_run_has_its_pins_its_heap_and_what_was_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replay: Explanation
) -> None:
    """One allocation of 400 cycles: OP rises at sample 10,040, CRIT at 10,060, at 84 MS/s."""
    folder = synthetic.write_run(tmp_path, "made", "tlsf", [Operation("A", 100, 3, 400)])
    (folder / "operations.bin").write_bytes(b"image")
    (folder / "explain").mkdir()
    (folder / "explain" / "allocate-instructions.csv").write_text("cycle,cycles,place\n160,16,lock+0x4\n")
    requests = []

    def run_masks(program: Any, until: str, image: bytes, *, kernel: Any) -> Any:
        assert kernel == NO_WORDS
        requests.append((program.elf, until, image))
        return made.mask_run()

    monkeypatch.setattr(timeline, "elf_of", lambda manifest: Path(f"{manifest.allocator}.elf"))
    monkeypatch.setattr(timeline, "simulator", SimpleNamespace(run_masks=run_masks))
    monkeypatch.setattr(subject, "Program", lambda *_, **__: made.WHOLE)
    result = timeline.run_timeline(folder, replay)
    worst = (
        "explained",
        "the worst sample",
        "critical section of an allocation",
        120.0,
        5.0,
        {"value_ns": 5000.0},
    )
    pins = events(result, "pins")
    assert ("pins", "CRIT", "CRIT", 119.762, 4.762, {}) in pins  # 10,060 and 400 samples of 11.905 ns
    assert [name for _, _, name, *_ in events(result, "heap")] == ["allocate", "heap in use"]
    if replay is UNREPLAYED:
        assert (events(result, "explained", "masks", "not taken"), requests) == ([worst], [])
    else:
        # 30,480 samples were captured.
        assert requests == [(Path("tlsf.elf"), "362857ns", b"image")]
        assert events(result, "explained") == [
            ("explained", "functions", "lock", 10.0, 1.0, {"cycles": 16}), worst,
        ]  # fmt: skip
        assert len(events(result, "masks")) == 5

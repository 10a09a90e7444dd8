"""The whole document of a run that is written by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analysis.explain.execution import Step
from analysis.program.masks.document import as_json, folded
from analysis.program.masks.places import Place
from analysis.program.masks.tests import made
from analysis.program.masks.tests.made import TASK, place
from base.metrology.tests.few import summary

STEPS = [
    Step(100, 2, 0x0800_0300, "lock", "lock", "cpsid i", "main.c:10"),
    Step(102, 3, 0x0800_0302, "lock", "lock+0x2", "ldr r0, [r1]", ""),
    Step(105, 12, 0, "(exception)", "(exception)", "now in handler", ""),
]


def counted(cycles: tuple[int, ...], ns: tuple[float, ...], still_open: int = 0) -> dict[str, Any]:
    return {
        "count": len(cycles),
        "open": still_open,
        "total_cycles": sum(cycles),
        "cycles": summary(*cycles),
        "ns": summary(*ns),
        "distribution": [[length, cycles.count(length)] for length in sorted(set(cycles))],
    }


def of_level(level: int, name: str, cycles: tuple[int, ...], ns: tuple[float, ...]) -> dict[str, Any]:
    document = counted(cycles, ns)
    return {**document, "by_level": [{"level": level, "name": name, **document}]}


def at(address: int) -> dict[str, object]:
    spot = place(address)
    document = {"function": spot.function, "file": "main.c", "line": spot.line}
    return {**document, "address": f"0x{address:08x}"}


def interval(
    kind: str, span: tuple[int, int | None], ends: tuple[int, int | None], **fields: Any
) -> dict[str, Any]:
    begin, end = ends
    return {
        "kind": kind,
        "name": kind,
        "level": None,
        "cycles": None,
        "ns": None,
        "begin_cycle": span[0],
        "end_cycle": span[1],
        "asleep_cycles": 0,
        "stalled_cycles": 0,
        "begin": at(begin),
        "end": None if end is None else at(end),
        "stack": [at(0x0800_0300), at(0x0800_0200)],
        "task": f"0x{TASK:08x}",
        "held": ["SysTick", "IRQ 29 (on_tim3)"],
        "count": 1,
        "lock": None,
        **fields,
    }


TIM3, SYSTICK = "handler of IRQ 29 (on_tim3)", "handler of SysTick"
INTERRUPTED = at(0x0800_0210)


def test_the_document_tells_all_that_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    report = made.report(monkeypatch, made.mask_run(ended="It stopped."))
    report = replace(report, tasks={TASK: "control"}, steps={"primask": STEPS})
    none = {**counted((), ()), "by_level": []}
    # Asleep for 100 of 120 cycles of 31.25 ns.
    masked = ((100, 30, 20), (6250.0, 1875.0, 625.0))
    result = as_json(report)
    result["priorities"] = [row for row in result["priorities"] if row["exceptions"]]
    assert result == {
        "elf": "my.elf",
        "options": ["--chip=stm32f411xe"],
        "until": "62us",
        "cycles": 1000,
        "instructions": 640,
        "ended": "It stopped.",
        "reasons": ["The run ended at cycle 1,000: It stopped."],
        "polls": None,
        "clock_hz": 32e6,
        "clocks": [
            {"cycle": 0, "ns": 0.0, "core_hz": 16e6},
            {"cycle": 600, "ns": 37_500.0, "core_hz": 32e6},
        ],
        "notes": ["The run ended at cycle 1,000: It stopped."],
        "noted": [],
        "kernel": None,
        "start": {"from": "reset", "until": "reset", "why": "", "cycle": 0, "ns": 0.0},
        "start_up": None,
        "intervals": {
            "primask": {**counted(*masked, still_open=1), "by_level": []},
            "faultmask": none,
            "basepri": of_level(0x50, "basepri 0x50", (80,), (5000.0,)),
            "handler": {
                **counted((50, 32), (3125.0, 1000.0)),
                "by_level": [
                    {"level": 15, "name": SYSTICK, **counted((32,), (1000.0,))},
                    {"level": 45, "name": TIM3, **counted((50,), (3125.0,))},
                ],
            },
            "scheduler": none,
        },
        "worst": [
            interval("primask", (100, 200), (0x0800_0300, 0x0800_0310), cycles=100, ns=6250.0, count=2),
            interval(
                *("basepri", (400, 480), (0x0800_0320, 0x0800_0330)),
                name="basepri 0x50", level=0x50, cycles=80, ns=5000.0, held=["SysTick"],
                stack=[at(0x0800_0320), at(0x0800_0200)],
            ),
            interval(
                *("handler", (500, 550), (0x0800_0500, 0x0800_0510)),
                name=TIM3, level=45, cycles=50, ns=3125.0, held=["SysTick"],
                stack=[at(0x0800_0500), INTERRUPTED],
            ),
            # Without a vector the handler begins where it was seen.
            interval(
                *("handler", (838, 870), (0x0800_0210, 0x0800_0210)),
                name=SYSTICK, level=15, cycles=32, ns=1000.0, held=[],
                stack=[INTERRUPTED, INTERRUPTED],
            ),
            interval(
                *("primask", (700, 820), (0x0800_0400, 0x0800_0410)),
                cycles=20, ns=625.0, asleep_cycles=100, stack=[at(0x0800_0400)],
            ),
        ],
        "open": [interval("primask", (950, None), (0x0800_0300, None))],
        "priorities": [
            {
                "priority": 0x40,
                "number": 4,
                "exceptions": ["IRQ 29 (on_tim3)"],
                **counted((100, 30, 50, 20), (6250.0, 1875.0, 3125.0, 625.0), still_open=1),
                "share": 0.2,
                "worst": {
                    "cycles": 100, "ns": 6250.0, "begin_cycle": 100, "end_cycle": 200,
                    "asleep_cycles": 0,
                    "begin": at(0x0800_0300),
                    "end": at(0x0800_0310),
                    "parts": [
                        {"kind": "primask", "name": "primask", "level": None, "cycles": 100, "count": 1},
                    ],
                },
            },
            {
                "priority": 0xF0,
                "number": 15,
                "exceptions": ["SysTick"],
                **counted((100, 110, 50, 20, 32), (6250.0, 6875.0, 3125.0, 625.0, 1000.0), still_open=1),
                "share": 0.312,
                "worst": {
                    "cycles": 110, "ns": 6875.0, "begin_cycle": 370, "end_cycle": 480,
                    "asleep_cycles": 0,
                    "begin": at(0x0800_0300),
                    "end": at(0x0800_0330),
                    "parts": [
                        {"kind": "primask", "name": "primask", "level": None, "cycles": 30, "count": 1},
                        {"kind": "basepri", "name": "basepri 0x50", "level": 0x50, "cycles": 80, "count": 1},
                    ],
                },
            },
        ],
        "idle_cycles": 100,
        "tasks": {f"0x{TASK:08x}": "control"},
        "explained": {
            "primask": {
                "instructions": 2,
                "cycles": 17,
                "functions": [
                    {"name": "(exception)", "executions": 1, "cycles": 12, "source": ""},
                    {"name": "lock", "executions": 2, "cycles": 5, "source": ""},
                ],
                "dearest": [
                    {"name": "(exception): now in handler", "executions": 1, "cycles": 12, "source": ""},
                    {"name": "lock+0x2: ldr r0, [r1]", "executions": 1, "cycles": 3, "source": ""},
                    {"name": "lock: cpsid i", "executions": 1, "cycles": 2, "source": "main.c:10"},
                ],
                "steps": [
                    {
                        "cycle": cycle, "cycles": cycles, "place": words, "instruction": text,
                        "source": source,
                    }
                    for cycle, cycles, words, text, source in (
                        (100, 2, "lock", "cpsid i", "main.c:10"),
                        (102, 3, "lock+0x2", "ldr r0, [r1]", None),
                        (105, 12, "(exception)", "now in handler", None),
                    )
                ],
                "steps_left_out": 0,
            }
        },
    }  # fmt: skip


def test_a_run_in_which_nothing_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    run = made.mask_run(())
    report = made.report(monkeypatch, replace(run, stats=replace(run.stats, cycles=0)))
    result = as_json(report)
    assert (result["ended"], result["worst"], result["tasks"]) == (None, [], {})
    assert {row["count"] for row in result["priorities"]} == {0}
    assert folded(report) == ""


def test_of_many_instructions_the_first_20_000_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [replace(STEPS[0], cycle=cycle) for cycle in range(20_003)]
    report = replace(made.report(monkeypatch), steps={"primask": steps})
    result = as_json(report)["explained"]["primask"]
    assert (result["instructions"], result["cycles"]) == (20_003, 40_006)
    assert (len(result["steps"]), result["steps"][-1]["cycle"], result["steps_left_out"]) == (
        20_000,
        19_999,
        3,
    )


def test_call_stacks_are_folded_from_the_outermost_call_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The 130 cycles of lock() are those of two intervals; what is still open counts nowhere."""
    assert folded(made.report(monkeypatch)) == (
        "basepri 0x50;main;lock 80\n"
        "handler of IRQ 29 (on_tim3);main;on_tim3 50\n"
        "handler of SysTick;main 32\n"
        "primask;main;lock 130\n"
        "primask;nap 20\n"
    )


def test_a_semicolon_in_a_name_ends_no_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = made.Program(*(replace(function, name=f"{function.name};") for function in made.WHOLE.functions))
    assert "primask;main:;lock: 130\n" in folded(made.report(monkeypatch, program=odd))


def test_a_place_without_a_file_tells_its_address_alone() -> None:
    bare = Place("0x08000300", "", 0, 0x0800_0300)
    assert bare.as_json() == {
        "function": "0x08000300",
        "file": None,
        "line": None,
        "address": "0x08000300",
    }
    assert (str(bare), bare.source) == ("0x08000300", "")
    assert (str(place(0x0800_0300)), place(0x0800_0300).source) == ("lock (main.c:10)", "main.c:10")

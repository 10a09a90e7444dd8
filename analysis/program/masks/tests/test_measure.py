"""What is found in a run that is written by hand (made.py), and what is said beside the figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analysis.explain.execution import Step
from analysis.program.beginning import Request
from analysis.program.masks import worst
from analysis.program.masks.folded import folded
from analysis.program.masks.measure import Executed
from analysis.program.masks.tests import made
from analysis.program.masks.tests.made import ROWS, TASK, WHOLE, Program, Row, place
from analysis.program.masks.text import as_text, headline, opening
from analysis.program.masks.worst import Worst
from analysis.program.places import Place
from analysis.program.shown import as_json
from base.metrology.tests.few import summary
from base.paths import ROOT
from simulator.outputs import Note, Standstill

STRIPPED = "my.elf is stripped: addresses stand where names would."
NO_LINES = "my.elf has no debug information: build it with -g to have files and lines."
STEPS = [
    Step(100, 2, 0x0800_0300, "lock", "lock", "cpsid i", "main.c:10"),
    Step(102, 3, 0x0800_0302, "lock", "lock+0x2", "ldr r0, [r1]", ""),
    Step(105, 12, 0, "(exception)", "(exception)", "now in handler", ""),
]
NOTE = Note(
    *("reserved_bits", "RCC_AHB1ENR (bits 0x00000060)", 0x4002_3830, False, "ignored", 0x0800_0210, "main"),
    *(70, 0, 1),
)


def test_each_place_has_its_longest_interval() -> None:
    """Kind, cycles, ns, first and last cycle, count, where it began and ended, what it held off."""
    report = made.report()
    both, tick = ("SysTick", "IRQ 29 (on_tim3)"), ("SysTick",)
    rows = [
        (
            *(row.name, row.cycles, row.ns, row.begin_cycle, row.end_cycle, row.count),
            *(row.begin.line, row.end and row.end.line, row.held),
        )
        for row in (*report.worst, *report.open)
    ]
    assert rows == [
        ("primask", 100, 6250.0, 100, 200, 2, 10, 12, both),
        ("basepri 0x50", 80, 5000.0, 400, 480, 1, 14, 16, tick),
        ("handler of IRQ 29 (on_tim3)", 50, 3125.0, 500, 550, 1, 40, 45, tick),
        # Without a vector the handler begins where it was seen.
        ("handler of SysTick", 32, 1000.0, 838, 870, 1, 33, 33, ()),
        # Asleep for 100 of 120 cycles of 31.25 ns.
        ("primask", 20, 625.0, 700, 820, 1, 50, 52, both),
        ("primask", None, None, 950, None, 1, 10, None, both),
    ]
    assert [row.asleep_cycles for row in report.worst] == [0, 0, 0, 0, 100]
    assert {row.task for row in report.worst} == {f"{TASK:#010x}"} and report.idle_cycles == 100
    stacks = [[frame.line for frame in row.stack] for row in report.worst]
    assert stacks == [[10, 30], [14, 30], [40, 33], [33, 33], [50]]


def test_kinds_and_levels_are_counted() -> None:
    report = made.report()
    primask = report.intervals["primask"]
    assert (primask.count, primask.open, primask.total_cycles) == (3, 1, 150)
    assert primask.cycles.model_dump() == summary(100, 30, 20)
    assert primask.ns.model_dump() == summary(6250.0, 1875.0, 625.0)
    assert primask.distribution == ((20, 1), (30, 1), (100, 1)) and not primask.by_level
    levels = [(row.level, row.count, row.total_cycles) for row in report.intervals["handler"].by_level]
    assert levels == [(15, 1, 32), (45, 1, 50)]
    assert not report.intervals["faultmask"].count


@pytest.mark.parametrize(("start", "counted"), [(0, 1000), (600, 400)])
def test_a_priority_waits_for_all_that_holds_it_off(start: int, counted: int) -> None:
    """A share is that of the cycles counted, wherever it stands."""
    report = made.report(start=Request(settings="", where="", time=f"cycles:{start}" if start else ""))
    rows = {
        row.priority: (row.count, row.open, round(row.share * counted), row.worst and row.worst.cycles)
        for row in report.used_priorities
    }
    if start:
        assert rows == {0x40: (1, 1, 20, 20), 0xF0: (2, 1, 52, 32)}
    else:
        assert rows == {0x40: (4, 1, 200, 100), 0xF0: (5, 1, 312, 110)}
        longest = report.used_priorities[1].worst
        assert longest is not None and longest.held_by == "primask 30 + basepri 0x50 80"
        assert (longest.begin, longest.end) == (place(0x0800_0300), place(0x0800_0330))
    for row in report.used_priorities:
        assert f"{row.share:.1%}" in as_text(report)


def test_the_document_is_the_report() -> None:
    report = made.report()
    report = replace(report, tasks={TASK: "control"}, explained={"primask": Executed.of(STEPS)})
    document = as_json(report)
    assert (document["elf"], document["until"], document["kernel"]) == ("my.elf", "62us", None)
    assert document["clocks"][1] == {"cycle": 600, "ns": 37_500.0, "core_hz": 32e6}
    assert document["start"] == {"from": "reset", "until": "reset", "why": "", "cycle": 0, "ns": 0.0}
    assert document["tasks"] == {f"{TASK:#010x}": "control"}
    first, (still,) = document["worst"][0], document["open"]
    assert (first["cycles"], first["lock"], still["end"]) == (100, None, None)
    assert (first["begin"]["file"], first["begin"]["address"]) == ("main.c", "0x08000300")
    many = Executed.of([replace(STEPS[0], cycle=cycle) for cycle in range(20_003)])
    assert (many.instructions, many.cycles, len(many.steps)) == (20_003, 40_006, 20_000)
    executed = document["explained"]["primask"]
    assert (executed["instructions"], executed["cycles"]) == (2, 17)
    assert [row["cycles"] for row in executed["functions"]] == [12, 5]


def test_the_reference_names_each_field() -> None:
    section = (ROOT / "docs" / "reference" / "masks.md").read_text("utf-8").partition("## JSON")[2]
    document = as_json(made.report())
    rows = (document, document["worst"][0], document["priorities"][4], document["intervals"]["basepri"])
    assert {field for row in rows for field in row if field not in section} == set()


def test_a_run_in_which_nothing_happened() -> None:
    run = made.mask_run(())
    report = made.report(replace(run, stats=replace(run.stats, cycles=0)))
    assert (report.worst, report.tasks, {row.count for row in report.priorities}) == ((), {}, {0})
    assert folded(report) == "" and "no interval that held interrupts off has ended" in as_text(report)


def test_call_stacks_are_folded_from_the_outermost_call_on() -> None:
    """The 130 cycles of lock() are those of two intervals; what is still open counts nowhere."""
    assert folded(made.report()) == (
        "basepri 0x50;main;lock 80\n"
        "handler of IRQ 29 (on_tim3);main;on_tim3 50\n"
        "handler of SysTick;main 32\n"
        "primask;main;lock 130\n"
        "primask;nap 20\n"
    )
    odd = Program(*(replace(function, name=f"{function.name};") for function in WHOLE.functions))
    assert "primask;main:;lock: 130\n" in folded(made.report(program=odd))


@pytest.mark.parametrize(
    ("rows", "program", "ended", "notes"),
    [
        (ROWS, WHOLE, "", ()),
        (ROWS, Program(lines=False), "", (STRIPPED,)),
        (ROWS, Program(*WHOLE.functions, lines=False), "", (NO_LINES,)),
        ((), WHOLE, "", ("The program enabled no interrupt before 62us: there was nothing to hold off.",)),
        (ROWS[:4], WHOLE, "", ("Nothing held an interrupt off before 62us.",)),
        (
            *((), Program(lines=False), "SRAM is not there."),
            (STRIPPED, "The program enabled no interrupt before it ended: there was nothing to hold off."),
        ),
    ],
)
def test_what_must_be_known_is_said(
    rows: tuple[Row, ...], program: Any, ended: str, notes: tuple[str, ...]
) -> None:
    report = made.report(made.mask_run(rows, ended), program)
    assert report.notes == notes
    early = [f"The run ended at cycle 1,000: {ended}"] if ended else []
    assert opening(report) == [*early, headline(report), *notes]


def test_without_symbols_places_are_addresses() -> None:
    report = made.report(program=Program(lines=False))
    begins = [str(interval.begin) for interval in report.worst]
    assert begins == [*("0x08000300", "0x08000320", "0x08000500", "0x08000210", "0x08000400")]
    assert [interval.name for interval in report.worst][2:4] == ["handler of IRQ 29", "handler of SysTick"]


def test_the_longest_of_each_kind_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[tuple[str, int | None]] = []

    def steps_of(_subject: Any, interval: Worst) -> list[Step]:
        requests.append((interval.kind, interval.cycles))
        return []

    monkeypatch.setattr(worst, "steps_of", steps_of)
    report = made.report(explain=True)
    assert requests == [("primask", 100), ("basepri", 80), ("handler", 50)]
    assert list(report.explained) == ["primask", "basepri", "handler"]


def test_a_handler_that_begins_the_longest_wait_is_told_by_its_first_instruction() -> None:
    (first,) = made.report(made.mask_run((*ROWS[:4], *ROWS[10:12]))).used_priorities
    assert first.worst and (first.worst.begin, first.worst.end) == (place(0x0800_0500), place(0x0800_0510))
    (first, _) = made.report(
        made.mask_run((*ROWS[:4], (960, "exception", 15, 0x0800_0210, 950, 1)))
    ).used_priorities
    assert (first.priority, first.worst) == (0x40, None)


@pytest.mark.parametrize(
    ("last", "never_return", "said"),
    [
        # Open for 50 of 1,000 cycles: a section that the end cut off.
        ((950, "primask", 1, 0x0800_0300, None, 0), (), ""),
        ((950, "primask", 1, 0x0800_0300, None, 0), ("main",), ""),
        ((950, "primask", 1, 0x0800_0300, None, 0), ("lock",), "lock (main.c:10) masks with primask"),
        # A handler of a HardFault lasts, however late it came.
        ((960, "exception", 3, 0x0800_0300, 950, 0), (), "handler of HardFault, from 0.05 ms"),
        # BASEPRI lets others through.
        ((950, "basepri", 0x50, 0x0800_0300, None, 0), ("lock",), ""),
        # A mask for half of the run is a stop, whoever set it.
        ((500, "primask", 1, 0x0800_0300, None, 0), (), "lock (main.c:10) masks"),
        ((501, "primask", 1, 0x0800_0300, None, 0), (), ""),
    ],
)
def test_a_program_that_stopped_says_so_first(
    monkeypatch: pytest.MonkeyPatch, last: Row, never_return: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(WHOLE, "never_return", set(never_return))
    report = made.report(made.mask_run((*ROWS[: 4 if last[0] < 600 else -1], last)))
    assert report.complete == (not said)
    assert said in opening(report)[0] and opening(report).count(headline(report)) == 1


@pytest.mark.parametrize(("urgency", "cycles"), [(0x40, 100 - 60), (0xF0, 100)])
def test_sleep_in_a_handler_counts_if_it_holds_another_off(urgency: int, cycles: int) -> None:
    """PendSV's handler has the priority 0xF0, and sleeps in 60 of 100 cycles. Interrupt 29 ends the
    sleep if it is more urgent.
    """
    rows = (
        (0, "reset", 0, 0x0800_0200, None, None),
        (5, "priority", 14 << 8 | 0xF0, 0x0800_0200, None, None),
        (6, "priority", 45 << 8 | urgency, 0x0800_0200, None, None),
        (7, "enabled", 45 << 1 | 1, 0x0800_0200, None, None),
        (100, "exception", 14, 0x0800_0210, 100, None),
        (120, "sleep", 1, 0x0800_0404, None, None),
        (180, "sleep", 0, 0x0800_0404, None, None),
        (200, "exception", 0, 0x0800_0410, 200, None),
    )
    (handler,) = made.report(made.mask_run(rows)).worst
    assert (handler.cycles, handler.asleep_cycles) == (cycles, 100 - cycles)


def test_the_text_has_each_figure_and_names_as_they_are() -> None:
    text = as_text(made.report())
    for words in (
        "the longest interval is 100 cycles (6.25 µs), primask, raised by lock (main.c:10), called by main",
        "basepri 0x50                     1   80      80    -   80  5.00   8.0%",
        "   100  6.25  2  primask, in task 0x20000100",
        "100 more cycles asleep",
        "primask          950  lock (main.c:10)",
        "15 (0xf0)      5      110  6.88  31.2%",
    ):
        assert words in text, words
    odd = Program(
        *(replace(function, name=f"[bold]{function.name}{'x' * 99}") for function in WHOLE.functions)
    )
    first, *_ = as_text(made.report(program=odd)).splitlines()
    assert f"[bold]lock{'x' * 99} (main.c:10), called by [bold]main{'x' * 99} (main.c:30); ended by" in first


def test_who_raised_it_is_told_as_far_as_that_is_known() -> None:
    longest = made.report().worst[0]
    alone = replace(longest, stack=longest.stack[:1])
    assert alone.who == "raised by lock (main.c:10); ended by lock (main.c:12)"
    cut = replace(longest, stack=(longest.begin, place(0x0800_0210, interrupted=True)))
    assert cut.who == "raised by lock (main.c:10), interrupted main (main.c:33); ended by lock (main.c:12)"
    bare = Place("0x08000300", "", 0, 0x0800_0300)
    assert (str(bare), bare.source, place(0x0800_0300).source) == ("0x08000300", "", "main.c:10")


def test_notes_and_waiting_for_the_flash_are_told() -> None:
    run = made.mask_run()
    sleeps = Standstill("sleeps", "the program sleeps for ever", 0)
    report = made.report(replace(run, stats=replace(run.stats, notes=(NOTE,), standstill=sleeps)))
    assert "The program sleeps for ever." in report.notes
    text = as_text(replace(report, worst=(replace(report.worst[0], stalled_cycles=60),)))
    assert "for 60 of these cycles the core waited for the flash" in text and f"  {NOTE}" in text

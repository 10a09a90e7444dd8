"""What is said of a run beside its figures, and which intervals are run again for their steps."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.explain.execution import Step
from analysis.program.masks import worst
from analysis.program.masks.measure import longest_of
from analysis.program.masks.tests import made
from analysis.program.masks.tests.made import ROWS, WHOLE, Program, Row
from analysis.program.masks.text import headline, opening
from analysis.program.masks.worst import Worst

STRIPPED = "my.elf is stripped: addresses stand where names would."
NO_LINES = "my.elf has no debug information: build it with -g to have files and lines."


@pytest.mark.parametrize(
    ("rows", "program", "ended", "notes"),
    [
        (ROWS, WHOLE, "", ()),
        (ROWS, Program(lines=False), "", (STRIPPED,)),
        (ROWS, Program(*WHOLE.functions, lines=False), "", (NO_LINES,)),
        ((), WHOLE, "", ("The program enabled no interrupt before 62us: there was nothing to hold off.",)),
        (ROWS[:4], WHOLE, "", ("Nothing held an interrupt off before 62us.",)),
        (
            (),
            Program(lines=False),
            "SRAM is not there.",
            (
                "The run ended at cycle 1,000: SRAM is not there.",
                STRIPPED,
                "The program enabled no interrupt before it ended: there was nothing to hold off.",
            ),
        ),
    ],
)
def test_what_must_be_known_is_said(
    monkeypatch: pytest.MonkeyPatch, rows: tuple[Row, ...], program: Any, ended: str, notes: tuple[str, ...]
) -> None:
    assert made.report(monkeypatch, made.mask_run(rows, ended), program).notes == notes


def test_without_symbols_places_are_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    report = made.report(monkeypatch, program=Program(lines=False))
    assert [str(interval.begin) for interval in report.worst] == [
        *("0x08000300", "0x08000320", "0x08000500", "0x08000210", "0x08000400"),
    ]
    assert [interval.name for interval in report.worst][2:4] == ["handler of IRQ 29", "handler of SysTick"]


def test_the_longest_of_each_kind_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[tuple[str, int | None]] = []

    def steps_of(_program: Any, elf: Any, interval: Worst) -> list[Step]:
        assert elf is WHOLE
        requests.append((interval.kind, interval.cycles))
        return []

    monkeypatch.setattr(worst, "steps_of", steps_of)
    report = made.report(monkeypatch, explain=True)
    assert requests == [("primask", 100), ("basepri", 80), ("handler", 50)]
    assert list(report.steps) == ["primask", "basepri", "handler"]


def test_a_handler_that_begins_the_longest_wait_is_told_by_its_first_instruction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (first,) = made.report(monkeypatch, made.mask_run((*ROWS[:4], *ROWS[10:12]))).used_priorities
    assert (first.begin, first.end) == (made.place(0x0800_0500), made.place(0x0800_0510))


def test_a_priority_that_nothing_held_off_has_no_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    (first, _) = made.report(
        monkeypatch, made.mask_run((*ROWS[:4], (960, "exception", 15, 0x0800_0210, 950, 1)))
    ).used_priorities
    assert (first.priority, first.longest, first.begin, first.end, first.parts) == (
        0x40,
        None,
        None,
        None,
        (),
    )
    assert longest_of(first.ended) is None


@pytest.mark.parametrize(
    ("last", "never_return", "said"),
    [
        # Open for 50 of 1,000 cycles: a section that the end cut off.
        ((950, "primask", 1, 0x0800_0300, None, 0), (), ""),
        ((950, "primask", 1, 0x0800_0300, None, 0), ("main",), ""),
        (
            (950, "primask", 1, 0x0800_0300, None, 0),
            ("lock",),
            "The program stopped in nap (main.c:52); lock (main.c:10) masks with primask, from 0.05 ms after "
            "reset on; nothing later was seen in the other 0.00 ms.",
        ),
        # A handler of a HardFault lasts, however late it came.
        (
            (960, "exception", 3, 0x0800_0300, 950, 0),
            (),
            "The program stopped in nap (main.c:52); handler of HardFault, from 0.05 ms after reset on; "
            "nothing later was seen in the other 0.00 ms.",
        ),
        # BASEPRI lets others through.
        ((950, "basepri", 0x50, 0x0800_0300, None, 0), ("lock",), ""),
    ],
)
def test_a_program_that_stopped_says_so_first(
    monkeypatch: pytest.MonkeyPatch, last: Row, never_return: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(WHOLE, "never_return", set(never_return))
    report = made.report(monkeypatch, made.mask_run((*ROWS[:-1], last)))
    assert report.reasons == ((said,) if said else ())
    assert opening(report)[0] == (said or headline(report))
    assert opening(report).count(headline(report)) == 1
    assert (said in report.notes) == bool(said)


def test_a_mask_for_half_of_the_run_is_a_stop_whoever_set_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: tuple[Row, ...] = (*ROWS[:4], (500, "primask", 1, 0x0800_0300, None, 0))
    assert "lock (main.c:10) masks" in made.report(monkeypatch, made.mask_run(rows)).reasons[0]
    rows = (*ROWS[:4], (501, "primask", 1, 0x0800_0300, None, 0))
    assert made.report(monkeypatch, made.mask_run(rows)).complete


@pytest.mark.parametrize(("urgency", "cycles"), [(0x40, 100 - 60), (0xF0, 100)])
def test_sleep_in_a_handler_counts_if_it_holds_another_off(
    monkeypatch: pytest.MonkeyPatch, urgency: int, cycles: int
) -> None:
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
    report = made.report(monkeypatch, made.mask_run(rows))
    (handler,) = report.worst
    assert (handler.cycles, handler.asleep_cycles) == (cycles, 100 - cycles)

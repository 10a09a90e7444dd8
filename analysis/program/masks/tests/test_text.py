"""The whole text of a run that is written by hand (made.py)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.program.masks.tests import made
from analysis.program.masks.tests.made import TASK
from analysis.program.masks.tests.test_document import STEPS
from analysis.program.masks.text import as_text, headline, length, who
from simulator.outputs import Note, Standstill

NOTE = Note(
    *("reserved_bits", "RCC_AHB1ENR (bits 0x00000060)", 0x4002_3830, False, "ignored", 0x0800_0210, "main"),
    *(70, 0, 1),
)

WHOLE = """\
my.elf, 1,000 cycles: the longest interval is 100 cycles (6.25 µs), primask, raised by lock (main.c:10), \
called by main (main.c:30); ended by lock (main.c:12).

Intervals, by kind, in cycles
kind                         count  min  median  p99  max           total
primask                          3   20      30    -  100  6.25 µs  15.0%
basepri 0x50                     1   80      80    -   80  5.00 µs   8.0%
handler of SysTick               1   32      32    -   32  1.00 µs   3.2%
handler of IRQ 29 (on_tim3)      1   50      50    -   50  3.12 µs   5.0%

The longest at each place, and how many there were
         100      6.25 µs        2×  primask, in task 0x20000100
      raised by lock (main.c:10), called by main (main.c:30); ended by lock (main.c:12)
          80      5.00 µs        1×  basepri 0x50, in task 0x20000100
      raised by lock (main.c:14), called by main (main.c:30); ended by lock (main.c:16)
          50      3.12 µs        1×  handler of IRQ 29 (on_tim3), in task 0x20000100
      on_tim3 (main.c:40), interrupted main (main.c:33); ended in on_tim3 (main.c:45)
          32      1.00 µs        1×  handler of SysTick, in task 0x20000100
      main (main.c:33), interrupted main (main.c:33); ended in main (main.c:33)
          20      0.62 µs        1×  primask, in task 0x20000100
      raised by nap (main.c:50); ended by nap (main.c:52)

Call stack of the longest
  lock (main.c:10)
  main (main.c:30)
It held off SysTick, IRQ 29 (on_tim3).

Still open at the end, and not counted
  primask, since cycle 950, raised by lock (main.c:10)

Not taken, by priority: everything that holds such an interrupt off
priority   count  longest           total  interrupts        what held the longest
4 (0x40)       4      100  6.25 µs  20.0%  IRQ 29 (on_tim3)  primask 100
15 (0xf0)      5      110  6.88 µs  31.2%  SysTick           primask 30 + basepri 0x50 80

Instructions of the longest primask
        12  70.6%        1×  (exception)
         5  29.4%        2×  lock
        12  70.6%        1×  (exception): now in handler
         3  17.6%        1×  lock+0x2: ldr r0, [r1]
         2  11.8%        1×  lock: cpsid i  main.c:10"""


def test_the_text_tells_all_that_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    report = replace(made.report(monkeypatch), steps={"primask": STEPS})
    assert as_text(report).replace("\N{NO-BREAK SPACE}", " ") == WHOLE


def test_a_program_that_holds_nothing_off_has_a_headline_and_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    assert as_text(made.report(monkeypatch, made.mask_run(()))) == (
        "my.elf, 1,000 cycles: no interval that held interrupts off has ended.\n"
        "The program enabled no interrupt before 62us: there was nothing to hold off."
    )


def test_a_long_sentence_and_a_name_like_markup_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = made.Program(
        *(replace(function, name=f"[bold]{function.name}{'x' * 99}") for function in made.WHOLE.functions)
    )
    first, *_ = as_text(made.report(monkeypatch, program=odd)).splitlines()
    assert f"[bold]lock{'x' * 99} (main.c:10), called by [bold]main{'x' * 99} (main.c:30); ended by" in first


def test_of_many_places_ten_are_shown_and_of_a_stack_eight_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    report = made.report(monkeypatch)
    longest = report.worst[0]
    deep = replace(longest, stack=longest.stack * 5, held=(), asleep_cycles=1234)
    lines = as_text(replace(report, worst=(deep, *[longest] * 11))).splitlines()
    assert "and 2 more places (--json or --output FILE.html has all)" in lines
    assert sum(line.endswith("primask, in task 0x20000100") for line in lines) == 10
    first = lines.index("Call stack of the longest") + 1
    assert lines[first : first + 9] == [
        *["  lock (main.c:10)", "  main (main.c:30)"] * 4,
        "It held off no interrupt that was enabled; 1,234 more cycles asleep.",
    ]
    assert "more places" not in as_text(replace(report, worst=(longest,) * 10))


def test_notes_and_waiting_for_the_flash_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    report = made.report(monkeypatch)
    stats = replace(
        report.run.stats, notes=(NOTE,), standstill=Standstill("sleeps", "the program sleeps for ever", 0)
    )
    longest = replace(report.worst[0], stalled_cycles=60)
    lines = as_text(replace(report, run=replace(report.run, stats=stats), worst=(longest,))).splitlines()
    assert "      for 60 of these cycles the core waited for the flash: it was written or erased" in lines
    first = lines.index("Noted and gone on with: what the manual does not allow, or is not modelled")
    assert lines[first + 1] == f"  {NOTE}"
    again = made.report(monkeypatch, replace(report.run, stats=stats))
    assert "The program sleeps for ever." in again.notes


def test_a_length_a_task_and_a_caller_that_are_not_known_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = made.report(monkeypatch)
    (still_open,), longest = report.still_open, report.worst[0]
    assert length(still_open) == "still open"
    assert (
        length(replace(longest, cycles=84_000, ns=1_000_000.0))
        == "84,000 cycles (1,000.00\N{NO-BREAK SPACE}µs)"
    )
    alone = replace(longest, stack=longest.stack[:1], task="")
    assert who(alone) == "raised by lock (main.c:10); ended by lock (main.c:12)"
    cut = replace(longest, stack=(longest.begin, made.place(0x0800_0210, interrupted=True)))
    assert who(cut) == "raised by lock (main.c:10), interrupted main (main.c:33); ended by lock (main.c:12)"
    shown = as_text(replace(report, worst=(alone,)))
    assert "2×  primask\n" in shown and f"{TASK:#010x}" not in shown
    assert headline(replace(report, worst=(alone,))).endswith(
        "primask, raised by lock (main.c:10); ended by lock (main.c:12)."
    )

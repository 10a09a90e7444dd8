"""The report of answers and passes that are written by hand (made.py)."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from analysis.program.latency import measure
from analysis.program.latency.measure import LatencyReport, Window
from analysis.program.latency.tests import made
from analysis.program.latency.tests.made import LOCK, PLACES, ROWS, SUBJECT, explained
from analysis.program.latency.text import as_text
from analysis.program.masks.tests.made import TASK
from analysis.program.shown import as_json
from base.metrology.tests.few import summary
from base.paths import ROOT
from simulator.latency import Question
from simulator.outputs import Standstill

__all__ = ["explained"]
pytestmark = pytest.mark.usefixtures("explained")


def test_each_wait_and_each_pass_is_told() -> None:
    waits = made.waits()
    # Of the nine each cycle later is one less; those behind cycle 600 take half as long.
    assert waits.cycles.model_dump() == summary(12, 44, 50, 59, 60, 117, 118, 119, 120)
    assert waits.ns.max == 7500.0 and (waits.pends, waits.taken, waits.lost) == (11, 9, {"cleared": 2})
    causes = [(row.cause, row.pends, row.worst_cycles) for row in waits.causes]
    assert causes == [
        *(("PRIMASK", 5, 120), ("handler of IRQ 29 (on_tim3)", 2, 60), ("BASEPRI 0x50", 1, 44)),
        ("entry alone", 1, 12),
    ]
    worst = [(row.pended, row.cycles, row.ns, row.at.line, row.exception) for row in waits.worst]
    assert worst == [
        *((100, 120, 7500.0, 10, 0), (500, 60, 3750.0, 45, 45), (600, 44, 1375.0, 50, 0)),
        (900, 12, 375.0, 33, 0),
    ]
    passes = made.passes()
    assert (passes.count, passes.nested, passes.cycles.max, passes.ns.min) == (3, 1, 120, 2000.0)
    assert [(row.cycles, row.task) for row in passes.worst] == [
        *((120, f"{TASK:#010x}"), (64, f"{TASK:#010x}"), (32, "")),
    ]


def test_the_reference_names_each_field() -> None:
    section = (ROOT / "docs" / "reference" / "latency.md").read_text("utf-8").partition("## JSON")[2]
    document = as_json(LatencyReport.of(SUBJECT, made.waits(), [made.passes()]))
    of_waits, (of_passes,) = document["latency"], document["sections"]
    rows = (document, of_waits, of_waits["worst"][0], of_passes, of_passes["worst"][0])
    assert {field for row in rows for field in row if field not in section} == set()
    assert as_json(LatencyReport.of(SUBJECT, None, []))["latency"] is None


def test_the_text_has_each_figure() -> None:
    text = as_text(LatencyReport.of(SUBJECT, made.waits(), [made.passes()]))
    for words in (
        "The run ended early: It stopped.\n2 pends were not answered: the program cleared what was pending.",
        "TIM3: the longest wait is 120 cycles (7.50 µs), PRIMASK, set at lock (main.c:10).",
        "latency in cycles: min 12, median 60, max 120 (7.50 µs)",
        "            120      5  PRIMASK, set at lock (main.c:10)",
        "Worst of its kind, 2: 60 cycles (3.75 µs), pended at cycle 500 in on_tim3 (main.c:45)",
        "calls, innermost first: lock (main.c:10) < main (main.c:33)",
        "lock..unlock: passed 3 times, 1 of them within another",
        "longest: 120 cycles (7.50 µs) from cycle 100 on, in task 0x20000100,",
        "   100   83.3%  50×  lock",
    ):
        assert words in text, words
    counts = [
        line.split()[0] for line in text.splitlines() if line.startswith(("  1 b", "  2 e", "  3 h", "  4 b"))
    ]
    assert counts == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"window": Window(90, 952, None), "seed": 3}, "pended at 11 cycles drawn with seed 3 of 90 to 951"),
        ({"window": Window(90, 9_952, 1_000)}, "pended at every 1,000th cycle of 90 to 9,951, 11 pends,"),
        ({"window": Window(90, 9_952, 2)}, "The worst may lie between"),
        ({"enabled_by": "board"}, "The board enabled it"),
        ({"worst": ()}, "TIM3: no pend was answered."),
    ],
)
def test_what_else_a_text_may_say(change: dict[str, Any], words: str) -> None:
    assert words in as_text(LatencyReport.of(SUBJECT, replace(made.waits(), **change), []))


def test_pends_that_were_drawn_and_that_the_board_enabled() -> None:
    waits = made.waits(Question(45, "62us", random=11, seed=3, enable=2), every=None, ended="It stopped.")
    assert (waits.mode, waits.seed, waits.enabled_by, waits.ended) == ("random", 3, "board", "It stopped.")


@pytest.mark.parametrize(
    ("address", "sharing", "words"),
    [
        (0x0800_0501, 8, "on_tim3"),
        (0x0800_0501, 9, "on_tim3 (which 9 other vectors have, too: a default handler?)"),
        (0x0800_0901, 0, "0x08000900"),
    ],
)
def test_a_handler_that_many_vectors_have_is_doubted(address: int, sharing: int, words: str) -> None:
    assert made.waits(handler=address, sharing=sharing).handler == words


@pytest.mark.parametrize(
    ("ended", "rows", "complete"),
    [("", ROWS, False), ("", ROWS.head(5), True), ("It stopped.", ROWS.head(5), False)],
)
def test_answers_are_complete_if_each_pend_was_answered_to_the_end(
    ended: str, rows: pl.DataFrame, complete: bool
) -> None:
    assert LatencyReport.of(SUBJECT, made.waits(ended=ended, rows=rows), []).complete is complete


def test_a_program_that_waits_in_vain_is_told_first() -> None:
    """Whether the interrupt or a section was named; a known kernel's idle loop reads memory."""
    words = "the program polls for ever"
    stats = made.stats(Standstill("polls", words, LOCK, "RCC_CR", 0x20000))
    sentence = measure._polls(SUBJECT, PLACES, stats)
    assert "hangs in lock (main.c:10): it waits for bits 0x00020000 of RCC_CR" in sentence
    report = LatencyReport.of(SUBJECT, None, [replace(made.passes(""), polls=sentence)])
    assert as_text(report).splitlines()[0] == sentence and not report.complete
    kernel: Any = SimpleNamespace(name="FreeRTOS")
    idle = replace(SUBJECT, kernel=kernel)
    memory = made.stats(Standstill("polls", words, LOCK, "the word at 0x20000000"))
    polls = [measure._polls(idle, PLACES, of_run) for of_run in (memory, stats)]
    assert polls == ["", sentence]

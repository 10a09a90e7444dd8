"""The whole document, and its whole text, of answers and passes that are written by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from analysis.program.latency import answers, measure
from analysis.program.latency.document import as_json
from analysis.program.latency.measure import Explained, Latencies, SectionTimes, Subject, handler, reasons
from analysis.program.latency.sections import Measured, Passed, Section
from analysis.program.latency.text import as_text
from analysis.program.masks.intervals import Clock
from analysis.program.masks.places import Places
from analysis.program.masks.tests.made import CLOCKS, TASK, WHOLE, place
from analysis.program.masks.tests.test_document import at
from base.metrology.tests.few import summary
from base.run_folder.explanation import Total
from simulator.latency import Answers, Question
from simulator.outputs import Standstill, Stats
from simulator.program import UserProgram

MAIN, LOCK, UNLOCK, NAP, ON_TIM3 = 0x0800_0210, 0x0800_0300, 0x0800_0310, 0x0800_0400, 0x0800_0510
COLUMNS = {
    **dict.fromkeys(("first_pended", "last_pended", "pends", "taken"), pl.Int64),
    **dict.fromkeys(("outcome", "core_hz"), pl.String),
    **dict.fromkeys(("pc", "exception", "return_pc"), pl.Int64),
    "waits": pl.String,
}
ROWS = pl.DataFrame(
    [
        (100, 103, 4, 220, "taken", "16000000", LOCK, 0, UNLOCK, "primask 0x08000300:108;entry:12"),
        (500, 501, 2, 560, "taken", "16000000", ON_TIM3, 45, None, "exception 45:48;entry:12"),
        (300, 300, 1, 350, "taken", "16000000", LOCK, 0, UNLOCK,
         "primask 0x08000300:36;instruction:2;entry:12"),
        (900, 900, 1, 912, "taken", "32000000", MAIN, 0, MAIN, "entry:12"),
        (600, 600, 1, 644, "taken", "16000000", NAP, 0, MAIN, "basepri 0x50 ?:30;instruction:2;entry:12"),
        (950, 951, 2, 0, "cleared", "32000000", MAIN, 0, None, None),
    ],
    schema=COLUMNS,
    orient="row",
)  # fmt: skip
EXPLAINED = Explained(
    (place(LOCK), place(MAIN)),
    (
        Total(name="lock", executions=50, cycles=100, source=""),
        Total(name="main", executions=1, cycles=8, source=""),
    ),
    (Total(name="lock: nop", executions=40, cycles=90, source="main.c:10"),),
)  # fmt: skip
NOTHING = Explained(())


def subject() -> Subject:
    stacks = pl.DataFrame(schema={"stack": pl.Int64, "depth": pl.Int64, "pc": pl.Int64})
    return Subject(UserProgram(Path("my.elf")), WHOLE, Places(WHOLE, stacks))


def latencies(**fields: Any) -> Latencies:
    result = Answers(**{
        "first_use_cycle": 90, "used": (45,), "handler": 0x0800_0501, "sharing": 0, "first_cycle": 90,
        "end_cycle": 952, "every": 1, "rows": ROWS, "ended": "", **fields,
    })  # fmt: skip
    taken = answers.answered(result.rows)
    worst = answers.worst_kinds(taken, 5)
    return Latencies(
        Question(45, "62us"),
        result,
        taken,
        list(zip(worst, (EXPLAINED, *[NOTHING] * 3), strict=False)),
        Clock(CLOCKS),
    )


SECTION = SectionTimes(
    Measured(
        Section("lock..unlock", frozenset((LOCK,)), {UNLOCK: True}),
        [
            Passed(100, 220, LOCK, UNLOCK, 0, TASK, 0),
            Passed(500, 532, LOCK, UNLOCK, 45, None, 1),
            Passed(700, 764, LOCK, UNLOCK, 0, TASK, 0),
        ],
        restarted=1, unbegun=2, unended=3, crossed=4,
    ),
    Clock(CLOCKS),
    [
        (Passed(100, 220, LOCK, UNLOCK, 0, TASK, 0), EXPLAINED),
        (Passed(500, 532, LOCK, UNLOCK, 45, None, 1), NOTHING),
    ],
    "It stopped.",
)  # fmt: skip

PRIMASK = {"cause": "PRIMASK", "exception": None, "raised": at(LOCK)}
IN_HANDLER = {"cause": "handler of IRQ 29 (on_tim3)", "exception": 45, "raised": None}
BASEPRI = {"cause": "BASEPRI 0x50", "exception": None, "raised": None}
INSTRUCTION = {"cause": "instruction in progress", "exception": None, "raised": None}
ALONE = {"cause": "entry alone", "exception": None, "raised": None}
UNEXPLAINED: dict[str, Any] = {"stack": [], "functions": [], "dearest": []}
TOLD = {
    "stack": [at(LOCK), at(MAIN)],
    "functions": [
        {"name": "lock", "executions": 50, "cycles": 100, "source": ""},
        {"name": "main", "executions": 1, "cycles": 8, "source": ""},
    ],
    "dearest": [{"name": "lock: nop", "executions": 40, "cycles": 90, "source": "main.c:10"}],
}


def wait(cause: dict[str, Any], cycles: int) -> dict[str, Any]:
    return {**cause, "cycles": cycles}


def caused(cause: dict[str, Any], pends: int, worst_cycles: int) -> dict[str, Any]:
    words = {"cause": cause["cause"], "raised": cause["raised"]}
    return {**words, "pends": pends, "worst_cycles": worst_cycles}


FROM_RESET = {"from": "reset", "until": "reset", "why": "", "cycle": 0}
CLEARED = "2 pends were not answered: the program cleared what was pending."
STOPPED = "The run ended early: It stopped."

DOCUMENT = {
    "schema": 1,
    "elf": "my.elf",
    "reasons": [STOPPED, CLEARED],
    "polls": None,
    "noted": [],
    "latency": {
        "irq": "TIM3",
        "exception": 45,
        "handler": "on_tim3",
        "mode": "sweep",
        "seed": None,
        "enabled_by": "program",
        "first_use_cycle": 90,
        "window": {"first_cycle": 90, "end_cycle": 952, "every": 1},
        "pends": 11,
        "taken": 9,
        "lost": {"cleared": 2},
        "ended": None,
        "kernel": None,
        "start": FROM_RESET,
        "start_up": None,
        # Of the nine each cycle later is one less; those behind cycle 600 take half as long.
        "cycles": summary(12, 44, 50, 59, 60, 117, 118, 119, 120),
        "ns": summary(375.0, 1375.0, 3125.0, 3687.5, 3750.0, 7312.5, 7375.0, 7437.5, 7500.0),
        "causes": [
            caused(PRIMASK, 5, 120), caused(IN_HANDLER, 2, 60), caused(BASEPRI, 1, 44), caused(ALONE, 1, 12),
        ],
        "worst": [
            {
                "pended": 100, "last_pended": 103, "taken": 220, "cycles": 120, "ns": 7500.0,
                "waits": [wait(PRIMASK, 108), wait(ALONE, 12)],
                "at": at(LOCK), "exception": 0, "task": None, "interrupted": at(UNLOCK), **TOLD,
            },
            {
                "pended": 500, "last_pended": 501, "taken": 560, "cycles": 60, "ns": 3750.0,
                "waits": [wait(IN_HANDLER, 48), wait(ALONE, 12)],
                "at": at(ON_TIM3), "exception": 45, "task": None, "interrupted": None, **UNEXPLAINED,
            },
            {
                "pended": 600, "last_pended": 600, "taken": 644, "cycles": 44, "ns": 1375.0,
                "waits": [wait(BASEPRI, 30), wait(INSTRUCTION, 2), wait(ALONE, 12)],
                "at": at(NAP), "exception": 0, "task": None, "interrupted": at(MAIN), **UNEXPLAINED,
            },
            {
                "pended": 900, "last_pended": 900, "taken": 912, "cycles": 12, "ns": 375.0,
                "waits": [wait(ALONE, 12)],
                "at": at(MAIN), "exception": 0, "task": None, "interrupted": at(MAIN), **UNEXPLAINED,
            },
        ],
    },
    "sections": [
        {
            "section": "lock..unlock",
            "count": 3,
            "nested": 1,
            "restarted": 1,
            "unbegun": 2,
            "unended": 3,
            "crossed": 4,
            "ended": "It stopped.",
            "start": FROM_RESET,
            "start_up": None,
            "cycles": summary(32, 64, 120),
            "ns": summary(2000.0, 2000.0, 7500.0),
            "worst": [
                {
                    "begin_cycle": 100, "end_cycle": 220, "cycles": 120, "ns": 7500.0, "exception": 0,
                    "task": f"0x{TASK:08x}", "begin": at(LOCK), "end": at(UNLOCK), **TOLD,
                },
                {
                    "begin_cycle": 500, "end_cycle": 532, "cycles": 32, "ns": 2000.0, "exception": 45,
                    "task": None, "begin": at(LOCK), "end": at(UNLOCK), **UNEXPLAINED,
                },
            ],
        }
    ],
}  # fmt: skip

EXPLANATION = """\
  calls, innermost first: lock (main.c:10) < main (main.c:33)
  cycles by function
        100       50×  lock
          8        1×  main
  cycles by instruction
         90       40×  lock: nop  main.c:10"""
TEXT = f"""\
{STOPPED}
{CLEARED}
TIM3: the longest wait is 120 cycles (7.50 µs), PRIMASK, set at lock (main.c:10).
  pended at every cycle of 90 to 951, 11 pends, each in a copy of the undisturbed run
  to the first instruction of on_tim3
  latency in cycles: min 12, median 60, max 120 (7.50 µs)

What they waited for most
        120 cycles at worst          5 pends  PRIMASK, set at lock (main.c:10)
         60 cycles at worst          2 pends  handler of IRQ 29 (on_tim3)
         44 cycles at worst          1 pends  BASEPRI 0x50
         12 cycles at worst          1 pends  entry alone

Worst of its kind, 1: 120 cycles (7.50 µs), pended at cycle 100 in lock (main.c:10)
        108 cycles  PRIMASK, set at lock (main.c:10)
         12 cycles  entry alone
{EXPLANATION}

Worst of its kind, 2: 60 cycles (3.75 µs), pended at cycle 500 in on_tim3 (main.c:45)
         48 cycles  handler of IRQ 29 (on_tim3)
         12 cycles  entry alone

Worst of its kind, 3: 44 cycles (1.38 µs), pended at cycle 600 in nap (main.c:50)
         30 cycles  BASEPRI 0x50
          2 cycles  instruction in progress
         12 cycles  entry alone

Worst of its kind, 4: 12 cycles (0.38 µs), pended at cycle 900 in main (main.c:33)
         12 cycles  entry alone

lock..unlock: passed 3 times, 1 of them within another
  duration in cycles: min 32, median 64, max 120 (7.50 µs)
  1 began, and began again before they ended: only the last beginning counts
  2 ended without having begun
  3 had not ended when the run did
  4 began in one task or handler and ended in another
  longest: 120 cycles (7.50 µs) from cycle 100 on, in task 0x20000100,
  from lock (main.c:10) to main.c
{EXPLANATION}""".replace("to main.c\n", "to lock (main.c:12)\n")


def test_the_document_tells_all_answers_and_passes() -> None:
    assert as_json(subject(), latencies(), [SECTION]) == DOCUMENT


def test_what_was_not_asked_for_is_left_out() -> None:
    alone = {k: v for k, v in DOCUMENT.items() if k != "latency"}
    assert as_json(subject(), None, [SECTION]) == {**alone, "reasons": [STOPPED]}
    alone = {k: v for k, v in DOCUMENT.items() if k != "sections"}
    assert as_json(subject(), latencies(), []) == {**alone, "reasons": [CLEARED]}


def test_pends_that_were_drawn_and_that_the_board_enabled() -> None:
    result = replace(
        latencies(every=None, ended="It stopped."), question=Question(45, "62us", random=11, seed=3, enable=2)
    )
    document = as_json(subject(), result, [])["latency"]
    assert (document["mode"], document["seed"], document["enabled_by"], document["ended"]) == (
        "random",
        3,
        "board",
        "It stopped.",
    )
    assert document["window"]["every"] is None


def test_the_text_tells_the_document() -> None:
    assert as_text(as_json(subject(), latencies(), [SECTION])) == TEXT


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"window": {"first_cycle": 90, "end_cycle": 952, "every": None}, "seed": 3},
         "pended at 11 cycles drawn with seed 3 of 90 to 951, 11 pends,"),
        ({"window": {"first_cycle": 90, "end_cycle": 9_952, "every": 1_000}},
         "pended at every 1,000th cycle of 90 to 9,951, 11 pends,"),
        ({"window": {"first_cycle": 90, "end_cycle": 9_952, "every": 2}},
         "  The worst may lie between: narrow it by --from, --until or --around, or use --every 1.\n\nWhat"),
        ({"enabled_by": "board"}, "  The board enabled it: the program itself may not.\n"),
        ({"worst": []}, "TIM3: no pend was answered\n"),
    ],
)  # fmt: skip
def test_what_else_a_text_may_say(told: dict[str, Any], words: str) -> None:
    document = json.loads(json.dumps(as_json(subject(), latencies(), [])))
    document["latency"] |= told
    assert words in as_text(document)


def test_a_text_has_no_line_for_what_is_not_there() -> None:
    document = json.loads(json.dumps(as_json(subject(), latencies(rows=ROWS.head(1)), [SECTION])))
    document["latency"] |= {"taken": 0, "causes": document["latency"]["causes"] * 9}
    document["sections"][0] |= {
        "count": 1,
        "nested": 0,
        **dict.fromkeys(("restarted", "unbegun", "unended", "crossed"), 0),
    }
    document["sections"][0]["ended"] = None
    lines = as_text(document).splitlines()
    assert lines[4] == "" and sum("cycles at worst" in line for line in lines) == 8
    begin = lines.index("lock..unlock: passed once")
    assert lines[begin + 1 : begin + 3] == [
        "  duration in cycles: min 32, median 64, max 120 (7.50 µs)",
        "  longest: 120 cycles (7.50 µs) from cycle 100 on, in task 0x20000100,",
    ]


@pytest.mark.parametrize(
    ("address", "sharing", "words"),
    [
        (0x0800_0501, 8, "on_tim3"),
        (0x0800_0501, 9, "on_tim3 (which 9 other vectors have, too: a default handler?)"),
        (0x0800_0901, 0, "0x08000900"),
    ],
)
def test_a_handler_that_many_vectors_have_is_doubted(address: int, sharing: int, words: str) -> None:
    result = latencies(handler=address, sharing=sharing)
    assert handler(subject(), Question(45, "62us"), result.answers) == words


@pytest.mark.parametrize(
    ("ended", "rows", "complete"),
    [("", ROWS, False), ("", ROWS.head(5), True), ("It stopped.", ROWS.head(5), False)],
)
def test_answers_are_complete_if_each_pend_was_answered_to_the_end(
    ended: str, rows: pl.DataFrame, complete: bool
) -> None:
    assert (not reasons(latencies(ended=ended, rows=rows), [])) is complete


def test_a_program_that_waits_in_vain_is_told_first() -> None:
    """Whether the interrupt or a section was asked for; a known kernel's idle loop reads memory."""
    words = "the program polls for ever"
    stats = Stats(
        640,
        0,
        1000,
        0.1,
        1.0,
        CLOCKS,
        0,
        (1, 1),
        LOCK,
        (),
        (),
        Standstill("polls", words, LOCK, "RCC_CR", 0x20000),
    )
    sentence = measure._polls(subject(), stats)
    assert sentence.startswith(
        "The program hangs in lock (main.c:10): it waits for bits 0x00020000 of RCC_CR"
    )
    section = replace(SECTION, ended="", polls=sentence)
    assert as_text(as_json(subject(), None, [section])).splitlines()[0] == sentence
    kernel: Any = SimpleNamespace(name="FreeRTOS")
    idle = replace(subject(), kernel=kernel)
    memory = replace(stats, standstill=Standstill("polls", words, LOCK, "the word at 0x20000000"))
    assert (measure._polls(idle, memory), measure._polls(idle, stats)) == ("", sentence)


def test_the_waits_of_an_answer() -> None:
    first, second, third, *_ = answers.answered(ROWS)
    assert (first.core_hz, first.main.cause, first.cycles, first.ns(Clock(CLOCKS))) == (
        Fraction(16_000_000),
        "primask",
        120,
        7500.0,
    )
    assert (first.main.raised, first.main.level, second.main.exception) == (LOCK, None, 45)
    assert first.kind == third.kind != second.kind
    (silent,) = answers.answered(ROWS.head(1).with_columns(waits=pl.lit(None, pl.String)))
    assert silent.waits == (answers.Wait("entry", 0),)


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        *(
            ("primask", "PRIMASK"),
            ("faultmask", "FAULTMASK"),
            ("flash", "flash busy"),
            ("entry", "entry alone"),
        ),
        ("disabled", "the line was disabled in the NVIC"),
        ("instruction", "instruction in progress"),
    ],
)
def test_a_cause_in_words(cause: str, words: str) -> None:
    assert answers.words(answers.Wait(cause, 1), subject().places) == words


def test_without_answers_there_are_no_latencies() -> None:
    cycles, ns = answers.latencies([], 1, Clock(CLOCKS))
    assert (len(cycles), len(ns)) == (0, 0)


def test_of_a_sweep_each_so_many_cycles_apart_pends_are_as_far_apart() -> None:
    (row,) = answers.answered(ROWS.head(1).with_columns(last_pended=pl.lit(106), pends=pl.lit(4)))
    cycles, ns = answers.latencies([row], 2, Clock(CLOCKS))
    assert (cycles.tolist(), ns.tolist()) == ([120, 118, 116, 114], [7500.0, 7375.0, 7250.0, 7125.0])

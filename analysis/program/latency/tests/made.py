"""Answers and passes that are written by hand, in the program of the masks' made.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis.program.beginning import WHOLE as ALL
from analysis.program.latency import answers, measure
from analysis.program.latency.measure import Explained, Passes, Waits
from analysis.program.latency.sections import Measured, Passed, Section
from analysis.program.masks.tests.made import CLOCKS, TASK, WHOLE, place
from analysis.program.places import Places
from analysis.program.subject import Subject
from base.run_folder.explanation import Total
from simulator.latency import Answers, Question
from simulator.masks import Passages
from simulator.outputs import Standstill, Stats
from simulator.program import UserProgram

MAIN, LOCK, UNLOCK, NAP, ON_TIM3 = 0x0800_0210, 0x0800_0300, 0x0800_0310, 0x0800_0400, 0x0800_0510
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
    schema={
        **dict.fromkeys(("first_pended", "last_pended", "pends", "taken"), pl.Int64),
        **dict.fromkeys(("outcome", "core_hz"), pl.String),
        **dict.fromkeys(("pc", "exception", "return_pc"), pl.Int64),
        "waits": pl.String,
    },
    orient="row",
)  # fmt: skip
EXPLAINED = Explained(
    stack=(place(LOCK), place(MAIN)),
    functions=(Total(name="lock", executions=50, cycles=100, source=""),),
    dearest=(Total(name="lock: nop", executions=40, cycles=90, source="main.c:10"),),
)
SUBJECT = Subject(UserProgram(Path("my.elf")), WHOLE, None, "62us")
NO_STACKS = pl.DataFrame(schema={"stack": pl.Int64, "depth": pl.Int64, "pc": pl.Int64})
PLACES = Places(WHOLE, NO_STACKS)
ANSWERED: dict[str, Any] = {
    "first_use_cycle": 90, "used": (45,), "handler": 0x0800_0501, "sharing": 0, "first_cycle": 90,
    "end_cycle": 952, "every": 1, "rows": ROWS, "ended": "",
}  # fmt: skip
MEASURED = Measured(
    Section("lock..unlock", frozenset((LOCK,)), {UNLOCK: True}),
    [
        Passed(100, 220, LOCK, UNLOCK, 0, TASK, 0),
        Passed(500, 532, LOCK, UNLOCK, 45, None, 1),
        Passed(700, 764, LOCK, UNLOCK, 0, TASK, 0),
    ],
    *(1, 2, 3, 4),
)


def stats(standstill: Standstill | None = None) -> Stats:
    """What the simulator tells of a run with made.py's clocks."""
    return Stats(640, 0, 1000, 0.1, 1.0, CLOCKS, 0, (1, 1), LOCK, (), (), standstill)


@pytest.fixture
def explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first span is explained without a run."""

    def of_spans(_subject: Subject, spans: list[Any], *_: object) -> tuple[list[Explained], Places, Stats]:
        return [EXPLAINED, *[Explained()] * (len(spans) - 1)][: len(spans)], PLACES, stats()

    monkeypatch.setattr(measure, "_explained", of_spans)


def waits(question: Question | None = None, **fields: Any) -> Waits:
    """The waits of the rows; with `explained`."""
    result = Answers(**{**ANSWERED, **fields})
    taken = answers.answered(result.rows)
    pended = question or Question(45, "62us")
    return measure.of_answers(SUBJECT, pended, result, taken, ALL, [], True, lambda _: None)


def passes(ended: str = "It stopped.") -> Passes:
    """The passes of the section; with `explained`."""
    return measure.of_section(SUBJECT, MEASURED, Passages(stats(), NO_STACKS, ended), ALL, True)

"""Waits of answers that are written by hand (made.py)."""

from __future__ import annotations

import polars as pl
import pytest

from analysis.program.clock import Clock
from analysis.program.latency import answers
from analysis.program.latency.tests.made import LOCK, PLACES, ROWS
from analysis.program.masks.tests.made import CLOCKS


def test_the_waits_of_an_answer() -> None:
    first, second, third, *_ = answers.answered(ROWS)
    assert (first.main.cause, first.cycles, first.ns(Clock(CLOCKS))) == ("primask", 120, 7500.0)
    assert (first.main.raised, first.main.level, second.main.exception) == (LOCK, None, 45)
    assert first.kind == third.kind != second.kind
    (silent,) = answers.answered(ROWS.head(1).with_columns(waits=pl.lit(None, pl.String)))
    assert silent.waits == (answers.Wait("entry", 0),)


@pytest.mark.parametrize("cause", ["primask", "faultmask", "flash", "entry", "disabled", "instruction"])
def test_each_cause_has_words(cause: str) -> None:
    assert answers.words(answers.Wait(cause, 1), PLACES)


def test_pends_are_as_far_apart_as_they_were_asked() -> None:
    (row,) = answers.answered(ROWS.head(1).with_columns(last_pended=pl.lit(106), pends=pl.lit(4)))
    cycles, ns = answers.latencies([row], 2, Clock(CLOCKS))
    assert (cycles.tolist(), ns.tolist()) == ([120, 118, 116, 114], [7500.0, 7375.0, 7250.0, 7125.0])
    assert [len(column) for column in answers.latencies([], 1, Clock(CLOCKS))] == [0, 0]

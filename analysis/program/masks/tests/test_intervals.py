"""Intervals of changes that are written by hand, and whose lengths one can count."""

from __future__ import annotations

import pytest

from analysis.program.masks.log import intervals, sleep, stalls
from analysis.program.masks.tests.changes import changes
from tests.tables import table


def intervals_of(text: str) -> list[str]:
    """`kind level begin+cycles` of each interval, in order of these words."""
    rows = intervals(changes(text))
    return sorted(f"{it.kind} {it.level} {it.begin_cycle}+{it.cycles}" for it in rows)


@table
def test_what_is_held_is_an_interval(table: str, expected: str) -> None:
    assert ", ".join(intervals_of(table)) == expected


def test_a_handler_that_another_follows_ends_where_that_is_entered() -> None:
    text = "112 exception 30 100, 206 exception 31 200, 260 exception 0 250"
    assert intervals_of(text) == ["handler 30 100+100", "handler 31 200+50"]
    assert [it.chained for it in intervals(changes(text))] == [True, False]


WFI, WFE = 0x0800_0100, 0x0800_0200


def code(address: int, size: int) -> bytes:
    return {WFI: b"\x30\xbf", WFE: b"\x20\xbf"}.get(address, b"")[:size]


# An interrupt ends the sleep of WFI; that of WFE not where PRIMASK holds it off (ARMv7-M ARM,
# B1.5.17).
@pytest.mark.parametrize(("pc", "cycles"), [(WFI, 900), (WFE, 0)])
def test_sleep_that_an_interrupt_ends_is_told_apart(pc: int, cycles: int) -> None:
    assert sleep(changes("20 sleep 1, 920 sleep 0", pc), 1000, code).within(10, 930) == cycles


def test_waiting_for_the_flash_is_added_up_and_may_last_to_the_end() -> None:
    table = changes("10 flash 1, 50 flash 0, 50 flash 1, 60 flash 0, 100 primask 1, 200 flash 1")
    waited = stalls(table, 1000)
    assert [waited.within(*span) for span in ((0, 100), (20, 55), (100, 1000))] == [50, 35, 800]

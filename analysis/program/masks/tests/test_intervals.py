"""Intervals of changes that are written by hand, and whose lengths one can count."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest

from analysis.program.masks.intervals import Clock, Sleep, intervals, sleep, stalls
from analysis.program.masks.tests.changes import changes
from simulator.outputs import ClockSpan

NO_SLEEP = Sleep([], [])


def rows_of(table: pl.DataFrame, slept: Sleep = NO_SLEEP) -> list[tuple[str, int | None, int, int | None]]:
    """Kind, level, first cycle and length of each interval."""
    rows = intervals(table, slept).select("kind", "level", "begin_cycle", "cycles")
    return list(rows.iter_rows())


def test_a_program_that_does_nothing_has_no_interval() -> None:
    assert rows_of(changes()) == []
    assert rows_of(changes((0, "reset", 0))) == []


@pytest.mark.parametrize("kind", ["primask", "faultmask", "scheduler"])
def test_a_mask_is_held_until_it_is_gone(kind: str) -> None:
    """What is set again while it is set goes on: the scheduler counts how often it is suspended."""
    table = changes((10, kind, 1), (14, kind, 2), (20, kind, 1), (30, kind, 0), (50, kind, 1), (51, kind, 0))
    assert rows_of(table) == [(kind, None, 10, 20), (kind, None, 50, 1)]


def test_an_interval_that_does_not_end_has_no_length() -> None:
    assert rows_of(changes((10, "primask", 1))) == [("primask", None, 10, None)]


def test_a_reset_ends_everything() -> None:
    table = changes((5, "primask", 1), (6, "basepri", 0x40), (9, "exception", 20, 7), (30, "reset", 0))
    assert rows_of(table) == [("primask", None, 5, 25), ("basepri", 0x40, 6, 24), ("handler", 20, 7, 23)]


def test_a_stronger_level_lies_within_the_weaker_one() -> None:
    table = changes((10, "basepri", 0x50), (20, "basepri", 0x20), (25, "basepri", 0x50), (40, "basepri", 0))
    assert rows_of(table) == [("basepri", 0x50, 10, 30), ("basepri", 0x20, 20, 5)]


def test_what_a_weaker_level_holds_was_held_before_it() -> None:
    """0x20 holds all that 0x40 holds: so 0x40 is held from the beginning."""
    table = changes((10, "basepri", 0x20), (15, "basepri", 0x40), (40, "basepri", 0))
    assert sorted(rows_of(table)) == [("basepri", 0x20, 10, 5), ("basepri", 0x40, 10, 30)]


def test_a_level_that_was_not_set_within_is_not_counted() -> None:
    table = changes((1, "basepri", 0x50), (2, "basepri", 0), (10, "basepri", 0x20), (15, "basepri", 0))
    assert rows_of(table) == [("basepri", 0x50, 1, 1), ("basepri", 0x20, 10, 5)]


def test_a_handler_lasts_from_its_entry_to_its_return() -> None:
    table = changes((112, "exception", 30, 100), (160, "exception", 0, 150))
    assert rows_of(table) == [("handler", 30, 100, 50)]


def test_a_handler_goes_on_while_another_interrupts_it() -> None:
    table = changes(
        (112, "exception", 30, 100),
        (132, "exception", 20, 120),
        (150, "exception", 30, 140),
        (210, "exception", 0, 200),
    )
    assert rows_of(table) == [("handler", 30, 100, 100), ("handler", 20, 120, 20)]


def test_a_handler_that_another_follows_ends_where_that_is_entered() -> None:
    table = changes((112, "exception", 30, 100), (206, "exception", 31, 200), (260, "exception", 0, 250))
    assert rows_of(table) == [("handler", 30, 100, 100), ("handler", 31, 200, 50)]
    assert intervals(table, NO_SLEEP)["chained"].to_list() == [True, False]


def test_what_follows_within_another_handler_is_told_apart() -> None:
    """30 is interrupted by 20, which 21 follows; then 30 goes on."""
    table = changes(
        (112, "exception", 30, 100),
        (132, "exception", 20, 120),
        (146, "exception", 21, 140),
        (170, "exception", 30, 160),
        (210, "exception", 0, 200),
    )
    assert rows_of(table) == [("handler", 30, 100, 100), ("handler", 20, 120, 20), ("handler", 21, 140, 20)]


WFI, WFE = 0x0800_0100, 0x0800_0200


def code(address: int, size: int) -> bytes:
    return {WFI: b"\x30\xbf", WFE: b"\x20\xbf"}.get(address, b"")[:size]


def slept(pc: int) -> pl.DataFrame:
    rows = changes((10, "primask", 1), (20, "sleep", 1), (920, "sleep", 0), (930, "primask", 0))
    return rows.with_columns(pc=pl.when(pl.col("what") == "sleep").then(pc).otherwise("pc"))


def test_sleep_that_an_interrupt_ends_does_not_count() -> None:
    table = slept(WFI)
    counted = intervals(table, sleep(table, 1000, code))
    assert counted.select("cycles", "asleep_cycles").row(0) == (20, 900)


def test_sleep_for_an_event_counts() -> None:
    """WFE does not end where PRIMASK holds the interrupt off (ARMv7-M ARM, B1.5.17)."""
    table = slept(WFE)
    counted = intervals(table, sleep(table, 1000, code))
    assert counted.select("cycles", "asleep_cycles").row(0) == (920, 0)


def test_waiting_for_the_flash_is_added_up_and_may_last_to_the_end() -> None:
    table = changes(
        *((10, "flash", 1), (50, "flash", 0), (50, "flash", 1), (60, "flash", 0)),
        *((100, "primask", 1), (200, "flash", 1)),
    )
    waited = stalls(table, 1000).within(pl.Series([0, 20, 100]), pl.Series([100, 55, 1000]))
    assert waited.tolist() == [50, 35, 800]


def test_sleep_within_a_handler_counts() -> None:
    """What a handler holds off does not wake the core."""
    table = changes(
        (12, "exception", 30, 0), (20, "sleep", 1), (30, "sleep", 0), (60, "exception", 0, 50)
    ).with_columns(pc=WFI)
    assert rows_of(table, sleep(table, 100, code)) == [("handler", 30, 0, 50)]


HSI = ClockSpan(0, Fraction(0), Fraction(16_000_000))
PLL = ClockSpan(1000, Fraction(1000, 16_000_000), Fraction(84_000_000))


def test_each_cycle_is_as_long_as_its_clock_says() -> None:
    """1,000 cycles of 62.5 ns, then 84 cycles to the microsecond."""
    clock = Clock([HSI, PLL])
    assert clock.ns([0, 1000, 1084]).tolist() == pytest.approx([0, 62_500, 63_500])
    across, after = clock.between_ns([840, 1000], [1084, 1084]).tolist()
    assert across == pytest.approx(160 * 62.5 + 1000)
    assert after == pytest.approx(1000)
    assert clock.last_hz == 84_000_000


def test_where_the_clock_stays_a_length_is_exact() -> None:
    begin, length = 10**13 + 7, 1001
    assert Clock([HSI]).between_ns([begin], [begin + length]).tolist() == [length * 62.5]

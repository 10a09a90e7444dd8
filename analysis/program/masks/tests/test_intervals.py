"""Intervals of changes that are written by hand, and whose lengths one can count."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from analysis.program.masks.intervals import Sleep, intervals, sleep, stalls
from analysis.program.masks.tests.changes import changes

NO_SLEEP = Sleep([], [])
Rows = list[tuple[str, int | None, int, int | None]]


def rows_of(table: pl.DataFrame, slept: Sleep = NO_SLEEP) -> Rows:
    """Kind, level, first cycle and length of each interval."""
    rows = intervals(table, slept).select("kind", "level", "begin_cycle", "cycles")
    return list(rows.iter_rows())


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ([], []),
        ([(0, "reset", 0)], []),
        # What is set again while it is set goes on: the scheduler counts how often it is suspended.
        *(
            (
                [(10, kind, 1), (14, kind, 2), (20, kind, 1), (30, kind, 0), (50, kind, 1), (51, kind, 0)],
                [(kind, None, 10, 20), (kind, None, 50, 1)],
            )
            for kind in ("primask", "faultmask", "scheduler")
        ),
        ([(10, "primask", 1)], [("primask", None, 10, None)]),
        # A reset ends everything.
        (
            [(5, "primask", 1), (6, "basepri", 0x40), (9, "exception", 20, 7), (30, "reset", 0)],
            [("primask", None, 5, 25), ("basepri", 0x40, 6, 24), ("handler", 20, 7, 23)],
        ),
        # A stronger level lies within the weaker one.
        (
            [(10, "basepri", 0x50), (20, "basepri", 0x20), (25, "basepri", 0x50), (40, "basepri", 0)],
            [("basepri", 0x50, 10, 30), ("basepri", 0x20, 20, 5)],
        ),
        # 0x20 holds all that 0x40 holds: so 0x40 is held from the beginning.
        (
            [(10, "basepri", 0x20), (15, "basepri", 0x40), (40, "basepri", 0)],
            [("basepri", 0x20, 10, 5), ("basepri", 0x40, 10, 30)],
        ),
        # A level that was not set within is not counted.
        (
            [(1, "basepri", 0x50), (2, "basepri", 0), (10, "basepri", 0x20), (15, "basepri", 0)],
            [("basepri", 0x50, 1, 1), ("basepri", 0x20, 10, 5)],
        ),
        # A handler lasts from its entry to its return, and goes on while another interrupts it.
        (
            [(112, "exception", 30, 100), (132, "exception", 20, 120), (150, "exception", 30, 140),
             (210, "exception", 0, 200)],
            [("handler", 30, 100, 100), ("handler", 20, 120, 20)],
        ),
        # 30 is interrupted by 20, which 21 follows; then 30 goes on.
        (
            [(112, "exception", 30, 100), (132, "exception", 20, 120), (146, "exception", 21, 140),
             (170, "exception", 30, 160), (210, "exception", 0, 200)],
            [("handler", 30, 100, 100), ("handler", 20, 120, 20), ("handler", 21, 140, 20)],
        ),
    ],
)  # fmt: skip
def test_what_is_held_is_an_interval(table: list[Any], rows: Rows) -> None:
    assert sorted(rows_of(changes(*table)), key=str) == sorted(rows, key=str)


def test_a_handler_that_another_follows_ends_where_that_is_entered() -> None:
    table = changes((112, "exception", 30, 100), (206, "exception", 31, 200), (260, "exception", 0, 250))
    assert rows_of(table) == [("handler", 30, 100, 100), ("handler", 31, 200, 50)]
    assert intervals(table, NO_SLEEP)["chained"].to_list() == [True, False]


WFI, WFE = 0x0800_0100, 0x0800_0200


def code(address: int, size: int) -> bytes:
    return {WFI: b"\x30\xbf", WFE: b"\x20\xbf"}.get(address, b"")[:size]


# An interrupt ends the sleep of WFI; that of WFE not where PRIMASK holds it off (ARMv7-M ARM,
# B1.5.17).
@pytest.mark.parametrize(("pc", "cycles"), [(WFI, (20, 900)), (WFE, (920, 0))])
def test_sleep_that_an_interrupt_ends_does_not_count(pc: int, cycles: tuple[int, int]) -> None:
    rows = changes((10, "primask", 1), (20, "sleep", 1), (920, "sleep", 0), (930, "primask", 0))
    table = rows.with_columns(pc=pl.when(pl.col("what") == "sleep").then(pc).otherwise("pc"))
    counted = intervals(table, sleep(table, 1000, code))
    assert counted.select("cycles", "asleep_cycles").row(0) == cycles


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

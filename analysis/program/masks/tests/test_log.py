"""What changes tell that are written by hand: intervals whose lengths one can count, and the time
in which an interrupt cannot be taken, worked out by hand and cycle by cycle.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.program.masks.log import (
    Exceptions,
    Holding,
    Interval,
    Spans,
    executed,
    holders,
    intervals,
    not_taken,
    sleep,
    within,
)
from simulator.outputs import Change
from tests.tables import table


def changes(text: str, pc: int = 0x0800_0000) -> list[Change]:
    """Rows of `cycle what value`, of exceptions with the cycle at which it began."""
    rows = [row.split() for row in text.split(",") if row.strip()]
    return [
        Change(int(cycle), what, int(value, 0), pc, int(began[0]) if began else None)
        for cycle, what, value, *began in rows
    ]


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
    assert within(sleep(changes("20 sleep 1, 920 sleep 0", pc), 1000, code), 10, 930) == cycles


NO_SLEEP: Spans = ()


def waits(table: list[Change], priority: int, sleep: Spans = NO_SLEEP) -> list[tuple[int, int | None]]:
    """First cycle and length of each time in which a `priority` waits."""
    return [(it.begin_cycle, it.cycles) for it in not_taken(executed(table), priority, sleep)]


def entered(exception: int, priority: int) -> str:
    return f"1 priority {exception << 8 | priority}, "


def test_what_meets_is_one_wait() -> None:
    """An interrupt of 0x30 is taken as PRIMASK ends: one of 0x60 waits for both."""
    table = changes(entered(30, 0x30) + "10 primask 1, 20 primask 0, 32 exception 30 20, 70 exception 0 60")
    assert waits(table, 0x60) == [(10, 50)]
    assert holders(executed(table), 10, 60) == [Holding("primask", None, 10), Holding("handler", 30, 40)]


def test_parts_are_added_up_by_what_held() -> None:
    """A mask of a hundred cycles that a handler interrupts twice, for seven cycles each."""
    twice = "130 exception 30 130, 137 exception 0 137, 150 exception 30 150, 157 exception 0 157"
    table = changes(entered(30, 0x10) + f"100 basepri 0x40, {twice}, 200 basepri 0")
    assert holders(executed(table), 100, 200) == [
        Holding("basepri", 0x40, 100 - 14, 3),
        Holding("handler", 30, 14, 2),
    ]


def test_only_the_group_of_a_priority_counts() -> None:
    """With PRIGROUP 5 bits 7 and 6 are the group: 0x50 and 0x60 do not interrupt each other."""
    rows = entered(30, 0x60) + "112 exception 30 100, 160 exception 0 150"
    assert waits(changes(rows), 0x50) == []
    assert waits(changes(f"0 prigroup 5, {rows}"), 0x50) == [(100, 50)]


def test_sleep_that_ends_by_itself_does_not_count_where_primask_alone_holds() -> None:
    asleep = [(20, 920)]
    assert waits(changes("10 primask 1, 930 primask 0"), 0x10, asleep) == [(10, 20)]
    masked = changes("5 basepri 0x10, 10 primask 1, 930 primask 0, 940 basepri 0")
    assert waits(masked, 0x10, asleep) == [(5, 935)]
    assert waits(masked, 0x00, asleep) == [(10, 20)]


def test_priorities_are_those_of_what_was_enabled_or_executed() -> None:
    """Exceptions 45 and 44 have the priorities 0x60 and 0x30, 15 has 0xF0. Of the two 45 is enabled
    up to the last row.
    """
    exceptions = Exceptions(
        changes(
            f"0 priority {45 << 8 | 0x60}, 0 priority {44 << 8 | 0x30}, 1 enabled {45 << 1 | 1}, "
            f"2 enabled {44 << 1}, 3 priority {15 << 8 | 0xF0}, "
            f"16 exception 15 4, 30 exception 0 20, 40 exception 3 28, 50 enabled {45 << 1}"
        )
    )
    by_priority = exceptions.priorities(bits=4)
    assert list(by_priority) == [number << 4 for number in range(16)]
    assert {priority: of for priority, of in by_priority.items() if of} == {0x60: [45], 0xF0: [15]}
    assert exceptions.held(Interval("primask", None, 2, 1)) == [15, 45]
    assert exceptions.held(Interval("basepri", 0x70, 2, 1)) == [15]
    assert exceptions.held(Interval("primask", None, 8, 50)) == [15]


MASKS = st.tuples(
    st.sampled_from(["primask", "faultmask", "basepri"]), st.sampled_from([0, 0x20, 0x40, 0x60])
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), MASKS), max_size=12), st.sampled_from([0x10, 0x40, 0x50, 0xF0]))
def test_masks_hold_as_the_manual_has_it_cycle_by_cycle(
    steps: list[tuple[int, tuple[str, int]]], priority: int
) -> None:
    """Beside a loop over every cycle, with the rule of ExecutionPriority() as it is printed."""
    rows, now = [], 0
    for gap, (what, value) in steps:
        now += gap
        rows.append((now, what, value if what == "basepri" else min(value, 1)))
    end = now + 5
    state = dict.fromkeys(["primask", "faultmask", "basepri"], 0)
    waiting = []
    for cycle in range(end):
        state |= {what: value for at, what, value in rows if at == cycle}
        execution = 256
        if state["basepri"]:
            execution = state["basepri"]
        if state["primask"]:
            execution = 0
        if state["faultmask"]:
            execution = -1
        waiting.append(priority >= execution)
    held_cycles = [False] * end
    for begin, length in waits(changes(", ".join(" ".join(map(str, row)) for row in rows)), priority):
        until = end if length is None else begin + length
        held_cycles[begin:until] = [True] * (until - begin)
    assert held_cycles == waiting

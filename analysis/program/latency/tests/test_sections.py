"""Which passages belong together: by hand."""

from __future__ import annotations

import polars as pl

from analysis.program.latency.sections import Measured, Section, measure

A, B, ENTRY, RETURN, TAIL = 0x100, 0x200, 0x300, 0x340, 0x330
NAMES = ("address", "cycle", "end_cycle", "exception", "sp", "end_sp", "next_pc", "task")
TOP = 0x2000_1000
Row = tuple[int | None, ...]


def _row(address: int, cycle: int, sp: int = TOP, exception: int = 0, task: int | None = None) -> Row:
    return (address, cycle, cycle + 2, exception, sp, sp, address + 2, task)


def _measured(section: Section, *rows: Row) -> Measured:
    table = pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.Int64), orient="row")
    return measure(section, table)


def _between(*rows: Row) -> Measured:
    return _measured(Section("a..b", frozenset((A,)), {B: True}), *rows)


def _spans(measurement: Measured) -> list[tuple[int, int]]:
    return [(passed.begin, passed.end) for passed in measurement.passed]


def test_one_after_the_other() -> None:
    measurement = _between(_row(A, 10), _row(B, 30), _row(A, 50), _row(B, 55))
    assert _spans(measurement) == [(10, 30), (50, 55)]
    assert (measurement.restarted, measurement.unbegun, measurement.unended, measurement.crossed) == (
        0,
        0,
        0,
        0,
    )


def test_a_handler_that_passes_the_same_code_pairs_for_itself() -> None:
    measurement = _between(
        _row(A, 10),
        _row(A, 20, TOP - 64, exception=22),
        _row(B, 25, TOP - 64, exception=22),
        _row(B, 60),
    )
    assert _spans(measurement) == [(10, 60), (20, 25)]


def test_a_recursive_section_pairs_by_depth() -> None:
    deep = TOP - 32
    measurement = _between(_row(A, 10), _row(A, 20, deep), _row(B, 30, deep), _row(B, 50))
    assert _spans(measurement) == [(10, 50), (20, 30)]
    assert [passed.nested for passed in measurement.passed] == [0, 1]


def test_tasks_that_are_switched_pair_among_themselves() -> None:
    ours, other = 0x2000_0100, 0x2000_0200
    measurement = _between(
        _row(A, 10, task=ours),
        _row(A, 20, TOP + 512, task=other),
        _row(B, 30, task=ours),
        _row(B, 45, TOP + 512, task=other),
    )
    assert _spans(measurement) == [(10, 30), (20, 45)]


def test_a_beginning_at_the_same_depth_starts_anew() -> None:
    measurement = _between(_row(A, 10), _row(A, 20), _row(B, 30))
    assert _spans(measurement) == [(20, 30)]
    assert measurement.restarted == 1


def test_ends_without_a_beginning_and_beginnings_without_an_end() -> None:
    measurement = _between(_row(B, 5), _row(A, 10), _row(B, 12), _row(A, 20))
    assert _spans(measurement) == [(10, 12)]
    assert (measurement.unbegun, measurement.unended) == (1, 1)


def test_from_a_handler_to_the_task_that_it_wakes() -> None:
    measurement = _between(_row(A, 10, exception=45), _row(B, 90, TOP - 8))
    assert _spans(measurement) == [(10, 90)]
    assert measurement.crossed == 1


def test_from_a_place_to_itself() -> None:
    measurement = _measured(
        Section("a..a", frozenset((A,)), {A: True}), _row(A, 10), _row(A, 25), _row(A, 45)
    )
    assert _spans(measurement) == [(10, 25), (25, 45)]


def _call(*rows: Row) -> Measured:
    section = Section("f..", frozenset((ENTRY,)), {RETURN: True, TAIL: False}, (ENTRY, ENTRY + 0x48))
    return _measured(section, *rows)


def _leaving(address: int, cycle: int, sp: int, next_pc: int, exception: int = 0) -> Row:
    return (address, cycle, cycle + 5, exception, sp - 8, sp, next_pc, None)


def test_a_call_lasts_to_the_end_of_its_return() -> None:
    measurement = _call(_row(ENTRY, 10), _leaving(RETURN, 40, TOP, 0x500))
    assert _spans(measurement) == [(10, 45)]


def test_a_call_ends_where_the_stack_is_as_it_was() -> None:
    measurement = _call(
        _row(ENTRY, 10),
        _row(ENTRY, 20, TOP - 16),
        _leaving(RETURN, 30, TOP - 16, ENTRY + 8),
        _leaving(RETURN, 50, TOP, 0x500),
    )
    assert _spans(measurement) == [(10, 55), (20, 35)]


def test_a_branch_leaves_only_if_it_goes_out() -> None:
    stays = _leaving(TAIL, 20, TOP, TAIL + 2)
    leaves = _leaving(TAIL, 30, TOP, 0x900)
    assert _spans(_call(_row(ENTRY, 10), stays, leaves)) == [(10, 35)]


def test_a_call_that_never_returned_is_not_paired_with_a_later_end() -> None:
    measurement = _call(_row(ENTRY, 10, TOP - 64), _row(ENTRY, 30), _leaving(RETURN, 40, TOP, 0x500))
    assert _spans(measurement) == [(30, 45)]
    assert measurement.unended == 1

"""Which passages belong together: by hand."""

from __future__ import annotations

import polars as pl
import pytest

from analysis.program.latency.sections import Measured, Section, measure

A, B, ENTRY, RETURN, TAIL = 0x100, 0x200, 0x300, 0x340, 0x330
NAMES = ("address", "cycle", "end_cycle", "exception", "sp", "end_sp", "next_pc", "task")
TOP, DEEP = 0x2000_1000, 0x2000_0FE0
OURS, OTHER = 0x2000_0100, 0x2000_0200
Row = tuple[int | None, ...]
BETWEEN = Section("a..b", frozenset((A,)), {B: True})
ITSELF = Section("a..a", frozenset((A,)), {A: True})
CALL = Section("f..", frozenset((ENTRY,)), {RETURN: True, TAIL: False}, (ENTRY, ENTRY + 0x48))


def at(address: int, cycle: int, sp: int = TOP, exception: int = 0, task: int | None = None) -> Row:
    return (address, cycle, cycle + 2, exception, sp, sp, address + 2, task)


def leaves(address: int, cycle: int, sp: int, next_pc: int) -> Row:
    return (address, cycle, cycle + 5, 0, sp - 8, sp, next_pc, None)


def measured_of(section: Section, rows: list[Row]) -> Measured:
    return measure(section, pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.Int64), orient="row"))


@pytest.mark.parametrize(
    ("section", "rows", "spans", "counts"),
    [
        # One after the other; one from a place to itself.
        (BETWEEN, [at(A, 10), at(B, 30), at(A, 50), at(B, 55)], [(10, 30), (50, 55)], {}),
        (ITSELF, [at(A, 10), at(A, 25), at(A, 45)], [(10, 25), (25, 45)], {"unbegun": 1, "unended": 1}),
        # A handler that passes the same code pairs for itself.
        (
            BETWEEN,
            [at(A, 10), at(A, 20, TOP - 64, 22), at(B, 25, TOP - 64, 22), at(B, 60)],
            [(10, 60), (20, 25)],
            {},
        ),
        # A recursive section pairs by depth.
        (BETWEEN, [at(A, 10), at(A, 20, DEEP), at(B, 30, DEEP), at(B, 50)], [(10, 50), (20, 30)], {}),
        # Tasks that are switched pair among themselves.
        (
            BETWEEN,
            [at(A, 10, task=OURS), at(A, 20, TOP + 512, 0, OTHER), at(B, 30, task=OURS),
             at(B, 45, TOP + 512, 0, OTHER)],
            [(10, 30), (20, 45)],
            {},
        ),
        # A beginning at the same depth starts anew.
        (BETWEEN, [at(A, 10), at(A, 20), at(B, 30)], [(20, 30)], {"restarted": 1}),
        (BETWEEN, [at(B, 5), at(A, 10), at(B, 12), at(A, 20)], [(10, 12)], {"unbegun": 1, "unended": 1}),
        # From a handler to the task that it wakes.
        (BETWEEN, [at(A, 10, exception=45), at(B, 90, TOP - 8)], [(10, 90)], {"crossed": 1}),
        # A call lasts to the end of its return, where the stack is as it was.
        (CALL, [at(ENTRY, 10), leaves(RETURN, 40, TOP, 0x500)], [(10, 45)], {}),
        (
            CALL,
            [at(ENTRY, 10), at(ENTRY, 20, TOP - 16), leaves(RETURN, 30, TOP - 16, ENTRY + 8),
             leaves(RETURN, 50, TOP, 0x500)],
            [(10, 55), (20, 35)],
            {},
        ),
        # A branch leaves only if it goes out.
        (
            CALL,
            [at(ENTRY, 10), leaves(TAIL, 20, TOP, TAIL + 2), leaves(TAIL, 30, TOP, 0x900)],
            [(10, 35)],
            {},
        ),
        # A call that never returned is not paired with a later end.
        (
            CALL,
            [at(ENTRY, 10, TOP - 64), at(ENTRY, 30), leaves(RETURN, 40, TOP, 0x500)],
            [(30, 45)],
            {"unended": 1},
        ),
    ],
)  # fmt: skip
def test_an_end_belongs_to_its_beginning(
    section: Section, rows: list[Row], spans: list[tuple[int, int]], counts: dict[str, int]
) -> None:
    measured = measured_of(section, rows)
    assert [(passed.begin, passed.end) for passed in measured.passed] == spans
    nothing = dict.fromkeys(("restarted", "unbegun", "unended", "crossed"), 0)
    assert {name: getattr(measured, name) for name in nothing} == {**nothing, **counts}


def test_a_recursive_section_is_nested() -> None:
    measured = measured_of(BETWEEN, [at(A, 10), at(A, 20, DEEP), at(B, 30, DEEP), at(B, 50)])
    assert [passed.nested for passed in measured.passed] == [0, 1]

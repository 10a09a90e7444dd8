"""The instructions of the critical sections, from the virtual board's table or not at all."""

from __future__ import annotations

import pytest

from base.run_folder.records import RecordLog, parse
from capture.reading.instructions import Instructions, read_instructions
from capture.tests.synthetic import record

BOOT = "BOOT,7,heap_4,65536,84000000,00000702,V11.2.0,1,65520,basepri,none,bypass,04000000,nucleo-f401re"
WIDTHS = (400, 0, 300)
MARKERS = 5
COUNTED = (123, 0, 98)


def log(*, ended: bool = True, boots: int = 1, operations: int = 3) -> RecordLog:
    """Three operations: an allocation, one with nothing to free, a free."""
    lines = [BOOT] * boots
    kinds = zip("ANF", WIDTHS, strict=True)
    lines += [
        f"OP,{seq},{kind},64,{max(width - 60, 0)},{width},0,0,0" for seq, (kind, width) in enumerate(kinds)
    ]
    lines = lines[: boots + operations]
    lines += [f"END,{operations},00000000"] if ended else []
    return parse(b"".join(map(record, lines)))


def table(after: int = 24, counted: tuple[int, ...] = COUNTED, widths: tuple[int, ...] = WIDTHS) -> list[str]:
    """24 windows, those of the operations, and those after, 10,000 cycles apart."""
    of_all = [(8, 1)] * 24 + list(zip([w + MARKERS for w in widths], counted, strict=True)) + [(8, 1)] * after
    rows = [
        f"{number},{10_000 * number},{10_000 * number + width},7,{instructions}"
        for number, (width, instructions) in enumerate(of_all)
    ]
    return ["window,start_cycle,end_cycle,look0,instructions", *rows]


def as_bytes(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_each_operation_has_those_of_its_window() -> None:
    instructions = read_instructions(log(), as_bytes(table()))
    assert instructions == Instructions({0: 123, 1: 0, 2: 98})


@pytest.mark.parametrize(("operations", "counted"), [(2, {0: 123, 1: 0}), (3, {0: 123, 1: 0, 2: 98})])
def test_a_run_that_was_cut_has_those_of_its_records(operations: int, counted: dict[int, int]) -> None:
    instructions = read_instructions(log(ended=False, operations=operations), as_bytes(table(after=0)))
    assert instructions == Instructions(counted)


def edited(number: int, line: str) -> list[str]:
    lines = table()
    lines[number] = line
    return lines


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["window"], "it is no table"),
        ([line.rsplit(",", 1)[0] for line in table()], "did not count them"),
        (table(after=23), "it has 50 windows, and the records tell of 3 operations"),
        (table()[:10] + table()[9:], "not numbered from 0"),
        (table(widths=(401, 0, 300)), "by 2 constants"),
        (table(counted=(123, 0, -1)), "counts what nobody can have"),
        (edited(25, "24,240000,240405,7,"), "it is no table"),
    ],
)
def test_another_table_gives_none_and_says_why(lines: list[str], why: str) -> None:
    instructions = read_instructions(log(), as_bytes(lines))
    assert not instructions.of and instructions.why_none is not None
    assert (
        instructions.why_none.startswith("counts.csv tells no instructions, since ")
        and why in instructions.why_none
    )

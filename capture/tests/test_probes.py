"""Who counted the probes, and the virtual board's table of counts."""

from __future__ import annotations

import polars as pl
import pytest

from base.files.errors import CaptureError
from base.run_folder.records import RecordLog, parse
from capture.joining.evidence import Evidence
from capture.reading.probes import PULSES_BEFORE, Instructions, Window, read_instructions, read_probes
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import SyntheticRun, record, small_plan
from capture.verdict import records

HEAD = b"window,start_cycle,end_cycle,look0,look1\n"


def boot(allocator: str) -> bytes:
    return record(
        f"BOOT,7,{allocator},65536,84000000,00000702,V11.2.0,1,65520,basepri,none,bypass,04000000,nucleo-f401re"
    )


def table(*rows: str) -> bytes:
    return HEAD + "".join(f"{row}\n" for row in rows).encode()


@pytest.mark.parametrize(
    ("allocator", "counts", "source", "probes"),
    [
        ("tlsf", table("24,0,10,1,1"), "records", 7),
        ("o1heap", table("24,0,10,1,1"), "no search loop", None),
        ("heap_4", None, "not counted", None),
    ],
)
def test_probes_come_from_who_counts_them(
    allocator: str, counts: bytes | None, source: str, probes: int | None
) -> None:
    told = read_probes(parse(boot(allocator)), counts)
    assert (told.source, told.of(0, 7)) == (source, probes)


def test_the_counts_of_a_window_add_up_and_the_first_windows_are_no_operations() -> None:
    rows = [f"{number},{100 * number},{100 * number + 7},{number},1" for number in range(PULSES_BEFORE + 2)]
    probes = read_probes(parse(boot("heap_4")), table(*rows))
    assert probes.source == "counted by the virtual board"
    assert probes.windows == {0: Window(PULSES_BEFORE + 1, 7), 1: Window(PULSES_BEFORE + 2, 7)}
    assert probes.of(2, 0) is None


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        HEAD + b"24,0,9,4294967295,1\n",
        HEAD + b"24,0,x,1,1\n",
        b"\xff\n",
    ],
)
def test_a_damaged_table_is_named(damaged: bytes) -> None:
    with pytest.raises(CaptureError, match=r"counts\.csv"):
        read_probes(parse(boot("heap_4")), damaged)


def counted(widths_off: dict[int, int]) -> Evidence:
    """A sound run of heap_4; windows are wider than records by 5 cycles, plus `widths_off`."""
    run = SyntheticRun(small_plan())
    rows = []
    for row in evidence_of(run).joined.operations.iter_rows(named=True):
        seq = row["seq"]
        width = row["dwt_operation_cycles"] + 5 + widths_off.get(seq, 0)
        rows.append(f"{seq + PULSES_BEFORE},{1000 * seq},{1000 * seq + width},{seq},0")
    lines = run.uart().splitlines(keepends=True)
    lines[0] = boot("heap_4")
    return evidence_of(run, serial_bytes=b"".join(lines), counts=table(*rows))


def test_counts_are_joined_by_number() -> None:
    evidence = counted({})
    operations = evidence.joined.operations
    assert operations["probes"].to_list() == operations["seq"].to_list()
    assert operations.schema["probes"] == pl.UInt32
    assert list(records.counts_of_other_operations(evidence)) == []


def test_a_window_of_another_width_is_another_operations() -> None:
    (sentence,) = records.counts_of_other_operations(counted({1: 1}))
    assert "2 constants" in sentence


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


def windows(
    after: int = 24, counted: tuple[int, ...] = COUNTED, widths: tuple[int, ...] = WIDTHS
) -> list[str]:
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
    instructions = read_instructions(log(), as_bytes(windows()))
    assert instructions == Instructions({0: 123, 1: 0, 2: 98})


@pytest.mark.parametrize(("operations", "counted"), [(2, {0: 123, 1: 0}), (3, {0: 123, 1: 0, 2: 98})])
def test_a_run_that_was_cut_has_those_of_its_records(operations: int, counted: dict[int, int]) -> None:
    instructions = read_instructions(log(ended=False, operations=operations), as_bytes(windows(after=0)))
    assert instructions == Instructions(counted)


def edited(number: int, line: str) -> list[str]:
    lines = windows()
    lines[number] = line
    return lines


@pytest.mark.parametrize(
    "lines",
    [
        ["window"],
        [line.rsplit(",", 1)[0] for line in windows()],
        windows(after=23),
        windows()[:10] + windows()[9:],
        windows(widths=(401, 0, 300)),
        windows(counted=(123, 0, -1)),
        edited(25, "24,240000,240405,7,"),
    ],
)
def test_another_table_gives_none_and_says_so(lines: list[str]) -> None:
    instructions = read_instructions(log(), as_bytes(lines))
    assert not instructions.of and instructions.why_none is not None

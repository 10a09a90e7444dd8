"""alloc_records in sigrok-cli, against known waveforms and base/run_folder/records.py."""

import itertools
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.run_folder.records import encode, parse
from base.run_folder.session_file import write_sr
from decoders.tests import sigrok
from decoders.tests.serial_line import place, serial_line

STACK = "uart:rx=TX:baudrate=1000000,alloc_records"

BODIES = (
    "BOOT,7,tlsf,65536,84000000,00000702,V11.2.0,1,65520,basepri,TLSF_SLOTS=32,bypass,04000000,nucleo-f401re",
    "PROOF,84027,84027",
    "PLAN,mem_frag,3,3B2CDB37,1,10007,7919",
    "CAL,CRIT,0,18,1691574",
    "COST,READ,1,1",
    "TICK,2639989,51325,84000,132",
    "MARK,0",
    "OP,0,A,120,368,481,3,1,120",
    "OP,1,F,120,424,576,0,0,0",
    "IRQ,1,1,424,1,600,0,0",
    "OP,2,K,9,22,97,0,0,0",
    "STAT,12,12,25,4,30,40,60,70,4294967295,0",
    "HEAP,65520,65504,1,1",
)


def whole_log(*bodies: str, operations: int = 3) -> bytes:
    before = b"".join(map(encode, bodies))
    return before + encode(f"END,{operations},{zlib.crc32(before):08X}")


LOG = whole_log(*BODIES)
MARK = encode("MARK,1")


def saved(folder: Path, log: bytes, stop_bits: Iterator[int] | None = None, gap_bits: int = 0) -> Path:
    write_sr(folder / "serial.sr", serial_line(log, stop_bits=stop_bits, gap_bits=gap_bits))
    return folder / "serial.sr"


def annotations(session: Path, shown: str = "", decoder: str = STACK) -> list[str]:
    return sigrok.said(session, decoder, "-A", f"alloc_records{shown}").splitlines()


def warnings(session: Path, decoder: str = STACK) -> list[str]:
    return [row.split(": ", 1)[1] for row in annotations(session, "=warning", decoder)]


def test_a_record_is_told_as_a_whole_by_fields_and_by_checksum(tmp_path: Path) -> None:
    """`@MARK,7*` is 8 bytes, its checksum 4 and its newline one: bytes 0 to 12. OP follows."""
    session = saved(tmp_path, encode("MARK,7") + encode("OP,5,A,120,366,469,3,1,120"))
    assert sorted(annotations(session), key=lambda row: int(row.split("-")[0])) == [
        f"{where} alloc_records-1: {words}"
        for where, words in (
            (place(0, 12), "MARK: label 7"),
            (place(6, 6), "label 7"),
            (place(7, 11), "CRC good"),
            (
                place(13, 45),
                "#5: 120 bytes allocated, critical 366 cycles, 4357.1 ns; operation 469 cycles, "
                "3 probes; 1 live, 120 bytes in use",
            ),
            (place(17, 17), "number 5"),
            (place(19, 19), "kind A"),
            (place(21, 23), "size 120"),
            (place(25, 27), "critical cycles 366"),
            (place(29, 31), "operation cycles 469"),
            (place(33, 33), "probes 3"),
            (place(35, 35), "live blocks 1"),
            (place(37, 39), "bytes in use 120"),
            (place(40, 44), "CRC good"),
        )
    ]


@pytest.mark.parametrize("decoder", [STACK, STACK.replace("rx=", "tx=")])
def test_a_sound_log_has_no_warning_and_comes_out_byte_for_byte(tmp_path: Path, decoder: str) -> None:
    assert warnings(saved(tmp_path, b"ST-LINK says hello\n\xff\0" + LOG, gap_bits=2), decoder) == []
    session = saved(tmp_path, LOG)
    assert sigrok.binary(session, decoder, "alloc_records=records") == LOG
    meta = sigrok.said(session, decoder, "-M", "alloc_records").splitlines()
    assert [line.partition(": ")[2] for line in meta] == [
        "Longest section: 368",
        "Longest section: 424",
        "Records: 14",
        "Damaged lines: 0",
    ]
    assert warnings(session, f"{decoder}:limit_cycles=368") == ["Longer than 368 cycles"]


FLIPPED = LOG.replace(b"OP,1,F,120,424", b"OP,1,F,120,425")


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (FLIPPED, ["Damaged line: wrong checksum", "Operation 2 where 1 is due", "END tells of 3", "Other"]),
        (LOG.replace(encode(BODIES[3]), b""), ["Other bytes came than were sent"]),
        (LOG + LOG, ["The board was reset: a second BOOT"]),
        (whole_log(*BODIES[:-1], "HEAP,0,0,0,0"), ["The heap's invariants do not hold"]),
        (encode(BODIES[0]) + encode("FAIL,clock,3"), ["The firmware gave up: clock 3"]),
        (MARK + b"noise\n", ["Damaged line: not of the form @...*CRC"]),
        (MARK + b"x" * 4000 + b"\n" + MARK, ["Damaged line: longer than 160 bytes"]),
    ],
    ids=lambda value: value[0][:30] if isinstance(value, list) else "log",
)
def test_what_is_wrong_gets_a_warning(tmp_path: Path, log: bytes, expected: list[str]) -> None:
    for words, begin in zip(warnings(saved(tmp_path, log)), expected, strict=True):
        assert words.startswith(begin)


def test_bytes_without_a_stop_bit_are_blamed_on_the_line(tmp_path: Path) -> None:
    stops = itertools.chain([1] * len(MARK), [0] * 5, itertools.repeat(1))
    words = warnings(saved(tmp_path, MARK * 3, stop_bits=stops))
    assert words[0] == "Damaged line: a byte has no stop bit, the baud rate may be another"


@settings(max_examples=3)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_a_record_here_is_one_to_the_bench(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Behind a sound BOOT: records with one field, byte or checksum changed, by the dozen."""
    random = np.random.default_rng(seed)
    words = ("0", "1", "4", "31", "32", "4294967295", "4294967296", "A", "CRIT", "", "-1", "1e3", "00000702")
    lines = [encode(BODIES[0])]
    for _ in range(160):
        fields = BODIES[random.integers(len(BODIES))].split(",")
        fields[random.integers(len(fields))] = words[random.integers(len(words))]
        text = bytearray(encode(",".join(fields)))
        if random.random() < 0.3:
            text[random.integers(len(text))] = random.integers(256)
        lines.append(bytes(text))
    log = b"".join(lines)
    record_log = parse(log)
    session = saved(tmp_path_factory.mktemp("sr"), log)
    damaged = sigrok.binary(session, STACK, "alloc_records=damaged")
    assert damaged == b"".join(damaged_line.line[:160] + b"\n" for damaged_line in record_log.damaged)
    good = sigrok.binary(session, STACK, "alloc_records=records").count(b"\n")
    assert good == len(record_log.records)

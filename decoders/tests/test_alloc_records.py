"""alloc_records in sigrok-cli, against known waveforms and base/run_folder/records.py."""

import itertools
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.files.errors import CaptureError
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


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE bit by bit, as docs/reference/records.md has it."""
    register = 0xFFFF
    for byte in data:
        register ^= byte << 8
        for _ in range(8):
            register = (register << 1 ^ (0x1021 if register & 0x8000 else 0)) & 0xFFFF
    return register


def line(body: str) -> bytes:
    return b"@%b*%04X\n" % (body.encode(), crc16(body.encode()))


def whole_log(*bodies: str, operations: int = 3) -> bytes:
    before = b"".join(line(body) for body in bodies)
    return before + line(f"END,{operations},{zlib.crc32(before):08X}")


LOG = whole_log(*BODIES)


def saved(folder: Path, log: bytes, **choices: object) -> Path:
    write_sr(folder / "serial.sr", serial_line(log, **choices))  # type: ignore[arg-type]
    return folder / "serial.sr"


def warnings(session: Path, decoder: str = STACK) -> list[str]:
    lines = sigrok.annotations(session, decoder, "alloc_records=warning")
    return [row.split(": ", 1)[1] for row in lines]


def test_the_checksum_of_these_tests_is_the_specified_one() -> None:
    assert crc16(b"123456789") == 0x29B1


def test_a_record_is_told_as_a_whole_by_fields_and_by_checksum(tmp_path: Path) -> None:
    """`@MARK,7*` is 8 bytes, its checksum 4 and its newline one: bytes 0 to 12. OP follows."""
    session = saved(tmp_path, line("MARK,7") + line("OP,5,A,120,366,469,3,1,120"))
    annotations = sigrok.annotations(session, STACK, "alloc_records")
    assert sorted(annotations, key=annotations.index) == [
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


def test_a_sound_log_has_no_warning_and_comes_out_byte_for_byte(tmp_path: Path) -> None:
    session = saved(tmp_path, b"ST-LINK says hello\n\xff\0" + LOG, gap_bits=2)
    log_from_boot = saved(tmp_path, LOG)
    assert warnings(session) == warnings(log_from_boot) == []
    assert sigrok.binary(log_from_boot, STACK, "alloc_records=records") == LOG
    assert sigrok.meta(log_from_boot, STACK, "alloc_records") == [
        "alloc_records-1: Longest section: 368",
        "alloc_records-1: Longest section: 424",
        "alloc_records-1: Records: 14",
        "alloc_records-1: Damaged lines: 0",
    ]


def test_the_kinds_of_records_are_told_apart(tmp_path: Path) -> None:
    session = saved(tmp_path, LOG)
    for kind, names in (
        ("run", ["BOOT", "PROOF", "PLAN"]),
        ("calibration", ["CAL", "COST", "TICK"]),
        ("operation", ["#0", "#1", "#2"]),
        ("interrupts", ["IRQ"]),
        ("mark", ["MARK"]),
        ("end", ["STAT", "HEAP", "END"]),
    ):
        lines = sigrok.annotations(session, STACK, f"alloc_records={kind}")
        assert [row.split(": ")[1] for row in lines] == names


FLIPPED = LOG.replace(b"OP,1,F,120,424", b"OP,1,F,120,425")


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (FLIPPED, ["Damaged line: wrong checksum", "Operation 2 where 1 is due", "END tells of 3", "Other"]),
        (LOG.replace(line(BODIES[8]), b""), ["Operation 2 where 1 is due", "END tells of 3", "Other bytes"]),
        (LOG.replace(line(BODIES[3]), b""), ["Other bytes came than were sent"]),
        (LOG + LOG, ["The board was reset: a second BOOT"]),
        (whole_log(*BODIES, operations=4), ["END tells of 4 operations, 3 came"]),
        (whole_log(*BODIES[:-1], "HEAP,0,0,0,0"), ["The heap's invariants do not hold"]),
        (line(BODIES[0]) + line("FAIL,clock,3"), ["The firmware gave up: clock 3"]),
        (line("MARK,1") + line("OP,1,X,1,1,1,1,1,1"), ["Damaged line: 'X' is none of A, O, F, N, E, K, S"]),
        (line("MARK,1") + line("OP,1,A,1,1,1,1"), ["Damaged line: OP has 6 fields instead of 8"]),
        (line("MARK,1") + line("MARK,4294967296"), ["Damaged line: '4294967296' is no number from 0 to"]),
        (line("MARK,1") + line("HELLO"), ["Damaged line: unknown record 'HELLO'"]),
        (line("MARK,1") + b"noise\n", ["Damaged line: not of the form @...*CRC"]),
        (line("MARK,1") + b"x" * 4000 + b"\n" + line("MARK,2"), ["Damaged line: longer than 160 bytes"]),
    ],
    ids=lambda value: value[0][:30] if isinstance(value, list) else "log",
)
def test_what_is_wrong_gets_a_warning(tmp_path: Path, log: bytes, expected: list[str]) -> None:
    texts = warnings(saved(tmp_path, log))
    assert len(texts) == len(expected)
    for words, begin in zip(texts, expected, strict=True):
        assert words.startswith(begin)


def test_a_wrong_checksum_is_marked_where_it_stands(tmp_path: Path) -> None:
    session = saved(tmp_path, line("MARK,1") + b"@MARK,2*0000\n")
    annotations = sigrok.annotations(session, STACK, "alloc_records=checksum-bad")
    assert annotations == [f"{place(20, 24)} alloc_records-1: Wrong CRC"]
    assert sigrok.binary(session, STACK, "alloc_records=damaged") == b"@MARK,2*0000\n"


def test_bytes_without_a_stop_bit_are_blamed_on_the_line(tmp_path: Path) -> None:
    good, bad = line("MARK,1"), line("MARK,2")
    stops = itertools.chain([1] * len(good), [0] * 5, itertools.repeat(1))
    session = saved(tmp_path, good + bad + line("MARK,3"), stop_bits=stops)
    assert warnings(session)[0] == ("Damaged line: a byte has no stop bit, the baud rate may be another")


def test_sections_beyond_the_limit_are_warned_of(tmp_path: Path) -> None:
    session = saved(tmp_path, LOG)
    assert warnings(session, STACK + ":limit_cycles=368") == ["Longer than 368 cycles"]


def test_both_lines_of_uart_are_read(tmp_path: Path) -> None:
    session = saved(tmp_path, LOG)
    by_tx = STACK.replace("rx=", "tx=")
    assert sigrok.binary(session, by_tx, "alloc_records=records") == LOG


def test_a_core_clock_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="core_hz must be positive"):
        warnings(saved(tmp_path, LOG), STACK + ":core_hz=0")


@settings(max_examples=3)
@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_a_record_here_is_one_to_the_bench(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Behind a sound BOOT: records with one field, byte or checksum changed, by the dozen."""
    random = np.random.default_rng(seed)
    words = ("0", "1", "4", "31", "32", "4294967295", "4294967296", "A", "CRIT", "", "-1", "1e3", "00000702")
    lines = [line(BODIES[0])]
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

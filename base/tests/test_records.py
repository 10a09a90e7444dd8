import binascii
import subprocess
import sys
from dataclasses import astuple

from hypothesis import given
from hypothesis import strategies as st

from base.run_folder import records
from capture.tests.synthetic import record
from tests.sentences import Sentences
from tests.tables import beside, table

BOOT = "BOOT,7,a,1,84000000,00000000,k,1,1,basepri,none,bypass,04000000,nucleo-f401re"


def test_crc_has_the_published_check_value() -> None:
    assert records.crc16(b"123456789") == 0x29B1


def test_every_type_is_read() -> None:
    every = beside(__file__)["every"]
    bodies = [body for body, *_ in every]
    log = records.parse(b"".join(map(record, bodies)))
    assert [(type(row).__name__, *astuple(row)) for row in log.records] == [row[1:] for row in every]
    assert not log.damaged
    assert log.byte_count == sum(map(len, map(record, bodies)))


def test_a_damaged_line_is_kept_with_its_reason(sentences: Sentences) -> None:
    bodies = beside(__file__)["damaged"]
    for line in (
        *(b"@END,1*0000", record("END,1").strip().lower(), b"noise", b""),
        *(record(body)[:-1] for body in (*bodies, "FAIL," + "x" * 160 + ",1")),
        b"@\xff\xfe*%04X" % binascii.crc_hqx(b"\xff\xfe", 0xFFFF),
    ):
        log = records.parse(record(BOOT) + line + b"\n" + record("END,0,00000000"))
        (damaged,) = log.damaged
        assert (damaged.number, damaged.line) == (2, line)
        assert log.first(records.EndRecord) == records.EndRecord(0, 0)
        sentences.hold(damaged.why)


def test_records_before_the_boot_are_told_apart_from_noise() -> None:
    log = records.parse(b"junk\n" + record("END,3,00000000") + b"\xff" + record(BOOT))
    assert log.earlier == (records.EndRecord(3, 0),)
    assert (len(log.preamble), log.stray) == (2, b"\xff")


@table
def test_gaps_are_counted(numbers: list[int], gaps: int) -> None:
    log = records.parse(b"".join(record(f"OP,{number},A,1,1,1,1,1,1") for number in numbers))
    assert log.sequence_gaps == gaps


@given(st.binary(max_size=400))
def test_no_bytes_can_make_it_fail(data: bytes) -> None:
    log = records.parse(data)
    assert len(log.records) + len(log.damaged) + len(log.preamble) == data.count(b"\n")


def test_the_worst_log_takes_bounded_memory() -> None:
    """Sixteen million lines once took 2.2 GB; the log itself, read and copied, takes some 50 MB."""
    code = (
        "from pathlib import Path; from base.run_folder import records\n"
        "log = records.parse(b'@BOOT,' + b'\\n' * records.MOST_LOG_BYTES)\n"
        "print(Path('/proc/self/status').read_text())"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    # getrusage would tell the peak of the process that forked this one, if that is more.
    assert int(said.partition("VmHWM:")[2].split()[0]) < 500_000  # KiB

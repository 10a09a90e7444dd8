import binascii
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.run_folder import records
from capture.tests.synthetic import record
from scenarios.operations import MAX_ENTRIES

BOOT = "BOOT,7,a,1,84000000,00000000,k,1,1,basepri,none,bypass,04000000,nucleo-f401re"


def test_crc_has_the_published_check_value() -> None:
    assert records.crc16(b"123456789") == 0x29B1


def test_every_type_is_read() -> None:
    bodies = [
        "BOOT,7,tlsf,65536,84000000,00000702,V11.2.0,1,65520,scheduler,TLSF_OCTAVES=14/TLSF_SLOTS=16,crystal,06000000,"
        "nucleo-f401re",
        "PROOF,84010,84002",
        "STILL,84011,84003",
        "OFF,3,1",
        "PLAN,mem_frag,2304,0BADF00D,1,5003,7919",
        "CAL,CRIT,0,7,4294967295",
        "COST,TIMER,10,11",
        "TICK,17,4,84000,132",
        "MARK,12",
        "OP,7,O,120,480,533,9,3,256",
        "IRQ,7,1,517,0,0,2,40",
        "STAT,1,2,3,4,13,131,4294967295,0,13,28",
        "HEAP,65520,65000,2,1",
        "END,1,0BADF00D",
        "FAIL,dwt,0",
    ]
    log = records.parse(b"".join(map(record, bodies)))
    assert log.records == (
        records.Boot(
            7,
            "tlsf",
            65536,
            84_000_000,
            0x702,
            "V11.2.0",
            1,
            65520,
            "scheduler",
            "TLSF_OCTAVES=14/TLSF_SLOTS=16",
            "crystal",
            0x0600_0000,
            "nucleo-f401re",
        ),
        records.Proof(84010, 84002),
        records.StillRecord(84011, 84003),
        records.CounterOffRecord(3, 1),
        records.PlanRecord("mem_frag", 2304, 0x0BADF00D, 1, 5003, 7919),
        records.CalibrationRecord("CRIT", 0, 7, 4294967295),
        records.CostRecord("TIMER", 10, 11),
        records.TickRecord(17, 4, 84000, 132),
        records.MarkRecord(12),
        records.OperationRecord(7, "O", 120, 480, 533, 9, 3, 256),
        records.InterruptsRecord(7, 1, 517, 0, 0, 2, 40),
        records.StatRecord(1, 2, 3, 4, 13, 131, 4294967295, 0, 13, 28),
        records.HeapRecord(65520, 65000, 2, 1),
        records.EndRecord(1, 0x0BADF00D),
        records.FailRecord("dwt", 0),
    )
    assert not log.damaged
    assert log.byte_count == sum(map(len, map(record, bodies)))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"@END,1*0000", "checksum"),
        (record("END,1").strip().lower(), "checksum"),
        (record("END,1")[:-1], "fields"),
        (record("END,-1,00000000")[:-1], "decimal"),
        (record("WHAT,1")[:-1], "unknown"),
        (record("OP,0,X,1,2,3,4,5,6")[:-1], "none of"),
        (record("PLAN,a,1,123,1,1,1")[:-1], "8 hexadecimal"),
        (record("PLAN,a,1,0x1234_5,1,1,1")[:-1], "hexadecimal"),
        (b"noise", "form"),
        (b"", "form"),
        (record("BOOT,2,a,1,84000000,00000000,k,1,1,basepri,none")[:-1], "format 2"),
        (record("BOOT,7,a,1,84000000,00000000,k,1,1")[:-1], "8 fields instead of 13"),
        (record("BOOT,7,a,1,84000000,00000000,k,1,1,mutex,none,bypass,04000000,b")[:-1], "none of"),
        (record("BOOT,7,a,1,0,00000000,k,1,1,basepri,none,bypass,04000000,b")[:-1], "0 is not from 1000000"),
        (record("OP,0,A,1,2,3,4,5,4294967296")[:-1], "4294967296 is not from 0 to 4294967295"),
        (record("CAL,CRIT,0,7,9223372036854775808")[:-1], "is not from 0 to 4294967295"),
        (record("CAL,OP,32,7,1")[:-1], "32 is not from 0 to 31"),
        (record("PLAN,a,1,0BADF00D,5,1,1")[:-1], "5 is not from 0 to 4"),
        (record("HEAP,1,1,1,2")[:-1], "2 is not from 0 to 1"),
        (record("COST,PIN,9,8")[:-1], "at least 9 cycles and at most 8"),
        (record("IRQ,7,0,0,0,0,0,0")[:-1], "no answer at all"),
        (record("IRQ,7,1,20,0,3,0,0")[:-1], "ticks of no answer"),
        (record("IRQ,7,1,20,1,300,0,4294967296")[:-1], "is not from 0 to 4294967295"),
        (record("STAT,1,2,3,4,14,13,5,6,5,6")[:-1], "at least 14 ticks and at most 13"),
        (record("STAT,1,2,3,4,5,6")[:-1], "6 fields instead of 10"),
        (record("TICK,1,1,999,1")[:-1], "999 is not from 1000"),
        (record("TICK,1,84000,84000,1")[:-1], "as long as the period"),
        (record("FAIL," + "x" * 160 + ",1")[:-1], "160"),
        (b"@\xff\xfe*%04X" % binascii.crc_hqx(b"\xff\xfe", 0xFFFF), "codec"),
    ],
)
def test_a_damaged_line_is_kept_with_its_reason(line: bytes, why: str) -> None:
    log = records.parse(record(BOOT) + line + b"\n" + record("END,0,00000000"))
    (damaged,) = log.damaged
    assert (damaged.number, damaged.line) == (2, line)
    assert why in damaged.why
    assert log.first(records.EndRecord) == records.EndRecord(0, 0)


@pytest.mark.parametrize(("version", "rest"), [(3, 11), (5, 13), (6, 14), (8, 14)])
def test_a_run_of_another_format_is_refused_in_a_sentence(version: int, rest: int) -> None:
    body = ",".join(BOOT.replace("BOOT,7", f"BOOT,{version}").split(",")[:rest])
    (damaged,) = records.parse(record(body)).damaged
    assert damaged.why == f"records of format {version}, and only 7 is read here; run the scenario again"


@pytest.mark.parametrize("noise", [b"\0", b"\xff" * 9, b"\x80@\xff", b"@OP,3,A,1,1"])
def test_bytes_right_before_the_boot_are_stray_and_no_line_is_damaged(noise: bytes) -> None:
    log = records.parse(noise + record(BOOT) + record("END,0,00000000"))
    assert (log.stray, log.preamble, log.damaged) == (noise, (), ())
    assert [type(one) for one in log.records] == [records.Boot, records.EndRecord]
    assert log.crc32 == records.parse(record(BOOT) + record("END,0,00000000")).crc32


def test_records_before_the_boot_are_told_apart_from_noise() -> None:
    log = records.parse(b"junk\n" + record("END,3,00000000") + b"\xff" + record(BOOT))
    assert log.earlier == (records.EndRecord(3, 0),)
    assert (len(log.preamble), log.stray) == (2, b"\xff")


def test_a_boot_behind_a_line_that_a_reset_cut_is_a_start() -> None:
    log = records.parse(record(BOOT) + b"@OP,3,A,1" + record(BOOT))
    assert len(log.all(records.Boot)) == 2 and len(log.damaged) == 1


def test_a_range_without_answers_is_none() -> None:
    log = records.parse(record(BOOT) + record("STAT,1,2,3,4,13,131,4294967295,0,13,28"))
    stat = log.first(records.StatRecord)
    assert stat and stat.isr == records.LatencyRange(13, 131)
    assert stat.task is None


def test_the_cut_last_line_is_kept() -> None:
    log = records.parse(record("END,0,00000000") + b"@OP,12,A,4")
    assert log.cut_line == b"@OP,12,A,4"
    assert not log.damaged


def test_what_came_before_the_boot_belongs_to_no_run() -> None:
    log = records.parse(b"\xff\xf0junk\n" + record("OP,3,A,1,1,1,1,1,1") + record(BOOT))
    assert len(log.preamble) == 2
    assert not log.damaged
    assert not log.all(records.OperationRecord)


@pytest.mark.parametrize(
    ("numbers", "gaps"), [([], 0), ([0, 1, 2], 0), ([1, 2], 1), ([0, 2, 3, 7], 2), ([0, 1, 1], 1)]
)
def test_gaps_are_counted(numbers: list[int], gaps: int) -> None:
    log = records.parse(b"".join(record(f"OP,{number},A,1,1,1,1,1,1") for number in numbers))
    assert log.sequence_gaps == gaps


@given(st.binary(max_size=400))
def test_no_bytes_can_make_it_fail(data: bytes) -> None:
    log = records.parse(data)
    assert len(log.records) + len(log.damaged) + len(log.preamble) == data.count(b"\n")


def test_no_more_lines_are_kept_than_a_run_can_have() -> None:
    lines = record(BOOT) + b"\n" * 300_000 + record("END,0,00000000")
    log = records.parse(lines)
    assert len(log.damaged) == records.MOST_LINES
    assert "no run has as many" in log.damaged[-1].why
    assert log.first(records.EndRecord) is None
    assert records.MOST_LINES > MAX_ENTRIES + 200


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

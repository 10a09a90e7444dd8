import binascii
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.run_folder import records
from capture.tests.synthetic import record
from tests.sentences import Sentences

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


DAMAGED = (
    *(b"@END,1*0000", record("END,1").strip().lower(), b"noise", b""),
    *(
        record(body)[:-1]
        for body in (
            *("END,1", "END,-1,00000000", "WHAT,1", "OP,0,X,1,2,3,4,5,6", "PLAN,a,1,123,1,1,1"),
            *("PLAN,a,1,0x1234_5,1,1,1", "BOOT,7,a,1,84000000,00000000,k,1,1"),
            *("BOOT,2,a,1,84000000,00000000,k,1,1,basepri,none", BOOT.replace("BOOT,7", "BOOT,8")),
            *(BOOT.replace("basepri", "mutex"), BOOT.replace("84000000", "0")),
            *("OP,0,A,1,2,3,4,5,4294967296", "CAL,CRIT,0,7,9223372036854775808", "CAL,OP,32,7,1"),
            *("PLAN,a,1,0BADF00D,5,1,1", "HEAP,1,1,1,2", "COST,PIN,9,8", "IRQ,7,0,0,0,0,0,0"),
            *("IRQ,7,1,20,0,3,0,0", "IRQ,7,1,20,1,300,0,4294967296", "STAT,1,2,3,4,14,13,5,6,5,6"),
            *("STAT,1,2,3,4,5,6", "TICK,1,1,999,1", "TICK,1,84000,84000,1", "FAIL," + "x" * 160 + ",1"),
        )
    ),
    b"@\xff\xfe*%04X" % binascii.crc_hqx(b"\xff\xfe", 0xFFFF),
)


def test_a_damaged_line_is_kept_with_its_reason(sentences: Sentences) -> None:
    for line in DAMAGED:
        log = records.parse(record(BOOT) + line + b"\n" + record("END,0,00000000"))
        (damaged,) = log.damaged
        assert (damaged.number, damaged.line) == (2, line)
        assert log.first(records.EndRecord) == records.EndRecord(0, 0)
        sentences.hold(damaged.why)


def test_records_before_the_boot_are_told_apart_from_noise() -> None:
    log = records.parse(b"junk\n" + record("END,3,00000000") + b"\xff" + record(BOOT))
    assert log.earlier == (records.EndRecord(3, 0),)
    assert (len(log.preamble), log.stray) == (2, b"\xff")


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

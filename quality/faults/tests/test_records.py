"""What is planted in the records, read by eyes of its own: only their specification is used."""

from __future__ import annotations

import binascii
from collections import Counter

import pytest

from quality.faults.planting import Fault, Healthy

NUMBERS = range(12)


def planted(run: Healthy, kind: str, number: int) -> list[bytes]:
    return Fault(kind, number).plant(run, seed=5)[0].seen.serial_bytes.split(b"\n")


def lines(run: Healthy) -> list[bytes]:
    return run.stored.seen.serial_bytes.split(b"\n")


def is_sound(line: bytes) -> bool:
    body, _, digits = line[1:].rpartition(b"*")
    return line[:1] == b"@" and digits == b"%04X" % binascii.crc_hqx(body, 0xFFFF)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_lost_record_is_one_line_less(run: Healthy, number: int) -> None:
    gone = Counter(lines(run)) - Counter(planted(run, "lost_record", number))
    assert gone.total() == 1
    assert len(planted(run, "lost_record", number)) == len(lines(run)) - 1


@pytest.mark.parametrize("number", NUMBERS)
def test_a_doubled_record_follows_itself(run: Healthy, number: int) -> None:
    damaged = planted(run, "doubled_record", number)
    twice = [at for at in range(1, len(damaged)) if damaged[at] == damaged[at - 1]]
    assert len(twice) == 1
    assert damaged[: twice[0]] + damaged[twice[0] + 1 :] == lines(run)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_cut_record_loses_its_end_only(run: Healthy, number: int) -> None:
    before, after = b"\n".join(lines(run)), b"\n".join(planted(run, "cut_record", number))
    pairs = enumerate(zip(before, after, strict=False))
    length = next((at for at, (ours, other) in pairs if ours != other), len(after))
    lost = len(before) - len(after)
    assert 1 <= lost <= 128
    assert before[length + lost :] == after[length:]


@pytest.mark.parametrize("kind", ["swapped_records", "swapped_calibration"])
@pytest.mark.parametrize("number", NUMBERS)
def test_two_records_change_places(run: Healthy, kind: str, number: int) -> None:
    before, after = lines(run), planted(run, kind, number)
    first, other = [at for at in range(len(before)) if before[at] != after[at]]
    assert (before[first], before[other]) == (after[other], after[first])
    if kind == "swapped_records":
        assert other == first + 1
    else:
        assert before[first].startswith(b"@CAL,") and before[other].startswith(b"@CAL,")


def altered_lines(run: Healthy, kind: str, number: int) -> tuple[list[bytes], list[bytes]]:
    """The lines that differ, before and after, but for END, which has the checksum of all."""
    before, after = lines(run), planted(run, kind, number)
    log = b"\n".join(after)
    last = log.index(b"@END,")
    if not kind.startswith(("altered.END", "raised.END")):
        assert b"%08X" % binascii.crc32(log[:last]) == log[last:].split(b",")[2][:8]
    own = kind.split(".")[1] == "END"
    differ = [
        at
        for at in range(len(before))
        if before[at] != after[at] and (own or not after[at].startswith(b"@END,"))
    ]
    assert all(is_sound(after[at]) for at in differ)
    return [before[at] for at in differ], [after[at] for at in differ]


def test_every_field_of_every_record_is_altered_alone_under_right_checksums(run: Healthy) -> None:
    field_counts = {line[1:].split(b",")[0].decode(): line.count(b",") for line in lines(run) if line}
    kinds = [kind for kind in run.kinds if kind.startswith("altered.")]
    assert Counter(kind.split(".")[1] for kind in kinds) == field_counts
    for kind in kinds:
        (before,), (after,) = altered_lines(run, kind, 0)
        ours, other = (line.rpartition(b"*")[0].split(b",") for line in (before, after))
        assert ours[0].decode() == f"@{kind.split('.')[1]}"
        assert sum(a != b for a, b in zip(ours, other, strict=True)) == 1


@pytest.mark.parametrize("number", NUMBERS)
def test_of_a_number_one_digit_is_altered(run: Healthy, number: int) -> None:
    (before,), (after,) = altered_lines(run, "altered.OP.critical_cycles", number)
    ours, other = (line.split(b",")[4] for line in (before, after))
    assert other.isdigit()
    assert sum(a != b for a, b in zip(ours, other, strict=True)) == 1


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_is_raised_in_one_record_or_in_all(run: Healthy, number: int) -> None:
    before, after = altered_lines(run, "raised.OP.probes", number)
    steps = {
        int(other.split(b",")[6]) - int(ours.split(b",")[6])
        for ours, other in zip(before, after, strict=True)
    }
    assert steps <= {1, 2, 3} and len(steps) == 1
    assert len(before) in (1, sum(line.startswith(b"@OP,") for line in lines(run)))


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("answer", ["isr", "task", "control"])
def test_a_wait_is_told_from_another_stimulus(run: Healthy, answer: str, number: int) -> None:
    (before,), (after,) = altered_lines(run, f"merged_otherwise.{answer}", number)
    stimulus = run.manifest.stimulus
    period = stimulus.control_period_ticks if answer == "control" else stimulus.period_ticks
    ours, other = (line.rpartition(b"*")[0].split(b",") for line in (before, after))
    steps = [int(b) - int(a) for a, b in zip(ours[1:], other[1:], strict=True) if a != b]
    assert [abs(step) for step in steps] == [period]

"""What is planted in the records, read by eyes of its own: only their specification is used."""

from __future__ import annotations

import binascii
from collections import Counter

import pytest

from quality.faults.series import Fault, Healthy

NUMBERS = range(12)


def planted(run: Healthy, kind: str, number: int) -> list[bytes]:
    return Fault(kind, number).plant(run, seed=5)[0].seen.serial_bytes.split(b"\n")


def lines(run: Healthy) -> list[bytes]:
    return run.stored.seen.serial_bytes.split(b"\n")


def is_sound(line: bytes) -> bool:
    body, _, digits = line[1:].rpartition(b"*")
    return line[:1] == b"@" and digits == b"%04X" % binascii.crc_hqx(body, 0xFFFF)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_line_is_lost_doubled_or_cut_or_two_change_places(run: Healthy, number: int) -> None:
    before = lines(run)
    after = planted(run, "lost_record", number)
    assert len(after) == len(before) - 1 and (Counter(before) - Counter(after)).total() == 1
    after = planted(run, "doubled_record", number)
    (twice,) = (at for at in range(1, len(after)) if after[at] == after[at - 1])
    assert after[:twice] + after[twice + 1 :] == before
    old, new = b"\n".join(before), b"\n".join(planted(run, "cut_record", number))
    same = next((at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(new))
    lost = len(old) - len(new)
    assert 1 <= lost <= 128 and old[same + lost :] == new[same:]
    for kind in ("swapped_records", "swapped_calibration"):
        after = planted(run, kind, number)
        first, other = (at for at in range(len(before)) if before[at] != after[at])
        assert (before[first], before[other]) == (after[other], after[first])
        calibration = before[first].startswith(b"@CAL,") and before[other].startswith(b"@CAL,")
        assert other == first + 1 if kind == "swapped_records" else calibration


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

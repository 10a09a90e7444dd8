"""Faults of the records: lines that are lost, doubled, cut or swapped, and fields that are wrong.

Each kind is a function of the bytes of a healthy log and a generator of random numbers. It returns
the log with the fault in it, and a few words on what was done. A field is wrong as if the firmware
had sent it so: the checksums of its line and of the whole log are right, and only another witness
can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial

import numpy as np

from base.run_folder.edges import MARKED_CHANNELS
from base.run_folder.records import COST_INSTRUMENTS, OPERATION_KINDS, PlanRecord, encode, parse, parse_line
from firmware.build.catalogue import LOCKINGS, allocators

Random = np.random.Generator
Planted = tuple[bytes, str]
Kind = Callable[[bytes, Random], Planted]

# Of fields that are one of a few words.
_WORDS: dict[tuple[str, str], Sequence[str]] = {
    ("BOOT", "allocator"): tuple(allocators()),
    ("BOOT", "locking"): LOCKINGS,
    ("CAL", "channel"): MARKED_CHANNELS,
    ("COST", "instrument"): COST_INSTRUMENTS,
    ("OP", "kind"): OPERATION_KINDS,
}
_HEXADECIMAL = (("BOOT", "flash_acr"), ("PLAN", "body_crc32"))
# Whose waits are told by number and sum in IRQ, and by least and most in STAT: the fields' places.
_TICKS = {
    "isr": (("IRQ", 2), ("STAT", 4), ("STAT", 5)),
    "task": (("IRQ", 4), ("STAT", 6), ("STAT", 7)),
    "control": (("IRQ", 6), ("STAT", 8), ("STAT", 9)),
}
_MOST_STEPS = 3
_U32 = (1 << 32) - 1
_DIGITS, _HEX_DIGITS, _LETTERS = "0123456789", "0123456789ABCDEF", "abcdefghijklmnopqrstuvwxyz"


def kinds(log: bytes) -> Iterator[tuple[str, Kind]]:
    """The kinds that can be planted in this log, by name: the fields are those of its records."""
    for kind in (lost_record, doubled_record, cut_record, swapped_records, swapped_calibration):
        yield kind.__name__, kind
    firsts = {_name(line): line for line in reversed(log.split(b"\n")) if line.startswith(b"@")}
    for record, line in sorted(firsts.items()):
        count = line.count(b",")
        for index, field in enumerate(fields(parse_line(line))[:count]):
            alter = partial(altered_field, record=record, field=field.name, index=index)
            yield f"altered.{record}.{field.name}", alter
            if _fields(line)[index + 1].isdigit() and (record, field.name) not in _HEXADECIMAL:
                yield f"raised.{record}.{field.name}", partial(raised_field, record=record, index=index)
    for answer, places in _TICKS.items():
        if any(record in firsts for record, _ in places):
            yield f"merged_otherwise.{answer}", partial(merged_otherwise, answer=answer)


def lost_record(log: bytes, random: Random) -> Planted:
    """A line that never comes."""
    lines, at = _drawn(log, random)
    return b"\n".join(lines[:at] + lines[at + 1 :]), f"{_called(lines, at)} is lost"


def doubled_record(log: bytes, random: Random) -> Planted:
    """A line that comes twice."""
    lines, at = _drawn(log, random)
    return b"\n".join(lines[: at + 1] + lines[at:]), f"{_called(lines, at)} comes twice"


def cut_record(log: bytes, random: Random) -> Planted:
    """A line whose end is lost, its newline or not."""
    lines, at = _drawn(log, random)
    length = int(random.integers(len(lines[at])))
    newline = b"\n" if random.integers(2) else b""
    cut = b"\n".join([*lines[:at], lines[at][:length]]) + newline + b"\n".join(lines[at + 1 :])
    return cut, f"of {_called(lines, at)} only {length} bytes come"


def swapped_records(log: bytes, random: Random) -> Planted:
    """A line that comes after its successor."""
    lines, at = _drawn(log, random)
    # The last piece of the log, after its last newline, is no line.
    at = min(at, len(lines) - 3)
    return _swapped(lines, at, at + 1)


def swapped_calibration(log: bytes, random: Random) -> Planted:
    """Two calibration records in each other's place."""
    lines = log.split(b"\n")
    first, other = sorted(random.choice(_lines_of(lines, "CAL"), 2, replace=False).tolist())
    return _swapped(lines, first, other)


def altered_field(log: bytes, random: Random, record: str, field: str, index: int) -> Planted:
    """A field with one digit altered, or one letter, or another word."""
    lines = log.split(b"\n")
    at = int(random.choice(_lines_of(lines, record)))
    before = _fields(lines[at])[index + 1]
    after = _altered(record, field, before, random)
    return _sent(lines, {at: after}, index), f"{record}'s {field} in line {at + 1} is {after} for {before}"


def raised_field(log: bytes, random: Random, record: str, index: int) -> Planted:
    """A number that is too high by a little, in each record of the name or in one."""
    lines, by = log.split(b"\n"), int(random.integers(1, _MOST_STEPS + 1))
    every = _lines_of(lines, record)
    chosen = every if random.integers(2) else [int(random.choice(every))]
    changes = {at: str(min(int(_fields(lines[at])[index + 1]) + by, _U32)) for at in chosen}
    return _sent(lines, changes, index), f"field {index + 1} of {len(chosen)} {record} is too high by {by}"


def merged_otherwise(log: bytes, random: Random, answer: str) -> Planted:
    """A wait told from another stimulus than the first that it met: a period too short or long."""
    lines = log.split(b"\n")
    plan = parse(log).first(PlanRecord)
    of_plan = plan and (plan.control_period_ticks if answer == "control" else plan.stimulus_period_ticks)
    period = of_plan or int(random.integers(2_000, 20_000))  # a sweep has none
    merged = [
        (at, index)
        for record, index in _TICKS[answer]
        for at in _lines_of(lines, record)
        if 0 < int(_fields(lines[at])[index + 1]) < _U32
    ]
    if not merged:
        return log, f"no record tells of a wait of {answer}"
    at, index = merged[int(random.integers(len(merged)))]
    ticks = int(_fields(lines[at])[index + 1])
    after = ticks - period if ticks > period and random.integers(2) else ticks + period
    return _sent(lines, {at: str(after)}, index), f"line {at + 1} tells {after} ticks instead of {ticks}"


def _fields(line: bytes) -> list[str]:
    """The name of a record, and its fields."""
    return line[1:].rpartition(b"*")[0].decode("ascii").split(",")


def _sent(lines: list[bytes], changes: Mapping[int, str], index: int) -> bytes:
    """The log with these values of the field at `index`, by the number of the line, and with
    checksums that are right.
    """
    for at, value in changes.items():
        fields = _fields(lines[at])
        fields[index + 1] = value
        lines[at] = encode(",".join(fields)).rstrip(b"\n")
    ends = _lines_of(lines, "END")
    if ends and ends[-1] not in changes:
        crc32 = parse(b"\n".join(lines)).crc32
        lines[ends[-1]] = encode(",".join([*_fields(lines[ends[-1]])[:2], f"{crc32:08X}"])).rstrip(b"\n")
    return b"\n".join(lines)


def _lines_of(lines: Sequence[bytes], record: str) -> list[int]:
    """The numbers of the lines that are a record of this name."""
    return [at for at, line in enumerate(lines) if _name(line) == record]


def _altered(record: str, field: str, text: str, random: Random) -> str:
    if words := _WORDS.get((record, field)):
        return str(random.choice([word for word in words if word != text]))
    alphabet = _HEX_DIGITS if (record, field) in _HEXADECIMAL else _DIGITS
    alphabet = alphabet if set(text) & set(alphabet) else _LETTERS
    place = int(random.choice([at for at, letter in enumerate(text) if letter in alphabet]))
    other = str(random.choice([letter for letter in alphabet if letter != text[place]]))
    return text[:place] + other + text[place + 1 :]


def _drawn(log: bytes, random: Random) -> tuple[list[bytes], int]:
    """The lines of the log, and the number of one: each
    kind of record is drawn as often as the next.
    """
    lines = log.split(b"\n")
    names = sorted({_name(line) for line in lines} - {""})
    return lines, int(random.choice(_lines_of(lines, str(random.choice(names)))))


def _swapped(lines: list[bytes], first: int, other: int) -> Planted:
    words = f"{_called(lines, first)} and {_called(lines, other)} change places"
    lines[first], lines[other] = lines[other], lines[first]
    return b"\n".join(lines), words


def _called(lines: Sequence[bytes], at: int) -> str:
    return f"line {at + 1} ({lines[at][:24].decode('ascii', 'replace')}…)"


def _name(line: bytes) -> str:
    """The record's name; empty for a line that is none."""
    return line[1:].split(b",", 1)[0].decode("ascii", "replace") if line.startswith(b"@") else ""

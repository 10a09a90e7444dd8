"""Value change dumps (IEEE 1364-2005, section 18), of analyzers and simulators.

libsigrok reads them too, but as samples at the rate of the timescale: 3 s at 100 ps are 30 G of
them. Here only what changes costs something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import BinaryIO

from base.files.complaints import quoted
from base.files.errors import CaptureError
from capture.importing.changes import Changes, Lines
from capture.importing.selection import Selection
from capture.importing.timed import Timed, stated_in

_TIMESCALE = re.compile(r"(1|10|100) ?(s|ms|us|ns|ps|fs)")
_UNITS = {unit: Fraction(1, 1000**power) for power, unit in enumerate(("s", "ms", "us", "ns", "ps", "fs"))}
# What libsigrok writes into a comment.
_STATED_RATE = re.compile(r"Acquisition with \d+/\d+ channels at ([0-9.]{1,15} [kMG]?Hz)")
_LEVELS = {"0": False, "1": True}
_UNKNOWN = "xXzZ"
_SEVERAL_BITS = "bBrR"
_MOST_VARIABLES = 4096
_DIGITS_MOST = 18


class _Header:
    """The declarations: names and short codes of the variables, the timescale, the samplerate."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.codes: list[str] = []
        self.bits: list[bool] = []
        self.unit_s = Fraction(1, 10**9)
        self.samplerate_hz: int | None = None

    def take(self, keyword: str, words: list[str]) -> None:
        text = " ".join(words)
        if keyword == "$timescale":
            match = _TIMESCALE.fullmatch(text)
            if not match:
                raise CaptureError(f"its timescale {quoted(text)} is none.")
            self.unit_s = int(match[1]) * _UNITS[match[2]]
        elif keyword == "$comment" and (rate := _STATED_RATE.search(text)):
            self.samplerate_hz = stated_in(rate[1])
        elif keyword == "$var":
            self._variable(words)

    def _variable(self, words: list[str]) -> None:
        if len(words) < 4:
            raise CaptureError(f"a declaration in it is incomplete: {quoted(' '.join(words))}.")
        if len(self.names) == _MOST_VARIABLES:
            raise CaptureError(f"it declares more than {_MOST_VARIABLES:,} variables.")
        self.bits.append(words[1] == "1")
        self.codes.append(words[2])
        self.names.append(words[3])


def read_vcd(file: BinaryIO, selection: Selection) -> tuple[Timed, dict[str, str]]:
    """The chosen channels, and what each of ours is called there. Raises CaptureError."""
    lines = Lines(file)
    words = _whole_words(lines)
    header = _read_header(words)
    chosen = selection.among(header.names)
    for name, index in chosen.items():
        if not header.bits[index]:
            raise CaptureError(f"{quoted(header.names[index])}, which is to be {name}, has several bits.")
    codes = {header.codes[index]: name for name, index in chosen.items()}
    if len(codes) != len(chosen):
        raise CaptureError("two of our channels are one of the file's.")
    timed = _read_changes(words, codes, list(chosen), header)
    timed = replace(timed, cut=lines.unended)
    return timed, {name: header.names[index] for name, index in chosen.items()}


def _whole_words(lines: Lines) -> Iterator[str]:
    """Of a last line without an end the last word may be a part of one, and is left out."""
    for line in lines:
        words = line.split()
        yield from words[:-1] if lines.unended else words


def _read_header(words: Iterator[str]) -> _Header:
    header = _Header()
    for keyword in words:
        if not keyword.startswith("$"):
            raise CaptureError(f"it has {quoted(keyword)} before $enddefinitions.")
        inside = []
        for word in words:
            if word == "$end":
                break
            inside.append(word)
            if len(inside) > _MOST_VARIABLES:
                raise CaptureError(f"its {quoted(keyword)} has no $end.")
        header.take(keyword, inside)
        if keyword == "$enddefinitions":
            return header
    raise CaptureError("it has no $enddefinitions.")


def _read_changes(words: Iterator[str], codes: dict[str, str], names: list[str], header: _Header) -> Timed:
    changes = Changes(names)
    begin: int | None = None
    now = 0
    for word in words:
        kind = word[0]
        if kind == "#":
            now = _tick(word, now if begin is not None else None)
            begin = now if begin is None else begin
        elif kind in _LEVELS or kind in _UNKNOWN:
            name = codes.get(word[1:])
            if name is not None and kind in _LEVELS:
                changes.add(name, _LEVELS[kind], now)
            elif name is not None and changes.known(name):
                raise CaptureError(f"{name} has no level ({kind}) at its time {now}.")
        elif kind in _SEVERAL_BITS:
            next(words, None)  # the variable's code
        elif kind != "$":
            raise CaptureError(f"it has {quoted(word)} among its changes.")
    if begin is None:
        raise CaptureError("it has no time.")
    unit_s = float(header.unit_s)
    return Timed(
        initial=changes.initial,
        changes_s=changes.times(begin, unit_s),
        begin_s=0.0,
        end_s=(float(now) - begin) * unit_s,
        resolution_s=unit_s,
        samplerate_hz=header.samplerate_hz,
    )


def _tick(word: str, before: int | None) -> int:
    digits = word[1:]
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _DIGITS_MOST:
        raise CaptureError(f"its time {quoted(word)} is none.")
    tick = int(digits)
    if before is not None and tick < before:
        raise CaptureError("its times do not increase.")
    return tick

"""Value change dumps (IEEE 1364-2005, section 18), of analyzers and simulators.

libsigrok reads them too, but as samples at the rate of the timescale: 3 s at 100 ps are 30 G of
them. Wellen reads them faster, but passes over changes whose time lies before the last one, and
tells neither the end of the capture nor the numbers of a vector's bits.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice, takewhile
from typing import BinaryIO, NamedTuple

from base.files.complaints import quoted
from base.files.errors import CaptureError
from capture.importing.timed import LEVELS, LINE_MOST_BYTES, Changes, Named, Timed, by_path, nets, stated_in

TEXT_MOST_BYTES = 256 << 20
"""A line stands for a change: what is more has more edges than are read."""

_TIMESCALE = re.compile(r"(1|10|100) ?(s|ms|us|ns|ps|fs)")
_UNITS = {unit: Fraction(1, 1000**power) for power, unit in enumerate(("s", "ms", "us", "ns", "ps", "fs"))}
# What libsigrok writes into a comment.
_STATED_RATE = re.compile(r"Acquisition with \d+/\d+ channels at ([0-9.]{1,15} [kMG]?Hz)")
_RANGE = re.compile(r"(.*?) ?\[(-?[0-9]{1,9}):(-?[0-9]{1,9})\]")
_BIT = re.compile(r"(.*?) ?\[(-?[0-9]{1,9})\]")
_SCALAR, _VECTOR, _NO_LEVEL = {*LEVELS, *"xXzZuUwW-"}, "bB", "rRsS"
_NO_LEVELS = ("real", "realtime", "shortreal", "string", "event")
_MOST_VARIABLES = 1 << 20
_MOST_WORDS = 4096
_DIGITS_MOST = 18


class _Variable(NamedTuple):
    """A declaration. `path` has the scopes, with points; `first` and `last` are the numbers of its
    most and least significant bits.
    """

    kind: str
    width: int
    code: str
    path: str
    first: int
    last: int


Bit = tuple[str, int]
"""A bit of what has this code, counted from the least significant."""


def _variable(words: list[str], scopes: list[str]) -> _Variable:
    if len(words) < 4 or not words[1].isascii() or not words[1].isdigit() or len(words[1]) > 9:
        raise CaptureError(f"a declaration in it is incomplete: {quoted(' '.join(words))}.")
    name, width = " ".join(words[3:]), int(words[1])
    first, last = width - 1, 0
    if match := _RANGE.fullmatch(name):
        name, first, last = match[1], int(match[2]), int(match[3])
    elif match := _BIT.fullmatch(name):
        name = f"{match[1]}[{match[2]}]"
    path = ".".join([*filter(None, scopes), name])
    return _Variable(words[0], width, words[2], path, first, last)


def _finder(variables: list[_Variable]) -> Callable[[str], list[Bit]]:
    """What has a name, each net once. Raises CaptureError where it is no level."""
    at = by_path(variable.path for variable in variables)

    def find(name: str) -> list[Bit]:
        bit = _BIT.fullmatch(name)
        bits = set()
        for number in at(f"{bit[1]}[{bit[2]}]" if bit else name):
            kind, width, code, path, first, last = variables[number]
            if kind in _NO_LEVELS:
                raise CaptureError(f"{quoted(path)} is of type {kind} and has no level.")
            if width != 1:
                raise CaptureError(f"{quoted(path)} has several bits; name one, {path}[{first}] to [{last}].")
            bits.add((code, 0))
        if bit and not bits:
            place = int(bit[2])
            for number in at(bit[1]):
                kind, _, code, _, first, last = variables[number]
                if kind not in _NO_LEVELS and min(first, last) <= place <= max(first, last):
                    bits.add((code, abs(place - last)))
        return sorted(bits)

    return find


def read_vcd(file: BinaryIO, named: Named) -> Timed:
    """The chosen channels. Raises CaptureError."""
    words = _words(file)
    variables, unit_s, rate_hz = _read_header(words)
    scalars = [variable.path for variable in variables if variable.width == 1]
    chosen, named = nets(named, _finder(variables), scalars)
    changes = Changes(chosen)
    begin, end = _read_changes(words, chosen, changes)
    if unit_s is None:
        raise CaptureError(
            "it states no timescale, so its times have no unit; add one, such as $timescale 1 ns $end."
        )
    file.seek(-1, 2)
    return Timed(
        format="VCD",
        named=named,
        initial=changes.initial,
        changes=changes.times(begin),
        begin=0,
        end=end - begin,
        tick_s=unit_s,
        samplerate_hz=rate_hz,
        cut=file.read() != b"\n",
    )


def _words(file: BinaryIO) -> Iterator[str]:
    """Of a last line without an end the last word may be a part of one, and is left out."""
    while line := file.readline(LINE_MOST_BYTES + 1):
        if len(line) > LINE_MOST_BYTES:
            raise CaptureError(f"a line in it has more than {LINE_MOST_BYTES:,} bytes.")
        words = line.decode("utf-8", errors="replace").strip().lstrip("\ufeff").split()
        yield from words if line.endswith(b"\n") else words[:-1]


def _read_header(words: Iterator[str]) -> tuple[list[_Variable], Fraction | None, int | None]:
    """The declarations: the variables, the timescale, the samplerate."""
    variables: list[_Variable] = []
    scopes: list[str] = []
    unit_s, rate_hz = None, None
    for keyword in words:
        if not keyword.startswith("$"):
            raise CaptureError(f"it has {quoted(keyword)} before $enddefinitions.")
        inside = list(islice(takewhile(lambda word: word != "$end", words), _MOST_WORDS))
        text = " ".join(inside)
        if len(inside) == _MOST_WORDS:
            raise CaptureError(f"its {quoted(keyword)} has no $end.")
        if keyword == "$timescale":
            match = _TIMESCALE.fullmatch(text)
            if not match:
                raise CaptureError(f"its timescale {quoted(text)} is none.")
            unit_s = int(match[1]) * _UNITS[match[2]]
        elif keyword == "$comment" and (rate := _STATED_RATE.search(text)):
            rate_hz = stated_in(rate[1])
        elif keyword == "$scope":
            scopes.append(" ".join(inside[1:]))
        elif keyword == "$upscope":
            del scopes[-1:]
        elif keyword == "$var":
            variables.append(_variable(inside, scopes))
            if len(variables) > _MOST_VARIABLES:
                raise CaptureError(f"it declares more than {_MOST_VARIABLES:,} variables.")
        elif keyword == "$enddefinitions":
            return variables, unit_s, rate_hz
    raise CaptureError("it has no $enddefinitions.")


def _read_changes(words: Iterator[str], chosen: dict[str, Bit], changes: Changes) -> tuple[int, int]:
    """Tells `changes` of all that are chosen; the first time and the last."""
    channels = defaultdict(list)
    for name, (code, place) in chosen.items():
        channels[code].append((name, place))
    begin: int | None = None
    now = 0
    for word in words:
        kind = word[0]
        if kind == "#":
            digits = word[1:]
            if not (digits.isascii() and digits.isdigit()) or len(digits) > _DIGITS_MOST:
                raise CaptureError(f"its time {quoted(word)} is none.")
            if begin is not None and int(digits) < now:
                raise CaptureError("its times do not increase.")
            now = int(digits)
            begin = now if begin is None else begin
        elif kind in _SCALAR or kind in _VECTOR:
            value, code = (kind, word[1:]) if kind in _SCALAR else (word[1:] or "x", next(words, ""))
            for name, place in channels.get(code, ()):
                # What is left out of a vector's value on the left repeats 0, x or z (18.2.1).
                digit = "0" if value[0] == "1" else value[0]
                state = value[-1 - place] if place < len(value) else digit
                changes.add(name, state, now, first=begin is None or now == begin)
        elif kind in _NO_LEVEL:
            next(words, "")
        elif word == "$comment":
            for inside in words:
                if inside == "$end":
                    break
        elif kind != "$":
            raise CaptureError(f"it has {quoted(word)} among its changes.")
    if begin is None:
        raise CaptureError("it has no time.")
    return begin, now

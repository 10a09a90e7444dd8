"""Dumps of value changes: VCD (IEEE 1364-2005, section 18), of analyzers and simulators; FST, as
GTKWave, Verilator and others write it, and GHW of GHDL.

libsigrok reads VCD too, but as samples at the rate of the timescale: 3 s at 100 ps are 30 G of
them. Wellen, which reads FST and GHW here, reads it faster, but passes over changes whose time lies
before the last one, and tells neither the end of the capture nor the numbers of a vector's bits. So
of these two formats the bits are counted from the least significant: `bus[lsb+1]`. The end of a GHW
is its last change of what is chosen, since it states none.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from base.files.complaints import quoted
from base.files.errors import CaptureError, first_line
from base.run_folder.edges import Samples
from base.run_folder.tables import silence
from capture.importing.timed import LINE_MOST_BYTES, Named, Timed, check_count, nets, stated_in

# Of the nine states of VHDL a weak level is a level; the rest are none.
_LEVELS = {"0": False, "1": True, "L": False, "l": False, "H": True, "h": True}


class Changes:
    """What is told of `names`, in the order of time. A level that stays the same is no change.

    `initial` is the first level of each; low where nothing was told.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.initial = dict.fromkeys(names, False)
        self._level: dict[str, bool | None] = dict.fromkeys(self.initial)
        self._ticks = {name: array("q") for name in self.initial}
        self._count = 0

    def add(self, name: str, state: str, tick: int, first: bool) -> None:
        """`name` has this state from `tick` on; of several at the `first` the last is where it
        begins. Raises CaptureError for one change too many, and for what is no level where there
        was one before.
        """
        level, before = _LEVELS.get(state), self._level[name]
        if level is before:
            return
        if level is None:
            raise CaptureError(f"{name} has no level ({state}) at its time {tick}.")
        self._level[name] = level
        if before is None or first:
            self.initial[name] = level
            return
        self._ticks[name].append(tick)
        self._count += 1
        check_count(self._count)

    def since(self, begin: int) -> dict[str, Samples]:
        """When each changes, counted from `begin`."""
        return {name: np.array(ticks, np.int64) - begin for name, ticks in self._ticks.items()}


def by_path(paths: Iterable[str]) -> Callable[[str], list[int]]:
    """Finds the numbers of those `paths` that are a name, or end in it behind a point."""
    every = list(paths)

    def find(name: str) -> list[int]:
        whole = [number for number, path in enumerate(every) if path == name]
        return whole or [number for number, path in enumerate(every) if path.endswith(f".{name}")]

    return find


# VCD.


TEXT_MOST_BYTES = 256 << 20
"""A line stands for a change: what is more has more edges than are read."""

_TIMESCALE = re.compile(r"(1|10|100) ?(s|ms|us|ns|ps|fs)")
_UNITS = {unit: Fraction(1, 1000**power) for power, unit in enumerate(("s", "ms", "us", "ns", "ps", "fs"))}
# What libsigrok writes into a comment.
_STATED_RATE = re.compile(r"Acquisition with \d+/\d+ channels at ([0-9.]{1,15} [kMG]?Hz)")
_RANGE = re.compile(r"(.*?) ?\[(-?[0-9]{1,9}):(-?[0-9]{1,9})\]")
_BIT = re.compile(r"(.*?) ?\[(-?[0-9]{1,9})\]")
_SCALAR, _VECTOR, _OTHER = {*_LEVELS, *"xXzZuUwW-"}, "bB", "rRsS"
_NO_LEVELS = ("real", "realtime", "shortreal", "string", "event")
_MOST_VARIABLES = 1 << 20
_MOST_WORDS = 4096
_TIME, _WIDTH = re.compile("#[0-9]{1,18}"), re.compile("[0-9]{1,9}")


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
    if len(words) < 4 or not _WIDTH.fullmatch(words[1]):
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
    chosen, named = nets(
        named, _finder(variables), [variable.path for variable in variables if variable.width == 1]
    )
    changes = Changes(chosen)
    begin, end = _read_changes(words, chosen, changes)
    if unit_s is None:
        raise CaptureError(
            "it states no timescale, so its times have no unit; add one, such as $timescale 1 ns $end."
        )
    file.seek(-1, 2)
    times, cut = changes.since(begin), file.read() != b"\n"
    return Timed("VCD", named, changes.initial, times, 0, end - begin, unit_s, rate_hz, cut)


def _words(file: BinaryIO) -> Iterator[str]:
    """Of a last line without an end the last word may be a part of one, and is left out."""
    while line := file.readline(LINE_MOST_BYTES + 1):
        if len(line) > LINE_MOST_BYTES:
            raise CaptureError(f"a line in it has more than {LINE_MOST_BYTES:,} bytes.")
        words = line.decode("utf-8", errors="replace").strip().lstrip("\ufeff").split()
        yield from words if line.endswith(b"\n") else words[:-1]


def _read_header(words: Iterator[str]) -> tuple[list[_Variable], Fraction | None, int | None]:
    """The declarations: the variables, the timescale, the samplerate."""
    variables, scopes = [], []
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
            if not _TIME.fullmatch(word):
                raise CaptureError(f"its time {quoted(word)} is none.")
            before, now = now, int(word[1:])
            begin = now if begin is None else begin
            if now < before:
                raise CaptureError("its times do not increase.")
        elif kind in _SCALAR or kind in _VECTOR:
            value, code = (kind, word[1:]) if kind in _SCALAR else (word[1:] or "x", next(words, ""))
            for name, place in channels.get(code, ()):
                # What is left out of a vector's value on the left repeats 0, x or z (18.2.1).
                digit = "0" if value[0] == "1" else value[0]
                state = value[-1 - place] if place < len(value) else digit
                changes.add(name, state, now, first=begin is None or now == begin)
        elif kind in _OTHER:
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


# FST and GHW.


KINDS = {b"GHDLwave": "GHW", b"\0\0\0\0\0\0\0\1": "FST"}
"""By the bytes that the file begins with: of FST the type and the length of its header block."""
_FST_TIMES = struct.Struct(">QQ")
_FST_TIMES_AT = 9
_WAVE_BIT = re.compile(r"(.*)\[lsb\+([0-9]{1,4})\]")


def read_waves(path: Path, kind: str, named: Named) -> Timed:
    """The chosen channels. Raises CaptureError, OSError."""
    try:
        import pywellen
    except ImportError:
        raise CaptureError(
            f"{kind} is read by pywellen, which is not installed; install tailscope[waves]."
        ) from None
    try:
        with silence():
            return _read_waves(path, kind, pywellen.Waveform(str(path), multi_threaded=False), named)
    except CaptureError:
        raise
    except BaseException as error:
        # A damaged file ends in a panic of its Rust code, an exception of a type that has no name.
        if isinstance(error, RuntimeError) or type(error).__name__ == "PanicException":
            raise CaptureError(f"it is no sound {kind} ({first_line(error)}).") from None
        raise


def _read_waves(path: Path, kind: str, waves: Any, named: Named) -> Timed:
    variables = [variable for variable in waves.all_vars() if variable.is_bit_vector]
    at = by_path(variable.full_name for variable in variables)

    def find(name: str) -> list[tuple[int, int]]:
        """The first variable of each net of the name, and which of its bits."""
        bit = _WAVE_BIT.fullmatch(name)
        numbers = {variables[number].signal_id: number for number in reversed(at(bit[1] if bit else name))}
        wide = [variables[number] for number in numbers.values() if variables[number].bitwidth > 1]
        if wide and not bit:
            path, width = wide[0].full_name, wide[0].bitwidth
            raise CaptureError(
                f"{quoted(path)} has {width} bits, whose numbers are not read; count from the least "
                f"significant, {path}[lsb+0] to {path}[lsb+{width - 1}]."
            )
        place = int(bit[2]) if bit else 0
        return [(number, place) for number in numbers.values() if place < variables[number].bitwidth]

    chosen, named = nets(named, find, [variable.full_name for variable in variables if variable.is_1bit])
    changes = Changes(chosen)
    begin = end = 0
    if kind == "FST":
        with path.open("rb") as file:
            file.seek(_FST_TIMES_AT)
            begin, end = _FST_TIMES.unpack(file.read(_FST_TIMES.size))
    for name, (number, place) in chosen.items():
        for tick, states in variables[number].signal:
            text = f"{states:0{place + 1}b}" if isinstance(states, int) else states
            changes.add(name, text[-1 - place], tick, first=tick == begin)
            end = max(end, tick)
    unit_s = waves.timescale.factor * Fraction(10) ** waves.timescale.unit.to_exponent()
    return Timed(kind, named, changes.initial, changes.since(begin), 0, end - begin, unit_s)

"""What a board said of its heap (firmware/trace), and logs of glibc's mtrace and of heaptrack, as
lines of a trace: docs/how-to/traces.md.

A board's log may hold anything else beside, before and behind the lines that count. What is missing
or damaged is told, and the trace goes on with what can be known.

mtrace: the manual of the GNU C Library, "Allocation Debugging". heaptrack: the files that
heaptrack_interpret writes and heaptrack_gui reads, formats 1 to 3.
"""

from __future__ import annotations

import math
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import serial

from base.files.errors import first_line
from base.files.whole import read_bytes, why
from base.processes import signals
from base.run_folder.records import crc16
from scenarios.errors import RecordingError
from scenarios.trace import MOST_OPERATIONS

MOST_BYTES = 128 << 20
MOST_DEFECTS_TOLD = 20

_LINE = re.compile(rb"@(T[AF],([0-9a-f]{1,8}),([0-9a-f]{1,8})(?:,([0-9a-f]{1,8}))?)\*([0-9A-F]{4})")
_BEGIN = re.compile(rb"@T[AF]")
_NUMBERS = 1 << 32


@dataclass
class BoardTrace:
    """`lines` of a trace, and a sentence for each of the `defects`; `refused` is no defect."""

    lines: list[str] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)
    refused: int = 0
    """Allocations that the board's heap could not serve. They are left out."""


def read(path: Path) -> bytes:
    """The log in the file. Raises RecordingError."""
    try:
        return read_bytes(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path} cannot be read: {why(error)}.") from None


def convert(log: bytes) -> BoardTrace:
    """The trace in a log. Where the board was started anew, it is that of its last start.

    Raises RecordingError if there is none.
    """
    converter = _Converter()
    for number, line in enumerate(log.split(b"\n"), start=1):
        converter.enter(line, number)
        if len(converter.found.lines) >= MOST_OPERATIONS:
            converter.complain(number, f"the trace ends here, at {MOST_OPERATIONS:,} operations")
            break
    if converter.expected is None:
        raise RecordingError(
            "The log has no line of tailscope_trace.h; check that traceMALLOC and traceFREE are compiled in, "
            "and the baud rate."
        )
    if not converter.found.lines:
        raise RecordingError(
            f"The log has no operation that could be replayed. {' '.join(sentences(converter.found))}"
        )
    return converter.found


class _Converter:
    """Goes through the lines of one log."""

    def __init__(self) -> None:
        self.found = BoardTrace()
        self.expected: int | None = None
        self._live: dict[int, int] = {}  # address: number in the trace
        self._last = 0

    def complain(self, line: int, words: str) -> None:
        self.found.defects.append(f"Line {line}: {words}.")

    def enter(self, line: bytes, number: int) -> None:
        sound = 0
        for match in _LINE.finditer(line):
            body, sequence, address, size, digits = match.groups()
            if digits != b"%04X" % crc16(body) or (size is None) == body.startswith(b"TA"):
                continue
            sound += 1
            if self._is_next(int(sequence, 16), number):
                self._operation(int(address, 16), None if size is None else int(size, 16), number)
        for _ in range(len(_BEGIN.findall(line)) - sound):
            self.complain(number, "it is damaged")

    def _is_next(self, sequence: int, line: int) -> bool:
        """False for one that was there already."""
        expected, self.expected = self.expected, (sequence + 1) % _NUMBERS
        if expected is None:
            if sequence:
                self.complain(line, f"the log begins here; operations missing before: {sequence:,}")
        elif sequence == (expected - 1) % _NUMBERS and sequence:
            self.expected = expected
            self.complain(line, f"operation {sequence:,} is there twice; the second is left out")
            return False
        elif sequence < expected:
            self._start_anew(line, sequence)
        elif sequence > expected:
            self.complain(line, f"operations lost before it: {sequence - expected:,}")
        return True

    def _start_anew(self, line: int, sequence: int) -> None:
        """The board's numbers begin again: it was reset."""
        self.found.lines.clear()
        self.found.refused = 0
        self._live.clear()
        self._last = 0
        lost = f" (operations missing then: {sequence:,})" if sequence else ""
        self.complain(line, f"the board was started anew{lost}; what came before is left out")

    def _operation(self, address: int, size: int | None, line: int) -> None:
        if size is None:
            self._free(address, line)
        elif address == 0:
            self.found.refused += 1
        else:
            self._allocate(address, size, line)

    def _free(self, address: int, line: int) -> None:
        block = self._live.pop(address, None)
        if block is None:
            self.complain(line, f"no allocation is known of what it frees, 0x{address:08x}; it is left out")
            return
        self.found.lines.append(f"f,{block}")

    def _allocate(self, address: int, size: int, line: int) -> None:
        if address in self._live:
            self.complain(line, f"the free of the block at 0x{address:08x} is missing; it is set before")
            self.found.lines.append(f"f,{self._live.pop(address)}")
        if size == 0:
            self.complain(
                line,
                f"the block at 0x{address:08x} has no byte and is taken for one; see whether "
                "TAILSCOPE_TRACE_HEADER_BYTES is the heap's",
            )
        self._last += 1
        self._live[address] = self._last
        self.found.lines.append(f"a,{self._last},{max(size, 1)}")


def sentences(trace: BoardTrace) -> Iterator[str]:
    """What is missing, a sentence for each defect up to MOST_DEFECTS_TOLD, and what was refused."""
    yield from trace.defects[:MOST_DEFECTS_TOLD]
    if (more := len(trace.defects) - MOST_DEFECTS_TOLD) > 0:
        yield f"Further defects: {more:,}."
    if trace.refused:
        yield f"Requests that the heap refused, left out: {trace.refused:,}."


_READ_BYTES = 65_536


def listen(url: str, baud: int, within_s: float = math.inf) -> bytes:
    """What comes from `url`, a port or what else pySerial opens, until `within_s` or Ctrl-C.

    A line that breaks ends it too: what came until then counts. Raises RecordingError if the port
    cannot be opened or nothing came.
    """
    received = bytearray()
    heard: list[int] = []
    deadline_s = time.monotonic() + within_s
    try:
        # Without waiting: pySerial's blocking read drops what it has when the line breaks.
        with serial.serial_for_url(url, baudrate=baud, timeout=0) as port, signals.passed_on(heard.append):
            while not heard and time.monotonic() < deadline_s and len(received) < MOST_BYTES:
                if came := port.read(_READ_BYTES):
                    received += came
                else:
                    time.sleep(signals.POLL_S)
    except (serial.SerialException, OSError, ValueError) as error:
        if not received:
            words = first_line(error)
            raise RecordingError(
                f"The serial port {url} cannot be heard ({words}); check its name."
            ) from None
    if not received:
        raise RecordingError(f"Nothing came from {url}; check the port, the board's power and the baud rate.")
    return bytes(received)


_Event: TypeAlias = tuple[bytes, bytes, int]
"""As mtrace has it: `+`, `-`, `<` and `>` of a reallocation, `!` of a refused one, or `?` of a
damaged line; the block's address or class; bytes."""

_PACKED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
_MTRACE = re.compile(rb"(?:@ .* )?([-+<>!]) (0x[0-9a-f]+|\(nil\))(?: (0|0x[0-9a-f]+))?")
_HEAPTRACK = re.compile(rb"v [0-9a-f]+ ([0-9a-f]+)\n")


def convert_of_program(log: bytes) -> BoardTrace | None:
    """The trace, or None where the log is of neither. Raises RecordingError."""
    if log.startswith(_PACKED):
        raise RecordingError("The log is packed; unpack it first, with zstdcat or zcat.")
    lines = log.splitlines()
    if lines[:1] == [b"= Start"]:
        return _trace(_of_mtrace(lines))
    if version := _HEAPTRACK.match(log):
        if version[1] not in (b"1", b"2", b"3"):
            raise RecordingError(f"The log has heaptrack's format {version[1].decode()}; 1 to 3 can be read.")
        return _trace(_of_heaptrack(lines))
    return None


def _of_mtrace(lines: list[bytes]) -> Iterator[_Event | None]:
    """An event for each line, None where it has none."""
    for line in lines:
        match = _MTRACE.fullmatch(line)
        if match and (match[3] is not None) == (match[1] in b"+>!"):
            refused = match[2] == b"(nil)"
            yield b"!" if refused else match[1], match[2], int(match[3] or b"0", 16)
        else:
            yield None if line in (b"= Start", b"= End", b"") else (b"?", b"", 0)


def _of_heaptrack(lines: list[bytes]) -> Iterator[_Event | None]:
    """As _of_mtrace(). A block has no address there, but a class: its size and its caller."""
    sizes: list[int] = []
    for line in lines:
        sign, *fields = line.split(b" ")
        try:
            if sign == b"a":
                sizes.append(int(fields[0], 16))
            yield (
                (sign, fields[0], sizes[int(fields[0], 16)] if sign == b"+" else 0)
                if sign in (b"+", b"-")
                else None
            )
        except (IndexError, ValueError):
            yield b"?", b"", 0


def _trace(events: Iterator[_Event | None]) -> BoardTrace:
    trace, last, unseen = BoardTrace(), 0, 0
    live: defaultdict[bytes, list[int]] = defaultdict(list)
    moving: int | None = None
    for number, event in enumerate(events, start=1):
        if event is None:
            continue
        sign, block, size = event
        if sign == b"?":
            trace.defects.append(f"Line {number}: it is damaged.")
        elif sign == b"!":
            trace.refused += 1
        elif sign == b"+" or (sign == b">" and moving is None):
            last += 1
            live[block].append(last)
            trace.lines.append(f"a,{last},{max(size, 1)}")
        elif sign == b">":
            live[block].append(moving or 0)
            trace.lines.append(f"r,{moving},{max(size, 1)}")
        elif not live[block]:
            moving = None
            unseen += 1
        elif sign == b"<":
            moving = live[block].pop()
        else:
            trace.lines.append(f"f,{live[block].pop()}")
        if len(trace.lines) >= MOST_OPERATIONS:
            trace.defects.append(f"Line {number}: the trace ends here, at {MOST_OPERATIONS:,} operations.")
            break
    if unseen:
        trace.defects.append(f"Blocks freed or moved that the log does not allocate: {unseen:,}.")
    if not trace.lines:
        raise RecordingError("The log has no operation that could be replayed.")
    return trace

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

_PACKED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
_BOARD = re.compile(rb"@(T[AF],([0-9a-f]{1,8}),([0-9a-f]{1,8})(?:,([0-9a-f]{1,8}))?)\*([0-9A-F]{4})")
_BOARD_BEGIN = re.compile(rb"@T[AF]")
_MTRACE = re.compile(rb"(?:@ .* )?([-+<>!]) (0x[0-9a-f]+|\(nil\))(?: (0|0x[0-9a-f]+))?")
_HEAPTRACK = re.compile(rb"v [0-9a-f]+ [123]\n")

_Event: TypeAlias = tuple[int, str, bytes | str, int]
"""The line's number; and as mtrace has it: `+`, `-`, `<` and `>` of a reallocation, `!` of a
refused one; the block's address or class; bytes. `?` is a defect, in words, and `^` a new start of
the board."""


@dataclass
class LogTrace:
    """`lines` of a trace, and a sentence for each of the `defects`; `refused` is no defect."""

    lines: list[str] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)
    refused: int = 0
    """Allocations that the heap could not serve. They are left out."""


def read(path: Path) -> bytes:
    """The log in the file. Raises RecordingError."""
    try:
        return read_bytes(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path} cannot be read: {why(error)}.") from None


def convert(log: bytes) -> LogTrace:
    """The trace in a log. Where a board was started anew, it is that of its last start.

    Raises RecordingError if there is none.
    """
    if log.startswith(_PACKED):
        raise RecordingError("The log is packed; unpack it first, with zstdcat or zcat.")
    lines = log.split(b"\n")
    if lines[0] == b"= Start":
        trace = _trace(_of_mtrace(lines), by_address=True)
    elif _HEAPTRACK.match(log):
        trace = _trace(_of_heaptrack(lines), by_address=False)
    else:
        trace = _trace(_of_board(lines), by_address=True)
    if not trace.lines:
        raise RecordingError(
            "The log has no operation that could be replayed: it is none of mtrace or heaptrack (formats 1 "
            f"to 3), nor has it sound lines of tailscope_trace.h. {' '.join(sentences(trace))}".rstrip()
        )
    return trace


def _of_board(lines: list[bytes]) -> Iterator[_Event]:
    expected = 0
    for number, line in enumerate(lines, start=1):
        sound = 0
        for body, digits, address, size, crc in _BOARD.findall(line):
            if crc != b"%04X" % crc16(body) or (not size) == body.startswith(b"TA"):
                continue
            sound += 1
            sequence = int(digits, 16)
            if 0 < sequence == expected - 1:
                yield number, "?", "it is there twice; the second is left out", 0
                continue
            if sequence < expected:
                yield number, "^", "the board was started anew; what came before is left out", 0
                expected = 0
            if sequence > expected:
                yield number, "?", f"operations lost before it: {sequence - expected:,}", 0
            expected = sequence + 1
            refused = size and not int(address, 16)
            yield number, "!" if refused else "+" if size else "-", address, int(size or b"0", 16)
        for _ in range(len(_BOARD_BEGIN.findall(line)) - sound):
            yield number, "?", "it is damaged", 0


def _of_mtrace(lines: list[bytes]) -> Iterator[_Event]:
    for number, line in enumerate(lines, start=1):
        if b"(__libc_freeres+" in line:  # the C library tidies up behind the program's end
            return
        match = _MTRACE.fullmatch(line)
        if match and (match[3] is not None) == (match[1] in b"+>!"):
            sign = "!" if match[2] == b"(nil)" else match[1].decode()
            yield number, sign, match[2], int(match[3] or b"0", 16)
        elif line not in (b"= Start", b"= End", b""):
            yield number, "?", "it is damaged", 0


def _of_heaptrack(lines: list[bytes]) -> Iterator[_Event]:
    """A block has no address there, but a class: its size and its caller."""
    sizes: list[int] = []
    for number, line in enumerate(lines, start=1):
        sign, *fields = line.split(b" ")
        try:
            if sign == b"a":
                sizes.append(int(fields[0], 16))
            elif sign in (b"+", b"-"):
                yield number, sign.decode(), fields[0], sizes[int(fields[0], 16)] if sign == b"+" else 0
        except (IndexError, ValueError):
            yield number, "?", "it is damaged", 0


def _trace(events: Iterator[_Event], *, by_address: bool) -> LogTrace:
    """The lines. `by_address`: no two live blocks have the same."""
    trace, last = LogTrace(), 0
    live: defaultdict[bytes | str, list[int]] = defaultdict(list)
    moving: int | None = None
    for number, sign, block, size in events:
        defect = block if sign in "?^" else ""
        if sign == "^":
            trace = LogTrace(defects=trace.defects)
            live.clear()
            last = 0
        elif sign == "!":
            trace.refused += 1
        elif sign in "+>":
            if by_address and live[block]:
                defect = "the free of what lay there is missing; it is set before"
                trace.lines.append(f"f,{live[block].pop()}")
            moved = moving if sign == ">" else None
            last += not moved
            live[block].append(moved or last)
            trace.lines.append(f"{'r' if moved else 'a'},{moved or last},{max(size, 1)}")
        elif sign in "-<" and not live[block]:
            defect, moving = "no allocation is known of what it frees or moves; it is left out", None
        elif sign == "<":
            moving = live[block].pop()
        elif sign == "-":
            trace.lines.append(f"f,{live[block].pop()}")
        if defect:
            trace.defects.append(f"Line {number}: {defect!s}.")
        if len(trace.lines) >= MOST_OPERATIONS:
            trace.defects.append(f"Line {number}: the trace ends here, at {MOST_OPERATIONS:,} operations.")
            break
    return trace


def sentences(trace: LogTrace) -> Iterator[str]:
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

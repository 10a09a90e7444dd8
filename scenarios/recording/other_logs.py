"""Logs of glibc's mtrace and of heaptrack, as lines of a trace (docs/how-to/traces.md).

mtrace: the manual of the GNU C Library, "Allocation Debugging". heaptrack: the files that
heaptrack_interpret writes and heaptrack_gui reads, formats 1 to 3.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from scenarios.errors import RecordingError
from scenarios.recording.board_log import BoardTrace
from scenarios.trace import MOST_OPERATIONS

_Event: TypeAlias = tuple[bytes, bytes, int]
"""As mtrace has it: `+`, `-`, `<` and `>` of a reallocation, `!` of a refused one, or `?` of a
damaged line; the block's address or class; bytes."""

_PACKED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
_MTRACE = re.compile(rb"(?:@ .* )?([-+<>!]) (0x[0-9a-f]+|\(nil\))(?: (0|0x[0-9a-f]+))?")
_HEAPTRACK = re.compile(rb"v [0-9a-f]+ ([0-9a-f]+)\n")


def convert(log: bytes) -> BoardTrace | None:
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

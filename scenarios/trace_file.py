"""Reads a trace from a file of comma-separated values: docs/reference/trace.md."""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path

from base.files.regular import read_bytes
from base.files.whole import why
from scenarios.errors import ScenarioError, quoted
from scenarios.trace import Trace, TraceBuilder

MOST_OPERATIONS = 4_194_304
MOST_BYTES = 128 << 20
MOST_LINE_BYTES = 512

_FORMS = {"a": "a,ID,SIZE[,ALIGNMENT]", "f": "f,ID", "r": "r,ID,SIZE"}
_FIELDS = {"a": (3, 4), "f": (2,), "r": (3,)}
_WHOLE = re.compile(r"\d{1,10}", re.ASCII)
_TIME = re.compile(r"@\d{1,20}", re.ASCII)


def read(path: Path) -> Trace:
    """The trace in the file. Raises ScenarioError, which names the file and the line."""
    try:
        content = read_bytes(path, MOST_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a path that no system can have
        raise ScenarioError(f"{path} cannot be read: {why(error)}.") from None
    return _Reader(path).read(content)


class _Reader:
    """Goes through the lines of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._builder = TraceBuilder()
        self._last_time = 0

    def read(self, content: bytes) -> Trace:
        for number, line in enumerate(io.BytesIO(content), start=1):
            try:
                self._enter(_text(line))
            except ScenarioError as error:
                raise ScenarioError(f"{self._path}, line {number}: {error}.") from None
        return self._builder.trace(self._path.name, sha256=hashlib.sha256(content).hexdigest())

    def _enter(self, line: str) -> None:
        if not line or line.startswith("#"):
            return
        fields = [field.strip() for field in line.split(",")]
        if _TIME.fullmatch(fields[-1]):
            self._check_time(int(fields.pop()[1:]))
        kind = fields[0]
        if len(fields) not in _FIELDS.get(kind, ()) or not fields[1]:
            raise ScenarioError(f"{quoted(line)} is none of {', '.join(_FORMS.values())}")
        numbers = [_number(field) for field in fields[2:]]
        if len(self._builder) >= MOST_OPERATIONS:
            raise ScenarioError(f"a trace has {MOST_OPERATIONS:,} operations at most; cut it there")
        if kind == "a":
            self._builder.allocate(fields[1], *numbers)
        elif kind == "r":
            self._builder.reallocate(fields[1], *numbers)
        else:
            self._builder.free(fields[1])

    def _check_time(self, time: int) -> None:
        """Lines are in order of time. Nothing else is made of it."""
        if time < self._last_time:
            raise ScenarioError(f"the time {time} comes after {self._last_time}; sort the lines by time")
        self._last_time = time


def _text(line: bytes) -> str:
    if len(line) > MOST_LINE_BYTES:
        raise ScenarioError(f"a line has {MOST_LINE_BYTES} bytes at most, this one {len(line):,}")
    try:
        return line.decode().strip()
    except UnicodeDecodeError:
        raise ScenarioError("this is no text in UTF-8; a trace has lines such as a,1,24 and f,1") from None


def _number(field: str) -> int:
    if not _WHOLE.fullmatch(field):
        raise ScenarioError(f"{quoted(field)} is no whole number")
    return int(field)

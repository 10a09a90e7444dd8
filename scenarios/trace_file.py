"""Reads a trace from a file of comma-separated values: docs/SPEC.md, section 11."""

from __future__ import annotations

import re
from pathlib import Path

from capture.files.whole import why
from scenarios.errors import ScenarioError, quoted
from scenarios.trace import Trace, TraceBuilder

_FORMS = {"a": "a,ID,SIZE[,ALIGNMENT]", "f": "f,ID", "r": "r,ID,SIZE"}
_FIELDS = {"a": (3, 4), "f": (2,), "r": (3,)}
MOST_OPERATIONS = 4_194_304

_WHOLE = re.compile(r"\d{1,10}", re.ASCII)


def read(path: Path) -> Trace:
    """The trace in the file. Raises ScenarioError, which names the file and the line."""
    builder = TraceBuilder()
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                _enter(builder, line.strip(), f"{path}, line {number}")
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {why(error)}.") from None
    except UnicodeDecodeError:
        raise ScenarioError(
            f"{path} is no text in UTF-8; a trace has lines such as a,1,24 and f,1."
        ) from None
    return builder.trace(path.name)


def _enter(builder: TraceBuilder, line: str, where: str) -> None:
    if not line or line.startswith("#"):
        return
    fields = [field.strip() for field in line.split(",")]
    kind = fields[0]
    if len(fields) not in _FIELDS.get(kind, ()) or not fields[1]:
        forms = ", ".join(_FORMS.values())
        raise ScenarioError(f"{where}: {quoted(line)} is none of {forms}.")
    numbers = [_number(field, where) for field in fields[2:]]
    try:
        if kind == "a":
            builder.allocate(fields[1], *numbers)
        elif kind == "r":
            builder.reallocate(fields[1], *numbers)
        else:
            builder.free(fields[1])
    except ScenarioError as error:
        raise ScenarioError(f"{where}: {error}.") from None


def _number(field: str, where: str) -> int:
    if not _WHOLE.fullmatch(field):
        raise ScenarioError(f"{where}: {quoted(field)} is no whole number.")
    return int(field)

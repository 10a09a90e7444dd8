"""The baseline of a program: TOML, of each function the longest of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from analysis.errors import GateError
from analysis.program.gate.rows import Measured, Row
from base.files.documents import Table, open_toml
from base.files.toml_text import key, pairs
from base.files.whole import write_bytes

SCHEMA = 2
BYTES_MOST = 8 << 20
OPEN: Literal["open"] = "open"
"""Stands for the cycles of what had not ended when the run did."""
NONE: Literal["none"] = "none"
"""Stands for the cycles of what has no bound."""

Cycles = int | Literal["open", "none"]
_HEAD = """\
# A baseline of `{command} PROGRAM --baseline FILE`, which --update writes anew: limits stay, comments
# do not. Of each function it has the longest of each kind, in cycles.
"""
_Name = Annotated[str, Field(min_length=1, max_length=4096)]
_Text = Annotated[str, Field(max_length=1024)]
_Kinds = dict[_Name, Annotated[int, Field(ge=0, lt=1 << 63)] | Literal["open", "none"]]


class _File(Table):
    schema_: Annotated[Literal[2], Field(alias="schema")]
    command: Literal["masks", "latency", "bounds"]
    made_by: _Text
    settings: dict[_Name, _Text]
    limits: dict[_Name, _Text] = Field(default_factory=dict)
    functions: Annotated[dict[_Name, _Kinds], Field(max_length=100_000, default_factory=dict)]


@dataclass(frozen=True)
class Baseline:
    """`lengths` are cycles, OPEN or NONE, by function and kind. `limits` are words of --limit."""

    path: Path
    command: str
    made_by: str
    settings: Mapping[str, str]
    limits: Mapping[str, str] = field(default_factory=dict)
    lengths: Mapping[tuple[str, str], Cycles] = field(default_factory=dict)


def read(path: Path, command: str) -> Baseline:
    """Reads a baseline of `command`. Raises GateError with one sentence: file, line and key."""
    remedy = "restore the file, or delete it and write it anew with --update"
    document = open_toml(path, GateError, remedy=remedy, most_bytes=BYTES_MOST)
    file = document.check(_File)
    if file.command != command:
        raise GateError(
            f"{path} is a baseline of {file.command}, not of {command}; name another file, or delete it and "
            "write it anew with --update."
        )
    lengths: dict[tuple[str, str], Cycles] = {
        (function, kind): cycles
        for function, kinds in file.functions.items()
        for kind, cycles in kinds.items()
    }
    return Baseline(path, command, file.made_by, file.settings, file.limits, lengths)


def of(measured: Measured, path: Path, made_by: str, limits: Mapping[str, str]) -> Baseline:
    """What was measured as a baseline."""
    lengths = {(row.function, row.kind): _length(row) for row in measured.rows}
    return Baseline(path, measured.command, made_by, dict(measured.settings), limits, lengths)


def _length(row: Row) -> Cycles:
    if row.why_not:
        return NONE
    return OPEN if row.open else row.cycles


def write(baseline: Baseline) -> None:
    """Writes it to its path, whole or not at all. Raises WriteError."""
    write_bytes(baseline.path, as_text(baseline).encode())


def as_text(baseline: Baseline) -> str:
    """The file's text: functions and kinds in the order of their names."""
    head = {"schema": SCHEMA, "command": baseline.command, "made_by": baseline.made_by}
    parts = [
        _HEAD.format(command=baseline.command),
        f"\n{pairs(head)}",
        f"\n[settings]\n{pairs(baseline.settings)}",
    ]
    if baseline.limits:
        parts.append(f"\n[limits]\n{pairs(baseline.limits)}")
    by_function: dict[str, dict[str, Cycles]] = {}
    for (function, kind), cycles in sorted(baseline.lengths.items()):
        by_function.setdefault(function, {})[kind] = cycles
    parts += [f"\n[functions.{key(name)}]\n{pairs(kinds)}" for name, kinds in by_function.items()]
    return "".join(parts)

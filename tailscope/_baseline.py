"""What was measured before: a TOML file of the same shape as that of `masks --baseline`.

Of each function it has the longest of each kind, in cycles.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tailscope._documents import Part
from tailscope._errors import Error
from tailscope._figures import Before
from tailscope._files import read as read_file
from tailscope._files import shown
from tailscope._texts import printable_values

__tracebackhide__ = True  # pytest shows the line of the test

SCHEMA = 1
_MOST_BYTES = 8 << 20
_REMEDY = "restore the file, or write it anew with pytest --tailscope-update"
_OPEN = "open"
"""Stands for the cycles of what had not ended when the run did."""
_MADE_BY = "tailscope.pytest_plugin"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_HEAD = """\
# What a test measured: of each function the longest of each kind, in cycles. The option
# --tailscope-update of pytest writes it anew.
"""


@dataclass(frozen=True)
class Row:
    """The longest of a kind in a function."""

    function: str
    kind: str
    cycles: int


@dataclass(frozen=True)
class Baseline:
    """The rows of a command, and the settings that they were measured with."""

    command: str
    settings: Mapping[str, str]
    rows: tuple[Row, ...]

    def longest(self, kind: str | None, function: str | None = None) -> Before | None:
        """The longest of a kind, of all levels if it names none; in a function, if one is named."""
        found = [
            row
            for row in self.rows
            if kind in (None, row.kind, row.kind.partition(" ")[0]) and function in (None, row.function)
        ]
        if not found:
            return None
        most = max(found, key=lambda row: row.cycles)
        return Before(most.cycles, most.function)


def read(path: Path, command: str, settings: Mapping[str, str]) -> Baseline | None:
    """The baseline of a file; None if there is no such file.

    Raises Error where it is damaged, or was made by another command or with other settings.
    """
    if not path.exists():
        return None
    part = _document(path)
    if part.whole("schema") != SCHEMA:
        part.wrong("schema", f"must be {SCHEMA}")
    if part.text("command") != command:
        raise Error(f"{shown(path)}: is a baseline of {part.text('command')}, not of {command}; {_REMEDY}.")
    found = {name: part.part("settings").text(name) for name in part.part("settings")}
    if found != dict(settings):
        raise Error(f"{shown(path)}: was made with other settings ({_apart(found, settings)}); {_REMEDY}.")
    functions = part.part("functions")
    rows = [
        Row(function, kind, of.whole(kind))
        for function in functions
        for of in (functions.part(function),)
        for kind in of
        if of.values[kind] != _OPEN
    ]
    return Baseline(command, found, tuple(rows))


def write(path: Path, baseline: Baseline) -> None:
    """Writes the file, whole or not at all. Equal baselines give equal bytes."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(_as_text(baseline), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise Error(f"{shown(path)}: cannot be written ({error.strerror}).") from None


def longest(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Of each function and kind the row with the most cycles, in the order of their names."""
    found: dict[tuple[str, str], int] = {}
    for row in rows:
        key = (row.function, row.kind)
        found[key] = max(row.cycles, found.get(key, 0))
    return tuple(Row(*key, cycles) for key, cycles in sorted(found.items()))


def _document(path: Path) -> Part:
    import tomllib

    content = read_file(path, _MOST_BYTES, _REMEDY)
    try:
        values = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is no text"
        raise Error(f"{shown(path)}: holds no TOML ({said[:200]}); {_REMEDY}.") from None
    return Part(printable_values(values), shown(path), _REMEDY)


def _apart(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    names = dict.fromkeys([*before, *now])
    changed = [name for name in names if before.get(name) != now.get(name)]
    return ", ".join(f"{name} {before.get(name, 'none')} → {now.get(name, 'none')}" for name in changed)


def _as_text(baseline: Baseline) -> str:
    parts = [
        _HEAD,
        f"\nschema = {SCHEMA}\ncommand = {_text(baseline.command)}\nmade_by = {_text(_MADE_BY)}\n",
        "\n[settings]\n",
        *(f"{_key(name)} = {_text(value)}\n" for name, value in sorted(baseline.settings.items())),
    ]
    before = None
    for row in longest(baseline.rows):
        if row.function != before:
            parts.append(f"\n[functions.{_key(row.function)}]\n")
            before = row.function
        parts.append(f"{_key(row.kind)} = {row.cycles}\n")
    return "".join(parts if before is not None else [*parts, "\n[functions]\n"])


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    """A basic string; JSON escapes what TOML does, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

"""The text of source lines, where the files that the firmware was built of are found unchanged."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from pathlib import Path

from analysis.explain.program import Program

_MAP = "-ffile-prefix-map="
_MOST_CHARACTERS = 160
_MOST_BYTES = 4 << 20


class Sources:
    """The source files of the firmware `program`, which was built as `elf`.

    A file that is younger than the firmware may have changed since, and is not read.
    """

    def __init__(self, program: Program, elf: Path) -> None:
        self._paths = program.source_files
        self._folders = _hidden_folders(elf)
        self._built_s = elf.stat().st_mtime
        self._read: dict[str, list[str]] = {}

    def lines(self, places: Iterable[str]) -> dict[str, str]:
        """The text at each of `places`, such as `free_list.h:43`, as far as it can be told."""
        found: dict[str, str] = {}
        for place in dict.fromkeys(places):
            name, _, number = place.rpartition(":")
            lines = self._file(name)
            if number.isdecimal() and 0 < int(number) <= len(lines):
                found[place] = lines[int(number) - 1].strip()[:_MOST_CHARACTERS]
        return found

    def _file(self, name: str) -> list[str]:
        if name not in self._read:
            self._read[name] = _text(_found(self._paths.get(name), self._folders), self._built_s)
        return self._read[name]


def _hidden_folders(elf: Path) -> list[tuple[Path, Path]]:
    """What the debug information calls a folder, and the folder; the longest names first.

    The firmware is built so that no absolute path reaches it (firmware/cmake/reproducible.cmake).
    The compiler's commands, which CMake leaves beside it, have both.
    """
    try:
        commands = json.loads((elf.parent / "compile_commands.json").read_text(encoding="utf-8"))
        words = {word for one in commands for word in shlex.split(one["command"])}
    except (OSError, ValueError, KeyError, TypeError):
        return []
    maps = [word.removeprefix(_MAP).rpartition("=") for word in sorted(words) if word.startswith(_MAP)]
    named = [(Path(name), Path(folder)) for folder, _, name in maps]
    return sorted(named, key=lambda one: -len(one[0].parts))


def _found(path: Path | None, folders: list[tuple[Path, Path]]) -> Path | None:
    """Where the file called `path` in the debug information is."""
    if path is None or path.is_absolute():
        return path
    for name, folder in folders:
        if path.is_relative_to(name):
            return folder / path.relative_to(name)
    return None


def _text(path: Path | None, built_s: float) -> list[str]:
    """The lines of the file; none if it is not there, or not what was built."""
    try:
        if path is None or path.stat().st_mtime > built_s or path.stat().st_size > _MOST_BYTES:
            return []
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []

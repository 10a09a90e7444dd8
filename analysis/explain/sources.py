"""The text of source lines, and which functions the compiler placed into others.

Text is told where the files that the firmware was built of are found unchanged; DWARF tells of the
functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from elftools.dwarf.descriptions import describe_form_class
from elftools.dwarf.ranges import BaseAddressEntry

from analysis.explain.program import Program
from base.files.elf import DAMAGED
from firmware.build import packaged

_MAP = re.compile(r"-ffile-prefix-map=(/[^\s=]+)=([\w.-]+)")
_MOST_CHARACTERS = 160
_MOST_BYTES = 4 << 20


class Sources:
    """The source files of the firmware `program`, which was built as `elf`.

    A file that is younger than the firmware may have changed since, and is not read.
    """

    def __init__(self, program: Program, elf: Path) -> None:
        self._paths = program.source_files
        # The firmware is built so that no absolute path reaches it
        # (firmware/cmake/reproducible.cmake). The compiler's commands, which CMake leaves beside
        # it, have both. The sources of an image that a package brings came with it.
        self._folders = {packaged.ROOM.name: packaged.ROOM}
        with suppress(OSError):
            commands = (elf.parent / "compile_commands.json").read_text("utf-8", "replace")
            self._folders |= {name: Path(folder) for folder, name in _MAP.findall(commands)}
        self._built_s = float("inf") if packaged.holds(elf) else elf.stat().st_mtime
        self._text = cache(self._read)

    def lines(self, places: Iterable[str]) -> dict[str, str]:
        """The text at each of `places`, such as `free_list.h:43`, as far as it can be told."""
        quoted: dict[str, str] = {}
        for place in dict.fromkeys(places):
            name, _, number = place.rpartition(":")
            lines = self._text(name)
            if number.isdecimal() and 0 < int(number) <= len(lines):
                quoted[place] = lines[int(number) - 1].strip()[:_MOST_CHARACTERS]
        return quoted

    def _read(self, name: str) -> list[str]:
        path = self._paths.get(name)
        try:
            if path is not None and not path.is_absolute():
                path = self._folders[path.parts[0]].joinpath(*path.parts[1:])
            if path is None or path.stat().st_mtime > self._built_s or path.stat().st_size > _MOST_BYTES:
                return []
            return path.read_text(encoding="utf-8", errors="replace").splitlines()
        except (OSError, LookupError):
            return []


Spans = list[tuple[int, int]]


@dataclass(frozen=True)
class Call:
    """An inlined call: the code of `function` was placed into its caller at `file` and `line`."""

    function: str
    file: str
    line: int


class Inlined:
    """The inlined calls of one program. Damaged debug information counts as none."""

    def __init__(self, program: Program) -> None:
        self._dwarf = program.dwarf
        self._calls = cache(lambda unit: list(self._of_unit(unit)))

    def at(self, address: int) -> list[Call]:
        """The calls that were placed around the code at `address`, the innermost first."""
        with suppress(*DAMAGED):
            unit = next((unit for spans, unit in self._units if within(spans, address)), None)
            calls = self._calls(unit) if unit else ()
            return [call for spans, call in calls if within(spans, address)][::-1]
        return []

    @cached_property
    def _units(self) -> list[tuple[Spans, Any]]:
        return [(self._spans(unit.get_top_DIE(), unit), unit) for unit in self._dwarf.iter_CUs()]

    def _of_unit(self, unit: Any) -> Iterator[tuple[Spans, Call]]:
        """Its calls, those around others first: the list of what is looked at grows meanwhile."""
        dies = [unit.get_top_DIE()]
        for die in dies:
            if die.tag == "DW_TAG_inlined_subroutine":
                line, number = (die.attributes.get(f"DW_AT_call_{part}") for part in ("line", "file"))
                file = ""
                if number:
                    lines = self._dwarf.line_program_for_CU(unit)
                    # Files count from 0 in DWARF 5, from 1 before.
                    index = number.value - (0 if lines.header.version >= 5 else 1)
                    for entry in lines.header.file_entry[index : index + 1] if index >= 0 else ():
                        file = Path(entry.name.decode(errors="replace")).name
                yield self._spans(die, unit), Call(_name(die), file, int(line.value) if line else 0)
            dies.extend(die.iter_children())

    def _spans(self, die: Any, unit: Any) -> Spans:
        """The addresses of its code: DW_AT_low_pc and DW_AT_high_pc, or DW_AT_ranges."""
        low, high = (die.attributes.get(f"DW_AT_{end}_pc") for end in ("low", "high"))
        if "DW_AT_ranges" not in die.attributes:
            if low is None or high is None:
                return []
            offset = describe_form_class(high.form) != "address"
            return [(low.value, low.value + high.value if offset else high.value)]
        spans = []
        first = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        base = first.value if first else 0
        offset = die.attributes["DW_AT_ranges"].value
        for entry in self._dwarf.range_lists().get_range_list_at_offset(offset, unit):
            if isinstance(entry, BaseAddressEntry):
                base = entry.base_address
            else:
                added = 0 if getattr(entry, "is_absolute", False) else base
                spans.append((entry.begin_offset + added, entry.end_offset + added))
        return spans


def _name(die: Any) -> str:
    """The name of a function, which may stand where its body or its declaration is."""
    for reference in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if "DW_AT_name" not in die.attributes and reference in die.attributes:
            die = die.get_DIE_from_attribute(reference)
    name = die.attributes.get("DW_AT_name")
    return name.value.decode(errors="replace") if name else "(inlined)"


def within(spans: Iterable[tuple[int, int]], at: int) -> bool:
    """Whether an address or a cycle lies in one of the spans, each up to before its end."""
    return any(begin <= at < end for begin, end in spans)

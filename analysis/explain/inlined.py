"""Which functions the compiler placed into others, and from where, as DWARF tells it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.descriptions import describe_form_class
from elftools.dwarf.ranges import BaseAddressEntry

from analysis.explain.program import Program

Spans = list[tuple[int, int]]


@dataclass(frozen=True)
class Call:
    """At `file` and `line` the code of `function` was placed into that of the caller."""

    function: str
    file: str
    line: int


class Inlined:
    """What was placed where, in one program. Damaged debug information counts as none."""

    def __init__(self, program: Program) -> None:
        self._dwarf = program.dwarf
        self._read: dict[int, list[tuple[Spans, int, Call]]] = {}

    def at(self, address: int) -> list[Call]:
        """The calls that were placed around the code at `address`, the innermost first."""
        try:
            return self._at(address)
        except (DWARFError, ELFError, KeyError, AttributeError, TypeError, IndexError):
            return []

    def _at(self, address: int) -> list[Call]:
        unit = next((unit for spans, unit in self._units if _within(spans, address)), None)
        if unit is None:
            return []
        if unit.cu_offset not in self._read:
            self._read[unit.cu_offset] = list(self._of_unit(unit))
        around = [
            (depth, call) for spans, depth, call in self._read[unit.cu_offset] if _within(spans, address)
        ]
        return [call for _, call in sorted(around, key=lambda one: -one[0])]

    @cached_property
    def _units(self) -> list[tuple[Spans, Any]]:
        return [(self._spans(unit.get_top_DIE(), unit), unit) for unit in self._dwarf.iter_CUs()]

    def _of_unit(self, unit: Any) -> Iterator[tuple[Spans, int, Call]]:
        waiting = [(unit.get_top_DIE(), 0)]
        while waiting:
            die, depth = waiting.pop()
            if die.tag == "DW_TAG_inlined_subroutine":
                yield self._spans(die, unit), depth, self._call(die, unit)
            waiting += [(child, depth + 1) for child in die.iter_children()]

    def _call(self, die: Any, unit: Any) -> Call:
        line = die.attributes.get("DW_AT_call_line")
        number = die.attributes.get("DW_AT_call_file")
        file = _file(self._dwarf.line_program_for_CU(unit), number.value) if number else ""
        return Call(_name(die), file, int(line.value) if line else 0)

    def _spans(self, die: Any, unit: Any) -> Spans:
        """The addresses of its code: DW_AT_low_pc and DW_AT_high_pc, or DW_AT_ranges."""
        if "DW_AT_ranges" in die.attributes:
            return list(self._ranges(die, unit))
        low, high = die.attributes.get("DW_AT_low_pc"), die.attributes.get("DW_AT_high_pc")
        if low is None or high is None:
            return []
        offset = describe_form_class(high.form) != "address"
        return [(low.value, low.value + high.value if offset else high.value)]

    def _ranges(self, die: Any, unit: Any) -> Iterator[tuple[int, int]]:
        low = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        base = low.value if low else 0
        ranges = self._dwarf.range_lists()
        for entry in ranges.get_range_list_at_offset(die.attributes["DW_AT_ranges"].value, unit):
            if isinstance(entry, BaseAddressEntry):
                base = entry.base_address
            else:
                added = 0 if getattr(entry, "is_absolute", False) else base
                yield entry.begin_offset + added, entry.end_offset + added


def _name(die: Any) -> str:
    """The name of a function, which may stand where its body or its declaration is."""
    for reference in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if "DW_AT_name" not in die.attributes and reference in die.attributes:
            die = die.get_DIE_from_attribute(reference)
    name = die.attributes.get("DW_AT_name")
    return name.value.decode(errors="replace") if name else "(inlined)"


def _file(lines: Any, number: int) -> str:
    # Files count from 0 in DWARF 5, from 1 before.
    index = number - (0 if lines.header.version >= 5 else 1)
    entries = lines.header.file_entry
    return Path(entries[index].name.decode(errors="replace")).name if 0 <= index < len(entries) else ""


def _within(spans: Spans, address: int) -> bool:
    return any(begin <= address < end for begin, end in spans)

"""Where variables and members lie, as symbols and debug information (DWARF 5, section 5) tell."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from analysis.explain.program import Program
from base.files.elf import DAMAGED

_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]")
_STRUCTS = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_ALIASES = ("DW_TAG_typedef", "DW_TAG_volatile_type", "DW_TAG_const_type", "DW_TAG_atomic_type")
_POINTER_BYTES = 4


@dataclass(frozen=True)
class Spot:
    """A value: `offset` from the beginning of its variable or struct, its size, and its kind.

    `kind` is text (an array of characters), pointer, or number.
    """

    offset: int
    bytes: int
    kind: str


class Layout:
    """The layout of the variables and structs of a program that are asked for by name."""

    def __init__(self, program: Program, variables: Collection[str], structs: Collection[str]) -> None:
        self._variables: dict[str, Any] = {}
        self._structs: dict[str, Any] = {}
        with suppress(*DAMAGED):
            self._read(program.dwarf.iter_CUs(), set(variables), set(structs))

    def _read(self, units: Iterable[Any], variables: set[str], structs: set[str]) -> None:
        for unit in units:
            if variables <= set(self._variables) and structs <= set(self._structs):
                return
            for die in unit.get_top_DIE().iter_children():
                if die.tag == "DW_TAG_variable" and _name(die) in variables and _is_whole(_type(die)):
                    self._variables.setdefault(_name(die), _type(die))
                elif die.tag in _STRUCTS and _name(die) in structs and "DW_AT_byte_size" in die.attributes:
                    self._structs.setdefault(_name(die), die)

    def of_variable(self, path: str) -> Spot | None:
        """What `variable.member[3]` is; None if nothing tells."""
        name = re.match(r"\w+", path)
        return None if name is None else self._spot(self._variables.get(name[0]), path[name.end() :])

    def of_member(self, structs: Iterable[str], path: str) -> Spot | None:
        """What a member is of the first of these structs that is there; None if it has none."""
        struct = next((self._structs[name] for name in structs if name in self._structs), None)
        return self._spot(struct, f".{path}")

    def stride(self, variable: str) -> int:
        """The bytes of an element of an array; 0 if nothing tells."""
        try:
            array = _plain(self._variables.get(variable))
            return _size(_type(array)) if array is not None and array.tag == "DW_TAG_array_type" else 0
        except DAMAGED:
            return 0

    def _spot(self, start: Any, path: str) -> Spot | None:
        try:
            offset, die = 0, _plain(start)
            for member, index in _STEP.findall(path):
                if die is None:
                    return None
                if member:
                    further, die = _member(die, member)
                else:
                    die = _type(die) if die.tag == "DW_TAG_array_type" else None
                    further = int(index) * _size(die)
                offset, die = offset + further, _plain(die)
            return None if die is None else Spot(offset, _size(die), _kind(die))
        except DAMAGED:
            return None


def _member(struct: Any, name: str) -> tuple[int, Any]:
    """Offset and type of a member, also of one without a name's; (0, None) if there is none."""
    for die in struct.iter_children():
        if die.tag != "DW_TAG_member":
            continue
        place = die.attributes.get("DW_AT_data_member_location")
        offset = int(place.value) if place else 0
        if _name(die) == name:
            return offset, _type(die)
        inner = _plain(_type(die)) if not _name(die) else None
        if inner is not None and inner.tag in _STRUCTS:
            further, whole = _member(inner, name)
            if whole is not None:
                return offset + further, whole
    return 0, None


def _kind(die: Any) -> str:
    if die.tag == "DW_TAG_pointer_type":
        return "pointer"
    if die.tag == "DW_TAG_array_type":
        return "text" if _size(_type(die)) == 1 else "array"
    return "struct" if die.tag in _STRUCTS else "number"


def _size(die: Any) -> int:
    """The bytes of a type; 0 if nothing tells."""
    die = _plain(die)
    if die is None:
        return 0
    if "DW_AT_byte_size" in die.attributes:
        return int(die.attributes["DW_AT_byte_size"].value)
    if die.tag == "DW_TAG_pointer_type":
        return _POINTER_BYTES
    if die.tag != "DW_TAG_array_type":
        return 0
    count = 1
    for bound in die.iter_children():
        upper = bound.attributes.get("DW_AT_upper_bound") or bound.attributes.get("DW_AT_count")
        more = 1 if "DW_AT_upper_bound" in bound.attributes else 0
        count *= int(upper.value) + more if upper else 0
    return count * _size(_type(die))


def _is_whole(die: Any) -> bool:
    """Whether a type is told: a struct may be declared alone."""
    whole = _plain(die)
    return whole is not None and "DW_AT_declaration" not in whole.attributes


def _plain(die: Any) -> Any:
    """The type behind its other names; None of none."""
    while die is not None and die.tag in _ALIASES:
        die = _type(die)
    return die


def _type(die: Any) -> Any:
    return die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None


def _name(die: Any) -> str:
    name = die.attributes.get("DW_AT_name")
    return name.value.decode(errors="replace") if name else ""

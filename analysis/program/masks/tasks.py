"""The names of FreeRTOS's tasks, read from their control blocks as the program runs again."""

from __future__ import annotations

from typing import Any

import polars as pl

from analysis.explain.program import Program
from base.files.elf import DAMAGED
from simulator import run as simulator
from simulator.outputs import State
from simulator.program import UserProgram

_BLOCK = ("tskTaskControlBlock", "TCB_t")
_NAME = "pcTaskName"
# Of so many tasks names are read; more have their addresses.
_MOST = 64


def names(
    program: UserProgram, elf: Program, changes: pl.DataFrame, image: bytes | None = None
) -> dict[int, str]:
    """The name of each task that `changes` has, by the address of its control block.

    Each is read where the task is first seen. Empty where debug information does not tell where the
    name is.
    """
    seen = (
        changes.filter(pl.col("task").fill_null(0) != 0)
        .group_by("task", maintain_order=True)
        .agg(pl.col("cycle").first())
        .head(_MOST)
    )
    field = _field(elf) if seen.height else None
    if field is None:
        return {}
    cycles = seen["cycle"].to_list()
    states = simulator.run(program, until=max(cycles), image=image, states_at=cycles).states
    read = {task: _text(state, task, *field) for task, state in zip(seen["task"], states, strict=True)}
    return {task: name for task, name in read.items() if name}


def _text(state: State, task: int, offset: int, size: int) -> str:
    first = task + offset - state.sram_address
    name = state.sram[first : first + size].partition(b"\0")[0] if first >= 0 else b""
    return name.decode("ascii", errors="replace") if name.isascii() else ""


def _field(elf: Program) -> tuple[int, int] | None:
    """Offset and bytes of the name in a control block; None if nothing tells."""
    try:
        for unit in elf.dwarf.iter_CUs():
            for die in unit.get_top_DIE().iter_children():
                if die.tag == "DW_TAG_structure_type" and _name(die) in _BLOCK:
                    found = next((one for one in die.iter_children() if _name(one) == _NAME), None)
                    if found is not None:
                        return int(found.attributes["DW_AT_data_member_location"].value), _bytes(found)
    except DAMAGED:
        pass
    return None


def _bytes(member: Any) -> int:
    """The length of an array of characters: its upper bound and one."""
    array = member.get_DIE_from_attribute("DW_AT_type")
    bound = next(array.iter_children()).attributes["DW_AT_upper_bound"]
    return int(bound.value) + 1


def _name(die: Any) -> str:
    name = die.attributes.get("DW_AT_name")
    return name.value.decode(errors="replace") if name else ""

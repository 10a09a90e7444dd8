"""What one allocation and its free read of the heap: the loads that their sections execute.

The heap is small enough to be drawn. All allocators get the same operations, and the virtual board
says which addresses the code read, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import capstone
import capstone.arm

from analysis.explain.program import Program
from base import heap_size
from firmware.build import image as firmware
from scenarios.generator import Step
from scenarios.operations import Allocate, Free
from scenarios.plan import compile_steps
from scenarios.stimulus import Stimulus
from simulator import run as simulator
from simulator.outputs import State

LARGE = (120, 56, 152, 128, 24, 144, 104, 136, 40, 152, 88, 136, 200, 72, 128, 144)
"""Bytes of the blocks that are freed, in the order of their allocation."""
FREED = (12, 3, 8, 0, 14, 6, 10, 1, 15, 5, 2, 9, 13, 4, 11, 7)
"""The order in which they are freed: first the only one that the request fits into."""
FENCE_BYTES = 16
"""Behind each stands a block that stays, so that no two free ones merge."""
REQUEST_BYTES = 160

_QUIET = Stimulus("none", 0, 0)
_LONGEST = "2s"
# The first pulses of OP are common and calibration pulses (docs/reference/simulator-files.md).
_PULSES_BEFORE = 24
_SLOT_BYTES = 8
_LOADS = {"ldr": 4, "ldrd": 8, "ldrh": 2, "ldrb": 1, "ldrsh": 2, "ldrsb": 1}


@dataclass(frozen=True)
class Block:
    """`size` bytes, as many as were asked for, from `offset` on in the heap's region."""

    offset: int
    size: int


@dataclass(frozen=True)
class Search:
    """The searches of one allocator; offsets are bytes from the region's beginning.

    `live` and `free` are the blocks before the request, `served` the one that it got. `allocate`
    and `release` are the offsets that the two sections read, in order.
    """

    allocator: str
    live: Sequence[Block]
    free: Sequence[Block]
    served: Block
    allocate: Sequence[int]
    release: Sequence[int]


def steps() -> Iterator[Step]:
    """Pairs of a large block and a fence; the large ones are freed; then a request and its free."""
    for number, size in enumerate(LARGE):
        yield Step(Allocate(2 * number, size, measured=False), "setup")
        yield Step(Allocate(2 * number + 1, FENCE_BYTES, measured=False), "setup")
    for number in FREED:
        yield Step(Free(2 * number, measured=False), "setup")
    yield Step(Allocate(2 * len(LARGE), REQUEST_BYTES), "request")
    yield Step(Free(2 * len(LARGE)), "request")


def search(allocator: str) -> Search:
    """Runs the operations on the virtual board: once for the times, once to each section."""
    image = compile_steps("searches", {}, _QUIET, steps()).image
    elf = firmware.build(allocator).elf
    program = Program(elf)
    edges = simulator.run(elf, image=image, until=_LONGEST, edges=True).edges
    rises = edges.filter((edges["channel"] == "OP") & edges["level"])["cycle"].to_list()
    crit = edges.filter(edges["channel"] == "CRIT")["cycle"].to_list()
    operations = len(list(steps()))
    starts = rises[_PULSES_BEFORE : _PULSES_BEFORE + operations]
    request, release = (
        next((rise, fall) for rise, fall in pairwise(crit) if rise > start) for start in starts[-2:]
    )
    before, loads = _section(elf, image, request)
    after, loads_of_free = _section(elf, image, release)
    base = program.data_address("heap_region") or 0
    table = program.data_address("slots") or 0
    blocks = [_block(after, base, table, slot) for slot in range(2 * len(LARGE) + 1)]
    return Search(
        allocator,
        live=blocks[1::2],
        free=blocks[:-1:2],
        served=blocks[-1],
        allocate=_in_region(loads, base, before),
        release=_in_region(loads_of_free, base, after),
    )


def _section(elf: Path, image: bytes, section: tuple[int, int]) -> tuple[State, list[dict[str, Any]]]:
    """The machine as CRIT rises, and what is executed until it falls."""
    start, end = section
    run = simulator.run(elf, image=image, until=end, states_at=[start], trace_window=section)
    return run.states[0], run.trace


def _block(state: State, base: int, table: int, slot: int) -> Block:
    """A slot of the interpreter: where its block lies, or lay, and how large it is."""
    payload, size = (state.word(table + slot * _SLOT_BYTES + at) or 0 for at in (0, 4))
    return Block(payload - base, size)


def _in_region(trace: Sequence[Mapping[str, Any]], base: int, before: State) -> list[int]:
    """Offsets in the heap's region that were read, in order."""
    return [one - base for one in loads(trace, before) if base <= one < base + heap_size.DEFAULT_BYTES]


def loads(trace: Sequence[Mapping[str, Any]], before: State) -> Iterator[int]:
    """The addresses that the instructions of a trace read, by the registers before each.

    One counts only if its register then holds what lay there `before`. So a load whose condition
    failed is left out, and one of a word that the section itself had written.
    """
    registers = dict(before.registers)
    decoder = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    decoder.detail = True
    for entry in trace:
        if "opcode" not in entry:
            continue
        told = registers | {name: int(value, 16) for name, value in entry["registers"].items()}
        opcode = int(entry["opcode"], 16)
        halves = (opcode >> 16, opcode & 0xFFFF) if opcode > 0xFFFF else (opcode,)
        code = b"".join(half.to_bytes(2, "little") for half in halves)
        for instruction in decoder.disasm(code, int(entry["pc"], 16), 1):
            yield from _read(instruction, registers, told, before)
        registers = told


def _read(
    instruction: capstone.CsInsn, registers: Mapping[str, int], after: Mapping[str, int], before: State
) -> Iterator[int]:
    size = _LOADS.get(instruction.mnemonic.partition(".")[0])
    memory = next((one for one in instruction.operands if one.type == capstone.arm.ARM_OP_MEM), None)
    if size is None or memory is None or memory.mem.base == capstone.arm.ARM_REG_PC:
        return
    address = registers[_called(instruction, memory.mem.base)]
    if not instruction.post_index:
        index = registers[_called(instruction, memory.mem.index)] if memory.mem.index else 0
        address += (index << memory.shift.value) + memory.mem.disp
    held = after[_called(instruction, instruction.operands[0].reg)]
    there = address - before.sram_address
    bits = (1 << 8 * min(size, 4)) - 1
    if 0 <= there < len(before.sram):
        lay = int.from_bytes(before.sram[there : there + min(size, 4)], "little")
        if lay == held & bits:
            yield address


def _called(instruction: capstone.CsInsn, register: int) -> str:
    """A register as the virtual board calls it: r9 to r12 have other names for capstone."""
    name = str(instruction.reg_name(register))
    return {"sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12"}.get(name, name)

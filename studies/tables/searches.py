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

from analysis.explain.anatomy import loads
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
    end = base + heap_size.DEFAULT_BYTES
    return [load.address - base for load in loads(trace, before) if base <= load.address < end]

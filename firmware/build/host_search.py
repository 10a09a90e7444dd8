"""The search for an allocator's worst operations on this machine: builds and calls
heap/adversary/search.

The allocator is built of the sources that the firmware links, for 32 bits, over a region as large
as the board's, and counts the basic blocks that it executes.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from base import heap_size
from base.paths import COMPILED, ROOT
from firmware.build import catalogue, host_heap
from firmware.build.cmake_build import Build
from firmware.build.host_heap import HostHeapError

Goal = Literal["allocate", "free", "used"]
Ranking = Literal["ways", "scale"]

_SOURCE = ROOT / "firmware" / "heap" / "adversary"
_BUILDS = COMPILED / "heap-adversary"
_WITHIN_S = 600.0


@dataclass(frozen=True)
class Terms:
    """What a search looks for, and what every list of operations must keep to.

    `slots` and `live_bytes` limit the blocks that are live at one time or were refused: their
    number, and what they requested. Equal terms on one program give the same search.
    """

    goal: Goal
    seed: int
    operations: int
    slots: int
    live_bytes: int


@dataclass(frozen=True)
class Progress:
    """How far a search is: lists tried in all, the most that one cost, and its operations.

    The cost is in basic blocks of the dearest operation, or in used bytes.
    """

    lists: int
    cost: int
    operations: int


def build(allocator: str, goal: Goal) -> Path:
    """The program, built if it is not there. Raises HostHeapError, WriteError.

    For time its region has the board's address, for space that of `./lab heap fragmentation`: a
    multiple of its size. Where it begins decides what blocks a buddy system has at first.
    """
    if refusal := host_heap.objection(allocator, heap_size.DEFAULT_BYTES):
        raise HostHeapError(refusal)
    row = catalogue.row(allocator, HostHeapError)
    folder = _BUILDS / row.build_name
    named = row.definitions({**(row.knobs if row.source else {}), "HEAP_BYTES": heap_size.DEFAULT_BYTES})
    Build(f"The search on {allocator}", _SOURCE, folder, named).make_once()
    return folder / ("search" if goal == "used" else "search_on_board")


def digest(program: Path) -> str:
    """SHA-256 of a program that build() returned, in hexadecimal."""
    return hashlib.sha256(program.read_bytes()).hexdigest()


def breed(program: Path, state: Path, terms: Terms, lists: int) -> Progress:
    """Goes on until `lists` lists have been tried in all. `state` is made if it is not there, and
    replaced as a whole at the end. Raises HostHeapError.
    """
    limits = (terms.operations, terms.slots, terms.live_bytes)
    part = state.with_name(f"{state.name}.part")
    said = _call(program, "breed", state, part, terms.goal, terms.seed, lists, *limits)
    part.replace(state)
    return Progress(*map(int, said.split()))


def show(program: Path, state: Path, ranking: Ranking, rank: int) -> npt.NDArray[np.uint32] | None:
    """The operations of the `rank`th best list, up to its dearest, of shape (n, 4) as
    heap/host/trace.h has them: of lists that executed different basic blocks in it, or of lists of
    different scales. None if fewer are known. Raises HostHeapError.
    """
    with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
        output = Path(folder) / "operations"
        if not _call(program, "show", state, ranking, rank, output):
            return None
        return np.fromfile(output, dtype="<u4").reshape(-1, 4)


def _call(program: Path, *words: object) -> str:
    cannot = f"The search on {program.parent.name} cannot go on"
    return host_heap.call(program, *words, cannot=cannot, within_s=_WITHIN_S)

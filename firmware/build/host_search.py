"""The search for an allocator's worst operations on this machine: builds and calls
heap/adversary/search.

The allocator is built of the sources that the firmware links, for 32 bits, over a region as large
as the board's, and counts the basic blocks that it executes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from base import heap_size
from base.paths import COMPILED, ROOT
from firmware.build import host_heap
from firmware.build.cmake_build import Build

Goal = Literal["allocate", "free", "used"]
Ranking = Literal["ways", "scale"]

_SOURCE = ROOT / "firmware" / "heap" / "adversary"
_BUILDS = COMPILED / "heap-adversary"
_WITHIN_S = 600.0


class Progress(NamedTuple):
    """How far a search is: lists tried in all, and the most that one cost.

    The cost is in basic blocks of the dearest operation, or in used bytes.
    """

    lists: int
    cost: int


def build(allocator: str, goal: Goal) -> Path:
    """The program, built if it is not there. Raises HostHeapError, WriteError.

    For time its region has the board's address, for space that of `./lab heap fragmentation`: a
    multiple of its size. Where it begins decides what blocks a buddy system has at first.
    """
    row = host_heap.able(allocator, heap_size.DEFAULT_BYTES)
    folder = _BUILDS / row.build_name
    named = row.definitions({**(row.knobs if row.source else {}), "HEAP_BYTES": heap_size.DEFAULT_BYTES})
    Build(f"The search on {allocator}", _SOURCE, folder, named).make_once()
    return folder / ("search" if goal == "used" else "search_on_board")


def breed(program: Path, state: Path, goal: Goal, seed: int, lists: int, *limits: int) -> Progress:
    """Goes on until `lists` lists have been tried in all. `state` is made if it is not there, and
    replaced as a whole at the end. Raises HostHeapError.

    `limits` are those of every list: its operations, and of the blocks that are live at one time or
    were refused their number and the bytes that they requested. Equal words on one program give the
    same search.
    """
    part = state.with_name(f"{state.name}.part")
    said = _call(program, "breed", state, part, goal, seed, lists, *limits)
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

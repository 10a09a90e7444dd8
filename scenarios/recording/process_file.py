"""What the recorder left of one process (shim/recording_file.h), as the lines of a trace.

The file lay open to the program, which may have written anywhere. Nothing in it is trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MOST_OPERATIONS = 4_194_304
"""As many as a trace may have (docs/how-to/traces.md). A reallocation takes two records."""

MAGIC = 0x314D454854534C54
_HEAD = np.dtype(
    [("magic", "<u8"), ("capacity", "<u8"), ("claimed", "<u8"), ("process", "<u4"), ("parent", "<u4")]
)
_HEAD_BYTES = 4096
_PROGRAM = slice(_HEAD.itemsize, _HEAD.itemsize + 1024)
_RECORD = np.dtype(
    [
        *(("block", "<u8"), ("size", "<u8"), ("origin", "<u4")),
        *(("alignment_log2", "u1"), ("reserved", "u1", 2), ("kind", "u1")),
    ]
)
_ALLOCATED, _FREEING, _MOVING, _MOVED = 1, 2, 3, 4
_LARGEST = 0xFFFF_FFFF
_PIECE = 65_536


@dataclass(frozen=True)
class ProcessFile:
    """One address space: a process from its start or its exec on, or the child of a fork.

    `recorded` of `claimed` records have a place in the file; `program` is the executable's path.
    """

    path: Path
    process: int
    program: str
    claimed: int
    recorded: int


def open_file(path: Path) -> ProcessFile | None:
    """The head of the file; None where the recorder could not begin, or it is damaged."""
    try:
        with path.open("rb") as file:
            page = file.read(_HEAD_BYTES)
        room = (path.stat().st_size - _HEAD_BYTES) // _RECORD.itemsize
    except OSError:
        return None
    if len(page) < _HEAD_BYTES:
        return None
    head = np.frombuffer(page, dtype=_HEAD, count=1)[0]
    if head["magic"] != MAGIC or head["capacity"] != room:
        return None
    program = page[_PROGRAM].partition(b"\0")[0].decode(errors="backslashreplace")
    claimed = int(head["claimed"])
    return ProcessFile(path, int(head["process"]), program, claimed, min(claimed, room))


@dataclass
class Account:
    """What was met on the way through a file."""

    operations: int = 0
    peak_bytes: int = 0
    peak_blocks: int = 0
    inherited: int = 0
    """Frees of blocks that others allocated: its parent, or the loader before the recorder."""
    unseen_frees: int = 0
    """Blocks whose place was allocated again without a free: something else freed them."""
    too_large: int = 0
    """Allocations above 4 GiB, which no line can hold."""
    unfinished: int = 0
    """Records that a thread claimed and did not write before it was ended."""


@dataclass
class Conversion:
    """Turns records into lines. `account` is complete once `lines` is through.

    Blocks are numbered from 1 in the order of their allocations, so that equal programs give equal
    traces wherever their heap lies.
    """

    of: ProcessFile
    account: Account = field(default_factory=Account)
    _at: dict[int, int] = field(default_factory=dict)  # address: number
    _moving: dict[int, tuple[int, int]] = field(default_factory=dict)  # record: address, number
    _sizes: dict[int, int] = field(default_factory=dict)  # number: bytes
    _live_bytes: int = 0
    _last: int = 0

    def lines(self) -> Iterator[str]:
        """The lines of the trace, in an order that could have been."""
        for number, block, size, origin, alignment_log2, kind in self._records():
            if kind == _ALLOCATED:
                yield from self._allocated(block, size, alignment_log2)
            elif kind == _FREEING:
                yield from self._freed(self._at.pop(block, None))
            elif kind == _MOVING:
                # The block keeps its number, and its old place may be another's from here on.
                if block in self._at:
                    self._moving[number] = block, self._at.pop(block)
            elif kind == _MOVED:
                yield from self._moved(block, size, origin)
            else:
                self.account.unfinished += 1

    def _records(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        with self.of.path.open("rb") as file:
            file.seek(_HEAD_BYTES)
            for first in range(0, self.of.recorded, _PIECE):
                count = min(_PIECE, self.of.recorded - first)
                piece = np.frombuffer(file.read(count * _RECORD.itemsize), dtype=_RECORD)
                columns = (piece[name].tolist() for name in ("block", "size", "origin"))
                flags = (piece[name].tolist() for name in ("alignment_log2", "kind"))
                yield from zip(range(first, first + count), *columns, *flags, strict=False)

    def _allocated(self, block: int, size: int, alignment_log2: int) -> Iterator[str]:
        if size > _LARGEST:
            self.account.too_large += 1
            return
        if (before := self._at.pop(block, None)) is not None:
            self.account.unseen_frees += 1
            yield from self._freed(before)
        self._last += 1
        self._at[block] = self._last
        self._count(self._last, max(size, 1))
        alignment = f",{1 << alignment_log2}" if 0 < alignment_log2 < 32 else ""
        yield f"a,{self._last},{max(size, 1)}{alignment}"

    def _freed(self, number: int | None) -> Iterator[str]:
        if number is None:
            self.account.inherited += 1
            return
        self.account.operations += 1
        self._live_bytes -= self._sizes.pop(number)
        yield f"f,{number}"

    def _moved(self, block: int, size: int, origin: int) -> Iterator[str]:
        before, number = self._moving.pop(origin, (0, 0))
        if number == 0:  # inherited, and from here on its own
            if block:
                yield from self._allocated(block, size, 0)
        elif block == 0 and size:  # refused
            self._at.setdefault(before, number)
        elif block == 0:  # glibc frees then
            yield from self._freed(number)
        elif size > _LARGEST:
            self.account.too_large += 1
            yield from self._freed(number)
        else:
            yield from self._resized(number, block, size)

    def _resized(self, number: int, block: int, size: int) -> Iterator[str]:
        if (before := self._at.pop(block, None)) is not None:
            self.account.unseen_frees += 1
            yield from self._freed(before)
        self._at[block] = number
        self._live_bytes -= self._sizes[number]
        self._count(number, max(size, 1))
        yield f"r,{number},{max(size, 1)}"

    def _count(self, number: int, size: int) -> None:
        account = self.account
        self._sizes[number] = size
        self._live_bytes += size
        account.operations += 1
        account.peak_bytes = max(account.peak_bytes, self._live_bytes)
        account.peak_blocks = max(account.peak_blocks, len(self._sizes))

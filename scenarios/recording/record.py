"""Runs a command with the recorder in front of its malloc, and writes what it asked of its heap.

What the recorder leaves of a process (shim/recording_file.h) lay open to the program, which may
have written anywhere. Nothing in it is trusted.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from base.files.complaints import quoted
from base.files.whole import why, write_whole
from base.processes import children
from scenarios.errors import RecordingError
from scenarios.recording import recorder
from scenarios.trace import MOST_OPERATIONS

MOST_PROCESSES = 256
_WORDS_SHOWN = 120
# glibc's loader takes both for the end of a name in LD_PRELOAD.
_PARTING = " :"


@dataclass(frozen=True)
class Written:
    """The trace of one process, and where it is."""

    process: ProcessFile
    account: Account
    path: Path


@dataclass(frozen=True)
class Recorded:
    """What came of a command.

    `written` is the process that used its heap most. `others` are those that were recorded and not
    written, `not_opened` counts those that could not be recorded.
    """

    exit_status: int
    written: Written
    others: tuple[ProcessFile, ...]
    not_opened: int


def record(command: Sequence[str], output: Path, *, most: int = MOST_OPERATIONS) -> Recorded:
    """Runs `command`, and writes the trace of its busiest process to `output`.

    `most` is how many records a process has room for. Raises RecordingError, also where nothing
    could be recorded, and WriteError.
    """
    library = recorder.build()
    if shutil.which(command[0]) is None:
        raise RecordingError(f"There is no command {quoted(command[0])}; check its name, or give its path.")
    with tempfile.TemporaryDirectory(prefix="tailscope-record-") as name:
        folder = Path(name)
        preloaded = Path(shutil.copy(library, folder / "recorder.so"))
        status = _run(command, preloaded, folder, most)
        files = sorted((path for path in folder.iterdir() if path.name.isdigit()), key=lambda p: int(p.name))
        processes = [process for process in map(open_file, files) if process is not None]
        busiest = max(processes, key=lambda process: process.recorded, default=None)
        if busiest is None or not busiest.recorded:
            raise RecordingError(
                f"Nothing was recorded of {quoted(command[0])}. It called no malloc that can be seen, as a "
                "program that is statically linked, setuid, for another machine, or with an allocator or a C "
                "library of its own; or there is no room on the disk for temporary files or in ulimit."
            )
        written = _write(busiest, output, command)
    others = tuple(process for process in processes if process is not busiest)
    return Recorded(status, written, others, len(files) - len(processes))


def _run(command: Sequence[str], library: Path, folder: Path, most: int) -> int:
    if any(character in str(library) for character in _PARTING):
        raise RecordingError(
            f"The folder for temporary files, {folder.parent}, has a space or a colon in its name, which "
            "the loader cannot take; set TMPDIR to another."
        )
    before = os.environ.get("LD_PRELOAD")
    preload = f"LD_PRELOAD={library}" + (f":{before}" if before else "")
    shim = (preload, f"TAILSCOPE_RECORD_FOLDER={folder}", f"TAILSCOPE_RECORD_MOST={most}")
    try:
        # env(1) and what stands before it must not be recorded themselves.
        return children.attend(["env", *shim, *command])
    except OSError as error:
        raise RecordingError(f"{quoted(command[0])} did not start: {why(error)}.") from None


def _write(process: ProcessFile, path: Path, command: Sequence[str]) -> Written:
    conversion = Conversion(process)

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in _head(process, command))
            file.writelines(f"{line}\n" for line in conversion.lines())

    write_whole(path, write)
    return Written(process, conversion.account, path)


def _head(process: ProcessFile, command: Sequence[str]) -> Iterator[str]:
    words = shlex.join(command)
    shown = words if len(words) <= _WORDS_SHOWN else f"{words[:_WORDS_SHOWN]}…"
    yield f"# What {_printable(Path(process.program).name)} asked of its heap in: {_printable(shown)}"


def _printable(text: str) -> str:
    """Without line ends and other controls, and without halves of characters."""
    return "".join(c if c.isprintable() else "?" for c in text.encode(errors="replace").decode())


def sentences(recorded: Recorded) -> Iterator[str]:
    """What to tell of it, a sentence each: first what was written, then what is missing."""
    account, process = recorded.written.account, recorded.written.process
    name = _printable(Path(process.program).name)
    yield (
        f"{recorded.written.path}: {account.operations:,} operations of {name}, at most "
        f"{account.peak_bytes:,} bytes live in {account.peak_blocks:,} blocks."
    )
    if process.claimed > process.recorded:
        yield (
            f"It ends early: of {process.claimed:,} records the first {process.recorded:,} are kept; "
            "--most says how many."
        )
    if account.left_out:
        yield (
            f"Calls left out: {account.left_out:,}, of blocks that the process had not allocated itself, of "
            "more than 4 GiB, or cut off by its end."
        )
    if account.unseen_frees:
        yield f"Blocks freed otherwise than by free, as their place shows: {account.unseen_frees:,}."
    if recorded.others or recorded.not_opened:
        names = sorted({Path(process.program).name or "unknown" for process in recorded.others})
        yield (
            f"Other processes, whose traces are not kept: {len(recorded.others)} "
            f"({_printable(', '.join(names[:8]))}), and {recorded.not_opened} without room; at most "
            f"{MOST_PROCESSES} are recorded."
        )


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
    left_out: int = 0
    """Of blocks that others allocated, its parent or the loader before the recorder; above 4 GiB,
    which no line can hold; or claimed by a thread that was ended before it wrote."""
    unseen_frees: int = 0
    """Blocks whose place was allocated again without a free: something else freed them."""


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
                self.account.left_out += 1

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
            self.account.left_out += 1
            return
        yield from self._vacated(block)
        self._last += 1
        alignment = f",{1 << alignment_log2}" if 0 < alignment_log2 < 32 else ""
        yield f"a,{self._last},{self._placed(self._last, block, size)}{alignment}"

    def _vacated(self, block: int) -> Iterator[str]:
        if (before := self._at.pop(block, None)) is not None:
            self.account.unseen_frees += 1
            yield from self._freed(before)

    def _placed(self, number: int, block: int, size: int) -> int:
        """Counts the block where it lies now; returns its bytes."""
        account = self.account
        self._at[block] = number
        self._live_bytes += max(size, 1) - self._sizes.get(number, 0)
        self._sizes[number] = max(size, 1)
        account.operations += 1
        account.peak_bytes = max(account.peak_bytes, self._live_bytes)
        account.peak_blocks = max(account.peak_blocks, len(self._sizes))
        return max(size, 1)

    def _freed(self, number: int | None) -> Iterator[str]:
        if number is None:
            self.account.left_out += 1
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
            self.account.left_out += 1
            yield from self._freed(number)
        else:
            yield from self._vacated(block)
            yield f"r,{number},{self._placed(number, block, size)}"

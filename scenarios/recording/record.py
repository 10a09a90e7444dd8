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

    `written` begins with the process that used its heap most. `others` are those that were
    recorded and not written, `not_opened` counts those that could not be recorded.
    """

    exit_status: int
    written: tuple[Written, ...]
    others: tuple[ProcessFile, ...]
    not_opened: int


def record(
    command: Sequence[str], output: Path, *, every: bool = False, most: int = MOST_OPERATIONS
) -> Recorded:
    """Runs `command`, and writes the trace of its busiest process to `output`.

    With `every` the other processes' go beside it, numbered in the order in which they began.
    `most` is how many records a process has room for. Raises RecordingError, also where nothing
    could be recorded, and WriteError.
    """
    library = recorder.build()
    recorder.check(command[0], library)
    with tempfile.TemporaryDirectory(prefix="tailscope-record-") as name:
        folder = Path(name)
        preloaded = Path(shutil.copy(library, folder / "recorder.so"))
        status = _run(command, preloaded, folder, most)
        files = sorted((path for path in folder.iterdir() if path.name.isdigit()), key=lambda p: int(p.name))
        processes = [process for process in map(open_file, files) if process is not None]
        if not processes:
            raise RecordingError(_why_nothing(command, len(files)))
        order = sorted(processes, key=lambda process: -process.recorded)
        chosen = order if every else order[:1]
        written = [
            _write(process, _numbered(output, files.index(process.path) + 1 if rank else 0), command)
            for rank, process in enumerate(chosen)
            if process.recorded
        ]
    if not written:
        raise RecordingError(_why_nothing(command, 0))
    return Recorded(status, tuple(written), tuple(order[len(chosen) :]), len(files) - len(processes))


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


def _why_nothing(command: Sequence[str], not_opened: int) -> str:
    if not_opened:
        return (
            f"Nothing was recorded of {quoted(command[0])}: there is no room for the recording, on the disk "
            "for temporary files or within the limits of ulimit; make room, or lower --most."
        )
    return (
        f"Nothing was recorded: {quoted(command[0])} never called malloc; it has an allocator of its own, "
        "or another C library than the recorder's."
    )


def _numbered(output: Path, number: int) -> Path:
    return output.with_name(f"{output.stem}.{number}{output.suffix}") if number else output


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
    for written in recorded.written:
        yield from _of_one(written)
    if recorded.others:
        names = sorted({Path(process.program).name or "unknown" for process in recorded.others})
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        yield (
            f"Other processes that were recorded: {len(recorded.others)} ({_printable(shown)}); "
            "--every writes their traces beside it."
        )
    total = len(recorded.written) + len(recorded.others) + recorded.not_opened
    if recorded.not_opened:
        yield f"Processes without room for their recording: {recorded.not_opened}."
    if total >= MOST_PROCESSES:
        yield f"No more than {MOST_PROCESSES} processes are recorded; later ones are missing."


def _of_one(written: Written) -> Iterator[str]:
    account, process = written.account, written.process
    name = _printable(Path(process.program).name)
    yield (
        f"{written.path}: {account.operations:,} operations of {name}, at most {account.peak_bytes:,} bytes "
        f"live in {account.peak_blocks:,} blocks."
    )
    if process.claimed > process.recorded:
        yield (
            f"It ends early: of {process.claimed:,} records the first {process.recorded:,} are kept; "
            "--most says how many."
        )
    if account.too_large:
        yield f"Blocks of more than 4 GiB, left out: {account.too_large:,}."
    if account.inherited:
        yield (
            f"Frees left out: {account.inherited:,}, of blocks that the process had not allocated itself, "
            "but its parent before the fork, or the loader before the recorder was there."
        )
    if account.unseen_frees:
        yield f"Blocks freed otherwise than by free, as their place shows: {account.unseen_frees:,}."
    if account.unfinished:
        yield f"Calls that the end of the process cut off: {account.unfinished:,}."


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

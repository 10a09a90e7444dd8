"""Runs a command with the recorder in front of its malloc, and writes what it asked of its heap."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from base.files.complaints import quoted
from base.files.whole import why, write_whole
from base.processes import children
from scenarios.errors import RecordingError
from scenarios.recording import recorder
from scenarios.recording.process_file import MOST_OPERATIONS, Account, Conversion, ProcessFile, open_file

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

"""Runs a command with glibc's mtrace(3) switched on (recorder.c), and writes what its busiest
process asked of its heap.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from base.files.complaints import quoted
from base.files.locks import taking_turns
from base.files.whole import why, write_bytes, write_whole
from base.paths import COMPILED
from base.processes import children
from scenarios.errors import RecordingError
from scenarios.recording import logs

_SOURCE = Path(__file__).with_name("recorder.c")
_BUILDS = COMPILED / "recorder"
_FLAGS = ("-std=gnu11", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow")
_WITHIN_S = 120.0
_WORDS_SHOWN = 120
# glibc's loader takes both for the end of a name in LD_PRELOAD.
_PARTING = " :"


def build() -> Path:
    """The library, built if this source has not been yet. Raises RecordingError, WriteError."""
    library = _BUILDS / f"recorder-{hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]}.so"
    with taking_turns(_BUILDS):
        if not library.exists():
            write_whole(library, _compile)
    return library


def _compile(output: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        raise RecordingError("There is no C compiler, cc, on the PATH: install the Debian package gcc.")
    try:
        done = children.run([compiler, *_FLAGS, _SOURCE, "-o", output], within_s=_WITHIN_S)
    except subprocess.TimeoutExpired:
        raise RecordingError(f"{compiler} did not end within {_WITHIN_S:g} s; run it again.") from None
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["nothing"])[0]
        raise RecordingError(f"{compiler} cannot build the recorder; it said: {said}")


@dataclass(frozen=True)
class Recorded:
    """What came of a command: the trace of the process that used its heap most, which is called
    `program`; and how many `others` there were.
    """

    exit_status: int
    path: Path
    program: str
    trace: logs.LogTrace
    others: int


def record(command: Sequence[str], output: Path) -> Recorded:
    """Runs `command`, and writes the trace of its busiest process to `output`.

    Raises RecordingError, also where nothing could be recorded, and WriteError.
    """
    library = build()
    if shutil.which(command[0]) is None:
        raise RecordingError(f"There is no command {quoted(command[0])}; check its name, or give its path.")
    with tempfile.TemporaryDirectory(prefix="tailscope-record-") as name:
        folder = Path(name)
        if any(character in f"{library}{folder}" for character in _PARTING):
            raise RecordingError(
                f"{library} or {folder} has a space or a colon in its name, which the loader cannot take; "
                "set TMPDIR to another folder."
            )
        before = os.environ.get("LD_PRELOAD")
        preload = f"LD_PRELOAD=libc_malloc_debug.so.0:{library}" + (f":{before}" if before else "")
        try:
            # env(1) and what stands before it must not be recorded themselves.
            status = children.attend(["env", preload, f"TAILSCOPE_RECORD_FOLDER={folder}", *command])
        except OSError as error:
            raise RecordingError(f"{quoted(command[0])} did not start: {why(error)}.") from None
        files = sorted(folder.iterdir(), key=lambda path: (-path.stat().st_size, path.name))
        try:
            with files[0].open("rb") as file:
                trace = logs.convert(file.read(logs.MOST_BYTES))
        except (IndexError, OSError, RecordingError):
            raise RecordingError(
                f"Nothing was recorded of {quoted(command[0])}. It called no malloc that can be seen, as a "
                "program that is statically linked, setuid, for another machine, or with an allocator or a C "
                "library of its own."
            ) from None
    program = files[0].name.rsplit(".", 2)[0]
    words = shlex.join(command)
    shown = words if len(words) <= _WORDS_SHOWN else f"{words[:_WORDS_SHOWN]}…"
    head = "".join(
        character if character.isprintable() else "?"
        for character in f"# What {program} asked of its heap in: {shown}".encode(errors="replace").decode()
    )
    write_bytes(output, "".join(f"{line}\n" for line in (head, *trace.lines)).encode())
    return Recorded(status, output, program, trace, len(files) - 1)


def sentences(recorded: Recorded) -> Iterator[str]:
    """What to tell of it, a sentence each: first what was written, then what is missing."""
    yield f"{recorded.path}: {len(recorded.trace.lines):,} operations of {recorded.program}."
    if recorded.others:
        yield f"Other processes, whose traces are not kept: {recorded.others:,}."
    if recorded.trace.defects:
        yield (
            f"Calls left out: {len(recorded.trace.defects):,}, of blocks from before the recording "
            "began, or cut off by the end of the process."
        )

"""A process of the virtual Nucleo: one that serves, or the run of a program to its end."""

from __future__ import annotations

import os
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from base.processes import children, signals
from simulator.build import NAME, SimulatorError, build
from simulator.run import MOST_S, STRICT, said

LISTENING_TIMEOUT_S = 20.0
CLOSING_TIMEOUT_S = 5.0
_LINE_MOST_BYTES = 64 << 10


class ServingProcess:
    """The virtual Nucleo as a server. A context manager, whose subclasses say what it serves.

    `program` stands in for the one that is built. Under `options` that are not STRICT it notes what
    is odd.

    Entering it starts the process and waits until it says where it listens. Leaving it ends the
    process. The process also exits when its standard input closes, so that even a bench that is
    killed leaves none behind.
    """

    _name = NAME
    """The program that is built (simulator.build)."""

    def __init__(self, program: Path | None, options: Sequence[str]) -> None:
        self._program = program
        self._noted = tuple(options) != STRICT
        self._opened = ExitStack()

    def _arguments(self) -> Sequence[str | Path]:
        """The command line without the program; `_folder` is there for its files."""
        raise NotImplementedError

    @property
    def notes_file(self) -> Path:
        """What the program did that is odd (outputs.read_notes)."""
        return self._folder / "notes.json"

    @property
    def _note_arguments(self) -> list[str | Path]:
        return ["--notes", self.notes_file] if self._noted else []

    def _take(self, line: str) -> None:
        """Takes what the process says first. Raises ValueError, KeyError or TypeError."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            with signals.orderly():
                self._folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="tailscope-")))
                self._stderr = opened.enter_context(tempfile.TemporaryFile("w+", errors="replace"))
                self.process = self._started()
                opened.callback(self._end)
                self._listen()
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def status(self) -> int | None:
        """None while the process runs; then its exit status, negative for a signal."""
        return self.process.poll()

    def words(self) -> str:
        """What it has said on stderr so far, on one line; nothing if all is well."""
        return " ".join(self._said().split())

    def _said(self) -> str:
        self._stderr.flush()
        self._stderr.seek(0)
        return self._stderr.read()

    def _started(self) -> subprocess.Popen[bytes]:
        command = [self._program or build(name=self._name), *self._arguments()]
        try:
            # A session of its own, so that Ctrl-C at the terminal reaches the bench alone.
            return subprocess.Popen(
                [*children.DIES_WITH_US, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,
            )
        except OSError as error:
            words = f"The virtual Nucleo does not start ({error}); run ./lab dev build."
            raise SimulatorError(words) from None

    def _listen(self) -> None:
        line = self._first_line()
        try:
            self._take(line)
        except (ValueError, KeyError, TypeError):
            words = said(self._said()) if self.words() else line.strip() or "it says nothing"
            raise SimulatorError(f"The virtual Nucleo does not start: {words.rstrip('.')}.") from None

    def _first_line(self) -> str:
        """What it says first, as far as it came before the program ended or said too much."""
        assert self.process.stdout
        descriptor = self.process.stdout.fileno()
        deadline_s = time.monotonic() + LISTENING_TIMEOUT_S
        said = bytearray()
        while b"\n" not in said and len(said) < _LINE_MOST_BYTES:
            signals.check()
            if time.monotonic() >= deadline_s:
                raise SimulatorError(
                    f"The virtual Nucleo did not listen within {LISTENING_TIMEOUT_S:g} s; run again."
                )
            if select.select([descriptor], [], [], signals.POLL_S)[0]:
                piece = os.read(descriptor, _LINE_MOST_BYTES)
                if not piece:
                    break
                said += piece
        return said.decode(errors="replace")

    def _end(self) -> None:
        """Closes the input of the process, which asks it to end. If it does not end, kills it."""
        assert self.process.stdin and self.process.stdout
        with suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(CLOSING_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(CLOSING_TIMEOUT_S)
        self.process.stdout.close()


def run_to_end(command: Sequence[str | Path], stats: Path) -> str:
    """Runs the command in the folder of `stats`, the file that it writes if it ran at all.

    Returns why it ended early, in the simulator's words; an empty string if it did not. Raises
    SimulatorError if the program cannot run.
    """
    try:
        done = children.run(command, within_s=MOST_S, folder=stats.parent)
    except subprocess.TimeoutExpired:
        raise SimulatorError(
            f"The virtual Nucleo did not end within {MOST_S:g} s and was ended; ask for less with --until."
        ) from None
    if done.returncode < 0:
        raise SimulatorError(f"The virtual Nucleo was killed by signal {-done.returncode}; run again.")
    if done.returncode == 0:
        return ""
    words = said(done.stderr)
    if not stats.exists():
        raise SimulatorError(f"The virtual Nucleo cannot run this: {words.rstrip('.')}.")
    return words

"""A virtual Nucleo on the desk, in a process of its own: `virtual-nucleo serve`."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from capture.processes import children, signals
from simulator.build import SimulatorError, build
from simulator.run import count_arguments, image_argument

LISTENING_TIMEOUT_S = 20.0
CLOSING_TIMEOUT_S = 5.0
_LINE_MOST_BYTES = 64 << 10


class Served:
    """A board that simulates from reset as soon as a capture starts. A context manager.

    Entering it starts the process and waits until it listens. Then `analyzer` and `probe` are
    HOST:PORT (`probe` is empty if none was asked for), and `uart` is what pySerial opens. Leaving
    it ends the process. The process also exits when its standard input closes, so that even a bench
    that is killed leaves none behind.

    `image` lies at IMAGE_ADDRESS. `uart` is pty or tcp. `probe` asks for a debug probe. `start` is
    get, which waits for the capture, or now. `counts` and `count_window` are those of run.run();
    `instructions_while` is a channel while which all instructions are counted, too. `flash_acr` is
    that of run.run().
    `program` stands in for the one that is built. Entering raises BuildError, and SimulatorError if
    the process does not listen.
    """

    analyzer: str
    uart: str
    probe: str

    def __init__(
        self,
        elf: Path,
        *,
        image: bytes | None = None,
        uart: str = "pty",
        probe: bool = False,
        start: str = "get",
        counts: Mapping[str, str] | None = None,
        count_window: str = "",
        instructions_while: str = "",
        flash_acr: int | None = None,
        program: Path | None = None,
    ) -> None:
        self._elf = elf
        self._image = image
        self._options = ["--uart", "pty" if uart == "pty" else "tcp:0", "--start", start]
        self._options += ["--probe", "0"] if probe else []
        self._options += [] if flash_acr is None else ["--flash-acr", f"{flash_acr:#x}"]
        self._probed = probe
        self._counted = (counts or {}, count_window)
        self._instructions_while = instructions_while
        self._program = program
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            with signals.orderly():
                self._folder = Path(
                    opened.enter_context(tempfile.TemporaryDirectory(prefix="tailscope-served-"))
                )
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
        self._stderr.flush()
        self._stderr.seek(0)
        return " ".join(self._stderr.read().split())

    def windows(self) -> bytes:
        """The counts so far (outputs.read_windows). A row is there before its record is."""
        return self._table.read_bytes()

    @property
    def _table(self) -> Path:
        return self._folder / "windows.csv"

    def _started(self) -> subprocess.Popen[bytes]:
        command: list[str | Path] = [self._program or build(), "serve", self._elf, *self._options]
        if self._image is not None:
            file = self._folder / "operations.bin"
            file.write_bytes(self._image)
            command += ["--image", image_argument(file)]
        command += count_arguments(*self._counted, self._table, self._instructions_while)
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
            raise SimulatorError(f"The virtual Nucleo does not start ({error}); run ./lab build.") from None

    def _listen(self) -> None:
        line = self._first_line()
        try:
            addresses = json.loads(line)
            self.analyzer, self.uart = str(addresses["analyzer"]), str(addresses["uart"])
            self.probe = str(addresses["probe"]) if self._probed else ""
        except (ValueError, KeyError, TypeError):
            raise SimulatorError(
                f"The virtual Nucleo does not start: {self.words() or line.strip() or 'it says nothing'}."
            ) from None

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

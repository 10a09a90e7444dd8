"""A virtual Nucleo on the desk, in a process of its own: `virtual-nucleo serve`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from simulator.outputs import Note, read_notes
from simulator.process import ServingProcess
from simulator.run import STRICT, count_arguments, image_argument


class Served(ServingProcess):
    """A board that simulates from reset as soon as a capture starts. A context manager.

    Entering it starts the process and waits until it listens. Then `analyzer` and `probe` are
    HOST:PORT (`probe` is empty if none was asked for), and `uart` is what pySerial opens. Leaving
    it ends the process. The process also exits when its standard input closes, so that even a bench
    that is killed leaves none behind.

    `image` lies where the firmware looks for it. `uart` is pty or tcp. `probe` asks for a debug
    probe. `start` is get, which waits for the capture, or now. `counts` and `count_window` are
    those of run.run(); `instructions_while` is a channel while which all instructions are counted,
    too. `clips` changes what the analyzer's inputs are clipped to, as in `D0=PA9,D3=open`.
    `flash_acr` is that of run.run(). `options` are further words of the command line; without any
    the firmware is the bench's own, and stops at whatever is odd. `program` stands in for the one
    that is built. Entering raises BuildError, and SimulatorError if the process does not listen.
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
        clips: str = "",
        flash_acr: int | None = None,
        options: Sequence[str] = STRICT,
        program: Path | None = None,
    ) -> None:
        super().__init__(program, options)
        self._elf = elf
        self._image = image
        self._options = [*options, "--uart", "pty" if uart == "pty" else "tcp:0", "--start", start]
        self._options += ["--probe", "0"] if probe else []
        self._options += ["--clips", clips] if clips else []
        self._options += [] if flash_acr is None else ["--flash-acr", f"{flash_acr:#x}"]
        self._probed = probe
        self._counted = (counts or {}, count_window)
        self._instructions_while = instructions_while

    def windows(self) -> bytes:
        """The counts so far (outputs.read_windows). A row is there before its record is."""
        return self._table.read_bytes()

    def notes(self) -> tuple[Note, ...]:
        """What the program did so far that is odd and did not stop it."""
        return read_notes(self.notes_file)

    @property
    def _table(self) -> Path:
        return self._folder / "windows.csv"

    def _arguments(self) -> list[str | Path]:
        arguments: list[str | Path] = ["serve", self._elf, *self._options, *self._note_arguments]
        if self._image is not None:
            file = self._folder / "operations.bin"
            file.write_bytes(self._image)
            arguments += ["--image", image_argument(file, self._elf)]
        return arguments + list(count_arguments(*self._counted, self._table, self._instructions_while))

    def _take(self, line: str) -> None:
        addresses = json.loads(line)
        self.analyzer, self.uart = str(addresses["analyzer"]), str(addresses["uart"])
        self.probe = str(addresses["probe"]) if self._probed else ""

"""A Nucleo on the desk: flashed by pyOCD, heard through its ST-Link's serial port."""

from __future__ import annotations

import importlib.metadata
import os
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from capture.desk.bench import BoardResource
from capture.desk.board import Connections, Resetter
from capture.desk.pyocd import ProbeAddress, Pyocd, post_mortem
from capture.desk.serial_ports import is_usb_id, resolve
from scenarios.operations import IMAGE_ADDRESS
from simulator.outputs import note_sentences, read_notes

NOTES = "TAILSCOPE_NOTES"
"""In the environment of a program that sees emulated devices: the file of the board's notes."""


class NucleoBoard:
    """The firmware is loaded with the core halted, and started by the reset pin.

    The pin is used because a reset through the core's debug port ends with pyOCD clearing
    DEMCR.TRCENA, which would stop DWT_CYCCNT after the firmware has armed it.
    """

    counter = None  # the chip has no counter of executions

    def __init__(self, resource: BoardResource) -> None:
        self._resource = resource
        self._probe = ProbeAddress(resource.loader.probe, resource.loader.target)
        self._pyocd = Pyocd(self._probe)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to close: each call of pyOCD is a process that has ended."""

    def load(self, elf: Path | None, image: bytes) -> Connections:
        """Flashes both and leaves the core halted; the connections are those of bench.toml."""
        if elf is None:
            return self._connections("")
        if image:
            self._load_both(elf, image)
        else:
            self._pyocd.load(elf)
        named = self._resource.serial_port
        find = partial(resolve, named, self._probe.unique_id)
        return self._connections(find(), find if is_usb_id(named) else None)

    def _connections(self, port: str, find: Callable[[], str] | None = None) -> Connections:
        return Connections(port, self._resource.analyzer.connection or None, self._probe, find)

    def _load_both(self, elf: Path, image: bytes) -> None:
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            file = Path(folder) / "operations.bin"
            file.write_bytes(image)
            self._pyocd.load(elf, (file, IMAGE_ADDRESS))

    def resetter(self, debugger: Resetter | None) -> Resetter:
        """The debugger that holds the probe, or else a pyOCD of our own."""
        return debugger or self._pyocd

    def ended(self) -> bool:
        """Never: from here a dead board cannot be told from a silent one."""
        return False

    def problems(self) -> tuple[str, ...]:
        """None: pyOCD's failures are raised, and a dead board leaves a run without an end frame."""
        return ()

    def oddities(self) -> tuple[str, ...]:
        """None."""
        return ()

    def notes(self) -> tuple[str, ...]:
        """What an emulated board noted; a real one takes everything without a word."""
        file = os.environ.get(NOTES)
        return note_sentences(read_notes(Path(file))) if file else ()

    def post_mortem(self, elf: Path) -> tuple[str, ...]:
        """The fault registers, in a sentence."""
        return post_mortem(self._probe, elf)

    def tools(self) -> Mapping[str, str]:
        """pyOCD's version."""
        return {"pyocd": importlib.metadata.version("pyocd")}

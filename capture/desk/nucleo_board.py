"""A Nucleo on the desk: flashed through its probe, heard at its ST-Link's serial port."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path

from capture.desk.bench import BoardResource
from capture.desk.board import Board, Connections, Resetter
from capture.desk.loading import Loader
from capture.desk.pyocd import post_mortem
from capture.desk.serial_ports import is_usb_id, resolve
from simulator.outputs import note_sentences, read_notes

NOTES = "TAILSCOPE_NOTES"
"""In the environment of a program that sees emulated devices: the file of the board's notes."""


class NucleoBoard(Board):
    """The firmware is loaded by the loader of bench.toml, and started by it at the reset."""

    def __init__(self, resource: BoardResource) -> None:
        self._resource = resource
        self._probe = resource.loader.pyocd_address

    @cached_property
    def _programmer(self) -> Loader:
        return self._resource.loader.programmer()

    def load(self, elf: Path | None, image: bytes) -> Connections:
        """Flashes both; the connections are those of bench.toml."""
        if elf is None:
            return self._connections("")
        self._programmer.load(elf, image)
        named = self._resource.serial_port
        find = partial(resolve, named, self._resource.loader.serial_number)
        return self._connections(find(), find if is_usb_id(named) else None)

    def _connections(self, port: str, find: Callable[[], str] | None = None) -> Connections:
        return Connections(port, self._resource.analyzer.connection or None, self._probe, find)

    def resetter(self, debugger: Resetter | None) -> Resetter:
        """The debugger that holds the probe, or else the loader."""
        return debugger or self._programmer

    def oddities(self) -> tuple[str, ...]:
        """That its core was reached only with the reset held."""
        return self._programmer.remarks

    def notes(self) -> tuple[str, ...]:
        """What an emulated board noted; a real one takes everything without a word."""
        file = os.environ.get(NOTES)
        return note_sentences(read_notes(Path(file))) if file else ()

    def post_mortem(self, elf: Path) -> tuple[str, ...]:
        """The fault registers, in a sentence."""
        return post_mortem(self._probe, elf)

    def tools(self) -> Mapping[str, str]:
        """The loader's version."""
        return self._programmer.tools()

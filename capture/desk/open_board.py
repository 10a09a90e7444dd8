"""Opens a board, by the kind of its loader; and a board that somebody else loads and resets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from base.files.errors import CaptureError
from capture.desk.bench import BoardResource
from capture.desk.board import NOTES, Board, Connections, Resetter
from capture.desk.emulated import is_seen
from capture.desk.fault_report import post_mortem
from capture.desk.loading import Loader
from capture.desk.serial_ports import is_usb_id, resolve
from capture.desk.virtual_board import VirtualBoard
from simulator.outputs import note_sentences, read_notes
from simulator.run import STRICT


def open_board(
    resource: BoardResource,
    records: str = "uart",
    looks: Sequence[int] = (),
    clips: str = "",
    options: Sequence[str] = STRICT,
) -> Board:
    """The board of these tables, for `records` by uart or rtt, or none, not yet started.

    Where there are records, a board that can count counts instructions, and executions of the
    addresses `looks`, of each operation. `clips` changes what the inputs of a virtual board's
    analyzer are clipped to, and `options` are those of somebody's own program; an emulated desk has
    its own (capture/desk/emulated.py).

    Raises CaptureError for an emulated board whose devices this program does not see, and for
    records by rtt where the loader is not pyOCD.
    """
    if resource.loader.kind == "virtual-nucleo":
        return VirtualBoard(
            resource,
            probed=records == "rtt",
            looks=looks,
            counted=records != "none",
            clips=clips,
            options=options,
        )
    if resource.loader.kind == "none":
        return UnloadedBoard(resource)
    way = resource.loader.way
    if records == "rtt" and way is not None and not way.has_rtt:
        raise CaptureError(
            f"Records by rtt are read by pyOCD, and this board's loader is {way.title}: "
            'leave them at uart, or give the board a loader of kind = "pyocd".'
        )
    if not is_seen(resource):
        raise CaptureError(
            f"The board {resource.name!r} is emulated, and this program does not see its devices; "
            "use it by a command of ./lab that takes --board."
        )
    return NucleoBoard(resource)


@dataclass(eq=False)
class UnloadedBoard(Board):
    """What is on the board runs, and is neither loaded nor reset."""

    resource: BoardResource

    def load(self, elf: Path | None, image: bytes) -> Connections:
        """Refuses both. Raises CaptureError."""
        if elf is not None or image:
            raise CaptureError(
                f"The board {self.resource.name!r} has no loader in bench.toml, so nothing can be flashed: "
                "load it yourself, and look at it by ./lab observe."
            )
        return Connections("", self.resource.analyzer.connection or None, None)


@dataclass(eq=False)
class NucleoBoard(Board):
    """The firmware is loaded by the loader of bench.toml, and started by it at the reset."""

    resource: BoardResource

    @cached_property
    def _programmer(self) -> Loader:
        return self.resource.loader.programmer()

    def load(self, elf: Path | None, image: bytes) -> Connections:
        """Flashes both; the connections are those of bench.toml."""
        loader, named = self.resource.loader, self.resource.serial_port
        port, find = "", partial(resolve, named, loader.serial_number)
        if elf is not None:
            self._programmer.load(elf, image)
            port = find()
        connection = self.resource.analyzer.connection or None
        return Connections(
            port, connection, loader.pyocd_address, find if port and is_usb_id(named) else None
        )

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
        return post_mortem(self.resource.loader.pyocd_address, elf)

    def tools(self) -> Mapping[str, str]:
        """The loader's version."""
        return self._programmer.tools()

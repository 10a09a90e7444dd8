"""Opens a board, by the kind of its loader: one that somebody else loads and resets; one on the
desk; or the virtual Nucleo, a process that plays analyzer, serial port and debug probe.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from base.files.errors import CaptureError
from base.run_folder.channels import CHANNELS
from capture.desk.bench import BoardResource
from capture.desk.board import NOTES, Board, Connections, ProbeAddress, Resetter, Sentences
from capture.desk.emulated import is_seen
from capture.desk.fault_report import post_mortem
from capture.desk.loading import Loader
from capture.desk.serial_ports import is_usb_id, resolve
from simulator.build import build, version
from simulator.outputs import note_sentences, read_notes
from simulator.run import STRICT
from simulator.serve import Served


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

    def oddities(self) -> Sentences:
        """That its core was reached only with the reset held."""
        return self._programmer.remarks

    def notes(self) -> Sentences:
        """What an emulated board noted; a real one takes everything without a word."""
        file = os.environ.get(NOTES)
        return note_sentences(read_notes(Path(file))) if file else ()

    def post_mortem(self, elf: Path) -> Sentences:
        """The fault registers, in a sentence."""
        return post_mortem(self.resource.loader.pyocd_address, elf)

    def tools(self) -> Mapping[str, str]:
        """The loader's version."""
        return self._programmer.tools()


@dataclass(eq=False)
class VirtualBoard(Board):
    """One process of virtual-nucleo, which simulates from reset once the capture starts.

    It counts the instructions of each critical section, unless it is not `counted`. `probed` gives
    it a debug probe. `looks` are the addresses whose executions it counts in each operation, too.
    `clips` changes what the analyzer's inputs are clipped to, as in `D0=PA9,D3=open`. `options` are
    those of somebody's own program; without any it is the bench's, which may do nothing odd.
    `program` stands in for the simulator that is built.
    """

    resource: BoardResource
    program: Path | None = None
    probed: bool = False
    looks: Sequence[int] = ()
    counted: bool = True
    clips: str = ""
    options: Sequence[str] = STRICT
    served: Served = field(init=False)
    _open: ExitStack = field(default_factory=ExitStack, init=False)

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def load(self, elf: Path | None, image: bytes) -> Connections:
        """Starts the simulator with both and waits until it listens."""
        if elf is None:
            raise CaptureError(f"Nothing is on the virtual board {self.resource.name!r}; give a program.")
        # Somebody's own program names its chip itself, or has the board's.
        named = any(word.startswith("--chip") for word in self.options)
        served = self.served = Served(
            elf,
            image=image or None,
            uart=self.resource.serial_port,
            probe=self.probed,
            counts=look_counts(self.looks) if self.counted else {},
            count_window="OP" if self.counted else "",
            instructions_while="CRIT" if self.counted else "",
            clips=self.resource.clipped(self.clips),
            options=self.options if named else (*self.options, *self.resource.board.virtual_options),
            program=self.program,
        )
        self._open.enter_context(served)
        return Connections(
            serial_url=served.uart,
            analyzer=f"tcp-raw/{served.analyzer.replace(':', '/')}:logic_channels={len(CHANNELS)}",
            probe=self._probe(served) if self.probed else None,
        )

    def ended(self) -> bool:
        """Whether the simulator has ended by itself; it first hands over what it has recorded."""
        return self.served.status() is not None

    def problems(self) -> Sentences:
        """That the simulator ended by itself, with its last words."""
        return ended_words(self.served.status(), self.served.words())

    def oddities(self) -> Sentences:
        """What the simulator said, where it did not end: it has nothing to say when all is well."""
        words = self.served.words()
        return (f"The virtual Nucleo said: {words}.",) if words and not self.problems() else ()

    def notes(self) -> Sentences:
        """What the program did that is odd, and that did not stop it, a sentence each."""
        return note_sentences(self.served.notes())

    def post_mortem(self, elf: Path) -> Sentences:
        """The fault registers, where it has a debug probe and still runs."""
        if not self.probed or self.ended():
            return ()
        return post_mortem(self._probe(self.served), elf)

    def counts(self) -> bytes | None:
        """The table of the executions that it counted; a row is there before its record is."""
        return self.served.windows() if self.counted else None

    def tools(self) -> Mapping[str, str]:
        """The versions of the simulator and, where it has a probe, of pyOCD."""
        pyocd = {"pyocd": importlib.metadata.version("pyocd")} if self.probed else {}
        return {"virtual_nucleo": version(self.program or build()), **pyocd}

    def _probe(self, served: Served) -> ProbeAddress:
        return ProbeAddress(f"remote:{served.probe}", self.resource.board.pyocd_target)


def look_counts(looks: Sequence[int]) -> dict[str, str]:
    """The addresses `looks`, by the names of their columns in the table of counts."""
    return {f"look{number}": f"{address:#x}" for number, address in enumerate(looks)}


def ended_words(status: int | None, words: str) -> Sentences:
    """That the simulator ended with exit `status`, saying `words`; nothing of None."""
    if status is None:
        return ()
    if status < 0:
        return (f"The virtual Nucleo was killed by signal {-status}; run again.",)
    said = words or "it does not say why"
    return (f"The virtual Nucleo ended with status {status}: {said}; see docs/reference/virtual-nucleo.md.",)

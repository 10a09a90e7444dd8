"""The virtual Nucleo as a board: a process that plays analyzer, serial port and debug probe."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from base.files.errors import CaptureError
from base.run_folder.channels import CHANNELS
from capture.desk.bench import BoardResource
from capture.desk.board import Board, Connections, ProbeAddress
from capture.desk.fault_report import post_mortem
from simulator.build import build, version
from simulator.outputs import note_sentences
from simulator.run import STRICT
from simulator.serve import Served


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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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

    def problems(self) -> tuple[str, ...]:
        """That the simulator ended by itself, with its last words."""
        return ended_words(self.served.status(), self.served.words())

    def oddities(self) -> tuple[str, ...]:
        """What the simulator said, where it did not end: it has nothing to say when all is well."""
        words = self.served.words()
        return (f"The virtual Nucleo said: {words}.",) if words and not self.problems() else ()

    def notes(self) -> tuple[str, ...]:
        """What the program did that is odd, and that did not stop it, a sentence each."""
        return note_sentences(self.served.notes())

    def post_mortem(self, elf: Path) -> tuple[str, ...]:
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


def ended_words(status: int | None, words: str) -> tuple[str, ...]:
    """That the simulator ended with exit `status`, saying `words`; nothing of None."""
    if status is None:
        return ()
    if status < 0:
        return (f"The virtual Nucleo was killed by signal {-status}; run again.",)
    said = words or "it does not say why"
    return (f"The virtual Nucleo ended with status {status}: {said}; see docs/reference/virtual-nucleo.md.",)

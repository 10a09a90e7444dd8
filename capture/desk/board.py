"""What a board is to the bench: it loads, somebody resets it, and perhaps it counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol, Self

from base.paths import ROOT

TARGET_SCRIPT = ROOT / "pyocd_user.py"
"""What pyOCD is told of the boards' chips."""
NOTES = "TAILSCOPE_NOTES"
"""In the environment of a program that sees emulated devices: the file of the board's notes."""
RESET_WITHIN_S = 5.0
"""A resetter pulls the pin at most this long after it is asked: pyOCD takes a while to start."""


Sentences = tuple[str, ...]


class ProbeAddress(NamedTuple):
    """A probe by pyOCD's unique id (empty: the only one connected), and the target behind it."""

    unique_id: str
    target: str


class Connections(NamedTuple):
    """Where a loaded board is heard.

    `serial_url` is what pySerial opens, `analyzer` is sigrok's conn= (None: the only one
    connected), `probe` the debug probe (None where the board was not asked for one).
    `find_serial` tells anew what pySerial opens, where the port is known by its USB id; it raises
    CaptureError while there is no such port.
    """

    serial_url: str
    analyzer: str | None
    probe: ProbeAddress | None
    find_serial: Callable[[], str] | None = None


class Resetter(Protocol):
    """Pulls the board's reset pin. Only the owner of the debug probe can."""

    def reset(self) -> None:
        """Lets the firmware run from reset, within RESET_WITHIN_S. Raises TailscopeError."""


class Board(ABC):
    """A board in use: a context manager, entered first and closed whatever happens.

    One that is only known by its pins says what stands here.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    @abstractmethod
    def load(self, elf: Path | None, image: bytes) -> Connections:
        """Loads the firmware's ELF file and the operation image; the board is held, nothing runs.

        Without an ELF file the board is left alone, and what is on it runs. An empty image is none.
        Raises TailscopeError, also where the board cannot do as asked.
        """

    def counts(self) -> bytes | None:
        """The table of what the core executed, counted from outside (docs/reference/
        simulator-files.md); asked after the capture. None where nobody counts.
        """
        return None

    def resetter(self, _debugger: Resetter | None) -> Resetter | None:
        """Who starts the firmware once the capture is armed; None where the capture itself does.

        `_debugger` is whoever is attached to the debug probe already, and has it to itself; None if
        nobody is.
        """
        return None

    def ended(self) -> bool:
        """Whether the board has ended by itself: neither samples nor records will come any more. On
        a desk a dead board cannot be told from a silent one: its run has no end frame.
        """
        return False

    def problems(self) -> Sentences:
        """What the board did not do, in sentences; asked after the capture."""
        return ()

    def oddities(self) -> Sentences:
        """What it said or did unexpectedly, in sentences; asked after the capture."""
        return ()

    def notes(self) -> Sentences:
        """What the program did that a chip takes without a word, in sentences; asked after it."""
        return ()

    def post_mortem(self, _elf: Path) -> Sentences:
        """What the core tells of a run that ended without its END record, in sentences.

        Asked after the capture, of the board that runs `_elf`: it may halt the core for a moment.
        """
        return ()

    def tools(self) -> Mapping[str, str]:
        """Names and versions of the tools behind the board."""
        return {}

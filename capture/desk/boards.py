"""What a board is to the bench, and the boards there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from capture.desk.bench import BoardResource
from capture.desk.debug_probe import ProbeAddress
from capture.desk.nucleo_board import NucleoBoard
from capture.desk.virtual_board import VirtualBoard


class Board(Protocol):
    """A board in use: a context manager, entered before anything else and closed whatever happens.

    The order is prepare(), then the records and the capture are opened, then start(), which comes at most
    `start_delay_s` after the first sample; 0 where the capture itself starts the board.
    """

    start_delay_s: float

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def prepare(self, firmware: Path, image: Path) -> None:
        """Loads the ELF file and the operation image, and holds the board. Raises CaptureError."""

    def serial_url(self) -> str:
        """What pySerial opens."""

    def probe_address(self) -> ProbeAddress:
        """The debug probe, where the records come by RTT."""

    def analyzer_connection(self) -> str | None:
        """sigrok's conn= of the analyzer; None for the only one connected."""

    def start(self, pull_reset: Callable[[], None] | None = None) -> None:
        """Lets the firmware run from reset; called once the capture is armed. Raises CaptureError.

        `pull_reset` is that of a debugger which is attached already, and has the probe to itself.
        """

    def ended(self) -> bool:
        """Whether the board has ended by itself, so that neither samples nor records will come any more."""

    def problems(self) -> tuple[str, ...]:
        """What the board did not do, in sentences; asked after the capture."""

    def oddities(self) -> tuple[str, ...]:
        """What it said or did unexpectedly, in sentences; asked after the capture."""

    def counts(self) -> bytes | None:
        """The table of executions that it was asked to count (docs/SPEC.md, section 7); None if it cannot."""

    def tools(self) -> Mapping[str, str]:
        """Names and versions of the tools behind the board."""


def open_board(resource: BoardResource, records: str = "uart", looks: Sequence[int] = ()) -> Board:
    """The board that an entry of bench.toml describes, for records by uart or rtt; nothing is started yet.

    A board that can count executions counts those of the addresses `looks` in each operation.
    """
    if resource.loader.kind == "virtual-nucleo":
        return VirtualBoard(resource, probed=records == "rtt", looks=looks)
    return NucleoBoard(resource)

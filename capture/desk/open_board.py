"""The boards there are, by their entry of bench.toml."""

from __future__ import annotations

from collections.abc import Sequence

from capture.desk.bench import BoardResource
from capture.desk.board import Board
from capture.desk.emulated import is_seen
from capture.desk.nucleo_board import NucleoBoard
from capture.desk.virtual_board import VirtualBoard
from capture.files.errors import CaptureError


def open_board(resource: BoardResource, records: str = "uart", looks: Sequence[int] = ()) -> Board:
    """The board of an entry of bench.toml, for `records` by uart or rtt; nothing is started yet.

    A board that can count counts instructions, and executions of the addresses `looks`, of each
    operation. Raises CaptureError for an emulated board whose devices this program does not see.
    """
    if resource.loader.kind == "virtual-nucleo":
        return VirtualBoard(resource, probed=records == "rtt", looks=looks)
    if not is_seen(resource):
        raise CaptureError(
            f"The board {resource.name!r} is emulated, and this program does not see its devices; "
            "use it by a command of ./lab that takes --board."
        )
    return NucleoBoard(resource)

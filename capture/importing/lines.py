"""Text from anywhere, line by line, each within a bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from base.files.errors import CaptureError
from base.run_folder.edges import MOST_EDGES

LINE_MOST_BYTES = 64 << 10
TEXT_MOST_BYTES = 256 << 20
"""Of a file in which a line stands for a change: what is more has more edges than are read."""


def lines(file: BinaryIO) -> Iterator[str]:
    """The lines of `file`, without their ends. Raises CaptureError for one that is too long."""
    while line := file.readline(LINE_MOST_BYTES + 1):
        if len(line) > LINE_MOST_BYTES:
            raise CaptureError(f"a line in it has more than {LINE_MOST_BYTES:,} bytes.")
        yield line.decode("utf-8", errors="replace").strip().lstrip("\ufeff")


def check_count(changes: int) -> None:
    """Raises CaptureError where there are more changes than are read."""
    if changes > MOST_EDGES:
        raise CaptureError(
            f"it has more than {MOST_EDGES:,} edges: an input was probably floating; leave that channel out."
        )

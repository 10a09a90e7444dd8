"""Winners as files that anyone replays: a trace (docs/SPEC.md, section 11) for each row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from analysis.adversary.row import Row
from capture.files.whole import write_bytes
from scenarios.trace import ALLOCATE, Operations


def write(row: Row, folder: Path) -> Path:
    """Writes the row's operations as `<allocator>-<what>.csv`, and returns the path.

    Raises WriteError.
    """
    lines = [f"# {sentence}" for sentence in _told(row)] + list(_lines(row.operations))
    return write_bytes(path(folder, row.allocator, row.what), "".join(f"{line}\n" for line in lines).encode())


def path(folder: Path, allocator: str, what: str) -> Path:
    """Where write() puts it."""
    return folder / f"{allocator}-{what}.csv"


def _told(row: Row) -> Iterator[str]:
    last = "The last operation is the worst." if row.what != "fragmentation" else "Few bytes, far apart."
    yield f"The worst that was found for {row.allocator}, {row.what}, on a heap of 64 KiB. {last}"
    yield f"./lab adversary --allocator {row.allocator} --what {row.what}, seed {row.seed}, {row.lists} lists"


def _lines(operations: Operations) -> Iterator[str]:
    for kind, slot, size, _ in operations.tolist():
        yield f"a,{slot},{size}" if kind == ALLOCATE else f"f,{slot}"

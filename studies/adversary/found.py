"""Winners as files that anyone replays: a trace (docs/reference/trace.md) for each row, and for
those of time a scenario that replays it on a board.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from base.files.whole import write_bytes
from scenarios.trace import ALLOCATE, Operations
from studies.adversary.row import Row

_SCENARIO = """\
name = "worst_{row.what}"
description = "The worst {row.what} that was found for {row.allocator}; docs/how-to/adversary.md says how."
generator = "recorded"

[parameters]
trace = "{trace}"
scale = 1
divide = 1
"""


def write(row: Row, folder: Path) -> Path:
    """Writes the row's operations as `<allocator>-<what>.csv`, beside it the scenario, and returns
    the path of the first. Raises WriteError.
    """
    lines = [f"# {sentence}" for sentence in _told(row)] + list(_lines(row.operations))
    trace = path(folder, row.allocator, row.what)
    if row.what != "fragmentation":
        write_bytes(trace.with_suffix(".toml"), _SCENARIO.format(row=row, trace=trace.name).encode())
    return write_bytes(trace, "".join(f"{line}\n" for line in lines).encode())


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

"""The result of a search, beside the known worst case and the bound of the machine code.

Winners are kept as files that anyone replays: a trace (docs/how-to/traces.md) for each row, and
for those of time a scenario that replays it on a board.

The document of `heap adversary --json` is a list of objects:

allocator, what, seed, lists, operations found {…}, known {…}, found_over_known bound_instructions,
bound_cycles, why_no_bound, found_over_bound, limits

- *what* is allocate, free or fragmentation. *lists* is how many lists of operations were tried on
  the PC; *operations* is the length of the one that was found.
- *found* and *known* of allocate and free: `name`, `instructions`, `cycles` (DWT), `wire_ns` (CRIT)
  of the longest critical section on the virtual board, refused operations included. *known* is the
  longest of all known worst cases, and *name* says of which.
- *found* and *known* of fragmentation: `name`, `used_bytes`, `peak_live_bytes`, `ratio`, the first
  over the second, as in `heap fragmentation --json`.
- *found_over_known* is of instructions, or of used bytes.
- *bound_instructions* and *bound_cycles* are those of the machine code, null if there is none;
  *why_no_bound* then says why. They hold for programs with at most 2,048 live blocks, as a list
  has, and leave out interrupts, those too that a lock lets in.
- *limits* names those limits of a list that the one found came to, within 2 %: `slots` (2,048
  blocks that are live or were refused), `operations` (8,192), `region` (64 KiB; unknown of newlib's
  two, which have no build for the PC).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from base.files.whole import write_bytes
from scenarios.trace import ALLOCATE, Operations
from studies.adversary.search import What


@dataclass(frozen=True)
class Time:
    """The longest critical section of a list of operations on the board."""

    name: str
    instructions: int
    cycles: int
    wire_ns: float


@dataclass(frozen=True)
class Space:
    """The spread of a list's blocks on the PC. `ratio` is used over live, Johnstone's fourth."""

    name: str
    used_bytes: int
    peak_live_bytes: int
    ratio: float


@dataclass(frozen=True)
class Row:
    """The worst found on one allocator, beside the known worst case and the bound.

    `lists` is how many were tried on the PC. `bound_instructions` and `bound_cycles` are those of
    the machine code, None where there is none; `why_no_bound` then says why. `limits` names those
    limits of a list that the one found came to.
    """

    allocator: str
    what: What
    seed: int
    lists: int
    found: Time | Space
    known: Time | Space
    operations: Operations = field(repr=False)
    bound_instructions: int | None = None
    bound_cycles: int | None = None
    why_no_bound: str | None = None
    limits: tuple[str, ...] = ()

    @property
    def found_over_known(self) -> float:
        """The ratio of instructions, or of used bytes."""
        return _size(self.found) / _size(self.known)

    @property
    def found_over_bound(self) -> float | None:
        return None if self.bound_instructions is None else _size(self.found) / self.bound_instructions

    def as_json(self) -> dict[str, Any]:
        """The row as the document has it."""
        return {
            "allocator": self.allocator,
            "what": self.what,
            "seed": self.seed,
            "lists": self.lists,
            "operations": len(self.operations),
            "found": asdict(self.found),
            "known": asdict(self.known),
            "found_over_known": self.found_over_known,
            "bound_instructions": self.bound_instructions,
            "bound_cycles": self.bound_cycles,
            "why_no_bound": self.why_no_bound,
            "found_over_bound": self.found_over_bound,
            "limits": list(self.limits),
        }


def _size(figure: Time | Space) -> int:
    return figure.instructions if isinstance(figure, Time) else figure.used_bytes


def write(row: Row, folder: Path) -> Path:
    """Writes the row's operations as `<allocator>-<what>.csv`. Raises WriteError."""
    lines = [f"# {sentence}" for sentence in _told(row)] + list(_lines(row.operations))
    trace = path(folder, row.allocator, row.what)
    return write_bytes(trace, "".join(f"{line}\n" for line in lines).encode())


def path(folder: Path, allocator: str, what: str) -> Path:
    """The path that write() uses."""
    return folder / f"{allocator}-{what}.csv"


def _told(row: Row) -> Iterator[str]:
    last = "The last operation is the worst." if row.what != "fragmentation" else "Few bytes, far apart."
    yield f"The worst that was found for {row.allocator}, {row.what}, on a heap of 64 KiB. {last}"
    command = f"./lab heap adversary --allocator {row.allocator} --what {row.what}"
    yield f"{command}, seed {row.seed}, {row.lists} lists"


def _lines(operations: Operations) -> Iterator[str]:
    for kind, slot, size, _ in operations.tolist():
        yield f"a,{slot},{size}" if kind == ALLOCATE else f"f,{slot}"

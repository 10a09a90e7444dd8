"""What a search came to, beside what was known and what the machine code allows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from scenarios.trace import Operations
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
    """How far a list spreads blocks on the PC. `ratio` is used over live, Johnstone's fourth."""

    name: str
    used_bytes: int
    peak_live_bytes: int
    ratio: float


@dataclass(frozen=True)
class Row:
    """What was found on one allocator, beside what was known and what the code allows.

    `lists` is how many were tried on the PC. `bound_instructions` and `bound_cycles` are those of
    the machine code, None where there is none; `why_no_bound` then says why.
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

    @property
    def found_over_known(self) -> float:
        """Of instructions, or of used bytes."""
        return _size(self.found) / _size(self.known)

    @property
    def found_over_bound(self) -> float | None:
        return None if self.bound_instructions is None else _size(self.found) / self.bound_instructions

    def as_json(self) -> dict[str, Any]:
        """The row as docs/reference/heap-adversary.md has it."""
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
        }


def _size(figure: Time | Space) -> int:
    return figure.instructions if isinstance(figure, Time) else figure.used_bytes

"""What is known of the loops in each allocator's critical section (loops.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from analysis.bounds.errors import NoBoundError

_FILE = Path(__file__).resolve().parent / "loops.toml"
_UNLIMITED = "unlimited"

# firmware/heap/block_layer.h: a header, and the smallest payload that any index needs.
_SMALLEST_BLOCK_BYTES = 16 + 8


@dataclass
class Loops:
    """The loops of one image. `region_decided` becomes true once a bound rested on the region's size."""

    allocator: str
    region_bytes: int
    knobs: Mapping[str, int]
    region_decided: bool = False

    @property
    def free_blocks(self) -> int:
        """Of n blocks that fill the region every other one can be free, and one more."""
        return (self.region_bytes // _SMALLEST_BLOCK_BYTES + 1) // 2

    def passes(self, function: str) -> int:
        """How often the head of a loop in `function` is passed. Raises NoBoundError where nobody knows."""
        stated = _tables().get(self.allocator, {})
        if function not in stated:
            raise NoBoundError(f"{function} has a loop of which no bound is stated.")
        limit = stated.get(_UNLIMITED)
        free = limit is not None and self.knobs.get(limit, 0) == 0
        terms = [term.strip() for term in stated[function].split("+")]
        return sum(self._value("free_blocks" if free and term == limit else term) for term in terms)

    def _value(self, term: str) -> int:
        if term == "free_blocks":
            self.region_decided = True
            return self.free_blocks
        if term.isdecimal():
            return int(term)
        if term in self.knobs:
            return self.knobs[term]
        raise NoBoundError(f"{_FILE.name}: [{self.allocator}] {term!r} is no number, knob or free_blocks.")


@cache
def _tables() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = tomllib.loads(_FILE.read_text())
    return tables

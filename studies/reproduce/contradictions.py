"""Printed figures that contradict each other: what can be worked out without running anything.

The rules are the publications' own: docs/how-to/fragmentation.md has those of fragmentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

from studies.reproduce.published import Part, Source

_PERCENT_TOLERANCE = 0.0101
"""Two decimals are printed, some rounded and some cut."""

_LISTS_LOG2 = 5
"""J of the deck's example of TLSF's lists."""

REGION_OVERHEAD_BYTES = {
    "Buddy": 48,
    "First Fit": 16,
    "Best Fit": 20,
    "TLSF (Masm.)": 784,
    "O1Heap": 160,
    "Half Fit CSTM": 80,
    "Half Tree": 148,
}
"""Of the thesis: Cost Metric less used, in every row but the misprinted ones. Conte's TLSF is not
here: its search rounds requests up, so that it may need more than it uses.
"""


@dataclass(frozen=True)
class Contradiction:
    """A row whose figures do not agree. `rule` says what should hold."""

    table: str
    part: str
    row: str
    rule: str


def contradictions(source: Source) -> Iterator[Contradiction]:
    """All that the rules find in a publication."""
    for table in source.table:
        live = [part for part in table.part if part.columns == ["peak live memory"]]
        for part in table.part:
            for row in part.rows:
                for rule in _broken(part, row, live):
                    yield Contradiction(table.name, part.title, row, rule)


def _broken(part: Part, row: str, live: list[Part]) -> Iterator[str]:
    columns = set(part.columns)
    if {"used", "F %"} <= columns:
        peak = _peak(live, part.title)
        for used, share in (("used", "F %"), ("used there", "F % there")):
            if abs(100 * (_of(part, row, used) / peak - 1) - _of(part, row, share)) > _PERCENT_TOLERANCE:
                yield "F = 100 (used - live) / live"
        own = REGION_OVERHEAD_BYTES.get(row)
        if own is not None and _of(part, row, "Cost Metric") - _of(part, row, "used there") != own:
            yield f"Cost Metric = used + {own}"
    if {"average allocation", "average free", "average operation"} <= columns:
        mean = (_of(part, row, "average allocation") + _of(part, row, "average free")) / 2
        if mean != _of(part, row, "average operation"):
            yield "average operation = (average allocation + average free) / 2"
    if {"first", "behind the last"} <= columns:
        octave, slot = (int(word) for word in row.strip("()").split(","))
        if _of(part, row, "first") != 2**octave + slot * 2 ** (octave - _LISTS_LOG2):
            yield "first = 2^i + j 2^(i - 5)"
    if {"avg", "stdv", "max"} <= columns and _impossible(part, row):
        yield "stdv <= sqrt((max - avg) (avg - min))"


def _impossible(part: Part, row: str) -> bool:
    """A deviation that no numbers between these limits can have (Bhatia, Davis, "A Better Bound on
    the Variance", American Mathematical Monthly 107, 2000). Without a minimum zero is taken.
    """
    average, deviation, most = (_of(part, row, column) for column in ("avg", "stdv", "max"))
    least = part.printed(row, "min") or 0.0
    return deviation > sqrt((most - average) * (average - least))


def _of(part: Part, row: str, column: str) -> float:
    printed = part.printed(row, column)
    assert printed is not None
    return printed


def _peak(live: list[Part], trace: str) -> float:
    """The peak live memory of a trace, printed in a part of its own."""
    for part in live:
        if trace in part.rows:
            return _of(part, trace, "peak live memory")
    raise KeyError(trace)

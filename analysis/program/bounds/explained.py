"""The longest path of one section: its instructions, how often they are passed, what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from analysis.bounds.price import Block, spent
from analysis.errors import NoBoundError
from analysis.program.bounds.measure import Bounded, BoundsReport
from analysis.program.parts import Hidden
from analysis.program.places import Place
from base.files.errors import near_miss

LONGEST = "1"
"""The word for the section that has the greatest bound."""
_ENTRY = "entry and return of the handler"


@dataclass(frozen=True)
class Explained:
    """What the bound of `section` is made of, the most cycles first. The blocks' sum is the
    bound.
    """

    NAMES: ClassVar = {"cycles": "bound_cycles"}
    section: Hidden[Bounded]
    begin: Place
    cycles: int
    blocks: tuple[Block, ...]


def explain(report: BoundsReport, which: str) -> Explained:
    """The longest path of one row: of the n-th longest by its number, or by a place: its function,
    `file.c:12`, or an address. Of several at a place it is the longest. Raises NoBoundError.
    """
    bounded = sorted(report.bounded, key=lambda row: -(row.cycles or 0))
    rows = (*bounded, *report.unbounded)
    if which.isascii() and which.isdecimal():
        if not 0 < int(which) <= len(bounded):
            raise NoBoundError(f"--explain {which}: {len(bounded)} have a bound; 1 is the longest.")
        return of_row(report, bounded[int(which) - 1])
    section = next((row for row in rows if which in _names(row)), None)
    if section is None:
        near = near_miss(which, [name for row in rows for name in _names(row)])
        raise NoBoundError(
            f"--explain {which[:80]}: nothing of that place holds interrupts off; give a function, "
            f"file.c:12, an address, or the number of a row, 1 for the longest.{near}"
        )
    if section.cycles is None:
        raise NoBoundError(
            f"--explain {which}: {section.kind} of {section.function} has no bound, so it has no longest "
            "path."
        )
    return of_row(report, section)


def of_row(report: BoundsReport, section: Bounded) -> Explained:
    """That of a row with a bound."""
    total, own = section.cycles or 0, section.entry_cycles
    blocks = spent(section.path, report.subject.elf, total)
    blocks += [Block(_ENTRY, 1, own, own / total, ())] if own else []
    ordered = tuple(sorted(blocks, key=lambda part: -part.cycles))
    return Explained(section, section.begin, total, ordered)


def _names(section: Bounded) -> tuple[str, ...]:
    """The words that a row goes by."""
    places = [place for place in (section.begin, section.caller) if place is not None]
    words = (word for at in places for word in (at.function, at.source, f"{at.address:#010x}"))
    return tuple(filter(None, (section.function, *words)))

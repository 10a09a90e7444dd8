"""Values of a comparison as people read them: times in µs, changes with their sign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.compare.worst import WORST_CASES, Worst, words_of
from base.microseconds import digits, unit_read
from base.microseconds import signed as signed_time
from base.run_folder.placements import Range
from base.run_folder.quantities import Quantity

_MINUS = "\N{MINUS SIGN}"


def short(value: float, unit: str) -> str:
    """A value of this unit, times in µs; others whole: a fraction says less than the budgets."""
    return digits(value) if unit == "ns" else f"{value:,.0f}".replace("-", _MINUS)


def spaced(unit: str) -> str:
    """The unit of what `short` gives, after a space; empty for none."""
    return f" {unit_read(unit)}" if unit else ""


def signed(value: float, unit: str) -> str:
    """A change with its sign."""
    if unit == "ns":
        return signed_time(value)
    text = f"{value:+,.0f}" if float(value).is_integer() or abs(value) >= 10 else f"{value:+,.1f}"
    return text.replace("-", _MINUS)


# The worst cases of two runs over the placements of their code, where both were placed.
#
# See docs/reference/placements.md.


@dataclass(frozen=True)
class Ranges:
    """One worst case of A and B. `differs`: the images as linked, or the ranges, are not alike."""

    quantity: Quantity
    a: Range
    b: Range
    differs: bool

    @property
    def smaller(self) -> bool:
        """True if there is a difference, and placement alone can turn it round."""
        return self.differs and self.a.meets(self.b)

    def sentence(self, a: str = "A", b: str = "B") -> str:
        """What a reader must know where it is smaller."""
        unit = self.quantity.unit
        of_a, of_b = (
            f"{short(ranges.least, unit)} to {short(ranges.greatest, unit)}{spaced(unit)}"
            for ranges in (self.a, self.b)
        )
        return (
            f"{words_of(self.quantity)}: the difference is smaller than what placement does: {of_a} in "
            f"{a} ({self.a.n} placements), {of_b} in {b} ({self.b.n})."
        )

    def as_json(self) -> dict[str, Any]:
        """Both ranges, and what they come to."""
        return {
            "quantity": self.quantity.key,
            "unit": self.quantity.unit,
            "a": self.a.model_dump(),
            "b": self.b.model_dump(),
            "smaller_than_placement": self.smaller,
        }


def of_worst_cases(
    cases: Sequence[Worst], a: Mapping[str, Range], b: Mapping[str, Range]
) -> tuple[Ranges, ...]:
    """Of two runs, by the ranges of both."""
    return tuple(
        Ranges(worst.quantity, a[worst.quantity.key], b[worst.quantity.key], worst.finding != "equal")
        for worst in cases
        if worst.quantity.key in a and worst.quantity.key in b
    )


def of_ranges(before: Mapping[str, Range], now: Mapping[str, Range]) -> tuple[Ranges, ...]:
    """Of a run and a baseline that keeps no more than ranges."""
    return tuple(
        Ranges(quantity, before[quantity.key], now[quantity.key], before[quantity.key] != now[quantity.key])
        for quantity in WORST_CASES
        if quantity.key in before and quantity.key in now
    )

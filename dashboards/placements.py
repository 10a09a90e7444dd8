"""What the worst cases come to with the code at other places in the flash: notes and sentences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from base.microseconds import with_unit
from base.run_folder.quantities import CRITICAL, FREE_CRITICAL, LATENCY, SECTION, TASK, Quantity
from base.text_table import TextTable
from dashboards.formatting import short
from dashboards.loaded.series import Members, Series

WORST = (SECTION, CRITICAL, FREE_CRITICAL, LATENCY, TASK)


def note(quantity: Quantity, series: Series) -> str:
    """`16 placements 6.33 to 6.54`; empty where none were measured."""
    spread = series.run.placed(quantity)
    if spread is None:
        return ""
    least, greatest = (short(value, quantity.unit) for value in (spread.least, spread.greatest))
    return f"{spread.n} placements {least} to {greatest}"


def undecided(series: Members) -> Iterator[str]:
    """For each worst case a sentence on neighbours in the order of it whose ranges meet."""
    for quantity in WORST:
        rows = [
            (value, member, spread)
            for member in series
            if (spread := member.run.placed(quantity))
            and (value := member.run.summary(quantity).max) is not None
        ]
        rows.sort(key=lambda row: (-row[0], row[1].name))
        close = [
            f"{first.name} and {second.name}"
            for (more, first, spread), (less, second, other) in pairwise(rows)
            if more != less and spread.meets(other)
        ]
        if close:
            yield (
                f"Longest {quantity.words}: the difference is smaller than what placement does between "
                f"{'; between '.join(close)}."
            )


def table(series: Members) -> TextTable:
    """A row for each worst case of each run whose image was linked several times."""
    lines = []
    for quantity in WORST:
        for member in series:
            if placed := member.run.placed(quantity):
                values = (member.run.summary(quantity).max, placed.least, placed.median, placed.greatest)
                cells = (short(value, quantity.unit) for value in values)
                name = with_unit(quantity.words, quantity.unit)
                lines.append((name, member.name, str(placed.n), *cells))
    headings = ("longest", "allocator", "n", "as linked", "least", "median", "greatest")
    return TextTable("placements", headings, lines, range(2, 7))

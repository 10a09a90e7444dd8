"""What the worst cases come to with the code at other places in the flash: notes and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.table import Table
from rich.text import Text

from base.microseconds import with_unit
from base.run_folder.placements import Range
from base.run_folder.quantities import CRITICAL, FREE_CRITICAL, LATENCY, SECTION, TASK, Quantity
from dashboards.formatting import MISSING, short
from dashboards.loaded.series import Series

WORST = (SECTION, CRITICAL, FREE_CRITICAL, LATENCY, TASK)
_LEGEND = (
    "Placements: least to greatest of the same with the code at so many places in the flash; two runs "
    "whose ranges meet are not told apart."
)


def range_of(quantity: Quantity, series: Series) -> Range | None:
    """None where the run's image was linked once."""
    placed = series.run.placements
    return placed.headlines.get(quantity.key) if placed else None


def note(quantity: Quantity, series: Series) -> str:
    """`16 placements 6.33 to 6.54`; empty where none were measured."""
    spread = range_of(quantity, series)
    if spread is None:
        return ""
    least, greatest = (short(value, quantity.unit) for value in (spread.least, spread.greatest))
    return f"{spread.n} placements {least} to {greatest}"


def meaning(series: Sequence[Series]) -> list[str]:
    """What the notes mean; nothing without placements."""
    return [_LEGEND] if any(member.run.placements for member in series) else []


def undecided(series: Sequence[Series]) -> Iterator[str]:
    """For each worst case a sentence on neighbours in the order of it whose ranges meet."""
    for quantity in WORST:
        rows = [
            (value, member, spread)
            for member in series
            if (spread := range_of(quantity, member))
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


def table(series: Sequence[Series]) -> list[Table]:
    """A row for each worst case of each run whose image was linked several times."""
    rows = [
        (quantity, member, placed)
        for quantity in WORST
        for member in series
        if (placed := range_of(quantity, member))
    ]
    if not rows:
        return []
    made = Table(
        title="\nplacements, the longest of each", title_justify="left", box=None, padding=(0, 1, 0, 0)
    )
    made.add_column("")
    made.add_column("allocator", overflow="fold")
    for heading in ("n", "as linked", "least", "median", "greatest", "spread"):
        made.add_column(heading, justify="right", no_wrap=True)
    before = None
    for quantity, member, placed in rows:
        values = (member.run.summary(quantity).max, placed.least, placed.median, placed.greatest)
        spread = MISSING if placed.spread_percent is None else f"{placed.spread_percent:.1f} %"
        made.add_row(
            Text("" if quantity is before else with_unit(quantity.words, quantity.unit)),
            Text(member.name),
            *(str(placed.n), *(short(value, quantity.unit) for value in values), spread),
        )
        before = quantity
    return [made]

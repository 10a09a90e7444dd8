"""Rows of figures as a table for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from statistics import fmean, median_low, stdev
from typing import TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.fragmentation.study import Row
from base import heap_size

WIDTH_COLUMNS, WIDTH_OF_RANGES_COLUMNS = 100, 132

_Figure: TypeAlias = Callable[[Row], float | None]

_COLUMNS: tuple[tuple[str, _Figure, str], ...] = (
    ("smallest heap", lambda row: row.cost_metric.smallest_bytes, ",.0f"),
    ("refused", lambda row: row.given.failures, ",.0f"),
    ("used", lambda row: row.given.used_bytes, ",.0f"),
    ("F %", lambda row: row.given.fragmentation_percent, ".2f"),
    ("SBBM", lambda row: row.given.sbbm_bytes, ",.0f"),
    ("F % there", lambda row: row.fragmentation_there_percent, ".2f"),
    ("SBBM there", lambda row: row.sbbm_there_bytes, ",.0f"),
    ("static RAM", lambda row: row.static_ram_bytes, ",.0f"),
)
"""Heading, figure, format."""


def as_text(rows: Sequence[Row]) -> str:
    """The table, what it is of, and what must be known to read it. There is at least one row."""
    width = WIDTH_COLUMNS if len({row.seed for row in rows}) == 1 else WIDTH_OF_RANGES_COLUMNS
    console = Console(width=width, highlight=False, soft_wrap=True)
    with console.capture() as captured:
        lines = [*_smallest(rows), *_heading(rows), _table(rows), *_spread(rows), *_told(notes(rows))]
        console.print(*lines, sep="\n")
    return captured.get().rstrip()


def _smallest(rows: Sequence[Row]) -> Iterator[str]:
    """The least and the largest of the allocators' smallest heaps; nothing where none was found."""
    sizes = {
        allocator: [row.cost_metric.smallest_bytes for row in group]
        for allocator, group in groupby(rows, key=lambda row: row.allocator)
    }
    present = {
        allocator: median_low(size for size in of_seeds if size is not None)
        for allocator, of_seeds in sizes.items()
        if None not in of_seeds
    }
    if present:
        ends = (
            f"{size:,} bytes on {' and '.join(name for name in present if present[name] == size)}"
            for size in sorted({min(present.values()), max(present.values())})
        )
        missing = [allocator for allocator in sizes if allocator not in present]
        yield (
            f"smallest heap: {' to '.join(ends)}{'; not found on ' if missing else ''}{', '.join(missing)}"
        )


def _heading(rows: Sequence[Row]) -> list[str]:
    peaks = [row.given.peak_live_bytes for row in rows]
    seeds = list(dict.fromkeys(row.seed for row in rows if row.seed is not None))
    seed_words = {0: "", 1: f", seed {seeds[0]:#x}" if seeds else ""}.get(
        len(seeds), f", {len(seeds)} seeds from {min(seeds, default=0):#x}"
    )
    peak = f"{min(peaks):,}" if min(peaks) == max(peaks) else f"{min(peaks):,}…{max(peaks):,}"
    return [
        f"{rows[0].trace}: operations {rows[0].operations:,}{seed_words}; live at most {peak} bytes; "
        f"a heap of {rows[0].heap_bytes:,} bytes",
        "bytes; of several seeds the median, and below it the range" if len(seeds) > 1 else "bytes",
    ]


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("allocator", no_wrap=True)
    for heading, _, _ in _COLUMNS:
        table.add_column(heading, justify="right", no_wrap=True)
    for allocator, group in groupby(rows, key=lambda row: row.allocator):
        of_one = list(group)
        cells = [_cell([figure(row) for row in of_one], form) for _, figure, form in _COLUMNS]
        table.add_row(Text(allocator), *cells)
    return table


def _spread(rows: Sequence[Row]) -> list[str | Table]:
    """F of several seeds, as slides on the subject have it: from the region's beginning too."""
    if len({row.seed for row in rows}) == 1:
        return []
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("F %", no_wrap=True)
    for heading in ("mean", "sd", "max", "min", "from the start: mean", "sd", "max", "min"):
        table.add_column(heading, justify="right", no_wrap=True)
    for allocator, group in groupby(rows, key=lambda row: row.allocator):
        given = [row.given for row in group]
        first = [metrics.fragmentation_percent for metrics in given]
        start = [metrics.fragmentation_from_start_percent for metrics in given]
        table.add_row(Text(allocator), *_moments(first), *_moments(start))
    return ["", table]


def _moments(values: Sequence[float | None]) -> list[str]:
    """Mean, standard deviation of the sample, greatest, least; `-` if nothing was served once."""
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return ["-"] * 4
    return [f"{value:.2f}" for value in (fmean(numbers), stdev(numbers), max(numbers), min(numbers))]


def _cell(values: Sequence[float | None], form: str) -> str:
    """A median that occurred, and the range where there is one; `-` where a figure is missing."""
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        return f"- ({len(values) - len(present)} of {len(values)})" if present else "-"
    least, most = f"{min(present):{form}}", f"{max(present):{form}}"
    middle = f"{median_low(present):{form}}"
    return middle if least == most else f"{middle}\n{least}…{most}"


def _told(sentences: Sequence[str]) -> list[str]:
    return ["", *sentences] if sentences else []


def _refusing(rows: Sequence[Row]) -> list[str]:
    """A sentence on the allocators that refuse requests in the given heap, and what to do."""
    refusing = [row for row in rows if row.given.failures]
    if not refusing:
        return []
    names = ", ".join(dict.fromkeys(row.allocator for row in refusing))
    sizes = [row.cost_metric.smallest_bytes for row in refusing]
    enough = [-(-size // heap_size.STEP_BYTES) * heap_size.STEP_BYTES for size in sizes if size is not None]
    advice = (
        f"--heap {max(enough)} is enough"
        if len(enough) == len(refusing) and max(enough) <= heap_size.LARGEST_BYTES
        else f"give more with --heap, up to {heap_size.LARGEST_BYTES}"
    )
    return [
        f"{names}: a heap of {refusing[0].heap_bytes:,} bytes refuses some requests, and the figures are of "
        f"what it serves; {advice}."
    ]


def notes(rows: Sequence[Row]) -> list[str]:
    """Sentences on requests that are refused, on sizes above the smallest that fail, and on heaps
    that were not found.
    """
    sentences = _refusing(rows)
    for allocator, group in groupby(rows, key=lambda row: row.allocator):
        of_one = list(group)
        failing = [row for row in of_one if row.cost_metric.failing_above_bytes]
        if failing:
            row = max(failing, key=lambda row: row.cost_metric.failing_above_bytes[-1])
            sentences.append(
                f"{allocator}: serving is not monotonic"
                f"{f' with {len(failing)} of {len(of_one)} seeds' if len(of_one) > 1 else ''}; "
                f"{row.cost_metric.smallest_bytes:,} bytes serve, "
                f"{row.cost_metric.failing_above_bytes[-1]:,} do not."
            )
        unserved = next((row for row in of_one if row.cost_metric.smallest_bytes is None), None)
        if unserved and unserved.cost_metric.between_bytes:
            low, high = unserved.cost_metric.between_bytes
            sentences.append(
                f"{allocator}: the smallest heap has from {low:,} to {high:,} bytes; "
                "--exhaustive searches for it, and takes long."
            )
        elif unserved and unserved.cost_metric.looked_up_to_bytes:
            sentences.append(
                f"{allocator}: no heap that was tried serves all requests, "
                f"up to {unserved.cost_metric.looked_up_to_bytes:,} bytes."
            )
    return sentences

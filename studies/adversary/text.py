"""Rows as tables: of time and of space, for the terminal and as files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table

from base.microseconds import digits
from studies.adversary.row import Row, Space, Time

WIDTH_COLUMNS = 124

TIME_COLUMNS = (
    *("allocator", "of", "known worst", "known", "found", "wire, µs"),
    *("found/known", "bound", "found/bound", "limit"),
)
SPACE_COLUMNS = ("allocator", "known", "found", "live", "found/live", "found/known")
_TEXTS = {"allocator", "of", "known worst", "limit"}


def as_text(rows: Sequence[Row]) -> str:
    """The tables that there are rows for."""
    console = Console(width=WIDTH_COLUMNS, highlight=False)
    tables = (
        (TIME_COLUMNS, time_cells(rows), "longest critical sections, in instructions on the board"),
        (SPACE_COLUMNS, space_cells(rows), "bytes between the ends of the blocks"),
    )
    with console.capture() as captured:
        for columns, cells, title in tables:
            if cells:
                console.print(title)
                console.print(_table(columns, cells))
    return captured.get().rstrip()


def as_csv(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """One table as a file: numbers without commas, nothing for what there is not."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for line in cells:
        pairs = zip(columns, line, strict=True)
        writer.writerow(
            [cell if name in _TEXTS else cell.replace(",", "").strip("-") for name, cell in pairs]
        )
    return text.getvalue()


def time_cells(rows: Sequence[Row]) -> list[list[str]]:
    """A line of TIME_COLUMNS for each row of time."""
    return [
        [
            row.allocator,
            row.what,
            row.known.name,
            f"{row.known.instructions:,}",
            f"{row.found.instructions:,}",
            digits(row.found.wire_ns),
            f"{row.found_over_known:.2f}",
            "-" if row.bound_instructions is None else f"{row.bound_instructions:,}",
            "-" if row.found_over_bound is None else f"{row.found_over_bound:.3f}",
            ", ".join(row.limits) or "-",
        ]
        for row in rows
        if isinstance(row.found, Time) and isinstance(row.known, Time)
    ]


def space_cells(rows: Sequence[Row]) -> list[list[str]]:
    """A line of SPACE_COLUMNS for each row of space."""
    return [
        [
            row.allocator,
            f"{row.known.used_bytes:,}",
            f"{row.found.used_bytes:,}",
            f"{row.found.peak_live_bytes:,}",
            f"{row.found.ratio:.2f}",
            f"{row.found_over_known:.2f}",
        ]
        for row in rows
        if isinstance(row.found, Space) and isinstance(row.known, Space)
    ]


def _table(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(column, justify="left" if column in _TEXTS else "right", no_wrap=True)
    for line in cells:
        table.add_row(*line)
    return table

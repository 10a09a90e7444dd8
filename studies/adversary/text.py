"""Rows as tables: of time and of space, for the terminal and as files."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from io import StringIO

from base.files.whole import write_bytes
from base.microseconds import digits
from base.paths import ROOT
from base.text_table import TextTable, printed
from firmware.build import catalogue
from studies.adversary.search import Budget, What, objection
from studies.adversary.study import Row, Space, Study, Time, write

TIME_COLUMNS = (
    *("allocator", "of", "known worst", "known", "found", "wire, µs"),
    *("found/known", "bound", "found/bound", "limit"),
)
SPACE_COLUMNS = ("allocator", "known", "found", "live", "found/live", "found/known")
_TEXTS = {"allocator", "of", "known worst", "limit"}


def as_text(rows: Sequence[Row]) -> str:
    """The tables that there are rows for."""
    tables = [
        TextTable(title, columns, cells, [at for at, name in enumerate(columns) if name not in _TEXTS])
        for title, columns, cells in (
            ("longest critical sections, in instructions on the board", TIME_COLUMNS, time_cells(rows)),
            ("bytes between the ends of the blocks", SPACE_COLUMNS, space_cells(rows)),
        )
    ]
    return printed(table for table in tables if table.lines).lstrip("\n")


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


# The tables of docs/how-to/adversary.md; `python -m studies.adversary.text` makes them anew.


FOLDER = ROOT / "scenarios" / "found"
TIME = ROOT / "docs" / "results" / "adversary-time.csv"
SPACE = ROOT / "docs" / "results" / "adversary-space.csv"

SEED, LISTS, LIVE_BYTES = 1, 12_000, 8192
WALKERS = (
    *("best_fit", "first_fit", "first_fit_ordered", "half_fit_cstm", "seglist"),
    *("heap_2", "heap_4", "heap_5", "linked_list_allocator", "umm_malloc"),
)
WALKER_LISTS = 300
"""Of time, where a list is walked: the known constructions leave little to find."""
WHATS: tuple[What, ...] = ("allocate", "free", "fragmentation")


def main() -> None:
    """Writes the tables, or prints some rows of them."""
    names = sys.argv[1:]
    rows = list(_rows(names or list(catalogue.allocators())))
    for row in rows:
        write(row, FOLDER)
    for path, columns, cells in (
        (TIME, TIME_COLUMNS, time_cells(rows)),
        (SPACE, SPACE_COLUMNS, space_cells(rows)),
    ):
        table = as_csv(columns, cells)
        print(table) if names else write_bytes(path, table.encode())


def lists(allocator: str, what: What) -> int:
    """The budget of a row."""
    return WALKER_LISTS if allocator in WALKERS and what != "fragmentation" else LISTS


def _rows(names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        for what in WHATS:
            if objection(name, what) is None:
                budget = Budget(lists=lists(name, what))
                yield from Study([(name, what)], budget, SEED, LIVE_BYTES).rows()


if __name__ == "__main__":
    main()

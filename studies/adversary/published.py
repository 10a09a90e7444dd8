"""The tables of docs/how-to/adversary.md; `python -m studies.adversary.published` makes them anew.

It writes the tables to docs/results and the winners to scenarios/found. With names of allocators
behind it, it prints their rows instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from base.files.whole import write_bytes
from base.paths import ROOT
from firmware.build import catalogue
from studies.adversary import row as adversary_row
from studies.adversary import text
from studies.adversary.row import Row
from studies.adversary.search import Budget, What, objection
from studies.adversary.study import Study

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
        adversary_row.write(row, FOLDER)
    for path, columns, cells in (
        (TIME, text.TIME_COLUMNS, text.time_cells(rows)),
        (SPACE, text.SPACE_COLUMNS, text.space_cells(rows)),
    ):
        table = text.as_csv(columns, cells)
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

"""The tables of docs/how-to/adversary.md; `python -m studies.adversary.published` makes them anew.

It writes the winners to scenarios/found.
"""

from __future__ import annotations

from collections.abc import Iterator

from base.paths import ROOT
from firmware.build import catalogue
from studies.adversary import row as adversary_row
from studies.adversary import text
from studies.adversary.row import Row
from studies.adversary.search import Budget, What, objection
from studies.adversary.study import Study

FOLDER = ROOT / "scenarios" / "found"

SEED, LISTS, LIVE_BYTES = 1, 12_000, 8192
BUDDIES, BUDDY_LISTS = ("binary_buddy", "buddy_system_allocator"), 60_000
"""Of spread blocks. Where sizes are powers of two, few changes of a size matter."""
WHATS: tuple[What, ...] = ("allocate", "free", "fragmentation")


def main() -> None:
    """Prints the tables as Markdown."""
    rows = list(_rows())
    for row in rows:
        adversary_row.write(row, FOLDER)
    print(text.as_markdown(text.TIME_COLUMNS, text.time_cells(rows)))
    print()
    print(text.as_markdown(text.SPACE_COLUMNS, text.space_cells(rows)))


def lists(allocator: str, what: What) -> int:
    """The budget of a row."""
    return BUDDY_LISTS if what == "fragmentation" and allocator in BUDDIES else LISTS


def _rows() -> Iterator[Row]:
    for name in catalogue.allocators():
        for what in WHATS:
            if objection(name, what) is None:
                budget = Budget(lists=lists(name, what))
                yield from Study([(name, what)], budget, SEED, LIVE_BYTES).rows()


if __name__ == "__main__":
    main()

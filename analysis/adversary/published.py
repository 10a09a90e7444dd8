"""The tables of docs/ADVERSARY.md; `python -m analysis.adversary.published` makes them anew.

It writes the winners to scenarios/found.
"""

from __future__ import annotations

from pathlib import Path

from analysis.adversary import found, text
from analysis.adversary.search import Budget, What, objection
from analysis.adversary.study import Study
from firmware import catalogue

FOLDER = Path(__file__).resolve().parents[2] / "scenarios" / "found"

SEED, LISTS, LIVE_BYTES = 1, 12_000, 8192
WHATS: tuple[What, ...] = ("allocate", "free", "fragmentation")


def main() -> None:
    """Prints the tables as Markdown."""
    names = catalogue.allocators()
    pairs = [(name, what) for name in names for what in WHATS if objection(name, what) is None]
    rows = list(Study(pairs, Budget(lists=LISTS), SEED, LIVE_BYTES).rows())
    for row in rows:
        found.write(row, FOLDER)
    print(text.as_markdown(text.TIME_COLUMNS, text.time_cells(rows)))
    print()
    print(text.as_markdown(text.SPACE_COLUMNS, text.space_cells(rows)))


if __name__ == "__main__":
    main()

"""Several builds of a program side by side: of each function the longest of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.judge.rows import Row, Subject
from base.files.markdown_text import cell

_WIDTH_COLUMNS = 120
_NONE = "-"


@dataclass(frozen=True)
class BuildRow:
    """The longest of a kind in a function, in each build; None where a build has none of it."""

    function: str
    kind: str
    lengths: tuple[Row | None, ...]

    @property
    def cells(self) -> list[str]:
        """Function and kind, the cycles of each build, and how much more the last has."""
        first, last = self.lengths[0], self.lengths[-1]
        change = _NONE
        if first and last:
            more = last.cycles - first.cycles
            change = f"{more:+,} ({more / first.cycles:+.1%})" if first.cycles else f"{more:+,}"
        cycles = [f"{'≥ ' if row.open else ''}{row.cycles:,}" if row else _NONE for row in self.lengths]
        return [f"{self.function}: {self.kind}", *cycles, change]


def side_by_side(builds: Sequence[Subject]) -> list[BuildRow]:
    """The rows of all builds, the longest first. What the compiler puts behind a name, as in
    `lock.constprop.0`, makes no other function of it.
    """
    lengths: dict[tuple[str, str], list[Row | None]] = {}
    for number, build in enumerate(builds):
        for row in build.rows:
            of_builds = lengths.setdefault((row.function.partition(".")[0], row.kind), [None] * len(builds))
            longest = of_builds[number]
            if longest is None or row.cycles > longest.cycles:
                of_builds[number] = row
    rows = [BuildRow(*key, tuple(of_builds)) for key, of_builds in lengths.items()]
    return sorted(
        rows,
        key=lambda row: (-max(length.cycles for length in row.lengths if length), row.function, row.kind),
    )


def _headings(builds: Sequence[Subject]) -> list[str]:
    return ["cycles", *(build.name for build in builds), "change"]


def as_text(builds: Sequence[Subject]) -> str:
    """A table of all rows, a column each build."""
    table = Table(box=None, pad_edge=False)
    for number, heading in enumerate(_headings(builds)):
        table.add_column(Text(heading), justify="right" if number else "left", overflow="fold")
    for row in side_by_side(builds):
        table.add_row(*map(Text, row.cells))
    console = Console(width=_WIDTH_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def as_markdown(builds: Sequence[Subject]) -> str:
    """The same for a comment on a change."""
    headings = _headings(builds)
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *(row.cells for row in side_by_side(builds))]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


def as_json(builds: Sequence[Subject]) -> list[dict[str, Any]]:
    """docs/reference/masks.md."""
    return [
        {
            "function": row.function,
            "kind": row.kind,
            "cycles": [length.cycles if length else None for length in row.lengths],
            "open": [bool(length and length.open) for length in row.lengths],
        }
        for row in side_by_side(builds)
    ]

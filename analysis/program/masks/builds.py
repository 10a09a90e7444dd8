"""Several builds of a program side by side: of each function the longest of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.judge.rows import Row, Subject
from analysis.program import parts
from analysis.program.parts import Part
from base.files.markdown_text import cell

_NONE = "-"
Lengths = dict[tuple[str, str], list[Row | None]]


def side_by_side(builds: Sequence[Subject]) -> Lengths:
    """By function and kind the longest in each build, None where it has none; the longest first.

    What the compiler puts behind a name, as in `lock.constprop.0`, makes no other function of it.
    """
    lengths: Lengths = {}
    for number, build in enumerate(builds):
        for row in build.rows:
            key = (row.function.partition(".")[0], row.kind)
            of_builds = lengths.setdefault(key, [None] * len(builds))
            longest = of_builds[number]
            if longest is None or row.cycles > longest.cycles:
                of_builds[number] = row
    return dict(
        sorted(lengths.items(), key=lambda pair: (-max(row.cycles for row in pair[1] if row), pair[0]))
    )


def _part(builds: Sequence[Subject]) -> Part:
    """Function and kind, the cycles of each build, and how much more the last has."""
    headings = ("cycles", *(build.name for build in builds), "change")
    lines = []
    for (function, kind), of_builds in side_by_side(builds).items():
        first, last = of_builds[0], of_builds[-1]
        change = _NONE
        if first and last:
            more = last.cycles - first.cycles
            change = f"{more:+,} ({more / first.cycles:+.1%})" if first.cycles else f"{more:+,}"
        cycles = [f"{'≥ ' if row.open else ''}{row.cycles:,}" if row else _NONE for row in of_builds]
        lines.append((f"{function}: {kind}", *cycles, change))
    return Part("Builds side by side", headings, lines, numbers=range(1, len(headings)))


def as_text(sentences: Sequence[str], builds: Sequence[Subject]) -> str:
    """A table of all rows, a column each build, after the sentences of each."""
    return parts.as_text(sentences, [_part(builds)], everything=True)


def as_markdown(builds: Sequence[Subject]) -> str:
    """The same for a comment on a change."""
    part = _part(builds)
    lines = [part.headings, ("---", *["---:"] * (len(part.headings) - 1)), *part.lines]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


def as_json(builds: Sequence[Subject]) -> list[dict[str, Any]]:
    """A row for each function and kind, with the figures of each build."""
    return [
        {
            "function": function,
            "kind": kind,
            "cycles": [row.cycles if row else None for row in rows],
            "open": [bool(row and row.open) for row in rows],
        }
        for (function, kind), rows in side_by_side(builds).items()
    ]

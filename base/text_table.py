"""Sentences and tables for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple


class TextTable(NamedTuple):
    """`lines` have a cell for each of the `headings`; the columns `numbers` stand to the right."""

    title: str
    headings: Sequence[str]
    lines: Sequence[Sequence[str]]
    numbers: Collection[int] = ()


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line for each row, without headings; each column is as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def printed(parts: Iterable[str | TextTable], width_columns: int = 120) -> str:
    """The parts one below the other, a table behind an empty line and its title, if it has one."""
    from rich.console import Console  # takes a while
    from rich.table import Table
    from rich.text import Text

    console = Console(width=width_columns, highlight=False, markup=False)
    with console.capture() as captured:
        for part in parts:
            if isinstance(part, str):
                console.print(part, soft_wrap=True)
                continue
            table = Table(box=None, pad_edge=False)
            for place, heading in enumerate(part.headings):
                is_number = place in part.numbers
                justify: Literal["left", "right"] = "right" if is_number else "left"
                table.add_column(heading, justify=justify, no_wrap=is_number, overflow="fold")
            for line in part.lines:
                table.add_row(*map(Text, line))
            console.print("", *([part.title] if part.title else []), sep="\n", soft_wrap=True)
            console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())

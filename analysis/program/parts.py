"""The parts of a report: tables and sentences, of which the terminal and the page show the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import polars as pl
from pydantic import Field, GetPydanticSchema, PlainSerializer, TypeAdapter
from pydantic_core.core_schema import any_schema
from rich.console import Console
from rich.table import Table
from rich.text import Text

from base.metrology.quantiles import summarise
from base.metrology.summaries import Summary
from base.microseconds import UNIT, digits
from base.run_folder.explanation import Total
from simulator.outputs import Note

_WIDTH_COLUMNS = 120
_MOST_TOTALS = 8
_MOST_IN_A_CELL = 6


@dataclass(frozen=True)
class Part:
    """A table with a title, and sentences below it. The columns `numbers` are figures. The terminal
    shows the first `most` lines, and in a line of its own what follows a line break in a cell.
    """

    title: str
    headings: tuple[str, ...] = ()
    lines: Sequence[tuple[str, ...]] = ()
    sentences: Sequence[str] = ()
    numbers: range = range(0)
    most: int = 12


def as_text(sentences: Iterable[str], parts: Iterable[Part], everything: bool = False) -> str:
    """Sentences that come first, and all parts; with `everything` all lines of each."""
    console = Console(width=_WIDTH_COLUMNS, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(*sentences, sep="\n", soft_wrap=True)
        for part in parts:
            console.print("", part.title, sep="\n", soft_wrap=True)
            shown = part.lines if everything else part.lines[: part.most]
            if shown:
                console.print(_table(part, shown))
            more = len(part.lines) - len(shown)
            rest = [f"and {more:,} more (--json has all)"] if more else []
            if rest or part.sentences:
                console.print(*rest, *part.sentences, sep="\n", soft_wrap=True)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _table(part: Part, lines: Sequence[tuple[str, ...]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="none", show_header=any(part.headings))
    for number, heading in enumerate(part.headings):
        is_number = number in part.numbers
        table.add_column(
            heading, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold"
        )
    for line in lines:
        table.add_row(*map(Text, line))
    return table


def length(cycles: int, ns: float) -> str:
    """`1,001 cycles (62.56 µs)`."""
    return f"{cycles:,} cycles ({digits(ns)} {UNIT})"


def few(words: Sequence[str]) -> str:
    """The first few of some words, and how many more there are."""
    more = len(words) - _MOST_IN_A_CELL
    return ", ".join([*words[:_MOST_IN_A_CELL], *([f"and {more:,} more"] if more > 0 else [])])


def spent(title: str, totals: Sequence[Total], cycles: int) -> Part:
    """What the cycles of something went into."""
    lines = [
        (
            f"{total.cycles:,}",
            f"{total.cycles / max(cycles, 1):.1%}",
            f"{total.executions:,}×",
            total.name,
            total.source,
        )
        for total in totals
    ]
    return Part(title, ("cycles", "of all", "", "what", "source"), lines, numbers=range(3), most=_MOST_TOTALS)


# How the fields of a report become JSON: pydantic dumps its dataclasses as they are.


T = TypeVar("T")
Opaque = GetPydanticSchema(lambda _type, _handler: any_schema())
"""What pydantic need not look into."""
Hidden = Annotated[T, Opaque, Field(exclude=True)]
"""A field that is no part of the document."""
OrNull = Annotated[T, PlainSerializer(lambda value: value or None)]
"""A word or a number that is null where it is empty or 0."""
Address = Annotated[int, PlainSerializer(lambda address: f"{address:#010x}")]
NoteRow = Annotated[Note, PlainSerializer(Note.as_json)]


def as_json(report: Any) -> dict[str, Any]:
    """A report as JSON has it, with the heading of its subject."""
    document = TypeAdapter(type(report)).dump_python(report, mode="json", by_alias=True)
    return {**report.subject.heading, **document}


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Counts and statistics of intervals that ended, and how many did not. `distribution` has pairs
    of cycles and how often they occurred, ascending.
    """

    count: int
    open: int
    total_cycles: int
    cycles: Summary
    ns: Summary
    distribution: tuple[tuple[int, int], ...]


def counted(rows: pl.DataFrame) -> dict[str, Any]:
    """The fields of Counted, of rows with `cycles` and `ns`."""
    ended = rows.filter(pl.col("cycles").is_not_null())
    return {
        "count": ended.height,
        "open": rows.height - ended.height,
        "total_cycles": int(ended["cycles"].sum()),
        "cycles": summarise(ended["cycles"].to_numpy()),
        "ns": summarise(ended["ns"].to_numpy()),
        "distribution": tuple(ended.group_by("cycles").len().sort("cycles").iter_rows()),
    }

"""What five publications print: published/*.toml, with the place of every figure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from base.files.documents import Table as Document
from base.files.documents import open_toml
from base.files.errors import TailscopeError, near_miss
from base.run_folder.manifest import Optimization

_FOLDER = Path(__file__).parent / "published"
SOURCES = ("article", "crate", "thesis", "deck1", "deck2")
"""In the order of the page."""

Compared = Literal["exactly", "as difference", "by order", "by range", "as a bound", "nothing"]
"""exactly: integers that follow from the operations alone. as difference: the platform is the same,
or near. by order: it is another, so only the order of the allocators compares. by range: the trace
is one of many, so the published value is one of a distribution. as a bound: a formula, and what
came out below it. nothing: the table says why.
"""

Printed = float | int | str
"""A figure, or a formula; `-` where none is printed; `cut off` where the page's edge hides it."""

_PERCENT = "%"


class Part(Document):
    """Figures that stand together, in the publication's own words.

    `rows` are allocators, or whatever else has a figure of each column.
    """

    title: str
    unit: str
    columns: list[str]
    rows: dict[str, list[Printed]]

    def unit_of(self, column: str) -> str:
        """The unit of a column; one whose name has a percent sign is a share."""
        return _PERCENT if _PERCENT in column else self.unit

    def printed(self, row: str, column: str) -> float | None:
        """The figure, None where none can be read."""
        cell = self.rows[row][self.columns.index(column)]
        return None if isinstance(cell, str) else cell


Verdict = Literal["holds", "reverses", "cannot be told"]
"""What becomes of a publication's conclusion here."""


class Cause(Document):
    """The cause of a verdict, where it is known. `says` names witnesses in braces: figures measured
    here. It is told only where the witness `lesser` is below `greater`.
    """

    when: Verdict
    says: str
    lesser: str
    greater: str


class Claim(Document):
    """A conclusion of the publication: what it says, and how figures show it.

    `ascending` has groups of rows: each figure of a group is below each of the next. `equal` are
    rows that are alike. With `printed` the figures are those that are printed. `of` "columns"
    compares columns in place of rows; `along` are the columns (rows) in which they are compared,
    and `parts` where: all if empty. A table that nobody makes again only has what it says.
    """

    says: str
    ascending: list[list[str]] = Field(default_factory=list)
    equal: list[str] = Field(default_factory=list)
    printed: bool = False
    of: Literal["rows", "columns"] = "rows"
    along: list[str] = Field(default_factory=list)
    parts: list[str] = Field(default_factory=list)
    cause: list[Cause] = Field(default_factory=list)


class Misprint(Document):
    """A figure that contradicts others beside it. `should` is what they say; None: not known."""

    table: str
    part: str
    row: str
    column: str
    printed: float | int
    should: float | int | None = None
    why: str


class Way(Document):
    """A way to run and to time. `window` is the column that is told, `net` less that of an empty
    section. `further` runs allocators that the publication does not have, too; `own_format` those
    of its `knobs` without them. A conclusion must agree in all ways that are `judged`.
    """

    name: str = "here"
    window: str = "operation_cycles"
    art: bool = False
    optimization: Optimization = "2"
    net: bool = False
    further: bool = True
    own_format: bool = False
    judged: bool = False


class Making(Document):
    """How a table is made again: by which recipes, from which scenarios, in which ways.

    `scenarios` are by column, row, part or a word of the part's title, or "" for all; `figures`
    are the expressions that give them (engine.py), by the same. What stands in braces in
    `made_from` and `notes` is computed: properties of the engine's Bench. What may show a cause are
    the `instructions` of each allocator, an expression, and `witnesses`: figures by part, row and
    column.
    """

    by: list[str]
    made_from: str
    scenarios: dict[str, list[str]] = Field(default_factory=dict)
    figures: dict[str, str] = Field(default_factory=dict)
    way: list[Way] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    resolution: dict[str, float] = Field(default_factory=dict)
    names: dict[str, str] = Field(default_factory=dict)
    counts_probes: bool = False
    knob: str = ""
    instructions: str = ""
    witnesses: dict[str, Annotated[tuple[str, str, str], Field(strict=False)]] = Field(default_factory=dict)
    heap_bytes: int = 0
    searches: bool = True


class PublishedTable(Document):
    """One table or figure. `reason` says why nothing is compared, where that is so; without
    `making` nobody makes it again.
    """

    name: str
    title: str
    place: str
    compared: Compared
    reason: str = ""
    remarks: list[str] = Field(default_factory=list)
    claim: list[Claim] = Field(default_factory=list)
    part: list[Part] = Field(default_factory=list)
    making: Making | None = None


class Source(Document):
    """One publication. `names` gives the allocator here that is what the publication calls so, and
    `knobs` what an allocator is built with to have its format. `way` are those of its tables.
    """

    key: str
    author: str
    title: str
    platform: str
    names: dict[str, str]
    table: list[PublishedTable]
    knobs: dict[str, dict[str, int]] = Field(default_factory=dict)
    way: list[Way] = Field(default_factory=list)
    misprint: list[Misprint] = Field(default_factory=list)


@cache
def source(key: str) -> Source:
    """The publication of this key. Raises DocumentError where its file is damaged."""
    return open_toml(_FOLDER / f"{key}.toml").check(Source)


def sources() -> list[Source]:
    """All five, in the order of the page."""
    return [source(key) for key in SOURCES]


@cache
def tables() -> dict[str, tuple[Source, PublishedTable]]:
    """Every table by its name, and where it is from, in the order of the page."""
    return {table.name: (publication, table) for publication in sources() for table in publication.table}


def find(name: str) -> tuple[Source, PublishedTable]:
    """The table of this name and where it is from. Raises TailscopeError."""
    if name not in tables():
        near = near_miss(name, tables())
        raise TailscopeError(
            f"There is no table {name!r}: `./lab heap reproduce --list` names them all.{near}"
        )
    return tables()[name]


def impossible_deviations(table: PublishedTable) -> Iterator[tuple[Part, str]]:
    """The rows of a part whose printed deviation no numbers between these limits can have (Bhatia,
    Davis, "A Better Bound on the Variance", American Mathematical Monthly 107, 2000). Without a
    minimum zero is taken.
    """
    for part in table.part:
        for row in part.rows if {"avg", "stdv", "max"} <= set(part.columns) else ():
            average, deviation, most = (part.printed(row, column) or 0.0 for column in ("avg", "stdv", "max"))
            least = part.printed(row, "min") or 0.0
            if deviation > sqrt((most - average) * (average - least)):
                yield part, row

"""What a page is made of, before anything draws it.

A page is text, tables and figures, in the order in which they are read. It knows no HTML, no URL
and no theme: a sample is named, not linked, and a colour is a token (dashboards/loaded/series.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

Value = float | int | str | bool | None


class Sample(NamedTuple):
    """One operation or interrupt of a run; `key` is that of dashboards/waveforms.py."""

    run_id: str
    key: str


class Cell(NamedTuple):
    """`text` is read, `value` is exported and sorted by; a number's `value` is in its unit, whole.

    `notes` stand under the text. `sample` is what a click opens, `why` what hovering tells.
    `share_percent` is the length of a bar under the number; None draws none. `whole` is the value
    with its unit and all that is known of it, for hovering. `line` is a small line, its places
    from 0 to 100 from left and top.
    """

    text: str
    value: Value = None
    notes: Sequence[str] = ()
    sample: Sample | None = None
    why: str = ""
    share_percent: float | None = None
    whole: str = ""
    line: Sequence[tuple[float, float]] = ()


class Column(NamedTuple):
    """`key` names it in an export. `words` head it, with the unit where it has one.

    `note` stands under them: what all rows share, such as `±0.01`.
    """

    key: str
    words: str
    numeric: bool = True
    note: str = ""


class Line(NamedTuple):
    """A row of a table. `entry` is that of the run in the picker; None where it is of no run.

    `run_id` is the run whose page the name opens; empty for none. `within_ns` is the least limit of
    a reader that it keeps, infinite for none; None where limits are not asked of it.
    """

    name: str
    cells: Sequence[Cell]
    entry: int | None = None
    run_id: str = ""
    within_ns: float | None = None


class Group(NamedTuple):
    """Rows under one heading; an empty heading is not drawn.

    `note` stands beside it: what all rows share.
    """

    words: str
    lines: Sequence[Line]
    note: str = ""


class Grid(NamedTuple):
    """A table. The first column is the rows' names, headed `names`; `columns` are the others.

    `pinned` columns after the name stay in sight on a narrow screen. `legend` explains what stands
    beside the numbers.
    """

    key: str
    title: str
    columns: Sequence[Column]
    groups: Sequence[Group]
    names: str = "allocator"
    legend: str = ""
    pinned: int = 1

    def frame(self) -> pl.DataFrame:
        """The table for CSV: a row for each line, the values as they are.

        Its columns are `group` (where there are groups), the names, and each column's key.
        """
        rows = [(group.words, line) for group in self.groups for line in group.lines]
        grouped = any(group.words for group in self.groups)
        columns = {"group": [words for words, _ in rows]} if grouped else {}
        named = {self.names: [line.name for _, line in rows]}
        values = {
            column.key: [line.cells[number].value for _, line in rows]
            for number, column in enumerate(self.columns)
        }
        return pl.DataFrame({**columns, **named, **values}, strict=False)


class Chart(NamedTuple):
    """A Plotly figure with the plain-text words that belong to it.

    `badges` has one sentence for each run that is not complete: no figure is shown without them.
    """

    key: str
    title: str
    subtitle: str
    explanation: str
    figure: Any
    badges: Sequence[str] = ()


class Prose(NamedTuple):
    """A heading, empty for none, and paragraphs; `listed` ones are bullet points, `folded` ones
    closed until asked for.
    """

    title: str
    paragraphs: Sequence[str]
    listed: bool = False
    folded: bool = False


class Verbatim(NamedTuple):
    """A text as a file has it, folded, and left out on paper."""

    title: str
    text: str


class ByLimit(NamedTuple):
    """What holds under a reader's limit: the sentence of the last step that begins at or below it.

    `steps` are the ns at which each sentence begins to hold, the least first, which is 0.
    """

    steps: Sequence[tuple[float, str]]


Block = Grid | Chart | Prose | Verbatim | ByLimit


def present(*blocks: Block | None) -> tuple[Block, ...]:
    """The blocks that are not None."""
    return tuple(block for block in blocks if block is not None)


class Fact(NamedTuple):
    """A few words of a belief, and the page of the report that says more, or the page of a run."""

    words: str
    page: str
    run_id: str = ""


class Belief(NamedTuple):
    """Whether a page may be believed, in one line: `level` is green, amber or red."""

    level: str
    facts: Sequence[Fact]


class Page(NamedTuple):
    """`key` is its address, `title` its heading, `lead` what it shows, in three lines at most."""

    key: str
    title: str
    lead: Sequence[str]
    blocks: Sequence[Block] = ()
    belief: Belief | None = None

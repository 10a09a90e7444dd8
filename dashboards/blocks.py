"""What a page is made of, before anything draws it.

A page is text, tables and figures, in the order in which they are read. It knows no HTML, no URL
and no theme: a sample is named, not linked, and a colour is a token (dashboards/loaded/series.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from dashboards.figures.chart import Chart

Value = float | int | str | bool | None


@dataclass(frozen=True)
class Sample:
    """One operation or interrupt of a run; `key` is that of dashboards/waveforms.py."""

    run_id: str
    key: str


@dataclass(frozen=True)
class Cell:
    """`text` is read, `value` is exported and sorted by; a number's `value` is in its unit, whole.

    `notes` stand under the text. `sample` is what a click opens, `why` what hovering tells.
    `share_percent` is the length of a bar under the number; None draws none. `whole` is the value
    with its unit and all that is known of it, for hovering.
    """

    text: str
    value: Value = None
    notes: tuple[str, ...] = ()
    sample: Sample | None = None
    why: str = ""
    share_percent: float | None = None
    whole: str = ""


@dataclass(frozen=True)
class Column:
    """`key` names it in an export. `words` head it, with the unit where it has one.

    `note` stands under them: what all rows share, such as `±0.01`.
    """

    key: str
    words: str
    numeric: bool = True
    note: str = ""


@dataclass(frozen=True)
class Line:
    """A row of a table. `entry` is that of the run in the picker; None where it is of no run.

    `run_id` is the run whose page the name opens; empty for none.
    """

    name: str
    cells: tuple[Cell, ...]
    entry: int | None = None
    run_id: str = ""


@dataclass(frozen=True)
class Group:
    """Rows under one heading; an empty heading is not drawn.

    `note` stands beside it: what all rows share. `exported` heads them in an export, if other words
    do.
    """

    words: str
    lines: tuple[Line, ...]
    note: str = ""
    exported: str = ""


@dataclass(frozen=True)
class Grid:
    """A table. The first column is the rows' names, headed `names`; `columns` are the others.

    `pinned` columns after the name stay in sight on a narrow screen. `folded` tables are closed
    until asked for. `legend` explains what stands beside the numbers. Of a table with `one_group`
    a reader chooses the group to see, first that at this place.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    names: str = "allocator"
    legend: str = ""
    pinned: int = 1
    folded: bool = False
    one_group: int | None = None

    def frame(self) -> pl.DataFrame:
        """The table for CSV: a row for each line, the values as they are.

        Its columns are `group` (where there are groups), the names, and each column's key.
        """
        rows = [(group.exported or group.words, line) for group in self.groups for line in group.lines]
        grouped = any(group.words for group in self.groups)
        columns = {"group": [words for words, _ in rows]} if grouped else {}
        named = {self.names: [line.name for _, line in rows]}
        values = {
            column.key: [line.cells[number].value for _, line in rows]
            for number, column in enumerate(self.columns)
        }
        return pl.DataFrame({**columns, **named, **values}, strict=False)


FEW_ROWS = 12


@dataclass(frozen=True)
class DotRow:
    """A run in a DotPlot: where its marks stand on the axis, from 0 to 100, and what they are.

    `text` is the worst value as it is read, `value` the same in the unit of exports, `whole` with
    its unit and all that is known of it. `sample` is what a click on it opens, `why` what hovering
    tells. `within_ns` is the least limit that the run keeps; None where it keeps none. `ramp` is a
    small line of the section against depth, its places from 0 to 100 from left and top; empty where
    there are no depths.
    """

    name: str
    run_id: str
    badge: str
    median_percent: float
    worst_percent: float
    bound_percent: float | None
    bound_grows: bool
    text: str
    value: float
    sample: Sample | None
    why: str
    within_ns: float | None = None
    ramp: tuple[tuple[float, float], ...] = ()
    whole: str = ""


@dataclass(frozen=True)
class DotLane:
    """Rows that may be compared, the worst first, under one heading."""

    words: str
    rows: tuple[DotRow, ...]


@dataclass(frozen=True)
class DotPlot:
    """A row a run: a dot, a bar to the worst, and a tick at the bound, on one axis.

    `ticks` are places on the axis, from 0 to 100, and the number that stands there, in `unit`. The
    axis is logarithmic and goes from `ends_ns[0]` to `ends_ns[1]`.
    """

    title: str
    unit: str
    ticks: tuple[tuple[float, str], ...]
    lanes: tuple[DotLane, ...]
    legend: str
    ends_ns: tuple[float, float]
    names: str = "allocator"

    @property
    def dense(self) -> bool:
        """True if it has so many rows that they must be low to fit a screen."""
        return sum(len(lane.rows) for lane in self.lanes) > FEW_ROWS

    @property
    def has_ramps(self) -> bool:
        """True if a row has a line against depth."""
        return any(row.ramp for lane in self.lanes for row in lane.rows)


@dataclass(frozen=True)
class PerRun:
    """A figure that each run has of its own, such as its waveform; the picker hides whole ones."""

    key: str
    title: str
    charts: tuple[tuple[int, Chart], ...]


@dataclass(frozen=True)
class Prose:
    """A heading, empty for none, and paragraphs; `listed` ones are bullet points, `folded` ones
    closed until asked for.
    """

    title: str
    paragraphs: tuple[str, ...]
    listed: bool = False
    folded: bool = False


@dataclass(frozen=True)
class Verbatim:
    """A text as a file has it, folded, and left out on paper."""

    title: str
    text: str


@dataclass(frozen=True)
class ByLimit:
    """What holds under a reader's limit: the sentence of the last step that begins at or below it.

    `steps` are the ns at which each sentence begins to hold, the least first, which is 0.
    """

    steps: tuple[tuple[float, str], ...]


Block = Grid | DotPlot | Chart | PerRun | Prose | Verbatim | ByLimit


def present(*blocks: Block | None) -> tuple[Block, ...]:
    """The blocks that are not None."""
    return tuple(block for block in blocks if block is not None)


def per_run(key: str, title: str, charts: Iterable[tuple[int, Chart | None]]) -> PerRun | None:
    """The figures that there are, by the run's entry in the picker; None without any."""
    made = tuple((entry, chart) for entry, chart in charts if chart is not None)
    return PerRun(key, title, made) if made else None


@dataclass(frozen=True)
class Fact:
    """A few words of a belief, and the page of the report that says more, or the page of a run."""

    words: str
    page: str
    run_id: str = ""


@dataclass(frozen=True)
class Belief:
    """Whether a page may be believed, in one line: `level` is green, amber or red."""

    level: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Page:
    """`key` is its address, `title` its heading, `lead` what it shows, in three lines at most."""

    key: str
    title: str
    lead: tuple[str, ...]
    blocks: Sequence[Block] = field(default_factory=tuple)
    belief: Belief | None = None

    def grids(self) -> Iterator[Grid]:
        """Its tables, in their order."""
        return (block for block in self.blocks if isinstance(block, Grid))

    def charts(self) -> Iterator[Chart]:
        """Its figures, those of single runs included, in their order."""
        for block in self.blocks:
            if isinstance(block, Chart):
                yield block
            elif isinstance(block, PerRun):
                yield from (chart for _, chart in block.charts)

    def with_charts(self, made: Callable[[Chart], Chart]) -> Page:
        """The page with what `made` makes of each of its figures."""
        return replace(self, blocks=tuple(_with_charts(block, made) for block in self.blocks))


def _with_charts(block: Block, made: Callable[[Chart], Chart]) -> Block:
    if isinstance(block, Chart):
        return made(block)
    if isinstance(block, PerRun):
        return replace(block, charts=tuple((entry, made(chart)) for entry, chart in block.charts))
    return block

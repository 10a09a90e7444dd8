"""The overview: every run folder in one table, and the runs under way above it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dash_ag_grid as dag
import polars as pl
from dash import html

from base.run_folder.folder import PROGRESS
from base.run_folder.progress_file import Section, SoFar, read
from base.run_index.row import HEADLINES
from dashboards.app.address import Address
from dashboards.app.draw import downloads
from dashboards.formatting import grouped, number


def under_way(runs: Path, table: pl.DataFrame) -> list[Any]:
    """A box for each run of the index `table` that still goes on, and for each that was killed.

    A killed one leaves its progress behind (base/run_folder/progress_file.py).
    """
    unfinished = list(table.filter(pl.col("state") == "unfinished")["id"])
    going = {identity: so_far for identity in unfinished if (so_far := read(runs / identity)) is not None}
    killed = [one for one in unfinished if one not in going and (runs / one / PROGRESS).exists()]
    boxes = [_box(identity, so_far) for identity, so_far in going.items()]
    return boxes + [_killed(identity) for identity in killed]


def _killed(identity: str) -> Any:
    words = f"{identity} was killed before its end; ./lab redecode it, or run the scenario again."
    return html.Div(html.Strong(words), className="run killed", id={"type": "under-way", "run": identity})


def _box(identity: str, so_far: SoFar) -> Any:
    name = f"{so_far.scenario} with {so_far.allocator} on {so_far.board}"
    head = f"{name}: {so_far.step}, run {grouped(so_far.run)} of {grouped(so_far.runs)}"
    bar = html.Progress(
        value=None if so_far.operations is None else str(so_far.operations),
        max=str(so_far.planned_operations or 1),
        **{"aria-label": f"operations of {name}"},  # type: ignore[arg-type]
    )
    words = html.Div(" · ".join(_facts(so_far)))
    return html.Div(
        [html.Strong(head), bar, words], className="run", id={"type": "under-way", "run": identity}
    )


def _facts(so_far: SoFar) -> Iterator[str]:
    if so_far.operations is not None:
        planned = so_far.planned_operations
        of = "" if planned is None else f" of {grouped(planned)}"
        yield f"{grouped(so_far.operations)}{of} operations"
    if so_far.operations_per_s is not None:
        yield f"{so_far.operations_per_s:,.0f} a second"
    for what, section in (("allocation", so_far.critical), ("free", so_far.free)):
        if section is not None:
            yield _live_worst(what, section)
    yield f"{so_far.elapsed_s:,.0f} s so far"
    if so_far.left_s is not None:
        yield f"about {so_far.left_s:,.0f} s left"


def _live_worst(what: str, section: Section) -> str:
    ns = number(section.ns, "ns")
    return (
        f"longest {what} so far {ns} ns ({grouped(section.cycles)} cycles), operation {grouped(section.seq)}"
    )


GRID = "runs-grid"
TABLE = "runs"

_TEXT = {"filter": "agTextColumnFilter"}
_NUMBER = {
    "filter": "agNumberColumnFilter",
    "type": "rightAligned",
    "valueFormatter": {"function": "grouped(params.value)"},
    "width": 110,
}


def _overview_worst(key: str, words: str) -> dict[str, Any]:
    return {
        **_NUMBER,
        "field": f"{key}_max",
        "headerName": f"{words} max (ns)",
        "cellRenderer": "SampleLink",
        "cellClass": "worst ag-right-aligned-cell",
        "width": 130,
    }


_HEADINGS = ("allocate", "free", "interrupt", "task")
"""Of HEADLINES, as the option --quantity has them."""

_COLUMNS: list[dict[str, Any]] = [
    {
        **_TEXT,
        "field": "verdict",
        "cellRenderer": "Verdict",
        "width": 150,
        "pinned": "left",
    },
    {**_TEXT, "field": "scenario", "width": 150},
    {
        **_TEXT,
        "field": "configuration",
        "headerName": "allocator and options",
        "cellRenderer": "RunLink",
        "width": 210,
    },
    *(_overview_worst(key, words) for key, words in zip(HEADLINES, _HEADINGS, strict=True)),
    {**_NUMBER, "field": "allocate_bound_ns", "headerName": "allocate bound (ns)", "width": 130},
    {**_NUMBER, "field": "fragmentation_percent", "headerName": "fragmentation (%)", "width": 120},
    {**_NUMBER, "field": "operations", "width": 105},
    {"field": "time", "headerName": "began (UTC)", "width": 165, **_TEXT},
    {**_TEXT, "field": "board", "width": 95},
    {**_TEXT, "field": "parameters", "width": 240},
    {**_TEXT, "field": "reason", "headerName": "first reason", "width": 300},
    {**_TEXT, "field": "id", "headerName": "folder", "width": 360},
]
_FIELDS = [*(column["field"] for column in _COLUMNS), "state", "problem"]
_HIDDEN = [f"{key}_{name}" for key in HEADLINES for name in ("key", "budget")]


def overview(table: pl.DataFrame, live: list[Any]) -> list[Any]:
    """The page; `table` is the index, `live` what is under way."""
    compare = html.A("", id="compare", href="/matrix", className="tool", **{"aria-disabled": "true"})  # type: ignore[arg-type]
    return [
        html.H1("Runs"),
        html.P(counted(table), className="lead", id="counted"),
        html.Div(live, id="live", className="live", **{"aria-live": "polite"}),  # type: ignore[arg-type]
        html.P("The table stays on the screen; save it as CSV to print it.", className="on-paper"),
        html.Div([compare, downloads(Address(), TABLE)], className="head"),
        dag.AgGrid(
            id=GRID,
            rowData=rows(table),
            columnDefs=_COLUMNS,
            defaultColDef={
                "sortable": True,
                "resizable": True,
                "wrapHeaderText": True,
                "autoHeaderHeight": True,
            },
            getRowId="params.data.id",
            dashGridOptions={
                "rowSelection": {"mode": "multiRow", "enableClickSelection": False, "selectAll": "filtered"},
                "selectionColumnDef": {"pinned": "left", "width": 46},
                "animateRows": False,
                "rowHeight": 30,
                "theme": {"function": "themeQuartz"},
                "multiSortKey": "ctrl",
                "tabToNextCell": {"function": "leave()"},
                "enableCellTextSelection": True,
            },
            style={"height": None},
        ),
        html.P(
            "A maximum leads to its instant, an allocator to its run. Click a heading to sort, with Ctrl by "
            "several; the bars in a heading filter. By keyboard: arrow keys go from cell to cell, Enter "
            "follows, the space bar chooses a row.",
            className="hint",
        ),
    ]


def rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of the grid: of the index what it shows."""
    named = pl.coalesce("configuration", "allocator", "id").alias("configuration")
    when = pl.col("time").dt.strftime("%Y-%m-%d %H:%M:%S")
    return table.with_columns(named, when).select(list(dict.fromkeys([*_FIELDS, *_HIDDEN]))).to_dicts()


def counted(table: pl.DataFrame) -> str:
    """`96 run folders: 92 complete, 3 unfinished`; what is not complete is never left unsaid."""
    if table.is_empty():
        return "There are no run folders yet; run a scenario: ./lab scenario mem_frag."
    finished = pl.col("state").is_in(["finished", "observed"])
    words = pl.when(finished).then("verdict").otherwise("state").alias("words")
    counts = table.select(words)["words"].value_counts().sort("count", "words", descending=[True, False])
    listed = ", ".join(f"{grouped(count)} {word}" for word, count in counts.iter_rows())
    noun = "run folder" if len(table) == 1 else "run folders"
    return f"{grouped(len(table))} {noun}: {listed}."

"""The overview: every run folder in one table, and the runs under way above it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import dash_ag_grid as dag
import polars as pl
from dash import dcc, html

from base.run_folder.folder import PROGRESS
from base.run_folder.progress_file import Section, SoFar, read
from base.run_index.index import latest
from base.run_index.row import HEADLINES
from dashboards.app.address import Address
from dashboards.app.draw import downloads
from dashboards.formatting import grouped, number


def going_on(runs: Path, table: pl.DataFrame) -> dict[str, SoFar]:
    """How far each run of the index `table` is that still goes on, by its id."""
    unfinished = table.filter(pl.col("state") == "unfinished")["id"]
    return {identity: so_far for identity in unfinished if (so_far := read(runs / identity)) is not None}


def under_way(
    runs: Path, table: pl.DataFrame, going: Mapping[str, SoFar], wires: Mapping[str, str]
) -> list[Any]:
    """A box for each run of the index `table` that still goes on, as `going_on` found them, and for
    each that was killed. `wires` are pictures of captures, by id.

    A killed one leaves its progress behind (base/run_folder/progress_file.py).
    """
    unfinished = list(table.filter(pl.col("state") == "unfinished")["id"])
    killed = [run_id for run_id in unfinished if run_id not in going and (runs / run_id / PROGRESS).exists()]
    boxes = [_box(identity, so_far, wires.get(identity)) for identity, so_far in going.items()]
    return boxes + [_killed(identity) for identity in killed]


def _killed(identity: str) -> Any:
    words = f"{identity} was killed before its end; ./lab redecode it, or run the scenario again."
    return html.Div(html.Strong(words), className="run killed", id={"type": "under-way", "run": identity})


def _box(identity: str, so_far: SoFar, wire: str | None) -> Any:
    name = f"{so_far.scenario} with {so_far.allocator} on {so_far.board}"
    head = f"{name}: {so_far.step}, run {grouped(so_far.run)} of {grouped(so_far.runs)}"
    bar = html.Progress(
        value=None if so_far.operations is None else str(so_far.operations),
        max=str(so_far.planned_operations or 1),
        **{"aria-label": f"operations of {name}"},  # type: ignore[arg-type]
    )
    words = html.Div(" · ".join(_facts(so_far)))
    parts = [html.Strong(head), bar, words]
    if wire:
        parts.append(html.Pre(wire, className="wire", **{"aria-hidden": "true"}))  # type: ignore[arg-type]
    return html.Div(parts, className="run", id={"type": "under-way", "run": identity})


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


_HEADINGS = ("section", "allocate", "free", "interrupt", "task")
"""Of HEADLINES, as the option --quantity has them."""
_WORST = {words: _overview_worst(key, words) for key, words in zip(HEADLINES, _HEADINGS, strict=True)}

_COLUMNS: list[dict[str, Any]] = [
    {
        **_TEXT,
        "field": "configuration",
        "headerName": "allocator and options",
        "cellRenderer": "RunLink",
        "width": 160,
    },
    _WORST["section"] | {"width": 112},
    {**_TEXT, "field": "scenario", "headerName": "scenario", "width": 130},
    {"colId": "age", "field": "time", "headerName": "age", "width": 105,
     "valueFormatter": {"function": "age(params.value)"}},
    {**_TEXT, "field": "verdict", "headerName": "verdict", "cellRenderer": "Verdict", "width": 125},
    *(_WORST[words] for words in ("interrupt", "allocate", "free", "task")),
    {**_NUMBER, "field": "repeats", "headerName": "runs alike", "width": 95},
    {**_TEXT, "field": "seed", "headerName": "seed", "width": 125},
    {**_TEXT, "field": "options", "headerName": "options", "width": 260},
    {**_TEXT, "field": "parameters", "headerName": "parameters", "width": 240},
    {**_NUMBER, "field": "allocate_bound_ns", "headerName": "allocate bound (ns)", "width": 130},
    {**_NUMBER, "field": "fragmentation_percent", "headerName": "fragmentation (%)", "width": 120},
    {**_NUMBER, "field": "operations", "headerName": "operations", "width": 105},
    {"field": "time", "headerName": "began (UTC)", "width": 165, **_TEXT},
    {**_TEXT, "field": "board", "headerName": "board", "width": 95},
    {**_TEXT, "field": "reason", "headerName": "first reason", "width": 300},
    {**_TEXT, "field": "id", "headerName": "folder", "width": 360},
]  # fmt: skip
_FIELDS = [*(column["field"] for column in _COLUMNS), "state", "problem"]
_HIDDEN = [f"{key}_{name}" for key in HEADLINES for name in ("key", "budget")]
REPEATS = "repeats"
FIND = "find"


def overview(table: pl.DataFrame, live: list[Any], going: Collection[str] = ()) -> list[Any]:
    """The page; `table` is the index, `live` what is under way, `going` the ids of these runs."""
    return [
        html.H1("Runs"),
        html.P(counted(table, going), className="lead", id="counted"),
        html.Div(live, id="live", className="live", **{"aria-live": "polite"}),  # type: ignore[arg-type]
        html.P("The table stays on the screen; save it as CSV to print it.", className="on-paper"),
        html.Div(
            [
                dcc.Input(id=FIND, type="search", placeholder="search all columns", debounce=False),
                _repeats(table),
                downloads(Address(), TABLE),
            ],
            className="head",
        ),
        html.Div(
            [
                html.A("", id="compare", href="/compare", className="tool", hidden=True),
                html.A("", id="matrix", href="/matrix", className="tool", hidden=True),
                html.Span("", id="chosen-words", className="hint", **{"aria-live": "polite"}),  # type: ignore[arg-type]
            ],
            className="choices",
        ),
        dag.AgGrid(
            id=GRID,
            rowData=rows(table, going),
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


def _repeats(table: pl.DataFrame) -> Any:
    """The button that shows runs for which a later one stands, and hides them again."""
    older = len(table) - len(_first_of_alike(table))
    words = f"show or hide the {grouped(older)} older of runs alike"
    return html.Button(words, id=REPEATS, n_clicks=0, hidden=not older)


def _first_of_alike(table: pl.DataFrame) -> pl.DataFrame:
    """The runs of the table without the finished ones for which a later one stands."""
    finished = table.filter(pl.col("state") == "finished")
    older = finished.join(latest(finished), on="id", how="anti")
    return table.join(older.select("id"), on="id", how="anti")


def rows(table: pl.DataFrame, going: Collection[str] = (), *, repeats: bool = False) -> list[dict[str, Any]]:
    """The rows of the grid: of the index what it shows.

    Of runs alike the latest stands for all, unless `repeats` are asked for. `going` are the ids of
    those under way.
    """
    named = pl.coalesce("configuration", "allocator", "id").alias("configuration")
    when = pl.col("time").dt.strftime("%Y-%m-%d %H:%M:%S")
    alike = pl.len().over("options_sha256").alias("repeats")
    alias = pl.when(pl.col("options_sha256").is_null()).then(1).otherwise(alike).alias("repeats")
    state = pl.when(pl.col("id").is_in(list(going))).then(pl.lit("under way")).otherwise("state")
    described = table.with_columns(named, when, alias, _options(), verdict=pl.coalesce("verdict", state))
    shown = (
        described
        if repeats
        else described.join(_first_of_alike(table).select("id"), on="id", maintain_order="left")
    )
    return shown.select(list(dict.fromkeys([*_FIELDS, *_HIDDEN]))).to_dicts()


def _options() -> pl.Expr:
    """What was chosen beside scenario, allocator and parameters, in words; of what is known."""
    art = pl.when("art").then(pl.lit("ART on")).when(~pl.col("art")).then(pl.lit("ART off"))
    rate = pl.format("{} MS/s", (pl.col("samplerate_hz") / 1e6).round(3))
    heap = pl.format("heap {}", "heap_bytes")
    return pl.concat_str(
        [art, "locking", "knobs", pl.format("stimulus {}", "stimulus"), rate, heap],
        separator=", ",
        ignore_nulls=True,
    ).alias("options")


def counted(table: pl.DataFrame, going: Collection[str] = ()) -> str:
    """`96 run folders: 92 complete, 3 unfinished`; what is not complete is never left unsaid.

    `going` are the ids of those under way.
    """
    if table.is_empty():
        return "There are no run folders yet; run a scenario: ./lab scenario mem_frag."
    finished = pl.col("state").is_in(["finished", "observed"])
    words = pl.when(finished).then("verdict").otherwise("state").alias("words")
    states = pl.when(pl.col("id").is_in(list(going))).then(pl.lit("under way")).otherwise(words)
    counts = (
        table.select(states.alias("words"))["words"]
        .value_counts()
        .sort("count", "words", descending=[True, False])
    )
    listed = ", ".join(f"{grouped(count)} {word}" for word, count in counts.iter_rows())
    noun = "run folder" if len(table) == 1 else "run folders"
    return f"{grouped(len(table))} {noun}: {listed}."

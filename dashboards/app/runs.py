"""The page of all run folders: one table, and above it the runs under way with their wires."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from base.files.errors import CaptureError, TailscopeError
from base.run_folder.edge_stream import EdgeFollower
from base.run_folder.folder import EDGE_STREAM, MANIFEST, PROGRESS
from base.run_folder.progress_file import SoFar, read
from base.run_index import HEADLINES
from capture.desk.bench import read_bench
from capture.reading.counter import Growing
from dashboards.answer import Axis
from dashboards.blocks import Cell, Column, DotLane, DotPlot, DotRow, Grid, Group, Line, Page, Sample
from dashboards.formatting import MISSING, grouped, number, short, whole
from dashboards.growing_wire import captured, figures, traces
from dashboards.tables import plain

_HEADINGS = ("section", "allocate", "free", "interrupt", "task")
"""Of HEADLINES, as the option --quantity has them."""
_COLUMNS = (
    *(Column(f"{key}_max", f"{words} (µs)") for key, words in zip(HEADLINES, _HEADINGS, strict=True)),
    Column("scenario", "scenario", numeric=False),
    Column("time", "began (UTC)", numeric=False),
    Column("verdict", "verdict", numeric=False),
    Column("alike", "runs alike"),
    Column("options", "options", numeric=False),
    Column("parameters", "parameters", numeric=False),
    Column("seed", "seed", numeric=False),
    Column("fragmentation_percent", "fragmentation (%)"),
    Column("operations", "operations"),
    Column("board", "board", numeric=False),
    Column("id", "folder", numeric=False),
)


@dataclass(frozen=True)
class Wire:
    """A capture so far: `traces` are points of its channels, `tails` its pulses and latencies."""

    words: str
    traces: Mapping[str, str]
    tails: DotPlot | None


class Wires:
    """Follows the captures below `runs`. Its methods may be called from several threads."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._followed: dict[str, tuple[EdgeFollower, Growing]] = {}
        self._lock = threading.Lock()

    def pictures(self, going: Mapping[str, SoFar]) -> dict[str, Wire]:
        """What each run shows by now, by id; none of a run whose capture is not there."""
        wires = {}
        with self._lock:
            before, self._followed = self._followed, {}
            for identity, so_far in going.items():
                follower, growing = before.get(identity) or (
                    EdgeFollower(self._runs / identity / EDGE_STREAM),
                    Growing(tick_hz=_core_hz(so_far.board)),
                )
                self._followed[identity] = follower, growing
                with suppress(CaptureError):  # not there yet, or no longer
                    if (new := follower.more()) is not None:
                        growing.add(new)
                if growing.recent is not None:
                    wires[identity] = Wire(captured(growing), traces(growing), _tails(growing))
        return wires


def _core_hz(board: str) -> int | None:
    """The clock of a board of bench.toml; None of one that is not in it."""
    try:
        return read_bench().board(board).board.core_hz
    except TailscopeError:
        return None


def _tails(growing: Growing) -> DotPlot | None:
    """A row for each pulse and latency, from its median to its longest. None before the first."""
    drawn = [
        (name, float(summary.median), float(summary.max), summary)
        for name, summary in figures(growing).items()
        if summary.median is not None and summary.max is not None
    ]
    if not drawn:
        return None
    axis = Axis(value for _, median, longest, _ in drawn for value in (median, longest))
    rows = tuple(
        DotRow(
            name=f"{name}, n = {grouped(summary.n)}",
            run_id="",
            badge="",
            median_percent=axis.percent(median),
            worst_percent=axis.percent(longest),
            bound_percent=None,
            bound_grows=False,
            text=summary.at_least + short(longest, "ns"),
            value=longest,
            sample=None,
            why=f"median {whole(median, 'ns')}",
            whole=summary.at_least + whole(longest, "ns"),
        )
        for name, median, longest, summary in drawn
    )
    legend, lanes = "Ring: the median so far. Bar: up to the longest so far.", (DotLane("So far", rows),)
    return DotPlot("pulses and latencies so far", "µs", axis.ticks, lanes, legend, axis.ends_ns, "what")


@dataclass(frozen=True)
class Box:
    """A run that goes on, or was killed: `facts` say how far, `wire` shows its capture.

    `operations` of `planned` are done; None as long as that is not known.
    """

    head: str
    killed: bool = False
    operations: int | None = None
    planned: int = 1
    facts: str = ""
    wire: Wire | None = None


def going_on(runs: Path, table: pl.DataFrame) -> dict[str, SoFar]:
    """How far each run of the index `table` is that still goes on, by its id."""
    unfinished = table.filter(pl.col("state") == "unfinished")["id"]
    return {identity: so_far for identity in unfinished if (so_far := read(runs / identity)) is not None}


def boxes(
    runs: Path, table: pl.DataFrame, going: Mapping[str, SoFar], wires: Mapping[str, Wire]
) -> list[Box]:
    """The runs of the index `table` that go on, as `going` has them, and those that were killed.

    `wires` are pictures of captures, by id. A killed run leaves its progress behind
    (base/run_folder/progress_file.py).
    """
    made = []
    for identity, so_far in going.items():
        name = f"{so_far.scenario} with {so_far.allocator} on {so_far.board}"
        facts, planned = [], so_far.planned_operations
        if so_far.operations is not None:
            of = "" if planned is None else f" of {grouped(planned)}"
            facts.append(f"{grouped(so_far.operations)}{of} operations")
        if so_far.operations_per_s is not None:
            facts.append(f"{so_far.operations_per_s:,.0f} a second")
        for what, section in (("allocation", so_far.critical), ("free", so_far.free)):
            if section is not None:
                facts.append(
                    f"longest {what} so far {number(section.ns, 'ns')} ns ({grouped(section.cycles)} cycles)"
                    f", operation {grouped(section.seq)}"
                )
        facts.append(f"{so_far.elapsed_s:,.0f} s so far")
        head = f"{name}: {so_far.step}, run {grouped(so_far.run)} of {grouped(so_far.runs)}"
        done, wire = so_far.operations, wires.get(identity)
        made.append(Box(head, False, done, planned or 1, " · ".join(facts), wire))
    for run in table.filter(pl.col("state") == "unfinished")["id"]:
        there, judged = ((runs / run / name).exists() for name in (PROGRESS, MANIFEST))
        if run not in going and there and not judged:  # it may be judged by now
            again = "./lab redecode it, or run the scenario again."
            made.append(Box(f"{run} was killed before its end; {again}", killed=True))
    return made


def page(table: pl.DataFrame, going: Collection[str] = ()) -> Page:
    """The page of the index `table`; `going` are the ids of the runs under way."""
    rate = pl.format("{} MS/s", (pl.col("samplerate_hz") / 1e6).round(3))
    # What was chosen beside scenario, allocator and parameters.
    options = [
        pl.when("art").then(pl.lit("ART on")).when(~pl.col("art")).then(pl.lit("ART off")),
        "locking",
        pl.when(pl.col("knobs") != "").then("knobs"),
        *(pl.format("stimulus {}", "stimulus"), rate, pl.format("heap {}", "heap_bytes")),
    ]
    rows = table.with_columns(
        name=pl.coalesce("configuration", "allocator", "id"),
        options=pl.concat_str(options, separator=", ", ignore_nulls=True),
        alike=pl.when(pl.col("options_sha256").is_null()).then(1).otherwise(pl.len().over("options_sha256")),
        verdict=pl.coalesce("verdict", _state(going)),
    )
    lines = []
    for row in rows.to_dicts():
        cells = []
        for key in HEADLINES:
            sample = row[f"{key}_key"]
            to = Sample(row["id"], str(sample)) if sample else None
            value = row[f"{key}_max"]
            cells.append(Cell(MISSING) if value is None else plain(value, "ns", sample=to))
        for column in _COLUMNS[len(HEADLINES) :]:
            value = row[column.key]
            if column.key == "time":
                text = f"{value:%Y-%m-%d %H:%M:%S}" if value else MISSING
                cells.append(Cell(text, text))
            elif column.numeric:
                cells.append(Cell(MISSING if value is None else f"{value:,}", value))
            else:
                why = row["reason"] or row["problem"] or "" if column.key == "verdict" else ""
                cells.append(Cell(value or "", value or "", why=why))
        readable = row["state"] in ("finished", "observed")
        lines.append(Line(row["name"], tuple(cells), run_id=row["id"] if readable else ""))
    legend, groups = "A maximum leads to its instant, a name to its run.", (Group("", tuple(lines)),)
    grid = Grid("runs", "All run folders", _COLUMNS, groups, "allocator and options", legend)
    return Page("runs", "Runs", (counted(table, going),), (grid,))


def _state(going: Collection[str]) -> pl.Expr:
    return pl.when(pl.col("id").is_in(list(going))).then(pl.lit("under way")).otherwise("state")


def counted(table: pl.DataFrame, going: Collection[str] = ()) -> str:
    """`96 run folders: 92 complete, 3 unfinished`; what is not complete is never left unsaid.

    `going` are the ids of those under way.
    """
    if table.is_empty():
        return "There are no run folders yet; run a scenario: ./lab scenario mem_frag."
    finished = pl.col("state").is_in(["finished", "observed"])
    words = table.select(words=pl.when(finished).then("verdict").otherwise(_state(going)))["words"]
    counts = words.value_counts().sort("count", "words", descending=[True, False])
    listed = ", ".join(f"{grouped(count)} {word}" for word, count in counts.iter_rows())
    noun = "run folder" if len(table) == 1 else "run folders"
    return f"{grouped(len(table))} {noun}: {listed}."

"""The page of all run folders: one table, and above it the runs under way with their wires."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import polars as pl

from base.files.errors import CaptureError, TailscopeError
from base.run_folder.edge_stream import EdgeFollower
from base.run_folder.folder import EDGE_STREAM, MANIFEST, PROGRESS
from base.run_folder.progress_file import SoFar, read
from base.run_index import HEADLINES
from capture.desk.bench import read_bench
from capture.reading.counter import Growing
from dashboards.blocks import Cell, Column, Grid, Group, Line, Page, Sample
from dashboards.formatting import grouped, whole
from dashboards.growing_wire import captured, figures, tails, traces
from dashboards.pages.catalogue import TITLES
from dashboards.tables import plain

_HEADINGS = ("section", "allocate", "free", "interrupt", "task")
"""Of HEADLINES, as the option --quantity has them."""
_COLUMNS = (
    *(Column(f"{key}_max", f"{words} (µs)") for key, words in zip(HEADLINES, _HEADINGS, strict=True)),
    *(
        Column(key, words, numeric=False)
        for key, words in (
            ("scenario", "scenario"),
            ("began", "began (UTC)"),
            ("verdict", "verdict"),
            ("options", "options"),
            ("board", "board"),
            ("id", "folder"),
        )
    ),
)


class Wire(NamedTuple):
    """A capture so far: `traces` are paths of its channels, `tails` lines of its pulses and
    latencies.
    """

    words: str
    traces: Mapping[str, str]
    tails: str


class Wires:
    """Follows the captures below `runs`. Its methods may be called from several threads."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._followed: dict[str, tuple[EdgeFollower, Growing]] = {}
        self._lock = threading.Lock()

    def of(self, going: Mapping[str, SoFar]) -> dict[str, Wire]:
        """What each run shows by now, by id; none of a run whose capture is not there."""
        wires = {}
        with self._lock:
            before, self._followed = self._followed, {}
            for identity, so_far in going.items():
                follower, growing = self._followed[identity] = before.get(identity) or (
                    EdgeFollower(self._runs / identity / EDGE_STREAM),
                    Growing(tick_hz=_core_hz(so_far.board)),
                )
                with suppress(CaptureError):  # not there yet, or no longer
                    if new := follower.more():
                        growing.add(new)
                if growing.recent:
                    lines = "\n".join(tails(figures(growing)))
                    wires[identity] = Wire(captured(growing), traces(growing), lines)
        return wires


def _core_hz(board: str) -> int | None:
    """The clock of a board of bench.toml; None of one that is not in it."""
    with suppress(TailscopeError):
        return read_bench().board(board).board.core_hz
    return None


class Box(NamedTuple):
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
    unfinished = table.filter(state="unfinished")["id"]
    return {identity: so_far for identity in unfinished if (so_far := read(runs / identity)) is not None}


def boxes(
    runs: Path, table: pl.DataFrame, going: Mapping[str, SoFar], wires: Mapping[str, Wire]
) -> list[Box]:
    """The runs of the index `table` that go on, as `going` and `wires` have them, and those that
    were killed: such a run leaves its progress behind (base/run_folder/progress_file.py).
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
                    f"longest {what} so far {whole(section.ns, 'ns')} ({grouped(section.cycles)} cycles)"
                    f", operation {grouped(section.seq)}"
                )
        facts.append(f"{so_far.elapsed_s:,.0f} s so far")
        if so_far.left_s is not None:
            facts.append(f"about {max(so_far.left_s - so_far.elapsed_s, 0):,.0f} s left")
        head = f"{name}: {so_far.step}, run {grouped(so_far.run)} of {grouped(so_far.runs)}"
        done, words = so_far.operations, " · ".join(facts)
        made.append(Box(head, False, done, planned or 1, words, wires.get(identity)))
    for run in table.filter(state="unfinished")["id"]:
        there, judged = ((runs / run / name).exists() for name in (PROGRESS, MANIFEST))
        if run not in going and there and not judged:  # it may be judged by now
            again = "./lab redecode it, or run the scenario again."
            made.append(Box(f"{run} was killed before its end; {again}", killed=True))
    return made


def page(table: pl.DataFrame, going: Collection[str] = ()) -> Page:
    """The page of the index `table`; `going` are the ids of the runs under way."""
    rate = pl.format("{} MS/s", (pl.col("samplerate_hz") / 1e6).round(3))
    # What was chosen beside scenario and allocator.
    options = [
        pl.when("art").then(pl.lit("ART on")).when(~pl.col("art")).then(pl.lit("ART off")),
        "locking",
        *(pl.when(pl.col(name) != "").then(name) for name in ("knobs", "parameters")),
        *(pl.format(f"{name} {{}}", name) for name in ("stimulus", "seed")),
        *(rate, pl.format("heap {}", "heap_bytes")),
    ]
    rows = table.with_columns(
        name=pl.coalesce("configuration", "allocator", "id"),
        began=pl.col("time").dt.strftime("%Y-%m-%d %H:%M:%S"),
        options=pl.concat_str(options, separator=", ", ignore_nulls=True),
        verdict=pl.coalesce("verdict", _state(going)),
    )
    lines = []
    for row in rows.to_dicts():
        cells = []
        for key in HEADLINES:
            sample = row[f"{key}_key"]
            to = Sample(row["id"], str(sample)) if sample else None
            cells.append(plain(row[f"{key}_max"], "ns", sample=to))
        for column in _COLUMNS[len(HEADLINES) :]:
            why = row["reason"] or row["problem"] or "" if column.key == "verdict" else ""
            cells.append(Cell(row[column.key] or "", row[column.key], why=why))
        readable = row["state"] in ("finished", "observed")
        lines.append(Line(row["name"], cells, run_id=row["id"] if readable else ""))
    legend = "A maximum leads to its instant, a name to its run."
    grid = Grid("runs", "All run folders", _COLUMNS, [Group("", lines)], "allocator and options", legend)
    return Page("runs", TITLES["runs"], (counted(table, going),), (grid,))


def _state(going: Collection[str]) -> pl.Expr:
    return pl.when(pl.col("id").is_in(list(going))).then(pl.lit("under way")).otherwise("state")


def counted(table: pl.DataFrame, going: Collection[str] = ()) -> str:
    """`Run folders: 96; 92 complete, 3 unfinished.`; what is not complete is never left unsaid.

    `going` are the ids of those under way.
    """
    if table.is_empty():
        return "There are no run folders yet; run a scenario: ./lab scenario mem_frag."
    finished = pl.col("state").is_in(["finished", "observed"])
    words = table.select(words=pl.when(finished).then("verdict").otherwise(_state(going)))["words"]
    counts = words.value_counts().sort("count", "words", descending=[True, False])
    listed = ", ".join(f"{grouped(count)} {word}" for word, count in counts.iter_rows())
    return f"Run folders: {grouped(len(table))}; {listed}."

"""The page of all run folders: one table, and the runs under way above it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from base.run_folder.folder import MANIFEST, PROGRESS
from base.run_folder.progress_file import Section, SoFar, read
from base.run_index import HEADLINES
from dashboards.app.wires import Wire
from dashboards.blocks import Cell, Column, Grid, Group, Line, Page, Sample
from dashboards.formatting import MISSING, grouped, number, short, whole

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
    unfinished = table.filter(pl.col("state") == "unfinished")["id"]
    left = [run_id for run_id in unfinished if run_id not in going and (runs / run_id / PROGRESS).exists()]
    killed = [run_id for run_id in left if not (runs / run_id / MANIFEST).exists()]  # it may be judged by now
    return [
        *(_box(so_far, wires.get(identity)) for identity, so_far in going.items()),
        *(
            Box(
                f"{run} was killed before its end; ./lab redecode it, or run the scenario again.", killed=True
            )
            for run in killed
        ),
    ]


def _box(so_far: SoFar, wire: Wire | None) -> Box:
    name = f"{so_far.scenario} with {so_far.allocator} on {so_far.board}"
    head = f"{name}: {so_far.step}, run {grouped(so_far.run)} of {grouped(so_far.runs)}"
    facts = " · ".join(_facts(so_far))
    return Box(head, False, so_far.operations, so_far.planned_operations or 1, facts, wire)


def _facts(so_far: SoFar) -> Iterator[str]:
    if so_far.operations is not None:
        planned = so_far.planned_operations
        of = "" if planned is None else f" of {grouped(planned)}"
        yield f"{grouped(so_far.operations)}{of} operations"
    if so_far.operations_per_s is not None:
        yield f"{so_far.operations_per_s:,.0f} a second"
    for what, section in (("allocation", so_far.critical), ("free", so_far.free)):
        if section is not None:
            yield _longest(what, section)
    yield f"{so_far.elapsed_s:,.0f} s so far"
    if so_far.left_s is not None:
        yield f"about {so_far.left_s:,.0f} s left"


def _longest(what: str, section: Section) -> str:
    ns = number(section.ns, "ns")
    return (
        f"longest {what} so far {ns} ns ({grouped(section.cycles)} cycles), operation {grouped(section.seq)}"
    )


def page(table: pl.DataFrame, going: Collection[str] = ()) -> Page:
    """The page of the index `table`; `going` are the ids of the runs under way."""
    named = pl.coalesce("configuration", "allocator", "id").alias("name")
    alike = pl.when(pl.col("options_sha256").is_null()).then(1).otherwise(pl.len().over("options_sha256"))
    state = pl.when(pl.col("id").is_in(list(going))).then(pl.lit("under way")).otherwise("state")
    rows = table.with_columns(named, _options(), alike=alike, words=pl.coalesce("verdict", state))
    legend = "A maximum leads to its instant, a name to its run."
    lines = tuple(_line(row) for row in rows.to_dicts())
    grid = Grid("runs", "All run folders", _COLUMNS, (Group("", lines),), "allocator and options", legend)
    return Page("runs", "Runs", (counted(table, going),), (grid,))


def _line(row: Mapping[str, object]) -> Line:
    identity = str(row["id"])
    cells = [_maximum(identity, row, key) for key in HEADLINES]
    why = str(row["reason"] or row["problem"] or "")
    for column in _COLUMNS[len(HEADLINES) :]:
        value = row["words" if column.key == "verdict" else column.key]
        if column.key == "time":
            text = f"{value:%Y-%m-%d %H:%M:%S}" if value else MISSING
            cells.append(Cell(text, text))
        elif column.numeric:
            cells.append(Cell(MISSING if value is None else f"{value:,}", value))  # type: ignore[arg-type]
        else:
            text = str(value or "")
            cells.append(Cell(text, text, why=why if column.key == "verdict" else ""))
    readable = row["state"] in ("finished", "observed")
    return Line(str(row["name"]), tuple(cells), run_id=identity if readable else "")


def _maximum(identity: str, row: Mapping[str, object], key: str) -> Cell:
    value, sample = row[f"{key}_max"], row[f"{key}_key"]
    if not isinstance(value, float):
        return Cell(MISSING)
    to = Sample(identity, str(sample)) if sample else None
    return Cell(short(value, "ns"), value, sample=to, whole=whole(value, "ns"))


def _options() -> pl.Expr:
    """What was chosen beside scenario, allocator and parameters, in words."""
    art = pl.when("art").then(pl.lit("ART on")).when(~pl.col("art")).then(pl.lit("ART off"))
    rate = pl.format("{} MS/s", (pl.col("samplerate_hz") / 1e6).round(3))
    heap = pl.format("heap {}", "heap_bytes")
    knobs = pl.when(pl.col("knobs") != "").then("knobs")
    words = [art, "locking", knobs, pl.format("stimulus {}", "stimulus"), rate, heap]
    return pl.concat_str(words, separator=", ", ignore_nulls=True).alias("options")


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

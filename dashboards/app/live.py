"""Runs under way: how far each is, how fast, and the longest critical section so far."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from dash import html

from capture.run_folder.progress_file import Section, SoFar, read
from dashboards.formatting import grouped, number


def under_way(runs: Path, table: pl.DataFrame) -> list[Any]:
    """A box for each run of the index `table` that still goes on; nothing for those killed."""
    return [_box(identity, so_far) for identity, so_far in _read(runs, table)]


def _read(runs: Path, table: pl.DataFrame) -> Iterator[tuple[str, SoFar]]:
    for identity in table.filter(pl.col("state") == "unfinished")["id"]:
        so_far = read(runs / identity)
        if so_far is not None:
            yield identity, so_far


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
            yield _worst(what, section)
    yield f"{so_far.elapsed_s:,.0f} s so far"
    if so_far.left_s is not None:
        yield f"about {so_far.left_s:,.0f} s left"


def _worst(what: str, section: Section) -> str:
    ns = number(section.ns, "ns")
    return (
        f"longest {what} so far {ns} ns ({grouped(section.cycles)} cycles), operation {grouped(section.seq)}"
    )

"""Runs under way: how far each is, how fast, and the longest critical section so far."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from dash import html

from base.run_folder.folder import PROGRESS
from base.run_folder.progress_file import Section, SoFar, read
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
            yield _worst(what, section)
    yield f"{so_far.elapsed_s:,.0f} s so far"
    if so_far.left_s is not None:
        yield f"about {so_far.left_s:,.0f} s left"


def _worst(what: str, section: Section) -> str:
    ns = number(section.ns, "ns")
    return (
        f"longest {what} so far {ns} ns ({grouped(section.cycles)} cycles), operation {grouped(section.seq)}"
    )

"""The call stacks of masks, for flame graph tools."""

from __future__ import annotations

from collections import Counter

import polars as pl

from analysis.program.masks.measure import MaskReport
from analysis.program.masks.worst import name_of


def folded(report: MaskReport) -> str:
    """`kind;outermost;…;innermost cycles`, one line for each stack that began an interval.

    Cycles are those of all its intervals that ended. The format is that of Brendan Gregg's
    stackcollapse scripts.
    """
    table = report.run.changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack"
    )
    rows = report.counted_intervals.drop_nulls("cycles").join(table, on="begin_row")
    totals: Counter[str] = Counter()
    for kind, level, pc, stack, cycles in (
        rows.group_by("kind", "level", "pc", "stack").agg(pl.col("cycles").sum()).iter_rows()
    ):
        frames = [frame.function for frame in reversed(report.places.stack(stack, pc))]
        entry = report.places.entry(level) if kind == "handler" else None
        own = [entry.function] if entry else []
        names = (name_of(kind, level, report.places), *frames, *own)
        totals[";".join(name.replace(";", ":") for name in names)] += cycles
    return "".join(f"{stack} {cycles}\n" for stack, cycles in sorted(totals.items()))

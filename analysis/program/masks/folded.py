"""Call stacks in one line each, with their cycles: what flame graph tools read."""

from __future__ import annotations

from collections import Counter

import polars as pl

from analysis.program.masks.measure import Found
from analysis.program.masks.worst import name_of


def folded(found: Found) -> str:
    """`kind;outermost;…;innermost cycles`, one line for each stack that began an interval.

    Cycles are those of all its intervals that ended. The format is that of Brendan Gregg's
    stackcollapse scripts.
    """
    begun = found.run.changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack"
    )
    rows = found.intervals.filter(pl.col("cycles").is_not_null()).join(begun, on="begin_row")
    totals: Counter[str] = Counter()
    for kind, level, pc, stack, cycles in (
        rows.group_by("kind", "level", "pc", "stack").agg(pl.col("cycles").sum()).iter_rows()
    ):
        frames = [frame.function for frame in reversed(found.places.stack(stack, pc))]
        entry = found.places.entry(level) if kind == "handler" else None
        own = [entry.function] if entry else []
        names = (name_of(kind, level, found.places), *frames, *own)
        totals[";".join(name.replace(";", ":") for name in names)] += cycles
    return "".join(f"{stack} {cycles}\n" for stack, cycles in sorted(totals.items()))

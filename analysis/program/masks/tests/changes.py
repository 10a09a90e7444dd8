"""Tables of changes, written by hand as the simulator writes them."""

from __future__ import annotations

import polars as pl

_SCHEMA = {
    "cycle": pl.Int64,
    "what": pl.String,
    "value": pl.Int64,
    "pc": pl.Int64,
    "began": pl.Int64,
    "task": pl.Int64,
    "stack": pl.Int64,
}


def changes(*rows: tuple[int, str, int] | tuple[int, str, int, int]) -> pl.DataFrame:
    """Rows of (cycle, what, value) or, of exceptions, (cycle, what, value, began)."""
    full = [(*row[:3], 0x0800_0000, row[3] if len(row) > 3 else None, None, None) for row in rows]
    return pl.DataFrame(full, schema=_SCHEMA, orient="row")

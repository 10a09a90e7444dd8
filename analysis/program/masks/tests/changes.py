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


def changes(text: str) -> pl.DataFrame:
    """Rows of `cycle what value`, of exceptions with the cycle at which it began."""
    rows = [row.split() for row in text.split(",") if row.strip()]
    full = [
        (int(cycle), what, int(value, 0), 0x0800_0000, int(began[0]) if began else None, None, None)
        for cycle, what, value, *began in rows
    ]
    return pl.DataFrame(full, schema=_SCHEMA, orient="row")

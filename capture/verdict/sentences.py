"""What the sentences of several rules name: the worst row, a count that is not known exactly."""

from __future__ import annotations

from typing import Any

import polars as pl


def worst_row(table: pl.DataFrame, column: str) -> dict[str, Any]:
    """The first row whose `column` is farthest from 0. There is at least one row."""
    return table.row(table[column].abs().arg_max() or 0, named=True)


def at_least_to_most(least: int, most: int) -> str:
    """`3` where both are 3, `3 to 5` otherwise."""
    return str(least) if least == most else f"{least} to {most}"

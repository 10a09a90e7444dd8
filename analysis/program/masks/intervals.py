"""The intervals in which interrupts are held off, from the rows of changes.

docs/design/README.md says how intervals are cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from analysis.program.masks.sleep import Sleep

KINDS = ("primask", "faultmask", "basepri", "handler", "scheduler")
THREAD = 0

INTERVALS = pl.Schema(
    {
        "kind": pl.String,
        "level": pl.Int64,
        "begin_row": pl.Int64,
        "end_row": pl.Int64,
        "begin_cycle": pl.Int64,
        "end_cycle": pl.Int64,
        "asleep_cycles": pl.Int64,
        "cycles": pl.Int64,
        "chained": pl.Boolean,
    }
)


def intervals(changes: pl.DataFrame, sleep: Sleep) -> pl.DataFrame:
    """One row for each interval, in the order in which they begin. Columns as INTERVALS.

    `changes` is that of simulator.masks.MaskRun. `level` is BASEPRI's value, or the number of the
    handler's exception; else null. `begin_row` and `end_row` are rows of `changes`; `end_row` and
    what follows from it are null where the interval is still open. `cycles` are those awake. A
    handler is `chained` if the core did not return from it, but entered another.
    """
    rows = changes.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    found = [
        _held(_of(rows, "primask"), pl.col("value") != 0, "primask", None),
        _held(_of(rows, "faultmask"), pl.col("value") != 0, "faultmask", None),
        *_levels(_of(rows, "basepri")),
        _handlers(_of(rows, "exception")),
        _held(_of(rows, "scheduler"), pl.col("value") != 0, "scheduler", None),
    ]
    told = pl.concat(found).sort("begin_cycle", "begin_row", maintain_order=True)
    # Only what PRIMASK alone holds ends the sleep of WFI.
    masked = pl.col("kind") == "primask"
    asleep = pl.Series("asleep", sleep.within(told["begin_cycle"], told["end_cycle"]), dtype=pl.Int64)
    return (
        told.with_columns(asleep_cycles=pl.when(masked).then(asleep).otherwise(0))
        .with_columns(cycles=pl.col("end_cycle") - pl.col("begin_cycle") - pl.col("asleep_cycles"))
        .select(INTERVALS.names())
        .cast(INTERVALS)
    )


def spans(rows: pl.DataFrame, held: pl.Expr) -> pl.DataFrame:
    """Where `held` is true of rows in order: each run of them, up to the first row after it.

    Columns `begin_row`, `begin_cycle`, `end_row`, `end_cycle`; the last two null where it lasts to
    the end of the rows.
    """
    changed = pl.col("held").ne(pl.col("held").shift(1, fill_value=False))
    return (
        rows.select("row", "cycle", held=held)
        .filter(changed)
        .select(
            "held",
            begin_row="row",
            begin_cycle="cycle",
            end_row=pl.col("row").shift(-1),
            end_cycle=pl.col("cycle").shift(-1),
        )
        .filter("held")
        .drop("held")
    )


def _of(rows: pl.DataFrame, what: str) -> pl.DataFrame:
    """The changes of one thing. A reset sets it to 0."""
    reset = pl.col("what") == "reset"
    return rows.filter((pl.col("what") == what) | reset).with_columns(
        value=pl.when(reset).then(0).otherwise("value")
    )


def _held(rows: pl.DataFrame, held: pl.Expr, kind: str, level: int | None) -> pl.DataFrame:
    return spans(rows, held).with_columns(
        kind=pl.lit(kind), level=pl.lit(level, dtype=pl.Int64), chained=pl.lit(False)
    )


def _levels(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """For each level of BASEPRI: while what it holds was held, if BASEPRI had it meanwhile."""
    value = pl.col("value")
    for level in rows.filter(value != 0)["value"].unique().sort().to_list():
        held = _held(rows, (value != 0) & (value <= level), "basepri", level)
        was = rows.filter(value == level).select("row", been="row")
        yield (
            held.sort("begin_row")
            .join_asof(was, left_on="begin_row", right_on="row", strategy="forward")
            .filter(pl.col("end_row").is_null() | (pl.col("been") < pl.col("end_row")))
            .select(held.columns)
        )
    yield pl.DataFrame(schema=_held(rows, value != 0, "basepri", None).schema)


@dataclass
class _Active:
    """An exception that has begun. `left` is the row that last left it, its time, and whether it
    entered another.
    """

    exception: int
    begin_row: int
    begin_cycle: int
    left: tuple[int, int, bool] | None = None


def _handlers(rows: pl.DataFrame) -> pl.DataFrame:
    """From where the core begins to enter a handler, to where it begins to return from it.

    The rows say which exception is executed now. One that was active before is returned to. Another
    one is entered: whether the last is finished shows when something below it is returned to.
    """
    active: list[_Active] = []
    found: list[tuple[int, int, int, int | None, int | None, bool]] = []
    for row, value, cycle, began, what in rows.select("row", "value", "cycle", "began", "what").iter_rows():
        at = (row, cycle if began is None else began)
        returned = what == "reset" or value in (THREAD, *(one.exception for one in active))
        if active:
            active[-1].left = (*at, not returned)
        if returned:
            while active and active[-1].exception != value:
                last = active.pop()
                found.append((last.exception, last.begin_row, last.begin_cycle, *(last.left or (*at, False))))
        else:
            active.append(_Active(value, *at))
    found += [(one.exception, one.begin_row, one.begin_cycle, None, None, False) for one in active]
    names = ("level", "begin_row", "begin_cycle", "end_row", "end_cycle")
    schema = {**dict.fromkeys(names, pl.Int64), "chained": pl.Boolean}
    table = pl.DataFrame(found, schema=schema, orient="row")
    return table.select(
        *("begin_row", "begin_cycle", "end_row", "end_cycle"),
        kind=pl.lit("handler"),
        level="level",
        chained="chained",
    )

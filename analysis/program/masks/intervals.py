"""The intervals in which interrupts are held off, those in which the core slept, and their times.

They are cut from the rows of changes; docs/design/explaining.md says how. An interrupt that
PRIMASK holds would have ended a sleep in WFI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

# ARMv7-M Architecture Reference Manual, A7.7.263: WFI, narrow and wide.
_WFI = (b"\x30\xbf", b"\xaf\xf3\x03\x80")


_AFTER_ALL = 1 << 62
"""A cycle that no run reaches."""


class Sleep:
    """The spans of cycles in which the core slept, or waited for its flash, in order."""

    def __init__(self, begin: npt.ArrayLike, end: npt.ArrayLike) -> None:
        begins, ends = np.asarray(begin, dtype=np.int64), np.asarray(end, dtype=np.int64)
        self._cycle = np.stack([begins, ends], axis=1).ravel()
        slept = np.stack([np.zeros(len(begins), dtype=np.int64), ends - begins], axis=1).ravel()
        self._total = np.cumsum(slept)

    def within(self, begin: pl.Series, end: pl.Series) -> npt.NDArray[np.int64]:
        """The cycles of sleep from each of `begin` to that of `end`; 0 where that is null."""
        begins = begin.to_numpy()
        return self._until(end.fill_null(begin).to_numpy()) - self._until(begins)

    def _until(self, cycles: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if not self._cycle.size:
            return np.zeros(len(cycles), dtype=np.int64)
        array: npt.NDArray[np.int64] = np.interp(cycles, self._cycle, self._total).astype(np.int64)
        return array


def sleep(changes: pl.DataFrame, end_cycle: int, code: Callable[[int, int], bytes]) -> Sleep:
    """When the core slept in WFI. `code` gives so many bytes of the program from an address on."""
    rows = changes.filter(pl.col("what").is_in(["sleep", "reset"]))
    rows = rows.with_columns(value=pl.when(pl.col("what") == "reset").then(0).otherwise("value"))
    slept = rows.select(
        "value", "pc", begin="cycle", end=pl.col("cycle").shift(-1, fill_value=end_cycle)
    ).filter(value=1)
    waits = {pc: any(code(pc, len(form)) == form for form in _WFI) for pc in slept["pc"].unique()}
    waited = slept.filter(pl.Series([waits[pc] for pc in slept["pc"]], dtype=pl.Boolean))
    return Sleep(waited["begin"], waited["end"])


def stalls(changes: pl.DataFrame, end_cycle: int) -> Sleep:
    """When the core waited for its flash, which was programmed or erased."""
    rows = changes.filter(what="flash")
    spans = rows.select("value", begin="cycle", end=pl.col("cycle").shift(-1, fill_value=end_cycle))
    waited = spans.filter(value=1)
    return Sleep(waited["begin"], waited["end"])


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
    what follows from it are null where the interval is still open; `asleep_cycles` are then those
    up to the end of the run. `cycles` are those awake. A handler is `chained` if the core did not
    return from it, but entered another.
    """
    rows = changes.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    tables = [
        _held(_of(rows, "primask"), pl.col("value") != 0, "primask", None),
        _held(_of(rows, "faultmask"), pl.col("value") != 0, "faultmask", None),
        *_levels(_of(rows, "basepri")),
        _handlers(_of(rows, "exception")),
        _held(_of(rows, "scheduler"), pl.col("value") != 0, "scheduler", None),
    ]
    table = pl.concat(tables).sort("begin_cycle", "begin_row", maintain_order=True)
    # Only what PRIMASK alone holds ends the sleep of WFI.
    masked = pl.col("kind") == "primask"
    ends = table["end_cycle"].fill_null(_AFTER_ALL)
    asleep = pl.Series("asleep", sleep.within(table["begin_cycle"], ends), dtype=pl.Int64)
    return (
        table.with_columns(asleep_cycles=pl.when(masked).then(asleep).otherwise(0))
        .with_columns(cycles=pl.col("end_cycle") - pl.col("begin_cycle") - pl.col("asleep_cycles"))
        .select(INTERVALS.names())
        .cast(INTERVALS)
    )


def spans(rows: pl.DataFrame, held: pl.Expr) -> pl.DataFrame:
    """The runs of rows in which `held` is true, each up to the first row after it.

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
    """For each level of BASEPRI, the intervals at it or a more urgent one, if it was set then."""
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
    """The intervals from the start of a handler's entry to the start of its return.

    The rows say which exception is executed now. One that was active before is returned to. Another
    one is entered: whether the last is finished shows when something below it is returned to.
    """
    active: list[_Active] = []
    intervals: list[tuple[int, int, int, int | None, int | None, bool]] = []
    for row, value, cycle, began, what in rows.select("row", "value", "cycle", "began", "what").iter_rows():
        at = (row, cycle if began is None else began)
        returned = what == "reset" or value in (THREAD, *(entered.exception for entered in active))
        if active:
            active[-1].left = (*at, not returned)
        if returned:
            while active and active[-1].exception != value:
                last = active.pop()
                intervals.append(
                    (last.exception, last.begin_row, last.begin_cycle, *(last.left or (*at, False)))
                )
        else:
            active.append(_Active(value, *at))
    intervals += [(each.exception, each.begin_row, each.begin_cycle, None, None, False) for each in active]
    names = ("level", "begin_row", "begin_cycle", "end_row", "end_cycle")
    schema = {**dict.fromkeys(names, pl.Int64), "chained": pl.Boolean}
    table = pl.DataFrame(intervals, schema=schema, orient="row")
    return table.select(
        *("begin_row", "begin_cycle", "end_row", "end_cycle"),
        kind=pl.lit("handler"),
        level="level",
        chained="chained",
    )

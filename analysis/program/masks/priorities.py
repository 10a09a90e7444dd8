"""The time in which an interrupt of a priority could not have been taken, whatever held it.

The rule is that of the ARMv7-M Architecture Reference Manual, B1.5.4 (ExecutionPriority): an
exception is taken if its group priority is less than that of what is executed, which BASEPRI,
PRIMASK and FAULTMASK raise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from analysis.program.masks.intervals import Sleep, spans
from simulator.interrupts import FIRST_IRQ

_NOTHING = 256
_BYTE = 256
# Reset, NMI and HardFault (B1.5.4, table B1-4).
_FIXED = {1: -3, 2: -2, 3: -1}
_FIRST_CONFIGURABLE = 4


@dataclass(frozen=True)
class Holding:
    """What held an interrupt off for `cycles` of an interval, in `count` parts of it."""

    kind: str
    level: int | None
    cycles: int
    count: int = 1
    name: str = ""

    def called(self, name: str) -> Holding:
        """The same with its name for a reader."""
        return replace(self, name=name)


def executed(changes: pl.DataFrame) -> pl.DataFrame:
    """The priority of what is executed after each change, and what makes it so.

    Columns: `row`, `cycle`, `priority` (256 is that of a thread that nothing raises), `unmasked`
    (the same without PRIMASK), `kind` and `level` of what holds most, `group` (PRIGROUP's mask).
    The core executes at a handler's priority from where it begins to enter it, and no more from
    where it begins to return from it.
    """
    rows = _with_handler_priority(changes.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)))
    reset = pl.col("what") == "reset"

    def now(what: str) -> pl.Expr:
        then = pl.when(pl.col("what") == what).then("value").when(reset).then(0)
        return then.forward_fill().fill_null(0)

    state = rows.with_columns(cycle=pl.coalesce("began", "cycle")).sort("cycle", maintain_order=True)
    state = state.with_columns(
        **{what: now(what) for what in ("primask", "faultmask", "basepri", "exception", "prigroup")},
        handler=pl.when(pl.col("what") == "exception")
        .then("handler")
        .when(reset)
        .then(_NOTHING)
        .forward_fill()
        .fill_null(_NOTHING),
    ).with_columns(group=_group_mask())
    group = pl.col("group")
    by = {
        "faultmask": pl.when(pl.col("faultmask") != 0).then(-1).otherwise(_NOTHING),
        "primask": pl.when(pl.col("primask") != 0).then(0).otherwise(_NOTHING),
        "basepri": pl.when(pl.col("basepri") != 0).then(pl.col("basepri") & group).otherwise(_NOTHING),
        "handler": pl.when(pl.col("handler").is_between(0, 255))
        .then(pl.col("handler") & group)
        .otherwise("handler"),
    }
    state = state.with_columns(**{f"by_{kind}": value.cast(pl.Int64) for kind, value in by.items()})
    state = state.with_columns(
        priority=pl.min_horizontal(*(f"by_{kind}" for kind in by)),
        unmasked=pl.min_horizontal(*(f"by_{kind}" for kind in by if kind != "primask")),
    )
    kind = pl.coalesce(
        *(pl.when(pl.col(f"by_{name}") == pl.col("priority")).then(pl.lit(name)) for name in by)
    )
    # Of several changes in one cycle the last one holds.
    return state.unique("cycle", keep="last", maintain_order=True).select(
        "row",
        "cycle",
        "priority",
        "unmasked",
        "group",
        kind=kind,
        level=pl.when(kind == "basepri").then("basepri").when(kind == "handler").then("exception"),
    )


def held(state: pl.DataFrame, priority: int, sleep: Sleep) -> pl.DataFrame:
    """The intervals in which an interrupt of `priority` could not be taken.

    `state` is that of executed(). Columns `begin_row`, `end_row`, `begin_cycle`, `end_cycle`,
    `cycles`; those of the end, and the cycles, are null where the interval is still open. Sleep
    that the interrupt would have ended does not count.
    """
    own = pl.lit(priority) & pl.col("group")
    table = spans(state, own >= pl.col("priority"))
    by_primask = spans(state, (own >= pl.col("priority")) & (own < pl.col("unmasked")))
    slept = by_primask.with_columns(
        slept=pl.Series(sleep.within(by_primask["begin_cycle"], by_primask["end_cycle"]), dtype=pl.Int64)
    )
    # Each of these lies within one interval of `found`: the last that begins before it or with it.
    within = (
        slept.select("begin_cycle", "slept")
        .join_asof(table.select("begin_cycle", whose="begin_row"), on="begin_cycle")
        .group_by("whose")
        .agg(pl.col("slept").sum())
    )
    return (
        table.join(within, left_on="begin_row", right_on="whose", how="left", maintain_order="left")
        .with_columns(cycles=pl.col("end_cycle") - pl.col("begin_cycle") - pl.col("slept").fill_null(0))
        .drop("slept")
    )


def parts(state: pl.DataFrame, begin: int, end: int) -> list[Holding]:
    """The most urgent holders from cycle `begin` to `end`, each once, in the order of their first
    parts.
    """
    rows = state.filter(pl.col("cycle").is_between(begin, end, closed="left"))
    changed = pl.struct("kind", "level").rle_id()
    totals = (
        rows.with_columns(cycles=pl.col("cycle").shift(-1, fill_value=end) - pl.col("cycle"), part=changed)
        .group_by("kind", "level", maintain_order=True)
        .agg(pl.col("cycles").sum(), count=pl.col("part").n_unique())
    )
    return [Holding(*row) for row in totals.iter_rows()]


class Exceptions:
    """Which exceptions a program used, and their priorities, at each row of changes."""

    def __init__(self, changes: pl.DataFrame) -> None:
        columns = ["priority", "enabled", "exception", "reset"]
        rows = changes.with_row_index("row").filter(pl.col("what").is_in(columns))
        self._rows = list(rows.select("row", "what", "value").iter_rows())
        self.used = {
            exception
            for _, what, value in self._rows
            if (exception := _used(what, value)) >= _FIRST_CONFIGURABLE
        }

    def priorities(self, bits: int = 0) -> dict[int, list[int]]:
        """The used exceptions by priority, most urgent first; with `bits` each priority of a core
        that has so many, also those that no exception has.
        """
        every = (number << 8 - bits for number in range(1 << bits)) if bits else ()
        by_priority: dict[int, set[int]] = {priority: set() for priority in every}
        now: dict[int, int] = {}
        seen: set[int] = set()
        for _, what, value in self._rows:
            exception = value // _BYTE if what == "priority" else _used(what, value)
            if what == "priority":
                now[exception] = value % _BYTE
            elif exception >= _FIRST_CONFIGURABLE:
                seen.add(exception)
            if exception in seen:
                by_priority.setdefault(now.get(exception, 0), set()).add(exception)
        return {priority: sorted(by_priority[priority]) for priority in sorted(by_priority)}

    def held(self, kind: str, level: int | None, begin: int, end: int | None) -> list[int]:
        """Which exceptions an interval held off, of those enabled at its first row or in it.

        Exceptions of the core are enabled if they are used at all. What holds tasks off, or
        nothing, holds none.
        """
        if kind == "scheduler":
            return []
        enabled = {exception for exception in self.used if exception < FIRST_IRQ}
        now: dict[int, int] = {}
        for row, what, value in self._rows:
            if end is not None and row >= end:
                break
            if what == "priority":
                now[value // _BYTE] = value % _BYTE
            elif what == "enabled" and value % 2:
                enabled.add(value // 2)
            elif what == "enabled" and row <= begin:
                enabled.discard(value // 2)
            elif what == "reset":
                enabled, now = {exception for exception in enabled if exception < FIRST_IRQ}, {}
        least = 0
        if kind == "basepri":
            least = level or 0
        elif kind == "handler" and level is not None:
            least = _FIXED.get(level, now.get(level, 0))
        return sorted(
            exception
            for exception in enabled
            if now.get(exception, 0) >= least and (kind, level) != ("handler", exception)
        )


def _used(what: str, value: int) -> int:
    """The exception that a row tells to be used; 0 if none."""
    if what == "enabled":
        return value // 2 if value % 2 else 0
    return value if what == "exception" else 0


def _group_mask() -> pl.Expr:
    """The bits of a priority that PRIGROUP leaves to its group (B3.2.6, AIRCR)."""
    masks = {prigroup: 0xFF << (prigroup + 1) & 0xFF for prigroup in range(8)}
    return pl.col("prigroup").replace_strict(masks, default=0xFF, return_dtype=pl.Int64)


def _with_handler_priority(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with a column `handler`: the priority executed from each change on."""
    entered = rows.filter(pl.col("what") == "exception").select("row", exception="value")
    set_to = rows.filter(pl.col("what") == "priority").select(
        "row", exception=pl.col("value") // _BYTE, handler=pl.col("value") % _BYTE
    )
    fixed = pl.col("exception").replace_strict({0: _NOTHING, **_FIXED}, default=None, return_dtype=pl.Int64)
    table = entered.join_asof(set_to, on="row", by="exception", check_sortedness=False).select(
        "row", handler=pl.coalesce(fixed, pl.col("handler"), pl.lit(0))
    )
    return rows.join(table, on="row", how="left", maintain_order="left")

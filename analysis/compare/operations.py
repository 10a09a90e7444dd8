"""Two runs of the same operations, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from analysis.compare.pairing import Run

_OUTCOME = "kind"
_HITS = ("isr_hits", "control_hits")
_OF_A = "_of_a"
_OF_B = "_of_b"


@dataclass(frozen=True)
class Column:
    """A column of operations.parquet that is compared; `words` name it, per operation."""

    name: str
    words: str
    unit: Literal["", "cycles", "ns"]


COLUMNS = (
    Column("probes", "probes", ""),
    Column("instructions", "instructions of the critical section", ""),
    Column("dwt_cycles", "critical section by DWT", "cycles"),
    Column("dwt_operation_cycles", "whole operation by DWT", "cycles"),
    Column("wire_critical_ns", "critical section on the wire", "ns"),
    Column("wire_operation_ns", "whole operation on the wire", "ns"),
)


@dataclass(frozen=True)
class Moved:
    """One operation in both runs."""

    seq: int
    kind: str
    size: int
    label: str | None
    a: float
    b: float

    @property
    def change(self) -> float:
        return self.b - self.a


@dataclass(frozen=True)
class Changed:
    """What changed in one column: in how many operations, the first, and those that changed most.

    `increase` is None where no value grew, `decrease` where none fell. `total` is the sum of all
    changes. The last three are the same of those operations alone that as many interrupts met.
    """

    column: Column
    changed: int
    first: Moved | None
    increase: Moved | None
    decrease: Moved | None
    total: float
    met_alike: int
    increase_met_alike: Moved | None
    decrease_met_alike: Moved | None


@dataclass(frozen=True)
class OfKind:
    """The operations of one kind: how many, how many of them changed, and by how many cycles all
    their critical sections together.
    """

    kind: str
    n: int
    changed: int
    dwt_cycles: int


@dataclass(frozen=True)
class Operations:
    """`joined` operations are in both runs; `only_a` and `only_b` count the others.

    `changed` counts those of which any column differs beyond what the instruments allow, `first` is
    the number of the first of them. `other_outcome` are the numbers of those that came out
    otherwise. Of the changed ones, `met_otherwise` were met by more or fewer interrupts than in
    A: an interrupt lengthens what it meets.
    """

    joined: int
    only_a: int
    only_b: int
    changed: int
    first: int | None
    other_outcome: tuple[int, ...]
    met_otherwise: int
    columns: tuple[Changed, ...]
    kinds: tuple[OfKind, ...]


def join(a: Run, b: Run) -> pl.DataFrame:
    """The operations of both by number: the columns of each, ending in `_of_a` and `_of_b`."""
    return (
        a.operations.rename(lambda name: name if name == "seq" else name + _OF_A)
        .join(
            b.operations.rename(lambda name: name if name == "seq" else name + _OF_B), on="seq", how="inner"
        )
        .sort("seq")
    )


def met_otherwise() -> pl.Expr:
    """True in a row of join() if more or fewer interrupts met the operation in B than in A."""
    return pl.any_horizontal(pl.col(name + _OF_A) != pl.col(name + _OF_B) for name in _HITS)


def compare(a: Run, b: Run, allowed: Mapping[str, float]) -> Operations:
    """Compares the operations of both, which must be the same.

    `allowed` has the differences that the instruments allow, by column, in its unit; 0 where it has
    none. A column that is null on one side is not compared there.
    """
    joined = join(a, b)
    differs = {column.name: _differs(column.name, allowed.get(column.name, 0.0)) for column in COLUMNS}
    outcome = pl.col(_OUTCOME + _OF_A) != pl.col(_OUTCOME + _OF_B)
    marked = joined.with_columns(
        **{f"differs_{name}": expression for name, expression in differs.items()},
        outcome_differs=outcome,
        met_otherwise=met_otherwise(),
    ).with_columns(any_differs=pl.any_horizontal("outcome_differs", *(f"differs_{name}" for name in differs)))
    changed = marked.filter("any_differs")
    return Operations(
        joined=joined.height,
        only_a=a.operations.height - joined.height,
        only_b=b.operations.height - joined.height,
        changed=changed.height,
        first=None if changed.is_empty() else int(changed["seq"][0]),
        other_outcome=tuple(marked.filter("outcome_differs")["seq"]),
        met_otherwise=int(changed["met_otherwise"].sum()),
        columns=tuple(_changed(column, marked) for column in COLUMNS if _told(column.name, joined)),
        kinds=tuple(_kinds(marked)),
    )


def _differs(name: str, allowed: float) -> pl.Expr:
    apart = (pl.col(name + _OF_B).cast(pl.Float64) - pl.col(name + _OF_A).cast(pl.Float64)).abs()
    return (apart > allowed).fill_null(False)


def _told(name: str, joined: pl.DataFrame) -> bool:
    """True if both runs tell of the column in some operation."""
    return all(joined[name + side].count() > 0 for side in (_OF_A, _OF_B))


def _changed(column: Column, marked: pl.DataFrame) -> Changed:
    change = pl.col(column.name + _OF_B).cast(pl.Float64) - pl.col(column.name + _OF_A).cast(pl.Float64)
    table = marked.filter(f"differs_{column.name}").with_columns(change=change)
    alike = table.filter(~pl.col("met_otherwise"))

    def most(rows: pl.DataFrame, sign: int) -> Moved | None:
        grown = sign * pl.col("change")
        return _moved(column, rows.filter(grown > 0).sort(-grown, "seq"))

    return Changed(
        column=column,
        changed=table.height,
        first=_moved(column, table),
        increase=most(table, 1),
        decrease=most(table, -1),
        total=float(table["change"].sum()),
        met_alike=alike.height,
        increase_met_alike=most(alike, 1),
        decrease_met_alike=most(alike, -1),
    )


def _moved(column: Column, table: pl.DataFrame) -> Moved | None:
    """The first of them."""
    if table.is_empty():
        return None
    row = table.row(0, named=True)
    return Moved(
        seq=row["seq"],
        kind=row[_OUTCOME + _OF_B],
        size=row["size" + _OF_B],
        label=row["label" + _OF_B],
        a=row[column.name + _OF_A],
        b=row[column.name + _OF_B],
    )


def _kinds(marked: pl.DataFrame) -> list[OfKind]:
    change = pl.col("dwt_cycles" + _OF_B).cast(pl.Int64) - pl.col("dwt_cycles" + _OF_A).cast(pl.Int64)
    table = (
        marked.group_by(pl.col(_OUTCOME + _OF_A).alias("kind"))
        .agg(n=pl.len(), changed=pl.col("any_differs").sum(), dwt_cycles=change.sum())
        .sort("kind")
    )
    return [OfKind(**row) for row in table.iter_rows(named=True)]

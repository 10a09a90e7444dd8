"""How the fields of a report become JSON: pydantic dumps its dataclasses as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import polars as pl
from pydantic import Field, GetPydanticSchema, PlainSerializer, TypeAdapter
from pydantic_core.core_schema import any_schema

from base.metrology.quantiles import Summary, summarise
from simulator.outputs import Note

T = TypeVar("T")
Opaque = GetPydanticSchema(lambda _type, _handler: any_schema())
"""What pydantic need not look into."""
Hidden = Annotated[T, Opaque, Field(exclude=True)]
"""A field that is no part of the document."""
OrNull = Annotated[T, PlainSerializer(lambda value: value or None)]
"""A word or a number that is null where it is empty or 0."""
Address = Annotated[int, PlainSerializer(lambda address: f"{address:#010x}")]
NoteRow = Annotated[Note, PlainSerializer(Note.as_json)]


def as_json(report: Any) -> dict[str, Any]:
    """A report as JSON has it, with the heading of its subject."""
    document = TypeAdapter(type(report)).dump_python(report, mode="json", by_alias=True)
    return {**report.subject.heading, **document}


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Counts and statistics of intervals that ended, and how many did not. `distribution` has pairs
    of cycles and how often they occurred, ascending.
    """

    count: int
    open: int
    total_cycles: int
    cycles: Summary
    ns: Summary
    distribution: tuple[tuple[int, int], ...]


def counted(rows: pl.DataFrame) -> dict[str, Any]:
    """The fields of Counted, of rows with `cycles` and `ns`."""
    ended = rows.filter(pl.col("cycles").is_not_null())
    return {
        "count": ended.height,
        "open": rows.height - ended.height,
        "total_cycles": int(ended["cycles"].sum()),
        "cycles": summarise(ended["cycles"].to_numpy()),
        "ns": summarise(ended["ns"].to_numpy()),
        "distribution": tuple(ended.group_by("cycles").len().sort("cycles").iter_rows()),
    }

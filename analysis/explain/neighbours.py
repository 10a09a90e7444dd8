"""Where in the run a sample lies: its operation, those before and behind it, and how far away."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from analysis.explain.worst import Worst
from base.run_folder.edges import NS_PER_S, EdgeList
from base.run_folder.explanation import Operation
from scenarios.operations import CALLS

# Of the operations that did what they were to do (docs/reference/records.md).
_WORDS = {
    "A": "allocation of {size:,} bytes",
    "O": "allocation of {size:,} bytes, out of memory",
    "F": "free of {size:,} bytes",
    "N": "free without a block: its {size:,} bytes had not been allocated",
    "E": "free of {size:,} bytes, refused by the allocator",
    "S": "operation that was skipped",
}


def around(worst: Worst, operations: pl.DataFrame, edges: EdgeList) -> dict[str, Any]:
    """The fields of Told that schema 1 lacks."""
    seq = worst.maximum.seq
    begun = operations.filter(pl.col("start_sample") <= worst.start)["seq"].to_list()
    last = max(begun, default=-1)
    before, behind = (last, last + 1) if seq is None else (seq - 1, seq + 1)
    own, previous, following = (_operation(operations, number) for number in (seq, before, behind))
    first, answer = worst.channels
    return {
        "start_ns": worst.start * NS_PER_S / edges.samplerate_hz,
        "begins": f"{first} {_direction(edges, first, worst.start)}",
        "ends": f"{answer} {_direction(edges, answer, worst.end)}",
        "place": _place(worst, own, previous, following, edges),
        "operation": own,
        "previous": previous,
        "next": following,
    }


def kind_in_words(kind: str, size: int) -> str:
    """What an operation was. The size of a call is its number."""
    if kind == "K":
        return f"call of {CALLS[size]}" if size < len(CALLS) else f"call {size}"
    return _WORDS.get(kind, "operation").format(size=size)


def _operation(operations: pl.DataFrame, seq: int | None) -> Operation | None:
    found = operations.filter(pl.col("seq") == seq).head(1).to_dicts() if seq is not None else []
    for row in found:
        start, samples = row["start_sample"], row["wire_operation_samples"]
        return Operation(
            seq=row["seq"],
            kind=row["kind"],
            words=kind_in_words(row["kind"], row["size"]),
            label=row["label"],
            start_sample=start,
            end_sample=None if start is None or samples is None else start + samples,
        )
    return None


def _level(edges: EdgeList, channel: str, sample: int) -> bool:
    row = int(np.searchsorted(edges.sample, sample, side="right")) - 1
    return bool(int(edges.word[row]) >> edges.channels.index(channel) & 1)


def _direction(edges: EdgeList, channel: str, sample: int) -> str:
    return "rising" if _level(edges, channel, sample) else "falling"


def _place(
    worst: Worst,
    own: Operation | None,
    previous: Operation | None,
    following: Operation | None,
    edges: EdgeList,
) -> str:
    """One sentence: how far from which operation it begins."""

    def apart(begin: int, end: int) -> str:
        return f"{(end - begin) * NS_PER_S / edges.samplerate_hz:,.0f} ns"

    what = "The stimulus came" if worst.channels[0] == "STIM" else "It began"
    if own is not None and own.start_sample is not None:
        words = f"{what} {apart(own.start_sample, worst.start)} after operation {own.seq:,} began"
        if worst.channels[0] == "STIM":
            words += (
                ", " + ("in" if _level(edges, "CRIT", worst.start) else "outside") + " its critical section"
            )
        return f"{words}."
    told = []
    if previous is not None and previous.end_sample is not None:
        told.append(f"{apart(previous.end_sample, worst.start)} after operation {previous.seq:,} ended")
    if following is not None and following.start_sample is not None:
        told.append(f"{apart(worst.start, following.start_sample)} before operation {following.seq:,} began")
    return f"{what} outside of all operations{': ' if told else ''}{', '.join(told)}."

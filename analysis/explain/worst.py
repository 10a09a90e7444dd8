"""Chooses the sample to explain, and finds its place in the capture and its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from analysis.errors import ExplainError
from base.microseconds import microseconds
from base.run_folder.edges import NS_PER_S, EdgeList
from base.run_folder.explanation import Operation
from base.run_folder.manifest import Maximum
from base.run_folder.named_quantities import INTERRUPT, TASK, NamedQuantity, named
from scenarios.operations import in_words

_ANSWERED_ON = {INTERRUPT: "ISR", TASK: "TASK"}

# The waveform shows so much before and after the sample itself.
MARGIN_S = 4e-6


@dataclass(frozen=True)
class Worst:
    """Where the worst value of `quantity` lies, in samples of the capture.

    It lasts from `start` to `end`: from the rise to the fall of CRIT, or from the stimulus to its
    answer. The stack is read at `moment`, the heap at `heap_at`. The waveform is kept from `first`
    to before `last`.
    """

    quantity: NamedQuantity
    value_ns: float
    maximum: Maximum
    start: int
    end: int
    moment: int
    heap_at: int
    first: int
    last: int

    @property
    def channels(self) -> tuple[str, str]:
        """The channels of the edges at which it begins and ends."""
        answer = _ANSWERED_ON.get(self.quantity)
        return ("STIM", answer) if answer else ("CRIT", "CRIT")

    @property
    def key(self) -> str:
        """Its name in the dashboard: the operation's number, or @ and the stimulus's sample."""
        return f"@{self.start}" if self.maximum.seq is None else str(self.maximum.seq)


def find(
    quantity: str, maxima: Mapping[str, Maximum | None], operations: pl.DataFrame, edges: EdgeList
) -> Worst:
    """The worst sample of a run with these `maxima` (of run.json). Raises ExplainError."""
    meant = named(quantity, ExplainError)
    maximum = maxima.get(meant.key)
    if maximum is None:
        raise ExplainError(f"The run measured no {meant.words}: choose another quantity or run.")
    if meant in _ANSWERED_ON:
        start, end, moment, heap_at = _latency(maximum, edges, _ANSWERED_ON[meant])
    else:
        start, end, moment, heap_at = _section(maximum, operations, edges)
    margin = round(edges.samplerate_hz * MARGIN_S)
    first = max(min(start, heap_at) - margin, 0)
    last = min(end + margin, edges.total_samples)
    return Worst(meant, float(maximum.value), maximum, start, end, moment, heap_at, first, last)


def _section(maximum: Maximum, operations: pl.DataFrame, edges: EdgeList) -> tuple[int, int, int, int]:
    """Start, end, moment and heap_at: the longest CRIT pulse, its middle, and its start again.

    So the heap is as the section found it.
    """
    row = operations.filter(pl.col("seq") == maximum.seq).row(0, named=True)
    crit = edges.transitions("CRIT")
    rises = crit.sample[crit.level]
    falls = crit.sample[~crit.level]
    begin = int(row["start_sample"])
    rises = rises[(rises >= begin) & (rises < begin + int(row["wire_operation_samples"]))]
    if not rises.size:
        raise ExplainError("The worst operation has no pulse on CRIT: decode the run again.")
    ends = falls[np.searchsorted(falls, rises, side="right")]
    longest = int(np.argmax(ends - rises))
    start, end = int(rises[longest]), int(ends[longest])
    return start, end, (start + end) // 2, start


def _latency(maximum: Maximum, edges: EdgeList, channel: str) -> tuple[int, int, int, int]:
    """Start, end, moment and heap_at: the stimulus, its answer on `channel`, the stimulus again.

    The heap is as the interrupted operation found it.
    """
    if maximum.sample is None:
        raise ExplainError("The worst interrupt has no stimulus in run.json: decode the run again.")
    start = maximum.sample
    answer = start + round(maximum.value * edges.samplerate_hz / NS_PER_S)
    changes = edges.transitions(channel)
    if not maximum.open and answer not in changes.sample[changes.level]:
        raise ExplainError(f"The worst stimulus has no answer on {channel}: decode the run again.")
    heap_at = maximum.start_sample
    return start, answer, start, start if heap_at is None else int(heap_at)


def around(worst: Worst, operations: pl.DataFrame, edges: EdgeList) -> dict[str, Any]:
    """The fields of Told that schema 1 lacks."""
    seq = worst.maximum.seq
    operations_before = operations.filter(pl.col("start_sample") <= worst.start)["seq"].to_list()
    last = max(operations_before, default=-1)
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


def _operation(operations: pl.DataFrame, seq: int | None) -> Operation | None:
    rows = operations.filter(pl.col("seq") == seq).head(1).to_dicts() if seq is not None else []
    for row in rows:
        start, samples = row["start_sample"], row["wire_operation_samples"]
        return Operation(
            seq=row["seq"],
            kind=row["kind"],
            words=in_words(row["kind"], row["size"]),
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
        return microseconds((end - begin) * NS_PER_S / edges.samplerate_hz)

    what = "The stimulus came" if worst.channels[0] == "STIM" else "It began"
    if own is not None and own.start_sample is not None:
        words = f"{what} {apart(own.start_sample, worst.start)} after operation {own.seq:,} began"
        if worst.channels[0] == "STIM":
            words += (
                ", " + ("in" if _level(edges, "CRIT", worst.start) else "outside") + " its critical section"
            )
        return f"{words}."
    places = []
    if previous is not None and previous.end_sample is not None:
        places.append(f"{apart(previous.end_sample, worst.start)} after operation {previous.seq:,} ended")
    if following is not None and following.start_sample is not None:
        places.append(
            f"{apart(worst.start, following.start_sample)} before operation {following.seq:,} began"
        )
    return f"{what} outside of all operations{': ' if places else ''}{', '.join(places)}."

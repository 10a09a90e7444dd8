"""Which sample of a run is explained, and where in the capture it lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.errors import ExplainError
from base.run_folder.edges import EdgeList
from base.run_folder.manifest import Maximum
from base.run_folder.named_quantities import INTERRUPT, TASK, NamedQuantity, named

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
    answers = edges.transitions(channel)
    rises = answers.sample[answers.level]
    at = int(np.searchsorted(rises, start, side="right"))
    if at == len(rises):
        raise ExplainError(f"The worst stimulus has no answer on {channel}: decode the run again.")
    answer = int(rises[at])
    heap_at = maximum.start_sample
    return start, answer, start, start if heap_at is None else int(heap_at)

"""The wires of the runs under way, as they grow: the last edges, and a bar for each tail."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from base.files.errors import CaptureError, TailscopeError
from base.run_folder.edge_stream import EdgeFollower
from base.run_folder.folder import EDGE_STREAM
from base.run_folder.progress_file import SoFar
from capture.desk.bench import read_bench
from capture.reading.counter import Growing
from dashboards.answer import Axis
from dashboards.blocks import DotLane, DotPlot, DotRow
from dashboards.formatting import grouped, short, whole
from dashboards.growing_wire import captured, figures, traces


@dataclass(frozen=True)
class Wire:
    """A capture so far: `traces` are points of its channels, `tails` its pulses and latencies."""

    words: str
    traces: Mapping[str, str]
    tails: DotPlot | None


class Wires:
    """Follows the captures below `runs`. Its methods may be called from several threads."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._followed: dict[str, tuple[EdgeFollower, Growing]] = {}
        self._lock = threading.Lock()

    def pictures(self, going: Mapping[str, SoFar]) -> dict[str, Wire]:
        """What each run shows by now, by id; none of a run whose capture is not there."""
        with self._lock:
            self._followed = {identity: self._of(identity, so_far) for identity, so_far in going.items()}
            return {identity: found for identity in self._followed if (found := self._picture(identity))}

    def _of(self, identity: str, so_far: SoFar) -> tuple[EdgeFollower, Growing]:
        return self._followed.get(identity) or (
            EdgeFollower(self._runs / identity / EDGE_STREAM),
            Growing(tick_hz=_core_hz(so_far.board)),
        )

    def _picture(self, identity: str) -> Wire | None:
        follower, growing = self._followed[identity]
        with suppress(CaptureError):  # not there yet, or no longer
            new = follower.more()
            if new is not None:
                growing.add(new)
        return None if growing.recent is None else Wire(captured(growing), traces(growing), _tails(growing))


def _tails(growing: Growing) -> DotPlot | None:
    """A row for each pulse and latency, from its median to its longest. None before the first."""
    known = {
        name: (float(summary.median), float(summary.max), summary)
        for name, summary in figures(growing).items()
        if summary.median is not None and summary.max is not None
    }
    if not known:
        return None
    axis = Axis(value for median, longest, _ in known.values() for value in (median, longest))
    rows = tuple(
        DotRow(
            name=f"{name}, n = {grouped(summary.n)}",
            run_id="",
            badge="",
            median_percent=axis.percent(median),
            worst_percent=axis.percent(longest),
            bound_percent=None,
            bound_grows=False,
            text=summary.at_least + short(longest, "ns"),
            value=longest,
            sample=None,
            why=f"median {whole(median, 'ns')}",
            whole=summary.at_least + whole(longest, "ns"),
        )
        for name, (median, longest, summary) in known.items()
    )
    ticks = tuple((axis.percent(tick_ns), f"{tick_ns / 1000:,g}") for tick_ns in axis.ticks())
    legend = "Ring: the median so far. Bar: up to the longest so far."
    return DotPlot(
        "pulses and latencies so far", "µs", ticks, (DotLane("So far", rows),), legend, axis.ends_ns, "what"
    )


def _core_hz(board: str) -> int | None:
    """The clock of a board of bench.toml; None of one that is not in it."""
    try:
        return read_bench().board(board).board.core_hz
    except TailscopeError:
        return None

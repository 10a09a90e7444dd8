"""A wire for the terminal: the figures of a capture by itself, and a capture under way."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from base.metrology.summaries import Summary
from base.microseconds import UNIT, decimals_of, digits, microseconds
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import NOT
from base.run_folder.observed import ObservedManifest
from capture.reading.counter import Growing
from dashboards.growing_wire import picture

_SHOWN = ("n", "min", "median", "p99", "max")


def lines(manifest: ObservedManifest) -> list[str]:
    """A heading, a line for each of the summaries with the place of its longest, and a line for
    each channel on its periods. The digits follow the resolution.
    """
    decimals = decimals_of(manifest.resolution_ns)
    places = {
        name: f"{span.start / manifest.samplerate_hz:.{decimals + 6}f}"
        for name, span in manifest.longest.items()
    }
    rows: list[tuple[str, ...]] = [(UNIT, *_SHOWN, "longest at (s)" if places else "")]
    for title, part in (
        ("{}, width", manifest.widths_ns),
        ("{}, begin to begin", manifest.intervals_ns),
        ("{}", manifest.latencies_ns),
        ("{}, empty section", manifest.calibration_ns),
    ):
        for name, summary in part.items():
            row = title.format(name)
            rows.append((row, *_cells(summary, decimals), places.get(row, "")))
    widest = max(len(first) for first, *_ in rows)
    table = [
        (f"{first:<{max(widest, 22)}}" + "".join(f"{cell:>16}" for cell in cells)).rstrip()
        for first, *cells in rows
    ]
    return [*table, *_periods(manifest, decimals)]


def _periods(manifest: ObservedManifest, decimals: int) -> list[str]:
    return [
        f"{name.removeprefix(NOT)}: {'low' if name.startswith(NOT) else 'high'} {duty:.2%} of its periods, "
        "which differ by "
        f"{microseconds(part.max - part.min, decimals)}."
        for name, duty in manifest.duty.items()
        if (part := manifest.intervals_ns[name]).max is not None and part.min is not None
    ]


def _cells(summary: Summary, decimals: int) -> list[str]:
    values = [getattr(summary, name) for name in _SHOWN[1:]]
    *others, greatest = ("-" if value is None else digits(value, decimals) for value in values)
    return [f"{summary.n:,}", *others, summary.at_least + greatest]


EVERY_S = 0.5, 5.0
"""Between two pictures: on a terminal, where they take the place of each other, and elsewhere."""


class LiveWire:
    """Draws what `growing` shows on standard error, while the block runs."""

    def __init__(self, growing: Growing) -> None:
        self._growing = growing
        self._live = Live(console=Console(stderr=True, highlight=False), transient=True)
        self._due_s = 0.0

    def __enter__(self) -> LiveWire:
        if self._live.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live.is_started:
            self._live.stop()
        else:
            print(*picture(self._growing), sep="\n", file=sys.stderr, flush=True)

    def __call__(self, new: NewEdges) -> None:
        """Counts what came, and shows it if it is time."""
        self._growing.add(new)
        if (now_s := time.monotonic()) < self._due_s:
            return
        self._due_s = now_s + EVERY_S[not self._live.is_started]
        if self._live.is_started:
            self._live.update(Group(*map(Text, picture(self._growing))))
        else:
            print(*picture(self._growing), sep="\n", file=sys.stderr, flush=True)

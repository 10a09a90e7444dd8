"""A wire for the terminal: the figures of a capture by itself, and a capture under way."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from base.microseconds import UNIT, decimals_of, digits, microseconds
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import NOT
from base.run_folder.observed import ObservedManifest
from capture.reading.counter import Growing
from dashboards.growing_wire import picture

_SHOWN = ("min", "median", "p99", "max")


def lines(manifest: ObservedManifest) -> list[str]:
    """A heading, a line for each of the summaries with the place of its longest, and a line for
    each channel on its periods. The digits follow the resolution.
    """
    decimals = decimals_of(manifest.resolution_ns)
    places = {
        name: f"{span.start / manifest.samplerate_hz:.{decimals + 6}f}"
        for name, span in manifest.longest.items()
    }
    rows: list[tuple[str, ...]] = [(UNIT, "n", *_SHOWN, "longest at (s)" if places else "")]
    for title, part in (
        (", width", manifest.widths_ns),
        (", begin to begin", manifest.intervals_ns),
        ("", manifest.latencies_ns),
        (", empty section", manifest.calibration_ns),
    ):
        for name, summary in part.items():
            values = [getattr(summary, statistic) for statistic in _SHOWN]
            *others, greatest = ("-" if value is None else digits(value, decimals) for value in values)
            row = f"{name}{title}"
            cells = (f"{summary.n:,}", *others, summary.at_least + greatest, places.get(row, ""))
            rows.append((row, *cells))
    widest = max(22, *(len(first) for first, *_ in rows))
    table = [
        (f"{first:<{widest}}" + "".join(f"{cell:>16}" for cell in cells)).rstrip() for first, *cells in rows
    ]
    return table + [
        f"{name.removeprefix(NOT)}: {'low' if name.startswith(NOT) else 'high'} {duty:.2%} of its periods, "
        f"which differ by {microseconds(gap.max - gap.min, decimals)}."
        for name, duty in manifest.duty.items()
        if (gap := manifest.intervals_ns[name]).max is not None and gap.min is not None
    ]


EVERY_S = 0.5, 5.0
"""Between two pictures: on a terminal, where they take the place of each other, and elsewhere."""


@contextmanager
def live(growing: Growing) -> Iterator[Callable[[NewEdges], None]]:
    """What counts edges as they come, and draws what `growing` shows on standard error."""
    drawn = Live(console=Console(stderr=True, highlight=False), transient=True)
    on_terminal = drawn.console.is_terminal
    due_s = 0.0

    def show() -> None:
        if on_terminal:
            drawn.update(Group(*map(Text, picture(growing))))
        else:
            print(*picture(growing), sep="\n", file=sys.stderr, flush=True)

    def count(new: NewEdges) -> None:
        nonlocal due_s
        growing.add(new)
        if (now_s := time.monotonic()) >= due_s:
            due_s = now_s + EVERY_S[not on_terminal]
            show()

    try:
        with drawn if on_terminal else nullcontext():
            yield count
    finally:
        if not on_terminal:
            show()

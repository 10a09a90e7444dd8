"""The wire of a capture under way, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from base.run_folder.edge_stream import NewEdges
from capture.reading.counter import Growing
from dashboards.growing_wire import line, picture

PER_S = 2
"""Pictures a second."""
LINE_EVERY_S = 5.0
"""Elsewhere than on a terminal a line is printed so often."""


class LiveWire:
    """Draws what `growing` shows on standard error: in place on a terminal, as lines elsewhere."""

    def __init__(self, growing: Growing) -> None:
        self._growing = growing
        self._console = Console(stderr=True, highlight=False)
        self._live: Live | None = None
        self._due_s = 0.0

    @contextmanager
    def shown(self) -> Iterator[None]:
        """While the block runs, pictures take the place of each other; the last one goes. Elsewhere
        than on a terminal a last line has the whole capture, however short it was.
        """
        if not self._console.is_terminal:
            yield
            print(line(self._growing), file=sys.stderr, flush=True)
            return
        with Live(console=self._console, refresh_per_second=PER_S, transient=True) as self._live:
            yield

    def __call__(self, new: NewEdges) -> None:
        """Counts what came, and shows it if it is time."""
        self._growing.add(new)
        now_s = time.monotonic()
        if now_s < self._due_s:
            return
        if self._live is None:
            self._due_s = now_s + LINE_EVERY_S
            print(line(self._growing), file=sys.stderr, flush=True)
        else:
            self._due_s = now_s + 1 / PER_S
            self._live.update(Group(*map(Text, picture(self._growing))))

"""A run on the virtual board without analyzer and serial line: `capture = "direct"`.

The simulator writes the edges, records and counts that it would serve. They are equal to the byte
to what the real tools bring (capture/same.py compares both), for a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from base.files.errors import CaptureError
from base.run_folder.folder import RunName
from base.run_folder.manifest import VIRTUAL_BOARD, ToolReport
from base.run_folder.records import MOST_LOG_BYTES
from capture.acquisition.live import Watch
from capture.acquisition.observe import Observation
from capture.acquisition.sigrok_cli import count_problems
from capture.acquisition.source import Account, Opened, RunRequest, Taken
from capture.desk.bench import BoardResource
from capture.desk.open_board import ended_words, look_counts
from simulator.build import build, version
from simulator.captured import capture

ANALYZER = "direct"
"""What run.json names as the analyzer of such a run."""


def fits(resource: BoardResource, records: str) -> bool:
    """True if check() raises nothing."""
    return resource.loader.kind == "virtual-nucleo" and records == "uart"


def check(resource: BoardResource, records: str) -> None:
    """Raises CaptureError where a run cannot be captured so."""
    if resource.loader.kind != "virtual-nucleo":
        raise CaptureError(
            f"The board {resource.name!r} cannot be captured direct: only the virtual board hands over its "
            "edges without an analyzer; leave --capture out."
        )
    if records != "uart":
        raise CaptureError(
            f"Records by {records} need a debug probe, which a direct capture has not; leave out --records, "
            "or --capture."
        )


@dataclass(frozen=True)
class Direct:
    """The simulator alone; `program` stands in for the one that is built.

    The folder gets no copy for PulseView: `./lab redecode` adds one.
    """

    request: RunRequest
    program: Path | None = None
    copied = False

    @property
    def name(self) -> RunName:
        """By scenario, allocator and board."""
        return self.request.name

    def check(self) -> None:
        """Raises CaptureError where the run cannot be captured so."""
        check(self.request.resource, self.request.records)
        self.request.order()

    @contextmanager
    def open(self) -> Iterator[Opened]:
        """Nothing to start: the simulator runs while it is observed."""

        def observed(_folder: Path, watch: Watch) -> Observation:
            watch.step("capturing")
            return self._observe()

        yield Opened(self._account(), observed)

    def taken(self) -> Taken:
        """The run, observed. Writes nothing, and may be called in any thread.

        Raises TailscopeError where it cannot be captured so, or nothing could be observed; and
        signals.Stopped.
        """
        self.check()
        self.request.progress("capturing")
        return Taken(self._account(), self._observe())

    def _account(self) -> Account:
        return self.request.account(ANALYZER, {VIRTUAL_BOARD: version(self.program or build())})

    def _observe(self) -> Observation:
        """What the real tools would bring.

        A run that the simulator cannot go on with is one that was cut short, as with them.
        """
        order = self.request.order()
        assert order.elf is not None
        wire = capture(
            order.elf,
            order.image,
            order.samplerate_hz,
            order.samples,
            counts=look_counts(self.request.image.looks),
            count_window="OP",
            instructions_while="CRIT",
            program=self.program,
            options=self.request.resource.board.virtual_options,
            clips=self.request.resource.clipped(),
        )
        return Observation(
            edges=wire.edges,
            serial_bytes=wire.uart[:MOST_LOG_BYTES],
            report=ToolReport(
                asked_samples=order.samples,
                losses=(
                    *ended_words(wire.status or None, wire.words),
                    *count_problems(order.samples, wire.edges.total_samples),
                ),
                oddities=(f"The virtual Nucleo said: {wire.words}.",)
                if wire.words and not wire.status
                else (),
            ),
            counts=wire.windows,
        )

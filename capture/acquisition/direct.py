"""Observes a run on the virtual board without analyzer and serial line: `capture = "direct"`.

The simulator writes the edges, records and counts that it would serve. They are equal to the byte
to what the real tools bring (capture/same.py compares both), for a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from base.files.errors import CaptureError
from base.run_folder.manifest import ToolReport
from base.run_folder.records import MOST_LOG_BYTES
from capture.acquisition.observe import Observation, Order
from capture.acquisition.sigrok_cli import count_problems
from capture.desk.bench import BoardResource
from capture.desk.virtual_board import ended_words, look_counts
from simulator.captured import capture

ANALYZER = "direct"
"""What run.json names as the analyzer of such a run."""


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


def observe(order: Order, looks: Sequence[int] = (), program: Path | None = None) -> Observation:
    """What acquisition.observe would bring of `order` on the virtual board, which counts `looks`.

    Writes nothing, and may be called in any thread. `program` stands in for the simulator that is
    built. A run that the simulator cannot go on with is one that was cut short, as with the real
    tools. Raises TailscopeError where nothing could be observed, and signals.Stopped.
    """
    assert order.elf is not None
    asked = round(order.samplerate_hz * order.duration_s)
    found = capture(
        order.elf,
        order.image,
        order.samplerate_hz,
        asked,
        counts=look_counts(looks),
        count_window="OP",
        instructions_while="CRIT",
        program=program,
    )
    said = (f"The virtual Nucleo said: {found.words}.",) if found.words and not found.status else ()
    return Observation(
        edges=found.edges,
        serial_bytes=found.uart[:MOST_LOG_BYTES],
        report=ToolReport(
            asked_samples=asked,
            losses=(
                *ended_words(found.status or None, found.words),
                *count_problems(asked, found.edges.total_samples),
            ),
            oddities=said,
        ),
        counts=found.windows,
    )

"""How many runs a core conducts in a minute: by the real tools and direct, on the same plan.

Both take turns, and the processor's time counts, with that of the programs they start: the speed of
a shared host changes by the second, its work does not. What a process does once (imports, builds,
bounds of an image) is done before.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from capture import conductor, direct_run
from capture.conductor import BoundsOf, MemoryOf, RunResult
from firmware import build as firmware
from scenarios import catalogue

SCENARIO, ALLOCATOR = "mem_stress", "tlsf"


@dataclass(frozen=True)
class Speed:
    """Medians of a run that is judged and stored: seconds of a core, and of the host's clock."""

    capture: str
    core_s: float
    wall_s: float

    @property
    def runs_per_minute(self) -> float:
        """As many as a core that does nothing else conducts."""
        return 60 / self.core_s


def measure(repeats: int, bounds: BoundsOf, memory: MemoryOf) -> list[Speed]:
    """The speeds by sigrok-cli and direct, with what the console adds to a run.

    Raises TailscopeError.
    """
    plan, image = catalogue.load(SCENARIO).compile(), firmware.build(ALLOCATOR)
    with tempfile.TemporaryDirectory(prefix="tailscope-speed-") as runs:
        ways: dict[str, Callable[[], RunResult]] = {
            "sigrok": partial(
                conductor.run, plan, image, runs_folder=Path(runs), bounds=bounds, memory=memory
            ),
            "direct": partial(
                direct_run.run, plan, image, runs_folder=Path(runs), bounds=bounds, memory=memory
            ),
        }
        for way in ways.values():
            way()
        turns = [{name: _timed(way) for name, way in ways.items()} for _ in range(repeats)]
    return [Speed(name, *(median(turn[name][which] for turn in turns) for which in (0, 1))) for name in ways]


def as_text(speeds: list[Speed]) -> str:
    """A line for each way."""
    lines = [
        f"{of.capture:<8}{of.core_s:>14.3f}{of.wall_s:>9.3f}{of.runs_per_minute:>23.0f}" for of in speeds
    ]
    return "\n".join(("capture    s of a core   s wall   runs a minute a core", *lines))


def _timed(way: Callable[[], RunResult]) -> tuple[float, float]:
    """Seconds of a core, with those of the programs that it started, and of the host's clock."""
    core_s, wall_s = sum(os.times()[:4]), time.monotonic()
    way()
    return sum(os.times()[:4]) - core_s, time.monotonic() - wall_s

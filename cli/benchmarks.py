"""`./lab bench`: which speed is measured, and what of it is shown."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from base.files.errors import TailscopeError, no_such

BENCHMARKS = ("simulator", "capture", "campaign", "dashboard")


@dataclass(frozen=True)
class Measured:
    """What came out, for a program and for a reader."""

    document: Any
    text: str


def run(what: str, repeats: int, runs_folder: Path) -> Measured:
    """Measures one of BENCHMARKS `repeats` times; the dashboard's is of the latest runs in
    `runs_folder`.

    Raises TailscopeError where there is no such benchmark, or it cannot be measured.
    """
    if what not in BENCHMARKS:
        raise TailscopeError(no_such("benchmark", what, BENCHMARKS))
    if repeats < 1:
        raise TailscopeError(f"--repeats is how often to measure, so 1 or more, and not {repeats}.")
    if what == "dashboard":
        return _dashboard(repeats, runs_folder)
    if what == "campaign":
        return _campaign(repeats)
    from quality.speeds import capture as capture_speed
    from quality.speeds import simulator as benchmark

    if what == "simulator":
        return _listed(benchmark.measure(repeats))
    speeds = capture_speed.measure(repeats)
    return Measured([asdict(speed) for speed in speeds], capture_speed.as_text(speeds))


def _dashboard(repeats: int, runs_folder: Path) -> Measured:
    from base.run_index.index import latest_folders
    from dashboards import bench
    from dashboards.loaded.runs import find_runs

    with tempfile.TemporaryDirectory() as folder:
        return _listed(bench.measure(latest_folders(find_runs(runs_folder)), Path(folder), repeats))


def _campaign(repeats: int) -> Measured:
    from cli import progress
    from quality.speeds import campaign as speed
    from quality.speeds import campaign as speed_text

    with progress.shown() as shown:
        found = speed.measure(repeats, shown)
    return Measured(found.document(), speed_text.as_text(found))


def _listed(found: Mapping[str, Any]) -> Measured:
    return Measured(found, "\n".join(f"{name}: {value}" for name, value in found.items()))

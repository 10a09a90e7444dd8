"""`./lab dev bench`: which speed is measured, and what of it is shown."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Measured:
    """What came out, for a program and for a reader."""

    document: Any
    text: str


def run(what: str, repeats: int, runs_folder: Path) -> Measured:
    """Measures one of dev/bench.py's BENCHMARKS `repeats` times.

    The dashboard's is of the latest runs in `runs_folder`.

    Raises TailscopeError where it cannot be measured.
    """
    if what == "dashboard":
        return _dashboard(repeats, runs_folder)
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


def _listed(found: Mapping[str, Any]) -> Measured:
    return Measured(found, "\n".join(f"{name}: {value}" for name, value in found.items()))

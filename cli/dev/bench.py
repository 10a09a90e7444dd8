"""`./lab dev bench`: the bench's own speed."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from base.paths import RUNS
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import WHOLE, choice

BENCHMARKS = ("simulator", "capture", "dashboard", "startup")


@declare(section="Is it fast?")
@argument("what", type=choice(*BENCHMARKS), help="simulator, capture, dashboard, or startup")
@option(
    "--repeats",
    type=WHOLE,
    default=5,
    help="how many times; medians are printed",
)
@json_option
def command(what: str, repeats: int, as_json: bool) -> None:
    """Measure a speed, side by side with what it is compared to."""
    if what == "capture":
        from dataclasses import asdict

        from quality.speeds import capture

        speeds = capture.measure(repeats)
        answer(as_json, lambda: list(map(asdict, speeds)), lambda: capture.as_text(speeds))
        return
    figures = {"dashboard": _dashboard, "simulator": _simulator, "startup": _startup}[what](repeats)
    answer(as_json, lambda: figures, lambda: "\n".join(f"{name}: {value}" for name, value in figures.items()))


def _simulator(repeats: int) -> Mapping[str, Any]:
    from quality.speeds import simulator

    return simulator.measure(repeats)


def _startup(repeats: int) -> Mapping[str, Any]:
    from quality.speeds import startup

    return startup.measure(repeats)


def _dashboard(repeats: int) -> Mapping[str, Any]:
    """Of the latest runs."""
    from base.run_index import latest_folders
    from dashboards import bench
    from dashboards.loaded.runs import find_runs

    with tempfile.TemporaryDirectory() as folder:
        return bench.measure(latest_folders(find_runs(RUNS)), Path(folder), repeats)

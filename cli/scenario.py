"""`./lab scenario`: runs of one scenario, judged, and their dashboard."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from base.paths import DASHBOARD, RUNS
from cli.shell import shared, start
from cli.shell.declare import argument, declare, json_option, option, packed
from cli.shell.values import BOARDS, OUTPUT_FOLDER, PLACEMENTS, SAMPLERATE, SCENARIO, SECONDS, choice, several

if TYPE_CHECKING:
    from capture.conduct import RunResult

_USUAL = shared.RunOptions()


@declare("Run and measure")
@argument("name", SCENARIO, "a scenario of `./lab list`, or the path of a scenario's TOML")
@shared.allocator_of_two
@option(
    "--board",
    "boards",
    BOARDS,
    "a board of `./lab list`, or the path of its TOML; or virtual:NAME, another board simulated; "
    "several with commas for a run on each; bench.toml's default when not given",
    default=(None,),
    show_default=False,
)
@option(
    "--samplerate",
    "samplerate_hz",
    SAMPLERATE,
    "samples per second, e.g. 24000000 or 24m; bench.toml's when not given",
)
@shared.stimulus
@shared.seed
@shared.parameter
@option(
    "--duration",
    "duration_s",
    SECONDS,
    "how long to capture: 2s, 500ms; until the scenario ends when not given",
)
@shared.records
@shared.ignore_glitches
@option(
    "--capture",
    choice("sigrok", "direct"),
    "who captures: sigrok, or direct, the virtual board itself: same results, sooner; without this "
    "option direct only where sigrok-cli is not installed",
)
@option(
    "--art",
    several("on", "off"),
    "the flash accelerator: on, off, or on,off for a run with each",
    default="on",
)
@option(
    "--locking",
    several("basepri", "primask", "scheduler"),
    "how the heap holds others off, or several with commas; the allocator's own when not given",
    default=(None,),
    show_default=False,
)
@option(
    "--optimise",
    several(*shared.OPTIMIZATIONS),
    "GCC's -O of the firmware: -O1, -O2, -O3, -Os, or several with commas for a run with each",
    default="-O2",
)
@shared.knob
@shared.trace
@shared.scale
@shared.heap
@option(
    "--placements",
    PLACEMENTS,
    "link the image so many times, code at other places in the flash; range of each worst case",
    default=1,
)
@option("--runs", OUTPUT_FOLDER, "the folder that the runs and their dashboard go to; runs when not given")
@option("--full", "print all statistics, also of many runs")
@json_option
@packed(shared.RunOptions, "options")
def command(
    name: str,
    allocator: list[str],
    options: shared.RunOptions,
    runs: Path | None,
    full: bool,
    as_json: bool,
) -> int:
    """Run one scenario, judge it, and write the dashboard of its runs."""
    return run((name,), allocator, options, full=full, as_json=as_json, runs_folder=runs)


def run(
    scenarios: Sequence[str],
    allocators: Sequence[str],
    options: shared.RunOptions = _USUAL,
    *,
    as_json: bool = False,
    full: bool = False,
    runs_folder: Path | None = None,
) -> int:
    """Runs scenarios into `runs_folder`, writes and prints what came of them: table, dashboard,
    last the run folders, one a line. In a folder that is named the dashboard lies there too.

    Returns the exit status: 0 if all of them are complete, else 1. Raises TailscopeError, and
    signals.Stopped, at any moment.
    """
    from cli.shell import runs, under_way

    start.need("plotly", "scipy")
    results: list[RunResult] = []
    with under_way.stoppable("no run was recorded", results):
        under_way.on_desk(*options.boards)
        results += runs.run(scenarios, allocators, runs_folder or RUNS, options)

        from dashboards import report, terminal
        from dashboards.loaded.runs import load_run

        folders = [result.folder for result in results]
        output = runs_folder / DASHBOARD.name if runs_folder else DASHBOARD
        with under_way.shown() as tell:
            tell(f"writing the dashboard of {len(folders):,} runs")
            loaded = [load_run(folder) for folder in folders]
            page = report.write_report(folders, output, progress=tell)
        if as_json:
            print(json.dumps(terminal.as_json(loaded, page), indent=2))
        else:
            width = shutil.get_terminal_size().columns if sys.stdout.isatty() else terminal.WIDTH_COLUMNS
            print(terminal.terminal_report(loaded, full, width))
            print(f"dashboard: {page}", *folders, sep="\n", flush=True)
    return int(any(result.verdict != "complete" for result in results))

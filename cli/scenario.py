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
from cli.shell.declare import argument, declare, json_option, option
from cli.shell.values import OUTPUT_FOLDER, PLACEMENTS, SCENARIO, SECONDS, choice, several

if TYPE_CHECKING:
    from base.run_folder.manifest import Optimization
    from capture.conduct import RunResult
    from cli.shell.runs import Options

ART = {"on": True, "off": False}
OPTIMIZATIONS: dict[str, Optimization] = {"-O1": "1", "-O2": "2", "-O3": "3", "-Os": "s"}


@declare(section="Run and measure")
@argument("name", type=SCENARIO, help="a scenario of `./lab list`, or the path of a scenario's TOML")
@shared.allocator_of_two
@shared.boards
@shared.samplerate
@shared.stimulus
@shared.seed
@shared.parameter
@option(
    "--duration",
    "duration_s",
    type=SECONDS,
    help="how long to capture: 2s, 500ms; until the scenario ends when not given",
)
@shared.records
@shared.ignore_glitches
@option(
    "--capture",
    type=choice("sigrok", "direct"),
    help="who captures: sigrok, or direct, the virtual board itself: same results, sooner; without this "
    "option direct only where sigrok-cli is not installed",
)
@option(
    "--art",
    type=several(*ART),
    default="on",
    help="the flash accelerator: on, off, or on,off for a run with each",
)
@option(
    "--locking",
    type=several("basepri", "primask", "scheduler"),
    help="how the heap holds others off, or several with commas; the allocator's own when not given",
)
@option(
    "--optimise",
    type=several(*OPTIMIZATIONS),
    default="-O2",
    help="GCC's -O of the firmware: -O1, -O2, -O3, -Os, or several with commas for a run with each",
)
@shared.knob
@shared.trace
@shared.scale
@shared.heap
@option(
    "--placements",
    type=PLACEMENTS,
    default=1,
    help="link the image so many times, code at other places in the flash; range of each worst case",
)
@option(
    "--runs",
    type=OUTPUT_FOLDER,
    help="the folder that the runs and their dashboard go to; runs when not given",
)
@option("--full", is_flag=True, help="print all statistics, also of many runs")
@json_option
def command(
    name: str,
    allocator: list[str],
    art: tuple[str, ...],
    locking: tuple[str, ...] | None,
    optimise: tuple[str, ...],
    boards: tuple[str, ...] | None,
    samplerate_hz: int | None,
    stimulus: str | None,
    seed: int | None,
    parameter: tuple[tuple[str, str], ...],
    duration_s: float | None,
    records: str,
    ignore_glitches: bool,
    capture: str | None,
    knob: tuple[tuple[str, int], ...],
    trace: Path | None,
    scale: int | None,
    heap_bytes: int | None,
    placements: int,
    runs: Path | None,
    full: bool,
    as_json: bool,
) -> int:
    """Run one scenario, judge it, and write the dashboard of its runs."""
    from cli.shell.runs import Options, recorded

    options = Options(
        parameters={**dict(parameter), **recorded(trace, scale)},
        knobs=dict(knob),
        art_states=tuple(ART[word] for word in art),
        lockings=locking or (None,),
        optimizations=tuple(OPTIMIZATIONS[word] for word in optimise),
        boards=boards or (None,),
        samplerate_hz=samplerate_hz,
        stimulus=stimulus,
        seed=seed,
        duration_s=duration_s,
        records=records,
        ignore_glitches=ignore_glitches,
        capture=capture,
        heap_bytes=heap_bytes,
        placements=placements,
    )
    return run((name,), allocator, options, full=full, as_json=as_json, runs_folder=runs)


def run(
    scenarios: Sequence[str],
    allocators: Sequence[str],
    options: Options | None = None,
    *,
    as_json: bool = False,
    full: bool = False,
    runs_folder: Path | None = None,
    dashboard: Path | None = None,
) -> int:
    """Runs scenarios into `runs_folder`, writes and prints what came of them: table, dashboard,
    last the run folders, one a line. In a folder that is named the dashboard lies there too.

    Returns the exit status: 0 if all of them are complete, else 1. Raises TailscopeError, and
    signals.Stopped, at any moment.
    """
    from cli.shell import runs, under_way

    start.need("plotly", "scipy")
    results: list[RunResult] = []
    chosen = options or runs.Options()
    with under_way.stoppable(results, "no run was recorded"):
        under_way.on_desk(*chosen.boards)
        results += runs.run(scenarios, allocators, runs_folder or RUNS, chosen)

        from dashboards import report, terminal
        from dashboards.loaded.runs import load_run

        folders = [result.folder for result in results]
        usual = runs_folder / DASHBOARD.name if runs_folder else DASHBOARD
        with under_way.shown() as tell:
            tell(f"writing the dashboard of {len(folders):,} runs")
            loaded = [load_run(folder) for folder in folders]
            page = report.write_report(folders, dashboard or usual, progress=tell)
        if as_json:
            print(json.dumps(terminal.as_json(loaded, page), indent=2))
        else:
            width = shutil.get_terminal_size().columns if sys.stdout.isatty() else terminal.WIDTH_COLUMNS
            print(terminal.terminal_report(loaded, full, width))
            print(f"dashboard: {page}", *folders, sep="\n", flush=True)
    return int(any(result.verdict != "complete" for result in results))

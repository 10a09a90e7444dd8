"""`./lab scenario` and `./lab demo`: runs, the dashboard of them, and what is printed.

All that is wrong with the words is told before anything is loaded that takes a while.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from base.paths import DASHBOARD, RUNS
from cli.shell import known
from cli.work import kept
from cli.work.options import Options

if TYPE_CHECKING:
    from capture.store import RunResult


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
    """Runs scenarios into `runs_folder`, writes and prints what came of them. In a folder that is
    named the dashboard lies there too.

    Returns the exit status: 0 if all of them are complete, else 1. Raises TailscopeError, and
    signals.Stopped, at any moment.
    """
    results: list[RunResult] = []
    chosen = options or Options()
    with kept.told(results, "no run was recorded"):
        for name in scenarios:
            for board in chosen.boards:
                known.check(
                    scenario=name,
                    allocators_=allocators,
                    board=board,
                    parameters_=chosen.parameters,
                    knobs_=chosen.knobs,
                )
        from cli.work import runs, where

        where.run_each(chosen.boards)
        results += runs.run(scenarios, allocators, runs_folder or RUNS, chosen)
        usual = runs_folder / DASHBOARD.name if runs_folder else DASHBOARD
        _present(results, as_json, full, dashboard or usual)
    return int(any(result.verdict != "complete" for result in results))


def _present(results: Sequence[RunResult], as_json: bool, full: bool, dashboard: Path) -> None:
    """Table, dashboard, last the run folders, one a line."""
    from rich.console import Console

    from cli.work import progress
    from dashboards import report, terminal
    from dashboards.loaded.runs import load_run

    folders = [result.folder for result in results]
    with progress.shown() as tell:
        tell(f"writing the dashboard of {len(folders):,} runs")
        runs = [load_run(folder) for folder in folders]
        page = report.write_report(folders, dashboard, progress=tell)
    if as_json:
        print(json.dumps(terminal.as_json(runs, page), indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else terminal.WIDTH_COLUMNS)
    console.print(terminal.terminal_report(runs, full=full))
    print(f"dashboard: {page}")
    for folder in folders:
        print(folder, flush=True)

"""`./lab scenario` and `./lab demo`: runs, the dashboard of them, and what is printed.

All that is wrong with the words is told before anything is loaded that takes a while.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from base.files.errors import TailscopeError
from cli import kept, known

if TYPE_CHECKING:
    from capture.store import RunResult
    from cli.options import Options


def run(
    scenarios: Sequence[str],
    allocator: str,
    options: Callable[[], Options | None],
    *,
    summary: str,
    full: bool,
    runs_folder: Path,
    dashboard: Path,
) -> bool:
    """Runs scenarios into `runs_folder`, writes and prints what came of them; whether all of them
    are complete.

    Raises TailscopeError, and signals.Stopped, at any moment.
    """
    results: list[RunResult] = []
    with kept.told(results, "no run was recorded"):
        chosen = options()
        if summary not in ("", "json"):
            raise TailscopeError(f"--summary {summary}: give json.")
        allocators = known.words(allocator)
        _check(scenarios, allocators, chosen)
        from cli import campaign, where

        where.run(chosen.board if chosen else None)
        results += campaign.run(scenarios, allocators, runs_folder, chosen)
        _present(results, bool(summary), full, dashboard)
    return all(result.verdict == "complete" for result in results)


def _check(scenarios: Sequence[str], allocators: Sequence[str], options: Options | None) -> None:
    for name in scenarios:
        known.check(
            scenario=name,
            allocators_=allocators,
            board=options.board if options else None,
            parameters_=options.parameters if options else (),
            knobs_=options.knobs if options else (),
        )


def _present(results: Sequence[RunResult], as_json: bool, full: bool, dashboard: Path) -> None:
    """Table, dashboard, last the run folders, one a line."""
    from rich.console import Console

    from cli import progress
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

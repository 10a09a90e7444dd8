"""`./lab dashboard`: the report on stored runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from cli import known, progress


def run(
    folders: Sequence[str],
    output: Path,
    *,
    every: bool,
    subtract_baseline: bool,
    without_ticks: bool,
    runs_folder: Path,
) -> Iterator[str]:
    """Writes the report on the run folders, or on the latest of each kind in `runs_folder`, or on
    `every` one there. Yields what to print: what is left out, then the page. Raises TailscopeError.
    """
    with progress.shown() as tell:
        known.check_runs(folders)
        tell("loading what draws the figures")
        from base.run_index.index import latest_folders, left_out
        from dashboards import report
        from dashboards.loaded.adjustments import Adjustments
        from dashboards.loaded.runs import find_runs, unfinished

        found = [Path(folder) for folder in folders] or find_runs(runs_folder)
        shown = found if folders or every else latest_folders(found)
        yield from () if folders else unfinished(runs_folder)
        if sentence := left_out(len(found) - len(shown)):
            yield f"{sentence} --all shows every one."
        adjustments = Adjustments(subtract_baseline, without_ticks)
        yield str(report.write_report(shown, output, adjustments, tell))

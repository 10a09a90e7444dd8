"""`./lab dashboard`: the report on stored runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from base.paths import DASHBOARD, RUNS
from cli.shell import under_way
from cli.shell.declare import argument, declare, option
from cli.shell.values import OUTPUT, RUN, SECONDS


@declare("Read what came out")
@argument(
    "run", RUN, "run folders; the latest of each scenario, allocator and options when none is given", nargs=-1
)
@option("--output", OUTPUT, "the HTML file to write", default=DASHBOARD, show_default="build/dashboard.html")
@option(
    "--limit",
    "limit_s",
    SECONDS,
    "how long an interrupt may wait, such as 10us: the page says who stays within it",
)
@option("--without-ticks", "leave out what the kernel's tick may have delayed")
@option("--pdf", OUTPUT, "print all of it to this file too, by Chromium or Chrome")
@option("--all", "every", "without run folders: every one in runs/, not only the latest")
def command(
    run: tuple[Path, ...],
    output: Path,
    limit_s: float | None,
    without_ticks: bool,
    pdf: Path | None,
    every: bool,
) -> None:
    """Write the dashboard of the given runs."""
    limit = "" if limit_s is None else f"{limit_s * 1e6:.6g} µs"
    for line in write(run, output, every=every, limit=limit, without_ticks=without_ticks):
        print(line)
    if pdf is not None:
        from dashboards.printed import print_pdf

        print(print_pdf(output, pdf))


def write(
    folders: Sequence[Path],
    output: Path,
    *,
    every: bool,
    runs_folder: Path = RUNS,
    limit: str = "",
    without_ticks: bool = False,
) -> Iterator[str]:
    """Writes the report on the run folders, or on the latest of each kind in `runs_folder`, or on
    `every` one there; it begins with the `limit`, and has no history `without_ticks`. Yields what
    to print: what is left out, then the page. Raises TailscopeError.
    """

    with under_way.shown() as tell:
        tell("loading what draws the figures")
        from base.run_index import index, latest_folders, left_out
        from dashboards import report
        from dashboards.loaded.runs import find_runs, unfinished

        paths = list(folders) or find_runs(runs_folder)
        shown = paths if folders or every else latest_folders(paths)
        yield from () if folders else unfinished(runs_folder)
        if sentence := left_out(len(paths) - len(shown)):
            yield f"{sentence} --all shows every one."
        table = None if folders or without_ticks else index(runs_folder)
        path = report.write_report(shown, output, tell, limit, table, without_ticks=without_ticks)
        yield str(path)

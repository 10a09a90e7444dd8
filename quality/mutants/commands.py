"""`./lab mutants`: tries mutants, shows progress on stderr, and puts the outcome in words."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from quality.mutants import campaign
from quality.mutants.campaign import Report

_WIDTH_COLUMNS = 100


def run(files: Sequence[str], n: int, seed: int, jobs: int) -> Report:
    """A campaign; see campaign.run."""
    with Console(stderr=True, highlight=False).status("the tests without any mutant") as status:
        return campaign.run(
            files, n, seed, jobs, lambda done: status.update(f"{done:,} of at most {n:,} mutants tried")
        )


def as_text(report: Report) -> str:
    """The table by file, and each survivor in one line."""
    console = Console(width=_WIDTH_COLUMNS, highlight=False, soft_wrap=True)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("file", no_wrap=True)
    for heading in report.total:
        table.add_column(heading, justify="right")
    for file, counts in report.by_file.items():
        table.add_row(file, *map(str, counts.values()))
    table.add_section()
    table.add_row("total", *map(str, report.total.values()))
    with console.capture() as captured:
        console.print(table)
        if report.survivors:
            console.print("\nno test notices:", style="bold red")
            for outcome in report.survivors:
                console.print(str(outcome.mutant), markup=False)
    return captured.get().rstrip()

"""`./lab dev soundness`: progress and the outcome, in words."""

from __future__ import annotations

import statistics

from rich.console import Console
from rich.table import Table
from rich.text import Text

from base.tell import Tell
from quality.soundness import series
from quality.soundness.series import Report

WIDTH_COLUMNS = 100
_HEADINGS = ("sections", "compared", "least", "median", "greatest")


def run(n: int, seed: int, jobs: int, tell: Tell) -> Report:
    """A series; `tell` hears what is under way. Raises TailscopeError."""
    return series.run(n, seed, jobs, lambda done: tell(f"{done:,} of {n:,} random programs"))


def as_text(report: Report) -> str:
    """The table by kind and setting, the sentence, and each section that took too long."""
    console = Console(width=WIDTH_COLUMNS, highlight=False, soft_wrap=True)
    with console.capture() as captured:
        console.print(_table(report))
        console.print(report.says(), style="" if report.sound else "bold red")
        for comparison in report.violations:
            trial = comparison.trial
            console.print(
                f"{comparison.function} of {trial.kind} {trial.seed} ({trial.option}, {trial.chip}, "
                f"FLASH_ACR {trial.flash_acr:#x}): "
                f"bound {comparison.cycles:,}, measured {comparison.seen:,} cycles"
            )
    return captured.get().rstrip()


def _table(report: Report) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("kind", no_wrap=True)
    table.add_column("chip", no_wrap=True)
    table.add_column("FLASH_ACR", justify="right")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right")
    for kind, chip, setting, there, ratios in report.rows():
        told = (min(ratios), statistics.median(ratios), max(ratios)) if ratios else ()
        figures = [f"{there:,}", f"{len(ratios):,}", *(f"{ratio:.3f}" for ratio in told)]
        table.add_row(kind, chip, f"{setting:#x}", *map(Text, figures))
    return table

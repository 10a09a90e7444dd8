"""`./lab dev soundness`: progress and the outcome, in words."""

from __future__ import annotations

import statistics

from base.tell import Tell
from quality.soundness import series
from quality.soundness.series import Report


def run(n: int, seed: int, jobs: int, tell: Tell) -> Report:
    """A series; `tell` hears what is under way. Raises TailscopeError."""
    return series.run(n, seed, jobs, lambda done: tell(f"{done:,} of {n:,} random programs"))


def as_text(report: Report) -> str:
    """The table by kind and setting, the sentence, and each section that took too long."""
    form = "{:10} {:14} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8}"
    lines = [form.format("kind", "chip", "FLASH_ACR", "sections", "compared", "least", "median", "greatest")]
    for kind, chip, setting, there, ratios in report.rows():
        spread = (min(ratios), statistics.median(ratios), max(ratios)) if ratios else ()
        figures = [*(f"{ratio:.3f}" for ratio in spread), "", "", ""][:3]
        lines.append(form.format(kind, chip, f"{setting:#x}", f"{there:,}", f"{len(ratios):,}", *figures))
    for comparison in report.violations:
        trial = comparison.trial
        lines.append(
            f"{comparison.function} of {trial.kind} {trial.seed} ({trial.option}, {trial.chip}, "
            f"FLASH_ACR {trial.flash_acr:#x}): "
            f"bound {comparison.cycles:,}, measured {comparison.seen:,} cycles"
        )
    return "\n".join([*lines, report.says()])

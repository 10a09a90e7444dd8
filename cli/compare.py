"""`./lab compare`: two runs or folders of runs, with progress, its page, and the exit status."""

from __future__ import annotations

from pathlib import Path

from analysis.compare.comparison import Comparison, compare
from cli import progress
from dashboards import compare as dashboards_compare

EXIT_STATUS = {"equal": 0, "not worse": 0, "worse": 1, "cannot say": 2}


def run(a: Path, b: Path, output: str) -> Comparison:
    """Compares A with B, and writes the page to `output` unless that is empty.

    Raises TailscopeError.
    """
    with progress.shown() as tell:
        found = compare(a, b, tell)
    if output:
        dashboards_compare.write(found, Path(output))
    return found

"""`./lab compare`: two runs or folders of runs, with progress, and what the exit status says."""

from __future__ import annotations

from pathlib import Path

from analysis.compare.comparison import Comparison, compare
from console import progress

EXIT_STATUS = {"equal": 0, "not worse": 0, "worse": 1, "cannot say": 2}


def run(a: Path, b: Path) -> Comparison:
    """Compares A with B. Raises TailscopeError."""
    with progress.shown() as tell:
        return compare(a, b, tell)

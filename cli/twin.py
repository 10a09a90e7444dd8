"""`./lab twin`: the comparison, with progress, and its page if one is asked for."""

from __future__ import annotations

from pathlib import Path

from analysis.twin.comparison import Comparison, compare
from cli import progress
from dashboards import twin


def run(folder: Path, output: str) -> Comparison:
    """Compares the run with its twin, and writes the page to `output` unless that is empty.

    Raises TailscopeError.
    """
    with progress.shown() as tell:
        found = compare(folder, tell)
    if output:
        twin.write(found, Path(output))
    return found

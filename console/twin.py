"""`./lab twin`: the comparison, with progress, and its page if one is asked for."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from analysis.twin.comparison import Comparison, compare
from dashboards.twin import page


def run(folder: Path, output: str) -> Comparison:
    """Compares the run with its twin, and writes the page to `output` unless that is empty.

    Raises TailscopeError.
    """
    with Console(stderr=True, highlight=False).status("") as status:

        def tell(step: str) -> None:
            with suppress(OSError):  # a terminal that hung up ends nothing
                status.update(escape(step))

        found = compare(folder, tell)
    if output:
        page.write(found, Path(output))
    return found

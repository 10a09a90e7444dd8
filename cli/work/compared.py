"""`./lab compare`: what it prints and writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.compare.compared import Status, compare
from analysis.errors import CompareError
from cli.shell.declare import answer
from cli.work import progress


def pair(a: Path, b: Sequence[Path], output: Path | None, as_json: bool) -> Status:
    """Holds the runs of B against those of A. Raises TailscopeError."""
    from analysis.compare import text
    from analysis.compare.document import as_json as document

    if len(b) != 1:
        raise CompareError("Give two runs, or two folders of runs; --by board takes any number.")
    with progress.shown() as tell:
        found = compare(a, b[0], tell)
    if output:
        from dashboards import compare as page

        page.write(found, output)
    answer(as_json, lambda: document(found), lambda: text.as_text(found))
    _say(output, as_json)
    return found.status


def boards(paths: Sequence[Path], output: Path | None, as_json: bool) -> None:
    """Sets the runs of several boards side by side. Raises TailscopeError."""
    from analysis.compare.boards import text
    from analysis.compare.boards.across import across
    from analysis.compare.boards.document import as_json as document

    with progress.shown() as tell:
        found = across(paths, tell)
    if output:
        from dashboards import boards as page

        page.write(found, output)
    answer(as_json, lambda: document(found), lambda: text.as_text(found))
    _say(output, as_json)


def _say(output: Path | None, as_json: bool) -> None:
    if output and not as_json:
        print(f"page: {output}")

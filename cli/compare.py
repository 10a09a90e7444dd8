"""`./lab compare`: two runs or folders of runs; or the runs of several boards, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import OUTPUT, RUN, Choice

EXIT_STATUS = {"equal": 0, "not worse": 0, "worse": 1, "cannot say": 2}


@declare(section="Compare and judge")
@argument("a", type=RUN, help="a run folder, or a folder of runs: what B is held against")
@argument("b", type=RUN, nargs=-1, help="a run folder, or a folder of runs; with --by, none or several")
@option(
    "--by",
    type=Choice("board"),
    help="board: set the runs of several boards side by side, in cycles and in µs, and judge none",
)
@option("--output", type=OUTPUT, help="an HTML file to write")
@json_option
def command(a: Path, b: tuple[Path, ...], by: str | None, output: Path | None, as_json: bool) -> int:
    """Compare runs: what changed in settings and figures, by how much, and where.

    The exit status is 0 for equal or better, 1 for worse, 2 where that cannot be said.
    """
    status = _boards((a, *b), output, as_json) if by == "board" else _pair(a, b, output, as_json)
    if output and not as_json:
        print(f"page: {output}")
    return status


def _pair(a: Path, b: Sequence[Path], output: Path | None, as_json: bool) -> int:
    """Holds the runs of B against those of A."""
    from analysis.compare import text
    from analysis.compare.compared import as_json as document
    from analysis.compare.compared import compare
    from analysis.errors import CompareError
    from cli.work import progress

    if len(b) != 1:
        raise CompareError("Give two runs, or two folders of runs; --by board takes any number.")
    with progress.shown() as tell:
        comparison = compare(a, b[0], tell)
    if output:
        from dashboards import compare as page

        page.write(comparison, output)
    answer(as_json, lambda: document(comparison), lambda: text.as_text(comparison))
    return EXIT_STATUS[comparison.status]


def _boards(paths: Sequence[Path], output: Path | None, as_json: bool) -> int:
    """Sets the runs of several boards side by side."""
    from analysis.compare import boards as tables
    from analysis.compare.boards import across
    from analysis.compare.boards import as_json as document
    from cli.work import progress

    with progress.shown() as tell:
        boards = across(paths, tell)
    if output:
        from dashboards import boards as page

        page.write(boards, output)
    answer(as_json, lambda: document(boards), lambda: tables.as_text(boards))
    return 0

"""`./lab compare`: two runs or folders of runs; or the runs of several boards, side by side."""

from __future__ import annotations

from pathlib import Path

from cli.shell import under_way
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import OUTPUT, RUN, choice

EXIT_STATUS = {"equal": 0, "not worse": 0, "worse": 1, "cannot say": 2}


@declare("Compare and judge")
@argument("a", RUN, "a run folder, or a folder of runs: what B is held against")
@argument("b", RUN, "a run folder, or a folder of runs; with --by, none or several", nargs=-1)
@option(
    "--by",
    choice("board"),
    "board: set the runs of several boards side by side, in cycles and in µs, and judge none",
)
@option("--output", OUTPUT, "an HTML file to write")
@json_option
def command(a: Path, b: tuple[Path, ...], by: str | None, output: Path | None, as_json: bool) -> int:
    """Compare runs: what changed in settings and figures, by how much, and where.

    The exit status is 0 for equal or better, 1 for worse, 2 where that cannot be said.
    """
    from analysis.errors import CompareError

    if by is None and len(b) != 1:
        raise CompareError("Give two runs, or two folders of runs; --by board takes any number.")
    if output:
        from dashboards import compare as pages
    if by == "board":
        from analysis.compare import boards

        with under_way.shown() as tell:
            across = boards.across((a, *b), tell)
        if output:
            pages.sheet_of_boards(across).write(output)
        answer(as_json, lambda: boards.as_json(across), lambda: boards.as_text(across), page=output)
        return 0
    from analysis.compare import compared
    from analysis.compare.text import as_text

    with under_way.shown() as tell:
        comparison = compared.compare(a, b[0], tell)
    if output:
        pages.sheet(comparison).write(output)
    answer(as_json, lambda: compared.as_json(comparison), lambda: as_text(comparison), page=output)
    return EXIT_STATUS[comparison.status]

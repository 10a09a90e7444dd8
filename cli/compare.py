"""`./lab compare`: two runs or folders of runs; or the runs of several boards, side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cli.shell import under_way
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import OUTPUT, RUN, choice

Show = Callable[[Any], Any]
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
    with under_way.shown() as tell:
        if by == "board":
            from analysis.compare import boards

            result: Any = boards.across((a, *b), tell)
            shown: tuple[Show, Show] = boards.as_json, boards.as_text
            status = 0
        else:
            from analysis.compare import compared
            from analysis.compare.text import as_text

            result = compared.compare(a, b[0], tell)
            shown, status = (compared.as_json, as_text), EXIT_STATUS[result.status]
    if output:
        from dashboards import compare as pages

        page = pages.sheet_of_boards(result) if by else pages.sheet(result)
        page.write(output)
    document, text = shown
    answer(as_json, lambda: document(result), lambda: text(result), page=output)
    return status
